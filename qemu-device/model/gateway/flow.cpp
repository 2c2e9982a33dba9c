// SPDX-License-Identifier: GPL-2.0-or-later
#include "gateway/flow.hpp"

namespace aries::gateway
{

namespace
{

constexpr size_t KEPT = 8; // free buffers that are not released

void put(Outgoing &frame, Bytes header, Bytes payload)
{
	const uint32_t length[2] = {uint32_t(header.size() + payload.size()), 0};
	std::byte *at = frame.bytes.get() + FRAME_HEADER + (frame.used - FRAME_HEADER + 7) / 8 * 8;

	std::memset(frame.bytes.get() + frame.used, 0, size_t(at - frame.bytes.get()) - frame.used);
	std::memcpy(at, length, sizeof(length));
	at += sizeof(length);
	if (!header.empty())
		std::memcpy(at, header.data(), header.size());
	if (!payload.empty())
		std::memcpy(at + header.size(), payload.data(), payload.size());
	frame.used = size_t(at - frame.bytes.get()) + length[0];
	frame.messages++;
}

} // namespace

bool Flow::fits(size_t message) const noexcept
{
	if (frames_.empty() || frames_.back().sent)
		return false;
	return (frames_.back().used + 7) / 8 * 8 + RECORD_HEADER + message <= FRAME_MAX - FRAME_TAG;
}

Outgoing Flow::fresh()
{
	Outgoing frame;

	if (free_.empty()) {
		frame.bytes = std::make_unique_for_overwrite<std::byte[]>(FRAME_MAX);
	} else {
		frame.bytes = std::move(free_.back());
		free_.pop_back();
	}
	return frame;
}

bool Flow::push(Bytes header, Bytes payload)
{
	if (!fits(header.size() + payload.size())) {
		if (frames_.size() >= window_)
			return false;
		frames_.push_back(fresh());
	}
	put(frames_.back(), header, payload);
	return true;
}

Outgoing *Flow::next() noexcept
{
	return waiting() ? &frames_[cursor_] : nullptr;
}

bool Flow::sent() noexcept
{
	const bool again = frames_[cursor_].sent;

	frames_[cursor_].sent = true;
	cursor_++;
	sent_ += !again;
	return again;
}

bool Flow::acknowledged(uint64_t sequence) noexcept
{
	if (sequence > end())
		return false;
	for (; first_ < sequence; first_++) {
		if (free_.size() < KEPT)
			free_.push_back(std::move(frames_.front().bytes));
		frames_.pop_front();
		sent_--;
		cursor_ -= cursor_ > 0;
	}
	return true;
}

Flow::Arrival Flow::arrived(uint64_t sequence) noexcept
{
	if (sequence != expected_)
		return sequence < expected_ ? Arrival::Duplicate : Arrival::Gap;
	expected_++;
	return Arrival::Take;
}

Amount Flow::outstanding() const
{
	Amount amount;

	for_each_outstanding([&amount](Bytes message) {
		amount.messages++;
		amount.bytes += message.size();
	});
	return amount;
}

} // namespace aries::gateway
