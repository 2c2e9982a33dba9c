/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Virtual memory domain handles (N04): the same handle names a domain's memory on all of its nodes, wherever its
 * descriptors are there.
 */
#ifndef ARIES_NIC_VMDH_HPP
#define ARIES_NIC_VMDH_HPP

#include "nic/core/ecc.hpp"

namespace aries
{

inline constexpr uint16_t NO_MDH = ARIES_MDD_ENTRIES;
inline constexpr uint16_t DAMAGED_MDH = ARIES_MDD_ENTRIES + 1; /* the block that it is of has two wrong bits */

/** Whether a process may write @mdh into a descriptor: 12 bits, virtual or not. */
constexpr bool mdh_sound(uint16_t mdh)
{
	return (mdh & ~ARIES_MDH_VIRTUAL) < ARIES_MDD_ENTRIES;
}

/** The view that all visitors of a node have of its table; inside a visit. */
class Vmdh
{
public:
	/** @slot: that of @node */
	Vmdh(const Core &core, uint32_t node, NodeSlot &slot) noexcept : core_(core), node_(node), slot_(slot) {}

	/** Descriptor that @mdh of a packet with @key means, NO_MDH if none, or DAMAGED_MDH. One that is not virtual is
	 * itself. */
	uint16_t of_packet(uint16_t mdh, uint32_t key) noexcept
	{
		return find(mdh, [&](uint32_t ptag) {
			/* Wrong bits in the key are found with the descriptor. */
			const uint64_t word = ecc_shown(slot_.ptag_key[ptag].load(std::memory_order_relaxed), PTAG_ECC);

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

		for (auto &entry : slot_.vmdh) {
			uint64_t word = entry.load(std::memory_order_acquire);

			if (!(word & (ARIES_VMDH_CTL_VALID_MASK | VMDH_ECC.hit)) ||
			    !matches(uint32_t(field(word, ARIES_VMDH_CTL_PTAG_MASK))))
				continue;
			if ((word & VMDH_ECC.hit) &&
			    ecc_look(core_, node_, ARIES_RAS_VMDH, uint32_t(&entry - slot_.vmdh), entry, VMDH_ECC,
				     word) != ARIES_ST_OK) [[unlikely]]
				return DAMAGED_MDH;
			if (index >= field(word, ARIES_VMDH_CTL_COUNT_MASK))
				break;
			slot_.vmdh_hits.fetch_add(1, std::memory_order_relaxed);
			return uint16_t(field(word, ARIES_VMDH_CTL_BASE_MASK) + index);
		}
		slot_.vmdh_misses.fetch_add(1, std::memory_order_relaxed);
		return NO_MDH;
	}

	const Core &core_;
	const uint32_t node_;
	NodeSlot &slot_;
};

} // namespace aries

#endif
