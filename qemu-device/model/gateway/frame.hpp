// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/** @file What gateways send each other: frames, and the messages in them. See Documentation/gateway-wire.md. */
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
	Hello = 1,  ///< who I am, before there is a session
	Refuse = 2, ///< why there will be none
	Data = 3,   ///< messages
	Beat = 4,   ///< I am here, and this is my time
	Answer = 5, ///< to a beat, with times
	Ack = 6,    ///< what has come, and whether something is missing
	Bye = 7,    ///< this end goes
};

/** Start of a frame, little-endian as it lies there. */
struct FrameHeader {
	uint32_t magic = FRAME_MAGIC;
	uint8_t version = FRAME_VERSION;
	FrameType type = FrameType::Data;
	uint16_t flags = 0;
	uint64_t session = 0;      ///< 0 before there is one
	uint64_t number = 0;       ///< of the frame in its session and direction: never used twice
	uint64_t sequence = 0;     ///< of this Data frame; of the next one in other frames
	uint64_t acknowledged = 0; ///< of the Data frame that is expected next
	uint32_t body = 0;         ///< bytes between header and tag
	uint32_t reserved = 0;
};
static_assert(sizeof(FrameHeader) == FRAME_HEADER);

inline constexpr uint16_t FLAG_MISSING = 1; ///< send again from what is acknowledged on

/** Times of a beat or its answer, in ns of CLOCK_MONOTONIC of the host that reads it. */
struct FrameTimes {
	uint64_t sent = 0;     ///< when the beat was sent
	uint64_t received = 0; ///< when it came, 0 in a beat
	uint64_t answered = 0; ///< when the answer was sent, 0 in a beat
};

/** What stands before the tag: the frame is of our version and its lengths agree. */
struct Frame {
	FrameHeader header;
	Bytes body;
	Bytes sealed; ///< header and body: what a tag is about
	Bytes tag;
};

/** Whether these are the first bytes of a frame of any version. */
bool is_frame(Bytes bytes) noexcept;
/** Version and type of what is_frame(). */
FrameHeader peek(Bytes bytes) noexcept;

/** Nothing if the bytes are no frame of this version whose tag has @tag_bytes. Says nothing about who sent it. */
std::optional<Frame> parse_frame(Bytes bytes, size_t tag_bytes) noexcept;

/** Room that a message takes in a frame; records start at multiples of 8. */
constexpr size_t record_bytes(size_t message) noexcept
{
	return RECORD_HEADER + (message + 7) / 8 * 8;
}

/** Calls @visit(Bytes) with each message of a Data frame's body; false if it is not made of whole records. */
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
