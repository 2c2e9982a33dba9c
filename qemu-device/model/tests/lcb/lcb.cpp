// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/lcb/lcb.hpp"

namespace aries
{

namespace
{

constexpr uint32_t number(uint32_t set)
{
	return set % LCB_SEQUENCES;
}

} // namespace

uint32_t LcbEnd::room() const noexcept
{
	return (LCB_WINDOW - (open_ - base_)) * LCB_FLITS - fill_;
}

bool LcbEnd::push(uint64_t flit) noexcept
{
	if (open_ - base_ == LCB_WINDOW)
		return false;

	Slot &slot = buffer_[number(open_)];

	slot.flit[fill_++] = flit & (LCB_FLIT | LCB_END);
	slot.count = static_cast<uint8_t>(fill_);
	if (fill_ == LCB_FLITS) {
		open_++;
		fill_ = 0;
	}
	return true;
}

LcbSet LcbEnd::next() noexcept
{
	LcbSet set{};

	set.sequence = static_cast<uint8_t>(number(send_));
	set.acknowledged = static_cast<uint8_t>(number(expected_));
	set.round = round_;
	set.wanted = wanted_;
	set.load = load_;
	set.clock = clock_;
	clock_ = false;
	/* The line does not wait for a set to be full. */
	if (send_ == open_ && fill_) {
		open_++;
		fill_ = 0;
	}
	if (send_ == open_) {
		counters_.empty++;
		return set;
	}

	const Slot &slot = buffer_[number(send_++)];

	set.flit = slot.flit;
	set.count = slot.count;
	counters_.sets++;
	return set;
}

LcbTaken LcbEnd::take(const LcbBits &bits, LcbSet &out) noexcept
{
	return decode_set(bits, out) ? take(out) : damaged();
}

LcbTaken LcbEnd::take(const LcbSet &set) noexcept
{
	acknowledged(set);
	if (set.round != wanted_) {
		counters_.skipped += set.count != 0;
		return LcbTaken::Skipped;
	}
	waiting_ = false;
	if (set.sequence != number(expected_)) {
		counters_.skipped += set.count != 0;
		want_again();
		return LcbTaken::Skipped;
	}
	if (set.count == 0)
		return LcbTaken::Empty;
	expected_++;
	counters_.taken++;
	return LcbTaken::Flits;
}

/* Of what was damaged nothing is known, not even the round: while one is waited for, a whole set will show more. */
LcbTaken LcbEnd::damaged() noexcept
{
	counters_.crc_errors++;
	if (!waiting_)
		want_again();
	return LcbTaken::Damaged;
}

void LcbEnd::want_again() noexcept
{
	wanted_ = !wanted_;
	waiting_ = true;
	counters_.nacks++;
}

void LcbEnd::acknowledged(const LcbSet &set) noexcept
{
	const uint32_t more = number(set.acknowledged - base_);

	if (more > send_ - base_) {
		counters_.bad_acks++;
		bad_in_row_++;
		return;
	}
	bad_in_row_ = 0;
	base_ += more;
	if (set.wanted == round_)
		return;
	round_ = set.wanted;
	counters_.replays += send_ != base_;
	counters_.replayed += send_ - base_;
	send_ = base_;
}

} // namespace aries
