/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small units of the NIC on their own: atomic commands, outstanding requests, sequence ids, runs of memory. */
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "nic/tables/amo.hpp"
#include "nic/tables/ssid.hpp"
#include "nic/target/copy.hpp"
#include "nic/time/orb.hpp"
#include "tests/cmocka_cpp.hpp"

using namespace aries;

namespace
{

/* 6 + 5 commands of the first generation, 12 + 12 in two widths of the second, each cached or not. */
TEST(test_commands)
{
	unsigned int known = 0, fetching = 0;

	for (unsigned int code = 0; code <= UINT16_MAX; code++) {
		AmoCommand command;

		if (!command.decode(uint16_t(code)))
			continue;
		known++;
		fetching += command.fetch;
		assert_int_equal(command.fetch, !(code & 0x100));
		assert_true(code < 0x400);
	}
	assert_int_equal(known, 2 * (11 + 48));
	assert_int_equal(fetching, 2 * (6 + 24));
}

/* Entries are free in the order in which responses come back, whatever the order of requests. */
TEST(test_outstanding)
{
	constexpr uint64_t NOW = 1'000'000;
	Orb orb;

	assert_int_equal(orb.used(NOW), 0);
	orb.enter(0, 500, NOW, NOW + 3000, NOW + 3499);
	orb.enter(0, 500, NOW, NOW + 1000, NOW + 1998);
	orb.enter(0, 24, NOW, NOW + 1001, NOW + 1001);
	assert_int_equal(orb.used(NOW), 1024);
	/* One that comes now takes the entry of the first response, ten those of ten. */
	Orb::Departure leave = orb.admit(1, NOW);

	assert_int_equal(leave.first, NOW + 1000);
	assert_int_equal(leave.last, NOW + 1000);
	orb.enter(0, 1, NOW, NOW + 9000, NOW + 9000);
	leave = orb.admit(30, NOW);
	assert_int_equal(leave.first, NOW + 1001);
	assert_int_equal(leave.last, NOW + 1001 + 11);
	orb.enter(0, 30, NOW, NOW + 8000, NOW + 8000);
	assert_int_equal(orb.used(NOW), 1024);
	/* Time frees entries, too: the last of the second ones, then part of the first ones. */
	assert_int_equal(orb.used(NOW + 1998), 531);
	assert_int_equal(orb.used(NOW + 3249), 281);
	leave = orb.admit(700, NOW + 3249);
	assert_int_equal(leave.first, NOW + 3249);
	assert_int_equal(leave.last, NOW + 3249);
	assert_int_equal(orb.used(NOW + 9000), 0);
	assert_int_equal(orb.admit(1, 0).first, 0);
}

/* What is longer than the buffer goes through it in parts; a smaller limit holds at once; who is slow is not entered.
 */
TEST(test_limits_of_outstanding)
{
	constexpr uint64_t NOW = 1'000'000;
	Orb orb;

	orb.enter(0, 1 << 26, NOW, NOW + 10, NOW + 1'000'010);
	assert_int_equal(orb.used(NOW), ARIES_ORB_ENTRIES);
	assert_in_range(orb.admit(1 << 26, NOW).last, NOW + 1'000'000, NOW + 1'000'010);
	assert_int_equal(orb.used(NOW), 0);
	orb.set_limit(16);
	for (uint32_t i = 0; i < 16; i++) {
		assert_int_equal(orb.admit(1, NOW).last, NOW);
		orb.enter(1, 1, NOW, NOW + 100 + i, NOW + 100 + i);
	}
	orb.set_limit(4);
	assert_int_equal(orb.admit(1, NOW).first, NOW + 112);
	orb.set_limit(ARIES_ORB_ENTRIES);
	assert_int_equal(orb.used(NOW + 1000), 0);
	/* A packet each 10 ns, of 2 us: 200 are outstanding, a quarter of the buffer is 256. */
	for (uint64_t now = NOW + 2000; now < NOW + 20000; now += 10)
		orb.enter(1, 1, now, now + 2000, now + 2000);
	assert_int_equal(orb.used(NOW + 20000), 0);
	for (uint64_t now = NOW + 20000; now < NOW + 21000; now += 10)
		orb.enter(1, 1, now, now + 3000, now + 3000);
	assert_int_equal(orb.used(NOW + 21000), 100);
}

/* The buffer entry by entry: when the response to each packet is back. */
class EachEntry
{
public:
	Orb::Departure admit(uint32_t packets, uint64_t now, uint32_t limit)
	{
		back_.erase(back_.begin(), back_.upper_bound(now));
		const size_t wanted = back_.size() + std::min(packets, limit);
		Orb::Departure leave{now, now};

		for (size_t freed = 0; freed + limit < wanted; freed++) {
			leave.last = std::max(leave.last, *back_.begin());
			back_.erase(back_.begin());
			if (back_.size() + 1 >= limit)
				leave.first = leave.last;
		}
		return leave;
	}
	void enter(uint32_t packets, uint64_t first, uint64_t last)
	{
		const uint64_t step = packets > 1 ? (last - first) / (packets - 1) : 0;

		for (uint32_t i = 0; i + 1 < packets; i++)
			back_.insert(first + i * step);
		back_.insert(last);
	}
	size_t used(uint64_t now)
	{
		back_.erase(back_.begin(), back_.upper_bound(now));
		return back_.size();
	}

private:
	std::multiset<uint64_t> back_;
};

/* Trains of any length leave as if each entry were looked at, whether their responses come in turn or in between. */
TEST(test_trains_of_outstanding)
{
	std::mt19937_64 random(38);

	for (unsigned int round = 0; round < 60; round++) {
		const uint32_t limit = round % 3 ? uint32_t(ARIES_ORB_ENTRIES) : 100;
		const bool in_turn = round % 2;
		uint64_t now = 1'000'000, last = now;
		EachEntry each;
		Orb orb;

		orb.set_limit(limit);
		for (unsigned int i = 0; i < 400; i++) {
			const uint32_t packets = random() % 4 ? 64 : 1 + uint32_t(random() % 200);
			const Orb::Departure leave = orb.admit(packets, now), right = each.admit(packets, now, limit);

			assert_int_equal(leave.first, right.first);
			assert_int_equal(leave.last, right.last);
			now = std::max(now, leave.first);
			const uint64_t first = in_turn ? std::max(last + 6, now + 800) : now + 800 + random() % 6000;
			const uint32_t before = orb.entered();

			last = first + (packets - 1) * (random() % 8);
			orb.enter(i % 2, packets, now, first, last);
			if (orb.entered() != before)
				each.enter(std::min(packets, limit), first, last);
			now += random() % 300;
		}
		assert_int_equal(orb.used(now), each.used(now));
	}
}

TEST(test_sequence_ids)
{
	SsidPool pool;
	std::set<unsigned int> taken;

	for (uint32_t i = 0; i < ARIES_FMA_DESCRIPTORS; i++)
		assert_true(taken.insert(fma_ssid(i)).second);
	for (uint32_t i = ARIES_FMA_DESCRIPTORS; i < SSIDS; i++)
		assert_true(taken.insert(pool.take()).second);
	assert_int_equal(taken.size(), SSIDS);
	pool.give(200);
	assert_int_equal(pool.take(), 200);
	for (uint32_t i = ARIES_FMA_DESCRIPTORS; i < SSIDS; i++)
		pool.give(uint8_t(i));

	std::atomic<unsigned int> users[SSIDS] = {};
	std::vector<std::thread> threads;
	std::atomic<bool> clash{false};

	for (int t = 0; t < 4; t++)
		threads.emplace_back([&] {
			for (int i = 0; i < 20000; i++) {
				const uint8_t ssid = pool.take();

				if (users[ssid].fetch_add(1))
					clash = true;
				users[ssid].fetch_sub(1);
				pool.give(ssid);
			}
		});
	for (std::thread &thread : threads)
		thread.join();
	assert_false(clash);
}

TEST(test_runs)
{
	uint8_t memory[64];
	RunList<3> list;

	assert_true(list.add(memory, 4));
	assert_true(list.add(memory + 4, 4)); /* adjacent: merged */
	assert_int_equal(list.count, 1);
	assert_int_equal(list.run[0].bytes, 8);
	assert_true(list.add(memory + 16, 4));
	assert_true(list.add(memory + 32, 4));
	assert_false(list.add(memory + 48, 4));
	assert_true(list.add(memory + 36, 4));
	assert_int_equal(list.count, 3);
}

/* Every way to cut 16 bytes into two runs on each side. */
TEST(test_copies)
{
	for (unsigned int i = 1; i < 16; i++) {
		for (unsigned int j = 1; j < 16; j++) {
			uint8_t from[40], to[40], back[40];
			RunList<2> source, target;

			for (unsigned int k = 0; k < 40; k++)
				from[k] = uint8_t(k + 1);
			memset(to, 0, sizeof(to));
			source.add(from, i);
			source.add(from + 20, 16 - i);
			target.add(to + 3, j);
			target.add(to + 22, 16 - j);
			copy_runs(target, source);
			for (unsigned int k = 0; k < 16; k++) {
				const uint8_t want = from[k < i ? k : 20 + k - i];

				assert_int_equal(to[k < j ? 3 + k : 22 + k - j], want);
			}
			assert_int_equal(to[2], 0);
			assert_int_equal(to[3 + j], 0);
			assert_int_equal(to[21], 0);
			assert_int_equal(to[22 + 16 - j], 0);
			memset(back, 0, sizeof(back));
			RunList<2> line;

			line.add(back + 1, i);
			line.add(back + 30, 4);
			scatter(line, from);
			assert_memory_equal(back + 1, from, i);
			assert_memory_equal(back + 30, from + i, 4);
		}
	}
}

/* Source and target of a loopback transfer may overlap. */
TEST(test_overlap)
{
	uint8_t memory[4096 + 64];

	for (unsigned int shift : {1u, 8u, 63u}) {
		for (unsigned int i = 0; i < sizeof(memory); i++)
			memory[i] = uint8_t(i * 7);
		store_bytes(memory + shift, memory, 4096);
		for (unsigned int i = 0; i < 4096; i++)
			assert_int_equal(memory[shift + i], uint8_t(i * 7));
		store_bytes(memory, memory + shift, 4096);
		for (unsigned int i = 0; i < 4096; i++)
			assert_int_equal(memory[i], uint8_t(i * 7));
	}
}

/* Long pieces, around the caches or not: every byte, and none beside them. */
TEST(test_pieces)
{
	constexpr uint32_t ROOM = 70000, GUARD = 64;
	std::vector<uint8_t> from(ROOM), to(ROOM);

	for (uint32_t i = 0; i < ROOM; i++)
		from[i] = uint8_t(i * 31 + (i >> 8));
	for (uint32_t bytes : {1u, 2047u, 2048u, 2049u, 2175u, 2176u, 4096u, 4104u, 16385u, 65549u}) {
		for (uint32_t shift = 0; shift < 40; shift += shift < 17 ? 1 : 7) {
			for (bool stream : {false, true}) {
				RunList<1> source, target;

				std::fill(to.begin(), to.end(), 0xee);
				source.add(from.data() + GUARD, bytes);
				target.add(to.data() + GUARD + shift, bytes);
				copy_runs(target, source, stream);
				assert_memory_equal(to.data() + GUARD + shift, from.data() + GUARD, bytes);
				for (uint32_t i = 0; i < GUARD; i++) {
					assert_int_equal(to[shift + i], 0xee);
					assert_int_equal(to[GUARD + shift + bytes + i], 0xee);
				}
			}
		}
	}
}

/* The place of a copy in its page does not matter much: with "rep movsb" it is a factor of 13 on some processors. */
TEST(test_shifted_pieces_are_no_slower)
{
#ifndef __SANITIZE_THREAD__
	constexpr uint32_t BYTES = 65536, PAGE = 4096;
	std::vector<uint8_t> memory(2 * BYTES + 3 * PAGE);
	uint8_t *const from = memory.data() + (-reinterpret_cast<uintptr_t>(memory.data()) & (PAGE - 1));
	uint8_t *const to = from + BYTES + PAGE;
	const auto best = [&](uint32_t shift) {
		uint64_t least = UINT64_MAX;

		for (uint32_t i = 0; i < 200; i++) {
			const uint64_t before = now_ns();

			store_bytes(to + shift, from, BYTES);
			least = std::min(least, now_ns() - before);
		}
		return least;
	};

	if (!wide_copies)
		skip();
	assert_in_range(best(8), 0, 4 * best(0));
#else
	skip();
#endif
}

} // namespace

TEST_MAIN("tests")
