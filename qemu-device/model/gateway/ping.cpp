// SPDX-License-Identifier: GPL-2.0-or-later
#include "gateway/ping.hpp"

#include <algorithm>

namespace aries::gateway
{

Echo::Echo(std::function<bool(uint32_t, Bytes)> send, std::function<void()> wake)
	: send_(std::move(send)), wake_(std::move(wake))
{
}

void Echo::take(uint32_t host, Bytes message)
{
	const std::lock_guard guard(mutex_);
	const bool behind = std::any_of(waiting_.begin(), waiting_.end(),
					[host](const Waiting &waiting) { return waiting.host == host; });

	if (!behind && send_(host, message))
		return;
	waiting_.push_back({host, {message.begin(), message.end()}});
	wake_();
}

void Echo::forget(uint32_t host)
{
	const std::lock_guard guard(mutex_);

	std::erase_if(waiting_, [host](const Waiting &waiting) { return waiting.host == host; });
}

bool Echo::retry()
{
	const std::lock_guard guard(mutex_);
	std::vector<uint32_t> full;

	for (auto at = waiting_.begin(); at != waiting_.end();) {
		if (std::find(full.begin(), full.end(), at->host) == full.end() && send_(at->host, at->message)) {
			at = waiting_.erase(at);
		} else {
			full.push_back(at->host);
			at++;
		}
	}
	return !waiting_.empty();
}

Ping::Ping(const PingOptions &options, std::function<bool(Bytes)> send)
	: options_(options), send_(std::move(send)), message_(options.size)
{
}

std::byte Ping::pattern(uint64_t number, size_t at) const noexcept
{
	return std::byte(number * 131 + at * 7);
}

/* Compares the number and some bytes: comparing all of them would dominate the measurement. */
bool Ping::right(Bytes message) const noexcept
{
	uint64_t number = 0;

	if (message.size() != options_.size)
		return false;
	std::memcpy(&number, message.data(), sizeof(number));
	if (number != expected_)
		return false;
	for (size_t at = sizeof(number); at < message.size(); at += 509)
		if (message[at] != pattern(number, at))
			return false;
	return message.size() == sizeof(number) || message.back() == pattern(number, message.size() - 1);
}

void Ping::send_one()
{
	std::memcpy(message_.data(), &next_, sizeof(next_));
	for (size_t at = sizeof(next_); at < message_.size(); at += 509)
		message_[at] = pattern(next_, at);
	if (message_.size() > sizeof(next_))
		message_.back() = pattern(next_, message_.size() - 1);
	if (!send_(message_))
		return;
	next_++;
	result_.sent++;
}

/* Sends as many messages as may be on their way. A message without room is sent when another one has returned. */
void Ping::fill()
{
	const uint64_t on_their_way = next_ - expected_;

	if (!up_ || done_ || (options_.bursts && on_their_way))
		return;
	for (uint64_t i = on_their_way; i < options_.flight; i++)
		send_one();
}

bool Ping::enough() const
{
	if (options_.seconds > 0)
		return started_ && SteadyClock::now() - *started_ >= std::chrono::duration<double>(options_.seconds);
	return result_.returned >= options_.count;
}

void Ping::up()
{
	const std::lock_guard guard(mutex_);

	result_.ups++;
	up_ = true;
	last_ = SteadyClock::now();
	if (!started_)
		started_ = last_;
	fill();
}

void Ping::down(const std::string &reason)
{
	const std::lock_guard guard(mutex_);

	result_.downs++;
	result_.lost += next_ - expected_;
	expected_ = next_;
	up_ = false;
	reason_ = "the host is away: " + reason;
}

void Ping::take(Bytes message)
{
	const std::lock_guard guard(mutex_);

	if (!right(message)) {
		uint64_t number = 0;

		result_.wrong++;
		std::memcpy(&number, message.data(), std::min(message.size(), sizeof(number)));
		expected_ = std::clamp(number + 1, expected_, next_);
	} else {
		expected_++;
	}
	last_ = SteadyClock::now();
	result_.all_returned++;
	if (result_.all_returned <= options_.warm_up) {
		measured_ = last_;
	} else if (!done_) {
		result_.returned++;
		result_.seconds = std::chrono::duration<double>(last_ - measured_.value_or(*started_)).count();
	}
	if (enough()) {
		done_ = true;
		if (expected_ == next_)
			changed_.notify_all();
	}
	fill();
}

PingResult Ping::run(const std::function<bool()> &stop)
{
	std::unique_lock lock(mutex_);

	last_ = SteadyClock::now();
	while (!(done_ && expected_ == next_)) {
		changed_.wait_for(lock, std::chrono::milliseconds(100));
		done_ = done_ || enough();
		if (stop()) {
			result_.gave_up = "it was stopped";
			break;
		}
		if (SteadyClock::now() - last_ > std::chrono::duration<double>(options_.patience)) {
			result_.gave_up = up_ ? "nothing comes back" : reason_;
			break;
		}
	}
	return result_;
}

} // namespace aries::gateway
