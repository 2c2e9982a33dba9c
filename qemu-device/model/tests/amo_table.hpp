/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The 118 atomic commands, one by one, and a plain reference for what they do. */
#ifndef ARIES_TESTS_AMO_TABLE_HPP
#define ARIES_TESTS_AMO_TABLE_HPP

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace aries_test
{

enum class Op : uint8_t { ADD, AND, OR, XOR, SWAP, AX, CSWAP, IMIN, IMAX, FPMIN, FPMAX, FPADD };

struct Command {
	uint16_t code;
	Op op;
	unsigned int bytes;
	bool fetch;
	bool cached;
};

inline constexpr bool FETCH = true, QUIET = false, CACHED = true, DIRECT = false;

/* clang-format off */
inline constexpr Command COMMANDS[] = {
	{0x008, Op::ADD, 8, FETCH, DIRECT}, {0x018, Op::ADD, 8, FETCH, CACHED}, {0x009, Op::AND, 8, FETCH, DIRECT},
	{0x019, Op::AND, 8, FETCH, CACHED}, {0x00a, Op::OR, 8, FETCH, DIRECT}, {0x01a, Op::OR, 8, FETCH, CACHED},
	{0x00b, Op::XOR, 8, FETCH, DIRECT}, {0x01b, Op::XOR, 8, FETCH, CACHED}, {0x00c, Op::AX, 8, FETCH, DIRECT},
	{0x01c, Op::AX, 8, FETCH, CACHED}, {0x00d, Op::CSWAP, 8, FETCH, DIRECT},
	{0x01d, Op::CSWAP, 8, FETCH, CACHED}, {0x240, Op::AND, 4, FETCH, DIRECT},
	{0x041, Op::AND, 8, FETCH, DIRECT}, {0x260, Op::AND, 4, FETCH, CACHED}, {0x061, Op::AND, 8, FETCH, CACHED},
	{0x242, Op::OR, 4, FETCH, DIRECT}, {0x043, Op::OR, 8, FETCH, DIRECT}, {0x262, Op::OR, 4, FETCH, CACHED},
	{0x063, Op::OR, 8, FETCH, CACHED}, {0x244, Op::XOR, 4, FETCH, DIRECT}, {0x045, Op::XOR, 8, FETCH, DIRECT},
	{0x264, Op::XOR, 4, FETCH, CACHED}, {0x065, Op::XOR, 8, FETCH, CACHED},
	{0x246, Op::SWAP, 4, FETCH, DIRECT}, {0x047, Op::SWAP, 8, FETCH, DIRECT},
	{0x266, Op::SWAP, 4, FETCH, CACHED}, {0x067, Op::SWAP, 8, FETCH, CACHED},
	{0x248, Op::AX, 4, FETCH, DIRECT}, {0x049, Op::AX, 8, FETCH, DIRECT}, {0x268, Op::AX, 4, FETCH, CACHED},
	{0x069, Op::AX, 8, FETCH, CACHED}, {0x24a, Op::CSWAP, 4, FETCH, DIRECT},
	{0x04b, Op::CSWAP, 8, FETCH, DIRECT}, {0x26a, Op::CSWAP, 4, FETCH, CACHED},
	{0x06b, Op::CSWAP, 8, FETCH, CACHED}, {0x250, Op::IMIN, 4, FETCH, DIRECT},
	{0x051, Op::IMIN, 8, FETCH, DIRECT}, {0x270, Op::IMIN, 4, FETCH, CACHED},
	{0x071, Op::IMIN, 8, FETCH, CACHED}, {0x252, Op::IMAX, 4, FETCH, DIRECT},
	{0x053, Op::IMAX, 8, FETCH, DIRECT}, {0x272, Op::IMAX, 4, FETCH, CACHED},
	{0x073, Op::IMAX, 8, FETCH, CACHED}, {0x254, Op::ADD, 4, FETCH, DIRECT},
	{0x055, Op::ADD, 8, FETCH, DIRECT}, {0x274, Op::ADD, 4, FETCH, CACHED}, {0x075, Op::ADD, 8, FETCH, CACHED},
	{0x258, Op::FPMIN, 4, FETCH, DIRECT}, {0x059, Op::FPMIN, 8, FETCH, DIRECT},
	{0x278, Op::FPMIN, 4, FETCH, CACHED}, {0x079, Op::FPMIN, 8, FETCH, CACHED},
	{0x25a, Op::FPMAX, 4, FETCH, DIRECT}, {0x05b, Op::FPMAX, 8, FETCH, DIRECT},
	{0x27a, Op::FPMAX, 4, FETCH, CACHED}, {0x07b, Op::FPMAX, 8, FETCH, CACHED},
	{0x25c, Op::FPADD, 4, FETCH, DIRECT}, {0x05d, Op::FPADD, 8, FETCH, DIRECT},
	{0x27c, Op::FPADD, 4, FETCH, CACHED}, {0x07d, Op::FPADD, 8, FETCH, CACHED},
	{0x108, Op::ADD, 8, QUIET, DIRECT}, {0x118, Op::ADD, 8, QUIET, CACHED}, {0x109, Op::AND, 8, QUIET, DIRECT},
	{0x119, Op::AND, 8, QUIET, CACHED}, {0x10a, Op::OR, 8, QUIET, DIRECT}, {0x11a, Op::OR, 8, QUIET, CACHED},
	{0x10b, Op::XOR, 8, QUIET, DIRECT}, {0x11b, Op::XOR, 8, QUIET, CACHED}, {0x10c, Op::AX, 8, QUIET, DIRECT},
	{0x11c, Op::AX, 8, QUIET, CACHED}, {0x340, Op::AND, 4, QUIET, DIRECT}, {0x141, Op::AND, 8, QUIET, DIRECT},
	{0x360, Op::AND, 4, QUIET, CACHED}, {0x161, Op::AND, 8, QUIET, CACHED}, {0x342, Op::OR, 4, QUIET, DIRECT},
	{0x143, Op::OR, 8, QUIET, DIRECT}, {0x362, Op::OR, 4, QUIET, CACHED}, {0x163, Op::OR, 8, QUIET, CACHED},
	{0x344, Op::XOR, 4, QUIET, DIRECT}, {0x145, Op::XOR, 8, QUIET, DIRECT}, {0x364, Op::XOR, 4, QUIET, CACHED},
	{0x165, Op::XOR, 8, QUIET, CACHED}, {0x346, Op::SWAP, 4, QUIET, DIRECT},
	{0x147, Op::SWAP, 8, QUIET, DIRECT}, {0x366, Op::SWAP, 4, QUIET, CACHED},
	{0x167, Op::SWAP, 8, QUIET, CACHED}, {0x348, Op::AX, 4, QUIET, DIRECT}, {0x149, Op::AX, 8, QUIET, DIRECT},
	{0x368, Op::AX, 4, QUIET, CACHED}, {0x169, Op::AX, 8, QUIET, CACHED}, {0x34a, Op::CSWAP, 4, QUIET, DIRECT},
	{0x14b, Op::CSWAP, 8, QUIET, DIRECT}, {0x36a, Op::CSWAP, 4, QUIET, CACHED},
	{0x16b, Op::CSWAP, 8, QUIET, CACHED}, {0x350, Op::IMIN, 4, QUIET, DIRECT},
	{0x151, Op::IMIN, 8, QUIET, DIRECT}, {0x370, Op::IMIN, 4, QUIET, CACHED},
	{0x171, Op::IMIN, 8, QUIET, CACHED}, {0x352, Op::IMAX, 4, QUIET, DIRECT},
	{0x153, Op::IMAX, 8, QUIET, DIRECT}, {0x372, Op::IMAX, 4, QUIET, CACHED},
	{0x173, Op::IMAX, 8, QUIET, CACHED}, {0x354, Op::ADD, 4, QUIET, DIRECT},
	{0x155, Op::ADD, 8, QUIET, DIRECT}, {0x374, Op::ADD, 4, QUIET, CACHED}, {0x175, Op::ADD, 8, QUIET, CACHED},
	{0x358, Op::FPMIN, 4, QUIET, DIRECT}, {0x159, Op::FPMIN, 8, QUIET, DIRECT},
	{0x378, Op::FPMIN, 4, QUIET, CACHED}, {0x179, Op::FPMIN, 8, QUIET, CACHED},
	{0x35a, Op::FPMAX, 4, QUIET, DIRECT}, {0x15b, Op::FPMAX, 8, QUIET, DIRECT},
	{0x37a, Op::FPMAX, 4, QUIET, CACHED}, {0x17b, Op::FPMAX, 8, QUIET, CACHED},
	{0x35c, Op::FPADD, 4, QUIET, DIRECT}, {0x15d, Op::FPADD, 8, QUIET, DIRECT},
	{0x37c, Op::FPADD, 4, QUIET, CACHED}, {0x17d, Op::FPADD, 8, QUIET, CACHED},
};
/* clang-format on */

inline const Command *find_command(unsigned int code)
{
	for (const Command &c : COMMANDS) {
		if (c.code == code)
			return &c;
	}
	return nullptr;
}

/* Floating-point numbers in order: sign and magnitude as a two's complement number; -0 is below +0. */
template <typename Word, typename Signed> Signed rank_of(Word bits)
{
	constexpr Word SIGN = Word(1) << (8 * sizeof(Word) - 1);

	return bits & SIGN ? Signed(~(bits ^ SIGN)) : Signed(bits);
}

template <typename Word, typename Signed, typename Float> Word expected_float(Op op, Word m, Word a)
{
	constexpr Word INFINITE = sizeof(Word) == 4 ? Word(0x7f800000) : Word(0x7ff0000000000000);
	constexpr Word QUIET_NAN = INFINITE | Word(1) << (sizeof(Word) == 4 ? 22 : 51);
	constexpr Word MAGNITUDE = Word(~(Word(1) << (8 * sizeof(Word) - 1)));
	const bool m_nan = (m & MAGNITUDE) > INFINITE, a_nan = (a & MAGNITUDE) > INFINITE;

	if (op == Op::FPADD) {
		/* A sum of floats is exact enough in double to be rounded again. */
		const double sum = double(std::bit_cast<Float>(m)) + double(std::bit_cast<Float>(a));

		return std::isnan(sum) ? QUIET_NAN : std::bit_cast<Word>(Float(sum));
	}
	if (m_nan || a_nan)
		return m_nan && a_nan ? QUIET_NAN : m_nan ? a : m;
	const bool less = rank_of<Word, Signed>(m) < rank_of<Word, Signed>(a);

	return less == (op == Op::FPMIN) ? m : a;
}

template <typename Word, typename Signed, typename Float> Word expected_word(Op op, Word m, Word a, Word b)
{
	switch (op) {
	case Op::ADD:
		return m + a;
	case Op::AND:
		return m & a;
	case Op::OR:
		return m | a;
	case Op::XOR:
		return m ^ a;
	case Op::SWAP:
		return a;
	case Op::AX:
		return (m & a) ^ b;
	case Op::CSWAP:
		return m == a ? b : m;
	case Op::IMIN:
		return Signed(m) < Signed(a) ? m : a;
	case Op::IMAX:
		return Signed(m) > Signed(a) ? m : a;
	default:
		return expected_float<Word, Signed, Float>(op, m, a);
	}
}

/** What the word holds after @c, from its value before; narrow commands see the low halves only. */
inline uint64_t expected(const Command &c, uint64_t m, uint64_t a, uint64_t b)
{
	if (c.bytes == 8)
		return expected_word<uint64_t, int64_t, double>(c.op, m, a, b);
	return expected_word<uint32_t, int32_t, float>(c.op, uint32_t(m), uint32_t(a), uint32_t(b));
}

/** Values at the edges of integers and of floating point, for a width in bytes. */
inline constexpr uint64_t EDGES_WIDE[] = {0,
					  1,
					  0x8000000000000000 /* -0, least integer */,
					  0x7fffffffffffffff,
					  0xffffffffffffffff,
					  0x3ff0000000000000 /* 1.0 */,
					  0xbff0000000000000,
					  0x7ff0000000000000 /* infinite */,
					  0xfff0000000000000,
					  0x7ff8000000000000 /* quiet NaN */,
					  0xfff8000000000123,
					  0x7ff0000000000001 /* signalling NaN */,
					  0x000fffffffffffff /* subnormal */,
					  0x8000000000000001,
					  0x0010000000000000,
					  0x7fefffffffffffff /* greatest */,
					  0xffefffffffffffff,
					  0x3ca0000000000000 /* 2^-53: a tie */};
inline constexpr uint64_t EDGES_NARROW[] = {0,          1,          0x80000000, 0x7fffffff, 0xffffffff, 0x3f800000,
					    0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00123, 0x7f800001,
					    0x007fffff, 0x80000001, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x33800000};

} // namespace aries_test

#endif
