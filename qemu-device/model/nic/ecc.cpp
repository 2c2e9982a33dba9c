/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
#include "nic/ecc.hpp"

namespace aries
{

namespace
{

/* Places of a Hamming code that are powers of two hold check bits; data has the others. */
uint8_t place(uint32_t bit) noexcept
{
	uint32_t at = 3;

	for (uint32_t left = bit % 64; left; left--) {
		do
			at++;
		while (std::has_single_bit(at));
	}
	return uint8_t(at);
}

static_assert((prep(ARIES_RAS_FIRST_INDEX_MASK, ARIES_MDD_ENTRIES - 1) & ~ARIES_RAS_FIRST_INDEX_MASK) == 0);

/* One event each time that so many more were put right. */
bool is_due(EccSlot &slot, uint64_t corrected) noexcept
{
	const uint32_t threshold = slot.threshold.load(std::memory_order_relaxed);

	return threshold && corrected % threshold == 0;
}

} // namespace

uint8_t ecc_syndrome(uint32_t index, bool twice) noexcept
{
	return uint8_t(place(index) ^ (twice ? place(index + 1) : 0));
}

void ecc_found(const Core &core, uint32_t node, aries_ras_memory memory, uint32_t index, bool twice) noexcept
{
	EccSlot &slot = core.segment.node(node).ecc[memory];
	const uint8_t syndrome = ecc_syndrome(index, twice);
	const uint64_t count = (twice ? slot.damaged : slot.corrected).fetch_add(1) + 1;
	uint64_t none = 0;

	slot.first.compare_exchange_strong(
		none, ARIES_RAS_FIRST_VALID_MASK | (twice ? ARIES_RAS_FIRST_DOUBLE_MASK : 0) |
			      prep(ARIES_RAS_FIRST_SYNDROME_MASK, syndrome) | prep(ARIES_RAS_FIRST_INDEX_MASK, index));
	if (!twice && !is_due(slot, count))
		return;
	core.errors.report(node, {.code = uint16_t((twice ? ARIES_RAS_DOUBLE : ARIES_RAS_SINGLE) + memory),
				  .ptag = 0,
				  .pe = node,
				  .mdh = 0,
				  .offset = index,
				  .length = count,
				  .fmad = syndrome,
				  .op = 0});
}

} // namespace aries
