// SPDX-License-Identifier: GPL-2.0-or-later
/** @file Data frames of one session: kept until they are acknowledged, sent again if they may be lost, taken once. */
#ifndef ARIES_GATEWAY_FLOW_HPP
#define ARIES_GATEWAY_FLOW_HPP

#include <deque>
#include <memory>
#include <vector>

#include "gateway/frame.hpp"

namespace aries::gateway
{

/** A Data frame to be sent: room for the header, and records behind it. */
struct Outgoing {
	std::unique_ptr<std::byte[]> bytes; ///< FRAME_MAX of them
	size_t used = FRAME_HEADER;
	uint32_t messages = 0;
	bool sent = false; ///< at least once: no more messages are added

	/** Records; the last one without its padding. */
	Bytes body() const noexcept { return {bytes.get() + FRAME_HEADER, used - FRAME_HEADER}; }
};

/** Messages and their bytes. */
struct Amount {
	uint64_t messages = 0, bytes = 0;
};

/** Both directions of a session. Has no notion of time or keys. */
class Flow
{
public:
	/** @param window Data frames that may wait to be acknowledged */
	explicit Flow(size_t window) : window_(window) {}

	/** Adds a message; false if there is no room. @header and @payload together are at most MESSAGE_MAX bytes. */
	bool push(Bytes header, Bytes payload);

	/** The frame to be sent next, or null. Stays the same until sent(). */
	Outgoing *next() noexcept;
	uint64_t next_sequence() const noexcept { return first_ + cursor_; }
	/** The frame of next() has been sent. Return: whether that was a repetition. */
	bool sent() noexcept;
	/** All frames that are not acknowledged are to be sent again. */
	void rewind() noexcept { cursor_ = 0; }
	/** The first frame that is not acknowledged, sent or not. */
	uint64_t oldest() const noexcept { return first_; }
	/** Frames that have been sent and are not acknowledged. */
	size_t unacknowledged() const noexcept { return sent_; }
	bool waiting() const noexcept { return cursor_ < frames_.size(); }
	/** No frame is on its way or waits. */
	bool idle() const noexcept { return frames_.empty(); }
	/** The sequence number after those of all frames that were ever sent. */
	uint64_t end() const noexcept { return first_ + sent_; }

	/** The peer has all frames before @sequence; false if not all of them were sent. */
	bool acknowledged(uint64_t sequence) noexcept;

	enum class Arrival : uint8_t { Take, Duplicate, Gap };
	/** A frame has arrived. Return: Take exactly once for each frame, in the order of sequence numbers. */
	Arrival arrived(uint64_t sequence) noexcept;
	uint64_t expected() const noexcept { return expected_; }

	/** Messages that are not acknowledged; it is not known whether they have arrived. */
	Amount outstanding() const;
	/** Calls @visit(Bytes) with each message that is not acknowledged. */
	template <typename Visit> void for_each_outstanding(Visit &&visit) const
	{
		for (const Outgoing &frame : frames_)
			for_each_message(frame.body(), visit);
	}

private:
	bool fits(size_t message) const noexcept;
	Outgoing fresh();

	size_t window_;
	std::deque<Outgoing> frames_; // not acknowledged: the first sent_ of them have been sent
	uint64_t first_ = 1;          // sequence number of frames_[0]
	size_t cursor_ = 0;           // frame to be sent next: below sent_ while frames are repeated
	size_t sent_ = 0;
	uint64_t expected_ = 1;
	std::vector<std::unique_ptr<std::byte[]>> free_;
};

} // namespace aries::gateway

#endif
