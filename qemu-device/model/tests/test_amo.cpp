/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Atomics: every command against a reference, alone and among many; alignment, rights, flagged responses. */
#include <csignal>
#include <random>
#include <sys/mman.h>
#include <thread>

#include "tests/amo_table.hpp"
#include "tests/pair.hpp"

using namespace aries_test;

namespace
{

struct AmoPair : Pair {
	AmoPair() { a.enable_fmad(FMAD, PTAG_A, OWNER, ARIES_FMAD_CTL_CACHED_AMO_MASK); }
};

/* One command on one word; everything around it must stay. */
void check_one(AmoPair &p, const Command &c, uint64_t before, uint64_t first, uint64_t second)
{
	constexpr uint64_t AROUND = 0x6b6b6b6b6b6b6b6b;
	uint64_t after = expected(c, before, first, second);
	uint64_t fetched = before;

	if (c.bytes == 4) {
		after = uint32_t(after) | (before & ~uint64_t(UINT32_MAX));
		fetched = uint32_t(before) | (AROUND & ~uint64_t(UINT32_MAX));
	}
	p.word() = before;
	p.word(8) = AROUND;
	p.fetched() = AROUND;
	assert_int_equal(p.amo(c.code, first, second, c.bytes), ARIES_ST_OK);
	if (p.word() != after || (c.fetch && p.fetched() != fetched))
		print_error("command %#x of %#lx, operands %#lx %#lx\n", c.code, before, first, second);
	assert_int_equal(p.word(), after);
	assert_int_equal(p.word(8), AROUND);
	assert_int_equal(p.fetched(), c.fetch ? fetched : AROUND);
}

TEST(test_every_command)
{
	AmoPair p;
	std::mt19937_64 random(42);

	assert_int_equal(std::size(COMMANDS), 118);
	for (const Command &c : COMMANDS) {
		for (size_t i = 0; i < std::size(EDGES_WIDE); i++) {
			for (size_t j = 0; j < std::size(EDGES_WIDE); j++) {
				const uint64_t *edges = c.bytes == 8 ? EDGES_WIDE : EDGES_NARROW;

				check_one(p, c, edges[i], edges[j], edges[(i + j) % std::size(EDGES_WIDE)]);
			}
		}
		for (unsigned int i = 0; i < 200; i++) {
			const uint64_t before = random(), first = i % 4 ? random() : before;

			check_one(p, c, before, first, random());
		}
	}
}

/* The rules for NaN and signed zero, spelled out. */
TEST(test_floating_rules)
{
	AmoPair p;
	constexpr uint64_t SUM = 0x05d, MINIMUM = 0x059, MAXIMUM = 0x05b;
	constexpr uint64_t QNAN = 0x7ff8000000000000, ONE = 0x3ff0000000000000, MINUS_ZERO = uint64_t(1) << 63;
	constexpr uint64_t INF = 0x7ff0000000000000, MINUS_INF = 0xfff0000000000000;
	const struct {
		unsigned int code;
		uint64_t memory, operand, after;
	} cases[] = {
		{MINIMUM, QNAN, ONE, ONE},
		{MINIMUM, ONE, QNAN, ONE},
		{MAXIMUM, 0x7ff0000000000001, ONE, ONE},
		{MAXIMUM, 0xfff8000000000077, 0x7ff8000000000012, QNAN},
		{MINIMUM, 0, MINUS_ZERO, MINUS_ZERO},
		{MINIMUM, MINUS_ZERO, 0, MINUS_ZERO},
		{MAXIMUM, MINUS_ZERO, 0, 0},
		{MAXIMUM, 0, MINUS_ZERO, 0},
		{SUM, INF, MINUS_INF, QNAN},
		{SUM, 0xfff8000000000077, ONE, QNAN},
		{SUM, 0x7fefffffffffffff, 0x7fefffffffffffff, INF},
		{SUM, 1, 1, 2}, /* subnormals are kept */
		{SUM, MINUS_ZERO, MINUS_ZERO, MINUS_ZERO},
		{SUM, ONE, 0x3ca0000000000000, ONE}, /* a tie goes to even */
		{SUM, ONE | 1, 0x3ca0000000000000, (ONE | 1) + 1},
	};

	for (const auto &c : cases) {
		p.word() = c.memory;
		assert_int_equal(p.amo(c.code, c.operand), 0);
		assert_int_equal(p.word(), c.after);
		assert_int_equal(p.fetched(), c.memory);
	}
}

TEST(test_no_other_command)
{
	AmoPair p;

	p.word() = 3;
	for (unsigned int code = 0; code < 0x400; code++) {
		if (find_command(code))
			continue;
		for (unsigned int bytes : {4u, 8u})
			assert_int_equal(p.amo(code, 1, 1, bytes), ARIES_ST_BAD_OP);
	}
	assert_int_equal(p.word(), 3);
}

TEST(test_alignment_and_length)
{
	AmoPair p;

	for (const Command &c : COMMANDS) {
		p.word() = 0;
		p.word(8) = 0;
		p.desc().local_offset = BASE;
		for (uint64_t at = 0; at < 8; at++) {
			p.desc().offset = BASE + at;
			assert_int_equal(p.amo(c.code, 0, 0, c.bytes), at % c.bytes ? ARIES_ST_ALIGN : ARIES_ST_OK);
			assert_int_equal(p.amo(c.code, 0, 0, 12 - c.bytes), ARIES_ST_LENGTH);
		}
		p.desc().offset = BASE;
		for (uint64_t at = 1; at < 8; at++) {
			p.desc().local_offset = BASE + at;
			assert_int_equal(p.amo(c.code, 0, 0, c.bytes),
					 c.fetch && at % c.bytes ? ARIES_ST_LOCAL_ALIGN : ARIES_ST_OK);
		}
	}
	for (unsigned int bytes : {0u, 1u, 7u, 16u, 65535u})
		assert_int_equal(p.amo(0x108, 1, 0, bytes), ARIES_ST_LENGTH);
	/* The last word of a region, and the one behind it. */
	p.desc().offset = BASE + BYTES - 4;
	p.desc().local_offset = BASE + BYTES - 4;
	assert_int_equal(p.amo(0x254, 1, 0, 4), ARIES_ST_OK);
	assert_int_equal(*reinterpret_cast<uint32_t *>(p.b.ram(p.target + BYTES - 4)), 1);
	p.desc().local_offset = BASE + BYTES;
	assert_int_equal(p.amo(0x254, 1, 0, 4), ARIES_ST_LOCAL_BOUNDS);
	p.desc().offset = BASE + BYTES;
	assert_int_equal(p.amo(0x354, 1, 0, 4), ARIES_ST_BOUNDS);
}

TEST(test_cached_need_the_right)
{
	Pair p;

	p.word() = 0x77;
	for (const Command &c : COMMANDS)
		assert_int_equal(p.amo(c.code, 0, 0, c.bytes), c.cached ? ARIES_ST_BAD_OP : ARIES_ST_OK);
	for (unsigned int counter :
	     {ARIES_CNT_AMO_CACHE_HITS, ARIES_CNT_AMO_CACHE_MISSES, ARIES_CNT_AMO_CACHE_EVICTIONS})
		assert_int_equal(p.b.counter(counter), 0);
	/* The same by the window. */
	p.word() = 5;
	p.desc().operand[0] = 1;
	p.a.store(FMAD, ARIES_FMA_GET, 8, BASE | uint64_t(0x018) << ARIES_GETW_AMO_SHIFT);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CLOSE, 0), ARIES_ST_BAD_OP);
	assert_int_equal(p.word(), 5);
	/* The right is the kernel's to give, and to take back. */
	p.a.enable_fmad(FMAD, PTAG_A, OWNER, ARIES_FMAD_CTL_CACHED_AMO_MASK);
	assert_int_equal(p.amo(0x018, 1), ARIES_ST_OK);
	p.a.enable_fmad(FMAD, PTAG_A, OWNER);
	assert_int_equal(p.amo(0x018, 1), ARIES_ST_BAD_OP);
	assert_int_equal(p.word(), 6);
}

