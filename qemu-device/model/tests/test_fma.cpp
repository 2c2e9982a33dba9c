/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fast memory access: every operation and its events. */
#include "tests/pair.hpp"

using namespace aries_test;

namespace
{

TEST(test_put_sizes)
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

TEST(test_put_events)
{
	Pair p;

	assert_int_equal(p.put(8, ARIES_EV_LOCAL | ARIES_EV_GLOBAL | ARIES_EV_REMOTE | 2 << 4, 0xabcd), 0);
	const Event local = p.a.next_event(20), global = p.a.next_event(20), remote = p.b.next_event(21);

	assert_int_equal(local.data(), 0x1111);
	assert_int_equal(local.tid(), 0xabcd);
	assert_int_equal(local.info(), ARIES_INFO_LOCAL);
	assert_int_equal(local.source(), ARIES_SRC_FMA);
	assert_int_equal(local.type(), 2);
	/* Both events at the source carry the source's data. */
	assert_int_equal(global.data(), 0x1111);
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

TEST(test_put_sync)
{
	Pair p;

	p.desc().sync_offset = BASE + 8192;
	p.desc().sync_value = 0x123456789abcdef0;
	memset(p.a.line(FMAD), 0x5a, 64);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_PUT_SYNC, 64), 0);
	assert_int_equal(p.word(8192), 0x123456789abcdef0);
	assert_int_equal(p.word(56), 0x5a5a5a5a5a5a5a5a);

	/* The flag comes last, in one page and over its end: it stays where the data would be, too. */
	for (uint64_t at : {uint64_t(1024), uint64_t(4096 - 32)}) {
		p.desc().offset = BASE + at;
		p.desc().sync_offset = BASE + at + 8;
		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_PUT_SYNC, 64), 0);
		assert_int_equal(p.word(at), 0x5a5a5a5a5a5a5a5a);
		assert_int_equal(p.word(at + 8), 0x123456789abcdef0);
		assert_int_equal(p.word(at + 56), 0x5a5a5a5a5a5a5a5a);
	}
	p.desc().offset = BASE;

	/* A flag that may not be written keeps the data from being written too. */
	memset(p.a.line(FMAD), 0xa5, 64);
	p.desc().sync_offset = BASE + 4;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_PUT_SYNC, 64), ARIES_ST_ALIGN);
	p.desc().sync_offset = BASE + BYTES;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_PUT_SYNC, 64), ARIES_ST_BOUNDS);
	assert_int_equal(p.word(0), 0x5a5a5a5a5a5a5a5a);
}

TEST(test_get)
{
	Pair p;
	uint8_t *there = p.b.ram(p.target);

	for (unsigned int i = 0; i < BYTES; i++)
		there[i] = uint8_t(i * 13 + i / 251);
	for (unsigned int bytes : {4u, 8u, 60u, 64u, 68u, 4096u, 65532u - 65532u % 4}) {
		for (unsigned int at : {0u, 3u, 4091u}) {
			if (at + bytes > BYTES)
				continue;
			memset(p.a.ram(p.local), 0xee, BYTES);
			p.desc().offset = BASE;
			p.desc().local_offset = BASE + at;
			assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, bytes), 0);
			assert_memory_equal(p.a.ram(p.local + at), there, bytes);
			if (at + bytes < BYTES)
				assert_int_equal(*p.a.ram(p.local + at + bytes), 0xee);
		}
	}
	p.desc().local_offset = BASE;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 0), ARIES_ST_LENGTH);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 6), ARIES_ST_ALIGN);
	p.desc().offset = BASE + 2;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_ALIGN);
	p.desc().offset = BASE;
	p.desc().local_offset = BASE + BYTES - 4;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 8), ARIES_ST_LOCAL_BOUNDS);
}

TEST(test_cq_write)
{
	Pair p;

	p.desc().operand[0] = 0xffffa1b2c3d4e5f6;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CQWRITE, 0, ARIES_EV_GLOBAL, 4), 0);
	const Event there = p.b.next_event(21), here = p.a.next_event(20);

	assert_int_equal(there.word & ARIES_CQE_WRITE_MASK, 0xa1b2c3d4e5f6);
	assert_int_equal(there.source(), ARIES_SRC_CQWRITE);
	assert_int_equal(here.tid(), 4);
	assert_int_equal(here.status(), 0);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CQWRITE, 8), ARIES_ST_LENGTH);
}

