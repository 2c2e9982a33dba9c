// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * How many flits packets of Aries take (P02 to P04), by their kinds; chip/aries.hpp has their form.
 */
#ifndef ARIES_PACKET_FLITS_HPP
#define ARIES_PACKET_FLITS_HPP

#include <cstdint>

#include "chip/aries.hpp"

namespace aries
{

inline constexpr const chip::PacketForm &PACKET_FORM = chip::ARIES.packets;

inline constexpr uint32_t FLIT_BYTES = PACKET_FORM.unit_bits / 8;
inline constexpr uint32_t PACKET_BYTES = PACKET_FORM.data_bytes; ///< data in a packet, at most
inline constexpr uint32_t PACKET_CRC_BYTES = PACKET_FORM.tail_bytes;
inline constexpr uint32_t REQUEST_HEADER_FLITS = PACKET_FORM.request_header;
inline constexpr uint32_t RESPONSE_HEADER_FLITS = PACKET_FORM.response_header;
inline constexpr uint32_t MAX_PACKET_FLITS = chip::most_units(PACKET_FORM);

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

/** Payload of a completion queue write. */
inline constexpr uint32_t CQWRITE_BYTES = 6;

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
	return chip::data_units(PACKET_FORM, bytes);
}

/** Flits of one request packet. @p bytes counts what it carries, or for a get what it asks for; at most 64. */
constexpr uint32_t request_flits(PacketKind kind, uint32_t bytes)
{
	return chip::request_units(PACKET_FORM, carries_data(kind), bytes);
}

/**
 * Flits of its response. @p bytes counts what the request asks for, or carries; ignored for what returns nothing. An
 * atomic returns one word however many operands it has.
 */
constexpr uint32_t response_flits(PacketKind kind, uint32_t bytes)
{
	if (!returns_data(kind))
		return chip::response_units(PACKET_FORM, false, 0);
	return chip::response_units(PACKET_FORM, true, kind == PacketKind::FetchAmo && bytes > 8 ? 8 : bytes);
}

/** Flits of a response that reports an error: header and status. */
inline constexpr uint32_t ERROR_RESPONSE_FLITS = RESPONSE_HEADER_FLITS + PACKET_FORM.error_units;

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
