/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ras/faults.hpp"

#include <signal.h>

#include <algorithm>
#include <string>

#include "fabric/segment.hpp"

namespace aries
{

namespace
{

struct FaultLimit {
	std::string_view name;
	uint64_t max;
};

constexpr FaultLimit LIMITS[] = {
	{"drop", UINT32_MAX},
	{"drop-response", UINT32_MAX},
	{"corrupt", UINT32_MAX},
	{"delay-ns", 1'000'000'000},
	{"link", 1},
	{"reorder", 1},
	{"duplicate", UINT32_MAX},
	{"carrier", 1000},
};

} // namespace

std::atomic<uint64_t> *Faults::word(std::string_view name) noexcept
{
	if (name == "drop")
		return &drop_;
	if (name == "drop-response")
		return &drop_response_;
	if (name == "corrupt")
		return &corrupt_;
	if (name == "delay-ns")
		return &delay_ns_;
	if (name == "link")
		return &link_;
	if (name == "reorder")
		return &reorder_;
	if (name == "duplicate")
		return &duplicate_;
	if (name == "carrier")
		return &carrier_;
	return nullptr;
}

bool Faults::set(std::string_view name, uint64_t value)
{
	std::atomic<uint64_t> *fault = word(name);

	if (!fault)
		return false;
	for (const FaultLimit &limit : LIMITS) {
		if (limit.name == name && value > limit.max)
			throw Error("fault " + std::string(name) + " takes 0 to " + std::to_string(limit.max));
	}
	fault->store(value);
	rearm();
	return true;
}

void Faults::rearm() noexcept
{
	armed_.store(drop_ || drop_response_ || corrupt_ || delay_ns_ || reorder_ || duplicate_ || !link_ || carrier_ ||
		     orb_);
}

void Faults::hit_orb(uint32_t index, bool twice) noexcept
{
	orb_.store(ORB_HIT | (twice ? ORB_TWICE : 0) | index);
	rearm();
}

bool Faults::take_orb(uint32_t &index, bool &twice) noexcept
{
	const uint64_t word = orb_.load(std::memory_order_relaxed) ? orb_.exchange(0) : 0;

	if (!word)
		return false;
	rearm();
	index = uint32_t(word);
	twice = word & ORB_TWICE;
	return true;
}

bool Faults::get(std::string_view name, uint64_t &value) const noexcept
{
	const std::atomic<uint64_t> *fault = const_cast<Faults *>(this)->word(name);

	if (fault)
		value = fault->load();
	return fault != nullptr;
}

/* Steps of a Weyl sequence, mixed (SplitMix64). */
uint64_t Faults::random() noexcept
{
	uint64_t z = random_.fetch_add(0x9e3779b97f4a7c15, std::memory_order_relaxed);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

void Faults::carrier_step() noexcept
{
	if (carrier_.load() && carrier_.fetch_sub(1) == 1)
		(void)raise(SIGKILL);
}

uint32_t Faults::take(std::atomic<uint64_t> &from, uint32_t packets) noexcept
{
	uint64_t have = from.load(std::memory_order_relaxed);
	uint64_t taken;

	do {
		taken = std::min<uint64_t>(have, packets);
	} while (taken && !from.compare_exchange_weak(have, have - taken));
	return uint32_t(taken);
}

} // namespace aries
