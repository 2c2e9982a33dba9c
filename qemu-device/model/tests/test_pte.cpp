/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Address translation: page sizes (N02), the PTE cache (N03), and that no stale entry is used, whoever is under way. */
#include <memory>
#include <thread>

#include "nic/tables/pte_cache.hpp"
#include "tests/pair.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int BIG = 50;
constexpr uint64_t LINES = 129;
constexpr uint64_t LINE = 8 * PAGE;

/** What node b's cache has done since the last look. */
struct Counts {
	const FakeHost &host;
	uint64_t hits = 0, misses = 0, evictions = 0;

	explicit Counts(const FakeHost &h) : host(h) { look(); }
	void look()
	{
		hits = host.counter(ARIES_CNT_PTE_CACHE_HITS);
		misses = host.counter(ARIES_CNT_PTE_CACHE_MISSES);
		evictions = host.counter(ARIES_CNT_PTE_CACHE_EVICTIONS);
	}
	void expect(uint64_t h, uint64_t m, uint64_t e)
	{
		assert_int_equal(host.counter(ARIES_CNT_PTE_CACHE_HITS) - hits, h);
		assert_int_equal(host.counter(ARIES_CNT_PTE_CACHE_MISSES) - misses, m);
		assert_int_equal(host.counter(ARIES_CNT_PTE_CACHE_EVICTIONS) - evictions, e);
		look();
	}
};

struct BigPair : Pair {
	uint64_t big;
	uint64_t *pte;

	BigPair() : big(b.alloc(LINES * LINE))
	{
		pte = reinterpret_cast<uint64_t *>(b.ram(b.make_mdd(BIG, PTAG_B, big, LINES * LINE, 0)));
		desc().mdh = BIG;
	}
	void put_at(uint64_t offset, uint32_t status = ARIES_ST_OK)
	{
		desc().offset = offset;
		assert_int_equal(put(8), status);
	}
};

/** N03: eight neighbours share one fill. */
TEST(test_neighbours)
{
	BigPair p;
	Counts counts(p.b);

	p.put_at(3 * PAGE);
	counts.expect(0, 1, 0);
	for (uint64_t page = 0; page < 8; page++)
		p.put_at(page * PAGE);
	counts.expect(8, 0, 0);
	p.put_at(8 * PAGE);
	counts.expect(0, 1, 0);
	/* Two pages in one operation. */
	p.desc().offset = 9 * PAGE - 64;
	assert_int_equal(p.put(128), ARIES_ST_OK);
	counts.expect(2, 0, 0);
}

/** N03: 128 lines reach 4 MiB of small pages; the 129th takes the place of another. */
TEST(test_reach)
{
	BigPair p;
	Counts counts(p.b);

	for (uint64_t line = 0; line < LINES - 1; line++)
		p.put_at(line * LINE);
	counts.expect(0, LINES - 1, 0);
	for (uint64_t line = 0; line < LINES - 1; line++)
		p.put_at(line * LINE + 7 * PAGE);
	counts.expect(LINES - 1, 0, 0);
	p.put_at((LINES - 1) * LINE);
	counts.expect(0, 1, 1);
	/* Lines 0, 32, 64 and 96 share the set with it: one of them is gone. */
	p.put_at(0);
	counts.expect(0, 1, 1);
	for (uint64_t line = 1; line < 32; line++)
		p.put_at(line * LINE);
	counts.expect(31, 0, 0);
}

/** Two levels of tables are two reads, one level is one; a hit is none. */
TEST(test_walks)
{
	BigPair p;
	uint64_t walks = p.b.counter(ARIES_CNT_PTE_WALKS);

	p.put_at(0);
	assert_int_equal(p.b.counter(ARIES_CNT_PTE_WALKS) - walks, 2);
	p.put_at(8);
	assert_int_equal(p.b.counter(ARIES_CNT_PTE_WALKS) - walks, 2);
}

