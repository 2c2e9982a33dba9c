/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Register accesses: identity, control, test, errors, interrupts, invalidation, counters. Tables: register_tables.cpp.
 */
#include "nic/registers/registers.hpp"

#include <sched.h>
#include <unistd.h>

#include "nic/tables/amo_cache.hpp"
#include "nic/target/att.hpp"

namespace aries
{

namespace
{

constexpr unsigned int DRAIN_STEPS = 200; /* of 500 us */
constexpr uint32_t DMA_TEST_MAX = 65536;

/* What an initiator counts at its target. */
std::atomic<uint64_t> &flight_counter(Flight &flight, unsigned int which)
{
	switch (which) {
	case ARIES_CNT_RX_REQUESTS:
		return flight.requests;
	case ARIES_CNT_RX_REFUSED:
		return flight.refused;
	case ARIES_CNT_PTE_CACHE_HITS:
		return flight.pte_hits;
	case ARIES_CNT_PTE_CACHE_MISSES:
		return flight.pte_misses;
	case ARIES_CNT_PTE_CACHE_EVICTIONS:
		return flight.pte_evictions;
	case ARIES_CNT_RX_DUPLICATES:
		return flight.duplicates;
	default:
		return flight.walks;
	}
}

constexpr unsigned int FLIGHT_COUNTERS[] = {
	ARIES_CNT_RX_REQUESTS,      ARIES_CNT_RX_REFUSED,          ARIES_CNT_PTE_WALKS,    ARIES_CNT_PTE_CACHE_HITS,
	ARIES_CNT_PTE_CACHE_MISSES, ARIES_CNT_PTE_CACHE_EVICTIONS, ARIES_CNT_RX_DUPLICATES};

} // namespace

void RegisterFile::refuse(const char *what, uint64_t offset, unsigned int size, uint64_t value,
			  const char *why) noexcept
{
	core_.guest_error();
	core_.host.log(ARIES_LOG_GUEST_ERROR, "%s of register %#llx, %u bytes, value %#llx: %s", what,
		       static_cast<unsigned long long>(offset), size, static_cast<unsigned long long>(value), why);
}

uint64_t RegisterFile::read(uint64_t offset, unsigned int size) noexcept
{
	const RegPlace place = reg_decode(offset);
	const char *why = reg_refuse_read(offset, size, place);

	if (why) {
		refuse("read", offset, size, 0, why);
		return ~uint64_t(0) >> (64 - 8 * size);
	}
	if (place.reg == Reg::CLK_NOW) /* processes may read it: they do not wait for the kernel, nor it for them */
		return size == 8     ? global_clock(core_.segment)
		       : place.upper ? global_clock(core_.segment) >> 32
				     : global_clock(core_.segment) & UINT32_MAX;
	std::lock_guard guard(mutex_);

	advance_drain();
	const uint64_t value = read_reg(place.reg, place.index);

	if (reg_row(place.reg).width == 64 && size == 4)
		return place.upper ? value >> 32 : value & UINT32_MAX;
	return value;
}

void RegisterFile::write(uint64_t offset, unsigned int size, uint64_t value) noexcept
{
	const RegPlace place = reg_decode(offset);
	const char *why = reg_refuse_write(offset, size, value, place);

	if (!why) {
		std::lock_guard guard(mutex_);

		advance_drain();
		if (reset_ && place.reg != Reg::CTL_CONTROL)
			why = "the reset is not done";
		else if (write_reg(place.reg, place.index, value))
			return;
		else
			why = "value refused";
	}
	refuse("write", offset, size, value, why);
}

uint64_t RegisterFile::caps() const noexcept
{
	return ARIES_ID_CAPS_FMA_MASK | ARIES_ID_CAPS_BTE_MASK | ARIES_ID_CAPS_AMO64_MASK | ARIES_ID_CAPS_NTT_MASK |
	       ARIES_ID_CAPS_CQWRITE_MASK | ARIES_ID_CAPS_AMO32_MASK | ARIES_ID_CAPS_AMOFP_MASK |
	       ARIES_ID_CAPS_CE_MASK | ARIES_ID_CAPS_TIMER_MASK | ARIES_ID_CAPS_SEND_MASK | ARIES_ID_CAPS_NODES_MASK |
	       ARIES_ID_CAPS_QUIESCE_MASK | ARIES_ID_CAPS_LATER_MASK | (poll_.offered() ? ARIES_ID_CAPS_POLL_MASK : 0);
}

uint64_t RegisterFile::read_reg(Reg reg, uint32_t index) noexcept
{
	switch (reg) {
	case Reg::ID_MAGIC:
		return ARIES_ID_MAGIC_VALUE;
	case Reg::ID_VERSION:
		return ARIES_ID_VERSION_VALUE;
	case Reg::ID_CAPS:
		return caps();
	case Reg::ID_PE:
		return core_.node;
	case Reg::ID_NODES:
		return core_.segment.nodes();
	case Reg::ID_FMA:
		return ARIES_FMA_DESCRIPTORS;
	case Reg::ID_MDD:
		return ARIES_MDD_ENTRIES;
	case Reg::ID_CQ:
		return ARIES_CQ_ENTRIES;
	case Reg::ID_NTT:
		return ARIES_NTT_ENTRIES;
	case Reg::ID_BTE:
		return prep(ARIES_ID_BTE_CHANNELS_MASK, ARIES_BTE_CHANNELS) |
		       prep(ARIES_ID_BTE_QUEUE_MASK, ARIES_BTE_QUEUE);
	case Reg::ID_MSIX:
		return ARIES_MSIX_VECTORS;
	case Reg::CTL_CONTROL:
		return core_.own().online.load() & ONLINE_ENABLED ? ARIES_CTL_CONTROL_ENABLE_MASK : 0;
	case Reg::CTL_STATUS:
		return (core_.network.nic_link(core_.node) ? ARIES_CTL_STATUS_LINK_MASK : 0) |
		       (core_.own().online.load() & ONLINE_ENABLED ? ARIES_CTL_STATUS_ENABLED_MASK : 0) |
		       (reset_ ? ARIES_CTL_STATUS_BUSY_MASK : 0) |
		       (left_out_ != ARIES_RAM_ALL ? ARIES_CTL_STATUS_PARTIAL_MASK : 0);
	case Reg::CTL_GENERATION:
		return core_.own().generation.load();
	case Reg::TEST_REG32:
		return uint32_t(test32_ << 1);
	case Reg::TEST_REG64:
		return test64_ << 1;
	case Reg::TEST_DMA_ADDR:
		return dma_addr_;
	case Reg::TEST_DMA_SIZE:
		return dma_size_;
	case Reg::TEST_DMA_STATUS:
		return dma_status_;
	case Reg::CQI_SUMMARY:
		return cqs_.summary();
	case Reg::CQI_PENDING:
		return cqs_.pending(index);
	case Reg::CQI_ARMED:
		return cqs_.armed(index);
	case Reg::BTE_STATUS:
		return bte_.status();
	case Reg::AMO_CTL:
		return core_.own().amo_lazy.load();
	case Reg::INV_STATUS:
		return drain_.idle() ? 0 : ARIES_INV_STATUS_BUSY_MASK;
	case Reg::INV_SEQ:
		return drain_.asked();
	case Reg::INV_DONE:
		return drain_.done();
	case Reg::CNT_VALUE:
		return index < ARIES_CNT_COUNT ? counter(index) : 0;
	case Reg::RTR_COUNTER:
		return router_counter(index / ARIES_RTR_ELEMENTS, index % ARIES_RTR_ELEMENTS);
	case Reg::ERR_COUNT:
	case Reg::ERR_LOST:
	case Reg::ERR_EVENT:
	case Reg::ERR_TIME:
	case Reg::ERR_INFO:
		return read_error(reg, index);
	default:
		return read_table(reg, index);
	}
}

uint64_t RegisterFile::router_counter(uint32_t tile, uint32_t which) const noexcept
{
	if (which >= ARIES_RTR_COUNT)
		return 0;
	return core_.network.tile_counters(core_.network.router_of(core_.node), tile)[which];
}

uint64_t RegisterFile::read_error(Reg reg, uint32_t index) noexcept
{
	ErrorRecord record = {};

	if (reg == Reg::ERR_COUNT)
		return core_.errors.waiting();
	if (reg == Reg::ERR_LOST)
		return core_.errors.lost();
	if (!core_.errors.oldest(record))
		return 0;
	if (reg == Reg::ERR_EVENT)
		return record.event;
	return reg == Reg::ERR_TIME ? record.time_ns : record.info[index];
}

bool RegisterFile::write_reg(Reg reg, uint32_t index, uint64_t value) noexcept
{
	switch (reg) {
	case Reg::CTL_CONTROL:
		return write_control(value);
	case Reg::TEST_REG32:
		test32_ = uint32_t(value);
		return true;
	case Reg::TEST_IRQ:
		if (value >= ARIES_MSIX_VECTORS)
			return false;
		core_.request_irq(core_.node, uint32_t(1) << value);
		return true;
	case Reg::TEST_REG64:
		test64_ = value;
		return true;
	case Reg::TEST_DMA_ADDR:
		dma_addr_ = value;
		return true;
	case Reg::TEST_DMA_SIZE:
		if (value > DMA_TEST_MAX)
			return false;
		dma_size_ = uint32_t(value);
		return true;
	case Reg::TEST_DMA_CTRL:
		return run_dma_test(value);
	case Reg::ERR_POP:
		if (value)
			core_.errors.pop();
		return value != 0;
	case Reg::CQI_ARM:
		cqs_.arm(uint32_t(value));
		return true;
	case Reg::CQI_DISARM:
		cqs_.disarm(uint32_t(value));
		return true;
	case Reg::CQI_PENDING:
		cqs_.acknowledge(index, value);
		return true;
	case Reg::INV_MDD:
		core_.host.trace("mdd_invalidate", value);
		mdds_.invalidate(uint32_t(value));
		return true;
	case Reg::AMO_CTL:
		return write_amo_ctl(uint32_t(value));
	case Reg::AMO_FLUSH:
		return value && (core_.own().online.load() & ONLINE_MASTER) && mdds_.update_atomics();
	case Reg::INV_PTES:
		core_.host.trace("pte_invalidate", value);
		mdds_.refresh(uint32_t(value));
		return true;
	default:
		return write_table(reg, index, value);
	}
}

bool RegisterFile::write_control(uint64_t value) noexcept
{
	std::atomic<uint32_t> &online = core_.own().online;

	if (value & ARIES_CTL_CONTROL_RESET_MASK)
		reset_locked();
	else if ((value & ARIES_CTL_CONTROL_ENABLE_MASK) && (reset_ || core_.own().ecc_stopped.load()))
		return false;
	else if (value & ARIES_CTL_CONTROL_ENABLE_MASK)
		online.fetch_or(ONLINE_ENABLED);
	else
		online.fetch_and(~uint32_t(ONLINE_ENABLED));
	return true;
}

/* Atomics of either kind must not meet: what began before has to end. */
bool RegisterFile::write_amo_ctl(uint32_t value) noexcept
{
	NodeSlot &own = core_.own();

	if (value == own.amo_lazy.load())
		return true;
	if (own.online.load() & ONLINE_ENABLED)
		return false;
	mdds_.flush();
	wait_for_drain();
	if (!drain_.idle())
		return false;
	AmoCache(core_, core_.node).empty(AmoCache::ANY, nullptr, core_.members);
	own.amo_lazy.store(value);
	return true;
}

void RegisterFile::sweep(bool members_gone) noexcept
{
	char who[256];
	bool overdue;

	{
		std::lock_guard guard(mutex_);

		advance_drain();
		overdue = drain_.overdue(now_ns(), who, sizeof(who));
		if (members_gone)
			blocks_on_death(units_);
		blocks_sweep(units_);
		nodes_.sweep();
		quiesces_.sweep();
	}
	if (overdue)
		core_.host.log(
			ARIES_LOG_WARN,
			"an access of %s to this node's memory does not end: what was revoked stays in use until "
			"it goes on (kill -CONT) or is killed",
			who);
}

bool RegisterFile::run_dma_test(uint64_t op) noexcept
{
	const RamMap *ram = core_.maps.own();
	RunList<ARIES_RAM_MAX> runs;

	if (op < 1 || op > 3)
		return false;
	if (!(core_.own().online.load() & ONLINE_MASTER))
		dma_status_ = ARIES_ST_DISABLED;
	else
		dma_status_ = ram ? physical_runs(*ram, dma_addr_, dma_size_, runs) : uint8_t(ARIES_ST_TRANSLATION);
	for (size_t i = 0; dma_status_ == ARIES_ST_OK && i < runs.count; i++) {
		uint8_t *host = runs.run[i].host;

		for (uint64_t at = 0; at < runs.run[i].bytes; at++)
			host[at] = op == 1 ? 0x96 : op == 2 ? 0 : uint8_t(~host[at]);
	}
	core_.request_irq(core_.node, 1);
	return true;
}

void RegisterFile::reset() noexcept
{
	std::lock_guard guard(mutex_);

	reset_locked();
}

/* Before anything of ours is in there. The NIC is not enabled: peers see a member that refuses all. */
void RegisterFile::adopt()
{
	std::lock_guard guard(mutex_);

	blocks_revoke(units_, ARIES_ST_TIMEOUT);
	core_.members.evict_visitors();
	blocks_reset(units_);
	core_.own().generation.fetch_add(1);
}

/*
 * Everything that was registered is revoked before peers can be told anything else. What peers that are still inside
 * may change is put in order when they have left: until then CTL_STATUS.BUSY reads 1.
 */
void RegisterFile::reset_locked() noexcept
{
	NodeSlot &own = core_.own();

	own.online.fetch_and(~uint32_t(ONLINE_ENABLED));
	for (uint32_t i = 0; i < ARIES_FMA_DESCRIPTORS; i++) {
		std::lock_guard guard(fmads_[i].lock);

		poll_.reset(i);
		fmads_[i].ctl.store(0);
		fmads_[i].traps.store(0);
		fmads_[i].sequence = 0;
		fmads_[i].window_open = false;
		fmads_[i].window_status = 0;
		fmads_[i].launch_low = 0;
	}
	bte_.reset();
	carry_.reset(); /* before it, for what it has brought back is held next */
	hold_.reset();
	for (uint32_t i = 0; i < ARIES_FMA_DESCRIPTORS; i++) {
		std::lock_guard guard(fmads_[i].lock);

		fmads_[i].group.reset();
		fmads_[i].awaited.reset();
	}
	timer_.reset();
	nodes_.reset();
	quiesces_.reset();
	blocks_revoke(units_, ARIES_ST_FLUSHED);
	ntt_.reset();
	traffic_.limit_injection(0);
	stage_.fill({});
	cq_base_.fill(0);
	test32_ = 0;
	test64_ = 0;
	dma_addr_ = 0;
	dma_size_ = 0;
	dma_status_ = 0;
	own.generation.fetch_add(1);
	reset_ = mdds_.lose_atomics();
	wait_for_drain();
}

/* Nobody is left who knew anything of before. */
void RegisterFile::finish_reset() noexcept
{
	NodeSlot &own = core_.own();

	reset_ = 0;
	blocks_reset(units_);
	for (uint32_t i = 0; i < ARIES_FMA_DESCRIPTORS; i++) {
		fmads_[i].last.store(0); /* what was flushed has left its mark */
		fmads_[i].counters.clear();
	}
	bte_.clear_counters();
	core_.shared_counters.clear();
	for (uint32_t n = 0; n < core_.segment.nodes(); n++) {
		for (Flight &flight : core_.segment.flights(core_.node, n)) {
			for (unsigned int which : FLIGHT_COUNTERS)
				flight_counter(flight, which).store(0);
		}
	}
	core_.host.trace("reset", own.generation.load());
}

/* Everything that ends with a drain, of whatever unit. */
void RegisterFile::advance_drain() noexcept
{
	while (drain_.visits_ended() && mdds_.settle() && ces_.settle()) {
		drain_.finish();
		if (reset_ && reset_ <= drain_.done())
			finish_reset();
		core_.maps.reap_own(drain_.done());
	}
}

/* A courtesy to a reader that would look again at once; a peer that is stopped shows as INV_STATUS.BUSY. */
void RegisterFile::wait_for_drain() noexcept
{
	advance_drain();
	for (unsigned int i = 0; !drain_.idle() && i < DRAIN_STEPS; i++) {
		usleep(500);
		advance_drain();
	}
}

/*
 * Threads of this process use our memory in visits, or under the lock of a queue. They run, and each place needs to be
 * seen empty only once: who comes later sees what is new.
 */
void RegisterFile::wait_for_own_threads() noexcept
{
	cqs_.wait_for_own_threads();
	for (Flight &flight : core_.segment.flights(core_.node, core_.node)) {
		for (std::atomic<uint32_t> &visits : flight.inflight) {
			while (visits.load())
				sched_yield();
		}
	}
}

/* A reset changes nothing here: it is the host's memory that lacks something, not the NIC's state. */
void RegisterFile::set_ram_left_out(uint64_t from) noexcept
{
	{
		const std::lock_guard guard(mutex_);

		if (from == left_out_)
			return;
		left_out_ = from;
	}
	if (from != ARIES_RAM_ALL)
		core_.errors.report(core_.node, {.code = ARIES_RAS_REACH,
						 .ptag = 0,
						 .pe = core_.node,
						 .mdh = 0,
						 .offset = from,
						 .length = 0,
						 .fmad = 0,
						 .op = 0});
}

void RegisterFile::begin_drain() noexcept
{
	std::lock_guard guard(mutex_);

	core_.maps.retire_own(mdds_.flush());
	wait_for_own_threads();
	wait_for_drain();
}

bool RegisterFile::drained() noexcept
{
	std::lock_guard guard(mutex_);

	advance_drain();
	return drain_.idle();
}

uint64_t RegisterFile::sum(unsigned int which) const noexcept
{
	uint64_t value = core_.shared_counters.get(which) + bte_.counter(which);

	for (uint32_t i = 0; i < ARIES_FMA_DESCRIPTORS; i++)
		value += fmads_[i].counters.get(which);
	return value;
}

uint64_t RegisterFile::counter(unsigned int which) noexcept
{
	uint64_t value = 0;

	switch (which) {
	case ARIES_CNT_CQ_EVENTS:
		return cqs_.total_events();
	case ARIES_CNT_CQ_OVERRUNS:
		return cqs_.total_lost();
	case ARIES_CNT_RX_REQUESTS:
	case ARIES_CNT_RX_REFUSED:
	case ARIES_CNT_RX_DUPLICATES:
	case ARIES_CNT_PTE_WALKS:
	case ARIES_CNT_PTE_CACHE_HITS:
	case ARIES_CNT_PTE_CACHE_MISSES:
	case ARIES_CNT_PTE_CACHE_EVICTIONS:
		for (uint32_t n = 0; n < core_.segment.nodes(); n++) {
			for (Flight &flight : core_.segment.flights(core_.node, n))
				value += flight_counter(flight, which).load();
		}
		return value;
	case ARIES_CNT_VMDH_HITS:
		return core_.own().vmdh_hits.load();
	case ARIES_CNT_VMDH_MISSES:
		return core_.own().vmdh_misses.load();
	case ARIES_CNT_PTE_CACHE_INVALIDATIONS:
		return core_.own().pte_cache.invalidations.load();
	case ARIES_CNT_AMO_CACHE_HITS:
		return core_.own().amo_cache.hits.load();
	case ARIES_CNT_AMO_CACHE_MISSES:
		return core_.own().amo_cache.misses.load();
	case ARIES_CNT_AMO_CACHE_EVICTIONS:
		return core_.own().amo_cache.evictions.load();
	case ARIES_CNT_AMO_CACHE_UPDATES:
		return core_.own().amo_cache.updates.load();
	default:
		return which < ARIES_CNT_COUNT ? sum(which) : 0;
	}
}

} // namespace aries
