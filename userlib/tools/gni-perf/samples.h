// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Latencies and their percentiles.
 */
#ifndef GNI_PERF_SAMPLES_H
#define GNI_PERF_SAMPLES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace perf
{

/** Latencies of single transfers. */
class Samples
{
public:
	void add(uint64_t ns)
	{
		values_.push_back(ns);
		sorted_ = false;
	}
	size_t count() const { return values_.size(); }

	/** Nearest-rank percentile, @p percent from 0 to 100; 0 without samples. */
	uint64_t percentile(double percent);

private:
	std::vector<uint64_t> values_;
	bool sorted_ = false;
};

} // namespace perf

#endif // GNI_PERF_SAMPLES_H
