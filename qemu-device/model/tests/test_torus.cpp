// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Routing on a torus (G02, G06, G18, G29, G57): every pair by the shortest way, links loaded alike, no circle of waits,
 * links that fail. What is beyond dimension order is in test_torus_corners.
 */
#include "cmocka_cpp.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <set>
#include <stdexcept>

#include "topology/closed_forms.hpp"
#include "topology/hops.hpp"
#include "torus_walk.hpp"

using namespace aries;
using namespace aries::routing;

namespace
{

uint32_t distance(const Machine &machine, const TorusShape &shape, uint32_t a, uint32_t b)
{
	std::array<uint32_t, 3> sizes{};
	uint32_t sum = 0;

	for (const auto &place : machine.routers) {
		for (size_t axis = 0; axis < 3; axis++)
			sizes[axis] = std::max<uint32_t>(sizes[axis], place.at[axis] + 1u);
	}
	for (size_t axis = 0; axis < 3; axis++) {
		const uint32_t from = machine.routers[a].at[axis], to = machine.routers[b].at[axis];
		const uint32_t straight = from > to ? from - to : to - from;

		sum += axis == 1 && shape.open_y ? straight : std::min(straight, sizes[axis] - straight);
	}
	return sum;
}

/*
 * Every pair, of large machines those from some routers, hashed and adaptive: as many hops as the shortest way has,
 * dimension after dimension.
 */
TEST(every_pair_by_the_shortest_way_G29)
{
	std::vector<Hop> way;

	for (const TorusShape &shape : shapes()) {
		const Torus net(shape);

		for (uint32_t from = 0; from < net.routers(); from += 1 + net.routers() / 128) {
			for (uint32_t to = 0; to < net.routers(); to++) {
				const bool adaptive = (from + to) % 2;

				assert_true(walk(net, from, to, {.hash = from * 7919 + to, .adaptive = adaptive}, quiet,
						 way));
				assert_int_equal(way.size(), distance(net.machine, shape, from, to));
				assert_true(std::is_sorted(way.begin(), way.end(), [](const Hop &a, const Hop &b) {
					return torus_axis(a.tile) < torus_axis(b.tile);
				}));
				assert_true(net.tables.reaches(from, to));
			}
		}
	}
}

/* Routers of an axis. */
uint32_t size_of(const Torus &net, size_t axis)
{
	return net.tables.router(0).last[axis] + 1u;
}

/*
 * Second opinion on lengths: of all pairs of routers, a router and itself included, the formula of a ring or row for
 * each axis; the same counted over the links alone, whose pairs of nodes leave out a node and itself.
 */
TEST(mean_hops_are_those_of_rings)
{
	std::vector<Hop> way;

	for (const TorusShape &shape : {TorusShape{4, 4, 4}, TorusShape{5, 6, 3}, TorusShape{1, 8, 8},
					TorusShape{5, 8, 5, true}, TorusShape{2, 10, 7}}) {
		const Torus net(shape);
		const double nodes = 2.0 * net.routers();
		double formula = 0, sum = 0;

		for (size_t axis = 0; axis < TORUS_AXES; axis++)
			formula += topology::mean_steps(size_of(net, axis), !(axis == 1 && shape.open_y));
		for (uint32_t from = 0; from < net.routers(); from++) {
			for (uint32_t to = 0; to < net.routers(); to++) {
				walk(net, from, to, {.hash = from + to}, quiet, way);
				sum += static_cast<double>(way.size());
			}
		}
		assert_true(std::fabs(sum / net.routers() / net.routers() - formula) < 1e-9);
		assert_true(std::fabs(count_hops(net.machine, net.wiring).mean - formula * nodes / (nodes - 1)) < 1e-9);
	}
}

/* Pairs of routers whose way goes from a router to its neighbour, by router, axis and Turn; either half counts half. */
std::vector<double> loads_of_uniform_traffic(const Torus &net)
{
	std::vector<double> load(size_t{net.routers()} * TORUS_AXES * 2);

	for (uint32_t from = 0; from < net.routers(); from++) {
		for (uint32_t to = 0; to < net.routers(); to++) {
			for (const uint64_t random : {uint64_t{0}, ~uint64_t{0}}) {
				TorusHeader header{.destination = net.tables.router(to).here, .adaptive = true};
				uint32_t at = from, in = UINT32_MAX, hops = 0;

				while (at != to) {
					assert_true(hops++ < net.routers());

					const TorusRouter &router = net.tables.router(at);
					const TorusDecision go =
						in == UINT32_MAX
							? TorusRouting::first(router, header, NoLoad{}, random)
							: TorusRouting::next(router, in, header, NoLoad{}, random);
					const size_t axis = torus_axis(go.tile);
					const auto far = net.wiring.far_end(at, go.tile);

					load[(at * TORUS_AXES + axis) * 2 +
					     (go.tile >= torus_tile(axis, Turn::Down))] += 0.5;
					apply(go, header);
					at = far.router;
					in = far.tile;
				}
			}
		}
	}
	return load;
}

/*
 * Uniform traffic loads all links of a dimension that closes with exactly the same: half of the mean steps in it for
 * each pair of its routers. In a row that does not close a link carries all from one side of it to the other.
 */
TEST(loads_are_equal_along_each_axis_G53)
{
	for (const TorusShape &shape :
	     {TorusShape{4, 4, 4}, TorusShape{5, 12, 3}, TorusShape{8, 4, 2}, TorusShape{3, 10, 4, true}}) {
		const Torus net(shape);
		const std::vector<double> load = loads_of_uniform_traffic(net);

		for (uint32_t router = 0; router < net.routers(); router++) {
			for (size_t axis = 0; axis < TORUS_AXES; axis++) {
				const double size = size_of(net, axis);
				const double at = net.tables.router(router).here[axis];

				for (const bool down : {false, true}) {
					const double side = down ? at : at + 1;
					const double expected =
						axis == 1 && shape.open_y
							? side * (size - side) * net.routers() / size
							: net.routers() *
								  topology::mean_steps(size_of(net, axis), true) / 2;

					assert_true(std::fabs(load[(router * TORUS_AXES + axis) * 2 + down] -
							      expected) < 1e-6);
				}
			}
		}
	}
}

/*
 * What links allow of uniform traffic, by those loads: z is the first to be full on 10 x 16 x 24 nodes, and then the
 * machine passes twice its bisection, 5990 GB/s with 4.68 a link (G53, G54).
 */
TEST(uniform_traffic_is_bound_by_the_bisection_G53_G54)
{
	const struct {
		uint32_t x, y, z;
		bool open_y;
	} machines[] = {{10, 16, 24, false}, {25, 32, 24, false}, {16, 12, 8, false}, {4, 16, 8, false}};

	for (const auto &m : machines) {
		const double sizes[] = {double(m.x), m.y / 2.0, double(m.z)}, links[] = {2, 1, 2};
		double least = INFINITY;

		for (size_t axis = 0; axis < TORUS_AXES; axis++) {
			/* Of each router's traffic half of the mean steps is on each of its bundles. */
			const double bundle = links[axis] * 4.68;
			const double routers = sizes[0] * sizes[1] * sizes[2];

			least = std::min(least,
					 bundle * routers /
						 (topology::mean_steps(static_cast<uint32_t>(sizes[axis]), true) / 2));
		}
		assert_true(std::fabs(least - 2 * 2 * 4.68 *
						      static_cast<double>(topology::torus_links_across(
							      m.x, m.y, m.z, m.open_y))) < 1e-6);
	}
	assert_true(std::fabs(2 * 2 * 4.68 * static_cast<double>(topology::torus_links_across(10, 16, 24, false)) -
			      5990.4) < 1e-6);
}

/* Uniform traffic by hash loads all links of a dimension that closes alike, also where it has but two routers. */
TEST(links_of_a_dimension_are_loaded_alike_G06)
{
	for (const TorusShape &shape : {TorusShape{4, 4, 4}, TorusShape{5, 12, 3}, TorusShape{8, 8, 2}}) {
		const Torus net(shape);
		std::vector<uint32_t> load(size_t{net.routers()} * net.wiring.tiles());
		std::vector<Hop> way;
		std::mt19937_64 random(1);

		for (uint32_t round = 0; round < 600'000 / (net.routers() * net.routers()); round++) {
			for (uint32_t from = 0; from < net.routers(); from++) {
				for (uint32_t to = 0; to < net.routers(); to++) {
					walk(net, from, to, {.hash = static_cast<uint32_t>(random())}, quiet, way);
					for (const Hop &hop : way)
						load[hop.router * net.wiring.tiles() + hop.tile]++;
				}
			}
		}
		for (size_t axis = 0; axis < TORUS_AXES; axis++) {
			uint64_t sum = 0;
			uint32_t most = 0, links = 0;

			for (size_t i = 0; i < load.size(); i++) {
				const auto tile = static_cast<uint32_t>(i % net.wiring.tiles());

				if (tile >= chip::GEMINI.tiles.network || torus_axis(tile) != axis)
					continue;
				sum += load[i];
				most = std::max(most, load[i]);
				links++;
			}
			/* Some hundred packets on each, which differ by chance. */
			if (static_cast<double>(most) > 1.35 * static_cast<double>(sum) / links)
				fail_msg("%s: a link of axis %zu has %u, the mean is %g", net.machine.name.c_str(),
					 axis, most, static_cast<double>(sum) / links);
		}
	}
}

/* With two channels and a dateline there is none, whole or with links that have failed; with one there is. */
TEST(no_circle_of_waits_G18)
{
	for (const TorusShape &shape : shapes()) {
		const Machine machine = build_torus(shape);
		Failures cut = some_links(machine, 30, 3);

		cut_neighbour(machine, 1, 2, cut);
		for (const Failures &failures : {Failures{}, some_links(machine, 40, 1), cut})
			assert_true(find_circle(waits(Torus(shape, TORUS_DATELINE_CHANNELS, failures))).empty());
	}
	/* The search finds circles where there are some: in a ring of five with one channel. */
	assert_false(find_circle(waits(Torus({5, 6, 3}, 1))).empty());
}

/*
 * With one channel all circles lie in one ring, going one way: what a rule about room in rings can keep open. So with
 * the channels of a ring and way taken as one there is none.
 */
TEST(circles_with_one_channel_are_rings_G18)
{
	for (const TorusShape &shape : shapes()) {
		const Torus net(shape, 1);

		assert_true(find_circle(rings_as_one(net, waits(net))).empty());
	}
}

/*
 * With one channel packets keep to rings of single links, and no ring's packets wait for room in a parallel one, also
 * where single links are out: then the ring of such a link is not used, or all are opened where they are weakest.
 */
TEST(circles_with_one_channel_are_rings_of_links_G18_G57)
{
	for (const TorusShape &shape :
	     {TorusShape{4, 6, 3}, TorusShape{5, 6, 1}, TorusShape{1, 8, 4}, TorusShape{4, 6, 3, true}}) {
		const Machine machine = build_torus(shape);

		for (uint32_t seed = 0; seed < 6; seed++) {
			const Torus net(shape, 1, some_links(machine, 15 * seed, seed));

			assert_int_equal(net.tables.lost(), 0);
			assert_true(find_circle(rings_as_one(net, waits(net, Grain::Link))).empty());

			Failures more = some_links(machine, 10 * seed, seed);

			more.routers.push_back(seed);

			const Torus corner(shape, 1, more);

			assert_true(find_circle(rings_as_one(corner, waits(corner, Grain::Link))).empty());
		}
	}

	/* One link out: its ring is, and seven are left all round. A link of each out, at different places: one is
	 * opened. */
	const TorusShape ring{6, 2, 1};
	const Torus seven(ring, 1, {{8 * 2 + 3}, {}}), opened(ring, 1, {{0, 9, 18, 27, 36, 45, 6, 15}, {}});

	for (uint32_t router = 0; router < 6; router++) {
		for (const size_t turn : {0, 1}) {
			assert_int_equal(seven.tables.router(router).links[0][turn], 0xff & ~(1 << 3));
			assert_int_equal(std::popcount(opened.tables.router(router).links[0][turn]) == 0,
					 turn ? router == 1 : router == 0);
		}
	}
}

/* G57: parallel links first; then the long way round, as long as it has to be; nothing goes over what is out. */
TEST(failed_links_G57)
{
	const TorusShape shape{6, 4, 5};
	const Machine machine = build_torus(shape);
	std::vector<Hop> way;
	Failures one, all;

	cut_neighbour(machine, 0, 0, all);
	assert_int_equal(all.links.size(), 8);
	one.links.assign(all.links.begin(), all.links.end() - 1);

	const Torus most(shape, 2, one), none(shape, 2, all);
	const uint32_t next = most.tables.router_at({1, 0, 0});

	/* Seven of eight: one link has all. */
	for (uint32_t hash = 0; hash < 32; hash++) {
		assert_true(walk(most, 0, next, {.hash = hash}, quiet, way));
		assert_int_equal(way.size(), 1);
		assert_int_equal(most.wiring.link_of(0, way[0].tile), all.links.back());
	}
	assert_true(walk(none, 0, next, {}, quiet, way));
	assert_int_equal(way.size(), 5);

	const std::set<uint32_t> out(all.links.begin(), all.links.end());

	for (uint32_t from = 0; from < none.routers(); from++) {
		for (uint32_t to = 0; to < none.routers(); to++) {
			assert_true(walk(none, from, to, {.hash = from + to}, quiet, way));
			for (const Hop &hop : way)
				assert_int_equal(out.count(none.wiring.link_of(hop.router, hop.tile)), 0);
		}
	}
}

/*
 * G29: an adaptive packet leaves by the lighter of two links and so never by the one that is heaviest; one that is not
 * leaves by that of its hash, whatever links carry and whatever is random, and hashes lead to each of them.
 */
TEST(parallel_links_by_load_or_by_hash_G29)
{
	const Torus net({6, 4, 5});
	std::set<uint32_t> by_load, by_hash;

	for (uint32_t heavy = 0; heavy < 8; heavy++) {
		const auto load = [heavy](uint32_t tile) { return tile == heavy ? 9u : 1u; };

		for (uint32_t i = 0; i < 64; i++) {
			const uint64_t random = i * 0x9e3779b97f4a7c15u;
			TorusHeader header{.destination = {1, 0, 0}, .hash = i, .adaptive = true};
			const auto tile = [&](uint64_t word) {
				return uint32_t{TorusRouting::first(net.tables.router(0), header, load, word).tile};
			};

			assert_int_not_equal(tile(random), heavy);
			by_load.insert(tile(random));
			header.adaptive = false;
			by_hash.insert(tile(random));
			assert_int_equal(tile(random), tile(~random));
		}
	}
	assert_int_equal(by_load.size(), 8);
	assert_int_equal(by_hash.size(), 8);
}

/* A link that is down, but still in the tables, is passed over; if all are there is no way, and nobody is told one. */
TEST(links_that_are_down)
{
	const Torus net({6, 4, 5});
	const uint32_t next = net.tables.router_at({1, 0, 0});
	std::vector<Hop> way;

	for (uint32_t hash = 0; hash < 64; hash++) {
		const auto one_up = [](uint32_t router, uint32_t tile) {
			return router == 0 && tile != 3 ? LOAD_DOWN : 0;
		};
		const auto lightest = [](uint32_t, uint32_t tile) { return tile == 5 ? 1u : 9u; };

		assert_true(walk(net, 0, next, {.hash = hash}, one_up, way));
		assert_int_equal(way[0].tile, 3);
		assert_false(walk(
			net, 0, next, {.hash = hash}, [](uint32_t, uint32_t) { return LOAD_DOWN; }, way));
		assert_true(walk(net, 0, next, {.hash = hash, .adaptive = true}, lightest, way));
	}
}

/* Jaguar, 25 x 32 x 24 nodes: 9,600 routers in at most 10 MB, with an entry for each coordinate. */
TEST(tables_are_the_sum_of_the_axes_G55)
{
	const TorusTables tables(build_torus({25, 32, 24}));

	assert_int_equal(tables.routers(), 9600);
	assert_true(tables.bytes() < 10'000'000);
	assert_true(tables.bytes() > 9600 * (25 + 16 + 24));
}

template <typename Change> void refused(const char *word, Change change)
{
	Machine machine = build_torus({4, 4, 4});

	change(machine);

	const std::string reason = TorusTables::check(machine);

	if (!std::strstr(reason.c_str(), word))
		fail_msg("'%s' and not '%s'", reason.c_str(), word);
	try {
		TorusTables tables(machine);

		fail_msg("tables of no torus");
	} catch (const std::invalid_argument &error) {
		assert_string_equal(error.what(), reason.c_str());
	}
}

TEST(what_is_no_torus)
{
	const Machine machine = build_torus({4, 4, 4});

	refused("tiles are others", [](Machine &m) { m.router_type.tiles[0].link_class = 1; });
	refused("tiles are others", [](Machine &m) { m.router_type.nics = 4; });
	refused("three coordinates", [](Machine &m) { m.axes.pop_back(); });
	refused("has 31", [](Machine &m) { m.routers.pop_back(); });
	refused("65536 (G28)", [](Machine &m) {
		m.links.clear();
		m.routers.clear();
		for (uint32_t i = 0; i < 2 * 32769; i++)
			m.routers.push_back({0, {static_cast<uint16_t>(i % 2), static_cast<uint16_t>(i / 2), 0}});
	});
	refused("link 0 does not lead", [](Machine &m) { m.links[0].end[1].router = 5; });
	refused("link 0 does not lead", [](Machine &m) { m.links[0].end[1].tile++; });
	for (const Failures &failures : {Failures{{UINT32_MAX}, {}}, Failures{{}, {UINT32_MAX}}}) {
		try {
			TorusTables tables(machine, 1, failures);

			fail_msg("what is not there has failed");
		} catch (const std::invalid_argument &error) {
			assert_non_null(std::strstr(error.what(), "cannot fail"));
		}
	}
	try {
		TorusTables tables(machine, 3);

		fail_msg("three channels");
	} catch (const std::invalid_argument &error) {
		assert_non_null(std::strstr(error.what(), "1 or 2"));
	}
}

} // namespace

TEST_MAIN("torus")
