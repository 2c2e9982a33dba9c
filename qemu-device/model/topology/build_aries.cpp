// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/build_aries.hpp"

#include <stdexcept>

#include "topology/aries_ports.hpp"
#include "topology/dragonfly.hpp"

namespace aries::topology
{

namespace
{

enum : uint8_t { GREEN = chip::ARIES_GREEN, BLACK = chip::ARIES_BLACK, BLUE = chip::ARIES_BLUE };

constexpr double GREEN_LENGTH_M = 0.5; ///< across a backplane; our choice, no source has it
constexpr double BLACK_LENGTH_M = 2.3; ///< the longest that is needed inside a group (T17)
constexpr double GLOBAL_LENGTH_M = 10; ///< our choice below the 35 m that can be (T18): a hop takes 100 ns (L05)

double lane_gbit(uint8_t colour)
{
	return chip::ARIES_LINKS[colour].lane_mbit / 1000.0;
}

/* NICs that a processor tile serves: those of its share (T04). */
uint32_t nics_at(uint32_t tile)
{
	constexpr uint32_t NICS = chip::ARIES.tiles.share_nics;
	const uint32_t share = (tile - FIRST_PROCESSOR) / chip::ARIES.tiles.share_tiles;

	return ((1u << NICS) - 1) << share * NICS;
}

RouterType aries_router()
{
	constexpr const chip::Chip &ARIES = chip::ARIES;
	RouterType type{ARIES.name,
			ARIES.tiles.rows,
			ARIES.tiles.columns,
			{},
			ARIES.tiles.nics,
			ARIES.channels.requests,
			ARIES.channels.responses,
			static_cast<double>(ARIES.times.router_mhz)};

	for (uint32_t tile = 0; tile < TILES; tile++) {
		if (tile < NETWORK_TILES)
			type.tiles.push_back({TileRole::Network, static_cast<uint8_t>(tile_kind(tile)), 0});
		else
			type.tiles.push_back({TileRole::Processor, 0, nics_at(tile)});
	}
	return type;
}

std::vector<LinkClass> aries_classes(const AriesShape &shape)
{
	const bool copper = shape.electrical_global || shape.cooling == Cooling::Air;
	const double length = shape.global_length_m > 0 ? shape.global_length_m : GLOBAL_LENGTH_M;

	const auto &links = chip::ARIES_LINKS;

	return {{links[GREEN].name, Scope::Local, Medium::Backplane, LANES, lane_gbit(GREEN), GREEN_LENGTH_M},
		{links[BLACK].name, Scope::Local, Medium::Copper, LANES, lane_gbit(BLACK), BLACK_LENGTH_M},
		{links[BLUE].name, Scope::Global, copper ? Medium::Copper : Medium::Optical, LANES,
		 lane_gbit(copper ? BLACK : BLUE), length}};
}

class Builder
{
public:
	Builder(Machine &machine, const AriesPlan &plan) : machine_(machine), plan_(plan) {}

	void routers()
	{
		for (uint32_t group = 0; group < plan_.groups; group++) {
			for (uint32_t router = 0; router < plan_.routers_in(group); router++)
				machine_.routers.push_back({group,
							    {static_cast<uint16_t>(router / plan_.slots),
							     static_cast<uint16_t>(router % plan_.slots), 0}});
		}
	}

	/* Inside a chassis each router has a link to each other (T08). */
	void green(uint32_t group)
	{
		for (uint32_t a = 0; a < plan_.routers_in(group); a++) {
			for (uint32_t b = a + 1; b / plan_.slots == a / plan_.slots && b < plan_.routers_in(group); b++)
				add(GREEN, NO_CABLE,
				    {at(group, a), Dragonfly::green_tile(a % plan_.slots, b % plan_.slots)},
				    {at(group, b), Dragonfly::green_tile(b % plan_.slots, a % plan_.slots)});
		}
	}

	/* Between two chassis a cable of three links connects the routers of each slot (T09, T14). */
	void black(uint32_t group)
	{
		for (uint32_t a = 0; a < plan_.routers_in(group); a++) {
			for (uint32_t b = a + plan_.slots; b < plan_.routers_in(group); b += plan_.slots) {
				for (uint32_t link = 0; link < BLACK_LINKS; link++)
					add(BLACK, cables_, {at(group, a), black_tile(a, b, link)},
					    {at(group, b), black_tile(b, a, link)});
				cables_++;
			}
		}
	}

	void blue()
	{
		const CablePorts ports(plan_);

		for (uint32_t a = 0; a < plan_.groups; a++) {
			for (uint32_t b = a + 1; b < plan_.groups; b++) {
				for (uint32_t cable = 0; cable < plan_.cables; cable++) {
					const size_t before = machine_.links.size();

					each_link_of_cable(plan_, ports, a, b, cable,
							   [this](const LinkEnd &near, const LinkEnd &far) {
								   add(BLUE, cables_, near, far);
							   });
					cables_ += machine_.links.size() > before;
				}
			}
		}
	}

	void nodes(uint32_t count)
	{
		for (uint32_t node = 0; node < count; node++)
			machine_.nodes.push_back({node / NICS_PER_ROUTER, node % NICS_PER_ROUTER});
	}

private:
	uint32_t at(uint32_t group, uint32_t router) const { return group * plan_.group_routers() + router; }

	uint32_t black_tile(uint32_t from, uint32_t to, uint32_t link) const
	{
		return Dragonfly::black_tile(from / plan_.slots, to / plan_.slots, link);
	}

	void add(uint8_t cls, uint32_t cable, const LinkEnd &a, const LinkEnd &b)
	{
		machine_.links.push_back(
			{{a, b}, cls, LANES, static_cast<float>(machine_.classes[cls].default_length_m), cable});
	}

	Machine &machine_;
	const AriesPlan &plan_;
	uint32_t cables_ = 0;
};

} // namespace

std::string check_aries(const AriesShape &shape)
{
	AriesPlan plan;

	return plan_aries(shape, plan);
}

std::vector<std::string> advise_aries(const AriesShape &shape)
{
	AriesPlan plan;

	if (!plan_aries(shape, plan).empty() || plan.groups == 1)
		return {};

	const uint32_t used = plan.cables * (plan.groups - 1);
	const uint32_t ports = CablePorts::count(plan.chassis, plan.slots);

	if (used * 4 >= ports)
		return {};
	return {"each group uses " + std::to_string(used) + " of " + std::to_string(ports) +
		" optical ports: at least a quarter should be (T32)"};
}

uint32_t aries_cables_per_pair(const AriesShape &shape)
{
	AriesPlan plan;

	return plan_aries(shape, plan).empty() ? plan.cables : 0;
}

Machine build_aries(const AriesShape &shape)
{
	AriesPlan plan;
	const std::string reason = plan_aries(shape, plan);

	if (!reason.empty())
		throw std::invalid_argument(reason);

	Machine machine;

	machine.name = "Aries " + std::to_string(plan.groups) + " x " + std::to_string(plan.cables);
	machine.family = "aries";
	machine.router_type = aries_router();
	machine.classes = aries_classes(shape);
	machine.axes = {"chassis", "slot"};
	machine.groups = plan.groups;
	machine.links.reserve(size_t{plan.routers()} * NETWORK_TILES / 2);

	Builder builder(machine, plan);

	builder.routers();
	for (uint32_t group = 0; group < plan.groups; group++) {
		builder.green(group);
		builder.black(group);
	}
	if (plan.groups > 1)
		builder.blue();
	builder.nodes(shape.nodes ? shape.nodes : plan.routers() * NICS_PER_ROUTER);
	return machine;
}

} // namespace aries::topology
