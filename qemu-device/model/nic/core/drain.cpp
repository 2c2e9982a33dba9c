/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/core/drain.hpp"

namespace aries
{

namespace
{

constexpr uint64_t OVERDUE_NS = 1'000'000'000;

} // namespace

uint64_t Drain::begin() noexcept
{
	const bool idle = done_ == asked_;

	asked_++;
	if (idle)
		advance();
	return asked_;
}

/* The other phase is empty: it was waited for last, and nobody has come into it since. */
void Drain::advance() noexcept
{
	phase_ = core_.own().epoch.fetch_add(1, std::memory_order_seq_cst) & 1;
	covers_ = asked_;
	since_ns_ = now_ns();
	told_ = false;
}

bool Drain::visits_ended() noexcept
{
	return !idle() && !core_.members.in_flight(phase_);
}

void Drain::finish() noexcept
{
	done_ = covers_;
	if (!idle())
		advance();
}

bool Drain::overdue(uint64_t now, char *who, size_t len) noexcept
{
	if (idle() || told_ || now < since_ns_ + OVERDUE_NS)
		return false;
	told_ = core_.members.visitors(phase_, who, len) != 0;
	return told_;
}

} // namespace aries
