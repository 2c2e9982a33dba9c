// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Atomics and flagged responses: the library over the device model. */
#include "atomic.hpp"
#include "objects.hpp"
#include "rank.hpp"

#include <bit>
#include <thread>

constexpr uint32_t kCached = GNI_CDM_MODE_CACHED_AMO_ENABLED;
constexpr size_t kHere = 8, kThere = 64;

template <typename Word> static Word load(const Rank &r, size_t offset)
{
	Word v;

	memcpy(&v, r.bytes + offset, sizeof(v));
	return v;
}

template <typename Word> static void save(const Rank &r, size_t offset, Word v)
{
	memcpy(r.bytes + offset, &v, sizeof(v));
}

static gni_post_descriptor_t atomic(const Pair &p, uint32_t command, uint64_t first, uint64_t second = 0)
{
	gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_AMO, ugni::atomic_kind(command).operand_bytes, kHere, kThere);

	d.amo_cmd = static_cast<gni_fma_cmd_type_t>(command);
	d.first_operand = first;
	d.second_operand = second;
	return d;
}

template <typename Word> struct Case {
	uint32_t fetching, silent;
	Word before, first, second, after;
};

/* Open MPI reads what this one is said not to return; see fma_atomic(). */
static bool returns(uint32_t command)
{
	return ugni::atomic_kind(command).fetching || command == GNI_FMA_ATOMIC2_CSWAP_S ||
	       command == GNI_FMA_ATOMIC2_CSWAP_SC;
}

/* Both forms, cached and not; what lies behind word and result stays. */
template <typename Word> static void check(const Pair &p, const Case<Word> &c)
{
	for (uint32_t cached : {0x00U, 0x20U}) {
		for (uint32_t command : {c.fetching, c.silent}) {
			if (!command)
				continue;
			save<uint64_t>(p.a, kHere, 0x5555555555555555);
			save<uint64_t>(p.b, kThere, 0x6666666666666666);
			save<Word>(p.b, kThere, c.before);
			gni_post_descriptor_t d =
				atomic(p, command & 0x40 ? command | cached : command | cached >> 1, c.first, c.second);
			assert_int_equal(p.a.run(&d), 0);
			assert_true(load<Word>(p.b, kThere) == c.after);
			assert_true(load<Word>(p.a, kHere) ==
				    (returns(d.amo_cmd) ? c.before : static_cast<Word>(0x5555555555555555)));
			if (sizeof(Word) == 4) {
				assert_int_equal(load<uint32_t>(p.a, kHere + 4), 0x55555555);
				assert_int_equal(load<uint32_t>(p.b, kThere + 4), 0x66666666);
			}
		}
	}
}