/** Each page of a table with several leaves is where its entry says, in all of a leaf. */
TEST(test_leaves)
{
	BigPair p;

	for (uint64_t page : {1, 255, 256, 300, 511, 512, 800}) {
		memcpy(p.a.line(FMAD), &page, sizeof(page));
		p.put_at(page * PAGE + 8);
		assert_int_equal(*reinterpret_cast<uint64_t *>(p.b.ram(p.big + page * PAGE + 8)), page);
	}
}

/** N02: one level with pages of 64 GiB, and the end of what a handle can reach. */
TEST(test_largest_page)
{
	Pair p;
	const uint64_t table = p.b.alloc(PAGE);
	auto *pte = reinterpret_cast<uint64_t *>(p.b.ram(table));
	const uint64_t page = uint64_t(1) << 36;
	Counts counts(p.b);

	for (uint64_t i = 0; i < 16; i++)
		pte[i] = i == 15 ? ARIES_PTE_VALID | ARIES_PTE_WRITE : 0;
	p.b.write64(ARIES_MDD_BASE_N(BIG), 0);
	p.b.write64(ARIES_MDD_LENGTH_N(BIG), uint64_t(1) << 40);
	p.b.write64(ARIES_MDD_TABLE_N(BIG), table);
	p.b.write64(ARIES_MDD_CTL_N(BIG), ARIES_MDD_CTL_VALID_MASK | uint64_t(PTAG_B) << 8 | uint64_t(36) << 16);
	p.desc().mdh = BIG;
	p.desc().offset = 15 * page + p.target;
	*reinterpret_cast<uint64_t *>(p.a.line(FMAD)) = 0x7777;
	assert_int_equal(p.put(8), ARIES_ST_OK);
	assert_int_equal(p.word(), 0x7777);
	counts.expect(0, 1, 0);
	/* The upper piece of memory is in the same page, what is between them is not memory. */
	p.desc().offset = 15 * page + HIGH_GPA;
	assert_int_equal(p.put(8), ARIES_ST_OK);
	counts.expect(1, 0, 0);
	p.desc().offset = 15 * page + LOW_BYTES;
	assert_int_equal(p.put(8), ARIES_ST_TRANSLATION);
	p.desc().offset = MASK40 & ~uint64_t(7);
	assert_int_equal(p.put(8), ARIES_ST_TRANSLATION);
	p.desc().offset = 14 * page;
	assert_int_equal(p.put(8), ARIES_ST_TRANSLATION);
}

/** N02: the last of 4 KiB pages in two levels, at the end of a region that is no whole page. */
TEST(test_last_small_page)
{
	BigPair p;

	p.put_at(LINES * LINE - 8);
	p.put_at(LINES * LINE - 7, ARIES_ST_BOUNDS);
}

/** An entry that is not valid is asked for again each time: the owner may fill it in without telling. */
TEST(test_filled_in_later)
{
	BigPair p;
	const uint64_t good = p.pte[5];
	Counts counts(p.b);

	p.pte[5] = 0;
	p.put_at(5 * PAGE, ARIES_ST_TRANSLATION);
	counts.expect(0, 1, 0);
	p.put_at(4 * PAGE);
	counts.expect(0, 1, 0);
	p.put_at(5 * PAGE, ARIES_ST_TRANSLATION);
	counts.expect(0, 1, 0);
	p.pte[5] = good;
	p.put_at(5 * PAGE);
	counts.expect(0, 1, 0);
	p.put_at(5 * PAGE);
	counts.expect(1, 0, 0);
}

void refresh(const FakeHost &host, unsigned int mdh)
{
	host.write32(ARIES_INV_PTES, mdh);
	while (host.read(ARIES_INV_STATUS, 4))
		usleep(10);
}

