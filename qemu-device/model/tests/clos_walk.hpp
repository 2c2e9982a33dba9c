// SPDX-License-Identifier: GPL-2.0-or-later
/* Folded Clos networks of every kind, ways of packets over them, and how far routers are from each other. */
#ifndef ARIES_TESTS_CLOS_WALK_HPP
#define ARIES_TESTS_CLOS_WALK_HPP

#include "cmocka_cpp.hpp"

#include <random>
#include <set>
#include <vector>

#include "router/clos.hpp"
#include "topology/build_clos.hpp"
#include "topology/build_qsnet.hpp"
#include "topology/wiring.hpp"

namespace aries::routing
{

using topology::build_clos;
using topology::build_qsnet;
using topology::LinkEnd;
using topology::Machine;
using topology::Wiring;

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
inline std::vector<Machine> machines()
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

inline uint32_t quiet(uint32_t, uint32_t)
{
	return 0;
}

/* Hops from every router to a site over links that are left: up first, then down. Counted without the tables. */
inline std::vector<uint32_t> distances(const Clos &net, uint16_t site, const std::set<uint32_t> &out)
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

inline Failures some_links(const Machine &machine, uint32_t count, uint32_t seed)
{
	std::mt19937 random(seed);
	Failures failures;

	for (uint32_t i = 0; i < count && !machine.links.empty(); i++)
		failures.links.push_back(static_cast<uint32_t>(random() % machine.links.size()));
	return failures;
}

} // namespace aries::routing

#endif
