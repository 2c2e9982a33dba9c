/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Block transfers: sizes, alignment, queueing, fences, flushing, invalidation under way. */
#include <bit>
#include <thread>

#include "fabric/flight.hpp"
#include "tests/blocks.hpp"
#include "tests/raw_segment.hpp"

using namespace aries_test;

namespace
{

TEST(test_sizes)
{
	Blocks p;

	for (uint64_t bytes : {1ul, 4095ul, 4096ul, 65536ul, 65537ul, 1048577ul, 5ul << 20}) {
		for (uint64_t at : {0ul, 3ul, 4090ul}) {
			memset(p.b.ram(p.far), 0, BIG);
			p.fill(FMAD, 1, ARIES_BTE_PUT, at, at + 5, bytes,
			       ARIES_EV_LOCAL | ARIES_EV_GLOBAL | ARIES_EV_REMOTE);
			assert_int_equal(p.a.ring_bte(FMAD, 1), 0);
			assert_int_equal(p.outcome(), 0);
			const Event global = p.a.wait_event(20, 1000), remote = p.b.wait_event(21, 1000);

			assert_int_equal(global.data(), 0x1111);
			assert_int_equal(global.tid(), 1);
			assert_int_equal(remote.source(), ARIES_SRC_REMOTE);
			assert_int_equal(remote.data(), 0x2222);
			for (uint64_t i = 0; i < bytes; i++)
				assert_int_equal(p.there(at + i), Blocks::pattern(at + 5 + i));
			assert_int_equal(p.there(at + bytes), 0);
			if (at)
				assert_int_equal(p.there(at - 1), 0);
		}
	}
	p.wait_idle();
	assert_int_equal(p.a.counter(ARIES_CNT_BTE_PUTS), 21);
}

TEST(test_get)
{
	Blocks p;

	p.fill(FMAD, 0, ARIES_BTE_PUT, 0, 0, BIG);
	p.a.ring_bte(FMAD, 0);
	assert_int_equal(p.outcome(), 0);
	for (uint64_t bytes : {4ul, 65536ul, 3ul << 20}) {
		memset(p.a.ram(p.near), 0, BIG);
		p.fill(FMAD, 2, ARIES_BTE_GET, 8192, 7, bytes);
		p.a.ring_bte(FMAD, 2);
		assert_int_equal(p.outcome(), 0);
		for (uint64_t i = 0; i < bytes; i++)
			assert_int_equal(*p.a.ram(p.near + 7 + i), Blocks::pattern(8192 + i));
		assert_int_equal(*p.a.ram(p.near + 6), 0);
		assert_int_equal(*p.a.ram(p.near + 7 + bytes), 0);
	}
	p.fill(FMAD, 2, ARIES_BTE_GET, 2, 0, 64);
	assert_int_equal(p.a.ring_bte(FMAD, 2), ARIES_ST_ALIGN);
	assert_int_equal(p.outcome(), ARIES_ST_ALIGN);
	p.fill(FMAD, 2, ARIES_BTE_GET, 0, 0, 63);
	assert_int_equal(p.a.ring_bte(FMAD, 2), ARIES_ST_ALIGN);
}

TEST(test_refusals)
{
	Blocks p;
	auto expect = [&](uint32_t status, auto change) {
		aries_bte_desc &d = p.fill(FMAD, 3, ARIES_BTE_PUT, 0, 0, 128);

		change(d);
		p.a.ring_bte(FMAD, 3);
		assert_int_equal(p.outcome(), status);
		assert_int_equal(p.there(0), 0);
		assert_int_equal((p.a.read(ARIES_FMAD_STATUS_N(FMAD), 8) >> 16) & 0xff, status);
	};

	expect(ARIES_ST_MDD, [](aries_bte_desc &d) { d.mdh = FAR + 1; });
	expect(ARIES_ST_LOCAL_MDD, [](aries_bte_desc &d) { d.local_mdh = NEAR + 1; });
	expect(ARIES_ST_BOUNDS, [](aries_bte_desc &d) { d.offset = BASE + BIG - 127; });
	expect(ARIES_ST_BOUNDS, [](aries_bte_desc &d) { d.length = BYTES + 1, d.mdh = MDH; });
	expect(ARIES_ST_LOCAL_BOUNDS, [](aries_bte_desc &d) { d.local_offset = BASE - 1; });
	expect(ARIES_ST_BAD_OP, [](aries_bte_desc &d) { d.op = 4; });
	expect(ARIES_ST_RESERVED, [](aries_bte_desc &d) { d.reserved[8] = 1; });
	expect(ARIES_ST_RESERVED, [](aries_bte_desc &d) { d.flags = 0x8000; });
	expect(ARIES_ST_LENGTH, [](aries_bte_desc &d) { d.length = 0; });
	expect(ARIES_ST_NO_NODE, [](aries_bte_desc &d) { d.pe = 77; });
	expect(ARIES_ST_LOCAL_ACCESS, [](aries_bte_desc &d) { d.flags = ARIES_BTE_PHYS; });
	p.fill(FMAD, 3, ARIES_BTE_PUT, 0, 0, 128).cq = 21;
	assert_int_equal(p.a.ring_bte(FMAD, 3), ARIES_ST_CQ_OWNER);
	p.a.store(FMAD, ARIES_FMA_DOORBELL + ARIES_DB_BTE, 8, 64);
	assert_int_equal(p.a.status(FMAD), ARIES_ST_RESERVED);
}

TEST(test_physical)
{
	Blocks p;

	p.a.enable_fmad(0, PTAG_A, OWNER, ARIES_FMAD_CTL_KERNEL_MASK);
	p.fill(0, 0, ARIES_BTE_PUT, 0, 0, 200000).flags = ARIES_BTE_PHYS;
	p.a.slot(0, 0).local_offset = p.near + 1;
	assert_int_equal(p.a.ring_bte(0, 0), 0);
	assert_int_equal(p.outcome(), 0);
	for (uint64_t i = 0; i < 200000; i++)
		assert_int_equal(p.there(i), Blocks::pattern(i + 1));
	p.a.slot(0, 0).length = 64; /* which is short, but not for a virtual address */
	p.a.slot(0, 0).local_offset = p.near + 2;
	p.a.ring_bte(0, 0);
	assert_int_equal(p.outcome(), 0);
	for (uint64_t i = 0; i < 200; i++)
		assert_int_equal(p.there(i), Blocks::pattern(i + (i < 64 ? 2 : 1)));
	p.a.slot(0, 0).length = 200000;
	p.a.slot(0, 0).local_offset = LOW_BYTES - 100;
	p.a.ring_bte(0, 0);
	assert_int_equal(p.outcome(), ARIES_ST_LOCAL_TRANSLATION);
	p.a.slot(0, 0).local_offset = ~uint64_t(0) - 100;
	p.a.ring_bte(0, 0);
	assert_int_equal(p.outcome(), ARIES_ST_LOCAL_TRANSLATION);
}

TEST(test_many)
{
	Blocks p;
	constexpr unsigned int COUNT = 48;
	constexpr uint64_t LENGTH = (1 << 20) + 70000, STEP = 98304; /* longer than what the doorbell does itself */
	unsigned int seen = 0;
	bool had[ARIES_BTE_SLOTS] = {};

	for (unsigned int i = 0; i < COUNT; i++) {
		p.fill(FMAD, i, ARIES_BTE_PUT, i * STEP, i * STEP, LENGTH);
		assert_int_equal(p.a.ring_bte(FMAD, i), 0);
		memset(&p.a.slot(FMAD, i), 0xff, sizeof(aries_bte_desc)); /* copied at once */
	}
	while (seen < COUNT) {
		const Event event = p.a.wait_event(20, 5000);

		assert_true(bool(event));
		assert_int_equal(event.status(), 0);
		assert_false(had[event.tid()]);
		had[event.tid()] = true;
		seen++;
	}
	p.wait_idle();
	for (uint64_t i = 0; i < (COUNT - 1) * STEP + LENGTH; i++)
		assert_int_equal(p.there(i), Blocks::pattern(i));
}

/* N17: a fenced transfer of a flag comes after all the data before it, and before what follows. */
TEST(test_fence)
{
	Blocks p;

	for (unsigned int round = 0; round < 10; round++) {
		for (unsigned int i = 0; i < 6; i++) {
			p.fill(FMAD, i, ARIES_BTE_PUT, 0, 0, 3 << 20);
			if (i == 3)
				p.a.slot(FMAD, i).flags = ARIES_BTE_FENCE, p.a.slot(FMAD, i).length = 8;
			p.a.ring_bte(FMAD, i);
		}
		unsigned int order[6];

		for (unsigned int &tid : order) {
			const Event event = p.a.wait_event(20, 5000);

			assert_true(bool(event));
			tid = event.tid();
		}
		for (unsigned int i = 0; i < 3; i++)
			assert_true(order[i] < 3);
		assert_int_equal(order[3], 3);
		p.wait_idle();
	}
}

/* N14: four channels, the others wait; the register shows it while it is so. */
TEST(test_status)
{
	Blocks p;
	bool seen = false;

	assert_int_equal(p.a.read(ARIES_BTE_STATUS, 4), 0);
	for (unsigned int round = 0; round < 50 && !seen; round++) {
		for (unsigned int i = 0; i < ARIES_BTE_SLOTS; i++) {
			p.fill(FMAD, i, ARIES_BTE_PUT, 0, 0, BIG, 0);
			p.a.ring_bte(FMAD, i);
		}
		uint64_t status;

		while ((status = p.a.read(ARIES_BTE_STATUS, 4)) != 0) {
			const auto running = std::popcount(status & ARIES_BTE_STATUS_CHANNELS_MASK);
			const uint64_t waiting = status >> 8;

			assert_true(uint64_t(running) + waiting <= ARIES_BTE_SLOTS);
			seen |= running && waiting;
		}
		p.wait_idle();
	}
	assert_true(seen);
}

TEST(test_queue_full_and_flush)
{
	Blocks p;
	unsigned int taken = 0, full = 0, flushed = 0, done = 0;

	p.a.make_cq(30, 12, OWNER);
	for (unsigned int i = 0; i < 3 * ARIES_BTE_QUEUE; i++) {
		p.fill(FMAD, 0, ARIES_BTE_PUT, 0, 0, BIG).cq = 30;
		if (p.a.ring_bte(FMAD, 0) == 0)
			taken++;
		else
			full++;
	}
	assert_true(taken >= ARIES_BTE_QUEUE);
	assert_true(full > 0);
	p.a.disable_fmad(FMAD);
	p.wait_idle();
	while (const Event event = p.a.next_event(30)) {
		if (event.status() == ARIES_ST_FLUSHED)
			flushed++;
		else
			done++;
	}
	assert_int_equal(flushed + done, taken);
	assert_true(flushed > 0);
}

TEST(test_reorder)
{
	Blocks p;
	char err[64];

	aries_nic_set_fault(p.a.nic(), "reorder", 1, err, sizeof(err));
	p.fill(FMAD, 0, ARIES_BTE_PUT, 0, 0, BIG);
	p.a.ring_bte(FMAD, 0);
	assert_int_equal(p.outcome(), 0);
	for (uint64_t i = 0; i < BIG; i++)
		assert_int_equal(p.there(i), Blocks::pattern(i));
}

/* Engines of large transfers have lanes of their own, but use up no number: those are for processors. */
TEST(test_lanes)
{
	Blocks p;
	RawSegment raw(p.path);
	uint32_t before = 0, after = 0, used = 0;

	std::thread([&before] { before = aries::thread_lane(); }).join();
	for (unsigned int i = 0; i < 16; i++) {
		p.fill(FMAD, i, ARIES_BTE_PUT, 0, 0, BIG);
		p.a.ring_bte(FMAD, i);
	}
	for (unsigned int i = 0; i < 16; i++)
		assert_int_equal(p.outcome(), 0);
	p.wait_idle();
	std::thread([&after] { after = aries::thread_lane(); }).join();
	assert_int_equal(after, (before + 1) % aries::FLIGHT_LANES);
	for (uint32_t lane = 0; lane < aries::FLIGHT_LANES; lane++)
		used += raw.flight(1, 0, lane).requests != 0;
	assert_true(used > 0);
}

/* The region goes away while copies run: afterwards its pages belong to somebody else. */
TEST(test_invalidate_under_way)
{
	Blocks p;

	for (unsigned int round = 0; round < 20; round++) {
		for (unsigned int i = 0; i < 4; i++) {
			p.fill(FMAD, i, ARIES_BTE_PUT, 0, 0, BIG);
			p.a.ring_bte(FMAD, i);
		}
		std::this_thread::sleep_for(std::chrono::microseconds(100 * round));
		assert_true(p.b.invalidate(FAR));
		memset(p.b.ram(p.far), 0x77, BIG);
		for (unsigned int i = 0; i < 4; i++) {
			const unsigned int status = p.outcome();

			assert_true(status == ARIES_ST_OK || status == ARIES_ST_MDD);
		}
		for (uint64_t i = 0; i < BIG; i++)
			assert_int_equal(*p.b.ram(p.far + i), 0x77);
		p.wait_idle();
		p.b.write64(ARIES_MDD_CTL_N(FAR), ARIES_MDD_CTL_VALID_MASK | ARIES_MDD_CTL_TWO_LEVEL_MASK |
							  uint64_t(PTAG_B) << 8 | uint64_t(12) << 16);
	}
}

TEST(test_reset_under_way)
{
	Blocks p;

	for (unsigned int i = 0; i < 8; i++) {
		p.fill(FMAD, i, ARIES_BTE_PUT, 0, 0, BIG);
		p.a.ring_bte(FMAD, i);
	}
	p.a.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_RESET_MASK);
	assert_int_equal(p.a.read(ARIES_FMAD_STATUS_N(FMAD), 8), 0);
	assert_int_equal(p.a.read(ARIES_CTL_STATUS, 4) & ARIES_CTL_STATUS_BUSY_MASK, 0);
}

