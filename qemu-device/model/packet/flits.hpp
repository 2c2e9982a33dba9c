// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * How many flits packets take (P02 to P04).
 *
 * A request starts with 128 bits of header, a response with 32 bits. What carries data has 16 more header bits, the
 * data, and a CRC of 16 bits in the end of the last flit; what carries none has the CRC behind the header. That
 * gives the 14 + 1 flits of a 64-byte put and the 3 + 12 of a 64-byte get.
 */
#ifndef ARIES_PACKET_FLITS_HPP
#define ARIES_PACKET_FLITS_HPP

#include <cstdint>

namespace aries
{

inline constexpr uint32_t FLIT_BYTES = 6;    ///< 48 bits (P02)
inline constexpr uint32_t PACKET_BYTES = 64; ///< data in a packet, at most (P01)
inline constexpr uint32_t PACKET_CRC_BYTES = 2;
inline constexpr uint32_t REQUEST_HEADER_FLITS = 3;
inline constexpr uint32_t RESPONSE_HEADER_FLITS = 1;
inline constexpr uint32_t MAX_PACKET_FLITS = 14;

/** What a request asks for. Block transfers are puts and gets; only their channel operation is a kind of its own. */
enum class PacketKind : uint8_t {
	Put,      ///< data to memory
	Get,      ///< data from memory
	Amo,      ///< atomic without a result; data are one or two operands
	FetchAmo, ///< atomic with a result
	CqWrite,  ///< 48 bits for a completion queue
	BteSend,  ///< data of a block transfer without an address (N16)
};

inline constexpr uint32_t PACKET_KINDS = 6;

constexpr bool carries_data(PacketKind kind)
{
	return kind != PacketKind::Get;
}

constexpr bool returns_data(PacketKind kind)
{
	return kind == PacketKind::Get || kind == PacketKind::FetchAmo;
}

/** Flits of @p bytes of data (0 to 64) and the CRC. */
constexpr uint32_t data_flits(uint32_t bytes)
{
	return (bytes + PACKET_CRC_BYTES + FLIT_BYTES - 1) / FLIT_BYTES;
}

/** Flits of one request packet. @p bytes counts what it carries, or for a get what it asks for; at most 64. */
constexpr uint32_t request_flits(PacketKind kind, uint32_t bytes)
{
	return REQUEST_HEADER_FLITS + (carries_data(kind) ? data_flits(bytes) : 0);
}

/**
 * Flits of its response. @p bytes counts what the request asks for, or carries; ignored for what returns nothing. An
 * atomic returns one word however many operands it has.
 */
constexpr uint32_t response_flits(PacketKind kind, uint32_t bytes)
{
	if (!returns_data(kind))
		return RESPONSE_HEADER_FLITS;
	return RESPONSE_HEADER_FLITS + data_flits(kind == PacketKind::FetchAmo && bytes > 8 ? 8 : bytes);
}

/** Flits of a response that reports an error: header and status (as the third phit of Gemini, G12). */
inline constexpr uint32_t ERROR_RESPONSE_FLITS = RESPONSE_HEADER_FLITS + 1;

/** What a transfer puts on the network. */
struct TransferFlits {
	uint32_t packets;  ///< requests, and as many responses
	uint32_t request;  ///< flits of all requests
	uint32_t response; ///< flits of all responses
};

/** A transfer of @p bytes (up to 2^32 - 1, N15), split into packets of 64 (P01). One of 0 bytes is one packet. */
constexpr TransferFlits transfer_flits(PacketKind kind, uint32_t bytes)
{
	const uint32_t full = bytes / PACKET_BYTES;
	const uint32_t rest = bytes % PACKET_BYTES;
	TransferFlits sum{full, full * request_flits(kind, PACKET_BYTES), full * response_flits(kind, PACKET_BYTES)};

	if (rest || !full) {
		sum.packets++;
		sum.request += request_flits(kind, rest);
		sum.response += response_flits(kind, rest);
	}
	return sum;
}

static_assert(request_flits(PacketKind::Put, 64) == 14 && response_flits(PacketKind::Put, 64) == 1, "P03");
static_assert(request_flits(PacketKind::Get, 64) == 3 && response_flits(PacketKind::Get, 64) == 12, "P04");

} // namespace aries

#endif
