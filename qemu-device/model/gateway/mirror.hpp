/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/* Nodes of other hosts in the segment of this one. */
#ifndef ARIES_GATEWAY_MIRROR_HPP
#define ARIES_GATEWAY_MIRROR_HPP

#include <mutex>
#include <vector>

#include "gateway/messages.hpp"
#include "nic/core.hpp"

namespace aries
{

/**
 * The slots of nodes that live elsewhere, written by their carrier: drivers here see those nodes come and go as they
 * see any other. The lock of such an address is the carrier's, so all of them are gone when it is.
 */
class Mirror
{
public:
	explicit Mirror(Core &core) : core_(core), seen_(core.segment.nodes()) {}

	/** Our own nodes, for the others. */
	NodeNews look(uint32_t node) const noexcept;
	/** @news of a node that we carry. Any thread. */
	void show(const NodeNews &news) noexcept;
	/** Its host is away: it is dead as far as anybody here can tell. */
	void lose(uint32_t node) noexcept;
	/** The address is ours to look after from now on; nothing is known of the node. */
	void begin(uint32_t node) noexcept;
	/** All of them have left. */
	void end(uint32_t node) noexcept;
	/** We are alive, so are those whose hosts are there. */
	void renew(uint32_t node, uint64_t now) noexcept { core_.segment.node(node).lease_ns.store(now); }

private:
	void set_member(NodeSlot &slot, uint32_t state, bool another) noexcept;

	Core &core_;
	std::mutex mutex_;
	std::vector<NodeNews> seen_; /* state MEMBER_DEAD or _NEVER: the next life is another one */
};

} // namespace aries

#endif
