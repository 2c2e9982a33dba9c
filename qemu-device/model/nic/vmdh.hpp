/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Virtual memory domain handles (N04): the same handle names a domain's memory on all of its nodes, wherever its
 * descriptors are there.
 */
#ifndef ARIES_NIC_VMDH_HPP
#define ARIES_NIC_VMDH_HPP

#include "nic/core.hpp"

namespace aries
{

inline constexpr uint16_t NO_MDH = ARIES_MDD_ENTRIES;

/** Whether a process may write @mdh into a descriptor: 12 bits, virtual or not. */
constexpr bool mdh_sound(uint16_t mdh)
{
	return (mdh & ~ARIES_MDH_VIRTUAL) < ARIES_MDD_ENTRIES;
}

/** The view that all visitors of a node have of its table; inside a visit. */
class Vmdh
{
public:
	explicit Vmdh(NodeSlot &slot) noexcept : slot_(slot) {}

	/** Descriptor that @mdh of a packet with @key means, NO_MDH if none. One that is not virtual is itself. */
	uint16_t of_packet(uint16_t mdh, uint32_t key) noexcept
	{
		return find(mdh, [&](uint32_t ptag) {
			const uint64_t word = slot_.ptag_key[ptag].load(std::memory_order_relaxed);

			return (word & ARIES_PTAG_KEY_VALID_MASK) && field(word, ARIES_PTAG_KEY_KEY_MASK) == key;
		});
	}
	/** The same for a handle of this node's own process with @tag. */
	uint16_t of_process(uint16_t mdh, uint8_t tag) noexcept
	{
		return find(mdh, [&](uint32_t ptag) { return ptag == tag; });
	}

	/** Whether @word may stand in an entry, VALID or not. */
	static bool sound(uint64_t word) noexcept
	{
		const uint64_t ptag = field(word, ARIES_VMDH_CTL_PTAG_MASK);
		const uint64_t count = field(word, ARIES_VMDH_CTL_COUNT_MASK);

		return !(word & ARIES_VMDH_CTL_VALID_MASK) ||
		       (ptag && ptag < ARIES_PTAG_ENTRIES - 1 && count &&
			field(word, ARIES_VMDH_CTL_BASE_MASK) + count <= ARIES_MDD_ENTRIES);
	}

private:
	/* An entry is one word, so base and count belong together whatever the owner does meanwhile. */
	template <typename F> uint16_t find(uint16_t mdh, F matches) noexcept
	{
		if (!(mdh & ARIES_MDH_VIRTUAL))
			return mdh < ARIES_MDD_ENTRIES ? mdh : NO_MDH;
		const uint32_t index = mdh & ~ARIES_MDH_VIRTUAL;

		for (const auto &entry : slot_.vmdh) {
			const uint64_t word = entry.load(std::memory_order_acquire);

			if (!(word & ARIES_VMDH_CTL_VALID_MASK) ||
			    !matches(uint32_t(field(word, ARIES_VMDH_CTL_PTAG_MASK))))
				continue;
			if (index >= field(word, ARIES_VMDH_CTL_COUNT_MASK))
				break;
			slot_.vmdh_hits.fetch_add(1, std::memory_order_relaxed);
			return uint16_t(field(word, ARIES_VMDH_CTL_BASE_MASK) + index);
		}
		slot_.vmdh_misses.fetch_add(1, std::memory_order_relaxed);
		return NO_MDH;
	}

	NodeSlot &slot_;
};

} // namespace aries

#endif