/** Entries that change in place: from INV_PTES on the new ones count. */
TEST(test_changed_in_place)
{
	BigPair p;
	const uint64_t dropped = p.b.counter(ARIES_CNT_PTE_CACHE_INVALIDATIONS);
	auto *zero = reinterpret_cast<uint64_t *>(p.b.ram(p.big));
	auto *one = reinterpret_cast<uint64_t *>(p.b.ram(p.big + PAGE));

	*reinterpret_cast<uint64_t *>(p.a.line(FMAD)) = 1;
	p.put_at(0);
	assert_int_equal(*zero, 1);
	std::swap(p.pte[0], p.pte[1]);
	refresh(p.b, BIG);
	assert_int_equal(p.b.counter(ARIES_CNT_PTE_CACHE_INVALIDATIONS) - dropped, 1);
	*reinterpret_cast<uint64_t *>(p.a.line(FMAD)) = 2;
	p.put_at(0);
	assert_int_equal(*zero, 1);
	assert_int_equal(*one, 2);
	/* Rights are part of the entry. */
	p.pte[0] &= ~ARIES_PTE_WRITE;
	refresh(p.b, BIG);
	p.put_at(0, ARIES_ST_ACCESS);
	p.pte[0] = 0;
	refresh(p.b, BIG);
	p.put_at(0, ARIES_ST_TRANSLATION);
	assert_int_equal(p.b.guest_errors, 0);
}

/** The same number for another region: nothing of the first is left. */
TEST(test_number_used_again)
{
	Pair p;
	const uint64_t other = p.b.alloc(BYTES);

	assert_int_equal(p.put(8), ARIES_ST_OK);
	for (int round = 0; round < 20; round++) {
		const uint64_t now = round % 2 ? p.target : other;
		const uint64_t value = 100 + uint64_t(round);

		assert_true(p.b.invalidate(MDH));
		assert_int_equal(p.put(8), ARIES_ST_MDD);
		p.b.make_mdd(MDH, PTAG_B, now, BYTES, BASE);
		*reinterpret_cast<uint64_t *>(p.a.line(FMAD)) = value;
		assert_int_equal(p.put(8), ARIES_ST_OK);
		assert_int_equal(*reinterpret_cast<uint64_t *>(p.b.ram(now)), value);
	}
}

/** Peers that put without a pause into offset 0 of domain BIG, whatever comes of it. */
struct Peers {
	Pair p;
	uint64_t page[2];
	uint64_t table;
	std::atomic<bool> stop{false};
	std::atomic<uint64_t> done{0};
	std::vector<std::thread> threads;

	Peers()
	{
		page[0] = p.b.alloc(PAGE);
		page[1] = p.b.alloc(PAGE);
		table = p.b.alloc(PAGE);
		for (unsigned int fmad : {FMAD, FMAD + 1})
			threads.emplace_back([this, fmad] { run(fmad); });
	}
	~Peers()
	{
		stop = true;
		for (auto &thread : threads)
			thread.join();
	}
	void run(unsigned int fmad)
	{
		p.a.enable_fmad(fmad, PTAG_A, OWNER);
		aries_fma_desc &desc = p.a.desc(fmad);

		desc = {};
		desc.pe = 1;
		desc.mdh = BIG;
		for (uint64_t value = 1; !stop; value++) {
			*reinterpret_cast<uint64_t *>(p.a.line(fmad)) = value;
			p.a.ring(fmad, ARIES_FMA_PUT_LINE, 8);
			done++;
		}
	}
	uint64_t word(int which)
	{
		return __atomic_load_n(reinterpret_cast<uint64_t *>(p.b.ram(page[which])), __ATOMIC_RELAXED);
	}
	void map(int which)
	{
		__atomic_store_n(reinterpret_cast<uint64_t *>(p.b.ram(table)),
				 page[which] | ARIES_PTE_VALID | ARIES_PTE_WRITE, __ATOMIC_RELEASE);
	}
	void publish()
	{
		p.b.write64(ARIES_MDD_BASE_N(BIG), 0);
		p.b.write64(ARIES_MDD_LENGTH_N(BIG), PAGE);
		p.b.write64(ARIES_MDD_TABLE_N(BIG), table);
		p.b.write64(ARIES_MDD_CTL_N(BIG),
			    ARIES_MDD_CTL_VALID_MASK | uint64_t(PTAG_B) << 8 | uint64_t(12) << 16);
	}
	/** Waits until the peers have rung @n times. */
	void wait(uint64_t n)
	{
		const uint64_t from = done;

		while (done - from < n)
			std::this_thread::yield();
	}
};

