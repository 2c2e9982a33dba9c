// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Puts, gets, block transfers, atomics and remote events to one other worker, each result checked.
 */
#ifndef CHAOS_TRAFFIC_H
#define CHAOS_TRAFFIC_H

#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "session.h"

namespace chaos
{

/** What a worker must have done since the faults have ended, one bit each. */
enum Lap : unsigned {
	lap_put = 1,
	lap_get = 2,
	lap_block = 4,
	lap_atomic = 8,
	lap_event = 16,
	lap_message = 32,
	lap_ping = 64,
	lap_collective = 128,
	lap_all = 255,
};

class Traffic
{
public:
	Traffic(Session &session, int to);

	/** One operation. @return bits of what has succeeded */
	unsigned step(std::mt19937_64 &random);

	/** What an event that is missing looks like. */
	std::string state() const;

	/** The other one has another life: nothing is known of its memory. */
	void restarted() { unknown_ = true; }

private:
	struct Difference {
		size_t bytes = 0, first = 0, last = 0;
	};
	Difference compare(size_t at, size_t size) const;

	/** Something is not as it should be: unless the other one has restarted, that is a failure. */
	unsigned complain(const std::string &what);
	bool same_life();
	bool synchronize(std::mt19937_64 &random);
	unsigned put(std::mt19937_64 &random, bool block, bool event);
	unsigned get(std::mt19937_64 &random, bool block);
	unsigned atomic();
	unsigned audit();
	Outcome read(size_t at, size_t size);
	Outcome execute(gni_post_descriptor_t &descriptor);
	void remember(std::string what);

	Session &session_;
	int to_;
	bool unknown_ = true;
	std::vector<uint8_t> shadow_;
	uint64_t word_least_ = 0, word_most_ = 0; /* additions there */
	uint64_t events_life_ = 0;
	uint64_t events_least_ = 0, events_most_ = 0; /* that the other one has got, or will have */
	uint64_t overruns_ = 0;
	std::deque<std::string> history_; /* what was done last */
};

} // namespace chaos

#endif // CHAOS_TRAFFIC_H
