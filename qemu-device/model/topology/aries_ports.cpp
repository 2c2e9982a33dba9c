// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/aries_ports.hpp"

#include <algorithm>
#include <numeric>

#include "topology/dragonfly.hpp"

namespace aries::topology
{

namespace
{

constexpr uint32_t PAIR_CABLES = 5;         ///< of two neighbouring blades (T16)
constexpr uint32_t SINGLE_CABLES = 2;       ///< of a blade without a neighbour: two of its ten links stay unused
constexpr uint32_t CABINET_CHASSIS = 3;     ///< (T07)
constexpr uint32_t CHASSIS_STEPS = 26;      ///< up to so many cabinets a machine grows by chassis (T34)
constexpr uint32_t CABINET_STEPS = 64;      ///< up to so many it grows by cabinets (T35)
constexpr uint32_t AIR_COOLED_CABINETS = 8; ///< (T36)

std::string number(uint32_t value)
{
	return std::to_string(value);
}

uint32_t or_default(uint32_t value, uint32_t dflt)
{
	return value ? value : dflt;
}

uint32_t div_up(uint32_t a, uint32_t b)
{
	return (a + b - 1) / b;
}

uint32_t cabinets(const AriesPlan &plan)
{
	if (plan.air)
		return plan.groups;
	return (plan.groups - 1) * div_up(plan.chassis, CABINET_CHASSIS) +
	       div_up(plan.last_group_chassis, CABINET_CHASSIS);
}

std::string check_bounds(const AriesShape &shape, const AriesPlan &plan)
{
	const uint32_t most_chassis = plan.air ? 1 : MAX_CHASSIS_PER_GROUP;

	if (plan.groups == 0)
		return "a machine needs at least one group";
	if (plan.groups > MAX_GROUPS)
		return number(plan.groups) + " groups: four links to a cable allow at most " + number(MAX_GROUPS) +
		       " (T11)";
	if (plan.air && plan.groups > AIR_COOLED_CABINETS)
		return number(plan.groups) + " air-cooled cabinets: at most " + number(AIR_COOLED_CABINETS) + " (T36)";
	if (plan.slots > MAX_ROUTERS_PER_CHASSIS)
		return number(plan.slots) + " blades in a chassis: at most " + number(MAX_ROUTERS_PER_CHASSIS) +
		       " (T07)";
	if (plan.chassis > most_chassis)
		return number(plan.chassis) + " chassis in a group: at most " + number(most_chassis) +
		       (plan.air ? " if it is air-cooled (T36)" : " (T07)");
	if (plan.last_group_chassis > plan.chassis)
		return number(plan.last_group_chassis) + " chassis in the last group: the others have " +
		       number(plan.chassis) + " (T34)";
	if (plan.last_chassis_slots > plan.slots)
		return number(plan.last_chassis_slots) + " blades in the last chassis: the others have " +
		       number(plan.slots);
	if (shape.planned_groups && (shape.planned_groups < plan.groups || shape.planned_groups > MAX_GROUPS))
		return "planned for " + number(shape.planned_groups) + " groups: " + number(plan.groups) + " to " +
		       number(MAX_GROUPS) + " can be";
	return {};
}

/* How finely a machine may end (T34 to T36). */
std::string check_end(const AriesPlan &plan)
{
	const uint32_t total = cabinets(plan);
	const uint32_t last = plan.last_group_chassis;

	if (plan.last_chassis_slots < plan.slots && !plan.air && plan.groups > 1)
		return number(plan.last_chassis_slots) + " blades in the last chassis: only air-cooled machines and " +
		       "single groups grow by blades (T34, T36)";
	if (plan.air || last == plan.chassis)
		return {};
	if (total > CABINET_STEPS)
		return number(total) + " cabinets: above " + number(CABINET_STEPS) +
		       " the last group must be full (T35), but it has " + number(last) + " chassis";
	if (total > CHASSIS_STEPS && last % CABINET_CHASSIS)
		return number(total) + " cabinets: above " + number(CHASSIS_STEPS) +
		       " the last cabinet must be full (T35), but the last group has " + number(last) + " chassis";
	return {};
}

/* What the number of cables of a bundle must be a multiple of, by rule or because the last group is short (T31). */
uint32_t bundle_multiple(const AriesShape &shape, const AriesPlan &plan)
{
	const uint32_t group_cabinets = div_up(plan.chassis, CABINET_CHASSIS);
	uint32_t multiple = 1;

	if (plan.air)
		return 1;
	if (plan.last_group_chassis < plan.chassis)
		multiple = plan.last_group_chassis * 2 == plan.chassis ? 2 : plan.chassis;
	if (shape.bundle_rule == BundleRule::Multiples && cabinets(plan) <= CABINET_STEPS)
		multiple = std::lcm(multiple, cabinets(plan) > CHASSIS_STEPS ? group_cabinets : plan.chassis);
	return multiple;
}

/* Cables of a pair of groups, and the ports that are set aside for each peer (T25, T31, T33). */
std::string plan_cables(const AriesShape &shape, AriesPlan &plan)
{
	const uint32_t ports = CablePorts::count(plan.chassis, plan.slots);
	const uint32_t peers = or_default(shape.planned_groups, plan.groups) - 1;
	const uint32_t multiple = bundle_multiple(shape, plan);

	if (plan.groups == 1) {
		if (shape.cables_per_pair)
			return number(shape.cables_per_pair) + " cables between groups: there is one group";
		return {};
	}

	const uint32_t most = ports / peers;
	const uint32_t usable = (shape.half_optics ? ports / 2 : ports) / peers;

	plan.cables = or_default(shape.cables_per_pair, usable / multiple * multiple);
	if (most == 0)
		return number(peers + 1) + " groups: the " + number(ports) + " global cables of a group reach only " +
		       number(ports + 1) + " groups (T25)";
	if (plan.cables == 0)
		return "no cable is left for a pair of groups: " + number(usable) +
		       " of each group can be used, in multiples of " + number(multiple) + " (T25, T31)";
	if (plan.cables > usable)
		return number(plan.cables) + " cables between each two of " + number(peers + 1) + " groups: at most " +
		       number(usable) + " (T25)";
	if (plan.cables % multiple)
		return number(plan.cables) + " cables to a bundle do not divide: here it has to be a multiple of " +
		       number(multiple) + " (T31)";
	plan.peers = shape.planned_groups ? peers : ports / plan.cables;
	if (plan.air)
		plan.peers = std::min(plan.peers, AIR_COOLED_CABINETS - 1);
	plan.reserved = shape.planned_groups ? most : plan.cables;
	return {};
}

/* The last group may lack the routers that the ports for some peer belong to. */
std::string check_last_group(const AriesPlan &plan)
{
	const CablePorts ports(plan);
	const uint32_t last = plan.groups - 1;

	for (uint32_t peer = 0; plan.last_is_short() && peer < last; peer++) {
		uint32_t links = 0;

		for (uint32_t cable = 0; cable < plan.cables; cable++)
			each_link_of_cable(plan, ports, last, peer, cable,
					   [&links](const LinkEnd &, const LinkEnd &) { links++; });
		if (links == 0)
			return "the " + number(plan.routers_in(last)) +
			       " blades of the last group have no cable to group " + number(peer) +
			       ": more blades are needed";
	}
	return {};
}

} // namespace

LinkEnd CablePort::end(uint32_t lane) const
{
	if (paired)
		return {router + lane / 2, FIRST_BLUE + number * 2 + lane % 2};
	return {router, FIRST_BLUE + number * BUNDLE_LINKS + lane};
}

uint32_t CablePorts::count(uint32_t chassis, uint32_t slots)
{
	return chassis * (slots / 2 * PAIR_CABLES + slots % 2 * SINGLE_CABLES);
}

/*
 * Water-cooled: the ports of a bundle follow each other here, so each run of them is spread over the chassis, and over
 * the cabinets first, that a part of the group has its part of each bundle (T31); then over the pairs of blades.
 * Air-cooled: pair by pair, because the last chassis may have few blades, and all peers want to be reached from those.
 */
CablePorts::CablePorts(const AriesPlan &plan) : peers_(plan.peers), reserved_(plan.reserved), air_(plan.air)
{
	const uint32_t pairs = div_up(plan.slots, 2);
	const auto ports_of = [&plan](uint32_t pair) {
		return pair * 2 + 1 < plan.slots ? PAIR_CABLES : SINGLE_CABLES;
	};
	const auto add = [this, &plan](uint32_t chassis, uint32_t pair, uint32_t port) {
		ports_.push_back({chassis * plan.slots + pair * 2, port, pair * 2 + 1 < plan.slots});
	};

	for (uint32_t pair = 0; air_ && pair < pairs; pair++) {
		for (uint32_t port = 0; port < ports_of(pair); port++)
			add(0, pair, port);
	}
	for (uint32_t port = 0; !air_ && port < PAIR_CABLES; port++) {
		for (uint32_t pair = 0; pair < pairs; pair++) {
			for (uint32_t i = 0; port < ports_of(pair) && i < plan.chassis; i++)
				add(plan.chassis % 2 ? i : i % 2 * (plan.chassis / 2) + i / 2, pair, port);
		}
	}
}

const CablePort &CablePorts::at(uint32_t rank, uint32_t cable) const
{
	return ports_[air_ ? cable * peers_ + rank : rank * reserved_ + cable];
}

std::string plan_aries(const AriesShape &shape, AriesPlan &plan)
{
	plan = {};
	plan.air = shape.cooling == Cooling::Air;
	plan.groups = shape.groups;
	plan.chassis = or_default(shape.chassis, plan.air ? 1 : MAX_CHASSIS_PER_GROUP);
	plan.slots = or_default(shape.slots, MAX_ROUTERS_PER_CHASSIS);
	plan.last_group_chassis = or_default(shape.last_group_chassis, plan.chassis);
	plan.last_chassis_slots = or_default(shape.last_chassis_slots, plan.slots);

	std::string reason = check_bounds(shape, plan);

	if (reason.empty())
		reason = check_end(plan);
	if (reason.empty())
		reason = plan_cables(shape, plan);
	if (reason.empty() && plan.groups > 1)
		reason = check_last_group(plan);
	if (reason.empty() && shape.nodes > plan.routers() * NICS_PER_ROUTER)
		reason = number(shape.nodes) + " nodes: there is room for " + number(plan.routers() * NICS_PER_ROUTER);
	return reason;
}

} // namespace aries::topology
