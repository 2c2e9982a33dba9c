/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/core/ecc.hpp"

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

constexpr unsigned int WINDOW_COUNT_SHIFT = 40;
constexpr uint64_t WINDOW_TIME = (uint64_t(1) << WINDOW_COUNT_SHIFT) - 1;
constexpr uint64_t NS_PER_MS = 1000000;

/* Whether so many errors have been found in so short a time as RAS_LIMIT has. A row of them starts with an error. */
bool too_many(EccSlot &slot) noexcept
{
	const uint32_t limit = slot.limit.load(std::memory_order_relaxed);
	const uint64_t most = field(limit, ARIES_RAS_LIMIT_COUNT_MASK), ms = field(limit, ARIES_RAS_LIMIT_WINDOW_MASK);
	const uint64_t now = (now_ns() / NS_PER_MS) & WINDOW_TIME;
	uint64_t before = slot.window.load(), count;

	if (!most)
		return false;
	do {
		const uint64_t start = before & WINDOW_TIME;
		const bool over = !before || (ms && ((now - start) & WINDOW_TIME) >= ms);

		count = over ? 1 : (before >> WINDOW_COUNT_SHIFT) + 1;
		if (slot.window.compare_exchange_weak(before, count << WINDOW_COUNT_SHIFT | (over ? now : start)))
			return count >= most;
	} while (true);
}

void report(const Core &core, uint32_t node, uint32_t code, uint32_t index, uint64_t count, uint8_t syndrome,
	    uint16_t mdh) noexcept
{
	core.errors.report(node, {.code = uint16_t(code),
				  .ptag = 0,
				  .pe = node,
				  .mdh = mdh,
				  .offset = index,
				  .length = count,
				  .fmad = syndrome,
				  .op = 0});
}

/* The NIC serves nobody from here on. Its host signals it when it comes by: Nic::signal(). */
void stop(const Core &core, uint32_t node, aries_ras_memory memory, uint32_t index, uint64_t count,
	  uint8_t syndrome) noexcept
{
	NodeSlot &slot = core.segment.node(node);

	if (slot.ecc_stopped.fetch_or(uint32_t(1) << memory))
		return;
	slot.online.fetch_and(~uint32_t(ONLINE_ENABLED));
	report(core, node, ARIES_RAS_STOP + memory, index, count, syndrome, 0);
	core.wake.raise(node, 0);
}

} // namespace

uint8_t ecc_syndrome(uint32_t index, bool twice) noexcept
{
	return uint8_t(place(index) ^ (twice ? place(index + 1) : 0));
}

void ecc_found(const Core &core, uint32_t node, aries_ras_memory memory, uint32_t index, bool twice,
	       uint16_t mdh) noexcept
{
	NodeSlot &owner = core.segment.node(node);
	EccSlot &slot = owner.ecc[memory];
	const uint8_t syndrome = ecc_syndrome(index, twice);
	const uint64_t count = (twice ? slot.damaged : slot.corrected).fetch_add(1) + 1;
	uint64_t none = 0;

	if (slot.first.compare_exchange_strong(none, ARIES_RAS_FIRST_VALID_MASK |
							     (twice ? ARIES_RAS_FIRST_DOUBLE_MASK : 0) |
							     prep(ARIES_RAS_FIRST_SYNDROME_MASK, syndrome) |
							     prep(ARIES_RAS_FIRST_INDEX_MASK, index)))
		slot.first_at.store(global_clock(core.segment));
	if (twice || is_due(slot, count))
		report(core, node, (twice ? ARIES_RAS_DOUBLE : ARIES_RAS_SINGLE) + memory, index, count, syndrome, mdh);
	if (twice ? owner.ecc_signal.load(std::memory_order_relaxed) >> memory & 1 : too_many(slot))
		stop(core, node, memory, index, count, syndrome);
}

} // namespace aries
