// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Which connector of a group each cable to another group is plugged into: the part of an Aries machine in which
 * sizes, rules and upgrades meet. Private to the builder.
 */
#ifndef ARIES_TOPOLOGY_ARIES_PORTS_HPP
#define ARIES_TOPOLOGY_ARIES_PORTS_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "topology/build_aries.hpp"

namespace aries::topology
{

/** A shape with nothing left open. */
struct AriesPlan {
	uint32_t groups;
	uint32_t chassis;
	uint32_t slots;
	uint32_t last_group_chassis;
	uint32_t last_chassis_slots; ///< of the last group
	uint32_t cables;             ///< of a pair of full groups
	uint32_t peers;              ///< to which ports are reserved
	uint32_t reserved;           ///< ports for each peer
	bool air;

	uint32_t group_routers() const { return chassis * slots; }
	uint32_t routers_in(uint32_t group) const
	{
		return group + 1 < groups ? group_routers() : (last_group_chassis - 1) * slots + last_chassis_slots;
	}
	uint32_t routers() const { return (groups - 1) * group_routers() + routers_in(groups - 1); }
	bool last_is_short() const { return routers_in(groups - 1) < group_routers(); }
};

/** A connector for one cable of four links: two links of either router of a pair, or four of a router without one. */
struct CablePort {
	uint32_t router; ///< in its group, the first of the pair
	uint32_t number; ///< among the connectors of the pair
	bool paired;

	LinkEnd end(uint32_t lane) const;
};

/** All connectors of a group, in the order in which they are given to bundles. */
class CablePorts
{
public:
	explicit CablePorts(const AriesPlan &plan);

	/** The port of a group that takes the @p cable th cable to the peer of rank @p rank. */
	const CablePort &at(uint32_t rank, uint32_t cable) const;

	static uint32_t count(uint32_t chassis, uint32_t slots);

	/** Rank of a group among the peers of another; it does not change when groups are added. */
	static uint32_t rank(uint32_t group, uint32_t peer) { return peer < group ? peer : peer - 1; }

private:
	uint32_t peers_;
	uint32_t reserved_;
	bool air_;
	std::vector<CablePort> ports_;
};

/** Fills @p plan; empty, or the rule that the shape breaks. */
std::string plan_aries(const AriesShape &shape, AriesPlan &plan);

/** Calls @p link(near, far) for each link of a cable between two groups, with router numbers of the machine. */
template <typename Function>
void each_link_of_cable(const AriesPlan &plan, const CablePorts &ports, uint32_t a, uint32_t b, uint32_t cable,
			Function link)
{
	const CablePort &at_a = ports.at(CablePorts::rank(a, b), cable);
	const CablePort &at_b = ports.at(CablePorts::rank(b, a), cable);

	for (uint32_t lane = 0; lane < 4; lane++) {
		LinkEnd near = at_a.end(lane);
		LinkEnd far = at_b.end(lane);

		if (near.router >= plan.routers_in(a) || far.router >= plan.routers_in(b))
			continue;
		near.router += a * plan.group_routers();
		far.router += b * plan.group_routers();
		link(near, far);
	}
}

} // namespace aries::topology

#endif
