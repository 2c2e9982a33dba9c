// SPDX-License-Identifier: GPL-2.0-or-later
#include "packet/packet.hpp"

#include <algorithm>

#include "packet/crc16.hpp"

namespace aries
{

namespace
{

constexpr uint32_t WIRE_BYTES = MAX_PACKET_FLITS * FLIT_BYTES;
constexpr uint32_t KIND_BITS = 3;
constexpr uint32_t LENGTH_BITS = 6;
constexpr uint64_t FLIT_MASK = (uint64_t{1} << 48) - 1;

constexpr uint32_t REQUEST_BITS = 1 + KIND_BITS + VC_BITS + 2 * PE_BITS + MDH_BITS + OFFSET_BITS + SSID_BITS +
				  PACKET_ID_BITS + ROUTING_BITS + KEY_TAG_BITS + LENGTH_BITS;
constexpr uint32_t RESPONSE_BITS = 1 + 1 + VC_BITS + PE_BITS + PACKET_ID_BITS;

static_assert(REQUEST_BITS + 16 == REQUEST_HEADER_FLITS * 48, "request header");
static_assert(RESPONSE_BITS + 16 == RESPONSE_HEADER_FLITS * 48, "response header");

/* Bytes of a packet in the order of the wire, written and read by bits, most significant first. */
class Wire
{
public:
	explicit Wire(uint32_t flits) : size_(flits * FLIT_BYTES) {}

	explicit Wire(std::span<const uint64_t> flits) : size_(static_cast<uint32_t>(flits.size()) * FLIT_BYTES)
	{
		for (uint32_t i = 0; i < size_; i++)
			bytes_[i] = static_cast<uint8_t>(flits[i / FLIT_BYTES] >> (40 - i % FLIT_BYTES * 8));
	}

	/* Remembers a value that is too wide instead of cutting it. */
	void put(uint64_t value, uint32_t bits)
	{
		fits_ &= value >> bits == 0;
		while (bits--) {
			const uint32_t bit = value >> bits & 1;

			bytes_[at_ / 8] |= static_cast<uint8_t>(bit << (7 - at_ % 8));
			at_++;
		}
	}

	uint64_t get(uint32_t bits)
	{
		uint64_t value = 0;

		for (; bits--; at_++)
			value = value << 1 | (bytes_[at_ / 8] >> (7 - at_ % 8) & 1);
		return value;
	}

	/* The header ends on a byte here. */
	uint8_t *data() { return &bytes_[at_ / 8]; }

	uint16_t crc(uint16_t start) const { return crc16(bytes_.data(), size_ - PACKET_CRC_BYTES, start); }

	uint16_t carried_crc() const { return static_cast<uint16_t>(bytes_[size_ - 2] << 8 | bytes_[size_ - 1]); }

