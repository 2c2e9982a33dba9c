// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/build_torus.hpp"

#include <stdexcept>

namespace aries::topology
{

namespace
{

constexpr const chip::Chip &CHIP = chip::GEMINI;
constexpr uint32_t MOST_ROUTERS = CHIP.most_nodes / GEMINI_NICS;
constexpr double LENGTH_M = 2; ///< of a link of which nobody knows where its ends stand

/* Measured rates, in Gbit/s of a lane, of links that are no cables. */
constexpr float BLADE_GBIT = 6.25f;
constexpr float BACKPLANE_GBIT = 5;

/* Lengths are our choice: no source has them. A cable inside a cabinet, with what each of its ends needs anywhere. */
constexpr double BLADE_M = 0.1;
constexpr double BACKPLANE_M = 0.3;
constexpr double CABINET_M = 1.5;
constexpr double TO_NEXT_COLUMN_M = 0.6; ///< a cabinet's width
constexpr double TO_NEXT_ROW_M = 2.5;    ///< a cabinet and the space in front of it

static_assert(GEMINI_NICS == CHIP.tiles.nics);

/* Tiles to each neighbour of a dimension: half of its tiles. Those upwards come first. */
constexpr uint32_t tiles_to_each(uint8_t axis)
{
	return chip::GEMINI_LINKS[axis].tiles / 2;
}

RouterType gemini()
{
	RouterType type{CHIP.name,
			CHIP.tiles.rows,
			CHIP.tiles.columns,
			{},
			CHIP.tiles.nics,
			CHIP.channels.requests,
			CHIP.channels.responses,
			static_cast<double>(CHIP.times.router_mhz)};

	for (uint8_t axis = chip::GEMINI_X; axis <= chip::GEMINI_Z; axis++)
		type.tiles.insert(type.tiles.end(), chip::GEMINI_LINKS[axis].tiles, {TileRole::Network, axis, 0});
	type.tiles.insert(type.tiles.end(), CHIP.tiles.processor, {TileRole::Processor, 0, (1u << GEMINI_NICS) - 1});
	return type;
}

bool has_room(const TorusShape &shape)
{
	return shape.of != TorusClass::None;
}

GeminiRoom room_of(const TorusShape &shape)
{
	const uint32_t usual = shape.of == TorusClass::Class2 ? 2 : 1;

	return {shape.of, shape.cabinets, shape.rows ? shape.rows : usual, shape.chassis};
}

/* In routers. */
TorusSizes sizes_of_shape(const TorusShape &shape)
{
	return has_room(shape) ? sizes_of(room_of(shape)) : TorusSizes{shape.x, shape.y / GEMINI_NICS, shape.z};
}

uint32_t router_at(const TorusSizes &sizes, const TorusSizes &at)
{
	return (at[0] * sizes[1] + at[1]) * sizes[2] + at[2];
}

template <typename Function> void each_place(const TorusSizes &sizes, Function with)
{
	for (TorusSizes at{}; at[0] < sizes[0]; at[0]++) {
		for (at[1] = 0; at[1] < sizes[1]; at[1]++) {
			for (at[2] = 0; at[2] < sizes[2]; at[2]++)
				with(at);
		}
	}
}

double apart(uint32_t a, uint32_t b, double each)
{
	return each * (a > b ? a - b : b - a);
}

/* The links of a shape that was checked. */
class Builder
{
public:
	Builder(const TorusShape &shape, Machine &machine)
		: shape_(shape), room_(room_of(shape)), sizes_(sizes_of_shape(shape)), machine_(machine)
	{
	}

	/* Links upwards in one dimension; with one router there is none, and a mesh has none across the seam. */
	void add_links(const TorusSizes &at, uint8_t axis)
	{
		const bool seam = at[axis] + 1 == sizes_[axis];
		TorusSizes next = at;

		if (sizes_[axis] == 1 || (seam && shape_.open_y && axis == chip::GEMINI_Y))
			return;
		next[axis] = seam ? 0 : at[axis] + 1;

		const uint32_t to_each = tiles_to_each(axis);
		const uint32_t first = chip::GEMINI_LINKS[axis].first_tile;
		const Wire wire = wire_between(at, next, axis, seam);

		for (uint32_t i = 0; i < to_each; i++) {
			/* Twelve channels share a cable: the tile links of one torus link (G04). */
			const uint32_t cable = wire.cable ? cables_ + i / TORUS_LINK_TILES : NO_CABLE;

			machine_.links.push_back(
				{{{router_at(sizes_, at), first + i}, {router_at(sizes_, next), first + to_each + i}},
				 axis,
				 static_cast<uint8_t>(CHIP.line.lanes),
				 static_cast<float>(wire.length_m),
				 cable,
				 shape_.rates == TorusRates::Measured ? wire.measured_gbit : 0});
		}
		if (wire.cable)
			cables_ += to_each / TORUS_LINK_TILES;
	}

private:
	struct Wire {
		bool cable;
		double length_m;
		float measured_gbit; ///< 0: as the class has it
	};

