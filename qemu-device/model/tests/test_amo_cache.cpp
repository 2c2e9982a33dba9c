/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The AMO cache alone: who holds its locks, and the edges of memory. */
#include "nic/tables/amo_cache.hpp"
#include "tests/fake_host.hpp"

using namespace aries_test;

namespace
{

constexpr unsigned int FADD_C = 0x018;

/** The cache alone, over a page of memory. */
struct Bare {
	std::string path = fabric_path();
	aries::Segment segment{path, {2, 16, 6, 2, 4096, 0}, 0};
	aries::Membership members{segment, 0, 100};
	std::unique_ptr<aries::AmoCacheSlot> slot = std::make_unique<aries::AmoCacheSlot>();
	aries::AmoCache cache{*slot, nullptr, 0};
	alignas(64) uint64_t memory[64] = {};
	aries::RamMap ram{0};
	aries::AmoRequest add = {{}, 3, 0, reinterpret_cast<uint8_t *>(memory), 1, 0};

	Bare()
	{
		segment.let_others_in();
		members.join();
		members.activate();
		ram.add(0, sizeof(memory), reinterpret_cast<uint8_t *>(memory));
		assert_true(add.command.decode(FADD_C));
	}
};

/* Who dies with the lock of a set does not keep it; who lives does, and then nothing happens at all. */
TEST(test_holders)
{
	Bare bare;
	aries::AmoResult old = {};
	const aries::Run all = {reinterpret_cast<uint8_t *>(bare.memory), sizeof(bare.memory)};

	assert_int_equal(bare.cache.run(bare.add, bare.ram, bare.members, old), ARIES_ST_OK);
	for (auto &lock : bare.slot->lock)
		lock.store(2 | 5 << 16); /* node 1, which is not there */
	assert_int_equal(bare.cache.run(bare.add, bare.ram, bare.members, old), ARIES_ST_OK);
	assert_int_equal(old.old, 1);
	assert_true(old.hit);
	bare.slot->lock[0].store(2 | 5 << 16);
	assert_int_equal(bare.cache.settle(&all, 1, false, bare.ram, bare.members), ARIES_ST_OK);
	assert_int_equal(bare.memory[0], 2);
	assert_int_equal(bare.cache.run(bare.add, bare.ram, bare.members, old), ARIES_ST_OK);
	/* Another member, which does not run. */
	aries::Segment peer_segment{bare.path, {2, 16, 6, 2, 4096, 0}, 1};
	aries::Membership peer{peer_segment, 1, 100};

	peer.join();
	peer.activate();
	bare.slot->lock[0].store(peer.lock_word());
	assert_int_equal(bare.cache.run(bare.add, bare.ram, bare.members, old), ARIES_ST_TIMEOUT);
	assert_int_equal(bare.cache.settle(&all, 1, true, bare.ram, bare.members), ARIES_ST_TIMEOUT);
	assert_false(bare.cache.empty(3, &bare.ram, bare.members));
	assert_int_equal(bare.memory[0], 2);
	bare.slot->lock[0].store(0);
	assert_true(bare.cache.empty(4, &bare.ram, bare.members));
	assert_int_equal(bare.memory[0], 3);
	assert_true(bare.slot->line[0][0].place != 0);
	assert_true(bare.cache.empty(3, &bare.ram, bare.members));
	assert_true(bare.slot->line[0][0].place == 0);
}

/* Bus address 0 is a word like any other, and memory that is gone is not written. */
TEST(test_edges_of_memory)
{
	Bare bare;
	aries::AmoResult old = {};
	aries::RamMap none{0};

	assert_int_equal(bare.cache.run(bare.add, bare.ram, bare.members, old), ARIES_ST_OK);
	assert_int_equal(bare.memory[0], 0);
	assert_true(bare.add.command.decode(0x274));
	bare.add.word += 4;
	assert_int_equal(bare.cache.run(bare.add, bare.ram, bare.members, old), ARIES_ST_OK);
	assert_int_equal(bare.slot->misses, 1);
	assert_true(bare.cache.empty(aries::AmoCache::ANY, &none, bare.members));
	assert_int_equal(bare.memory[0], 1);
	assert_true(bare.cache.empty(aries::AmoCache::ANY, &bare.ram, bare.members));
	assert_int_equal(bare.memory[0], 1);
}

} // namespace

TEST_MAIN("AMO cache")
