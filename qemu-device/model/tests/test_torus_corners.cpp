// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Routing on a torus where failures leave dimension order without a way (G57): corners that are dead, rings that are
 * cut twice, routers that nothing reaches.
 */
#include "cmocka_cpp.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <random>

#include "torus_walk.hpp"

using namespace aries;
using namespace aries::routing;

namespace
{

/* Some routers, and some neighbours with all links between them. */
Failures some_parts(const Machine &machine, uint32_t routers, uint32_t neighbours, uint32_t seed)
{
	std::mt19937 random(seed);
	Failures failures;
	const auto any = [&] { return static_cast<uint32_t>(random() % machine.routers.size()); };

	for (uint32_t i = 0; i < routers; i++)
		failures.routers.push_back(any());
	for (uint32_t i = 0; i < neighbours; i++)
		cut_neighbour(machine, any(), random() % TORUS_AXES, failures);
	return failures;
}

/* 0 to 5 in the order of directions. */
uint32_t rank_of(const TorusRouter &router, uint32_t tile)
{
	const size_t axis = torus_axis(tile);
	const Turn turn = tile < torus_tile(axis, Turn::Down) ? Turn::Up : Turn::Down;

	return static_cast<uint32_t>(axis + (turn == router.direction(axis, true) ? 0 : TORUS_AXES));
}

/* Machines of every class with a router out: all others reach each other, never over it, by directions that ascend. */
TEST(a_dead_corner_is_gone_round_G57)
{
	std::vector<Hop> way;

	for (const TorusShape &shape : shapes()) {
		const uint32_t dead = build_torus(shape).routers.size() / 3;
		const Torus net(shape, 2, {{}, {dead}});

		assert_true(net.tables.by_directions());
		assert_int_equal(net.tables.lost(), 0);
		for (uint32_t from = 0; from < net.routers(); from += 1 + net.routers() / 128) {
			for (uint32_t to = 0; to < net.routers(); to++) {
				const bool living = from == to || (from != dead && to != dead), adaptive = to % 2;

				assert_int_equal(net.tables.reaches(from, to), living);
				assert_int_equal(
					walk(net, from, to, {.hash = from * 7 + to, .adaptive = adaptive}, quiet, way),
					living);
				for (size_t i = 0; living && i < way.size(); i++) {
					assert_int_not_equal(way[i].router, dead);
					assert_true(i == 0 || rank_of(net.tables.router(0), way[i - 1].tile) <=
								      rank_of(net.tables.router(0), way[i].tile));
				}
			}
		}
	}
}

/* Where dimension order reaches all, if only by the long way round, it stays. */
TEST(dimension_order_stays_where_it_loses_nothing_G57)
{
	const TorusShape cube{6, 4, 5}, ring{1, 2, 8};
	const Machine machine = build_torus(cube), round = build_torus(ring);
	Failures one, two, alone;

	cut_neighbour(machine, 0, 0, one);
	assert_false(Torus(cube, 2, one).tables.by_directions());

	/* A ring that is cut twice is gone round in the next one. */
	two = one;
	cut_neighbour(machine, 2 * (4 / 2) * 5, 0, two);
	assert_true(Torus(cube, 2, two).tables.by_directions());
	assert_int_equal(Torus(cube, 2, two).tables.lost(), 0);

	/* The only ring: 3 routers and 5 that do not meet. */
	cut_neighbour(round, 0, 2, alone);
	cut_neighbour(round, 3, 2, alone);
	assert_int_equal(Torus(ring, 2, alone).tables.lost(), 2 * 3 * 5);
}

/* The fewest hops from a router by directions that ascend, found router by router over the links; -1 where none lead.
 */
std::vector<int> fewest_hops(const Torus &net, uint8_t early_down, const std::set<uint32_t> &out, uint32_t from)
{
	constexpr uint32_t RANKS = 2 * TORUS_AXES;
	std::vector<int> state(size_t{net.routers()} * RANKS, -1), hops(net.routers(), -1);
	std::deque<std::pair<uint32_t, uint32_t>> next{{from, 0}};

	state[from * RANKS] = 0;
	while (!next.empty()) {
		const auto [at, least] = next.front();
		const int gone = state[at * RANKS + least];

		next.pop_front();
		if (hops[at] < 0)
			hops[at] = gone;
		for (uint32_t tile = 0; tile < chip::GEMINI.tiles.network; tile++) {
			const uint32_t link = net.wiring.link_of(at, tile);
			const uint32_t rank = rank_of({.early_down = early_down}, tile);

			if (link == topology::NO_LINK || out.contains(link) || rank < least)
				continue;

			const uint32_t far = net.wiring.far_end(at, tile).router;

			if (state[far * RANKS + rank] >= 0)
				continue;
			state[far * RANKS + rank] = gone + 1;
			next.push_back({far, rank});
		}
	}
	return hops;
}

bool has_links(const Torus &net, uint32_t router)
{
	const auto &links = net.tables.router(router).links;

	return std::any_of(links.begin(), links.end(), [](const auto &axis) { return axis[0] || axis[1]; });
}

/* All links that must not be used. */
std::set<uint32_t> links_out(const Machine &machine, const Failures &failures)
{
	std::set<uint32_t> out(failures.links.begin(), failures.links.end());

	for (uint32_t link = 0; link < machine.links.size(); link++) {
		for (const topology::LinkEnd &end : machine.links[link].end) {
			if (std::count(failures.routers.begin(), failures.routers.end(), end.router))
				out.insert(link);
		}
	}
	return out;
}

/* Pairs of routers with links that do not reach each other by some order of directions. */
uint64_t lost_by(const Torus &net, uint8_t early_down, const std::set<uint32_t> &out)
{
	uint64_t lost = 0;

	for (uint32_t from = 0; from < net.routers(); from++) {
		const std::vector<int> fewest = fewest_hops(net, early_down, out, from);

		for (uint32_t to = 0; has_links(net, from) && to < net.routers(); to++)
			lost += has_links(net, to) && fewest[to] < 0;
	}
	return lost;
}

/* @return ways that are longer than without failures */
uint32_t check_ways(const Torus &net, const Torus &whole, const std::set<uint32_t> &out)
{
	std::vector<Hop> way, usual;
	uint32_t longer = 0;

	for (uint32_t from = 0; from < net.routers(); from++) {
		const auto fewest = fewest_hops(net, net.tables.router(0).early_down, out, from);

		for (uint32_t to = 0; to < net.routers(); to++) {
			const bool arrives = walk(net, from, to, {.hash = from + to}, quiet, way);

			assert_int_equal(arrives, fewest[to] >= 0);
			assert_int_equal(arrives, net.tables.reaches(from, to));
			walk(whole, from, to, {}, quiet, usual);
			/* Where there is no way the first router says so. */
			if (!arrives)
				assert_int_equal(way.size(), 0);
			else
				assert_true(static_cast<int>(way.size()) == fewest[to] || way.size() == usual.size());
			longer += way.size() > usual.size();
		}
	}
	return longer;
}

/*
 * Against a search of another kind, with many failures: who is lost, that the order of directions is the best of the
 * eight, and that detours are as short as can be. What goes the usual way is as long as it is without failures.
 */
TEST(ways_by_directions_are_the_shortest_G57)
{
	uint32_t orders = 0, longer = 0;
	uint64_t all_lost = 0;

	for (const TorusShape &shape :
	     {TorusShape{4, 8, 4}, TorusShape{5, 6, 3}, TorusShape{5, 8, 5, true}, TorusShape{1, 12, 8}}) {
		const Torus whole(shape);

		for (uint32_t seed = 0; seed < 4; seed++) {
			const Failures failures = some_parts(whole.machine, 1 + seed, 8 * seed, seed);
			const Torus net(shape, 2, failures);
			const std::set<uint32_t> out = links_out(whole.machine, failures);
			uint64_t fewest = UINT64_MAX;

			assert_true(net.tables.by_directions());
			longer += check_ways(net, whole, out);
			for (uint8_t early_down = 0; early_down < 8 && fewest; early_down++)
				fewest = std::min(fewest, lost_by(net, early_down, out));
			assert_int_equal(net.tables.lost(), fewest);
			all_lost += fewest;
			orders |= 1u << net.tables.router(0).early_down;
		}
	}
	assert_true(all_lost > 0 && longer > 1000 && std::popcount(orders) > 2);
}

/*
 * Random routers and neighbours out, in machines of every class: with two channels and a dateline there is no circle of
 * waits; with one all circles lie in one ring. Class 2, 768 routers, takes ten seconds: with OPENGNI_SLOW.
 */
TEST(no_circle_of_waits_by_directions_G18_G57)
{
	const bool slow = getenv("OPENGNI_SLOW"); // NOLINT(concurrency-mt-unsafe)
	uint32_t by_directions = 0;

	for (const TorusShape &shape : shapes()) {
		const Machine machine = build_torus(shape);

		if (machine.routers.size() > 400 && !slow)
			continue;

		for (uint32_t seed = 1; seed < (machine.routers.size() > 150 ? 2 : 6); seed++) {
			const Failures failures = some_parts(machine, seed % 4, 2 * seed, seed);
			const Torus two(shape, TORUS_DATELINE_CHANNELS, failures), one(shape, 1, failures);

			by_directions += two.tables.by_directions();
			assert_true(find_circle(waits(two)).empty());
			assert_true(find_circle(rings_as_one(one, waits(one))).empty());
		}
	}
	assert_true(by_directions > 20);
	/* The search finds those that are there. */
	assert_false(find_circle(waits(Torus({5, 6, 3}, 1, {{}, {17}}))).empty());
}

/* Two neighbours of 40 cabinets out, as a blade is that is taken away: lists of some bytes for each router and each. */
TEST(lists_are_small_G55_G57)
{
	const Machine machine = build_torus({.of = TorusClass::Class3, .cabinets = 10, .rows = 4});
	const TorusTables whole(machine), tables(machine, 1, {{}, {400, 400 + 24}});

	assert_true(tables.by_directions());
	assert_int_equal(tables.lost(), 0);
	/*
	 * A way has some eleven hops, so as many ways for each router lead over one; more because where halves are as
	 * long both have to work. Jaguar has 2.6 MB with two out, 6.5 MB with eight.
	 */
	assert_true(tables.bytes() - whole.bytes() < size_t{2} * 13 * tables.routers() * sizeof(TorusDetour));
}

} // namespace

TEST_MAIN("torus_corners")