TEST(test_windows)
{
	Pair p;
	auto put = [&](uint64_t at, unsigned int size, uint64_t value) { p.a.store(FMAD, at, size, value); };

	put(0, 8, 0x1122334455667788);
	put(9, 1, 0xaa);
	put(10, 2, 0xbbcc);
	put(12, 4, 0xddeeff00);
	assert_int_equal(p.word(0), 0x1122334455667788);
	assert_int_equal(p.word(8), 0xddeeff00bbccaa00);
	assert_false(bool(p.a.next_event(20)));

	/* Read back through the get window: control word for 16 bytes. */
	p.a.store(FMAD, ARIES_FMA_GET, 8, (BASE + 64) | uint64_t(15) << ARIES_GETW_LEN_SHIFT);
	assert_memory_equal(p.a.ram(p.local + 64), p.b.ram(p.target), 16);

	/* An atomic through the get window. */
	p.desc().operand[0] = 1;
	p.a.store(FMAD, ARIES_FMA_GET + 8, 8, (BASE + 128) | uint64_t(0x008) << ARIES_GETW_AMO_SHIFT);
	assert_int_equal(p.word(8), 0xddeeff00bbccaa01);
	assert_int_equal(*reinterpret_cast<uint64_t *>(p.a.ram(p.local + 128)), 0xddeeff00bbccaa00);

	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CLOSE, 0, ARIES_EV_GLOBAL | ARIES_EV_REMOTE, 77), 0);
	assert_int_equal(p.a.next_event(20).tid(), 77);
	assert_int_equal(p.b.next_event(21).data(), 0x2222);
	assert_int_equal(p.a.read(ARIES_FMAD_TRAPS_N(FMAD), 8), 7);

	/* CLOSE tells of the first failure, once. */
	p.desc().offset = BASE + BYTES - 8;
	put(8, 8, 1);
	put(0, 8, 2);
	assert_int_equal(p.word(BYTES - 8), 2);
	p.desc().offset = BASE;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CLOSE, 0, ARIES_EV_GLOBAL), ARIES_ST_BOUNDS);
	assert_int_equal(p.a.next_event(20).status(), ARIES_ST_BOUNDS);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CLOSE, 0, ARIES_EV_GLOBAL), ARIES_ST_OK);
}

TEST(test_one_trap)
{
	Pair p;
	const uint64_t before = p.a.counter(ARIES_CNT_FMA_TRAPS);

	for (unsigned int bytes = 1; bytes <= 64; bytes++)
		assert_int_equal(p.put(bytes, ARIES_EV_GLOBAL), 0);
	assert_int_equal(p.a.counter(ARIES_CNT_FMA_TRAPS) - before, 64);
	assert_int_equal(p.a.counter(ARIES_CNT_REQ_PACKETS), 64);
	assert_int_equal(p.a.counter(ARIES_CNT_FMA_PUTS), 64);
	assert_int_equal(p.b.counter(ARIES_CNT_RX_REQUESTS), 64);
	assert_int_equal(p.put(64), 0);
	assert_true(p.a.counter(ARIES_CNT_LATENCY_LAST_NS) >= 500);
	assert_true(p.a.counter(ARIES_CNT_LATENCY_LAST_NS) <= 5000);
}

/* N05: virtual node addresses of a domain. */
TEST(test_ntt)
{
	Pair p;

	p.a.write32(ARIES_NTT_ENTRY_N(10), ARIES_NTT_ENTRY_VALID_MASK | 0);
	p.a.write32(ARIES_NTT_ENTRY_N(11), ARIES_NTT_ENTRY_VALID_MASK | 1);
	p.a.write32(ARIES_NTT_ENTRY_N(12), 1);
	p.a.enable_fmad(2, PTAG_A, OWNER, ARIES_FMAD_CTL_NTT_MASK | uint64_t(10) << 32 | uint64_t(3) << 48);
	p.a.desc(2) = p.desc();
	memset(p.a.line(2), 0x3c, 8);
	p.a.desc(2).pe = 1;
	assert_int_equal(p.a.ring(2, ARIES_FMA_PUT_LINE, 8), 0);
	assert_int_equal(p.word(), 0x3c3c3c3c3c3c3c3c);
	p.a.desc(2).pe = 2;
	assert_int_equal(p.a.ring(2, ARIES_FMA_PUT_LINE, 8), ARIES_ST_NTT);
	p.a.desc(2).pe = 3;
	assert_int_equal(p.a.ring(2, ARIES_FMA_PUT_LINE, 8), ARIES_ST_NTT);
	p.a.desc(2).pe = UINT32_MAX;
	assert_int_equal(p.a.ring(2, ARIES_FMA_PUT_LINE, 8), ARIES_ST_NTT);
}