MODEL_TEST(wide)
{
	Pair p(65536, kCached);
	auto f = [](double v) { return std::bit_cast<uint64_t>(v); };
	const Case<uint64_t> table[] = {
		{GNI_FMA_ATOMIC_FADD, GNI_FMA_ATOMIC_ADD, ~0UL, 3, 0, 2},
		{GNI_FMA_ATOMIC_FAND, GNI_FMA_ATOMIC_AND, 0xf0f0, 0xff00, 0, 0xf000},
		{GNI_FMA_ATOMIC_FOR, GNI_FMA_ATOMIC_OR, 0xf0f0, 0xff00, 0, 0xfff0},
		{GNI_FMA_ATOMIC_FXOR, GNI_FMA_ATOMIC_XOR, 0xf0f0, 0xff00, 0, 0x0ff0},
		{GNI_FMA_ATOMIC_FAX, GNI_FMA_ATOMIC_AX, 0xf0f0, 0xff00, 0x12, 0xf012},
		{GNI_FMA_ATOMIC_CSWAP, 0, 7, 7, 9, 9},
		{GNI_FMA_ATOMIC2_FAND, GNI_FMA_ATOMIC2_AND, 0xf0f0, 0xff00, 0, 0xf000},
		{GNI_FMA_ATOMIC2_FOR, GNI_FMA_ATOMIC2_OR, 0xf0f0, 0xff00, 0, 0xfff0},
		{GNI_FMA_ATOMIC2_FXOR, GNI_FMA_ATOMIC2_XOR, 0xf0f0, 0xff00, 0, 0x0ff0},
		{GNI_FMA_ATOMIC2_FSWAP, GNI_FMA_ATOMIC2_SWAP, 1, 0x8000000000000002, 0, 0x8000000000000002},
		{GNI_FMA_ATOMIC2_FAX, GNI_FMA_ATOMIC2_AX, 0xf0f0, 0xff00, 0x12, 0xf012},
		{GNI_FMA_ATOMIC2_FCSWAP, GNI_FMA_ATOMIC2_CSWAP, 7, 8, 9, 7},
		{GNI_FMA_ATOMIC2_FCSWAP, GNI_FMA_ATOMIC2_CSWAP, 8, 8, 9, 9},
		{GNI_FMA_ATOMIC2_FIMIN, GNI_FMA_ATOMIC2_IMIN, 5, ~0UL, 0, ~0UL},
		{GNI_FMA_ATOMIC2_FIMAX, GNI_FMA_ATOMIC2_IMAX, ~0UL, 5, 0, 5},
		{GNI_FMA_ATOMIC2_FIADD, GNI_FMA_ATOMIC2_IADD, ~0UL, 3, 0, 2},
		{GNI_FMA_ATOMIC2_FFPMIN, GNI_FMA_ATOMIC2_FPMIN, f(2.5), f(-1.25), 0, f(-1.25)},
		{GNI_FMA_ATOMIC2_FFPMAX, GNI_FMA_ATOMIC2_FPMAX, f(2.5), f(-1.25), 0, f(2.5)},
		{GNI_FMA_ATOMIC2_FFPADD, GNI_FMA_ATOMIC2_FPADD, f(2.5), f(-1.25), 0, f(1.25)},
	};

	for (auto &c : table)
		check(p, c);
}

MODEL_TEST(narrow)
{
	Pair p(65536, kCached);
	auto f = [](float v) { return std::bit_cast<uint32_t>(v); };
	const Case<uint32_t> table[] = {
		{GNI_FMA_ATOMIC2_FAND_S, GNI_FMA_ATOMIC2_AND_S, 0xf0f0, 0xff00, 0, 0xf000},
		{GNI_FMA_ATOMIC2_FOR_S, GNI_FMA_ATOMIC2_OR_S, 0xf0f0, 0xff00, 0, 0xfff0},
		{GNI_FMA_ATOMIC2_FXOR_S, GNI_FMA_ATOMIC2_XOR_S, 0xf0f0, 0xff00, 0, 0x0ff0},
		{GNI_FMA_ATOMIC2_FSWAP_S, GNI_FMA_ATOMIC2_SWAP_S, 1, 0x80000002, 0, 0x80000002},
		{GNI_FMA_ATOMIC2_FAX_S, GNI_FMA_ATOMIC2_AX_S, 0xf0f0, 0xff00, 0x12, 0xf012},
		{GNI_FMA_ATOMIC2_FCSWAP_S, GNI_FMA_ATOMIC2_CSWAP_S, 7, 8, 9, 7},
		{GNI_FMA_ATOMIC2_FCSWAP_S, GNI_FMA_ATOMIC2_CSWAP_S, 8, 8, 9, 9},
		{GNI_FMA_ATOMIC2_FIMIN_S, GNI_FMA_ATOMIC2_IMIN_S, 5, ~0U, 0, ~0U},
		{GNI_FMA_ATOMIC2_FIMAX_S, GNI_FMA_ATOMIC2_IMAX_S, ~0U, 5, 0, 5},
		{GNI_FMA_ATOMIC2_FIADD_S, GNI_FMA_ATOMIC2_IADD_S, ~0U, 3, 0, 2},
		{GNI_FMA_ATOMIC2_FFPMIN_S, GNI_FMA_ATOMIC2_FPMIN_S, f(2.5F), f(-1.25F), 0, f(-1.25F)},
		{GNI_FMA_ATOMIC2_FFPMAX_S, GNI_FMA_ATOMIC2_FPMAX_S, f(2.5F), f(-1.25F), 0, f(2.5F)},
		{GNI_FMA_ATOMIC2_FFPADD_S, GNI_FMA_ATOMIC2_FPADD_S, f(2.5F), f(-1.25F), 0, f(1.25F)},
	};

	for (auto &c : table)
		check(p, c);
}

