// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/** @file Messages that are sent back: how long they take, and whether all come, once, in order and as they were. */
#ifndef ARIES_GATEWAY_PING_HPP
#define ARIES_GATEWAY_PING_HPP

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gateway/wire.hpp"

namespace aries::gateway
{

/** Sends back what comes. */
class Echo
{
public:
	/** @param send as Wire::send without a header; @param wake called when retry() should be */
	Echo(std::function<bool(uint32_t, Bytes)> send, std::function<void()> wake);

	/** A message; from the wire's thread. */
	void take(uint32_t host, Bytes message);
	/** A session has ended: what waits for that host is of it. */
	void forget(uint32_t host);
	/** Sends what had no room. Return: whether some is left. */
	bool retry();

private:
	struct Waiting {
		uint32_t host;
		std::vector<std::byte> message;
	};

	std::function<bool(uint32_t, Bytes)> send_;
	std::function<void()> wake_;
	std::mutex mutex_;
	std::deque<Waiting> waiting_;
};

struct PingOptions {
	uint32_t to = 0;
	size_t size = 8;       ///< bytes of a message, at least 8
	uint32_t flight = 1;   ///< messages on their way at once
	bool bursts = false;   ///< the next so many only when all of the last are back
	uint64_t count = 1000; ///< messages that are to come back
	double seconds = 0;    ///< or for so long, if not 0
	uint64_t warm_up = 0;  ///< that come back before it is measured
	double patience = 30;  ///< s without one coming back, after which it gives up
};

struct PingResult {
	uint64_t returned = 0; ///< of those measured
	double seconds = 0;
	uint64_t sent = 0, all_returned = 0;
	uint64_t lost = 0;  ///< on their way when the host went away
	uint64_t wrong = 0; ///< not what was sent, twice, or out of order
	uint64_t ups = 0, downs = 0;
	std::string gave_up; ///< why, if it did
};

/** The other end: sends, and compares what comes back. */
class Ping
{
public:
	Ping(const PingOptions &options, std::function<bool(Bytes)> send);

	/** Callbacks of the wire. */
	void up();
	void down(const std::string &reason);
	void take(Bytes message);

	/** Until it has counted enough, or @stop says so; any other thread. */
	PingResult run(const std::function<bool()> &stop);

private:
	using SteadyClock = std::chrono::steady_clock;

	void fill();
	void send_one();
	bool enough() const;
	std::byte pattern(uint64_t number, size_t at) const noexcept;
	bool right(Bytes message) const noexcept;

	PingOptions options_;
	std::function<bool(Bytes)> send_;
	std::mutex mutex_;
	std::condition_variable changed_;
	std::vector<std::byte> message_;
	PingResult result_;
	bool up_ = false, done_ = false;
	uint64_t next_ = 1, expected_ = 1; // numbers of messages
	std::optional<SteadyClock::time_point> started_, measured_;
	SteadyClock::time_point last_;
	std::string reason_ = "the host has not been heard of";
};

} // namespace aries::gateway

#endif