/* ---- Transfers of up to 2^32-1 bytes, over few pages that many entries of the table name ---- */

constexpr uint64_t SHEET = 2 << 20;
constexpr uint64_t WHOLE = uint64_t(1) << 32;

/** A memory domain of 2^32 bytes at offset 0 with one level: all pages are @sheet but the last, which is @last. */
void make_wide(FakeHost &host, unsigned int mdh, unsigned int ptag, uint64_t sheet, uint64_t last)
{
	const uint64_t table = host.alloc(WHOLE / SHEET * 8);
	auto *entry = reinterpret_cast<uint64_t *>(host.ram(table));

	for (uint64_t i = 0; i < WHOLE / SHEET; i++)
		entry[i] = (i == WHOLE / SHEET - 1 ? last : sheet) | ARIES_PTE_VALID | ARIES_PTE_WRITE;
	host.write64(ARIES_MDD_BASE_N(mdh), 0);
	host.write64(ARIES_MDD_LENGTH_N(mdh), WHOLE);
	host.write64(ARIES_MDD_TABLE_N(mdh), table);
	host.write64(ARIES_MDD_CTL_N(mdh), ARIES_MDD_CTL_VALID_MASK | uint64_t(ptag) << 8 | uint64_t(21) << 16);
	assert_true(host.read(ARIES_MDD_CTL_N(mdh), 8) & ARIES_MDD_CTL_VALID_MASK);
}

