// SPDX-License-Identifier: GPL-2.0-or-later
/** @file Frames between gateways, and the messages in them. See Documentation/gateway-wire.md. */
#ifndef ARIES_GATEWAY_FRAME_HPP
#define ARIES_GATEWAY_FRAME_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace aries::gateway
{

using Bytes = std::span<const std::byte>;

inline constexpr uint32_t FRAME_MAGIC = 0x57474e4f; // "ONGW"
inline constexpr uint8_t FRAME_VERSION = 1;
inline constexpr size_t MESSAGE_MAX = 64 * 1024 + 256; ///< bytes of a message, header and payload together
inline constexpr size_t FRAME_HEADER = 48;
inline constexpr size_t FRAME_TAG = 16;
inline constexpr size_t RECORD_HEADER = 8; ///< before each message: its length
inline constexpr size_t FRAME_MAX = FRAME_HEADER + RECORD_HEADER + MESSAGE_MAX + FRAME_TAG;

enum class FrameType : uint8_t {
	Hello = 1,  ///< identity of the sender, before there is a session
	Refuse = 2, ///< the reason why there will be no session
	Data = 3,   ///< messages
	Beat = 4,   ///< sign of life, with the sender's time
	Answer = 5, ///< to a beat, with times
	Ack = 6,    ///< frames that have arrived, and whether one is missing
	Bye = 7,    ///< the sender ends
};

/** Start of a frame, little-endian. */
struct FrameHeader {
	uint32_t magic = FRAME_MAGIC;
	uint8_t version = FRAME_VERSION;
	FrameType type = FrameType::Data;
	uint16_t flags = 0;
	uint64_t session = 0;      ///< 0 before there is a session
	uint64_t number = 0;       ///< of the frame in its session and direction; never used twice
	uint64_t sequence = 0;     ///< of this Data frame; in other frames, of the next Data frame
	uint64_t acknowledged = 0; ///< sequence number of the Data frame that is expected next
	uint32_t body = 0;         ///< bytes between header and tag
	uint32_t reserved = 0;
};
static_assert(sizeof(FrameHeader) == FRAME_HEADER);

inline constexpr uint16_t FLAG_MISSING = 1; ///< asks to send all frames from the acknowledged number on again

/** Times of a beat or its answer, each in ns of the CLOCK_MONOTONIC of the host that took it. */
struct FrameTimes {
	uint64_t sent = 0;     ///< when the beat was sent
	uint64_t received = 0; ///< when the beat arrived, 0 in a beat
	uint64_t answered = 0; ///< when the answer was sent, 0 in a beat
};

/** A parsed frame of our version, whose lengths agree; the tag is not verified. */
struct Frame {
	FrameHeader header;
	Bytes body;
	Bytes sealed; ///< header and body, which the tag covers
	Bytes tag;
};

/** Whether these are the first bytes of a frame of any version. */
bool is_frame(Bytes bytes) noexcept;
/** Header of bytes for which is_frame() holds. */
FrameHeader peek(Bytes bytes) noexcept;

/** Empty if the bytes are no frame of this version whose tag has @tag_bytes. Does not verify the sender. */
std::optional<Frame> parse_frame(Bytes bytes, size_t tag_bytes) noexcept;

/** Room that a message takes in a frame; records start at multiples of 8. */
constexpr size_t record_bytes(size_t message) noexcept
{
	return RECORD_HEADER + (message + 7) / 8 * 8;
}

/** Calls @visit(Bytes) with each message of a Data frame's body; false if the body is not made of whole records. */
template <typename Visit> bool for_each_message(Bytes body, Visit &&visit)
{
	while (!body.empty()) {
		uint32_t length[2];

		if (body.size() < RECORD_HEADER)
			return false;
		std::memcpy(length, body.data(), sizeof(length));
		if (length[1] || length[0] > MESSAGE_MAX || body.size() - RECORD_HEADER < length[0])
			return false;
		visit(body.subspan(RECORD_HEADER, length[0]));
		body = body.subspan(std::min(body.size(), record_bytes(length[0])));
	}
	return true;
}

} // namespace aries::gateway

#endif
