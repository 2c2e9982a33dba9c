// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/** @file How another host's clock stands and goes beside ours, from times in beats and their answers. */
#ifndef ARIES_GATEWAY_CLOCK_HPP
#define ARIES_GATEWAY_CLOCK_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace aries::gateway
{

/** What is known of another host's CLOCK_MONOTONIC. */
struct ClockEstimate {
	bool known = false;
	int64_t offset_ns = 0;       ///< that clock less ours, now
	uint64_t uncertainty_ns = 0; ///< half of the round trip that it was seen with: the truth is not farther away
	bool drift_known = false;    ///< after a few spans
	double drift_ppm = 0;        ///< how much faster it goes than ours
	uint64_t round_trip_ns = 0;  ///< the shortest of the last few beats
};

/**
 * As NTP does it: of four times the offset is the mean of the two differences, and wrong by half of the round trip at
 * most, so of each span of time the beat with the shortest round trip counts. The drift is the slope of a line through
 * those of many spans.
 */
class Clock
{
public:
	/** @param span_ns how long beats compete with each other */
	explicit Clock(uint64_t span_ns) : span_ns_(span_ns) {}

	/** Ours when the beat was sent, theirs when it came and was answered, ours when the answer came. */
	void add(uint64_t sent, uint64_t received, uint64_t answered, uint64_t now);
	ClockEstimate estimate(uint64_t now) const;

private:
	struct Sample {
		uint64_t at = 0, round_trip = 0;
		int64_t offset = 0;
	};
	static constexpr size_t RECENT = 16, SPANS = 60;

	const Sample *best_recent() const noexcept;
	bool slope(double &ppm) const;

	uint64_t span_ns_;
	uint64_t span_start_ = 0;
	std::array<Sample, RECENT> recent_;
	size_t count_ = 0;          // ever added
	std::vector<Sample> spans_; // the best of each, the last one still open
};

} // namespace aries::gateway

#endif
