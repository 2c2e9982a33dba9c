/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fast memory access: doorbells and window stores of the processes (N07, N08, N18). */
#ifndef ARIES_NIC_FMA_HPP
#define ARIES_NIC_FMA_HPP

#include "nic/engines/fma_batch.hpp"
#include "nic/engines/fma_ce.hpp"
#include "nic/engines/fma_hold.hpp"

namespace aries
{

class Fma
{
public:
	Fma(Core &core, Fmad *fmads, Ntt &ntt, Traffic &traffic, Ce &ce, Hold &hold, Carry &carry,
	    uint8_t *desc_area) noexcept
		: core_(core), ntt_(ntt), traffic_(traffic), descriptors_(core, fmads, desc_area),
		  hold_(core, traffic, hold, carry, descriptors_), ce_(core, traffic, ce, carry),
		  batch_(core, ntt, traffic, descriptors_, hold_, *this)
	{
	}

	/** DB_FMA; the descriptor's lock is held. Runs the whole operation. */
	void doorbell(uint32_t index, uint64_t value) noexcept;
	/** A store of @size bytes into the put window; lock held. */
	void put_window(uint32_t index, uint32_t at, unsigned int size, uint64_t value) noexcept;
	/** The upper half of a launch entry stored to DB_LAUNCH; lock held. */
	void launch_store(uint32_t index, uint64_t value) noexcept;
	/** A control word stored into the get window; lock held. */
	void get_window(uint32_t index, uint32_t at, uint64_t word) noexcept;
	/** As FmaHold::await(). */
	void await(uint32_t index) noexcept { hold_.await(index); }
	/** Leaves the outcome of a doorbell in the descriptor area. */
	void publish_status(uint32_t index, uint8_t status) noexcept { descriptors_.publish_status(index, status); }

	/** One operation: checks it, and does it by the unit that is for it. */
	uint8_t run(FmaWork &work) noexcept;

private:
	uint8_t check(FmaWork &work) noexcept;
	uint8_t check_length(const FmaWork &work) const noexcept;
	/* What is over when the doorbell is, for a target of this host. */
	uint8_t put(FmaWork &work) noexcept;
	uint8_t deliver(FmaWork &work) noexcept;
	template <PacketKind KIND> uint8_t ask(FmaWork &work) noexcept;
	uint8_t bring(const FmaWork &work, const FmaRuns &from, Visit &target, const Landing &place) noexcept;
	[[gnu::cold]] uint8_t carry(FmaWork &work) noexcept;
	void window_done(FmaWork &work, uint8_t status) noexcept;
	void ended(FmaWork &work, uint8_t status) noexcept
	{
		if (work.held) [[unlikely]]
			return;
		if (work.fmad.group) [[unlikely]]
			hold_.end_group(work, status);
		else
			descriptors_.finish(work, status);
	}

	Core &core_;
	Ntt &ntt_;
	Traffic &traffic_;
	FmaDescriptors descriptors_;
	FmaHold hold_;
	FmaCe ce_;
	FmaBatch batch_;
};

} // namespace aries

#endif
