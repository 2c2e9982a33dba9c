// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Broadcasts on a folded Clos: a tree of routers below one of the last stage, and groups of nodes of which each router
 * has the outputs. A packet goes up the tree to the first router that has all of the group below it, and from there
 * down by all outputs of the group (Q26). Any outputs may be in a group.
 *
 * The tree is that of QsNetIII's clocks: its root is the router with the lowest number in the highest stage, and if
 * that is out the next one (Q32). Links on the way are those of packets with one destination, up and then down, so
 * neither waits for the other in a circle.
 */
#ifndef ARIES_ROUTER_CLOS_TREE_HPP
#define ARIES_ROUTER_CLOS_TREE_HPP

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "router/table_builder.hpp"
#include "topology/machine.hpp"

namespace aries::routing
{

inline constexpr uint32_t NO_ROUTER = UINT32_MAX;

/** Where a router is in the tree. */
struct TreePlace {
	uint32_t parent = NO_ROUTER;     ///< none at the root, and of routers that are not below it
	uint8_t up = NO_OUTPUT;          ///< its tile to the parent
	uint8_t parent_down = NO_OUTPUT; ///< the parent's tile to it
};

/** The routers below the root; those beside it are not in the tree. */
class ClosTree
{
public:
	/**
	 * @param machine must pass ClosTables::check()
	 * @param failures links and routers that must not be used; if the root does not reach all routers with nodes,
	 * the next one that does is root, or, if there is none, the first one that reaches the most
	 * @throws std::invalid_argument with the text of ClosTables::check(), or for a failure that the machine does
	 * not have
	 */
	explicit ClosTree(const topology::Machine &machine, const Failures &failures = {});

	uint32_t root() const noexcept { return root_; } ///< NO_ROUTER if all routers are out
	bool has(uint32_t router) const noexcept { return router == root_ || places_[router].parent != NO_ROUTER; }
	const TreePlace &place(uint32_t router) const noexcept { return places_[router]; }

	/** Routers from the root on, each behind its parent. */
	const std::vector<uint32_t> &order() const noexcept { return order_; }

private:
	uint32_t root_ = NO_ROUTER;
	std::vector<TreePlace> places_;
	std::vector<uint32_t> order_;
};

/** What a router does with a packet of a group that comes from above, or that turns there. */
struct GroupWays {
	std::vector<uint8_t> tiles; ///< of links down
	uint32_t nics = 0;          ///< that are members: a bit for each
	bool spans = false;         ///< all members are here or below

	/** Copies that leave, and answers that a router waits for before it gives one (Q27 wants one for all). */
	uint32_t copies() const noexcept { return static_cast<uint32_t>(tiles.size()) + std::popcount(nics); }
};

/** The outputs of a group of nodes, router by router. */
class ClosGroup
{
public:
	/**
	 * @param nodes members, each once. One with links to several routers gets a packet at the first that is in the
	 * tree
	 * @param cut places to which no link works: such a node gets it at another one, if it has one in the tree
	 * @throws std::invalid_argument if there is none, one comes twice, is not there, or is not below the root
	 */
	ClosGroup(const topology::Machine &machine, const ClosTree &tree, std::span<const uint32_t> nodes,
		  std::span<const topology::NodePlace> cut = {});

	const GroupWays &ways(uint32_t router) const noexcept { return ways_[router]; }

	/** A packet that has not turned yet goes on upwards, by TreePlace::up. */
	bool goes_up(uint32_t router) const noexcept { return !ways_[router].spans; }

private:
	std::vector<GroupWays> ways_;
};

} // namespace aries::routing

#endif
