// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/build_qsnet.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "chip/elite5.hpp"

namespace aries::topology
{

namespace
{

constexpr const chip::Switch &CHIP = chip::ELITE5;
constexpr uint32_t HALF = CHIP.radix / 2;         ///< links of a card in front, and as many to the backplane (Q37)
constexpr uint32_t CARDS = 8;                     ///< of either stage in a chassis, and of top switches in one
constexpr uint32_t CHASSIS_PORTS = CARDS * HALF;  ///< down, and as many up
constexpr uint32_t MOST_SWITCHES = CHASSIS_PORTS; ///< node switches that a top switch can join
constexpr uint32_t PARALLEL = HALF / CARDS;       ///< links from a card to each of the other stage in its chassis
constexpr double BACKPLANE_M = 0.5;               ///< our choice, as the next: no source has lengths
constexpr double CABLE_M = 20;

static_assert(uint64_t{MOST_SWITCHES} * CHASSIS_PORTS == CHIP.most_nodes);

uint32_t ceil_div(uint32_t value, uint32_t by)
{
	return (value + by - 1) / by;
}

uint32_t uplinks_of(const QsnetShape &shape)
{
	return shape.blades ? HALF : CHASSIS_PORTS;
}

/* Nodes with a link to each of so many node switches fill these before the next ones. */
uint32_t spread_over(const QsnetShape &shape)
{
	return shape.spread ? shape.links : 1;
}

uint64_t switches_of(const QsnetShape &shape)
{
	const uint32_t nodes = uplinks_of(shape) * spread_over(shape) / shape.links;

	return (uint64_t{shape.nodes} + nodes - 1) / nodes * spread_over(shape);
}

class Builder
{
public:
	explicit Builder(const QsnetShape &shape) : shape_(shape), parts_(parts_of(shape)) {}

	Machine build()
	{
		const auto number = [](uint32_t value) { return std::to_string(value); };

		machine_.name = "QsNetIII, " + number(shape_.nodes) + " nodes: " + number(parts_.node_switches) +
				" node switch chassis, " + number(parts_.cables) + " cables, " +
				number(parts_.top_chassis) + " top switch chassis";
		machine_.family = "qsnet";
		machine_.axes = {"stage", "chassis", "card"};
		machine_.groups = 1;
		router_type();
		node_stage_ = add_stage(parts_.node_switches, shape_.blades ? 1 : CARDS);
		if (!shape_.blades) {
			up_stage_ = add_stage(parts_.node_switches, CARDS);
			join_cards(node_stage_, up_stage_, parts_.node_switches, CARDS, backplane_);
		}
		add_nodes();
		if (parts_.top == QsnetTop::Direct)
			join_directly();
		else if (parts_.top == QsnetTop::Cards)
			add_top_cards();
		else if (parts_.top == QsnetTop::Chassis)
			add_top_chassis();
		for (const RouterPlace &router : machine_.routers)
			machine_.names.push_back(name_of(router));
		return std::move(machine_);
	}

private:
	struct Block {
		uint32_t tile;
		uint8_t cls;
	};

	Block add_class(const char *name, Medium medium, double length_m, uint32_t tiles)
	{
		RouterType &type = machine_.router_type;
		const Block block{static_cast<uint32_t>(type.tiles.size()),
				  static_cast<uint8_t>(machine_.classes.size())};

		machine_.classes.push_back(
			{name, Scope::Local, medium, CHIP.line.lanes, CHIP.line.lane_mbit / 1000.0, length_m});
		type.tiles.insert(type.tiles.end(), tiles, {TileRole::Network, block.cls, 0});
		return block;
	}

	/* The union of the switches of all stages: each uses 32 tiles, or 16. */
	void router_type()
	{
		RouterType &type = machine_.router_type;
		const uint32_t tiles_of_nic = shape_.spread ? 1 : shape_.links;

		type = {CHIP.name,
			1,
			0,
			{},
			HALF / tiles_of_nic,
			CHIP.channels.channels,
			0,
			static_cast<double>(CHIP.times.switch_mhz)};
		for (uint32_t tile = 0; tile < HALF; tile++)
			type.tiles.push_back({TileRole::Processor, 0, 1u << tile / tiles_of_nic});
		if (!shape_.blades)
			backplane_ = add_class("backplane", Medium::Backplane, BACKPLANE_M, HALF);
		if (parts_.top != QsnetTop::None)
			cable_ = add_class("cable", Medium::Optical, CABLE_M,
					   parts_.top == QsnetTop::Cards ? CHIP.radix : HALF);
		if (parts_.top == QsnetTop::Chassis)
			top_backplane_ = add_class("top backplane", Medium::Backplane, BACKPLANE_M, HALF);
		type.columns = static_cast<unsigned>(type.tiles.size());
	}

