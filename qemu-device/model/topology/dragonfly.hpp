// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Dragonfly of Aries routers: places, tiles and wiring. Everything is computed from the shape on request; nothing
 * grows with the number of pairs, so a full machine of 92,544 nodes costs no more than one of two (T12).
 *
 * Routers are numbered group by group, chassis by chassis, slot by slot; nodes four to a router (T01).
 */
#ifndef ARIES_TOPOLOGY_DRAGONFLY_HPP
#define ARIES_TOPOLOGY_DRAGONFLY_HPP

#include <cstdint>
#include <string>

#include "link/rates.hpp"

namespace aries
{

inline constexpr uint32_t NICS_PER_ROUTER = chip::ARIES.tiles.nics;
inline constexpr uint32_t MAX_ROUTERS_PER_CHASSIS = 16; ///< (T07)
inline constexpr uint32_t MAX_CHASSIS_PER_GROUP = 6;    ///< (T07)
inline constexpr uint32_t MAX_GROUPS = 241;             ///< (T11)
inline constexpr uint32_t BLACK_LINKS = 3;              ///< parallel links to each peer chassis (T09)
inline constexpr uint32_t BLUE_LINKS = 10;              ///< global links of a router (T10)
inline constexpr uint32_t BUNDLE_LINKS = 4;             ///< global links in one cable (T11)

/* Tiles: 48 in 6 rows of 8, 40 of the network and 8 of the processors (T02, T03). */
inline constexpr uint32_t FIRST_GREEN = chip::ARIES_LINKS[chip::ARIES_GREEN].first_tile;
inline constexpr uint32_t FIRST_BLACK = chip::ARIES_LINKS[chip::ARIES_BLACK].first_tile;
inline constexpr uint32_t FIRST_BLUE = chip::ARIES_LINKS[chip::ARIES_BLUE].first_tile;
inline constexpr uint32_t NETWORK_TILES = chip::ARIES.tiles.network;
inline constexpr uint32_t FIRST_PROCESSOR = NETWORK_TILES;
inline constexpr uint32_t PROCESSOR_TILES = chip::ARIES.tiles.processor;
inline constexpr uint32_t TILES = NETWORK_TILES + PROCESSOR_TILES;
inline constexpr uint32_t TILE_COLUMNS = chip::ARIES.tiles.columns;
inline constexpr uint32_t NO_TILE = UINT32_MAX;

enum class TileKind : uint8_t { Green, Black, Blue, Processor };

constexpr TileKind tile_kind(uint32_t tile)
{
	if (tile < FIRST_BLACK)
		return TileKind::Green;
	if (tile < FIRST_BLUE)
		return TileKind::Black;
	return tile < FIRST_PROCESSOR ? TileKind::Blue : TileKind::Processor;
}

constexpr Medium tile_medium(uint32_t tile)
{
	if (tile < FIRST_BLUE)
		return Medium::Electrical;
	return tile < FIRST_PROCESSOR ? Medium::Optical : Medium::Processor;
}

const char *tile_kind_name(TileKind kind);

/** What a network is built from. 0 for the bounds means 16 and 6. */
struct DragonflyShape {
	uint32_t nodes;
	uint32_t routers_per_chassis;
	uint32_t chassis_per_group;
};

/** A place in the machine. */
struct Place {
	uint32_t group;
	uint32_t chassis;
	uint32_t slot;
	uint32_t nic;
};

/** The other end of a link. */
struct LinkEnd {
	uint32_t router;
	uint32_t tile; ///< NO_TILE if nothing is connected
};

/**
 * A dragonfly.
 *
 * A machine of one group has as many routers as its nodes need, so its last chassis may be partly filled (T36).
 * In one of several groups all have all their routers, and the last nodes may be missing; so every group has the
 * same share of global links.
 */
class Dragonfly
{
public:
	/** Empty if the shape can be built, else one line that names the cause. */
	static std::string check(const DragonflyShape &shape);

	/** @param shape must pass check(); throws std::invalid_argument with its text if it does not */
	explicit Dragonfly(const DragonflyShape &shape);

	uint32_t nodes() const noexcept { return nodes_; }
	uint32_t routers() const noexcept { return routers_; }
	uint32_t groups() const noexcept { return groups_; }
	uint32_t group_routers() const noexcept { return group_routers_; }
	uint32_t routers_per_chassis() const noexcept { return slots_; }
	uint32_t chassis_per_group() const noexcept { return chassis_; }

	/** Place of a node, and of a router (nic is 0). */
	Place node_place(uint32_t node) const noexcept;
	Place router_place(uint32_t router) const noexcept;

	/** Node and router at a place; callers give one that exists. */
	uint32_t node_at(const Place &place) const noexcept;
	uint32_t router_at(uint32_t group, uint32_t chassis, uint32_t slot) const noexcept;
	bool router_exists(uint32_t group, uint32_t chassis, uint32_t slot) const noexcept;
	uint32_t group_of(uint32_t router) const noexcept { return router / group_routers_; }

	/** Tile of the one green link to another slot of the chassis (T08). */
	static constexpr uint32_t green_tile(uint32_t from_slot, uint32_t to_slot)
	{
		return FIRST_GREEN + (to_slot < from_slot ? to_slot : to_slot - 1);
	}

	/** Tile of the @p link th (0 to 2) black link to the same slot of another chassis (T09). */
	static constexpr uint32_t black_tile(uint32_t from_chassis, uint32_t to_chassis, uint32_t link)
	{
		return FIRST_BLACK + (to_chassis < from_chassis ? to_chassis : to_chassis - 1) * BLACK_LINKS + link;
	}

	/** Global links between each two groups: a multiple of 4, 0 in a machine of one group (T11, T25). */
	uint32_t links_between_groups() const noexcept { return bundles_between_ * BUNDLE_LINKS; }

	/** The end in @p group of the @p link th global link to group @p peer. */
	LinkEnd blue_link(uint32_t group, uint32_t peer, uint32_t link) const noexcept;

	/** The other end of a network link; tile is NO_TILE if that tile is not connected. */
	LinkEnd far_end(uint32_t router, uint32_t tile) const noexcept;

	/** Cables of a group of @p routers routers, of four links each (T11, T16). */
	static constexpr uint32_t bundles_of(uint32_t routers) { return routers / 2 * 5 + (routers & 1) * 2; }

private:
	struct BundleLane {
		uint32_t bundle;
		uint32_t lane;
	};

	LinkEnd bundle_end(uint32_t group, BundleLane at) const noexcept;
	bool bundle_at(uint32_t router, uint32_t port, BundleLane &at) const noexcept;
	LinkEnd far_green(uint32_t router, uint32_t port) const noexcept;
	LinkEnd far_black(uint32_t router, uint32_t port) const noexcept;
	LinkEnd far_blue(uint32_t router, uint32_t port) const noexcept;

	uint32_t nodes_;
	uint32_t slots_;
	uint32_t chassis_;
	uint32_t group_routers_;
	uint32_t groups_;
	uint32_t routers_;
	uint32_t bundles_between_;
};

} // namespace aries

#endif
