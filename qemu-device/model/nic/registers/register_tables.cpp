/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The register blocks that are tables: PTAG, FMAD, CQ, NTT, CE, RMT, TMR, NODE, MDD. */
#include "nic/registers/registers.hpp"
#include "nic/tables/vmdh.hpp"

namespace aries
{

uint64_t RegisterFile::read_table(Reg reg, uint32_t index) noexcept
{
	const NodeSlot &own = core_.own();

	switch (reg) {
	case Reg::PTAG_KEY:
		return ecc_shown(own.ptag_key[index].load(), PTAG_ECC);
	case Reg::PTAG_BTE:
		return bte_.limit(index);
	case Reg::FMAD_CTL:
		return ecc_shown(fmads_[index].ctl.load(), FMAD_ECC);
	case Reg::FMAD_TRAPS:
		return fmads_[index].traps.load();
	case Reg::FMAD_STATUS:
		return prep(ARIES_FMAD_STATUS_BUSY_MASK, fmads_[index].busy.load() + poll_.busy(index)) |
		       prep(ARIES_FMAD_STATUS_LAST_MASK, fmads_[index].last.load());
	case Reg::FMAD_STATE:
	case Reg::FMAD_LAUNCH:
		return read_fmad_state(reg, fmads_[index]);
	case Reg::CQ_BASE:
		return cq_base_[index];
	case Reg::CQ_CTL:
		return ecc_shown(own.cq[index].ctl.load(), CQ_ECC);
	case Reg::CQ_PRODUCED:
		return own.cq[index].produced.load();
	case Reg::CQ_DROPPED:
		return own.cq[index].dropped.load();
	case Reg::NTT_ENTRY:
		return ntt_.get(index);
	case Reg::VMDH_CTL:
		return ecc_shown(own.vmdh[index].load(), VMDH_ECC);
	case Reg::NTT_REPLACE:
		return ntt_.get_replacement(index);
	case Reg::NTT_CONFIG:
		return ntt_.granularity();
	case Reg::BI_LIMIT:
		return traffic_.injection_limit();
	case Reg::CE_CTL:
		return own.ce[index].ctl.load();
	case Reg::CE_PARENT:
		return ces_.read_parent(index);
	case Reg::CE_STATUS:
		return ces_.status(index);
	case Reg::CE_CHILD:
		return ces_.read_child(index);
	case Reg::RMT_CTL:
		return receives_.control(index);
	case Reg::RMT_OFFSET:
		return receives_.offset(index);
	case Reg::RMT_LENGTH:
		return receives_.length(index);
	case Reg::RMT_EVENT:
		return receives_.event(index);
	case Reg::RMT_STATUS:
		return receives_.status(index);
	case Reg::TMR_CTL:
		return timer_.control(index);
	case Reg::TMR_PERIOD:
		return timer_.period(index);
	case Reg::TMR_COMPARE:
		return timer_.compare(index);
	case Reg::TMR_FIRED:
		return timer_.fired(index);
	case Reg::TMR_PENDING:
		return timer_.pending();
	case Reg::CLK_RATE:
		return reg_row(reg).reset;
	case Reg::CE_INST:
		return ces_.read_instance(index);
	case Reg::RAS_CORRECTED:
		return own.ecc[index].corrected.load();
	case Reg::RAS_DAMAGED:
		return own.ecc[index].damaged.load();
	case Reg::RAS_FIRST:
		return own.ecc[index].first.load();
	case Reg::RAS_FIRST_TIME:
		return own.ecc[index].first_at.load();
	case Reg::RAS_THRESHOLD:
		return own.ecc[index].threshold.load();
	case Reg::RAS_LIMIT:
		return own.ecc[index].limit.load();
	case Reg::RAS_SIGNAL:
		return own.ecc_signal.load();
	case Reg::RAS_STOPPED:
		return own.ecc_stopped.load() & ~ECC_SIGNALLED;
	case Reg::NODE_STATE:
		return nodes_.state(index);
	case Reg::NODE_CHANGED:
		return nodes_.changed(index);
	case Reg::NODE_CTL:
		return nodes_.control();
	case Reg::QSC_STATUS:
		return quiesces_.begun() ? ARIES_QSC_STATUS_BEGUN_MASK : 0;
	case Reg::QSC_CTL:
		return quiesces_.control();
	case Reg::QSC_COUNT:
		return quiesces_.count();
	case Reg::QSC_LEFT:
		return quiesces_.left_ns();
	case Reg::QSC_LENGTH:
		return quiesces_.length_ns();
	case Reg::MDD_BASE:
		return stage_[index].base;
	case Reg::MDD_LENGTH:
		return stage_[index].length;
	case Reg::MDD_TABLE:
		return stage_[index].table;
	case Reg::MDD_CTL:
		return ecc_shown(own.mdd[index].ctl.load(), MDD_ECC);
	default:
		return 0;
	}
}

bool RegisterFile::write_table(Reg reg, uint32_t index, uint64_t value) noexcept
{
	switch (reg) {
	case Reg::PTAG_KEY:
		if ((index == 0 || index == ARIES_PTAG_ENTRIES - 1) && (value & ARIES_PTAG_KEY_VALID_MASK))
			return false;
		core_.own().ptag_key[index].store(value);
		return true;
	case Reg::PTAG_BTE:
		bte_.limit(index, uint32_t(value));
		return true;
	case Reg::FMAD_CTL:
		return write_fmad(index, value);
	case Reg::FMAD_STATE:
	case Reg::FMAD_LAUNCH:
		write_fmad_state(reg, fmads_[index], value);
		return true;
	case Reg::CQ_BASE:
		cq_base_[index] = value;
		return true;
	case Reg::CQ_CTL:
		core_.host.trace("cq_control", index, value);
		return cqs_.configure(index, cq_base_[index], value);
	case Reg::NTT_ENTRY:
		ntt_.set(index, uint32_t(value));
		return true;
	case Reg::VMDH_CTL:
		return write_vmdh(index, value);
	case Reg::NTT_REPLACE:
		ntt_.set_replacement(index, uint32_t(value));
		return true;
	case Reg::NTT_CONFIG:
		ntt_.set_granularity(uint32_t(value));
		return true;
	case Reg::BI_LIMIT:
		traffic_.limit_injection(uint32_t(value));
		return true;
	case Reg::CE_CTL:
		return ces_.configure(index, value);
	case Reg::CE_PARENT:
		return ces_.set_parent(index, value);
	case Reg::CE_CHILD:
		return ces_.set_child(index, value);
	case Reg::RMT_CTL:
		return receives_.configure(index, value);
	case Reg::RMT_OFFSET:
		receives_.set_offset(index, value);
		return true;
	case Reg::RMT_LENGTH:
		receives_.set_length(index, uint32_t(value));
		return true;
	case Reg::RMT_EVENT:
		receives_.set_event(index, uint32_t(value));
		return true;
	case Reg::TMR_CTL:
		return timer_.set_control(index, uint32_t(value));
	case Reg::TMR_PERIOD:
		timer_.set_period(index, value);
		return true;
	case Reg::TMR_COMPARE:
		timer_.set_compare(index, value);
		return true;
	case Reg::TMR_PENDING:
		timer_.acknowledge(uint32_t(value));
		return true;
	case Reg::CE_INST:
		ces_.set_instance(index, value);
		return true;
	case Reg::RAS_FIRST:
		if (value & ARIES_RAS_FIRST_VALID_MASK) {
			core_.own().ecc[index].first_at.store(0);
			core_.own().ecc[index].first.store(0);
		}
		return true;
	case Reg::RAS_THRESHOLD:
		core_.own().ecc[index].threshold.store(uint32_t(value));
		return true;
	case Reg::RAS_LIMIT:
		core_.own().ecc[index].limit.store(uint32_t(value));
		core_.own().ecc[index].window.store(0);
		return true;
	case Reg::RAS_SIGNAL:
		core_.own().ecc_signal.store(uint32_t(value));
		return true;
	case Reg::RAS_REWRITE:
		return rewrite(uint32_t(field(value, ARIES_RAS_REWRITE_MEMORY_MASK)),
			       uint32_t(field(value, ARIES_RAS_REWRITE_INDEX_MASK)));
	case Reg::NODE_CHANGED:
		nodes_.acknowledge(index, value);
		return true;
	case Reg::NODE_CTL:
		return nodes_.set_control(uint32_t(value));
	case Reg::QSC_STATUS:
		if (value & ARIES_QSC_STATUS_BEGUN_MASK)
			quiesces_.acknowledge();
		return true;
	case Reg::QSC_CTL:
		return quiesces_.set_control(uint32_t(value));
	case Reg::MDD_BASE:
		stage_[index].base = value;
		return true;
	case Reg::MDD_LENGTH:
		stage_[index].length = value;
		return true;
	case Reg::MDD_TABLE:
		stage_[index].table = value;
		return true;
	case Reg::MDD_CTL:
		return write_mdd_ctl(index, value);
	default:
		return false;
	}
}

/* An entry from what its registers hold. Others end with their owners, or are written by what comes next. */
bool RegisterFile::rewrite(uint32_t memory, uint32_t index) noexcept
{
	NodeSlot &own = core_.own();

	if (memory >= ARIES_RAS_MEMORY_COUNT || index >= ECC_ENTRIES[memory])
		return false;
	switch (memory) {
	case ARIES_RAS_NTT:
		ntt_.rewrite(index);
		return true;
	case ARIES_RAS_CQ:
		ecc_rewrite(own.cq[index].ctl, CQ_ECC);
		return true;
	case ARIES_RAS_VMDH:
		ecc_rewrite(own.vmdh[index], VMDH_ECC);
		return true;
	case ARIES_RAS_PTAG:
		ecc_rewrite(own.ptag_key[index], PTAG_ECC);
		return true;
	case ARIES_RAS_RMT:
		own.rmt[index].ecc.store(ECC_WHOLE);
		return true;
	default:
		return false;
	}
}

/* The lock waits for the operation under way: after this store nothing runs with the old rights. */
bool RegisterFile::write_fmad(uint32_t index, uint64_t value) noexcept
{
	Fmad &fmad = fmads_[index];

	if ((value & ARIES_FMAD_CTL_POLL_MASK) && !poll_.offered())
		return false;
	std::lock_guard guard(fmad.lock);

	poll_.control(index, (value & ARIES_FMAD_CTL_POLL_MASK) && (value & ARIES_FMAD_CTL_ENABLE_MASK));
	const uint64_t before = ecc_shown(fmad.ctl.exchange(value), FMAD_ECC);

	if (!(before & ARIES_FMAD_CTL_ENABLE_MASK) && (value & ARIES_FMAD_CTL_ENABLE_MASK)) {
		fmad.traps.store(0);
		fmad.last.store(0);
		fmad.sequence = 0;
		fmad.window_open = false;
		fmad.window_status = 0;
		fmad.launch_low = 0;
		fmad.group.reset();
		hold_.expedite(index, false);
	}
	if ((before & ARIES_FMAD_CTL_ENABLE_MASK) && !(value & ARIES_FMAD_CTL_ENABLE_MASK)) {
		bte_.flush(index);
		hold_.expedite(index, true);
	}
	core_.host.trace("fmad_control", index, value);
	return true;
}

/* Who found the old entry may be on his way to its descriptors. */
bool RegisterFile::write_vmdh(uint32_t index, uint64_t value) noexcept
{
	std::atomic<uint64_t> &entry = core_.own().vmdh[index];
	const bool was_valid = ecc_shown(entry.load(), VMDH_ECC) & ARIES_VMDH_CTL_VALID_MASK;

	if (!Vmdh::sound(value) || (was_valid && (value & ARIES_VMDH_CTL_VALID_MASK)))
		return false;
	entry.store(value);
	if (was_valid)
		drain_.begin();
	return true;
}

uint64_t RegisterFile::read_fmad_state(Reg reg, Fmad &fmad) noexcept
{
	std::lock_guard guard(fmad.lock);

	if (reg == Reg::FMAD_LAUNCH)
		return fmad.launch_low;
	return prep(ARIES_FMAD_STATE_OPEN_MASK, fmad.window_open) |
	       prep(ARIES_FMAD_STATE_FAILED_MASK, fmad.window_status);
}

void RegisterFile::write_fmad_state(Reg reg, Fmad &fmad, uint64_t value) noexcept
{
	std::lock_guard guard(fmad.lock);

	if (reg == Reg::FMAD_LAUNCH) {
		fmad.launch_low = value;
		return;
	}
	fmad.window_open = field(value, ARIES_FMAD_STATE_OPEN_MASK);
	fmad.window_status = uint8_t(field(value, ARIES_FMAD_STATE_FAILED_MASK));
}

bool RegisterFile::write_mdd_ctl(uint32_t index, uint64_t value) noexcept
{
	const MddStage &stage = stage_[index];
	MddSlot &mdd = core_.own().mdd[index];

	core_.host.trace("mdd_control", index, value, stage.length);
	if (value & ARIES_MDD_CTL_VALID_MASK)
		return mdds_.publish(index, {value, stage.base, stage.length, stage.table});
	if (ecc_shown(mdd.ctl.load(), MDD_ECC) & ARIES_MDD_CTL_VALID_MASK)
		return false;
	mdd.ctl.store(value);
	return true;
}

} // namespace aries