TEST(test_large_pages)
{
	Pair p;
	const uint64_t entry = p.b.alloc(64);
	auto *pte = reinterpret_cast<uint64_t *>(p.b.ram(entry));

	/* Two pages of 2 MiB in the high piece, in reverse order; the region starts inside the first. */
	pte[0] = (HIGH_GPA + (4 << 20)) | ARIES_PTE_VALID | ARIES_PTE_WRITE;
	pte[1] = HIGH_GPA | ARIES_PTE_VALID | ARIES_PTE_WRITE;
	p.b.write64(ARIES_MDD_BASE_N(30), 0x1ff000);
	p.b.write64(ARIES_MDD_LENGTH_N(30), 0x201000);
	p.b.write64(ARIES_MDD_TABLE_N(30), entry);
	p.b.write64(ARIES_MDD_CTL_N(30), ARIES_MDD_CTL_VALID_MASK | uint64_t(PTAG_B) << 8 | uint64_t(21) << 16);
	p.desc().mdh = 30;
	p.desc().offset = 0x1ff000 + 4096 - 4;
	for (unsigned int i = 0; i < 8; i++)
		p.a.line(FMAD)[i] = uint8_t(i + 1);
	assert_int_equal(p.put(8), 0);
	assert_memory_equal(p.b.ram(HIGH_GPA + (6 << 20) - 4), p.a.line(FMAD), 4);
	assert_memory_equal(p.b.ram(HIGH_GPA), p.a.line(FMAD) + 4, 4);
}

TEST(test_loopback)
{
	Pair p;

	p.desc().pe = 0;
	p.desc().mdh = LOCAL_MDH;
	p.desc().offset = BASE + 512;
	memset(p.a.line(FMAD), 0x42, 64);
	assert_int_equal(p.put(64), 0);
	p.desc().local_offset = BASE;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_OP, 64), 0);
	assert_memory_equal(p.a.ram(p.local), p.a.line(FMAD), 64);
}

/* A driver serves two processes with one descriptor: what the NIC remembers of each is kept and put back. */
TEST(test_state_moves)
{
	Pair p;
	const uint64_t state = ARIES_FMAD_STATE_N(uint64_t(FMAD)), launch = ARIES_FMAD_LAUNCH_N(uint64_t(FMAD));

	p.desc().offset = BASE + BYTES;
	p.a.store(FMAD, ARIES_FMA_PUT, 8, 1); /* fails */
	p.a.store(FMAD, ARIES_FMA_DOORBELL + ARIES_DB_LAUNCH, 8, 0x1234);
	const uint64_t kept = p.a.read(state, 8), low = p.a.read(launch, 8);

	assert_int_equal(kept, ARIES_FMAD_STATE_OPEN_MASK | uint64_t(ARIES_ST_BOUNDS) << 8);
	assert_int_equal(low, 0x1234);
	p.a.enable_fmad(FMAD, PTAG_A, OWNER + 1);
	p.a.write64(state, 0);
	p.a.write64(launch, 0);
	p.a.make_cq(22, 6, OWNER + 1);
	p.desc().cq = 22;
	p.desc().offset = BASE;
	p.a.store(FMAD, ARIES_FMA_PUT, 8, 2);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CLOSE, 0, ARIES_EV_GLOBAL), ARIES_ST_OK);
	assert_int_equal(p.a.next_event(22).status(), ARIES_ST_OK);
	p.a.enable_fmad(FMAD, PTAG_A, OWNER);
	p.a.write64(state, kept);
	p.a.write64(launch, low);
	p.desc().cq = 20;
	assert_int_equal(p.a.read(launch, 8), 0x1234);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CLOSE, 0, ARIES_EV_GLOBAL), ARIES_ST_BOUNDS);
	assert_int_equal(p.a.next_event(20).status(), ARIES_ST_BOUNDS);
	assert_int_equal(p.a.read(state, 8), 0);
}

} // namespace

TEST_MAIN("tests")
