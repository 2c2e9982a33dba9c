// SPDX-License-Identifier: GPL-2.0-or-later
#include "gateway/clock.hpp"

#include <algorithm>
#include <cmath>

namespace aries::gateway
{

namespace
{

constexpr size_t FEWEST_SPANS = 4; // with fewer the drift is not known

} // namespace

void Clock::add(uint64_t sent, uint64_t received, uint64_t answered, uint64_t now)
{
	if (now < sent || answered < received || answered - received > now - sent)
		return; // a clock was set meanwhile, or the times make no sense
	const auto there = int64_t(received - sent), back = int64_t(answered - now);
	const Sample sample{now, now - sent - (answered - received), there + (back - there) / 2};

	recent_[count_++ % RECENT] = sample;
	if (spans_.empty() || now - span_start_ >= span_ns_) {
		if (spans_.size() == SPANS)
			spans_.erase(spans_.begin());
		spans_.push_back(sample);
		span_start_ = now;
	} else if (sample.round_trip <= spans_.back().round_trip) {
		spans_.back() = sample;
	}
}

const Clock::Sample *Clock::best_recent() const noexcept
{
	const size_t known = std::min(count_, RECENT);

	return known ? &*std::min_element(recent_.begin(), recent_.begin() + known,
					  [](const Sample &a, const Sample &b) { return a.round_trip < b.round_trip; })
		     : nullptr;
}

/* Least squares, relative to the first sample so that no digits are lost. */
bool Clock::slope(double &ppm) const
{
	double sum_t = 0, sum_o = 0, sum_tt = 0, sum_to = 0;
	const auto n = double(spans_.size());

	if (spans_.size() < FEWEST_SPANS)
		return false;
	for (const Sample &sample : spans_) {
		const double t = double(sample.at - spans_[0].at), o = double(sample.offset - spans_[0].offset);

		sum_t += t;
		sum_o += o;
		sum_tt += t * t;
		sum_to += t * o;
	}
	const double below = n * sum_tt - sum_t * sum_t;

	if (below <= 0)
		return false;
	ppm = (n * sum_to - sum_t * sum_o) / below * 1e6;
	return true;
}

ClockEstimate Clock::estimate(uint64_t now) const
{
	ClockEstimate estimate;
	const Sample *best = best_recent();

	if (!best)
		return estimate;
	estimate.known = true;
	estimate.round_trip_ns = best->round_trip;
	estimate.uncertainty_ns = best->round_trip / 2 + 1;
	estimate.drift_known = slope(estimate.drift_ppm);
	estimate.offset_ns = best->offset;
	if (estimate.drift_known)
		estimate.offset_ns += std::llround(estimate.drift_ppm * 1e-6 * double(now - best->at));
	return estimate;
}

} // namespace aries::gateway
