/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Atomics of many initiators on one word, and the AMO cache of the target (N12, N13). */
#include <algorithm>
#include <bit>
#include <functional>
#include <thread>

#include "tests/pair.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int THREADS = 4, ROUNDS = 20000;
constexpr uint64_t CACHED = ARIES_FMAD_CTL_CACHED_AMO_MASK;

/* One thread's way to the word: a descriptor of its own, on one of the two nodes. */
class Initiator
{
public:
	Initiator(Pair &pair, unsigned int number)
		: host_(number & 1 ? pair.b : pair.a), index_(2 + number), local_mdh_(number & 1 ? MDH : LOCAL_MDH),
		  fetched_(number & 1 ? pair.b.ram(pair.target + PAGE + 64 * number)
				      : pair.a.ram(pair.local + PAGE + 64 * number))
	{
		host_.enable_fmad(index_, number & 1 ? PTAG_B : PTAG_A, OWNER, CACHED);
		aries_fma_desc &desc = host_.desc(index_);

		desc = {};
		desc.pe = 1;
		desc.mdh = MDH;
		desc.offset = BASE;
		desc.local_mdh = local_mdh_;
		desc.local_offset = BASE + PAGE + 64 * number;
	}

	/* The old value. */
	uint64_t operator()(unsigned int code, uint64_t first, uint64_t second = 0)
	{
		const unsigned int bytes = code & 0x200 ? 4 : 8;
		aries_fma_desc &desc = host_.desc(index_);
		uint64_t old = 0;

		desc.operand[0] = first;
		desc.operand[1] = second;
		if (host_.ring(index_, ARIES_FMA_AMO_OP, bytes, 0, 0, code))
			failed = true;
		memcpy(&old, fetched_, bytes);
		return old;
	}

	bool failed = false;

private:
	FakeHost &host_;
	const unsigned int index_;
	const unsigned int local_mdh_;
	const uint8_t *fetched_;
};

using Body = std::function<bool(Initiator &, unsigned int number)>;

/* Runs @body in all threads, which begin together; none of them may have failed. */
void together(Pair &pair, const Body &body)
{
	std::vector<std::thread> threads;
	std::atomic<unsigned int> ready{0}, bad{0};

	for (unsigned int t = 0; t < THREADS; t++)
		threads.emplace_back([&, t] {
			Initiator amo(pair, t);

			ready++;
			while (ready < THREADS)
				std::this_thread::yield();
			if (!body(amo, t) || amo.failed)
				bad++;
		});
	for (std::thread &thread : threads)
		thread.join();
	assert_int_equal(bad, 0);
}

/* The code for a width, and every second time for the cache. */
unsigned int variant(unsigned int code, unsigned int bytes, unsigned int round = 0)
{
	return (bytes == 8 ? code : (code & ~1u) | 0x200) | (round & 1 ? 0x20 : 0);
}

uint64_t word_of(Pair &pair, unsigned int bytes)
{
	return bytes == 8 ? pair.word() : uint32_t(pair.word());
}

uint64_t mask_of(unsigned int bytes)
{
	return bytes == 8 ? ~uint64_t(0) : UINT32_MAX;
}

TEST(test_additions)
{
	Pair pair;

	for (unsigned int bytes : {4u, 8u}) {
		pair.word() = 0;
		together(pair, [&](Initiator &amo, unsigned int) {
			uint64_t last = 0;
			bool rising = true;

			for (unsigned int i = 0; i < ROUNDS; i++) {
				const uint64_t old = amo(variant(0x055, bytes, i), 1);

				rising = rising && (i == 0 || old > last);
				last = old;
				amo(variant(0x155, bytes, i), 1);
			}
			return rising;
		});
		assert_int_equal(pair.word(), uint64_t(2) * THREADS * ROUNDS);
	}
}

