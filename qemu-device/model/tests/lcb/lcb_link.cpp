// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lcb/lcb_link.hpp"

#include <algorithm>
#include <bit>

namespace aries
{

namespace
{

constexpr uint64_t NEVER = ~uint64_t{0};
constexpr uint64_t OTHER_SEED = 0x5bf0'3635'16f9'd8ad; ///< the sides' errors are not the same

} // namespace

LcbLink::LcbLink(const LcbLinkShape &shape) noexcept
	: shape_(shape), sides_{Side(shape.error_rate[0], shape.seed),
				Side(shape.error_rate[1], shape.seed ^ OTHER_SEED)}
{
	shape_.latency = std::min(shape.latency, LCB_LATENCY_LIMIT) << FLIT_SHIFT;
}

uint64_t LcbLink::set_time(const Side &side) const noexcept
{
	return LCB_FLITS * flit_factor(shape_.medium, static_cast<uint32_t>(std::popcount(side.mask)));
}

/* Of the first set that is under way from @p side. */
uint64_t LcbLink::arrival_time(const Side &side) const noexcept
{
	if (side.arrived == side.sent)
		return NEVER;

	const Slot &slot = side.line[side.arrived % SLOTS];

	return slot.begin + slot.length + shape_.latency;
}

bool LcbLink::advance(uint64_t until, LcbArrival &arrival) noexcept
{
	const uint64_t end = until << FLIT_SHIFT;

	for (;;) {
		const std::array<uint64_t, 2> arrives{arrival_time(sides_[0]), arrival_time(sides_[1])};
		const uint64_t arrived = std::min(arrives[0], arrives[1]);
		const uint64_t sends = std::min(sides_[0].next, sides_[1].next);

		if (std::min(arrived, sends) >= end)
			return false;
		/* What comes with the end of a set is known to the one that begins then. */
		if (arrived > sends)
			send(sides_[sides_[0].next == sends ? 0 : 1]);
		else if (arrive(arrives[0] == arrived ? 1 : 0, arrival))
			return true;
	}
}

void LcbLink::send(Side &side) noexcept
{
	Slot &slot = side.line[side.sent++ % SLOTS];

	slot.set = side.end.next();
	slot.begin = side.next;
	slot.length = set_time(side);
	slot.mask = side.mask;
	slot.coded = false;
	side.next += slot.length;
	if (shape_.code_all)
		code(slot);
	if (!side.errors.pass(SET_BITS)) {
		code(slot);
		side.errors.take(SET_BITS, [&](uint64_t bit) { slot.bits.flip(static_cast<uint32_t>(bit)); });
	}
	for (uint32_t lane = 0; lane < LANES; lane++) {
		if (side.dead & side.mask & 1u << lane)
			noise(side, slot, lane, slot.begin);
	}
}

void LcbLink::code(Slot &slot) noexcept
{
	if (!slot.coded)
		slot.bits = encode_set(slot.set);
	slot.coded = true;
}

/* The bits of a lane whose time is not over at @p from are random. */
void LcbLink::noise(Side &side, Slot &slot, uint32_t lane, uint64_t from) noexcept
{
	const auto lanes = static_cast<uint32_t>(std::popcount(slot.mask));
	const auto place = static_cast<uint32_t>(std::popcount(slot.mask & ((1u << lane) - 1)));
	const uint32_t times = SET_BITS / lanes;

	code(slot);
	for (auto time = static_cast<uint32_t>((from - slot.begin) * times / slot.length); time < times; time++) {
		if (side.errors.random().next() >> 63)
			slot.bits.flip(bit_of(place, time, lanes));
	}
}

bool LcbLink::arrive(uint32_t to, LcbArrival &arrival) noexcept
{
	Side &from = sides_[1 - to];
	Side &side = sides_[to];
	const uint64_t time = arrival_time(from);
	const Slot &slot = from.line[from.arrived++ % SLOTS];
	LcbTaken taken;

	if (slot.coded) {
		taken = side.end.take(slot.bits, got_);
		if (taken != LcbTaken::Damaged)
			side.undetected += slot.bits.word != encode_set(slot.set).word;
	} else {
		got_ = slot.set;
		taken = side.end.take(slot.set);
	}
	if (taken != LcbTaken::Flits)
		return false;
	arrival = {to, (time + (1u << FLIT_SHIFT) - 1) >> FLIT_SHIFT, got_.flits(), got_.load, got_.clock};
	return true;
}

void LcbLink::set_lanes(uint32_t side, uint32_t mask) noexcept
{
	if (mask & ALL_LANES)
		sides_[side].mask = mask & ALL_LANES;
}

void LcbLink::fail_lane(uint32_t side, uint32_t lane, uint64_t tick) noexcept
{
	Side &of = sides_[side];
	const uint64_t now = tick << FLIT_SHIFT;

	of.dead |= 1u << lane;
	if (of.arrived == of.sent)
		return;

	Slot &last = of.line[(of.sent - 1) % SLOTS];

	if (last.mask & 1u << lane && now >= last.begin && now < last.begin + last.length)
		noise(of, last, lane, now);
}

void LcbLink::repair_lane(uint32_t side, uint32_t lane) noexcept
{
	sides_[side].dead &= ~(1u << lane);
}

} // namespace aries
