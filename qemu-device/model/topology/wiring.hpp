// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Questions about a machine, answered from dense arrays: the other end of a tile's link, the routers of a group, the
 * nodes of a router. A machine of 92,544 nodes takes some 25 MB.
 */
#ifndef ARIES_TOPOLOGY_WIRING_HPP
#define ARIES_TOPOLOGY_WIRING_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topology/machine.hpp"

namespace aries::topology
{

inline constexpr uint32_t NO_LINK = UINT32_MAX;
inline constexpr uint32_t NO_NODE = UINT32_MAX;
inline constexpr uint32_t NOT_CONNECTED = UINT32_MAX; ///< tile of a far end that is not there

/** The wiring of a machine that validate() accepts; it keeps nothing of the machine. */
class Wiring
{
public:
	explicit Wiring(const Machine &machine);

	uint32_t tiles() const noexcept { return tiles_; }
	uint32_t routers() const noexcept { return routers_; }
	uint32_t groups() const noexcept { return static_cast<uint32_t>(group_first_.size() - 1); }

	/** The other end of the link of a tile; its tile is NOT_CONNECTED if that tile has no link. */
	LinkEnd far_end(uint32_t router, uint32_t tile) const noexcept { return far_ends(router)[tile]; }

	/** Of all tiles of a router. */
	const LinkEnd *far_ends(uint32_t router) const noexcept { return far_.data() + index(router, 0); }

	/** Index into Machine::links, or NO_LINK. */
	uint32_t link_of(uint32_t router, uint32_t tile) const noexcept { return link_[index(router, tile)]; }

	uint32_t group_of(uint32_t router) const noexcept { return group_of_[router]; }

	/** Routers of a group in ascending order. */
	std::span<const uint32_t> routers_of(uint32_t group) const noexcept
	{
		return {group_routers_.data() + group_first_[group], group_routers_.data() + group_first_[group + 1]};
	}

	/** Node of a NIC, or NO_NODE. */
	uint32_t node_at(uint32_t router, uint32_t nic) const noexcept { return node_[size_t{router} * nics_ + nic]; }

	/** One entry for each NIC of the router: its node, or NO_NODE. */
	std::span<const uint32_t> nodes_of(uint32_t router) const noexcept
	{
		return {node_.data() + size_t{router} * nics_, nics_};
	}

	/** Memory of the arrays. */
	size_t bytes() const noexcept;

private:
	size_t index(uint32_t router, uint32_t tile) const noexcept { return size_t{router} * tiles_ + tile; }

	uint32_t tiles_;
	uint32_t nics_;
	uint32_t routers_;
	std::vector<LinkEnd> far_;
	std::vector<uint32_t> link_;
	std::vector<uint32_t> group_of_;
	std::vector<uint32_t> group_routers_;
	std::vector<uint32_t> group_first_;
	std::vector<uint32_t> node_;
};

} // namespace aries::topology

#endif
