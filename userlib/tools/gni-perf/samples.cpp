// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "samples.h"

#include <algorithm>
#include <cmath>

namespace perf
{

uint64_t Samples::percentile(double percent)
{
	if (values_.empty())
		return 0;
	if (!sorted_) {
		std::sort(values_.begin(), values_.end());
		sorted_ = true;
	}
	auto rank = static_cast<size_t>(std::ceil(percent / 100 * static_cast<double>(values_.size())));
	return values_[std::clamp<size_t>(rank, 1, values_.size()) - 1];
}

} // namespace perf
