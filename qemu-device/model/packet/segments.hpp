// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Packets of QsNetIII on a link: segments, each with a header of its own (Q12, Q13), and a trailer (Q14). Lengths are
 * chip::ELITE5's.
 *
 * The source names the fields of a header and its CRC of 16 bits; their places and sizes are ours, as are the
 * polynomials. Big endian, from the first byte:
 *
 *     first     channel 5, last 1, priority 2, bytes 8, destination 16, timestamp 16, CRC 16
 *     others    channel 5, last 1, priority 2, bytes 8, CRC 16
 *     trailer   packet id 32, CRC 32 over payload and id
 *
 * "Bytes" are those of the segment behind its header, the trailer included.
 */
#ifndef ARIES_PACKET_SEGMENTS_HPP
#define ARIES_PACKET_SEGMENTS_HPP

#include <cstdint>
#include <span>
#include <vector>

namespace aries
{

/** What the headers of a packet say. */
struct SegmentFields {
	uint8_t channel;  ///< 0 to 31
	uint8_t priority; ///< 0 to 3
	uint16_t destination;
	uint16_t timestamp;

	bool operator==(const SegmentFields &) const = default;
};

/** Why a packet is refused: what it was sent over answers with a NACK (Q20). */
enum class SegmentFault : uint8_t {
	None,
	Header,  ///< the CRC of a header
	Form,    ///< lengths that do not fit together, another channel or priority than the first segment's
	Trailer, ///< the CRC over payload and id
};

struct ReceivedPacket {
	SegmentFault fault;
	SegmentFields header;
	uint32_t id;
	std::vector<uint8_t> payload; ///< with a fault as much as came before it

	bool operator==(const ReceivedPacket &) const = default;
};

/**
 * A packet as it is sent: wire_bytes() bytes.
 * @throws std::invalid_argument if a field of the header or the payload (4 KB) is too large
 */
std::vector<uint8_t> encode_segments(const SegmentFields &header, std::span<const uint8_t> payload, uint32_t id);

/** The packet in bytes that came; any bytes, as many as there are. */
ReceivedPacket decode_segments(std::span<const uint8_t> bytes);

} // namespace aries

#endif
