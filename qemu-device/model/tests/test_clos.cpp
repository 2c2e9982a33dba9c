// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/*
 * Routing on a folded Clos (Q06, Q23 to Q25, Q40): every pair by the shortest way up and down, all links loaded alike,
 * no circle of waits, what fails is gone round, and how a link is chosen.
 */
#include "cmocka_cpp.hpp"

#include <cmath>
#include <cstring>
#include <random>
#include <set>
#include <stdexcept>

#include "dependencies.hpp"
#include "router/clos.hpp"
#include "topology/build_canonical.hpp"
#include "topology/build_clos.hpp"
#include "topology/build_qsnet.hpp"
#include "topology/closed_forms.hpp"
#include "topology/wiring.hpp"

using namespace aries;
using namespace aries::routing;
using topology::build_clos;
using topology::build_qsnet;
using topology::LinkEnd;
using topology::Machine;
using topology::Wiring;

namespace
{

struct NoLoad {
	uint32_t operator()(uint32_t) const { return 0; }
};

/* A machine, its tables, and what walks over it need. */
struct Clos {
	explicit Clos(const Machine &of, const ClosChoice &choice = {}, const Failures &failures = {})
		: machine(of), wiring(machine), tables(machine, choice, failures), nodes(tables.routers())
	{
		for (const topology::NodePlace &node : machine.nodes)
			nodes[node.router]++;
	}

	uint32_t routers() const { return tables.routers(); }
	uint32_t tiles() const { return wiring.tiles(); }
	uint32_t stage(uint32_t router) const { return machine.routers[router].at[0]; }
	bool is_up(uint32_t router, uint32_t tile) const { return tables.router(router).up.has(tile); }