TEST(test_window)
{
	AmoPair p;

	/* A narrow atomic by the window: width from the command, 4 bytes come back. */
	p.word() = 0x1111111122222222;
	p.fetched() = ~uint64_t(0);
	p.desc().operand[0] = 1;
	p.desc().offset = BASE + 4; /* window stores are aligned to 8 */
	p.a.store(FMAD, ARIES_FMA_GET, 8, BASE | uint64_t(0x254) << ARIES_GETW_AMO_SHIFT);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_CLOSE, 0), ARIES_ST_OK);
	assert_int_equal(p.word(), 0x1111111222222222);
	assert_int_equal(p.fetched(), 0xffffffff11111111);
}

/* N11: the flag comes behind the result of a fetching atomic. */
TEST(test_flagged_atomic)
{
	AmoPair p;
	auto ring = [&](unsigned int code, unsigned int bytes) {
		return p.a.ring(FMAD, ARIES_FMA_AMO_FLAG, bytes, ARIES_EV_GLOBAL, 5, code);
	};
	uint32_t *there = reinterpret_cast<uint32_t *>(p.a.ram(p.local));

	p.word() = 0xaaaaaaaabbbbbbbb;
	p.desc().operand[0] = 1;
	memset(there, 0, 16);
	assert_int_equal(ring(0x008, 8), ARIES_ST_OK);
	assert_int_equal(there[0], 0xbbbbbbbb);
	assert_int_equal(there[1], 0xaaaaaaaa);
	assert_int_equal(there[2], ARIES_FMA_FLAG);
	assert_int_equal(there[3], 0);
	assert_int_equal(p.a.next_event(20).tid(), 5);
	memset(there, 0, 16);
	assert_int_equal(ring(0x254, 4), ARIES_ST_OK);
	assert_int_equal(there[0], 0xbbbbbbbc);
	assert_int_equal(there[1], ARIES_FMA_FLAG);
	assert_int_equal(there[2], 0);
	/* Nothing comes back from the others, and nothing is flagged that failed. */
	memset(there, 0, 16);
	assert_int_equal(ring(0x108, 8), ARIES_ST_BAD_OP);
	p.desc().offset = BASE + BYTES;
	assert_int_equal(ring(0x008, 8), ARIES_ST_BOUNDS);
	assert_int_equal(there[2], 0);
	p.desc().offset = BASE;
	const uint64_t before = p.word();

	p.desc().local_offset = BASE + BYTES - 8; /* no room for the flag */
	assert_int_equal(ring(0x008, 8), ARIES_ST_LOCAL_BOUNDS);
	assert_int_equal(p.word(), before);
}

