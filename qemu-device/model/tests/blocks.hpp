/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Block transfers between the two NICs of a pair. */
#ifndef ARIES_TESTS_BLOCKS_HPP
#define ARIES_TESTS_BLOCKS_HPP

#include <chrono>
#include <thread>

#include "tests/pair.hpp"

namespace aries_test
{

inline constexpr uint64_t BIG = 6 << 20;
inline constexpr unsigned int NEAR = 100, FAR = 101;

/** A pair with regions of BIG bytes, of which the target's pages are in reverse order. */
struct Blocks : Pair {
	uint64_t near, far;

	explicit Blocks(const FakeHost::Options &options = {}) : Pair(options)
	{
		near = a.alloc(BIG);
		far = b.alloc(BIG);
		a.make_mdd(NEAR, PTAG_A, near, BIG, BASE);
		const uint64_t table =
			b.make_mdd(FAR, PTAG_B, far, BIG, BASE, ARIES_MDD_CTL_CQ_VALID_MASK | uint64_t(21) << 24);
		auto *pte = reinterpret_cast<uint64_t *>(b.ram(table));

		for (uint64_t i = 0; i < BIG / PAGE / 2; i++)
			std::swap(pte[i], pte[BIG / PAGE - 1 - i]);
		for (uint64_t i = 0; i < BIG; i++)
			*a.ram(near + i) = pattern(i);
	}

	static uint8_t pattern(uint64_t at) { return uint8_t(at * 31 + at / 4096); }
	uint8_t there(uint64_t at) { return *b.ram(far + (BIG - PAGE - at / PAGE * PAGE) + at % PAGE); }

	aries_bte_desc &fill(unsigned int index, unsigned int slot, unsigned int op, uint64_t remote, uint64_t local,
			     uint64_t bytes, unsigned int mode = ARIES_EV_GLOBAL)
	{
		aries_bte_desc &d = a.slot(index, slot);

		d = block_transfer(op, FAR, NEAR, bytes, mode);
		d.offset += remote;
		d.local_offset += local;
		d.tid = uint16_t(slot);
		d.local_event = 0x1111;
		d.remote_event = 0x2222;
		return d;
	}
	unsigned int outcome()
	{
		const Event event = a.wait_event(20, 5000);

		assert_true(bool(event));
		assert_int_equal(event.source(), ARIES_SRC_BTE);
		return event.status();
	}
	void wait_idle()
	{
		for (int i = 0; i < 5000 && a.read(ARIES_FMAD_STATUS_N(FMAD), 8) & 0xffff; i++)
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		assert_int_equal(a.read(ARIES_FMAD_STATUS_N(FMAD), 8) & 0xffff, 0);
	}
};

} // namespace aries_test

#endif