	/*
	 * Upwards in y the first router of a blade has the second, on the blade; in z a slot has the next, on the
	 * backplane. All else leaves the chassis, also what closes a ring inside one (G47).
	 */
	Wire wire_between(const TorusSizes &at, const TorusSizes &next, uint8_t axis, bool seam) const
	{
		if (!has_room(shape_))
			return {true, LENGTH_M, 0};

		const GeminiPlace from = place_of(room_, at);
		const GeminiPlace to = place_of(room_, next);

		if (axis == chip::GEMINI_Y && from.same_blade(to) && !seam)
			return {false, BLADE_M, BLADE_GBIT};
		if (axis == chip::GEMINI_Z && from.same_chassis(to) && !seam)
			return {false, BACKPLANE_M, BACKPLANE_GBIT};
		return {true,
			CABINET_M + apart(from.column, to.column, TO_NEXT_COLUMN_M) +
				apart(from.row, to.row, TO_NEXT_ROW_M),
			0};
	}

	const TorusShape &shape_;
	const GeminiRoom room_;
	const TorusSizes sizes_;
	Machine &machine_;
	uint32_t cables_ = 0;
};

std::string text_of(const TorusShape &shape)
{
	return std::to_string(shape.x) + " x " + std::to_string(shape.y) + " x " + std::to_string(shape.z);
}

std::string check_sizes(const TorusShape &shape)
{
	const uint64_t plane = uint64_t{shape.x} * shape.z;

	if (shape.cabinets || shape.rows || shape.chassis)
		return "cabinets, rows and chassis are of a machine with a class";
	if (shape.rates == TorusRates::Measured)
		return "measured rates are of a machine with a class: of sizes alone nobody knows which links are "
		       "cables";
	if (shape.x == 0 || shape.y == 0 || shape.z == 0)
		return "a torus needs nodes in each dimension";
	if (shape.y % GEMINI_NICS)
		return std::to_string(shape.y) + " nodes in y: a router has two of them side by side (G54)";
	if (plane > MOST_ROUTERS || plane * (shape.y / GEMINI_NICS) > MOST_ROUTERS)
		return "a torus of " + text_of(shape) + " nodes: there can be " + std::to_string(MOST_ROUTERS) +
		       " routers (G28)";
	return {};
}

} // namespace

std::string check_torus(const TorusShape &shape)
{
	if (!has_room(shape))
		return check_sizes(shape);

	std::string reason = check_room(room_of(shape));

	if (!reason.empty())
		return reason;

	const TorusSizes sizes = sizes_of_shape(shape);
	const TorusShape none, full{sizes[0], sizes[1] * GEMINI_NICS, sizes[2]};

	for (const auto size : {&TorusShape::x, &TorusShape::y, &TorusShape::z}) {
		if (shape.*size != none.*size && shape.*size != full.*size)
			return "a torus of " + text_of(shape) + " nodes: these cabinets are one of " + text_of(full);
	}
	return {};
}

std::vector<std::string> advise_torus(const TorusShape &shape)
{
	const TorusSizes sizes = sizes_of_shape(shape);
	std::vector<std::string> lines;

	if (has_room(shape))
		return advise_room(room_of(shape));
	for (size_t axis = 0; axis < sizes.size(); axis++) {
		const std::string name = chip::GEMINI_LINKS[axis].name;

		if (sizes[axis] == 1)
			lines.push_back(name + " has one router: it is no dimension, and has no links");
		else if (sizes[axis] == 2)
			lines.push_back(name + " has two routers: both ways round its rings lead to the same one");
	}
	return lines;
}

Machine build_torus(const TorusShape &shape)
{
	const std::string reason = check_torus(shape);

	if (!reason.empty())
		throw std::invalid_argument(reason);

	const TorusSizes sizes = sizes_of_shape(shape);
	Machine machine;
	Builder builder(shape, machine);

	machine.name = "torus " + text_of({sizes[0], sizes[1] * GEMINI_NICS, sizes[2]});
	machine.family = "torus";
	machine.router_type = gemini();
	for (const chip::LinkForm &link : chip::GEMINI_LINKS) {
		machine.axes.emplace_back(link.name);
		machine.classes.push_back(
			{link.name, Scope::Local, Medium::Copper, CHIP.line.lanes, link.lane_mbit / 1000.0, LENGTH_M});
	}
	machine.groups = 1;
	each_place(sizes, [&](const TorusSizes &at) {
		const auto router = static_cast<uint32_t>(machine.routers.size());

		machine.routers.push_back(
			{0,
			 {static_cast<uint16_t>(at[0]), static_cast<uint16_t>(at[1]), static_cast<uint16_t>(at[2])}});
		if (has_room(shape))
			machine.names.push_back(name_of(place_of(room_of(shape), at)));
		for (uint32_t nic = 0; nic < GEMINI_NICS; nic++)
			machine.nodes.push_back({router, nic});
		for (uint8_t axis = chip::GEMINI_X; axis <= chip::GEMINI_Z; axis++)
			builder.add_links(at, axis);
	});
	return machine;
}

} // namespace aries::topology