/* N11: the flag comes behind the data of a get. */
TEST(test_flagged_get)
{
	AmoPair p;
	uint8_t *there = p.a.ram(p.local);

	for (unsigned int i = 0; i < BYTES; i++)
		*p.b.ram(p.target + i) = uint8_t(i * 13 + i / 251);
	for (unsigned int bytes : {4u, 8u, 64u, 4092u, 4096u, 8000u, 65532u}) {
		uint32_t flag;

		memset(there, 0xee, BYTES);
		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_FLAG, bytes), ARIES_ST_OK);
		assert_memory_equal(there, p.b.ram(p.target), bytes);
		memcpy(&flag, there + bytes, sizeof(flag));
		assert_int_equal(flag, ARIES_FMA_FLAG);
		if (bytes + 4 < BYTES)
			assert_int_equal(there[bytes + 4], 0xee);
	}
	p.desc().local_offset = BASE + BYTES - 64;
	memset(there, 0xee, BYTES);
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_FLAG, 64), ARIES_ST_LOCAL_BOUNDS);
	assert_int_equal(there[BYTES - 64], 0xee);
	p.desc().local_offset = BASE + 2;
	assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_FLAG, 64), ARIES_ST_LOCAL_ALIGN);
	p.desc().local_offset = BASE;
	for (unsigned int bytes : {0u, 65535u})
		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_FLAG, bytes), ARIES_ST_LENGTH);
}

