/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Leases: which nodes are members of the fabric, and which have died. */
#ifndef ARIES_FABRIC_MEMBERSHIP_HPP
#define ARIES_FABRIC_MEMBERSHIP_HPP

#include <memory>

#include "fabric/segment.hpp"

namespace aries
{

/** Bit of a lock word: a member has waited long for this holder. */
inline constexpr uint32_t LOCK_SLOW = 1u << 15;

static_assert(MEMBERS_MAX + 1 < LOCK_SLOW);

enum class Presence { ALIVE, DEAD, ABSENT };

/**
 * A member renews its lease from the host's tick. If a peer's lease has run out,
 * the peer's file lock is checked: without the lock the peer is declared dead.
 * A member that is merely stopped keeps its lock and stays alive.
 */
class Membership
{
public:
	Membership(Segment &segment, uint32_t node, uint32_t lease_ms);
	Membership(const Membership &) = delete;
	Membership &operator=(const Membership &) = delete;

	/** Takes the slot over from its former owner; the contents of its blocks are still the former owner's
	 * (blocks_revoke()). */
	void join();
	/** Peers can find this member afterwards. */
	void activate() noexcept;
	/** Waits for accesses to the predecessor's memory; throws Error if they do not end. */
	void evict_visitors();
	void leave() noexcept;
	void heartbeat(uint64_t now) noexcept;

	uint32_t node() const noexcept { return node_; }
	uint64_t lease_ns() const noexcept { return lease_ns_; }

	/** Cheap while the peer's lease runs; any thread. @now is the caller's now_ns(). */
	Presence presence(uint32_t node, uint64_t now) noexcept
	{
		const NodeSlot &slot = segment_.node(node);
		const uint64_t member = slot.member.load(std::memory_order_acquire);

		if (uint32_t(member) == MEMBER_ALIVE) {
			const uint64_t lease = slot.lease_ns.load(std::memory_order_relaxed);

			if (node == node_ || now < lease + lease_ns_)
				return Presence::ALIVE;
			return examine(node, now);
		}
		return uint32_t(member) == MEMBER_DEAD ? Presence::DEAD : Presence::ABSENT;
	}

	/** A lock word of no member: it is never alive. */
	static constexpr uint32_t NOBODY = LOCK_SLOW - 1;
	/** Word that names this member as the holder of a lock in the segment; never 0, and without LOCK_SLOW. */
	uint32_t lock_word() const noexcept { return lock_word_; }
	/** Node of the member that a lock word names. */
	static uint32_t node_of(uint32_t word) noexcept { return (word & (LOCK_SLOW - 1)) - 1; }
	/** Whether a thread of this process is the holder. */
	bool is_own(uint32_t word) const noexcept { return (word & ~LOCK_SLOW) == lock_word_; }
	/** Whether the member that a lock word names still lives; @ask: check its file lock even if the lease runs. */
	bool holder_alive(uint32_t word, bool ask = false) noexcept;

	/**
	 * Whether accesses of peers to this member's memory that began in @phase
	 * still run. Accesses of dead members do not count.
	 */
	bool in_flight(unsigned int phase) noexcept;
	/** Names these peers in @text: "node 3 (pid 1234), node 7 (pid 1240)". Returns their number. */
	unsigned int visitors(unsigned int phase, char *text, size_t len) noexcept;
	struct Losses {
		unsigned int died = 0; /* peers that this call found dead */
		bool gone = false; /* some peers died or left since the last call, even if another member found out */
	};
	/** Checks all peers; logs nothing. */
	Losses sweep(uint64_t now) noexcept;

private:
	Presence examine(uint32_t node, uint64_t now) noexcept;
	bool visits(uint32_t node, unsigned int phase) noexcept;
	void wait_for_visitors(unsigned int phase, uint64_t deadline);
	bool newly_gone(uint32_t node) noexcept;

	Segment &segment_;
	const uint32_t node_;
	const uint64_t lease_ns_;
	uint32_t lock_word_ = 0;
	std::unique_ptr<std::atomic<uint64_t>[]> next_check_;
	std::unique_ptr<uint32_t[]> gone_; /* number of incarnations of each node that were gone at the last sweep() */
};

} // namespace aries

#endif
