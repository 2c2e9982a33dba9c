// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Counters of the NIC as the driver shows them in sysfs.
 */
#ifndef TOOLS_NICSTATS_H
#define TOOLS_NICSTATS_H

#include <cstdint>
#include <optional>
#include <string>

namespace tools
{

/** Reads /sys/class/gni/kgniN/stats. */
class NicStats
{
public:
	explicit NicStats(uint32_t device);

	/** Value of a counter of aries_hw.h by its lower-case name; empty when the driver does not show it. */
	std::optional<uint64_t> read(const std::string &name) const;

private:
	std::string dir_;
};

/** Difference of a counter between construction and now. */
class CounterDelta
{
public:
	CounterDelta(const NicStats &stats, std::string name)
		: stats_(stats), name_(std::move(name)), start_(stats.read(name_))
	{
	}

	/** Empty when the counter is not there. */
	std::optional<uint64_t> value() const
	{
		auto now = stats_.read(name_);
		if (!now || !start_)
			return std::nullopt;
		return *now - *start_;
	}

private:
	const NicStats &stats_;
	std::string name_;
	std::optional<uint64_t> start_;
};

} // namespace tools

#endif // TOOLS_NICSTATS_H
