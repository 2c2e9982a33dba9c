/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wrong bits in the memories of this NIC, and what becomes of those that nothing puts right. */
#include "nic/nic.hpp"
#include "nic/tables/amo_cache.hpp"

namespace aries
{

/* False: there is no such entry, or nothing is in it. */
bool Nic::hit(aries_ras_memory memory, uint32_t index, bool twice) noexcept
{
	NodeSlot &own = core_.own();

	switch (memory) {
	case ARIES_RAS_NTT:
		return ntt_.hit(index, twice);
	case ARIES_RAS_MDD:
		return ecc_hit(own.mdd[index].ctl, MDD_ECC, twice);
	case ARIES_RAS_FMAD:
		return ecc_hit(fmads_[index].ctl, FMAD_ECC, twice);
	case ARIES_RAS_PTE:
		return PteCache(own.pte_cache).hit(index, twice);
	case ARIES_RAS_AMO:
		return AmoCache(core_, core_.node).hit(index, twice, members_);
	case ARIES_RAS_ORB: /* a request has its entry for as long as modelled time has it: the next one gets it */
		faults_.hit_orb(index, twice);
		return true;
	case ARIES_RAS_CQ:
		return ecc_hit(own.cq[index].ctl, CQ_ECC, twice);
	case ARIES_RAS_CE:
		return ce_hit(own.ce[index / ARIES_CE_CHILDREN], index % ARIES_CE_CHILDREN, twice);
	case ARIES_RAS_BTE:
		return bte_.hit(index, twice);
	case ARIES_RAS_VMDH:
		return ecc_hit(own.vmdh[index], VMDH_ECC, twice);
	case ARIES_RAS_PTAG:
		return ecc_hit(own.ptag_key[index], PTAG_ECC, twice);
	case ARIES_RAS_RMT:
		return rmt_hit(own.rmt[index], twice);
	case ARIES_RAS_MEMORY_COUNT:
		break;
	}
	return false;
}

/*
 * The lower half of the value is the entry, the upper one an aries_ras_memory. False if this is no such fault.
 */
bool Nic::set_ecc(std::string_view name, uint64_t value)
{
	const bool twice = name == "ecc-double";
	const uint32_t memory = uint32_t(value >> 32), index = uint32_t(value);

	if (!twice && name != "ecc-single")
		return false;
	if (memory >= ARIES_RAS_MEMORY_COUNT || index >= ECC_ENTRIES[memory] ||
	    !hit(aries_ras_memory(memory), index, twice))
		throw Error("entry " + std::to_string(index) + " of memory " + std::to_string(memory) +
			    " is not there, or not in use");
	ecc_[twice].store(value);
	return true;
}

/* What has stopped this NIC is for its host to signal, once until a reset; whoever found it. */
void Nic::signal() noexcept
{
	std::atomic<uint32_t> &word = core_.own().ecc_stopped;
	uint32_t stopped = word.load();

	while (stopped && !(stopped & ECC_SIGNALLED)) {
		if (!word.compare_exchange_weak(stopped, stopped | ECC_SIGNALLED))
			continue;
		host_.uncorrectable();
		return;
	}
}

} // namespace aries
