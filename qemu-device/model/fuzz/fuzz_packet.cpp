/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets on the wire. Any flits: decoding ends with an answer, and what it accepts encodes to the same flits. Any
 * packet: what encodes decodes to the same fields, and one damaged bit does not get through.
 */
#include <algorithm>
#include <cstring>

#include "fuzz/input.hpp"
#include "packet/packet.hpp"

using namespace aries;
using aries_fuzz::Input;

namespace
{

bool same_flits(const FlitPacket &a, const FlitPacket &b)
{
	return a.count == b.count && std::equal(a.flit.begin(), a.flit.begin() + a.count, b.flit.begin());
}

void any_flits(Input &input)
{
	FlitPacket wire = {}, again = {};
	Request request = {};
	Response response = {};

	wire.count = uint32_t(input.below(MAX_PACKET_FLITS + 1));
	for (uint32_t i = 0; i < wire.count; i++)
		wire.flit[i] = input.below(64) ? input.take(6) : input.take(8);
	const uint32_t key = uint32_t(input.take(4));

	if (decode(wire.flits(), request) == DecodeResult::Ok) {
		request.key = key;
		FUZZ_CHECK(request.bytes <= PACKET_BYTES && encode(request, again) && again.count == wire.count);
		if (check(wire.flits(), key) == DecodeResult::Ok &&
		    (again.flit[wire.count - 1] & 0xffff) == (wire.flit[wire.count - 1] & 0xffff))
			FUZZ_CHECK(decode(again.flits(), request) == DecodeResult::Ok);
	} else {
		check(wire.flits(), key);
	}
	if (decode(wire.flits(), response) == DecodeResult::Ok)
		FUZZ_CHECK(response.bytes <= PACKET_BYTES && encode(response, again) && again.count == wire.count);
}

Request any_request(Input &input)
{
	Request request = {};

	request.kind = static_cast<PacketKind>(input.below(PACKET_KINDS + 1));
	request.to = {uint32_t(input.take(3)) & 0x7ffff, uint16_t(input.take(2) & 0x1fff), input.take(6) >> 7};
	request.source = uint32_t(input.take(3)) & 0x3ffff;
	request.key = uint32_t(input.take(4));
	request.packet_id = uint16_t(input.take(2) & 0x3ff);
	request.ssid = input.byte();
	request.vc = input.byte() & 3;
	request.routing = input.byte() & 7;
	request.bytes = uint8_t(input.below(PACKET_BYTES + 2));
	if (static_cast<uint32_t>(request.kind) < PACKET_KINDS && carries_data(request.kind)) {
		request.command = uint16_t(input.take(2));
		for (uint32_t i = 0; i < request.bytes && i < PACKET_BYTES; i++)
			request.data[i] = input.byte();
	}
	return request;
}

void any_packet(Input &input)
{
	const Request request = any_request(input);
	FlitPacket wire = {}, again = {};
	Request back = {};

	if (!encode(request, wire))
		return;
	FUZZ_CHECK(wire.count == request_flits(request.kind, request.bytes));
	FUZZ_CHECK(decode(wire.flits(), back) == DecodeResult::Ok);
	FUZZ_CHECK(check(wire.flits(), request.key) == DecodeResult::Ok);
	back.key = request.key;
	FUZZ_CHECK(encode(back, again) && same_flits(wire, again));

	const uint64_t bit = input.below(uint64_t(48) * wire.count);

	wire.flit[bit / 48] ^= uint64_t(1) << bit % 48;
	FUZZ_CHECK(check(wire.flits(), request.key) != DecodeResult::Ok);
}

void any_response(Input &input)
{
	Response response = {}, back = {};
	FlitPacket wire = {}, again = {};

	response.target = uint32_t(input.take(3)) & 0x7ffff;
	response.packet_id = uint16_t(input.take(2) & 0x7ff);
	response.vc = input.byte() & 3;
	response.status = input.below(4) ? 0 : input.byte();
	response.bytes = uint8_t(response.status ? 0 : input.below(PACKET_BYTES + 2));
	for (uint32_t i = 0; i < response.bytes && i < PACKET_BYTES; i++)
		response.data[i] = input.byte();
	if (!encode(response, wire))
		return;
	FUZZ_CHECK(decode(wire.flits(), back) == DecodeResult::Ok);
	FUZZ_CHECK(back.target == response.target && back.status == response.status && back.bytes == response.bytes);
	FUZZ_CHECK(encode(back, again) && same_flits(wire, again));

	const uint64_t bit = input.below(uint64_t(48) * wire.count);

	wire.flit[bit / 48] ^= uint64_t(1) << bit % 48;
	FUZZ_CHECK(decode(wire.flits(), back) != DecodeResult::Ok);
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input input(data, size);

	while (input.more()) {
		switch (input.below(3)) {
		case 0:
			any_flits(input);
			break;
		case 1:
			any_packet(input);
			break;
		default:
			any_response(input);
			break;
		}
	}
	return 0;
}