/* N15: the longest transfer there is, by its 32 bits of length. */
TEST(test_longest)
{
	Pair p;
	const uint64_t from = p.a.alloc(SHEET), to = p.b.alloc(SHEET), end = p.b.alloc(SHEET);

	for (uint64_t i = 0; i < SHEET; i++)
		*p.a.ram(from + i) = uint8_t(i * 13 + i / 4096);
	make_wide(p.a, NEAR, PTAG_A, from, from);
	make_wide(p.b, FAR, PTAG_B, to, end);
	aries_bte_desc &d = p.a.slot(FMAD, 0);

	d = {};
	d.pe = 1;
	d.mdh = FAR;
	d.local_mdh = NEAR;
	d.length = UINT32_MAX;
	d.cq = 20;
	d.op = ARIES_BTE_PUT;
	d.mode = ARIES_EV_GLOBAL;
	assert_int_equal(p.a.ring_bte(FMAD, 0), 0);
	const Event event = p.a.wait_event(20, 60000);

	assert_true(bool(event));
	assert_int_equal(event.status(), 0);
	assert_int_equal(p.a.counter(ARIES_CNT_BTE_BYTES), UINT32_MAX);
	assert_memory_equal(p.b.ram(to), p.a.ram(from), SHEET);
	assert_memory_equal(p.b.ram(end), p.a.ram(from), SHEET - 1);
	assert_int_equal(*p.b.ram(end + SHEET - 1), 0);
	/* One byte further is outside. */
	d.offset = 2;
	p.a.ring_bte(FMAD, 0);
	assert_int_equal(p.a.wait_event(20, 60000).status(), ARIES_ST_BOUNDS);
}

