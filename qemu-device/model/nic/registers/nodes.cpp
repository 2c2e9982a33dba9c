/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/registers/nodes.hpp"

#include <algorithm>
#include <utility>

namespace aries
{

namespace
{

uint32_t node_state(uint64_t member, uint32_t online) noexcept
{
	switch (uint32_t(member)) {
	case MEMBER_NEVER:
		return ARIES_NODE_NEVER;
	case MEMBER_ALIVE:
		return (online & ONLINE_ALL) == ONLINE_ALL ? ARIES_NODE_UP : ARIES_NODE_OFF;
	case MEMBER_DEAD:
		return ARIES_NODE_DEAD;
	case MEMBER_LEFT:
		return ARIES_NODE_LEFT;
	default:
		return ARIES_NODE_OFF; /* it is just coming */
	}
}

} // namespace

/* What is read together belongs to one owner of the address, and to one of its generations. */
uint64_t NodeWatch::state(uint32_t node) const noexcept
{
	if (node >= core_.segment.nodes())
		return 0;
	const NodeSlot &slot = core_.segment.node(node);

	for (;;) {
		const uint64_t member = slot.member.load();
		const uint32_t generation = slot.generation.load();
		const uint32_t online = slot.online.load();

		if (slot.member.load() == member && slot.generation.load() == generation)
			return prep(ARIES_NODE_STATE_STATE_MASK, node_state(member, online)) |
			       prep(ARIES_NODE_STATE_LIFE_MASK, generation);
	}
}

bool NodeWatch::set_control(uint32_t value) noexcept
{
	if (field(value, ARIES_NODE_CTL_VECTOR_MASK) >= ARIES_MSIX_VECTORS)
		return false;
	ctl_ = value;
	ask();
	return true;
}

/* A level: an interrupt that was lost, or that nobody has looked at, comes again with the next sweep. */
void NodeWatch::ask() const noexcept
{
	const bool any = std::any_of(changed_.begin(), changed_.end(), [](uint64_t nodes) { return nodes != 0; });

	if (any && (ctl_ & ARIES_NODE_CTL_ENABLE_MASK))
		core_.request_irq(core_.node, 1u << field(ctl_, ARIES_NODE_CTL_VECTOR_MASK));
}

void NodeWatch::sweep() noexcept
{
	core_.segment.for_each_joined([this](uint32_t n) {
		const uint64_t now = state(n);

		if (std::exchange(seen_[n], now) != now)
			changed_[n / 64] |= uint64_t(1) << (n % 64);
	});
	ask();
}

void NodeWatch::reset() noexcept
{
	seen_.fill(0);
	changed_.fill(0);
	ctl_ = 0;
}

} // namespace aries
