// SPDX-License-Identifier: GPL-2.0-or-later
/* The shared block of a network, and where in the machine its members sit. */
#include <utility>

#include "netlink/network.hpp"
#include "router/table_builder.hpp"
#include "topology/dragonfly_machine.hpp"

namespace aries
{

namespace
{

/* Behind the pages of the routers come their map, what is the fabric's, then what there is of each member. */
size_t pages_bytes(uint32_t routers)
{
	return routers * ROUTER_BYTES;
}

char *behind_map(void *shared, uint32_t routers)
{
	return static_cast<char *>(shared) + pages_bytes(routers) + RouterStates::map_bytes(routers);
}

routing::Tables make_tables(const topology::Machine &machine)
{
	return std::move(routing::build_tables(machine, Network::policy()).tables);
}

} // namespace

/* Biases count in the unit of the loads: ticks. */
routing::Policy Network::policy()
{
	routing::Policy policy;

	for (uint32_t bias = 0; bias < BIAS_NS.size(); bias++)
		policy.local_bias[bias] = policy.global_bias[bias] = static_cast<int32_t>(ns_to_ticks(BIAS_NS[bias]));
	return policy;
}

size_t Network::shared_bytes(const DragonflyShape &shape, uint32_t members) noexcept
try {
	const Dragonfly topo(shape);
	const size_t each = sizeof(NicPace) + sizeof(NicState);

	return (pages_bytes(topo.routers()) + RouterStates::map_bytes(topo.routers()) + sizeof(FabricState) +
		(members ? members : topo.nodes()) * each + 63) /
	       64 * 64;
} catch (...) {
	return 0;
}

size_t Network::router_bytes(const DragonflyShape &shape) noexcept
try {
	return pages_bytes(Dragonfly(shape).routers());
} catch (...) {
	return 0;
}

Network::Network(const DragonflyShape &shape, void *shared, uint32_t members, RouterStates::Reserve reserve)
	: Network(Dragonfly(shape), topology::machine_of(Dragonfly(shape)), shared, members, std::move(reserve))
{
}

Network::Network(const Dragonfly &topo, const topology::Machine &machine, void *shared, uint32_t members,
		 RouterStates::Reserve reserve)
	: topo_(topo), wiring_(machine), members_(members ? members : topo_.nodes()),
	  tiles_(topo_.routers(), shared, static_cast<char *>(shared) + pages_bytes(topo_.routers()),
		 std::move(reserve)),
	  state_(*reinterpret_cast<FabricState *>(behind_map(shared, topo_.routers()))),
	  tables_(make_tables(machine), state_.tables), clock_(state_.clock),
	  paces_(reinterpret_cast<NicPace *>(&state_ + 1)), nics_(reinterpret_cast<NicState *>(paces_ + members_)),
	  detours_(wiring_, tiles_)
{
}

bool Network::set_place(uint32_t member, uint32_t place) noexcept
{
	if (member >= members_ || place >= topo_.nodes())
		return false;
	nics_[member].place.store(place + 1, std::memory_order_relaxed);
	return true;
}

} // namespace aries
