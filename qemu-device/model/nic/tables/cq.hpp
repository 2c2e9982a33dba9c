/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Completion queues: entries, overrun, interrupts. */
#ifndef ARIES_NIC_CQ_HPP
#define ARIES_NIC_CQ_HPP

#include "nic/core/core.hpp"
#include "nic/core/drain.hpp"
#include "nic/core/ecc.hpp"

namespace aries
{

/** Builds an entry as aries_hw.h lays it out. */
struct CqEntry {
	uint32_t data;
	uint16_t tid;
	uint8_t status;
	uint8_t info;   /* ARIES_INFO_* */
	uint8_t source; /* enum aries_cqe_source */
	uint8_t type;   /* 2 bits from the mode */
	bool remote_overrun;

	uint64_t word() const noexcept
	{
		return data | prep(ARIES_CQE_TID_MASK, tid) | prep(ARIES_CQE_STATUS_MASK, status) |
		       prep(ARIES_CQE_INFO_MASK, info) | prep(ARIES_CQE_SOURCE_MASK, source) |
		       prep(ARIES_CQE_TYPE_MASK, type) | (remote_overrun ? ARIES_CQE_REM_OVERRUN : 0);
	}
};

/** OVERRUN: in place of the event there is, or will be, an overrun mark. GONE: no such queue any more. */
enum class CqResult { POSTED, OVERRUN, GONE };

/**
 * Writes an entry into queue @cq of @node, whose memory is @ram. For another
 * node the caller holds a FlightGuard on it. Wait-bounded; no allocation.
 * While a member that is stopped has the queue's lock the event is owed: who
 * has the lock next, or the owner's sweep(), makes an overrun mark of it.
 * @serial: cq_serial_of() the queue that was checked; the event comes to no other of that number
 */
CqResult cq_post(Core &core, uint32_t node, const RamMap *ram, uint32_t cq, uint64_t entry, uint32_t serial) noexcept;

/** Local and global event of an operation of this node, those that @events asks for. */
inline void cq_tell(Core &core, uint32_t cq, uint16_t events, CqEntry entry, uint32_t serial) noexcept
{
	if (events & ARIES_EV_LOCAL)
		cq_post(core, core.node, nullptr, cq, entry.word(), serial);
	if (events & ARIES_EV_GLOBAL) {
		entry.info = ARIES_INFO_GLOBAL;
		cq_post(core, core.node, nullptr, cq, entry.word(), serial);
	}
}

/** An event that cannot be posted, and perhaps was: an overrun mark comes in its place, as in cq_post(). */
bool cq_owe(NodeSlot &slot, uint32_t cq, uint32_t serial) noexcept;

enum class CqFound { YES, NO, UNKNOWN };

/**
 * Looks for an entry among those that were written when CqSlot::produced was @since or greater, after what a writer
 * that died has left behind was put right. Otherwise as cq_post().
 * @entry: 0 for none
 * @produced: gets the count now
 * Return: UNKNOWN if some of them have been read, or the queue cannot be looked at
 */
CqFound cq_find(Core &core, uint32_t node, const RamMap *ram, uint32_t cq, uint64_t since, uint64_t entry,
		uint64_t &produced) noexcept;

/** The owner's control of its queues. One caller at a time (the NIC's control mutex). */
class CqTable
{
public:
	CqTable(Core &core, Drain &drain) noexcept : core_(core), drain_(drain) {}

	/**
	 * Takes over base and control word; false, without effect, if they make no sense, or the queue's last drain is
	 * not done. VALID = 0 stops the queue and begins a drain.
	 */
	bool configure(uint32_t cq, uint64_t base, uint64_t ctl) noexcept;
	void arm(uint32_t cq) noexcept;
	void disarm(uint32_t cq) noexcept { core_.own().cq[cq].armed.store(0); }
	/** Waits until no thread of ours writes into our queues with an old RamMap. Those of others are in visits. */
	void wait_for_own_threads() const noexcept;
	/** Locks of members that are gone are taken over. */
	void bury() noexcept;
	/** From time to time: marks for what is owed, and interrupts that writers which died or stopped have not
	 * raised. */
	void sweep() noexcept;
	/** Stops all queues; the caller begins the drain, and calls clear() at its end. */
	void stop_all() noexcept;
	void clear() noexcept;

	/** Element of CQI_ARMED: queues that owe an interrupt. */
	uint64_t armed(uint32_t element) const noexcept;
	uint64_t pending(uint32_t element) const noexcept { return core_.own().cqi_pending[element].load(); }
	void acknowledge(uint32_t element, uint64_t bits) noexcept
	{
		core_.own().cqi_pending[element].fetch_and(~bits);
	}
	uint32_t summary() const noexcept;
	/** Events written and lost, over all queues since the reset. */
	uint64_t total_events() const noexcept;
	uint64_t total_lost() const noexcept;

private:
	bool start(uint32_t index, uint64_t base, uint64_t ctl) noexcept;
	void stop(CqSlot &cq, uint64_t ctl) noexcept;
	void wait_for_own_threads(const CqSlot &cq) const noexcept;

	Core &core_;
	Drain &drain_;
	Leaving<ARIES_CQ_ENTRIES> leaving_;
	uint32_t arms_ = 0;
};

} // namespace aries

#endif