/**
 * Looks at memory at the moment at which a flag in the next page is about to be stored: the page cannot be written to
 * until then.
 */
class FlagWatch
{
public:
	/** @bytes at @data are to be @expected when the page at @page is written to first. */
	FlagWatch(uint8_t *page, const uint8_t *data, const void *expected, size_t bytes)
	{
		struct sigaction action = {};

		watched = {page, data, static_cast<const uint8_t *>(expected), bytes, false, false};
		action.sa_sigaction = on_fault;
		action.sa_flags = SA_SIGINFO;
		sigaction(SIGSEGV, &action, &before_);
		assert_int_equal(mprotect(page, PAGE, PROT_READ), 0);
	}
	~FlagWatch()
	{
		mprotect(watched.page, PAGE, PROT_READ | PROT_WRITE);
		sigaction(SIGSEGV, &before_, nullptr);
	}
	/** Somebody has stored the flag. */
	static bool stored() { return watched.stored; }
	/** All data was there then. */
	static bool complete() { return watched.complete; }

private:
	static void on_fault(int, siginfo_t *info, void *)
	{
		const auto *at = static_cast<const uint8_t *>(info->si_addr);

		if (at < watched.page || at >= watched.page + PAGE || watched.stored)
			abort();
		watched.stored = true;
		watched.complete = !memcmp(watched.data, watched.expected, watched.bytes);
		mprotect(watched.page, PAGE, PROT_READ | PROT_WRITE);
	}

	inline static struct {
		uint8_t *page;
		const uint8_t *data, *expected;
		size_t bytes;
		bool stored, complete;
	} watched;
	struct sigaction before_;
};

/* N11: whoever sees the flag sees the data: nothing of it is stored after the flag. */
TEST(test_flag_is_stored_last)
{
	AmoPair p;
	uint8_t *const flags = p.a.ram(p.local + PAGE);
	const uint64_t value = 0x1122334455667788;

	for (uint64_t bytes : {4u, 8u, 64u, 4096u}) {
		for (uint64_t i = 0; i < bytes; i++)
			*p.b.ram(p.target + i) = uint8_t(i * 7 + bytes);
		memset(p.a.ram(p.local), 0xee, PAGE);
		p.desc().offset = BASE;
		p.desc().local_offset = BASE + PAGE - bytes;
		const FlagWatch watch(flags, flags - bytes, p.b.ram(p.target), bytes);

		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_GET_FLAG, unsigned(bytes)), ARIES_ST_OK);
		assert_true(FlagWatch::stored());
		assert_true(FlagWatch::complete());
	}
	{
		memset(flags - 8, 0xee, 8);
		p.word() = value;
		p.desc().local_offset = BASE + PAGE - 8;
		p.desc().operand[0] = 1;
		const FlagWatch watch(flags, flags - 8, &value, 8);

		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_AMO_FLAG, 8, 0, 0, 0x008), ARIES_ST_OK);
		assert_true(FlagWatch::stored());
		assert_true(FlagWatch::complete());
	}
	/* The sync flag of a put, here to the node itself. */
	for (uint64_t bytes : {8u, 64u, 2048u}) {
		memset(p.a.line(FMAD), int(bytes % 251), bytes);
		memset(p.a.ram(p.local), 0xee, PAGE);
		p.desc().pe = 0;
		p.desc().mdh = LOCAL_MDH;
		p.desc().offset = BASE + PAGE - bytes;
		p.desc().sync_offset = BASE + PAGE;
		const FlagWatch watch(flags, flags - bytes, p.a.line(FMAD), bytes);

		assert_int_equal(p.a.ring(FMAD, ARIES_FMA_PUT_SYNC, unsigned(bytes)), ARIES_ST_OK);
		assert_true(FlagWatch::stored());
		assert_true(FlagWatch::complete());
	}
}

} // namespace

TEST_MAIN("atomics")
