// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Routing on a folded Clos (Q06, Q24, Q25): every pair by the shortest way up and down, all links loaded alike, no
 * circle of waits, and how a link is chosen.
 */
#include "clos_walk.hpp"

#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>

#include "dependencies.hpp"
#include "topology/build_canonical.hpp"
#include "topology/closed_forms.hpp"

using namespace aries;
using namespace aries::routing;

namespace
{

/* Every pair, in all modes: as many hops as the shortest way has, and never up again. */
TEST(every_pair_by_the_shortest_way_Q03)
{
	constexpr ClosMode MODES[] = {ClosMode::Adaptive, ClosMode::Hash, ClosMode::Static};
	std::vector<Hop> way;

	for (const Machine &machine : machines()) {
		const Clos net(machine);

		for (uint16_t site = 0; site < net.tables.sites(); site++) {
			const auto hops = distances(net, site, {});

			for (uint32_t from = 0; from < net.routers(); from++) {
				if (!net.nodes[from])
					continue;
				assert_true(walk(net, from,
						 {.destination = site,
						  .hash = from * 7919u + site,
						  .nic = static_cast<uint8_t>(from % machine.router_type.nics),
						  .channel = 1,
						  .mode = MODES[(from + site) % 3]},
						 quiet, way));
				assert_int_equal(way.size(), hops[from]);
				assert_true(std::is_partitioned(way.begin(), way.end(), [&net](const Hop &hop) {
					return net.is_up(hop.router, hop.tile);
				}));
				assert_true(net.tables.reaches(from, site));
			}
		}
	}
}

/* What all links carry if every node sends as much to each and routers share it alike: the same, of each stage. */
TEST(all_links_of_a_stage_carry_the_same_Q03_Q36)
{
	struct {
		Machine machine;
		std::vector<uint64_t> below; // a switch of each stage
	} const cases[] = {{build_qsnet({.nodes = 128}), {16, 128}},
			   {build_qsnet({.nodes = 256}), {16, 128}},
			   {build_qsnet({.nodes = 512}), {16, 128, 512}},
			   {build_qsnet({.nodes = 640}), {16, 128, 640}},
			   {build_qsnet({.nodes = 1024, .blades = true}), {16, 16 * 8, 1024}},
			   {build_clos({.radix = 8, .stages = 3}), {4, 16, 128}},
			   {build_clos({.radix = 36, .stages = 2, .top_radix = 54}), {18, 972}}};

	for (const auto &c : cases) {
		const Clos net(c.machine);
		std::vector<double> load(size_t{net.routers()} * net.tiles());

		for (uint16_t site = 0; site < net.tables.sites(); site++) {
			std::vector<double> flow(net.routers());
			const auto share = [&](uint32_t router) {
				const ClosWays &ways = net.tables.router(router).to(site);

				for (uint32_t tile = 0; tile < net.tiles(); tile++) {
					if (!ways.has(tile))
						continue;

					const double part = flow[router] / std::popcount(ways.bits);

					load[router * net.tiles() + tile] += part;
					flow[net.wiring.far_end(router, tile).router] += part;
				}
			};
			const auto with_stage = [&](uint32_t stage, bool up) {
				for (uint32_t router = 0; router < net.routers(); router++) {
					if (net.stage(router) == stage && net.tables.router(router).to(site).up == up)
						share(router);
				}
			};

			for (uint32_t router = 0; router < net.routers(); router++) {
				if (net.tables.router(router).here != site)
					flow[router] = net.nodes[router];
			}
			for (uint32_t stage = 0; stage < 4; stage++)
				with_stage(stage, true);
			for (uint32_t stage = 4; stage-- > 0;)
				with_stage(stage, false);
		}

		/* Of all pairs those that are not below the same switch of a stage go up from it. */
		const auto nodes = static_cast<double>(c.machine.nodes.size());
		std::vector<double> links(c.below.size());

		for (uint32_t router = 0; router < net.routers(); router++) {
			if (net.stage(router) < links.size())
				links[net.stage(router)] += std::popcount(net.tables.router(router).up.bits);
		}
		for (uint32_t router = 0; router < net.routers(); router++) {
			for (uint32_t tile = 0; tile < net.tiles(); tile++) {
				if (!net.is_up(router, tile))
					continue;

				const LinkEnd far = net.wiring.far_end(router, tile);
				const double pairs = nodes - static_cast<double>(c.below[net.stage(router)]);
				/* Destinations are sites of as many nodes. */
				const double wanted =
					nodes * pairs / links[net.stage(router)] / (nodes / net.tables.sites());
				const double up = load[router * net.tiles() + tile];
				const double down = load[far.router * net.tiles() + far.tile];

				if (std::fabs(up - wanted) > 1e-6 * wanted || std::fabs(down - wanted) > 1e-6 * wanted)
					fail_msg("%s: router %u tile %u has %g up, %g down, not %g",
						 c.machine.name.c_str(), router, tile, up, down, wanted);
			}
		}
	}
}

/* What packets draw is what they share: of all links up of a node's router each is taken, of 4,096 packets each alike.
 */
TEST(every_link_up_is_taken)
{
	for (const ClosOrder order : {ClosOrder::Random, ClosOrder::Next, ClosOrder::Lighter}) {
		for (const Machine &machine : {build_qsnet({.nodes = 512}), build_clos({.radix = 32, .stages = 2})}) {
			const Clos net(machine, {order, 4});
			const ClosRouter &first = net.tables.router(0);
			std::vector<uint32_t> taken(net.tiles());
			std::mt19937_64 random(1);
			ClosTurns turns;

			for (uint32_t i = 0; i < 4096; i++) {
				const ClosHeader header{.destination = static_cast<uint16_t>(1 + i % 15)};
				const uint64_t word = order == ClosOrder::Next ? turns.word() : random();
				const ClosDecision go = ClosRouting::first(first, header, NoLoad{}, word);

				turns.took(go);
				taken[go.tile]++;
			}
			assert_int_equal(std::popcount(first.up.bits), 16);
			for (uint32_t tile = 0; tile < net.tiles(); tile++) {
				if (!first.up.has(tile))
					assert_int_equal(taken[tile], 0);
				else
					assert_in_range(taken[tile], order == ClosOrder::Next ? 256 : 192,
							order == ClosOrder::Next ? 256 : 320);
			}
		}
	}
}

Graph waits(const Clos &net)
{
	Graph graph(size_t{net.routers()} * net.tiles());

	for (uint16_t site = 0; site < net.tables.sites(); site++) {
		std::vector<bool> seen(graph.size());
		std::vector<uint32_t> unvisited;
		const auto go = [&](uint32_t router, uint32_t in, uint32_t held) {
			const ClosWays &ways = net.tables.router(router).to(site);

			if (net.tables.router(router).here == site || (ways.up && in != NONE && net.is_up(router, in)))
				return;
			for (uint32_t tile = 0; tile < net.tiles(); tile++) {
				const uint32_t next = router * net.tiles() + tile;

				if (!ways.has(tile))
					continue;
				if (held != NONE)
					graph[held].push_back(next);
				if (!seen[next])
					unvisited.push_back(next);
				seen[next] = true;
			}
		};

		for (uint32_t router = 0; router < net.routers(); router++) {
			if (net.nodes[router])
				go(router, NONE, NONE);
		}
		while (!unvisited.empty()) {
			const uint32_t held = unvisited.back();
			const LinkEnd far = net.wiring.far_end(held / net.tiles(), held % net.tiles());

			unvisited.pop_back();
			go(far.router, far.tile, held);
		}
	}
	for (auto &next : graph) {
		std::sort(next.begin(), next.end());
		next.erase(std::unique(next.begin(), next.end()), next.end());
	}
	return graph;
}

/* One channel is enough, whole or with links out, and some packets wait for others at all. */
TEST(no_circle_of_waits)
{
	for (const Machine &machine : machines()) {
		for (const uint32_t out : {0u, static_cast<uint32_t>(machine.links.size() / 8)}) {
			const Graph graph = waits(Clos(machine, {}, some_links(machine, out, 5)));
			size_t edges = 0;

			for (const auto &next : graph)
				edges += next.size();
			assert_true(edges > 0 || machine.links.size() < 32);
			assert_true(find_circle(graph).empty());
		}
	}
	/* The search finds one where there is one. */
	assert_false(find_circle({{1}, {2}, {0}}).empty());
}

/* Q06: which of the links, by what waits on them. */
TEST(choice_by_threshold_Q06)
{
	const Machine machine = build_qsnet({.nodes = 1024});
	const ClosHeader header{.destination = 63};
	std::vector<uint32_t> load(64, 3);
	const auto loads = [&load](uint32_t tile) { return load[tile]; };
	const auto first = [&](ClosOrder order, uint32_t threshold, uint64_t random) {
		const Clos net(machine, {order, threshold});

		return uint32_t{ClosRouting::first(net.tables.router(0), header, loads, random).tile};
	};

	/* The links up of a node's router are 16 to 31. */
	assert_int_equal(first(ClosOrder::First, 4, 0), 16);
	load[16] = 4;
	assert_int_equal(first(ClosOrder::First, 4, 0), 17);
	assert_int_equal(first(ClosOrder::First, 5, 0), 16);
	assert_int_equal(first(ClosOrder::Next, 4, ClosTurns{}.word()), 17);
	assert_int_equal(first(ClosOrder::Next, 4, ClosTurns{17, 3}.word()), 18);
	assert_int_equal(first(ClosOrder::Next, 4, ClosTurns{31, 3}.word()), 17);
	/* If none is below the threshold those with the least are. */
	load[20] = load[25] = 2;
	assert_int_equal(first(ClosOrder::First, 1, 0), 20);
	assert_int_equal(first(ClosOrder::Next, 1, ClosTurns{20, 3}.word()), 25);

	std::set<uint32_t> taken;

	for (uint64_t i = 0; i < 64; i++)
		taken.insert(first(ClosOrder::Random, 3, i << 10));
	assert_true(taken == (std::set<uint32_t>{20, 25}));
	/* One that is down never is, however low the threshold. */
	load.assign(64, LOAD_DOWN);
	load[30] = 32;
	for (const ClosOrder order : {ClosOrder::First, ClosOrder::Next, ClosOrder::Random, ClosOrder::Lighter}) {
		load[30] = 32;
		assert_int_equal(first(order, 4, 12345), 30);
		load[30] = LOAD_DOWN;
		assert_int_equal(first(order, 4, 12345), NO_OUTPUT);
	}
}

/* Q24: each of the top switches that share a card leads down. */
TEST(shared_top_switches_Q24)
{
	const Clos net(build_qsnet({.nodes = 1024}), {ClosOrder::First, 1});
	const uint32_t top = net.routers() - 1;
	const ClosHeader header{.destination = 63};
	std::set<uint32_t> busy, routers;

	for (uint32_t i = 0; i < 4; i++) {
		const auto load = [&busy](uint32_t tile) { return busy.contains(tile) ? 1u : 0u; };
		const ClosDecision go = ClosRouting::next(net.tables.router(top), 32, header, load, 0);
		const LinkEnd far = net.wiring.far_end(top, go.tile);

		assert_false(go.up);
		assert_int_equal(net.machine.routers[far.router].at[1], 7);
		busy.insert(go.tile);
		routers.insert(far.router);
	}
	assert_int_equal(busy.size(), 4);
	assert_int_equal(routers.size(), 4);
}

/* Q25: the last link, where they are at one router; the chassis, decided above, where they are not. */
TEST(links_of_a_node_Q25)
{
	for (const uint32_t links : {1, 2, 4}) {
		const Clos net(build_qsnet({.nodes = 64, .links = links}), {ClosOrder::First, 1});
		std::set<uint32_t> busy;

		for (uint32_t i = 0; i < links; i++) {
			const auto load = [&busy](uint32_t tile) { return busy.contains(tile) ? 1u : 0u; };
			const ClosDecision go = ClosRouting::eject(net.tables.router(1), {.nic = 3}, load, 0);

			assert_true(net.machine.router_type.tiles[go.tile].nic_mask == 1u << 3);
			busy.insert(go.tile);
		}
		assert_int_equal(busy.size(), links);
	}

	const Clos net(build_qsnet({.nodes = 256, .links = 4, .spread = true}));
	const ClosRouter &top = net.tables.router(net.routers() - 1);
	std::set<uint32_t> chassis;

	/* Eight chassis, of which the second four have the nodes above 127. */
	for (uint32_t tile = 0; tile < net.tiles(); tile++) {
		if (top.to(net.tables.router(net.machine.nodes[128].router).here).has(tile))
			chassis.insert(net.machine.routers[net.wiring.far_end(net.routers() - 1, tile).router].at[1]);
	}
	assert_true(chassis == (std::set<uint32_t>{4, 5, 6, 7}));
}

/* 16,384 nodes: 4,096 routers with ways to 1,024. */
TEST(tables_of_the_largest_machine_Q34)
{
	const ClosTables tables(build_qsnet({.nodes = 16384}));

	assert_int_equal(tables.routers(), 4096);
	assert_int_equal(tables.sites(), 1024);
	assert_true(tables.bytes() > 4096 * 1024 * 2);
	assert_true(tables.bytes() < 16'000'000);
	assert_true(tables.reaches(0, 1023));
}

template <typename Change> void refused(const char *word, Change change)
{
	Machine machine = build_qsnet({.nodes = 512, .links = 2, .spread = true});

	change(machine);

	const std::string reason = ClosTables::check(machine);

	if (!std::strstr(reason.c_str(), word) || std::strchr(reason.c_str(), '\n'))
		fail_msg("'%s' and not '%s'", reason.c_str(), word);
	try {
		ClosTables tables(machine);

		fail_msg("tables of no Clos: %s", word);
	} catch (const std::invalid_argument &error) {
		assert_string_equal(error.what(), reason.c_str());
	}
}

template <typename Make> void throws(const char *word, Make make)
{
	try {
		make();
		fail_msg("no error: %s", word);
	} catch (const std::invalid_argument &error) {
		assert_non_null(std::strstr(error.what(), word));
	}
}

TEST(what_is_no_clos)
{
	const Machine machine = build_qsnet({.nodes = 128});

	refused("first coordinate", [](Machine &m) { m = topology::build_canonical({2, 4, 2, 0}); });
	refused("first coordinate", [](Machine &m) { m.axes[0] = "level"; });
	refused("without nodes", [](Machine &m) { m.nodes.clear(), m.further.clear(); });
	refused("from stage 0 to stage 5", [](Machine &m) { m.routers[m.links[0].end[1].router].at[0] = 5; });
	refused("not the last", [](Machine &m) { m.links[3].end[1].router = 5; });
	refused("of stage 1", [](Machine &m) { m.nodes[7].router = 70; });
	refused("different other routers", [](Machine &m) { m.further[0].at.router = 20; });
	refused("different other routers", [](Machine &m) { m.further.pop_back(); });
	refused("node 0 is at NICs of different numbers", [](Machine &m) { m.further[0].at.nic = 1; });
	refused("no way up and then down", [](Machine &m) {
		std::erase_if(m.links, [](const topology::Link &link) { return link.end[0].router == 0; });
	});
	/* Across once is like up and down, twice is a ring that waits for itself: routers 0 and 2 have links to 1. */
	refused("from router 2 to router 0", [](Machine &m) {
		m = build_qsnet({.nodes = 32, .blades = true});
		m.routers.push_back({0, {0, 2, 0}});
		m.nodes.push_back({2, 0});
		for (size_t link = 8; link < 16; link++)
			m.links[link].end[0].router = 2;
	});
	refused("tiles: ways have numbers",
		[](Machine &m) { m = build_clos({.radix = 36, .stages = 2, .top_radix = 240}); });
	refused("more than 64 apart", [](Machine &m) {
		m.router_type.tiles.resize(200);
		m.links[1].end[0].tile = 199;
	});
	refused("more than 1024 MiB", [](Machine &m) { m = build_clos({.radix = 4, .stages = 8, .top_radix = 200}); });
	/* Which of a node's places comes first does not matter. */
	Machine turned = build_qsnet({.nodes = 128, .links = 2, .spread = true});

	std::swap(turned.nodes[3], turned.further[3].at);
	assert_string_equal(ClosTables::check(turned).c_str(), "");
	throws("0 packets", [&] { ClosTables(machine, {ClosOrder::First, 0}); });
	throws("a threshold of 33 packets: a link has 32", [&] { ClosTables(machine, {ClosOrder::Random, 33}); });
	throws("cannot fail", [&] { ClosTables(machine, {}, {{UINT32_MAX}, {}}); });
	throws("cannot fail", [&] { ClosTables(machine, {}, {{}, {UINT32_MAX}}); });
	assert_string_equal(ClosTables::check_choice(machine, {ClosOrder::Lighter, 0}).c_str(), "");
	assert_string_equal(ClosTables::check_choice(machine, {ClosOrder::Next, 32}).c_str(), "");
}

/* Tables that were moved lead the same ways. */
TEST(tables_that_are_moved)
{
	const Machine machine = build_qsnet({.nodes = 256});
	ClosTables first(machine, {ClosOrder::First, 1});
	const ClosTables second = std::move(first);

	first = ClosTables(build_clos({.radix = 4, .stages = 2}));
	for (const ClosTables *tables : {&second, static_cast<const ClosTables *>(&first)}) {
		assert_true(tables->reaches(0, 1));
		assert_int_not_equal(ClosRouting::first(tables->router(0), {.destination = 1}, NoLoad{}, 0).tile,
				     NO_OUTPUT);
	}
}

} // namespace

TEST_MAIN("clos")