	bool finish(uint16_t crc_start, FlitPacket &out)
	{
		const uint16_t sum = crc(crc_start);

		bytes_[size_ - 2] = static_cast<uint8_t>(sum >> 8);
		bytes_[size_ - 1] = static_cast<uint8_t>(sum);
		out.count = size_ / FLIT_BYTES;
		for (uint32_t i = 0; i < out.count; i++) {
			uint64_t flit = 0;

			for (uint32_t b = 0; b < FLIT_BYTES; b++)
				flit = flit << 8 | bytes_[i * FLIT_BYTES + b];
			out.flit[i] = flit;
		}
		return fits_;
	}

private:
	std::array<uint8_t, WIRE_BYTES> bytes_{};
	uint32_t size_;
	uint32_t at_ = 0;
	bool fits_ = true;
};

uint16_t key_crc(uint32_t key)
{
	const std::array<uint8_t, 4> bytes{static_cast<uint8_t>(key >> 24), static_cast<uint8_t>(key >> 16),
					   static_cast<uint8_t>(key >> 8), static_cast<uint8_t>(key)};

	return crc16(bytes.data(), bytes.size());
}

/* Number of flits and bits above the 48: the same for both classes. */
bool whole_flits(std::span<const uint64_t> flits)
{
	return !flits.empty() && flits.size() <= MAX_PACKET_FLITS &&
	       std::all_of(flits.begin(), flits.end(), [](uint64_t flit) { return flit <= FLIT_MASK; });
}

/* Bytes that a length field means, given the flits behind the header; 64 and 0 share the field's value 0. */
uint32_t carried_bytes(uint32_t field, uint32_t flits_behind)
{
	return field == 0 && flits_behind == data_flits(PACKET_BYTES) ? PACKET_BYTES : field;
}

} // namespace

/* Linear like the CRC and independent of it: together they see 23 bits of the key. */
uint8_t key_tag(uint32_t key) noexcept
{
	return (key ^ key >> 9 ^ key >> 21) & ((1u << KEY_TAG_BITS) - 1);
}

bool encode(const Request &request, FlitPacket &out) noexcept
{
	const bool data = carries_data(request.kind);

	if (static_cast<uint32_t>(request.kind) >= PACKET_KINDS || request.bytes > PACKET_BYTES ||
	    (!data && request.bytes == 0))
		return false;

	Wire wire(request_flits(request.kind, request.bytes));

	wire.put(0, 1);
	wire.put(static_cast<uint64_t>(request.kind), KIND_BITS);
	wire.put(request.vc, VC_BITS);
	wire.put(request.to.pe, PE_BITS);
	wire.put(request.source, PE_BITS);
	wire.put(request.to.mdh, MDH_BITS);
	wire.put(request.to.offset, OFFSET_BITS);
	wire.put(request.ssid, SSID_BITS);
	wire.put(request.packet_id, PACKET_ID_BITS);
	wire.put(request.routing, ROUTING_BITS);
	wire.put(key_tag(request.key), KEY_TAG_BITS);
	wire.put(request.bytes % PACKET_BYTES, LENGTH_BITS);
	if (data) {
		wire.put(request.command, COMMAND_BITS);
		std::copy_n(request.data.begin(), request.bytes, wire.data());
	}
	return wire.finish(key_crc(request.key), out);
}

DecodeResult decode(std::span<const uint64_t> flits, Request &out) noexcept
{
	if (!whole_flits(flits) || flits.size() < REQUEST_HEADER_FLITS)
		return DecodeResult::Length;

	Wire wire(flits);

	if (wire.get(1))
		return DecodeResult::Kind;

	const uint64_t kind = wire.get(KIND_BITS);

	if (kind >= PACKET_KINDS)
		return DecodeResult::Kind;
	out = {};
	out.kind = static_cast<PacketKind>(kind);
	out.vc = static_cast<uint8_t>(wire.get(VC_BITS));
	out.to.pe = static_cast<uint32_t>(wire.get(PE_BITS));
	out.source = static_cast<uint32_t>(wire.get(PE_BITS));
	out.to.mdh = static_cast<uint16_t>(wire.get(MDH_BITS));
	out.to.offset = wire.get(OFFSET_BITS);
	out.ssid = static_cast<uint8_t>(wire.get(SSID_BITS));
	out.packet_id = static_cast<uint16_t>(wire.get(PACKET_ID_BITS));
	out.routing = static_cast<uint8_t>(wire.get(ROUTING_BITS));
	wire.get(KEY_TAG_BITS);

	const auto length = static_cast<uint32_t>(wire.get(LENGTH_BITS));
	const auto behind = static_cast<uint32_t>(flits.size()) - REQUEST_HEADER_FLITS;

	if (!carries_data(out.kind)) {
		out.bytes = static_cast<uint8_t>(length ? length : PACKET_BYTES);
		return behind ? DecodeResult::Length : DecodeResult::Ok;
	}
	out.bytes = static_cast<uint8_t>(carried_bytes(length, behind));
	if (behind != data_flits(out.bytes))
		return DecodeResult::Length;
	out.command = static_cast<uint16_t>(wire.get(COMMAND_BITS));
	std::copy_n(wire.data(), out.bytes, out.data.begin());
	return DecodeResult::Ok;
}

DecodeResult check(std::span<const uint64_t> flits, uint32_t key) noexcept
{
	if (!whole_flits(flits) || flits.size() < REQUEST_HEADER_FLITS)
		return DecodeResult::Length;

	Wire wire(flits);

	if (wire.crc(key_crc(key)) == wire.carried_crc())
		return DecodeResult::Ok;
	wire.get(REQUEST_BITS - LENGTH_BITS - KEY_TAG_BITS);
	return wire.get(KEY_TAG_BITS) == key_tag(key) ? DecodeResult::Crc : DecodeResult::Key;
}

bool encode(const Response &response, FlitPacket &out) noexcept
{
	const bool error = response.status != 0;

	if (response.bytes > PACKET_BYTES || (error && response.bytes))
		return false;

	const uint32_t behind = response.bytes || error ? data_flits(response.bytes) : 0;
	Wire wire(RESPONSE_HEADER_FLITS + behind);

	wire.put(1, 1);
	wire.put(error, 1);
	wire.put(response.vc, VC_BITS);
	wire.put(response.target, PE_BITS);
	wire.put(response.packet_id, PACKET_ID_BITS);
	if (behind) {
		wire.put(response.bytes % PACKET_BYTES, LENGTH_BITS);
		wire.put(0, 4);
		wire.put(response.status, STATUS_BITS);
		std::copy_n(response.data.begin(), response.bytes, wire.data());
	}
	return wire.finish(CRC16_START, out);
}

DecodeResult decode(std::span<const uint64_t> flits, Response &out) noexcept
{
	if (!whole_flits(flits))
		return DecodeResult::Length;

	Wire wire(flits);

	if (wire.crc(CRC16_START) != wire.carried_crc())
		return DecodeResult::Crc;
	if (!wire.get(1))
		return DecodeResult::Kind;

	const bool error = wire.get(1);
	const auto behind = static_cast<uint32_t>(flits.size()) - RESPONSE_HEADER_FLITS;

	out = {};
	out.vc = static_cast<uint8_t>(wire.get(VC_BITS));
	out.target = static_cast<uint32_t>(wire.get(PE_BITS));
	out.packet_id = static_cast<uint16_t>(wire.get(PACKET_ID_BITS));
	if (!behind)
		return error ? DecodeResult::Length : DecodeResult::Ok;

	out.bytes = static_cast<uint8_t>(carried_bytes(static_cast<uint32_t>(wire.get(LENGTH_BITS)), behind));

	const bool zero = wire.get(4) == 0;

	out.status = static_cast<uint8_t>(wire.get(STATUS_BITS));
	if (behind != data_flits(out.bytes))
		return DecodeResult::Length;
	if (!zero || error != (out.status != 0) || (error ? out.bytes != 0 : out.bytes == 0))
		return DecodeResult::Field;
	std::copy_n(wire.data(), out.bytes, out.data.begin());
	return DecodeResult::Ok;
}

} // namespace aries