	Machine machine;
	Wiring wiring;
	ClosTables tables;
	std::vector<uint32_t> nodes; ///< that are first at a router
};

/* One, two, three and four stages, with and without direct links and shared switches, nodes at several chassis. */
std::vector<Machine> machines()
{
	return {build_qsnet({.nodes = 128}),
		build_qsnet({.nodes = 256}),
		build_qsnet({.nodes = 384}),
		build_qsnet({.nodes = 640}),
		build_qsnet({.nodes = 500, .top_switches = 48}),
		build_qsnet({.nodes = 128, .links = 4}),
		build_qsnet({.nodes = 128, .links = 4, .spread = true}),
		build_qsnet({.nodes = 16, .blades = true}),
		build_qsnet({.nodes = 32, .blades = true}),
		build_qsnet({.nodes = 160, .blades = true}),
		build_qsnet({.nodes = 560, .blades = true}),
		build_clos({.radix = 8, .stages = 3}),
		build_clos({.radix = 4, .stages = 4}),
		build_clos({.radix = 8, .stages = 2, .top_radix = 24})};
}

struct Hop {
	uint32_t router, tile;
};

/* The way of a packet. @return it arrives */
template <typename Load>
bool walk(const Clos &net, uint32_t from, ClosHeader header, const Load &load, std::vector<Hop> &way)
{
	uint32_t at = from, in = UINT32_MAX;
	uint64_t random = header.hash;

	way.clear();
	while (net.tables.router(at).here != header.destination) {
		const ClosRouter &router = net.tables.router(at);
		const auto loads = [&](uint32_t tile) { return load(at, tile); };

		random = mix64(random + at);

		const ClosDecision go = in == UINT32_MAX ? ClosRouting::first(router, header, loads, random)
							 : ClosRouting::next(router, in, header, loads, random);

		if (go.tile == NO_OUTPUT || way.size() > 16)
			return false;
		assert_int_equal(go.channel, header.channel);
		way.push_back({at, go.tile});

		const LinkEnd far = net.wiring.far_end(at, go.tile);

		if (far.tile == topology::NOT_CONNECTED)
			fail_msg("router %u sends by tile %u, which has no link", at, go.tile);
		at = far.router;
		in = far.tile;
	}

	const ClosDecision out = ClosRouting::eject(net.tables.router(at), header, NoLoad{}, random);

	return net.machine.router_type.tiles[out.tile].nic_mask >> header.nic & 1;
}

uint32_t quiet(uint32_t, uint32_t)
{
	return 0;
}

/* Hops from every router to a site over links that are left: up first, then down. Counted without the tables. */
std::vector<uint32_t> distances(const Clos &net, uint16_t site, const std::set<uint32_t> &out)
{
	constexpr uint32_t FAR = UINT32_MAX / 2;
	std::vector<uint32_t> down(net.routers(), FAR), any;

	for (uint32_t router = 0; router < net.routers(); router++)
		down[router] = net.tables.router(router).here == site ? 0 : FAR;

	const auto improve = [&](std::vector<uint32_t> &of, bool upwards) {
		bool changed = false;

		for (uint32_t i = 0; i < net.machine.links.size(); i++) {
			for (int side = 0; side < 2 && !out.contains(i); side++) {
				const uint32_t near = net.machine.links[i].end[side].router;
				const uint32_t far = net.machine.links[i].end[1 - side].router;
				const bool up = net.stage(far) > net.stage(near);
				const bool across = net.stage(far) == net.stage(near);
				const uint32_t behind = across ? down[far] : of[far];

				if ((upwards ? !up && !across : up || across) || behind + 1 >= of[near])
					continue;
				of[near] = behind + 1;
				changed = true;
			}
		}
		return changed;
	};

	while (improve(down, false)) {
	}
	any = down;
	while (improve(any, true)) {
	}
	return any;
}

/* Every pair, in all modes: as many hops as the shortest way has, and never up again. */
void every_pair_by_the_shortest_way_Q03(void **)
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
void all_links_of_a_stage_carry_the_same_Q03_Q36(void **)
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
void every_link_up_is_taken(void **)
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

Failures some_links(const Machine &machine, uint32_t count, uint32_t seed)
{
	std::mt19937 random(seed);
	Failures failures;

	for (uint32_t i = 0; i < count && !machine.links.empty(); i++)
		failures.links.push_back(static_cast<uint32_t>(random() % machine.links.size()));
	return failures;
}

/* One channel is enough, whole or with links out, and some packets wait for others at all. */
void no_circle_of_waits(void **)
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
void choice_by_threshold_Q06(void **)
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
void shared_top_switches_Q24(void **)
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
void links_of_a_node_Q25(void **)
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

/* Links between two routers. */
std::vector<uint32_t> between(const Machine &machine, uint32_t a, uint32_t b)
{
	std::vector<uint32_t> links;

	for (uint32_t i = 0; i < machine.links.size(); i++) {
		if (machine.links[i].end[0].router == a && machine.links[i].end[1].router == b)
			links.push_back(i);
	}
	return links;
}

/* Q23: Fig. 2 of the source. Neither the router at a broken link uses it, nor others what lies behind it. */
void broken_link_Q23(void **)
{
	const Machine machine = build_qsnet({.nodes = 512});
	const uint32_t lower = 0, upper = 32; // cards 0 and 8 of the first chassis
	const Failures failures{between(machine, lower, upper), {}};
	const Clos old(machine), net(machine, {}, failures);
	std::vector<Hop> way;

	assert_int_equal(failures.links.size(), 2);
	for (uint32_t hash = 0; hash < 256; hash++) {
		const uint32_t other = 1 + hash % 31;
		const ClosHeader to{.destination = 0, .hash = hash},
			from{.destination = static_cast<uint16_t>(other), .hash = hash};

		assert_true(walk(net, other, to, quiet, way));
		assert_int_equal(way.size(), other < 8 ? 2 : 4);
		assert_true(std::none_of(way.begin(), way.end(), [](const Hop &hop) { return hop.router == upper; }));
		assert_true(walk(net, 0, from, quiet, way));
		assert_true(way.size() < 2 || way[1].router != upper);
	}
	/* Packets between others still go there. */
	const ClosWays &ways = net.tables.router(1).to(2);

	assert_int_equal(std::popcount(ways.bits), 16);

	/* With the old tables a packet gets there, and has no way: up again it must not. */
	const auto down = [&](uint32_t tile) {
		const auto link = old.wiring.link_of(upper, tile);

		return std::count(failures.links.begin(), failures.links.end(), link) ? LOAD_DOWN : 0;
	};
	const ClosHeader header{.destination = 0};
	uint32_t from_above = 0;

	while (!net.is_up(upper, from_above))
		from_above++;
	assert_int_equal(ClosRouting::next(old.tables.router(upper), from_above, header, down, 0).tile, NO_OUTPUT);
	assert_int_equal(ClosRouting::next(net.tables.router(upper), from_above, header, NoLoad{}, 0).tile, NO_OUTPUT);
	/* One that came from below may. */
	assert_true(ClosRouting::next(net.tables.router(upper), 16, header, NoLoad{}, 0).up);
}

/* Links and routers at random: those have a way that a search without the tables finds one for, and as short a one. */
void what_fails_is_gone_round_Q23(void **)
{
	uint32_t lost = 0, longer = 0;
	std::vector<Hop> way;

	for (const Machine &machine : machines()) {
		for (uint32_t seed = 0; seed < 2; seed++) {
			Failures failures =
				some_links(machine, static_cast<uint32_t>(machine.links.size() / 3), seed + 1);

			failures.routers.push_back(machine.nodes.back().router);

			const Clos net(machine, {}, failures);
			std::set<uint32_t> out(failures.links.begin(), failures.links.end());

			for (uint32_t i = 0; i < machine.links.size(); i++) {
				for (const LinkEnd &end : machine.links[i].end) {
					if (end.router == failures.routers[0])
						out.insert(i);
				}
			}
			for (uint16_t site = 0; site < net.tables.sites(); site++) {
				const auto hops = distances(net, site, out);

				for (uint32_t from = 0; from < net.routers(); from++) {
					if (!net.nodes[from] || net.tables.router(from).here == site)
						continue;

					const bool there = hops[from] < net.routers();

					assert_int_equal(net.tables.reaches(from, site), there);
					assert_int_equal(
						walk(net, from, {.destination = site, .hash = from}, quiet, way),
						there);
					lost += !there;
					longer += there && hops[from] > 4;
					if (!there)
						continue;
					assert_int_equal(way.size(), hops[from]);
					for (const Hop &hop : way)
						assert_false(out.contains(net.wiring.link_of(hop.router, hop.tile)));
				}
			}
		}
	}
	assert_true(lost > 0 && longer > 0);
}

/* What links carry if node n of all sends to node n + by, statically. */
std::vector<uint32_t> shifted(const Clos &net, uint32_t by)
{
	std::vector<uint32_t> load(size_t{net.routers()} * net.tiles());
	const auto nodes = static_cast<uint32_t>(net.machine.nodes.size());
	std::vector<Hop> way;

	for (uint32_t node = 0; node < nodes; node++) {
		const topology::NodePlace &from = net.machine.nodes[node], &to = net.machine.nodes[(node + by) % nodes];

		assert_true(walk(net, from.router,
				 {.destination = net.tables.router(to.router).here,
				  .nic = static_cast<uint8_t>(to.nic),
				  .mode = ClosMode::Static},
				 quiet, way));
		for (const Hop &hop : way)
			load[hop.router * net.tiles() + hop.tile]++;
	}
	return load;
}

/* Q40: by destination alone shifts do not meet; but one link that is out makes another carry twice as much. */
void static_routing_Q40(void **)
{
	for (const Machine &machine :
	     {build_clos({.radix = 8, .stages = 3}), build_qsnet({.nodes = 128}), build_qsnet({.nodes = 512}),
	      build_qsnet({.nodes = 1024}), build_qsnet({.nodes = 2048})}) {
		const Clos net(machine);

		for (const uint32_t by : {1u, 16u, 63u, static_cast<uint32_t>(machine.nodes.size() / 2)}) {
			const auto load = shifted(net, by);

			assert_int_equal(*std::max_element(load.begin(), load.end()), 1);
		}
	}

	const Machine machine = build_qsnet({.nodes = 512});
	const Clos net(machine, {}, {{between(machine, 0, 32)[0]}, {}});
	std::vector<uint32_t> taken(net.tiles());

	for (uint16_t site = 8; site < 32; site++) {
		for (uint8_t nic = 0; nic < 16; nic++) {
			const ClosHeader header{.destination = site, .nic = nic, .mode = ClosMode::Static};

			taken[ClosRouting::first(net.tables.router(0), header, NoLoad{}, 0).tile]++;
		}
	}
	for (uint32_t tile = 16; tile < 32; tile++)
		assert_int_equal(taken[tile], tile == 16 ? 0 : tile == 17 ? 48 : 24);
}

/* 16,384 nodes: 4,096 routers with ways to 1,024. */
void tables_of_the_largest_machine_Q34(void **)
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

void what_is_no_clos(void **)
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
void tables_that_are_moved(void **)
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

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(every_pair_by_the_shortest_way_Q03),
		cmocka_unit_test(all_links_of_a_stage_carry_the_same_Q03_Q36),
		cmocka_unit_test(every_link_up_is_taken),
		cmocka_unit_test(no_circle_of_waits),
		cmocka_unit_test(choice_by_threshold_Q06),
		cmocka_unit_test(shared_top_switches_Q24),
		cmocka_unit_test(links_of_a_node_Q25),
		cmocka_unit_test(broken_link_Q23),
		cmocka_unit_test(what_fails_is_gone_round_Q23),
		cmocka_unit_test(static_routing_Q40),
		cmocka_unit_test(tables_of_the_largest_machine_Q34),
		cmocka_unit_test(what_is_no_clos),
		cmocka_unit_test(tables_that_are_moved),
	};

	return cmocka_run_group_tests_name("clos", tests, nullptr, nullptr);
}
