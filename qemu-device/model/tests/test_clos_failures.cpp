// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A folded Clos of which links and routers are out (Q23): whoever has a way takes it, and nobody else's changes. Static
 * routing, to compare with (Q40).
 */
#include "clos_walk.hpp"

#include <algorithm>
#include <bit>

#include "dependencies.hpp"

using namespace aries;
using namespace aries::routing;

namespace
{

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
TEST(broken_link_Q23)
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
TEST(what_fails_is_gone_round_Q23)
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
TEST(static_routing_Q40)
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

} // namespace

TEST_MAIN("clos_failures")