/* The narrow compare-and-swap without a place for the old value; with a flag it is none that returns something. */
MODEL_TEST(narrow_swap_returns_nothing)
{
	Pair p(65536, kCached);

	for (uint32_t command : {GNI_FMA_ATOMIC2_CSWAP_S, GNI_FMA_ATOMIC2_CSWAP_SC}) {
		save<uint64_t>(p.a, kHere, 0x5555555555555555);
		save<uint32_t>(p.b, kThere, 8);
		gni_post_descriptor_t d = atomic(p, command, 8, 9);
		d.type = GNI_POST_AMO_W_FLAG;
		assert_rc(INVALID_PARAM, GNI_PostFma(p.a.ep, &d));
		d.type = GNI_POST_AMO;
		d.local_mem_hndl = {};
		d.local_addr++;
		assert_int_equal(p.a.run(&d), 0);
		assert_int_equal(load<uint32_t>(p.b, kThere), 9);
		assert_true(load<uint64_t>(p.a, kHere) == 0x5555555555555555);
	}
}

/* Whatever the library takes for a command the NIC has, and cached ones only in the mode. */
MODEL_TEST(every_command)
{
	for (uint32_t modes : {0U, kCached}) {
		Pair p(65536, modes);
		unsigned taken = 0;

		for (uint32_t command = 0; command < 0x400; command++) {
			ugni::AtomicKind kind = ugni::atomic_kind(command);
			gni_post_descriptor_t d = atomic(p, command, 1, 2);
			if (!kind.operand_bytes || (kind.cached && !modes)) {
				d.length = d.length ? d.length : 8;
				assert_rc(INVALID_PARAM, GNI_PostFma(p.a.ep, &d));
				continue;
			}
			assert_int_equal(p.a.run(&d), 0);
			taken++;
			/* The length of something else, and half a word too far. */
			d.length = 12 - d.length;
			assert_int_equal(p.a.run(&d), 0);
			d.remote_addr += kind.operand_bytes / 2;
			assert_rc(ALIGNMENT_ERROR, GNI_PostFma(p.a.ep, &d));
		}
		assert_int_equal(taken, modes ? 118 : 59);
	}
}

/* The NIC does not rely on the library: a process that rings itself gets an error. */
MODEL_TEST(gate_is_in_the_nic)
{
	Pair p;

	save<uint64_t>(p.b, kThere, 7);
	p.a.nic->modes |= kCached;
	gni_post_descriptor_t d = atomic(p, GNI_FMA_ATOMIC_FADD_C, 1);
	assert_int_equal(p.a.run(&d), ARIES_ST_BAD_OP);
	assert_true(load<uint64_t>(p.b, kThere) == 7);
}

/* N12 as a process sees it: counts at the target, results in its memory at once. */
MODEL_TEST(cache)
{
	Pair p(65536, kCached);

	for (uint64_t round = 1; round <= 2; round++) {
		for (size_t n = 0; n < 65; n++) {
			gni_post_descriptor_t d = atomic(p, GNI_FMA_ATOMIC_ADD_C, 1);
			d.remote_addr = p.b.at(8 * n);
			assert_int_equal(p.a.run(&d), 0);
			assert_true(load<uint64_t>(p.b, 8 * n) == round);
		}
	}
	uint64_t hits = model::counter(1, ARIES_CNT_AMO_CACHE_HITS);
	uint64_t misses = model::counter(1, ARIES_CNT_AMO_CACHE_MISSES);
	assert_int_equal(hits + misses, 130);
	assert_in_range(misses, 66, 70); /* one set of four has five words */
	assert_int_equal(model::counter(1, ARIES_CNT_AMO_CACHE_EVICTIONS), misses - 64);
}