TEST(test_floating_additions)
{
	Pair pair;
	constexpr uint64_t ONE = 0x3ff0000000000000, ONE_NARROW = 0x3f800000;
	constexpr unsigned int SUM = THREADS * ROUNDS; /* exact in both widths */

	pair.word() = 0;
	together(pair, [](Initiator &amo, unsigned int) {
		for (unsigned int i = 0; i < ROUNDS; i++)
			amo(variant(i % 3 ? 0x15d : 0x05d, 8, i), ONE);
		return true;
	});
	assert_int_equal(pair.word(), std::bit_cast<uint64_t>(double(SUM)));
	pair.word() = 0;
	together(pair, [](Initiator &amo, unsigned int) {
		for (unsigned int i = 0; i < ROUNDS; i++)
			amo(variant(i % 3 ? 0x15d : 0x05d, 4, i), ONE_NARROW);
		return true;
	});
	assert_int_equal(pair.word(), std::bit_cast<uint32_t>(float(SUM)));
}

/* Each thread has a bit of its own, and nobody else may change it. */
TEST(test_bits)
{
	Pair pair;

	for (unsigned int bytes : {4u, 8u}) {
		pair.word() = 0;
		together(pair, [&](Initiator &amo, unsigned int t) {
			const uint64_t bit = uint64_t(1) << (bytes * 8 - 1 - 5 * t);
			bool right = true;

			for (unsigned int i = 0; i < ROUNDS; i++) {
				right = right && !(amo(variant(0x043, bytes, i), bit) & bit);
				right = right && (amo(variant(0x041, bytes, i), ~bit) & bit);
				right = right && !(amo(variant(0x045, bytes, i), bit) & bit);
				amo(variant(0x145, bytes, i), bit);
				amo(variant(0x143, bytes, i), bit);
				amo(variant(0x141, bytes, i), ~bit);
			}
			amo(variant(0x143, bytes), bit);
			return right;
		});
		uint64_t all = 0;

		for (unsigned int t = 0; t < THREADS; t++)
			all |= uint64_t(1) << (bytes * 8 - 1 - 5 * t);
		assert_int_equal(pair.word(), all);
	}
}

/* Masked swap: each thread keeps a number in its byte. */
TEST(test_masked_swaps)
{
	Pair pair;

	for (unsigned int bytes : {4u, 8u}) {
		pair.word() = 0;
		together(pair, [&](Initiator &amo, unsigned int t) {
			const unsigned int shift = 8 * t;
			const uint64_t mask = uint64_t(0xff) << shift;
			bool right = true;

			for (unsigned int i = 1; i <= ROUNDS; i++) {
				const uint64_t old = amo(variant(0x049, bytes, i), ~mask, uint64_t(i & 0xff) << shift);

				right = right && (old & mask) >> shift == ((i - 1) & 0xff);
			}
			return right;
		});
		assert_int_equal(pair.word(), (ROUNDS & 0xff) * uint64_t(0x01010101));
	}
}

/* What goes in comes out once: sums of both agree. */
TEST(test_swaps)
{
	Pair pair;

	for (unsigned int bytes : {4u, 8u}) {
		std::atomic<uint64_t> in{0}, out{0};

		pair.word() = 0;
		together(pair, [&](Initiator &amo, unsigned int t) {
			for (unsigned int i = 1; i <= ROUNDS; i++) {
				const uint64_t value = i * THREADS + t;

				in += value;
				out += amo(variant(0x047, bytes, i), value);
			}
			return true;
		});
		assert_int_equal(in, out + word_of(pair, bytes));
	}
}

TEST(test_compare_and_swaps)
{
	Pair pair;

	for (unsigned int bytes : {4u, 8u}) {
		pair.word() = 0;
		together(pair, [&](Initiator &amo, unsigned int) {
			uint64_t seen = 0;

			for (unsigned int done = 0; done < ROUNDS / 4;) {
				const uint64_t old = amo(variant(0x04b, bytes, done), seen, seen + 1);

				done += old == seen;
				seen = old == seen ? seen + 1 : old;
			}
			return true;
		});
		assert_int_equal(pair.word(), THREADS * (ROUNDS / 4));
	}
}