/* N14: four run at once, the others wait until one has ended. */
TEST(test_four_at_once)
{
	Pair p;
	constexpr unsigned int COUNT = 7;
	const uint64_t from = p.a.alloc(SHEET);
	uint64_t to[COUNT];

	memset(p.a.ram(from), 0x55, SHEET);
	make_wide(p.a, NEAR, PTAG_A, from, from);
	for (unsigned int i = 0; i < COUNT; i++) {
		to[i] = p.b.alloc(SHEET);
		make_wide(p.b, FAR + i, PTAG_B, to[i], to[i]);
	}
	auto started = [&] {
		unsigned int count = 0;

		for (uint64_t at : to)
			count += __atomic_load_n(p.b.ram(at), __ATOMIC_RELAXED) ? 1 : 0;
		return count;
	};

	for (unsigned int i = 0; i < COUNT; i++) {
		aries_bte_desc &d = p.a.slot(FMAD, i);

		d = {};
		d.pe = 1;
		d.mdh = uint16_t(FAR + i);
		d.local_mdh = NEAR;
		d.length = 256 << 20;
		d.cq = 20;
		d.op = ARIES_BTE_PUT;
		d.mode = ARIES_EV_GLOBAL;
		assert_int_equal(p.a.ring_bte(FMAD, i), 0);
	}
	for (unsigned int i = 0; i < 20000 && started() < ARIES_BTE_CHANNELS; i++)
		std::this_thread::sleep_for(std::chrono::microseconds(100));
	for (unsigned int ended = 0; ended < COUNT;) {
		const unsigned int now = started();

		while (const Event event = p.a.next_event(20)) {
			assert_int_equal(event.status(), 0);
			ended++;
		}
		/* The event comes before the channel is free. */
		assert_true(now >= ARIES_BTE_CHANNELS && now <= ended + ARIES_BTE_CHANNELS);
		std::this_thread::sleep_for(std::chrono::milliseconds(1));
	}
	assert_int_equal(started(), COUNT);
}

} // namespace

TEST_MAIN("tests")
