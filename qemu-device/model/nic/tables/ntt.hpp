/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Node translation table: virtual node addresses of a domain (N05). */
#ifndef ARIES_NIC_NTT_HPP
#define ARIES_NIC_NTT_HPP

#include <array>

#include "nic/core/ecc.hpp"

namespace aries
{

class Ntt
{
public:
	explicit Ntt(const Core &core) noexcept : core_(core) {}

	uint32_t get(uint32_t index) const noexcept
	{
		return ecc_shown(entry_[index].load(std::memory_order_relaxed), NTT_ECC);
	}
	/** An error of one bit, or @twice of two, in an entry; false if it is not in use. */
	bool hit(uint32_t index, bool twice) noexcept { return ecc_hit(entry_[index], NTT_ECC, twice); }
	void rewrite(uint32_t index) noexcept { ecc_rewrite(entry_[index], NTT_ECC); }
	void set(uint32_t index, uint32_t value) noexcept { entry_[index].store(value, std::memory_order_relaxed); }
	uint32_t get_replacement(uint32_t index) const noexcept
	{
		return replace_[index].load(std::memory_order_relaxed);
	}
	void set_replacement(uint32_t index, uint32_t value) noexcept
	{
		replace_[index].store(value, std::memory_order_relaxed);
	}
	uint32_t granularity() const noexcept { return log2_.load(std::memory_order_relaxed); }
	void set_granularity(uint32_t log2) noexcept { log2_.store(log2, std::memory_order_relaxed); }
	void reset() noexcept
	{
		for (auto &entry : entry_)
			entry.store(0, std::memory_order_relaxed);
		for (auto &entry : replace_)
			entry.store(0, std::memory_order_relaxed);
		log2_.store(0, std::memory_order_relaxed);
	}

	/**
	 * Physical node of @pe for a descriptor with control word @fmad_ctl.
	 * Return: ARIES_ST_OK, ARIES_ST_NTT outside of the domain or for an unused entry, ARIES_ST_LOCAL_ECC.
	 */
	uint8_t resolve(uint64_t fmad_ctl, uint32_t pe, uint32_t &node) const noexcept
	{
		node = pe;
		if (!(fmad_ctl & ARIES_FMAD_CTL_NTT_MASK))
			return ARIES_ST_OK;
		const uint32_t log2 = granularity();
		const uint64_t index = field(fmad_ctl, ARIES_FMAD_CTL_NTT_BASE_MASK) + (pe >> log2);

		if (pe >> log2 >= field(fmad_ctl, ARIES_FMAD_CTL_NTT_SIZE_MASK) || index >= entry_.size())
			return ARIES_ST_NTT;
		uint32_t word = entry_[index].load(std::memory_order_relaxed);
		const uint32_t replace = get_replacement(uint32_t(index));

		if (!(word & ARIES_NTT_ENTRY_VALID_MASK) && ecc_look(core_, core_.node, ARIES_RAS_NTT, uint32_t(index),
								     entry_[index], NTT_ECC, word) != ARIES_ST_OK)
			return ARIES_ST_LOCAL_ECC;
		if (!(word & ARIES_NTT_ENTRY_VALID_MASK) ||
		    field(replace, ARIES_NTT_REPLACE_SIZE_MASK) > uint64_t(1) << log2)
			return ARIES_ST_NTT;
		node = place(word, replace, pe, uint32_t(1) << log2);
		return ARIES_ST_OK;
	}

private:
	/* The last nodes of a block may be elsewhere; what does not exist is found out later. */
	static uint32_t place(uint32_t entry, uint32_t replace, uint32_t pe, uint32_t nodes) noexcept
	{
		const uint32_t in_block = pe & (nodes - 1);
		const uint32_t elsewhere = uint32_t(field(replace, ARIES_NTT_REPLACE_SIZE_MASK));

		if (in_block + elsewhere >= nodes)
			return uint32_t(field(replace, ARIES_NTT_REPLACE_PE_MASK)) + in_block + elsewhere - nodes;
		return uint32_t(field(entry, ARIES_NTT_ENTRY_PE_MASK)) + in_block;
	}

	const Core &core_;
	std::atomic<uint32_t> log2_{0};
	std::array<std::atomic<uint32_t>, ARIES_NTT_ENTRIES> replace_{};
	mutable std::array<std::atomic<uint32_t>, ARIES_NTT_ENTRIES> entry_{}; /* ECC puts them right */
};

} // namespace aries

#endif