/* No operand that counts is forgotten. */
TEST(test_extremes)
{
	Pair pair;
	const struct {
		unsigned int code;
		bool minimum, floating;
	} cases[] = {{0x051, true, false}, {0x053, false, false}, {0x059, true, true}, {0x05b, false, true}};

	for (const auto &c : cases) {
		for (unsigned int bytes : {4u, 8u}) {
			auto operand = [&](int64_t value) -> uint64_t {
				if (!c.floating)
					return uint64_t(value) & mask_of(bytes);
				return bytes == 8 ? std::bit_cast<uint64_t>(double(value))
						  : std::bit_cast<uint32_t>(float(value));
			};
			const int64_t sign = c.minimum ? -1 : 1;

			pair.word() = operand(0);
			together(pair, [&](Initiator &amo, unsigned int t) {
				for (unsigned int i = 0; i < ROUNDS; i++) {
					/* Up and down, so that most do not count. */
					const int64_t value = sign * int64_t((i ^ 0x155) * THREADS + t);

					amo(variant(c.code | (i % 2 ? 0x100 : 0), bytes, i / 2), operand(value));
				}
				return true;
			});
			int64_t best = 0;

			for (unsigned int i = 0; i < ROUNDS; i++)
				best = std::max<int64_t>(best, (i ^ 0x155) * THREADS + THREADS - 1);
			assert_int_equal(word_of(pair, bytes), operand(sign * best));
		}
	}
}

struct CacheCounts {
	uint64_t hits, misses, evictions;
};

CacheCounts counts(const FakeHost &host)
{
	return {host.counter(ARIES_CNT_AMO_CACHE_HITS), host.counter(ARIES_CNT_AMO_CACHE_MISSES),
		host.counter(ARIES_CNT_AMO_CACHE_EVICTIONS)};
}

void assert_counts(const FakeHost &host, uint64_t hits, uint64_t misses, uint64_t evictions)
{
	const CacheCounts now = counts(host);

	assert_int_equal(now.hits, hits);
	assert_int_equal(now.misses, misses);
	assert_int_equal(now.evictions, evictions);
}

struct CachePair : Pair {
	CachePair() { a.enable_fmad(FMAD, PTAG_A, OWNER, CACHED); }
	void add(uint64_t at, unsigned int code = 0x118)
	{
		desc().offset = BASE + at;
		assert_int_equal(amo(code, 1, 0, code & 0x200 ? 4 : 8), ARIES_ST_OK);
	}
};

/* N12: 64 words fit, the 65th drives one out, and memory has every result at once. */
TEST(test_cache_evicts)
{
	CachePair p;

	for (uint64_t n = 0; n < 64; n++) {
		p.add(8 * n);
		assert_int_equal(p.word(8 * n), 1);
	}
	assert_counts(p.b, 0, 64, 0);
	for (uint64_t n = 0; n < 64; n++) {
		p.add(8 * n);
		assert_int_equal(p.word(8 * n), 2);
	}
	assert_counts(p.b, 64, 64, 0);
	p.add(8 * 64);
	assert_counts(p.b, 64, 65, 1);
	/* It took the place of the word that came first. */
	p.add(8);
	assert_counts(p.b, 65, 65, 1);
	p.add(0);
	assert_counts(p.b, 65, 66, 2);
	assert_int_equal(p.word(0), 3);
	/* Commands that are not cached go past it; both halves of a word are one entry. */
	p.add(8 * 100, 0x108);
	p.add(8 * 63, 0x374);
	p.add(8 * 63 + 4, 0x374);
	assert_counts(p.b, 67, 66, 2);
	/* It is the target's: nothing of this counts here. */
	assert_counts(p.a, 0, 0, 0);
}