	/* @return the first router */
	uint32_t add_stage(uint32_t chassis, uint32_t cards)
	{
		const auto first = static_cast<uint32_t>(machine_.routers.size());

		for (uint32_t i = 0; i < chassis * cards; i++)
			machine_.routers.push_back(
				{0, {stage_, static_cast<uint16_t>(i / cards), static_cast<uint16_t>(i % cards)}});
		stage_++;
		return first;
	}

	void add_link(const LinkEnd &lower, const LinkEnd &upper, const Block &block)
	{
		const LinkClass &cls = machine_.classes[block.cls];

		machine_.links.push_back({{lower, upper},
					  block.cls,
					  static_cast<uint8_t>(cls.lanes),
					  static_cast<float>(cls.default_length_m),
					  cls.medium == Medium::Backplane ? NO_CABLE : cables_++});
	}

	/* Over the backplane of each chassis: every card of the lower stage to every card of the upper one. */
	void join_cards(uint32_t lower, uint32_t upper, uint32_t chassis, uint32_t lower_cards, const Block &block)
	{
		for (uint32_t i = 0; i < chassis * lower_cards * HALF; i++) {
			const uint32_t card = i / HALF, link = i % HALF;
			const uint32_t home = card / lower_cards, place = card % lower_cards;

			add_link({lower + card, block.tile + link},
				 {upper + home * CARDS + link % CARDS, block.tile + place * PARALLEL + link / CARDS},
				 block);
		}
	}

	/* Uplink t of a node switch. Those that follow one another are on different cards, as their top switches are
	 * one. */
	LinkEnd uplink(uint32_t node_switch, uint32_t t) const
	{
		return shape_.blades ? LinkEnd{node_stage_ + node_switch, cable_.tile + t}
				     : LinkEnd{up_stage_ + node_switch * CARDS + t % CARDS, cable_.tile + t / CARDS};
	}

	template <typename End> void join_top_switches(End end)
	{
		for (uint32_t t = 0; t < parts_.top_switches; t++) {
			for (uint32_t n = 0; n < parts_.node_switches; n++)
				add_link(uplink(n, t), end(t / parts_.shared, t % parts_.shared, n), cable_);
		}
	}

	void join_directly()
	{
		for (uint32_t t = 0; t < parts_.top_switches; t++)
			add_link(uplink(0, t), uplink(1, t), cable_);
	}

	void add_top_cards()
	{
		const auto top = static_cast<uint32_t>(machine_.routers.size());

		for (uint32_t i = 0; i < parts_.top_units; i++)
			machine_.routers.push_back(
				{0, {stage_, static_cast<uint16_t>(i / CARDS), static_cast<uint16_t>(i % CARDS)}});
		join_top_switches([&](uint32_t unit, uint32_t nth, uint32_t n) {
			return LinkEnd{top + unit, cable_.tile + nth * parts_.node_switches + n};
		});
	}

	/* Cables of a node switch to top switches that share a chassis go to ports that follow one another. */
	void add_top_chassis()
	{
		const uint32_t cards = ceil_div(parts_.node_switches * parts_.shared, HALF);
		const uint32_t lower = add_stage(parts_.top_units, cards);
		const uint32_t upper = add_stage(parts_.top_units, CARDS);

		join_top_switches([&](uint32_t unit, uint32_t nth, uint32_t n) {
			const uint32_t port = n * parts_.shared + nth;

			return LinkEnd{lower + unit * cards + port / HALF, cable_.tile + port % HALF};
		});
		join_cards(lower, upper, parts_.top_units, cards, top_backplane_);
	}

