/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of accesses to our memory that began before something was revoked. */
#ifndef ARIES_NIC_DRAIN_HPP
#define ARIES_NIC_DRAIN_HPP

#include <array>

#include "nic/core/core.hpp"

namespace aries
{

/**
 * Whatever a peer may touch ends the same way: it is revoked by a plain store,
 * begin() gives a ticket, and when done() has reached the ticket nobody is left
 * who saw it valid. Only then its memory is anybody else's.
 *
 * One epoch drains at a time. What was revoked meanwhile waits for the next
 * one, which covers all of it: so a drain waits for visits of one phase only,
 * into which nobody comes any more, and ends under any traffic. It does not
 * end while a peer is stopped inside. Only the kernel's lock tells that a peer
 * is dead.
 *
 * One caller at a time (the NIC's control mutex).
 */
class Drain
{
public:
	explicit Drain(Core &core) noexcept : core_(core) {}

	/** Everything was revoked that the ticket stands for. */
	uint64_t begin() noexcept;
	/** Whether the visits of the epoch that drains have ended; finish() is due then. */
	bool visits_ended() noexcept;
	/** Ticket that is done when the epoch that drains is. */
	uint64_t covers() const noexcept { return covers_; }
	/** What ends with the visits has been put in order. */
	void finish() noexcept;

	uint64_t asked() const noexcept { return asked_; }
	uint64_t done() const noexcept { return done_; }
	bool idle() const noexcept { return done_ == asked_; }

	/** True once for each epoch that has not ended for a second; @who gets the members that keep it. */
	bool overdue(uint64_t now, char *who, size_t len) noexcept;

private:
	void advance() noexcept;

	Core &core_;
	uint64_t asked_ = 0;
	uint64_t covers_ = 0;
	uint64_t done_ = 0;
	uint64_t since_ns_ = 0;
	unsigned int phase_ = 0;
	bool told_ = false;
};

/** The tickets of objects of one kind: a number is not to be used again before its ticket is done. */
template <size_t N> class Leaving
{
public:
	void leave(uint32_t index, uint64_t ticket) noexcept { ticket_[index] = ticket; }
	bool gone(uint32_t index, const Drain &drain) const noexcept { return ticket_[index] <= drain.done(); }
	/** Whether the object ends with the epoch that drains. */
	bool ends(uint32_t index, const Drain &drain) const noexcept
	{
		return ticket_[index] > drain.done() && ticket_[index] <= drain.covers();
	}

private:
	std::array<uint64_t, N> ticket_{};
};

} // namespace aries

#endif
