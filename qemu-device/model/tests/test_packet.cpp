// SPDX-License-Identifier: GPL-2.0-or-later
/* Packets: flit counts, form on the wire, key and CRC. */
#include "cmocka_cpp.hpp"

#include <array>
#include <cstring>
#include <random>

#include "packet/crc16.hpp"
#include "packet/packet.hpp"

using namespace aries;

namespace
{

constexpr std::array KINDS{PacketKind::Put,      PacketKind::Get,     PacketKind::Amo,
			   PacketKind::FetchAmo, PacketKind::CqWrite, PacketKind::BteSend};

Request sample(PacketKind kind, uint32_t bytes, std::mt19937_64 &rnd)
{
	Request r{};

	r.kind = kind;
	r.to = {static_cast<uint32_t>(rnd() & 0x3ffff), static_cast<uint16_t>(rnd() & 0xfff), rnd() & 0xffffffffffull};
	r.source = rnd() & 0x3ffff;
	r.key = static_cast<uint32_t>(rnd());
	r.packet_id = rnd() & 0x3ff;
	r.ssid = static_cast<uint8_t>(rnd());
	r.vc = rnd() & 3;
	r.routing = rnd() & 7;
	r.bytes = static_cast<uint8_t>(bytes);
	if (carries_data(kind)) {
		r.command = static_cast<uint16_t>(rnd());
		for (uint32_t i = 0; i < bytes; i++)
			r.data[i] = static_cast<uint8_t>(rnd());
	}
	return r;
}

bool same(const Request &a, const Request &b)
{
	return a.kind == b.kind && a.to.pe == b.to.pe && a.to.mdh == b.to.mdh && a.to.offset == b.to.offset &&
	       a.source == b.source && a.packet_id == b.packet_id && a.ssid == b.ssid && a.vc == b.vc &&
	       a.routing == b.routing && a.bytes == b.bytes && a.command == b.command && a.data == b.data;
}

/* P03: 14 + 1 flits; P04: 3 + 12. */
TEST(flit_counts_P03_P04)
{
	assert_int_equal(request_flits(PacketKind::Put, 64), 14);
	assert_int_equal(response_flits(PacketKind::Put, 64), 1);
	assert_int_equal(request_flits(PacketKind::Get, 64), 3);
	assert_int_equal(response_flits(PacketKind::Get, 64), 12);
	/* L04: 64 bytes are 9 to 11 flits more than 8. */
	assert_in_range(request_flits(PacketKind::Put, 64) - request_flits(PacketKind::Put, 8), 9, 11);
	assert_int_equal(request_flits(PacketKind::Put, 8), 5);
	assert_int_equal(response_flits(PacketKind::FetchAmo, 8), 3);
	assert_int_equal(response_flits(PacketKind::FetchAmo, 16), 3);
	assert_int_equal(response_flits(PacketKind::Amo, 16), 1);
}

/* P01: at most 64 bytes in a packet. */
TEST(transfer_counts_P01)
{
	const TransferFlits put = transfer_flits(PacketKind::Put, 8192);
	const TransferFlits odd = transfer_flits(PacketKind::Get, 130);
	const TransferFlits none = transfer_flits(PacketKind::Put, 0);
	const TransferFlits most = transfer_flits(PacketKind::Put, UINT32_MAX);

	assert_int_equal(put.packets, 128);
	assert_int_equal(put.request, 128 * 14);
	assert_int_equal(put.response, 128);
	assert_int_equal(odd.packets, 3);
	assert_int_equal(odd.request, 9);
	assert_int_equal(odd.response, 12 + 12 + 2);
	assert_int_equal(none.packets, 1);
	/* N15: 2^32 - 1 bytes are 67,108,864 packets. */
	assert_int_equal(most.packets, 67108864);
	assert_int_equal(most.request, 67108864u * 14);
}

TEST(payload_efficiency_P06)
{
	/* 64 bytes in 15 flits of 6 bytes, nine flits in ten: 64 percent. */
	const double flits = request_flits(PacketKind::Put, 64) + response_flits(PacketKind::Put, 64);

	assert_true(64 / flits * 9 / 60 == 0.64);
}

TEST(crc_known_value)
{
	assert_int_equal(crc16(reinterpret_cast<const uint8_t *>("123456789"), 9), 0x29b1);
}

TEST(request_round_trip_N01_N19)
{
	std::mt19937_64 rnd(1);

	for (PacketKind kind : KINDS) {
		for (uint32_t bytes = carries_data(kind) ? 0 : 1; bytes <= 64; bytes++) {
			const Request in = sample(kind, bytes, rnd);
			FlitPacket wire;
			Request out;

			assert_true(encode(in, wire));
			assert_int_equal(wire.count, request_flits(kind, bytes));
			assert_int_equal(decode(wire.flits(), out), DecodeResult::Ok);
			assert_true(same(in, out));
			assert_int_equal(check(wire.flits(), in.key), DecodeResult::Ok);
		}
	}
}

TEST(response_round_trip)
{
	std::mt19937_64 rnd(2);

	for (uint32_t bytes = 0; bytes <= 64; bytes++) {
		for (uint32_t status = 0; status < (bytes ? 1 : 64); status++) {
			Response in{static_cast<uint32_t>(rnd() & 0x3ffff),
				    static_cast<uint16_t>(rnd() & 0x3ff),
				    static_cast<uint8_t>(rnd() & 3),
				    static_cast<uint8_t>(status),
				    static_cast<uint8_t>(bytes),
				    {}};
			FlitPacket wire;
			Response out;

			for (uint32_t i = 0; i < bytes; i++)
				in.data[i] = static_cast<uint8_t>(rnd());
			assert_true(encode(in, wire));
			if (status)
				assert_int_equal(wire.count, ERROR_RESPONSE_FLITS);
			else
				assert_int_equal(wire.count, bytes ? response_flits(PacketKind::Get, bytes) : 1);
			assert_int_equal(decode(wire.flits(), out), DecodeResult::Ok);
			assert_int_equal(out.target, in.target);
			assert_int_equal(out.packet_id, in.packet_id);
			assert_int_equal(out.vc, in.vc);
			assert_int_equal(out.status, in.status);
			assert_int_equal(out.bytes, in.bytes);
			assert_memory_equal(out.data.data(), in.data.data(), 64);
		}
	}
}

/* Each field at its limit passes, one more is refused (N01, N20). */
TEST(fields_too_wide_are_refused_N01)
{
	std::mt19937_64 rnd(3);
	const Request good = sample(PacketKind::Put, 8, rnd);
	FlitPacket wire;
	Request bad = good;

	bad.to = {0x3ffff, 0xfff, 0xffffffffffull};
	assert_true(encode(bad, wire));
	bad.to.pe = 0x40000;
	assert_false(encode(bad, wire));
	bad = good;
	bad.to.mdh = 0x1000;
	assert_false(encode(bad, wire));
	bad = good;
	bad.to.offset = uint64_t{1} << 40;
	assert_false(encode(bad, wire));
	bad = good;
	bad.packet_id = 1024;
	assert_false(encode(bad, wire));
	bad = good;
	bad.vc = 4;
	assert_false(encode(bad, wire));
	bad = good;
	bad.routing = 8;
	assert_false(encode(bad, wire));
	bad = good;
	bad.source = 0x40000;
	assert_false(encode(bad, wire));
	bad = good;
	bad.bytes = 65;
	assert_false(encode(bad, wire));
	bad = good;
	bad.kind = static_cast<PacketKind>(6);
	assert_false(encode(bad, wire));
	bad = good;
	bad.kind = PacketKind::Get;
	bad.bytes = 0;
	assert_false(encode(bad, wire));
}

/* P18: no single or double bit error gets through. */
TEST(bit_errors_are_found_P18)
{
	std::mt19937_64 rnd(4);
	const Request in = sample(PacketKind::Put, 64, rnd);
	FlitPacket wire;

	assert_true(encode(in, wire));

	const uint32_t bits = wire.count * 48;

	for (uint32_t a = 0; a < bits; a++) {
		wire.flit[a / 48] ^= uint64_t{1} << a % 48;
		assert_int_not_equal(check(wire.flits(), in.key), DecodeResult::Ok);
		for (uint32_t b = a + 1; b < bits; b++) {
			wire.flit[b / 48] ^= uint64_t{1} << b % 48;
			assert_int_not_equal(check(wire.flits(), in.key), DecodeResult::Ok);
			wire.flit[b / 48] ^= uint64_t{1} << b % 48;
		}
		wire.flit[a / 48] ^= uint64_t{1} << a % 48;
	}
	assert_int_equal(check(wire.flits(), in.key), DecodeResult::Ok);
}

TEST(response_bit_errors_are_found_P18)
{
	Response in{17, 5, 1, 0, 12, {}};
	Response out;
	FlitPacket wire;

	assert_true(encode(in, wire));
	for (uint32_t a = 0; a < wire.count * 48; a++) {
		wire.flit[a / 48] ^= uint64_t{1} << a % 48;
		assert_int_not_equal(decode(wire.flits(), out), DecodeResult::Ok);
		wire.flit[a / 48] ^= uint64_t{1} << a % 48;
	}
}

/* N26: a packet of another domain fails; keys that differ in one or two bits always do. */
TEST(other_keys_fail_N26)
{
	std::mt19937_64 rnd(5);
	const Request in = sample(PacketKind::Get, 8, rnd);
	FlitPacket wire;
	uint32_t named = 0;

	assert_true(encode(in, wire));
	for (uint32_t a = 0; a < 32; a++) {
		assert_int_not_equal(check(wire.flits(), in.key ^ 1u << a), DecodeResult::Ok);
		for (uint32_t b = a + 1; b < 32; b++)
			assert_int_not_equal(check(wire.flits(), in.key ^ 1u << a ^ 1u << b), DecodeResult::Ok);
	}
	for (uint32_t i = 0; i < 1000; i++)
		named += check(wire.flits(), static_cast<uint32_t>(rnd())) == DecodeResult::Key;
	/* The tag alone names 127 of 128. */
	assert_true(named > 970);
}

/* Tag and CRC see 23 independent bits of the key: rank of the linear map that both are. */
TEST(key_bits_are_independent)
{
	const std::array<uint8_t, 4> zero{};
	const uint32_t base = crc16(zero.data(), 4);
	std::array<uint32_t, 32> rows{};
	uint32_t rank = 0;

	for (uint32_t bit = 0; bit < 32; bit++) {
		const uint32_t key = 1u << bit;
		const std::array<uint8_t, 4> bytes{static_cast<uint8_t>(key >> 24), static_cast<uint8_t>(key >> 16),
						   static_cast<uint8_t>(key >> 8), static_cast<uint8_t>(key)};

		rows[bit] = uint32_t{key_tag(key)} << 16 | (crc16(bytes.data(), 4) ^ base);
	}
	for (uint32_t bit = 23; bit-- > 0;) {
		uint32_t *pivot = nullptr;

		for (uint32_t &row : rows) {
			if (!(row >> bit & 1))
				continue;
			if (pivot)
				row ^= *pivot;
			else
				pivot = &row;
		}
		if (pivot) {
			*pivot = 0;
			rank++;
		}
	}
	assert_int_equal(rank, 23);
}

/* Whatever the flits hold, decoding ends with an answer and reads nothing outside (run with sanitizers). */
TEST(garbage_is_answered)
{
	std::mt19937_64 rnd(6);

	for (uint32_t i = 0; i < 200000; i++) {
		std::array<uint64_t, 20> flits;
		const size_t count = rnd() % 21;
		Request request;
		Response response;

		for (uint64_t &flit : flits)
			flit = rnd() >> 16;
		if (i % 7 == 0)
			flits[rnd() % 20] |= uint64_t{1} << 50;

		const std::span<const uint64_t> wire(flits.data(), count);
		const DecodeResult a = decode(wire, request);

		if (count < 3 || count > 14)
			assert_int_equal(a, DecodeResult::Length);
		if (a == DecodeResult::Ok)
			assert_int_equal(count, request_flits(request.kind, request.bytes));
		(void)check(wire, 7);
		if (decode(wire, response) == DecodeResult::Ok)
			assert_in_range(response.bytes, 0, 64);
	}
}

/* P12: requests and responses are not taken for each other. */
TEST(classes_are_told_apart_P12)
{
	std::mt19937_64 rnd(7);
	FlitPacket wire;
	Request request;
	Response response{1, 2, 3, 0, 64, {}};

	assert_true(encode(response, wire));
	assert_int_equal(decode(wire.flits(), request), DecodeResult::Kind);
	assert_true(encode(sample(PacketKind::Put, 1, rnd), wire));
	assert_int_not_equal(decode(wire.flits(), response), DecodeResult::Ok);
}

} // namespace

TEST_MAIN("packet")
