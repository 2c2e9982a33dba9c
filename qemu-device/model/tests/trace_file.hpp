/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a packet trace back, strictly: every length and padding is checked. */
#ifndef ARIES_TESTS_TRACE_FILE_HPP
#define ARIES_TESTS_TRACE_FILE_HPP

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "packet/trace.hpp"
#include "tests/cmocka_cpp.hpp"

namespace aries_test
{

/** A packet as the file has it. */
struct TracedPacket {
	uint64_t ns;
	bool inbound;
	std::vector<uint8_t> header;
	std::vector<uint64_t> flits;

	uint64_t field(size_t at, size_t bytes) const
	{
		uint64_t value = 0;

		for (size_t i = 0; i < bytes; i++)
			value = value << 8 | header[at + i];
		return value;
	}
	uint32_t key() const { return uint32_t(field(4, 4)); }
	uint32_t node() const { return uint32_t(field(8, 4)); }
	uint32_t peer() const { return uint32_t(field(12, 4)); }
	uint32_t latency() const { return uint32_t(field(16, 4)); }
	uint32_t index() const { return uint32_t(field(20, 4)); }
	uint32_t packets() const { return uint32_t(field(24, 4)); }
	unsigned int engine() const { return header[3]; }
	unsigned int status() const { return header[29]; }
	unsigned int fmad() const { return header[30]; }
	unsigned int kind() const { return header[31]; }

	aries::Request request() const
	{
		aries::Request out;

		assert_false(inbound);
		assert_int_equal(aries::decode(flits, out), aries::DecodeResult::Ok);
		assert_int_equal(aries::check(flits, key()), aries::DecodeResult::Ok);
		return out;
	}
	aries::Response response() const
	{
		aries::Response out;

		assert_true(inbound);
		assert_int_equal(aries::decode(flits, out), aries::DecodeResult::Ok);
		return out;
	}
};

class TraceFile
{
public:
	explicit TraceFile(const std::string &path)
	{
		std::ifstream in(path, std::ios::binary);

		bytes_.assign(std::istreambuf_iterator<char>(in), {});
		assert_true(bytes_.size() >= 64);
		assert_int_equal(word(0), 0x0a0d0d0a);
		assert_int_equal(word(8), 0x1a2b3c4d);
		assert_int_equal(word(12), 1); /* version 1.0 */
		size_t at = block(0);

		assert_int_equal(word(at), 1);
		assert_int_equal(word(at + 8), 147); /* DLT_USER0 */
		at = block(at);
		while (at < bytes_.size())
			at = packet(at);
		assert_int_equal(at, bytes_.size());
	}

	std::vector<TracedPacket> packets;
	size_t size() const { return bytes_.size(); }
	uint64_t flits(bool inbound) const
	{
		uint64_t sum = 0;

		for (const TracedPacket &p : packets)
			sum += p.inbound == inbound ? p.flits.size() : 0;
		return sum;
	}

private:
	uint32_t word(size_t at) const
	{
		uint32_t value;

		assert_true(at + 4 <= bytes_.size());
		memcpy(&value, &bytes_[at], 4);
		return value;
	}
	/* Both lengths of a block; the place behind it. */
	size_t block(size_t at) const
	{
		const uint32_t length = word(at + 4);

		assert_true(length >= 12 && length % 4 == 0 && at + length <= bytes_.size());
		assert_int_equal(word(at + length - 4), length);
		return at + length;
	}
	size_t packet(size_t at)
	{
		const size_t end = block(at);
		const uint32_t bytes = word(at + 20);
		const size_t data = at + 28;
		const size_t options = data + (bytes + 3) / 4 * 4;
		TracedPacket p = {};

		assert_int_equal(word(at), 6);
		assert_int_equal(word(at + 8), 0);
		assert_int_equal(word(at + 24), bytes);
		assert_int_equal(end - options, 4 + 4 + 4 + 4);
		assert_int_equal(word(options), 2 | 4 << 16); /* flags, 4 bytes */
		assert_int_equal(word(options + 8), 0);
		p.ns = uint64_t(word(at + 12)) << 32 | word(at + 16);
		p.inbound = word(options + 4) == 1;
		assert_int_equal(word(options + 4), p.inbound ? 1 : 2);
		assert_true(bytes > aries::TRACE_HEADER_BYTES);
		assert_int_equal((bytes - aries::TRACE_HEADER_BYTES) % 6, 0);
		p.header.assign(&bytes_[data], &bytes_[data + aries::TRACE_HEADER_BYTES]);
		assert_int_equal(p.header[0], aries::TRACE_VERSION);
		assert_int_equal(p.header[1], aries::TRACE_HEADER_BYTES);
		assert_int_equal(p.header[2], p.inbound);
		for (size_t flit = data + aries::TRACE_HEADER_BYTES; flit < data + bytes; flit += 6) {
			uint64_t value = 0;

			for (size_t i = 0; i < 6; i++)
				value = value << 8 | bytes_[flit + i];
			p.flits.push_back(value);
		}
		packets.push_back(p);
		return end;
	}

	std::vector<uint8_t> bytes_;
};

} // namespace aries_test

#endif
