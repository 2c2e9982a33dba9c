// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "nicstats.h"

#include <fstream>

#include "failure.h"

namespace tools
{

NicStats::NicStats(uint32_t device) : dir_(format("/sys/class/gni/kgni%u/stats/", device)) {}

std::optional<uint64_t> NicStats::read(const std::string &name) const
{
	std::ifstream file(dir_ + name);
	uint64_t value;
	if (!(file >> value))
		return std::nullopt;
	return value;
}

} // namespace tools
