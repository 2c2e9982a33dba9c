/* SPDX-License-Identifier: GPL-2.0-or-later */
/* FMA: several operations for one doorbell (N09, N10). */
#ifndef ARIES_NIC_FMA_BATCH_HPP
#define ARIES_NIC_FMA_BATCH_HPP

#include "nic/engines/fma_hold.hpp"
#include "nic/tables/ntt.hpp"

namespace aries
{

class Fma;

class FmaBatch
{
public:
	FmaBatch(Core &core, Ntt &ntt, Traffic &traffic, FmaDescriptors &descriptors, FmaHold &hold, Fma &fma) noexcept
		: core_(core), ntt_(ntt), traffic_(traffic), descriptors_(descriptors), hold_(hold), fma_(fma)
	{
	}

	/**
	 * One completion for all parts; without an event of its own it is part of the open transaction.
	 * @status: of the checks that all operations undergo
	 */
	uint8_t run(FmaWork &work, uint8_t status) noexcept;
	/** An entry as the operation that it stands for, number @index of those that @work has. */
	uint8_t launch_one(FmaWork &work, const aries_launch_entry &entry, uint32_t index) noexcept;

private:
	uint8_t run_parts(FmaWork &work, uint32_t &done) noexcept;
	uint8_t put_scatter(FmaWork &work, uint32_t &done) noexcept;
	uint8_t launch_line(FmaWork &work, uint32_t &done) noexcept;
	uint8_t launch_ring(FmaWork &work, uint32_t &done) noexcept;
	uint8_t read_ring(const FmaWork &work, const aries_fma_window &ring, uint32_t at, uint32_t count,
			  aries_launch_entry *to) noexcept;
	uint8_t launch(FmaWork &work, const aries_launch_entry *entry, uint32_t count, uint32_t &done) noexcept;
	uint8_t run_part(FmaWork &work, FmaWork &part) noexcept;

	Core &core_;
	Ntt &ntt_;
	Traffic &traffic_;
	FmaDescriptors &descriptors_;
	FmaHold &hold_;
	Fma &fma_;
};

} // namespace aries

#endif