	void add_nodes()
	{
		const uint32_t homes = spread_over(shape_);
		const uint32_t of_router = machine_.router_type.nics;
		const uint32_t cards = shape_.blades ? 1 : CARDS;
		const uint32_t of_switch = of_router * cards;

		for (uint32_t node = 0; node < shape_.nodes; node++) {
			const uint32_t place = node % of_switch;

			for (uint32_t link = 0; link < homes; link++) {
				const uint32_t node_switch = node / of_switch * homes + link;
				const NodePlace at{node_stage_ + node_switch * cards + place / of_router,
						   place % of_router};

				if (link == 0)
					machine_.nodes.push_back(at);
				else
					machine_.further.push_back({node, at});
			}
		}
	}

	/* In our words, for no source names routers. The upper stage of a chassis has the second eight of its cards. */
	std::string name_of(const RouterPlace &router) const
	{
		const uint32_t node_stages = shape_.blades ? 1 : 2;
		const auto [stage, chassis, card] = router.at;
		const std::string number = std::to_string(chassis);

		if (stage >= node_stages)
			return "top switch " + number + " card " + std::to_string((stage - node_stages) * CARDS + card);
		return shape_.blades ? "blades " + number
				     : "node switch " + number + " card " + std::to_string(stage * CARDS + card);
	}

	const QsnetShape &shape_;
	const QsnetParts parts_;
	Machine machine_;
	Block backplane_{}, cable_{}, top_backplane_{};
	uint16_t stage_ = 0;
	uint32_t node_stage_ = 0, up_stage_ = 0; ///< first routers
	uint32_t cables_ = 0;
};

} // namespace

std::string check_qsnet(const QsnetShape &shape)
{
	const auto number = [](uint64_t value) { return std::to_string(value); };

	if (shape.links != 1 && shape.links != 2 && shape.links != 4)
		return number(shape.links) + " links of a node: it has 1, 2, or 2 of each of 2 adapters (Q25)";
	if (shape.spread && shape.links == 1)
		return "a node with one link cannot be at several chassis";
	if (shape.spread && shape.blades)
		return "the links of a blade are all in its own chassis";
	if (shape.nodes == 0)
		return "a machine needs nodes";

	const uint64_t switches = switches_of(shape);

	if (switches > MOST_SWITCHES)
		return number(shape.nodes) + " nodes with " + number(shape.links) + " links: " + number(MOST_SWITCHES) +
		       " node switches have " + number(uint64_t{MOST_SWITCHES} * uplinks_of(shape)) +
		       " links to nodes" +
		       (shape.blades ? ", and blades want a larger top switch for more (Q38)" : " (Q34)");
	if (shape.top_switches > uplinks_of(shape))
		return number(shape.top_switches) + " top switches: a node switch has " + number(uplinks_of(shape)) +
		       " links up (Q36)";
	if (shape.top_switches && switches < 3)
		return "top switches: " + number(switches) + " node switch" + (switches > 1 ? "es need" : " needs") +
		       " none (Q33)";
	return {};
}

QsnetParts parts_of(const QsnetShape &shape)
{
	QsnetParts parts;
	const uint32_t stages = shape.blades ? 1 : 2;

	parts.node_switches = static_cast<uint32_t>(switches_of(shape));
	parts.uplinks = uplinks_of(shape);
	parts.cables = shape.blades ? 0 : shape.nodes * shape.links;
	parts.stages = stages;
	if (parts.node_switches <= 1)
		return parts;
	if (parts.node_switches == 2) {
		parts.top = QsnetTop::Direct;
		parts.top_switches = parts.uplinks;
		parts.cables += parts.uplinks;
		return parts;
	}
	parts.top = parts.node_switches <= CHIP.radix ? QsnetTop::Cards : QsnetTop::Chassis;
	parts.top_switches = shape.top_switches ? shape.top_switches : parts.uplinks;
	parts.shared = (parts.top == QsnetTop::Cards ? CHIP.radix : CHASSIS_PORTS) / parts.node_switches;
	parts.top_units = ceil_div(parts.top_switches, parts.shared);
	parts.top_chassis = parts.top == QsnetTop::Cards ? ceil_div(parts.top_units, CARDS) : parts.top_units;
	parts.cables += parts.node_switches * parts.top_switches;
	parts.stages = stages + (parts.top == QsnetTop::Cards ? 1 : 2);
	return parts;
}

Machine build_qsnet(const QsnetShape &shape)
{
	const std::string reason = check_qsnet(shape);

	if (!reason.empty())
		throw std::invalid_argument(reason);
	return Builder(shape).build();
}

} // namespace aries::topology
