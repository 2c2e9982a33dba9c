/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Synchronisation sequence ids: one for each transaction under way (N19). */
#ifndef ARIES_NIC_SSID_HPP
#define ARIES_NIC_SSID_HPP

#include <atomic>
#include <cstdint>

#include "aries_regs.h"

namespace aries
{

/**
 * 256 ids. An FMA descriptor has one transaction open at a time, so the lower
 * half belongs to the descriptors by number; block transfers draw from the
 * upper half, of which never more are in use than there are channels.
 */
inline constexpr uint32_t SSIDS = 256;

constexpr uint8_t fma_ssid(uint32_t fmad)
{
	return uint8_t(fmad % ARIES_FMA_DESCRIPTORS);
}

class SsidPool
{
public:
	uint8_t take() noexcept
	{
		for (uint32_t i = next_.fetch_add(1, std::memory_order_relaxed);; i++) {
			const uint32_t bit = i % 64;
			std::atomic<uint64_t> &word = words_[i / 64 % 2];

			if (!(word.fetch_or(uint64_t(1) << bit) >> bit & 1))
				return uint8_t(ARIES_FMA_DESCRIPTORS + i % (SSIDS - ARIES_FMA_DESCRIPTORS));
		}
	}
	void give(uint8_t ssid) noexcept
	{
		const uint32_t i = ssid - ARIES_FMA_DESCRIPTORS;

		words_[i / 64 % 2].fetch_and(~(uint64_t(1) << i % 64));
	}

private:
	std::atomic<uint32_t> next_{0};
	std::atomic<uint64_t> words_[2] = {};
};

static_assert(ARIES_FMA_DESCRIPTORS + ARIES_BTE_CHANNELS <= SSIDS);

} // namespace aries

#endif
