/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers of BAR0 behind their decode. */
#ifndef ARIES_NIC_REGISTERS_HPP
#define ARIES_NIC_REGISTERS_HPP

#include <array>
#include <mutex>

#include "nic/core/drain.hpp"
#include "nic/engines/bte.hpp"
#include "nic/engines/doorbell_poll.hpp"
#include "nic/registers/blocks.hpp"
#include "nic/registers/nodes.hpp"
#include "nic/registers/quiesce.hpp"
#include "nic/registers/regs.hpp"
#include "nic/tables/fmad.hpp"
#include "nic/tables/ntt.hpp"
#include "nic/time/timer.hpp"

namespace aries
{

/** All control of a NIC, under one mutex; nothing in here waits for the host. */
class RegisterFile
{
public:
	RegisterFile(Core &core, Fmad *fmads, Ntt &ntt, Traffic &traffic, Bte &bte, Hold &hold, Carry &carry, Ce &ce,
		     EventTimer &timer, DoorbellPoll &poll) noexcept
		: core_(core), fmads_(fmads), ntt_(ntt), traffic_(traffic), bte_(bte), hold_(hold), carry_(carry),
		  drain_(core), mdds_(core, drain_), cqs_(core, drain_), ces_(core, ce, drain_),
		  receives_(core, drain_), timer_(timer), poll_(poll), nodes_(core), quiesces_(core)
	{
	}

	uint64_t read(uint64_t offset, unsigned int size) noexcept;
	void write(uint64_t offset, unsigned int size, uint64_t value) noexcept;
	void reset() noexcept;
	/** Ends what the former owner of the node address has left, here and at peers; throws Error. */
	void adopt();
	/**
	 * The bus was taken from us, or the memory map is another one: begins a drain. No thread of ours uses what was
	 * before when this returns; peers may, while drained() is false.
	 */
	void begin_drain() noexcept;
	/** As aries_nic_set_ram_left_out(). */
	void set_ram_left_out(uint64_t from) noexcept;
	/** Whether nobody is left in an access that began before anything was revoked. */
	bool drained() noexcept;
	uint64_t counter(unsigned int which) noexcept;
	/** From time to time: what members that have died left in our tables, and lazy updates of host memory. */
	void sweep(bool members_gone) noexcept;

private:
	uint64_t read_reg(Reg reg, uint32_t index) noexcept;
	uint64_t read_table(Reg reg, uint32_t index) noexcept;
	uint64_t read_error(Reg reg, uint32_t index) noexcept;
	uint64_t router_counter(uint32_t tile, uint32_t which) const noexcept;
	uint64_t caps() const noexcept;
	/* False: the value makes no sense; nothing was changed. */
	bool write_reg(Reg reg, uint32_t index, uint64_t value) noexcept;
	bool write_table(Reg reg, uint32_t index, uint64_t value) noexcept;
	bool write_fmad(uint32_t index, uint64_t value) noexcept;
	static uint64_t read_fmad_state(Reg reg, Fmad &fmad) noexcept;
	static void write_fmad_state(Reg reg, Fmad &fmad, uint64_t value) noexcept;
	bool write_mdd_ctl(uint32_t index, uint64_t value) noexcept;
	bool rewrite(uint32_t memory, uint32_t index) noexcept;
	bool write_vmdh(uint32_t index, uint64_t value) noexcept;
	bool write_control(uint64_t value) noexcept;
	bool write_amo_ctl(uint32_t value) noexcept;
	bool run_dma_test(uint64_t op) noexcept;
	void reset_locked() noexcept;
	void finish_reset() noexcept;
	void advance_drain() noexcept;
	void wait_for_drain() noexcept;
	void wait_for_own_threads() noexcept;
	void refuse(const char *what, uint64_t offset, unsigned int size, uint64_t value, const char *why) noexcept;
	uint64_t sum(unsigned int which) const noexcept;

	struct MddStage {
		uint64_t base, length, table;
	};

	Core &core_;
	Fmad *const fmads_;
	Ntt &ntt_;
	Traffic &traffic_;
	Bte &bte_;
	Hold &hold_;
	Carry &carry_;
	Drain drain_; /* before its users */
	MddTable mdds_;
	CqTable cqs_;
	CeTable ces_;
	ReceiveTable receives_;
	BlockUnits units_{core_, mdds_, cqs_, ces_, receives_};
	EventTimer &timer_;
	DoorbellPoll &poll_;
	NodeWatch nodes_;
	QuiesceWatch quiesces_;

	std::mutex mutex_;
	std::array<MddStage, ARIES_MDD_ENTRIES> stage_{}; /* written, not yet taken over */
	std::array<uint64_t, ARIES_CQ_ENTRIES> cq_base_{};
	uint32_t test32_ = 0;
	uint64_t test64_ = 0;
	uint64_t dma_addr_ = 0;
	uint32_t dma_size_ = 0;
	uint8_t dma_status_ = 0;
	uint64_t left_out_ = ARIES_RAM_ALL; /* lowest address of memory that is out of reach */
	uint64_t reset_ = 0;                /* ticket of the reset that is not done, 0: none */
};

} // namespace aries

#endif
