/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/target/visit.hpp"

#include "nic/tables/amo_cache.hpp"

namespace aries
{

/* The descriptor does not seem to be in use: ECC may know why. Return: ARIES_ST_ECC, or ARIES_ST_OK with what it is now
 */
uint8_t Visit::damage() noexcept
{
	return ecc_look(core_, node_, ARIES_RAS_MDD, mdh(), slot_.mdd[mdh()].ctl, MDD_ECC, mdd_.ctl);
}

/* It is not that of the packet: another one, none, or one with wrong bits. */
uint8_t Visit::look_at_key(uint32_t wanted) noexcept
{
	uint64_t key;

	if (ecc_look(core_, node_, ARIES_RAS_PTAG, mdd_.ptag(), slot_.ptag_key[mdd_.ptag()], PTAG_ECC, key) !=
	    ARIES_ST_OK)
		return ARIES_ST_ECC;
	return (key & ARIES_PTAG_KEY_VALID_MASK) && field(key, ARIES_PTAG_KEY_KEY_MASK) == wanted ? ARIES_ST_OK
												  : ARIES_ST_PTAG;
}

/* It is stopped, or has wrong bits. */
uint8_t Visit::look_at_queue() noexcept
{
	uint64_t ctl;

	if (ecc_look(core_, node_, ARIES_RAS_CQ, mdd_.cq(), slot_.cq[mdd_.cq()].ctl, CQ_ECC, ctl) != ARIES_ST_OK)
		return ARIES_ST_ECC;
	return ctl & ARIES_CQ_CTL_VALID_MASK ? ARIES_ST_OK : ARIES_ST_NO_CQ;
}

uint8_t Visit::admit(const Access &access) noexcept
{
	/* Looked at again inside the visit: who switches a NIC off waits for visits. */
	if (slot_.online.load(std::memory_order_acquire) != ONLINE_ALL)
		return ARIES_ST_TIMEOUT;
	mdd_ = mdd_load(slot_, access.mdh);
	if (access.mdh >= ARIES_MDD_ENTRIES) [[unlikely]] {
		const uint16_t mdh = access.mdh == DAMAGED_MDH
					     ? DAMAGED_MDH
					     : Vmdh(core_, node_, slot_).of_packet(access.mdh, access.key);

		if (mdh >= NO_MDH)
			return mdh == NO_MDH ? ARIES_ST_MDD : ARIES_ST_ECC;
		mdd_ = mdd_load(slot_, mdh);
	}
	if (!mdd_.valid()) {
		const uint8_t status = damage();

		if (status != ARIES_ST_OK || !mdd_.valid())
			return status != ARIES_ST_OK ? status : uint8_t(ARIES_ST_MDD);
	}
	const uint64_t key = slot_.ptag_key[mdd_.ptag()].load(std::memory_order_relaxed);

	if (!(key & ARIES_PTAG_KEY_VALID_MASK) || field(key, ARIES_PTAG_KEY_KEY_MASK) != access.key) [[unlikely]] {
		const uint8_t status = look_at_key(access.key);

		if (status != ARIES_ST_OK)
			return status;
	}
	if (!mdd_.contains(access.offset, access.bytes))
		return ARIES_ST_BOUNDS;
	if (access.write && mdd_.read_only())
		return ARIES_ST_ACCESS;
	if (access.remote_event) {
		const CqSlot &cq = slot_.cq[mdd_.cq()];

		if (!mdd_.has_cq() || cq_serial_of(cq) != slot_.mdd[mdh()].cq_serial.load())
			return ARIES_ST_NO_CQ;
		if (!(cq.ctl.load(std::memory_order_relaxed) & ARIES_CQ_CTL_VALID_MASK)) {
			const uint8_t status = look_at_queue();

			if (status != ARIES_ST_OK)
				return status;
		}
	}
	ram_ = core_.maps.of(node_);
	return ram_ ? ARIES_ST_OK : ARIES_ST_TIMEOUT;
}

uint8_t Visit::admit_local(uint16_t mdh, uint8_t ptag, uint64_t offset, uint64_t bytes, bool write) noexcept
{
	if ((slot_.online.load(std::memory_order_acquire) & ONLINE_ALL) != ONLINE_ALL)
		return ARIES_ST_DISABLED;
	mdh = Vmdh(core_, node_, slot_).of_process(mdh, ptag);
	if (mdh >= NO_MDH) [[unlikely]]
		return mdh == NO_MDH ? ARIES_ST_LOCAL_MDD : ARIES_ST_LOCAL_ECC;
	mdd_ = mdd_load(slot_, mdh);
	if (!mdd_.valid()) {
		if (damage() != ARIES_ST_OK)
			return ARIES_ST_LOCAL_ECC;
		if (!mdd_.valid())
			return ARIES_ST_LOCAL_MDD;
	}
	if (mdd_.ptag() != ptag)
		return ARIES_ST_LOCAL_PTAG;
	if (!mdd_.contains(offset, bytes))
		return ARIES_ST_LOCAL_BOUNDS;
	if (write && mdd_.read_only())
		return ARIES_ST_LOCAL_ACCESS;
	ram_ = core_.maps.own();
	return ram_ ? ARIES_ST_OK : ARIES_ST_LOCAL_TRANSLATION;
}

uint8_t Visit::settle(const Run *run, size_t count, bool write) noexcept
{
	return AmoCache(core_, node_).settle(run, count, write, *ram_, core_.members);
}

} // namespace aries
