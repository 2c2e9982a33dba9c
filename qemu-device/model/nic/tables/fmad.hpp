/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of one FMA descriptor, and the rights it gives. */
#ifndef ARIES_NIC_FMAD_HPP
#define ARIES_NIC_FMAD_HPP

#include <memory>

#include "fabric/seglock.hpp"
#include "nic/core/ecc.hpp"

namespace aries
{

struct HoldGroup;
struct HeldFma;

/**
 * One FMA descriptor. The lock is held for each operation, so a descriptor is
 * a queue of one, and taking it waits for the operation under way.
 */
struct alignas(64) Fmad {
	SpinLock lock;
	std::atomic<uint64_t> ctl{0}; /* FMAD_CTL; changes under lock */
	std::atomic<uint64_t> traps{0};
	std::atomic<uint8_t> last{0};  /* FMAD_STATUS.LAST */
	std::atomic<uint32_t> busy{0}; /* FMAD_STATUS.BUSY */
	std::atomic<uint32_t> held{0}; /* FMA operations on their way, where completions are held; in busy, too */

	std::atomic<uint32_t> block_epoch{0}; /* moves on when the descriptor's block transfers are flushed */

	/* under lock */
	uint32_t sequence = 0;
	bool window_open = false;              /* window stores or silent batches since the last CLOSE */
	uint8_t window_status = 0;             /* first failure among them */
	uint64_t launch_low = 0;               /* lower half of a launch entry whose upper half has not come yet */
	std::shared_ptr<HoldGroup> group = {}; /* see fma_hold.hpp */
	std::shared_ptr<HeldFma> awaited = {}; /* what FmaHold::await() is to wait for */
	CounterBlock counters;
};

/** Rights of an operation: the control word as it was when the work was taken. */
struct Rights {
	uint64_t ctl;
	uint32_t key;

	uint8_t ptag() const noexcept { return uint8_t(field(ctl, ARIES_FMAD_CTL_PTAG_MASK)); }
	uint16_t owner() const noexcept { return uint16_t(field(ctl, ARIES_FMAD_CTL_OWNER_MASK)); }
	bool kernel() const noexcept { return ctl & ARIES_FMAD_CTL_KERNEL_MASK; }

	/** Return: ARIES_ST_OK, ARIES_ST_LOCAL_PTAG if the tag has no key, or ARIES_ST_LOCAL_ECC. */
	uint8_t load(const Core &core, const NodeSlot &own, uint64_t fmad_ctl) noexcept
	{
		ctl = fmad_ctl;
		const uint64_t word = own.ptag_key[ptag()].load(std::memory_order_relaxed);

		key = uint32_t(field(word, ARIES_PTAG_KEY_KEY_MASK));
		return word & ARIES_PTAG_KEY_VALID_MASK ? uint8_t(ARIES_ST_OK) : look(core);
	}

private:
	/* The tag has no key, or one with wrong bits. */
	[[gnu::cold, gnu::noinline]] uint8_t look(const Core &core) noexcept
	{
		uint64_t word;

		if (ecc_look(core, core.node, ARIES_RAS_PTAG, ptag(), core.own().ptag_key[ptag()], PTAG_ECC, word) !=
		    ARIES_ST_OK)
			return ARIES_ST_LOCAL_ECC;
		key = uint32_t(field(word, ARIES_PTAG_KEY_KEY_MASK));
		return word & ARIES_PTAG_KEY_VALID_MASK ? ARIES_ST_OK : ARIES_ST_LOCAL_PTAG;
	}
};

/**
 * The queue @cq of its own node as a process with @owner may name it: its serial, which goes with each event that is
 * meant for it; 0 if it is none of its. The serial is read first: CqTable::configure() stores it before a new owner.
 */
inline uint32_t cq_claim(const NodeSlot &own, uint16_t cq, uint16_t owner) noexcept
{
	if (cq >= ARIES_CQ_ENTRIES)
		return 0;
	const uint32_t serial = cq_serial_of(own.cq[cq]);
	const uint64_t ctl = own.cq[cq].ctl.load(std::memory_order_relaxed);

	return (ctl & ARIES_CQ_CTL_VALID_MASK) && field(ctl, ARIES_CQ_CTL_OWNER_MASK) == owner ? serial : 0;
}

/**
 * The same for a caller that found none: it may be one with wrong bits.
 * Return: ARIES_ST_OK with its serial, ARIES_ST_CQ_OWNER, or ARIES_ST_LOCAL_ECC
 */
[[gnu::cold, gnu::noinline]] inline uint8_t cq_claim_again(const Core &core, uint16_t cq, uint16_t owner,
							   uint32_t &serial) noexcept
{
	if (cq >= ARIES_CQ_ENTRIES)
		return ARIES_ST_CQ_OWNER;
	std::atomic<uint64_t> &entry = core.own().cq[cq].ctl;
	uint64_t ctl = ecc_shown(entry.load(), CQ_ECC);

	/* Somebody else's is none of its business, whatever it is like. */
	if (field(ctl, ARIES_CQ_CTL_OWNER_MASK) != owner)
		return ARIES_ST_CQ_OWNER;
	if (ecc_look(core, core.node, ARIES_RAS_CQ, cq, entry, CQ_ECC, ctl) != ARIES_ST_OK)
		return ARIES_ST_LOCAL_ECC;
	serial = cq_claim(core.own(), cq, owner);
	return serial ? ARIES_ST_OK : ARIES_ST_CQ_OWNER;
}

} // namespace aries

#endif
