/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gateway/mirror.hpp"

namespace aries
{

NodeNews Mirror::look(uint32_t node) const noexcept
{
	const NodeSlot &slot = core_.segment.node(node);

	for (;;) {
		const uint64_t member = slot.member.load();
		const NodeNews news = {node,
				       uint32_t(member),
				       uint32_t(member >> 32),
				       slot.generation.load(),
				       slot.online.load(),
				       core_.network.place(node)};

		if (slot.member.load() == member)
			return news;
	}
}

/* @another: a new incarnation for this host. Locks and receives of the one before are taken over. */
void Mirror::set_member(NodeSlot &slot, uint32_t state, bool another) noexcept
{
	const uint64_t before = slot.member.load();

	slot.member.store(((before >> 32) + another) << 32 | state);
}

void Mirror::begin(uint32_t node) noexcept
{
	NodeSlot &slot = core_.segment.node(node);
	const std::lock_guard guard(mutex_);

	slot.online.store(0);
	set_member(slot, uint32_t(slot.member.load()) == MEMBER_NEVER ? MEMBER_NEVER : MEMBER_LEFT, false);
	slot.carrier.store(core_.node + 1);
	for (CeSlot &ce : slot.ce)
		ce.ctl.store(0);
	for (auto &instance : slot.ce_instance)
		instance.store(0);
	core_.segment.mark_joined(node);
	seen_[node] = {.node = node, .state = MEMBER_NEVER};
}

void Mirror::show(const NodeNews &news) noexcept
{
	NodeSlot &slot = core_.segment.node(news.node);
	const std::lock_guard guard(mutex_);
	const NodeNews before = seen_[news.node];
	const bool another = before.state != MEMBER_ALIVE || before.incarnation != news.incarnation;

	seen_[news.node] = news;
	if (news.state != MEMBER_ALIVE) {
		slot.online.store(0);
		slot.generation.store(news.generation);
		set_member(slot, news.state == MEMBER_JOINING ? uint32_t(MEMBER_LEFT) : news.state, false);
		return;
	}
	/* A reader finds words of one incarnation, or reads again: NodeWatch::state(). */
	if (another)
		slot.online.store(0);
	core_.network.set_place(news.node, news.place);
	slot.lease_ns.store(now_ns());
	slot.pid.store(0);
	slot.generation.store(news.generation);
	set_member(slot, MEMBER_ALIVE, another);
	slot.online.store((news.online & ONLINE_ALL) == ONLINE_ALL ? ONLINE_ALL | ONLINE_CARRIED
								   : news.online & ONLINE_ALL);
}

void Mirror::lose(uint32_t node) noexcept
{
	NodeSlot &slot = core_.segment.node(node);
	const std::lock_guard guard(mutex_);

	if (seen_[node].state != MEMBER_ALIVE)
		return;
	seen_[node].state = MEMBER_DEAD;
	slot.online.store(0);
	set_member(slot, MEMBER_DEAD, false);
}

void Mirror::end(uint32_t node) noexcept
{
	NodeSlot &slot = core_.segment.node(node);
	const std::lock_guard guard(mutex_);

	slot.online.store(0);
	if (uint32_t(slot.member.load()) != MEMBER_NEVER)
		set_member(slot, MEMBER_LEFT, false);
	slot.carrier.store(0);
}

} // namespace aries
