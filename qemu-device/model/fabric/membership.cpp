/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/membership.hpp"
#include "fabric/flight.hpp"

#include <cstdio>
#include <cstring>
#include <utility>

#include <sched.h>
#include <unistd.h>

namespace aries
{

namespace
{

constexpr uint64_t CHECK_INTERVAL_NS = 20'000'000; /* between two checks of a silent peer's lock */
constexpr uint64_t DRAIN_NS = 2'000'000'000;       /* for peers that still access the predecessor's memory */

constexpr uint64_t member_word(uint32_t incarnation, MemberState state)
{
	return uint64_t(incarnation) << 32 | state;
}

} // namespace

Membership::Membership(Segment &segment, uint32_t node, uint32_t lease_ms)
	: segment_(segment), node_(node), lease_ns_(uint64_t(lease_ms) * 1'000'000),
	  next_check_(std::make_unique<std::atomic<uint64_t>[]>(segment.nodes())),
	  gone_(std::make_unique<uint32_t[]>(segment.nodes()))
{
}

void Membership::join()
{
	NodeSlot &slot = segment_.node(node_);
	const uint32_t incarnation = uint32_t(slot.member.load() >> 32) + 1;

	segment_.mark_joined();
	slot.member.store(member_word(incarnation, MEMBER_JOINING));
	lock_word_ = (node_ + 1) | (incarnation << 16);
	slot.carrier.store(0);
	slot.online.store(0);
	slot.pid.store(uint32_t(getpid()));

	/* Accesses of the predecessor at other nodes ended with its process. */
	for (uint32_t n = 0; n < segment_.nodes(); n++) {
		for (Flight &flight : segment_.flights(n, node_)) {
			flight.inflight[0].store(0);
			flight.inflight[1].store(0);
		}
	}
}

/*
 * It is not known in which phase accesses to the predecessor's memory began, so both phases are drained, one after the
 * other. The predecessor's memory is not this member's, but its tables in the slot are.
 */
void Membership::evict_visitors()
{
	const uint64_t deadline = now_ns() + DRAIN_NS;

	for (unsigned int i = 0; i < 2; i++)
		wait_for_visitors(segment_.node(node_).epoch.fetch_add(1) & 1, deadline);
}

void Membership::activate() noexcept
{
	NodeSlot &slot = segment_.node(node_);

	slot.lease_ns.store(now_ns());
	slot.member.store(member_word(uint32_t(slot.member.load() >> 32), MEMBER_ALIVE));
}

void Membership::leave() noexcept
{
	NodeSlot &slot = segment_.node(node_);

	slot.online.store(0);
	slot.member.store(member_word(uint32_t(slot.member.load() >> 32), MEMBER_LEFT));
}

void Membership::heartbeat(uint64_t now) noexcept
{
	segment_.node(node_).lease_ns.store(now, std::memory_order_relaxed);
}

/* The lease of @node has run out: checks the lock in the kernel, but not too often. */
Presence Membership::examine(uint32_t node, uint64_t now) noexcept
{
	NodeSlot &slot = segment_.node(node);
	uint64_t member = slot.member.load();
	uint64_t due = next_check_[node].load(std::memory_order_relaxed);

	if (uint32_t(member) != MEMBER_ALIVE)
		return uint32_t(member) == MEMBER_DEAD ? Presence::DEAD : Presence::ABSENT;
	if (now < due || !next_check_[node].compare_exchange_strong(due, now + CHECK_INTERVAL_NS))
		return Presence::ALIVE;
	if (segment_.member_locked(node))
		return Presence::ALIVE;
	/* The word contains the incarnation, so a successor is not declared dead. */
	slot.member.compare_exchange_strong(member, member_word(uint32_t(member >> 32), MEMBER_DEAD));
	return uint32_t(slot.member.load()) == MEMBER_ALIVE ? Presence::ALIVE : Presence::DEAD;
}

bool Membership::holder_alive(uint32_t word, bool ask) noexcept
{
	const uint32_t node = node_of(word);

	if (!word || node >= segment_.nodes())
		return false;
	const uint64_t member = segment_.node(node).member.load();

	if (uint16_t(member >> 32) != uint16_t(word >> 16))
		return false;
	return presence(node, now_ns()) == Presence::ALIVE && (!ask || segment_.member_locked(node));
}

bool Membership::visits(uint32_t node, unsigned int phase) noexcept
{
	return aries::in_flight(segment_, node_, node, phase) &&
	       (node == node_ || presence(node, now_ns()) == Presence::ALIVE);
}

bool Membership::in_flight(unsigned int phase) noexcept
{
	for (uint32_t n = 0; n < segment_.nodes(); n++) {
		if (visits(n, phase))
			return true;
	}
	return false;
}

unsigned int Membership::visitors(unsigned int phase, char *text, size_t len) noexcept
{
	unsigned int count = 0;

	*text = 0;
	for (uint32_t n = 0; n < segment_.nodes(); n++) {
		if (!visits(n, phase))
			continue;
		const size_t used = strlen(text);

		snprintf(text + used, len - used, "%snode %u (pid %u)", count ? ", " : "", n,
			 segment_.node(n).pid.load());
		count++;
	}
	return count;
}

/* A peer that is stopped inside would continue later, and by then the tables are this member's. */
void Membership::wait_for_visitors(unsigned int phase, uint64_t deadline)
{
	char who[128];

	while (visitors(phase, who, sizeof(who))) {
		if (now_ns() > deadline)
			throw Error("fabric " + segment_.path() + ": node address " + std::to_string(node_) +
				    " is not free yet: an access of " + who +
				    " to its former owner has not ended; let it go on (kill -CONT) or kill it");
		usleep(1000);
	}
}

/* Also counts a member that joined and died between two calls, or was replaced by another one. */
bool Membership::newly_gone(uint32_t node) noexcept
{
	const uint64_t word = segment_.node(node).member.load();
	const bool there = uint32_t(word) == MEMBER_ALIVE || uint32_t(word) == MEMBER_JOINING;
	const uint32_t gone = uint32_t(word >> 32) - there;

	return std::exchange(gone_[node], gone) != gone;
}

Membership::Losses Membership::sweep(uint64_t now) noexcept
{
	Losses losses;

	segment_.for_each_joined([&](uint32_t n) {
		const bool was_alive = uint32_t(segment_.node(n).member.load()) == MEMBER_ALIVE;

		if (was_alive && presence(n, now) == Presence::DEAD)
			losses.died++;
		losses.gone |= newly_gone(n);
	});
	return losses;
}

} // namespace aries
