// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/build_clos.hpp"

#include <stdexcept>

#include "chip/aries.hpp"
#include "topology/closed_forms.hpp"

namespace aries::topology
{

namespace
{

constexpr uint32_t MOST_STAGES = 8;
constexpr uint32_t MOST_LEAVES = 65536;
/* Routers have what Aries has, as those of the canonical dragonfly: so the two can be compared. */
constexpr const chip::Chip &ROUTERS{chip::ARIES};
constexpr double OPTICAL_M = 20; ///< our choice, no source has it
constexpr double INSIDE_M = 1;   ///< likewise

uint32_t top_radix_of(const ClosShape &shape)
{
	return shape.top_radix ? shape.top_radix : shape.radix;
}

/* Routers of the first stage. */
uint64_t leaves_of(const ClosShape &shape)
{
	return shape.stages == 1 ? 1 : nodes_of_fat_tree(shape.radix, shape.stages - 2) / 2 * top_radix_of(shape);
}

class FatTree
{
public:
	explicit FatTree(const ClosShape &shape)
		: shape_(shape), half_(shape.radix / 2), top_radix_(top_radix_of(shape))
	{
		for (uint32_t stage = 1; stage < shape.stages; stage++)
			tops_ *= half_;
		width_ = leaves_of(shape);
		leaf_nodes_ = shape.stages == 1 ? shape.radix : half_;
	}

	Machine build()
	{
		machine_.name = "fat tree of radix " + std::to_string(shape_.radix) + ", stages " +
				std::to_string(shape_.stages);
		machine_.family = "clos";
		machine_.axes = {"stage", "index"};
		machine_.groups = 1;
		router_type();
		for (uint32_t stage = 0; stage < shape_.stages; stage++) {
			for (uint32_t index = 0; index < width(stage); index++)
				add_router(stage, index);
		}
		for (uint32_t stage = 0; stage + 1 < shape_.stages; stage++) {
			for (uint32_t index = 0; index < width(stage); index++)
				add_links(stage, index);
		}
		return std::move(machine_);
	}

private:
	/* Routers of a stage; the last has fewer. */
	uint32_t width(uint32_t stage) const
	{
		return stage + 1 == shape_.stages ? tops_ : static_cast<uint32_t>(width_);
	}
	uint32_t router(uint32_t stage, uint32_t index) const { return stage * static_cast<uint32_t>(width_) + index; }

	/* First tile of the links between a stage and the next. */
	uint32_t level(uint32_t stage) const { return leaf_nodes_ + stage * half_; }

	void router_type()
	{
		RouterType &type = machine_.router_type;

		type = {"folded Clos",
			1,
			0,
			{},
			leaf_nodes_,
			ROUTERS.channels.requests,
			ROUTERS.channels.responses,
			static_cast<double>(ROUTERS.times.router_mhz)};
		for (uint32_t nic = 0; nic < leaf_nodes_; nic++)
			type.tiles.push_back({TileRole::Processor, 0, 1u << nic});
		for (uint32_t stage = 0; stage + 1 < shape_.stages; stage++) {
			const bool last = stage + 2 == shape_.stages;
			const bool optical = stage == 0 && shape_.optical_leaves;

			machine_.classes.push_back({"level" + std::to_string(stage), Scope::Local,
						    optical ? Medium::Optical : Medium::Backplane, shape_.lanes,
						    shape_.gbit_per_lane, optical ? OPTICAL_M : INSIDE_M});
			type.tiles.insert(type.tiles.end(), last ? top_radix_ : half_,
					  {TileRole::Network, static_cast<uint8_t>(stage), 0});
		}
		type.columns = static_cast<unsigned>(type.tiles.size());
	}

	void add_router(uint32_t stage, uint32_t index)
	{
		for (uint32_t nic = 0; stage == 0 && nic < leaf_nodes_; nic++)
			machine_.nodes.push_back({index, nic});
		machine_.routers.push_back({0, {static_cast<uint16_t>(stage), static_cast<uint16_t>(index), 0}});
	}

	/*
	 * An index is a row of digits to the base of half the radix, the first to the base of the radix in all stages
	 * but the last. A router is linked to those of the next stage that have the same digits but for one, another
	 * for each stage.
	 */
	void add_links(uint32_t stage, uint32_t index)
	{
		uint32_t weight = 1;

		for (uint32_t i = 0; i < stage; i++)
			weight *= half_;

		const bool last = stage + 2 == shape_.stages;
		const uint32_t digit = last ? index / weight : index / weight % half_;
		const LinkClass &cls = machine_.classes[stage];

		for (uint32_t up = 0; up < half_; up++) {
			const uint32_t above = index - digit * weight + up * weight;
			const auto cable = static_cast<uint32_t>(machine_.links.size());

			machine_.links.push_back({{{router(stage, index), level(stage) + up},
						   {router(stage + 1, above), level(stage) + digit}},
						  static_cast<uint8_t>(stage),
						  static_cast<uint8_t>(cls.lanes),
						  static_cast<float>(cls.default_length_m),
						  cls.medium == Medium::Backplane ? NO_CABLE : cable});
		}
	}

	const ClosShape &shape_;
	uint32_t half_;
	uint32_t top_radix_;
	uint64_t width_ = 0;
	uint32_t tops_ = 1;
	uint32_t leaf_nodes_ = 0;
	Machine machine_;
};

} // namespace

std::string check_clos(const ClosShape &shape)
{
	const auto number = [](uint64_t value) { return std::to_string(value); };

	if (shape.radix < 2 || shape.radix % 2)
		return "radix " + number(shape.radix) + ": half of the ports lead up, so it must be even";
	if (shape.stages == 0 || shape.stages > MOST_STAGES)
		return number(shape.stages) + " stages: there can be 1 to " + number(MOST_STAGES);
	if (shape.radix / (shape.stages == 1 ? 1 : 2) > MAX_NICS)
		return "radix " + number(shape.radix) + ": a router has at most " + number(MAX_NICS) + " nodes";
	if (top_radix_of(shape) > MAX_TILES / 2)
		return "radix " + number(top_radix_of(shape)) + " of the last stage: at most " + number(MAX_TILES / 2);
	if (leaves_of(shape) > MOST_LEAVES)
		return number(leaves_of(shape)) + " routers in the first stage: at most " + number(MOST_LEAVES);
	if (shape.lanes == 0 || shape.lanes > 255 || !(shape.gbit_per_lane > 0))
		return "a link needs 1 to 255 lanes and a rate above 0";
	return {};
}

Machine build_clos(const ClosShape &shape)
{
	const std::string reason = check_clos(shape);

	if (!reason.empty())
		throw std::invalid_argument(reason);
	return FatTree(shape).build();
}

} // namespace aries::topology
