// SPDX-License-Identifier: GPL-2.0-or-later
/* Links: booking from threads and processes, rates, lanes, damage. */
#include "child.hpp"

#include <csignal>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "link/link.hpp"

using namespace aries;

namespace
{

/* Bytes per microsecond that n flits get through a tile. */
double mb_per_s(const TileState &tile, Medium medium)
{
	const uint64_t flits = 9000000;

	return static_cast<double>(flits) * 6 * 1000 * TICKS_PER_NS /
	       static_cast<double>(link_ticks(tile, medium, flits));
}

void assert_close(double value, double want)
{
	assert_true(value > want * 0.999 && value < want * 1.001);
}

TEST(zero_is_quiet)
{
	TileState tile{};

	assert_true(link_up(tile));
	assert_int_equal(link_lanes(tile), 3);
	assert_int_equal(tile.ahead(0), 0);
	assert_string_equal(link_state_name(tile), "up");
}

TEST(bookings_follow_each_other)
{
	TileState tile{};

	assert_int_equal(tile.reserve(100, 10), 100);
	assert_int_equal(tile.reserve(100, 10), 110);
	assert_int_equal(tile.ahead(100), 20);
	assert_int_equal(tile.ahead(115), 5);
	assert_int_equal(tile.ahead(200), 0);
	assert_int_equal(tile.reserve(500, 1), 500);
}

/* Whoever comes faster than a link passes them waits for all before, however many these are. */
TEST(bookings_add_up)
{
	constexpr uint64_t length = 300;

	for (const Store store : {Store::Exact, Store::Quick, Store::Loose}) {
		TileState tile{};

		for (uint64_t n = 0; n < 100000; n++)
			assert_int_equal(tile.reserve(5000, 5000, length, store), 5000 + n * length);
		assert_int_equal(tile.ahead(5000), 100000 * length);
		assert_int_equal(tile.reserve(5000, 6000 + 100000 * length, length, store), 6000 + 100000 * length);
		tile.busy = 1000 + BOOKING_LIMIT + 1;
		assert_int_equal(tile.reserve(1000, 1000, length, store), 1000);
		assert_int_equal(tile.ahead(1000), length);
	}
}

/* What is booked for later does not close the time until then, but takes its time of the tile. */
TEST(bookings_for_later_leave_time)
{
	const auto part = [](TileState &tile, uint64_t now, uint64_t at, uint64_t length) {
		return tile.reserve(now, at, length, Store::Loose);
	};
	const auto exact = [](TileState &tile, uint64_t now, uint64_t at, uint64_t length) {
		return tile.reserve(now, at, length, Store::Exact);
	};
	const auto check = [](auto take) {
		TileState tile{};

		assert_int_equal(take(tile, 1000, 5000, 10), 5000);
		assert_int_equal(take(tile, 1000, 1000, 10), 1010);
		assert_int_equal(tile.ahead(1000), 20);
		/* More than it can do until then: the last ones wait. */
		for (uint32_t n = 0; n < 398; n++)
			assert_int_equal(take(tile, 1000, 5000, 10), 5000);
		assert_int_equal(take(tile, 1000, 5000, 10), 5000);
		assert_int_equal(take(tile, 1000, 5000, 10), 5010);
	};

	check(part);
	check(exact);
}

/* T19, T20, P02: raw rates; P05: one flit in ten is the LCB's, but processor tiles have none. */
TEST(rates_P05_P17_T20)
{
	TileState tile{};

	assert_close(mb_per_s(tile, Medium::Electrical), 5250 * 0.9);
	assert_close(mb_per_s(tile, Medium::Optical), 4687.5 * 0.9);
	assert_close(mb_per_s(tile, Medium::Processor), 5250);
	set_link_lanes(tile, 2);
	assert_close(mb_per_s(tile, Medium::Electrical), 3500 * 0.9);
	assert_string_equal(link_state_name(tile), "degraded");
	set_link_lanes(tile, 1);
	assert_close(mb_per_s(tile, Medium::Electrical), 1750 * 0.9);
	assert_int_equal(link_lanes(tile), 1);
	set_link_lanes(tile, 3);
	assert_close(mb_per_s(tile, Medium::Electrical), 5250 * 0.9);
}

TEST(up_and_down_leave_the_lanes_alone)
{
	TileState tile{};

	set_link_lanes(tile, 2);
	set_link_up(tile, false);
	assert_false(link_up(tile));
	assert_int_equal(link_lanes(tile), 2);
	assert_string_equal(link_state_name(tile), "down");
	set_link_up(tile, true);
	assert_true(link_up(tile));
	assert_int_equal(link_lanes(tile), 2);
}

/* Whatever is in the words, a link can be used again. */
TEST(damage_heals)
{
	TileState tile{};

	tile.busy = UINT64_MAX;
	assert_int_equal(tile.ahead(1000), 0);
	assert_int_equal(tile.reserve(1000, 10), 1000);
	assert_int_equal(tile.ahead(1000), 10);
	tile.reserve(1000, UINT64_MAX);
	assert_true(tile.ahead(1000) <= BOOKING_LIMIT);
	tile.busy = 1000 + BOOKING_LIMIT + 1;
	assert_int_equal(tile.reserve(1000, 10), 1000);
	tile.state = UINT32_MAX;
	assert_int_equal(link_lanes(tile), 1);
	assert_false(link_up(tile));
	assert_true(link_ticks(tile, Medium::Processor, 1) > 0);
}

/* No booking is lost and no two overlap, from several threads (run with the thread sanitizer). */
TEST(threads_book_one_after_the_other)
{
	constexpr uint32_t threads = 4;
	constexpr uint32_t rounds = 20000;
	static TileState tile;
	std::vector<std::vector<uint64_t>> starts(threads);
	std::vector<std::thread> running;
	std::vector<uint64_t> all;

	for (uint32_t t = 0; t < threads; t++) {
		running.emplace_back([&starts, t] {
			for (uint32_t i = 0; i < rounds; i++)
				starts[t].push_back(tile.reserve(0, 7));
		});
	}
	for (std::thread &thread : running)
		thread.join();
	for (const auto &list : starts)
		all.insert(all.end(), list.begin(), list.end());
	std::sort(all.begin(), all.end());
	for (uint64_t i = 0; i < all.size(); i++)
		assert_int_equal(all[i], i * 7);
	assert_int_equal(tile.busy.load(), uint64_t{threads} * rounds * 7);
}

/* A process killed while it books leaves a link that works. */
TEST(killed_process_breaks_nothing)
{
	void *memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);

	auto *tile = static_cast<TileState *>(memory);

	for (int round = 0; round < 20; round++) {
		const pid_t child = aries_test::quiet_fork();

		assert_true(child >= 0);
		if (child == 0) {
			for (;;)
				tile->reserve(0, 1);
		}
		while (tile->busy.load() < static_cast<uint64_t>(round + 1) * 1000)
			usleep(100);
		assert_int_equal(kill(child, SIGKILL), 0);
		assert_int_equal(waitpid(child, nullptr, 0), child);

		const uint64_t before = tile->busy.load();

		assert_int_equal(tile->reserve(0, 5), before);
		assert_int_equal(tile->busy.load(), before + 5);
		assert_true(link_up(*tile));
	}
	munmap(memory, 4096);
}

} // namespace

TEST_MAIN("link")
