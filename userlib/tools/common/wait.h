// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Time and bounded waiting. No loop of the tools waits without a deadline.
 */
#ifndef TOOLS_WAIT_H
#define TOOLS_WAIT_H

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

namespace tools
{

/** Monotonic time in nanoseconds. */
inline uint64_t now_ns()
{
	timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

/** A point in time after which waiting is given up. */
class Deadline
{
public:
	explicit Deadline(double seconds) : end_(now_ns() + static_cast<uint64_t>(seconds * 1e9)) {}

	bool passed() const { return now_ns() >= end_; }

	/** Milliseconds left, 0 when the deadline has passed. */
	int64_t left_ms() const
	{
		uint64_t now = now_ns();
		return now >= end_ ? 0 : static_cast<int64_t>((end_ - now) / 1000000u);
	}

private:
	uint64_t end_;
};

/** What a poll does between two looks: Hot keeps the CPU, Fair sleeps for 0.1 ms after a while, Mild ever longer. */
enum class Patience { Hot, Fair, Mild };

/**
 * Calls @p ready until it returns true.
 * @return false when the deadline passed first
 */
template <class Ready> bool poll_until(Ready ready, const Deadline &deadline, Patience patience = Patience::Hot)
{
	long pause_ns = 50000;
	for (uint32_t spin = 1;; spin++) {
		if (ready())
			return true;
		if (spin % 512 == 0) {
			if (deadline.passed())
				return false;
			sched_yield();
		}
		if (patience != Patience::Hot && spin > 2000) {
			timespec pause = {0, pause_ns};
			nanosleep(&pause, nullptr);
			/* Who has waited for long leaves the processor to those that work. */
			pause_ns = std::min(pause_ns + pause_ns / 4, patience == Patience::Fair ? 100000L : 2000000L);
			if (deadline.passed())
				return false;
		}
	}
}

} // namespace tools

#endif // TOOLS_WAIT_H
