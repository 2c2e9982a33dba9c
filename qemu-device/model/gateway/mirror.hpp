/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Nodes of other hosts in the segment of this one. */
#ifndef ARIES_GATEWAY_MIRROR_HPP
#define ARIES_GATEWAY_MIRROR_HPP

#include <mutex>
#include <vector>

#include "gateway/messages.hpp"
#include "nic/core/core.hpp"

namespace aries
{

/**
 * Writes the slots of nodes that live on other hosts, so that drivers here see those nodes come and go like any other
 * node. The carrier holds the locks of these addresses, so all of these nodes count as dead when the carrier dies.
 */
class Mirror
{
public:
	explicit Mirror(Core &core) : core_(core), seen_(core.segment.nodes()) {}

	/** News of our own nodes, for the other hosts. */
	NodeNews look(uint32_t node) const noexcept;
	/** Stores @news of a node that we carry. Any thread. */
	void show(const NodeNews &news) noexcept;
	/** The node's host cannot be reached: marks the node as dead. */
	void lose(uint32_t node) noexcept;
	/** Takes over the slot of an address; nothing is known of its node yet. */
	void begin(uint32_t node) noexcept;
	/** Marks all carried nodes as having left. */
	void end(uint32_t node) noexcept;
	/** Renews the leases of the carrier and of nodes whose hosts can be reached. */
	void renew(uint32_t node, uint64_t now) noexcept { core_.segment.node(node).lease_ns.store(now); }

private:
	void set_member(NodeSlot &slot, uint32_t state, bool another) noexcept;

	Core &core_;
	std::mutex mutex_;
	std::vector<NodeNews> seen_; /* state MEMBER_DEAD or _NEVER: the next incarnation is a new one */
};

} // namespace aries

#endif