/* Both nodes add floating-point numbers and narrow ones to neighbouring words. */
MODEL_TEST(contended)
{
	constexpr unsigned kRounds = 2000;
	Pair p(65536, kCached);
	gni_ep_handle_t self = nullptr;
	assert_rc(SUCCESS, GNI_EpCreate(p.b.nic, p.b.source, &self));
	assert_rc(SUCCESS, GNI_EpBind(self, p.b.address, 1001));
	std::swap(self, p.b.ep); /* b works on its own memory, through the NIC */

	auto add = [&](const Rank &r) {
		for (unsigned i = 0; i < kRounds; i++) {
			gni_post_descriptor_t d = r.post(p.b, GNI_POST_AMO, 4, kHere, 1024);
			d.amo_cmd = i % 2 ? GNI_FMA_ATOMIC2_FIADD_SC : GNI_FMA_ATOMIC2_IADD_S;
			d.first_operand = 1;
			if (r.run(&d))
				return;
			d = r.post(p.b, GNI_POST_AMO, 4, kHere, 1028);
			d.amo_cmd = i % 2 ? GNI_FMA_ATOMIC2_FFPADD_S : GNI_FMA_ATOMIC2_FPADD_SC;
			d.first_operand = std::bit_cast<uint32_t>(0.5F);
			if (r.run(&d))
				return;
		}
	};
	std::thread other([&] { add(p.b); });
	add(p.a);
	other.join();
	assert_int_equal(load<uint32_t>(p.b, 1024), 2 * kRounds);
	assert_true(load<float>(p.b, 1028) == static_cast<float>(kRounds));
}

MODEL_TEST(flagged_atomics)
{
	Pair p;

	memset(p.a.bytes, 0, 64);
	save<uint64_t>(p.b, kThere, 0x1122334455667788);
	gni_post_descriptor_t d = atomic(p, GNI_FMA_ATOMIC_FADD, 1);
	d.type = GNI_POST_AMO_W_FLAG;
	assert_int_equal(p.a.run(&d), 0);
	assert_true(load<uint64_t>(p.a, kHere) == 0x1122334455667788);
	assert_int_equal(load<uint32_t>(p.a, kHere + 8), ARIES_FMA_FLAG);
	memset(p.a.bytes, 0, 64);
	d = atomic(p, GNI_FMA_ATOMIC2_FSWAP_S, 3);
	d.type = GNI_POST_AMO_W_FLAG;
	assert_int_equal(p.a.run(&d), 0);
	assert_int_equal(load<uint32_t>(p.a, kHere), 0x55667789);
	assert_int_equal(load<uint32_t>(p.a, kHere + 4), ARIES_FMA_FLAG);
	assert_int_equal(load<uint32_t>(p.a, kHere + 8), 0);
}

/* Short, of several packets, of several doorbells: one flag behind all of it, and no event needed to see it. */
MODEL_TEST(flagged_gets)
{
	Pair p(262144);

	for (size_t length : {4, 64, 4096, 65472, 65476, 200000}) {
		for (size_t i = 0; i < length; i++)
			p.b.bytes[i] = static_cast<unsigned char>(i * 31 + i / 251 + length);
		memset(p.a.bytes, 0, p.a.size);
		gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_FMA_GET_W_FLAG, length, kHere, 0, GNI_CQMODE_SILENT);
		assert_rc(SUCCESS, GNI_PostFma(p.a.ep, &d));
		assert_int_equal(load<uint32_t>(p.a, kHere + length), ARIES_FMA_FLAG);
		assert_memory_equal(p.a.bytes + kHere, p.b.bytes, length);
		assert_int_equal(load<uint32_t>(p.a, kHere + length + 4), 0);
	}
	/* A get that fails raises none. */
	memset(p.a.bytes, 0, 64);
	gni_post_descriptor_t d = p.a.post(p.b, GNI_POST_FMA_GET_W_FLAG, 8, kHere, p.b.size);
	assert_int_equal(p.a.run(&d), ARIES_ST_BOUNDS);
	assert_int_equal(load<uint32_t>(p.a, kHere + 8), 0);
}

TEST_MAIN("atomics over the model")
