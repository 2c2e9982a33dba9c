/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fast memory access between two NICs in one process: every operation, its events, its refusals. */
#include "tests/fake_host.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int PTAG_A = 3, PTAG_B = 7; /* local names differ, the key is the domain */
constexpr uint32_t KEY = 0xc00c1e;
constexpr unsigned int OWNER = 5, FMAD = 1, MDH = 9, LOCAL_MDH = 11;
constexpr uint64_t BASE = 0x7f12345000 & MASK40;
constexpr uint64_t BYTES = 64 * 1024;

/** Node 0 initiates, node 1 has a region with a queue. */
struct Pair {
	std::string path = fabric_path();
	FakeHost a{path, 0};
	FakeHost b{path, 1};
	uint64_t target;
	uint64_t table;
	uint64_t local;

	Pair()
	{
		a.set_key(PTAG_A, KEY);
		b.set_key(PTAG_B, KEY);
		a.enable_fmad(FMAD, PTAG_A, OWNER);
		a.make_cq(20, 6, OWNER);
		b.make_cq(21, 6, OWNER);
		target = b.alloc(BYTES);
		table = b.make_mdd(MDH, PTAG_B, target, BYTES, BASE, ARIES_MDD_CTL_CQ_VALID_MASK | uint64_t(21) << 24);
		local = a.alloc(BYTES);
		a.make_mdd(LOCAL_MDH, PTAG_A, local, BYTES, BASE);
		desc() = {};
		desc().pe = 1;
		desc().mdh = MDH;
		desc().offset = BASE;
		desc().local_offset = BASE;
		desc().local_mdh = LOCAL_MDH;
		desc().cq = 20;
		desc().local_event = 0x1111;
		desc().remote_event = 0x2222;
	}

	aries_fma_desc &desc() { return a.desc(FMAD); }
	uint32_t put(unsigned int bytes, unsigned int mode = 0, unsigned int tid = 0)
	{
		return a.ring(FMAD, ARIES_FMA_PUT_LINE, bytes, mode, tid);
	}
	uint32_t amo(unsigned int code, uint64_t first, uint64_t second = 0)
	{
		desc().operand[0] = first;
		desc().operand[1] = second;
		return a.ring(FMAD, ARIES_FMA_AMO_OP, 8, 0, 0, code);
	}
	uint64_t &word(uint64_t at = 0) { return *reinterpret_cast<uint64_t *>(b.ram(target + at)); }
	uint64_t &fetched() { return *reinterpret_cast<uint64_t *>(a.ram(local)); }
};

void test_put_sizes(void **)
{
	Pair p;

	for (unsigned int bytes : {0u, 1u, 3u, 4u, 7u, 8u, 16u, 63u, 64u, 65u, 2048u}) {
		for (unsigned int at : {0u, 1u, 5u, 4090u}) {
			memset(p.b.ram(p.target), 0xee, 3 * PAGE);
			for (unsigned int i = 0; i < 2048; i++)
				p.a.line(FMAD)[i] = uint8_t(i * 7 + bytes);
			p.desc().offset = BASE + at;
			assert_int_equal(p.put(bytes), ARIES_ST_OK);
			assert_memory_equal(p.b.ram(p.target + at), p.a.line(FMAD), bytes);
			assert_int_equal(*p.b.ram(p.target + at + bytes), 0xee);
			if (at)
				assert_int_equal(*p.b.ram(p.target + at - 1), 0xee);
		}
	}
}

void test_put_events(void **)
{
	Pair p;

	assert_int_equal(p.put(8, ARIES_EV_LOCAL | ARIES_EV_GLOBAL | ARIES_EV_REMOTE | 2 << 4, 0xabcd), 0);
	const Event local = p.a.next_event(20), global = p.a.next_event(20), remote = p.b.next_event(21);

	assert_int_equal(local.data(), 0x1111);
	assert_int_equal(local.tid(), 0xabcd);
	assert_int_equal(local.info(), ARIES_INFO_LOCAL);
	assert_int_equal(local.source(), ARIES_SRC_FMA);
	assert_int_equal(local.type(), 2);
	assert_int_equal(global.data(), 0x2222);
	assert_int_equal(global.tid(), 0xabcd);
	assert_int_equal(global.info(), ARIES_INFO_GLOBAL);
	assert_int_equal(remote.data(), 0x2222);
	assert_int_equal(remote.info(), ARIES_INFO_REMOTE);
	assert_int_equal(remote.source(), ARIES_SRC_REMOTE);
	assert_false(bool(p.a.next_event(20)));
	assert_false(bool(p.b.next_event(21)));
	assert_int_equal(p.a.counter(ARIES_CNT_CQ_EVENTS), 2);
	assert_int_equal(p.b.counter(ARIES_CNT_CQ_EVENTS), 1);
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(test_put_sizes),
		cmocka_unit_test(test_put_events),
	};

	return cmocka_run_group_tests(tests, nullptr, nullptr);
}
