// SPDX-License-Identifier: GPL-2.0-or-later
#include "packet/segments.hpp"

#include <algorithm>
#include <stdexcept>

#include "chip/elite5.hpp"
#include "packet/crc16.hpp"
#include "packet/crc32.hpp"

namespace aries
{

namespace
{

constexpr const chip::SegmentForm &FORM = chip::ELITE5.packets;
constexpr uint32_t PRIORITIES = 4;
constexpr uint32_t CHANNELS = 32;
constexpr uint32_t CRC16_BYTES = 2, CRC32_BYTES = 4;
constexpr uint32_t CHANNEL_SHIFT = 3, LAST_BIT = 4, PRIORITY_MASK = 3; ///< of the first byte

static_assert(chip::ELITE5.channels.channels == CHANNELS);
static_assert(FORM.header_crc_bits == CRC16_BYTES * 8 && FORM.trailer_crc_bits == CRC32_BYTES * 8);

void append(std::vector<uint8_t> &bytes, uint32_t value, uint32_t count)
{
	while (count--)
		bytes.push_back(static_cast<uint8_t>(value >> count * 8));
}

uint32_t value_at(std::span<const uint8_t> bytes, size_t at, size_t count)
{
	uint32_t value = 0;

	for (size_t i = 0; i < count; i++)
		value = value << 8 | bytes[at + i];
	return value;
}

uint32_t header_bytes(bool first)
{
	return first ? FORM.first_header : FORM.next_header;
}

/* What all segments of a packet have in front of them. */
uint8_t first_byte(const SegmentFields &header, bool last)
{
	return static_cast<uint8_t>(header.channel << CHANNEL_SHIFT | (last ? LAST_BIT : 0) | header.priority);
}

/* Takes segment after segment off what came. */
class Receiver
{
public:
	explicit Receiver(std::span<const uint8_t> bytes) : left_(bytes) {}

	ReceivedPacket receive()
	{
		do {
			got_.fault = segment();
		} while (got_.fault == SegmentFault::None && !last_);
		if (got_.fault == SegmentFault::None)
			got_.fault = trailer();
		return got_;
	}

private:
	SegmentFault segment()
	{
		const uint32_t header = header_bytes(first_);

		if (left_.size() < header)
			return SegmentFault::Form;
		if (crc16(left_.data(), header - CRC16_BYTES) != value_at(left_, header - CRC16_BYTES, CRC16_BYTES))
			return SegmentFault::Header;

		const SegmentFields said{
			static_cast<uint8_t>(left_[0] >> CHANNEL_SHIFT), static_cast<uint8_t>(left_[0] & PRIORITY_MASK),
			first_ ? static_cast<uint16_t>(value_at(left_, 2, 2)) : got_.header.destination,
			first_ ? static_cast<uint16_t>(value_at(left_, 4, 2)) : got_.header.timestamp};
		const uint32_t bytes = left_[1];

		if (first_)
			got_.header = said;
		last_ = left_[0] & LAST_BIT;
		left_ = left_.subspan(header);
		/* All but the last are full; the last one ends what came. */
		if (said != got_.header || bytes > FORM.segment_bytes - header || bytes > left_.size() ||
		    (last_ ? bytes != left_.size() : bytes != FORM.segment_bytes - header))
			return SegmentFault::Form;
		got_.payload.insert(got_.payload.end(), left_.begin(), left_.begin() + bytes);
		left_ = left_.subspan(bytes);
		first_ = false;
		return got_.payload.size() <= FORM.most_payload + FORM.trailer ? SegmentFault::None
									       : SegmentFault::Form;
	}

	SegmentFault trailer()
	{
		std::vector<uint8_t> &bytes = got_.payload;

		if (bytes.size() < FORM.trailer)
			return SegmentFault::Form;

		const size_t end = bytes.size() - FORM.trailer, crc = bytes.size() - CRC32_BYTES;

		if (crc32(bytes.data(), crc) != value_at(bytes, crc, CRC32_BYTES))
			return SegmentFault::Trailer;
		got_.id = value_at(bytes, end, crc - end);
		bytes.resize(end);
		return SegmentFault::None;
	}

	std::span<const uint8_t> left_;
	ReceivedPacket got_{};
	bool first_ = true, last_ = false;
};

} // namespace

std::vector<uint8_t> encode_segments(const SegmentFields &header, std::span<const uint8_t> payload, uint32_t id)
{
	if (header.channel >= CHANNELS || header.priority >= PRIORITIES)
		throw std::invalid_argument("a packet has a channel below " + std::to_string(CHANNELS) +
					    " and a priority below " + std::to_string(PRIORITIES));
	if (payload.size() > FORM.most_payload)
		throw std::invalid_argument(std::to_string(payload.size()) +
					    " bytes of payload: a packet has at most " +
					    std::to_string(FORM.most_payload));

	std::vector<uint8_t> content(payload.begin(), payload.end()), bytes;

	append(content, id, FORM.trailer - CRC32_BYTES);
	append(content, crc32(content.data(), content.size()), CRC32_BYTES);
	bytes.reserve(chip::wire_bytes(FORM, static_cast<uint32_t>(payload.size())));
	for (size_t at = 0; at < content.size();) {
		const bool first = at == 0;
		const size_t start = bytes.size();
		const size_t count = std::min<size_t>(content.size() - at, FORM.segment_bytes - header_bytes(first));

		bytes.push_back(first_byte(header, at + count == content.size()));
		bytes.push_back(static_cast<uint8_t>(count));
		if (first) {
			append(bytes, header.destination, 2);
			append(bytes, header.timestamp, 2);
		}
		append(bytes, crc16(bytes.data() + start, bytes.size() - start), CRC16_BYTES);
		bytes.insert(bytes.end(), content.begin() + static_cast<std::ptrdiff_t>(at),
			     content.begin() + static_cast<std::ptrdiff_t>(at + count));
		at += count;
	}
	return bytes;
}

ReceivedPacket decode_segments(std::span<const uint8_t> bytes)
{
	return Receiver(bytes).receive();
}

} // namespace aries
