// SPDX-License-Identifier: GPL-2.0-or-later
/** @file Offset and drift of another host's clock against ours, from times in beats and their answers. */
#ifndef ARIES_GATEWAY_CLOCK_HPP
#define ARIES_GATEWAY_CLOCK_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace aries::gateway
{

/** Another host's CLOCK_MONOTONIC against ours. */
struct ClockEstimate {
	bool known = false;
	int64_t offset_ns = 0;       ///< that clock less ours, now
	uint64_t uncertainty_ns = 0; ///< half of the round trip of the beat: the offset is not wrong by more
	bool drift_known = false;    ///< true after a few spans
	double drift_ppm = 0;        ///< by how much that clock is faster than ours
	uint64_t round_trip_ns = 0;  ///< the shortest of the last few beats
};

/**
 * As NTP does: a beat and its answer give four times. The offset is the mean of the two differences, and wrong by half
 * of the round trip at most. So of each span of time the beat with the shortest round trip counts, and the drift is the
 * slope of a line through these beats.
 */
class Clock
{
public:
	/** @param span_ns length of a span, of whose beats the best one counts */
	explicit Clock(uint64_t span_ns) : span_ns_(span_ns) {}

	/**
	 * @param sent our time at which the beat was sent
	 * @param received the other host's time at which the beat arrived
	 * @param answered the other host's time at which the answer was sent
	 * @param now our time at which the answer arrived
	 */
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
	size_t count_ = 0;          // samples added so far
	std::vector<Sample> spans_; // the best sample of each span; the last span is not over
};

} // namespace aries::gateway

#endif
