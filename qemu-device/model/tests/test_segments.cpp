// SPDX-License-Identifier: GPL-2.0-or-later
/* Packets of QsNetIII on a link (Q12 to Q15): what is sent is what comes, and what is damaged is seen. */
#include "cmocka_cpp.hpp"

#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>

#include "chip/elite5.hpp"
#include "packet/crc32.hpp"
#include "packet/segments.hpp"

using namespace aries;

namespace
{

constexpr SegmentFields HEADER{.channel = 21, .priority = 2, .destination = 0x3abc, .timestamp = 0xd1e5};

std::vector<uint8_t> payload_of(size_t bytes)
{
	std::vector<uint8_t> payload(bytes);

	std::iota(payload.begin(), payload.end(), static_cast<uint8_t>(3));
	return payload;
}

/* Every length comes as it was sent, in as many bytes as the description tells. */
TEST(what_is_sent_is_what_comes_Q12_Q14_Q15)
{
	for (uint32_t bytes = 0; bytes <= chip::ELITE5.packets.most_payload; bytes++) {
		const auto payload = payload_of(bytes);
		const auto sent = encode_segments(HEADER, payload, 0xc0ffee00 + bytes);

		assert_int_equal(sent.size(), chip::wire_bytes(chip::ELITE5.packets, bytes));
		assert_true(decode_segments(sent) ==
			    (ReceivedPacket{SegmentFault::None, HEADER, 0xc0ffee00 + bytes, payload}));
	}
	assert_int_equal(encode_segments(HEADER, payload_of(16), 1).size(), 32);
}

/* The places of the fields: an eight-byte header, then one of four bytes behind 256. */
TEST(headers_Q13)
{
	const auto sent = encode_segments(HEADER, payload_of(300), 7);

	assert_int_equal(sent[0], 21 << 3 | 2);
	assert_int_equal(sent[1], 248);
	assert_int_equal(sent[2] << 8 | sent[3], HEADER.destination);
	assert_int_equal(sent[4] << 8 | sent[5], HEADER.timestamp);
	assert_int_equal(sent[8], 3);
	assert_int_equal(sent[256], 21 << 3 | 4 | 2);
	assert_int_equal(sent[257], 300 + 8 - 248);
	assert_int_equal(sent[260], static_cast<uint8_t>(3 + 248));
	/* Of the most and the least. */
	for (const SegmentFields &header : {SegmentFields{31, 3, 0xffff, 0xffff}, SegmentFields{0, 0, 0, 0}})
		assert_true(decode_segments(encode_segments(header, payload_of(9), 0)).header == header);
}

/* The value that everybody's CRC of this kind has. */
TEST(crc_of_32_bits_Q14)
{
	const char *const text = "123456789";
	const auto *const bytes = reinterpret_cast<const uint8_t *>(text);

	assert_int_equal(crc32(bytes, 9), 0xcbf43926);
	assert_int_equal(crc32(bytes + 4, 5, crc32(bytes, 4)), 0xcbf43926);
}

/* Any bit, and any burst of up to 16, of a header or of what is behind it. */
TEST(damage_is_seen_Q13_Q14)
{
	for (const uint32_t bytes : {16u, 600u}) {
		const auto sent = encode_segments(HEADER, payload_of(bytes), 99);

		for (size_t bit = 0; bit < sent.size() * 8; bit++) {
			for (const uint32_t burst : {1u, 0b1011u, 0xffffu}) {
				auto came = sent;

				for (uint32_t i = 0; i < 16; i++) {
					const size_t at = bit + i;

					if (burst >> i & 1 && at < came.size() * 8)
						came[at / 8] ^= static_cast<uint8_t>(0x80 >> at % 8);
				}

				const SegmentFault fault = decode_segments(came).fault;
				const bool header = bit < 48 || (bytes > 240 && bit >= 256 * 8 && bit < 258 * 8);

				assert_true(fault != SegmentFault::None);
				if (header && burst == 1)
					assert_true(fault == SegmentFault::Header);
				if (bit >= 64 && bit < 200 * 8 && bytes > 240)
					assert_true(fault == SegmentFault::Trailer);
			}
		}
	}
}

/* What ends early or late, segments that are of different packets, and noise. */
TEST(what_is_no_packet)
{
	const auto sent = encode_segments(HEADER, payload_of(700), 5);
	auto longer = sent;

	for (size_t bytes = 0; bytes < sent.size(); bytes++)
		assert_true(decode_segments({sent.data(), bytes}).fault == SegmentFault::Form);
	longer.push_back(0);
	assert_true(decode_segments(longer).fault == SegmentFault::Form);

	SegmentFields other = HEADER;
	auto mixed = sent;

	other.channel++;

	const auto of_other = encode_segments(other, payload_of(700), 5);

	std::copy(of_other.begin() + 256, of_other.end(), mixed.begin() + 256);
	assert_true(decode_segments(mixed).fault == SegmentFault::Form);

	/* A last segment alone, without room for a trailer. */
	std::mt19937 random(1);
	std::vector<uint8_t> noise(64);

	for (uint32_t i = 0; i < 10'000; i++) {
		for (uint8_t &byte : noise)
			byte = static_cast<uint8_t>(random());
		assert_true(decode_segments({noise.data(), i % noise.size()}).fault != SegmentFault::None);
	}
}

TEST(what_cannot_be_sent)
{
	const auto refused = [](const SegmentFields &header, size_t bytes, const char *word) {
		try {
			encode_segments(header, payload_of(bytes), 0);
			fail_msg("it was sent: %s", word);
		} catch (const std::invalid_argument &error) {
			assert_non_null(std::strstr(error.what(), word));
		}
	};

	refused({.channel = 32}, 0, "below 32");
	refused({.priority = 4}, 0, "below 4");
	refused({}, 4097, "at most 4096");
}

} // namespace

TEST_MAIN("segments")
