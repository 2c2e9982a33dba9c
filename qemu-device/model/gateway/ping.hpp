// SPDX-License-Identifier: GPL-2.0-or-later
/** @file Messages that are sent back: measures their time, and checks that all return once, in order and unchanged. */
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

/** Sends received messages back. */
class Echo
{
public:
	/** @param send as Wire::send without a header; @param wake called when retry() is to be called */
	Echo(std::function<bool(uint32_t, Bytes)> send, std::function<void()> wake);

	/** Takes a message. Called by the wire's thread. */
	void take(uint32_t host, Bytes message);
	/** A session has ended: messages that wait for @p host are dropped. */
	void forget(uint32_t host);
	/** Sends messages that had no room. Return: whether some are left. */
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
	bool bursts = false;   ///< sends the next @ref flight messages when all of the last have returned
	uint64_t count = 1000; ///< messages to measure
	double seconds = 0;    ///< time to measure instead, if not 0
	uint64_t warm_up = 0;  ///< messages that return before the measurement begins
	double patience = 30;  ///< seconds without a returned message, after which run() gives up
};

struct PingResult {
	uint64_t returned = 0; ///< measured messages
	double seconds = 0;
	uint64_t sent = 0, all_returned = 0;
	uint64_t lost = 0;  ///< messages on their way when the host went away
	uint64_t wrong = 0; ///< messages that were changed, repeated or out of order
	uint64_t ups = 0, downs = 0;
	std::string gave_up; ///< why run() gave up, or empty
};

/** The other end: sends messages, and compares those that return. */
class Ping
{
public:
	Ping(const PingOptions &options, std::function<bool(Bytes)> send);

	/** Callbacks of the wire. */
	void up();
	void down(const std::string &reason);
	void take(Bytes message);

	/** Returns when enough messages were measured, or @stop returns true. Not on the wire's thread. */
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