/* N12: each of the four ways of a set is given away in its turn, so four words more drive out the first four. */
TEST(test_cache_ways_take_turns)
{
	constexpr uint64_t NEXT = 8 * 16; /* the next word of the same set */
	CachePair p;

	for (uint64_t n = 0; n < 8; n++)
		p.add(n * NEXT);
	assert_counts(p.b, 0, 8, 4);
	for (uint64_t n = 4; n < 8; n++)
		p.add(n * NEXT);
	assert_counts(p.b, 4, 8, 4);
	for (uint64_t n = 0; n < 4; n++)
		p.add(n * NEXT);
	assert_counts(p.b, 4, 12, 8);
}

/* Refused commands are no use of the cache. */
TEST(test_cache_refused)
{
	CachePair p;

	p.desc().offset = BASE + BYTES;
	assert_int_equal(p.amo(0x118, 1), ARIES_ST_BOUNDS);
	p.desc().offset = BASE + 4;
	assert_int_equal(p.amo(0x118, 1), ARIES_ST_ALIGN);
	assert_counts(p.b, 0, 0, 0);
}

TEST(test_cache_is_of_all_initiators)
{
	CachePair p;
	Initiator own(p, 1);

	p.add(0);
	assert_counts(p.b, 0, 1, 0);
	assert_int_equal(own(0x018, 1), 1);
	assert_counts(p.b, 1, 1, 0);
	assert_int_equal(p.word(), 2);
}

/* A handle that has been invalidated takes its words along; a reset takes all. */
TEST(test_cache_invalidation)
{
	CachePair p;

	p.b.make_mdd(MDH + 1, PTAG_B, p.target, BYTES, BASE);
	p.add(0);
	p.desc().mdh = MDH + 1;
	p.add(8);
	assert_counts(p.b, 0, 2, 0);
	assert_true(p.b.invalidate(MDH));
	p.add(8);
	assert_counts(p.b, 1, 2, 0);
	p.b.make_mdd(MDH, PTAG_B, p.target, BYTES, BASE);
	p.desc().mdh = MDH;
	p.add(0);
	assert_counts(p.b, 1, 3, 0);
	p.b.write32(ARIES_CTL_CONTROL, ARIES_CTL_CONTROL_RESET_MASK);
	assert_counts(p.b, 0, 0, 0);
}

/* Nobody is lost in the counts, and the words are right, while all fight for the entries. */
TEST(test_cache_of_threads)
{
	Pair pair;
	std::atomic<unsigned int> sum{0};

	together(pair, [&](Initiator &, unsigned int t) {
		FakeHost &host = t & 1 ? pair.b : pair.a;
		aries_fma_desc &desc = host.desc(2 + t);

		for (unsigned int i = 0; i < ROUNDS; i++) {
			desc.operand[0] = 1;
			desc.offset = BASE + 8192 + 8 * ((i * 7) % 96);
			sum += host.ring(2 + t, ARIES_FMA_AMO_OP, 8, 0, 0, 0x118) == ARIES_ST_OK;
		}
		return true;
	});
	uint64_t total = 0;

	for (unsigned int n = 0; n < 96; n++)
		total += pair.word(8192 + 8 * n);
	assert_int_equal(total, THREADS * ROUNDS);
	assert_int_equal(sum, THREADS * ROUNDS);
	const CacheCounts c = counts(pair.b);

	assert_int_equal(c.hits + c.misses, THREADS * ROUNDS);
	assert_true(c.misses >= 96 && c.evictions <= c.misses && c.evictions >= 32);
}

/* N13: what a processor reads, changes and stores in steps loses an atomic that comes between. */
TEST(test_processors_take_no_part)
{
	CachePair p;
	const uint64_t read = p.word();

	p.add(0);
	assert_int_equal(p.word(), read + 1);
	p.word() = read + 100;
	assert_int_equal(p.amo(0x018, 1), 0);
	assert_int_equal(p.fetched(), read + 100);
}

} // namespace

TEST_MAIN("atomics of many")
