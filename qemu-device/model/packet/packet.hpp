// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Packets and their form on the wire.
 *
 * Request header, most significant bit first: class 1 (0), kind 3, VC 2, target 18, source 18, MDH 12, offset 40
 * (N01), SSID 8, packet id 10 (N20), routing 3, key tag 7, length 6; 128 bits. With data, 16 bits of atomic command
 * follow. Response header: class 1 (1), error 1, VC 2, target 18, packet id 10; 32 bits. With data or a status, 16
 * bits follow: length 6, zero 4, status 6. Lengths are modulo 64; the number of flits tells 64 from 0.
 *
 * The 32-bit key of the domain has no room in 3 flits. Its tag of 7 bits travels, and the CRC of a request begins
 * with the key, so a packet of another domain fails the tag or the CRC (23 independent bits of the key).
 */
#ifndef ARIES_PACKET_PACKET_HPP
#define ARIES_PACKET_PACKET_HPP

#include <array>
#include <cstdint>
#include <span>

#include "packet/flits.hpp"

namespace aries
{

inline constexpr uint32_t PE_BITS = 18;        ///< (N01)
inline constexpr uint32_t MDH_BITS = 12;       ///< (N01)
inline constexpr uint32_t OFFSET_BITS = 40;    ///< (N01)
inline constexpr uint32_t SSID_BITS = 8;       ///< as Gemini (G25)
inline constexpr uint32_t PACKET_ID_BITS = 10; ///< one for each of the 1,024 outstanding packets (N20)
inline constexpr uint32_t VC_BITS = 2;         ///< four of requests, four of responses (P12)
inline constexpr uint32_t ROUTING_BITS = 3;
inline constexpr uint32_t KEY_TAG_BITS = 7;
inline constexpr uint32_t COMMAND_BITS = 16;
inline constexpr uint32_t STATUS_BITS = 6;

/** Where a request goes: the 70 bits of the network address (N01). */
struct NetworkAddress {
	uint32_t pe;     ///< node, 18 bits
	uint16_t mdh;    ///< memory domain handle, 12 bits
	uint64_t offset; ///< 40 bits
};

struct Request {
	PacketKind kind;
	NetworkAddress to;
	uint32_t source;    ///< node that gets the response, 18 bits
	uint32_t key;       ///< of the communication domain; not set by decode
	uint16_t packet_id; ///< 10 bits, returned in the response
	uint8_t ssid;       ///< sequence that the packet is part of (N19)
	uint8_t vc;         ///< 2 bits
	uint8_t routing;    ///< routing control, 3 bits
	uint8_t bytes;      ///< 0 to 64 carried, or 1 to 64 asked for by a get
	uint16_t command;   ///< atomic command; 0 in other kinds
	std::array<uint8_t, PACKET_BYTES> data;
};

struct Response {
	uint32_t target;    ///< node that sent the request, 18 bits
	uint16_t packet_id; ///< of the request
	uint8_t vc;         ///< 2 bits
	uint8_t status;     ///< ARIES_ST_* code; not 0: the response carries no data
	uint8_t bytes;      ///< 0 to 64
	std::array<uint8_t, PACKET_BYTES> data;
};

/** A packet on the wire: flits of 48 bits, in the low bits of a word. */
struct FlitPacket {
	uint32_t count;
	std::array<uint64_t, MAX_PACKET_FLITS> flit;

	std::span<const uint64_t> flits() const { return {flit.data(), count}; }
};

/** What became of decoding. */
enum class DecodeResult : uint8_t {
	Ok,
	Length, ///< number of flits does not fit the packet
	Kind,   ///< not a packet of this class, or of no known kind
	Field,  ///< a field holds what it must not
	Key,    ///< sent in another domain
	Crc,    ///< damaged, or (seldom) sent in another domain
};

/** Tag of a key that travels in the header. */
uint8_t key_tag(uint32_t key) noexcept;

/**
 * Encode a packet. Fields wider than the wire are refused.
 * @return false if a field does not fit; @p out is undefined then
 */
bool encode(const Request &request, FlitPacket &out) noexcept;
bool encode(const Response &response, FlitPacket &out) noexcept;

/**
 * Decode without checking key or CRC: the receiver needs the memory domain first to know the key. A caller that
 * acts on any field calls check() before.
 */
DecodeResult decode(std::span<const uint64_t> flits, Request &out) noexcept;

/** Decode a response and check its CRC. */
DecodeResult decode(std::span<const uint64_t> flits, Response &out) noexcept;

/** Check key and CRC of a request that decode() accepted. */
DecodeResult check(std::span<const uint64_t> flits, uint32_t key) noexcept;

} // namespace aries

#endif
