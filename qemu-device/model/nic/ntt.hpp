/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Node translation table: virtual node addresses of a domain (N05). */
#ifndef ARIES_NIC_NTT_HPP
#define ARIES_NIC_NTT_HPP

#include <array>

#include "nic/core.hpp"

namespace aries
{

class Ntt
{
public:
	uint32_t get(uint32_t index) const noexcept { return entry_[index].load(std::memory_order_relaxed); }
	void set(uint32_t index, uint32_t value) noexcept { entry_[index].store(value, std::memory_order_relaxed); }
	void reset() noexcept
	{
		for (auto &entry : entry_)
			entry.store(0, std::memory_order_relaxed);
	}

	/**
	 * Physical node of @pe for a descriptor with control word @fmad_ctl.
	 * Return: ARIES_ST_OK, or ARIES_ST_NTT outside of the domain or for an unused entry.
	 */
	uint8_t resolve(uint64_t fmad_ctl, uint32_t pe, uint32_t &node) const noexcept
	{
		node = pe;
		if (!(fmad_ctl & ARIES_FMAD_CTL_NTT_MASK))
			return ARIES_ST_OK;
		const uint64_t index = field(fmad_ctl, ARIES_FMAD_CTL_NTT_BASE_MASK) + pe;

		if (pe >= field(fmad_ctl, ARIES_FMAD_CTL_NTT_SIZE_MASK) || index >= entry_.size())
			return ARIES_ST_NTT;
		const uint32_t word = get(uint32_t(index));

		node = uint32_t(field(word, ARIES_NTT_ENTRY_PE_MASK));
		return word & ARIES_NTT_ENTRY_VALID_MASK ? ARIES_ST_OK : ARIES_ST_NTT;
	}

private:
	std::array<std::atomic<uint32_t>, ARIES_NTT_ENTRIES> entry_{};
};

} // namespace aries

#endif
