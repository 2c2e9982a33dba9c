// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * A switch whose links hold a channel for each packet until it is answered, as constants: another kind of chip than
 * those of chip.hpp. It has no NICs and no tiles, its packets are as long as their sender likes, in segments, and there
 * are no packets of responses: what answers one is a token on the way back.
 *
 * Payload is what a packet carries between its headers and its trailer: addresses for the adapter at its end are part
 * of it.
 */
#ifndef ARIES_CHIP_SWITCH_HPP
#define ARIES_CHIP_SWITCH_HPP

#include <cstdint>

namespace aries::chip
{

/** Packets are cut into segments, each with a header: the first says where to, the others that they belong to it. */
struct SegmentForm {
	uint32_t segment_bytes; ///< at most, its header included
	uint32_t first_header;  ///< bytes
	uint32_t next_header;   ///< bytes
	uint32_t trailer;       ///< bytes behind the payload, in the last segment if it has room
	uint32_t address_bytes; ///< of the payload of a put, which tell where to
	uint32_t most_payload;  ///< of a packet
	uint32_t usual_payload; ///< of those that a large transfer is cut into
	uint32_t header_crc_bits;
	uint32_t trailer_crc_bits;
};

/** A link in one direction. */
struct SerialForm {
	uint32_t lanes;
	uint32_t lane_mbit; ///< per second, raw, of each lane
	uint32_t code_data; ///< bits of data ...
	uint32_t code_line; ///< ... that the line code sends as so many
};

/** Virtual channels of a link: each has one packet at a time, from its first byte until it is answered. */
struct HeldForm {
	uint32_t channels;     ///< of a link
	uint32_t outstanding;  ///< packets of an adapter on each of its links
	uint32_t buffer_bytes; ///< at the end of a link, of each channel
	uint32_t pool_buffers; ///< as large as these, for any channel that needs more
};

/** Clocks, and times of a quiet network. */
struct SwitchTimes {
	uint32_t switch_mhz;
	uint32_t adapter_mhz;
	uint32_t crossing_ns;    ///< of a switch, at most
	uint32_t write_least_ns; ///< from the last byte at the destination's adapter to memory
	uint32_t write_most_ns;
};

struct Switch {
	const char *name;
	const char *adapter; ///< name of the chip at the ends
	uint32_t radix;      ///< links
	SegmentForm packets;
	SerialForm line;
	HeldForm channels;
	SwitchTimes times;
	uint32_t most_nodes; ///< of a machine
};

/** Segments of a packet with @p payload bytes. */
constexpr uint32_t segments(const SegmentForm &form, uint32_t payload)
{
	const uint32_t bytes = payload + form.trailer, first = form.segment_bytes - form.first_header;
	const uint32_t next = form.segment_bytes - form.next_header;

	return bytes <= first ? 1 : 1 + (bytes - first + next - 1) / next;
}

/** Bytes of the same packet on a link, before the line code. */
constexpr uint32_t wire_bytes(const SegmentForm &form, uint32_t payload)
{
	return payload + form.trailer + form.first_header + (segments(form, payload) - 1) * form.next_header;
}

/** Bytes of a put of @p data bytes on a link. */
constexpr uint32_t put_bytes(const SegmentForm &form, uint32_t data)
{
	return wire_bytes(form, form.address_bytes + data);
}

/** Raw Mbit/s of a link. */
constexpr uint64_t raw_mbit(const SerialForm &line)
{
	return uint64_t{line.lanes} * line.lane_mbit;
}

/** Bytes that a link carries in a microsecond, its code taken off: MB/s. */
constexpr uint64_t mbyte_per_s(const SerialForm &line)
{
	return raw_mbit(line) * line.code_data / line.code_line / 8;
}

/** Time of bytes on a link. */
constexpr double wire_ns(const SerialForm &line, uint32_t bytes)
{
	return bytes * 1000.0 / static_cast<double>(mbyte_per_s(line));
}

/** How long a packet that overtakes waits at a link for the segment that is on it, at most. */
constexpr double overtaking_ns(const Switch &chip)
{
	return wire_ns(chip.line, chip.packets.segment_bytes);
}

/**
 * Channels that a sender has to fill for the full rate of a link: a channel is free again when its packet is on the
 * link, has crossed @p switches, is in memory after @p write_ns, and its answer has come back.
 */
constexpr double channels_for_line_rate(const Switch &chip, uint32_t payload, uint32_t switches, uint32_t write_ns)
{
	const double packet = wire_ns(chip.line, wire_bytes(chip.packets, payload));

	return (packet + 2.0 * switches * chip.times.crossing_ns + write_ns) / packet;
}

/** Memory at the end of a link. */
constexpr uint32_t input_bytes(const HeldForm &form)
{
	return (form.channels + form.pool_buffers) * form.buffer_bytes;
}

/** Share of what a link carries raw that is payload of such packets. */
constexpr double payload_share(const Switch &chip, uint32_t payload)
{
	const double line = 1.0 * chip.line.code_data / chip.line.code_line;

	return line * payload / wire_bytes(chip.packets, payload);
}

/** As in chip.hpp: for a static_assert beside each description. */
constexpr bool holds_together(const Switch &chip)
{
	const SegmentForm &packets = chip.packets;

	return chip.radix && chip.radix % 2 == 0 && packets.first_header < packets.segment_bytes &&
	       packets.next_header < packets.segment_bytes && packets.usual_payload &&
	       packets.usual_payload <= packets.most_payload && packets.address_bytes <= packets.most_payload &&
	       chip.channels.channels && chip.channels.outstanding &&
	       chip.channels.buffer_bytes >= packets.segment_bytes && chip.line.code_data &&
	       chip.line.code_data <= chip.line.code_line && mbyte_per_s(chip.line) && chip.times.switch_mhz &&
	       chip.times.adapter_mhz && chip.times.write_least_ns <= chip.times.write_most_ns;
}

} // namespace aries::chip

#endif