constexpr int ROUNDS = 100;

/** Deregistration with peers under way: when it is done nobody reaches the page, also not through the cache. */
TEST(test_peers_and_deregistration)
{
	Peers peers;
	unsigned int reached = 0;

	for (int round = 0; round < ROUNDS; round++) {
		const int now = round % 2;

		peers.map(now);
		peers.publish();
		peers.wait(20);
		assert_true(peers.p.b.invalidate(BIG));
		const uint64_t last = peers.word(now);

		peers.map(1 - now);
		peers.publish();
		peers.wait(20);
		assert_int_equal(peers.word(now), last);
		reached += peers.word(1 - now) != 0;
		assert_true(peers.p.b.invalidate(BIG));
	}
	assert_true(reached > ROUNDS / 2);
}

/** The same for a page that leaves a domain which goes on. */
TEST(test_peers_and_change_in_place)
{
	Peers peers;

	peers.map(0);
	peers.publish();
	for (int round = 0; round < ROUNDS; round++) {
		const int now = round % 2;

		peers.wait(20);
		peers.map(1 - now);
		refresh(peers.p.b, BIG);
		const uint64_t last = peers.word(now);

		peers.wait(20);
		assert_int_equal(peers.word(now), last);
		assert_true(peers.word(1 - now) != 0);
	}
	assert_true(peers.p.b.counter(ARIES_CNT_PTE_CACHE_INVALIDATIONS) > ROUNDS / 2);
}

/** Who dies while he fills a line does not keep its place. */
TEST(test_dead_in_the_middle)
{
	using namespace aries;
	Segment segment(fabric_path(), {2, 16, 6, 2, 4096, 0}, 0);
	Membership members(segment, 0, 100);
	auto slot = std::make_unique<PteCacheSlot>();
	PteCache cache(*slot);
	const uint64_t tag = pte_tag(7, 1);
	const uint64_t line[PTE_CACHE_LANES] = {11, 12, 13, 14, 15, 16, 17, 18};
	uint64_t pte = 0;

	members.join();
	members.activate();
	for (auto &set : slot->set) {
		for (auto &state : set.state)
			state.store(members.lock_word());
	}
	cache.fill(members, tag, line);
	assert_false(cache.find(tag, 0, pte));
	for (auto &set : slot->set) {
		for (auto &state : set.state)
			state.store(2 | 5 << 16); /* node 1, which is not there */
	}
	cache.fill(members, tag, line);
	for (uint32_t lane = 0; lane < PTE_CACHE_LANES; lane++) {
		assert_true(cache.find(tag, lane, pte));
		assert_int_equal(pte, 11 + lane);
	}
	/* The same line of a later registration is another one. */
	assert_false(cache.find(pte_tag(7, 2), 0, pte));
	cache.drop(8);
	assert_true(cache.find(tag, 0, pte));
	cache.drop(7);
	assert_false(cache.find(tag, 0, pte));
	assert_int_equal(slot->invalidations, 1);
}

TEST(test_rules)
{
	Pair p;

	/* One at a time, and reserved bits. */
	p.b.write32(ARIES_INV_PTES, 4096);
	assert_int_equal(p.b.guest_errors, 1);
	refresh(p.b, 4095);
	assert_int_equal(p.b.guest_errors, 1);
	aries_nic_reset(p.b.nic());
	for (unsigned int cnt : {ARIES_CNT_PTE_CACHE_HITS, ARIES_CNT_PTE_CACHE_MISSES, ARIES_CNT_PTE_CACHE_EVICTIONS,
				 ARIES_CNT_PTE_CACHE_INVALIDATIONS, ARIES_CNT_PTE_WALKS})
		assert_int_equal(p.b.counter(cnt), 0);
}

} // namespace

TEST_MAIN("tests")
