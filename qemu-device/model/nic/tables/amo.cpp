/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/tables/amo.hpp"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>
#include <type_traits>

namespace aries
{

namespace
{

constexpr uint16_t NO_FETCH = 0x100;
constexpr uint16_t GEN1_CACHED = 0x010;
constexpr uint16_t GEN2 = 0x040;
constexpr uint16_t GEN2_WIDE = 0x001;   /* 64-bit operands */
constexpr uint16_t GEN2_NARROW = 0x200; /* 32-bit operands */
constexpr uint16_t GEN2_CACHED = 0x020;
constexpr uint16_t GEN2_OP = 0x01e;

static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);
static_assert(FLT_EVAL_METHOD == 0, "additions must round once");

bool decode_gen1(uint16_t op, AmoKind &kind)
{
	constexpr AmoKind KINDS[] = {AmoKind::ADD, AmoKind::AND, AmoKind::OR,
				     AmoKind::XOR, AmoKind::AX,  AmoKind::CSWAP};

	if (op < 0x8 || op > 0xd)
		return false;
	kind = KINDS[op - 0x8];
	return true;
}

bool decode_gen2(uint16_t op, AmoKind &kind)
{
	/* clang-format off */
	constexpr AmoKind KINDS[] = {
		AmoKind::AND, AmoKind::OR, AmoKind::XOR, AmoKind::SWAP, AmoKind::AX, AmoKind::CSWAP, {}, {},
		AmoKind::IMIN, AmoKind::IMAX, AmoKind::ADD, {}, AmoKind::FPMIN, AmoKind::FPMAX, AmoKind::FPADD, {},
	};
	/* clang-format on */
	constexpr uint16_t PRESENT = 0x773f; /* bit n: KINDS[n] is a command */

	kind = KINDS[op >> 1];
	return PRESENT >> (op >> 1) & 1;
}

template <typename Float> Float smaller(Float a, Float b)
{
	if (std::isnan(a) || std::isnan(b))
		return std::isnan(a) ? b : a;
	if (a == b)
		return std::signbit(a) ? a : b;
	return a < b ? a : b;
}

template <typename Float> Float greater(Float a, Float b)
{
	if (std::isnan(a) || std::isnan(b))
		return std::isnan(a) ? b : a;
	if (a == b)
		return std::signbit(a) ? b : a;
	return a > b ? a : b;
}

template <typename Word> Word float_result(AmoKind kind, Word old, Word operand)
{
	using Float = std::conditional_t<sizeof(Word) == 4, float, double>;
	const Float m = std::bit_cast<Float>(old), a = std::bit_cast<Float>(operand);
	const Float value = kind == AmoKind::FPADD ? m + a : kind == AmoKind::FPMIN ? smaller(m, a) : greater(m, a);

	/* Processors differ in the NaN they make. */
	return std::bit_cast<Word>(std::isnan(value) ? std::numeric_limits<Float>::quiet_NaN() : value);
}

/* New value for the commands that processors do not have. */
template <typename Word> Word result(AmoKind kind, Word old, Word a, Word b)
{
	using Signed = std::make_signed_t<Word>;

	switch (kind) {
	case AmoKind::AX:
		return (old & a) ^ b;
	case AmoKind::IMIN:
		return Word(std::min(Signed(old), Signed(a)));
	case AmoKind::IMAX:
		return Word(std::max(Signed(old), Signed(a)));
	default:
		return float_result(kind, old, a);
	}
}

template <typename Word> Word run(AmoKind kind, Word *word, Word first, Word second) noexcept
{
	switch (kind) {
	case AmoKind::ADD:
		return __atomic_fetch_add(word, first, __ATOMIC_SEQ_CST);
	case AmoKind::AND:
		return __atomic_fetch_and(word, first, __ATOMIC_SEQ_CST);
	case AmoKind::OR:
		return __atomic_fetch_or(word, first, __ATOMIC_SEQ_CST);
	case AmoKind::XOR:
		return __atomic_fetch_xor(word, first, __ATOMIC_SEQ_CST);
	case AmoKind::SWAP:
		return __atomic_exchange_n(word, first, __ATOMIC_SEQ_CST);
	case AmoKind::CSWAP:
		/* On failure the word as found is left in first: the old value either way. */
		__atomic_compare_exchange_n(word, &first, second, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		return first;
	default:
		break;
	}
	Word old = __atomic_load_n(word, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(word, &old, result(kind, old, first, second), true, __ATOMIC_SEQ_CST,
					    __ATOMIC_RELAXED))
		;
	return old;
}

} // namespace

bool AmoCommand::decode(uint16_t code) noexcept
{
	fetch = !(code & NO_FETCH);
	bytes = 8;
	code &= uint16_t(~NO_FETCH);
	if (code & GEN2) {
		const uint16_t width = code & uint16_t(~(GEN2 | GEN2_CACHED | GEN2_OP));

		cached = code & GEN2_CACHED;
		bytes = width == GEN2_NARROW ? 4 : 8;
		return (width == GEN2_WIDE || width == GEN2_NARROW) && decode_gen2(code & GEN2_OP, kind);
	}
	cached = code & GEN1_CACHED;
	code &= uint16_t(~GEN1_CACHED);
	/* The first generation's compare and swap always fetches. */
	return decode_gen1(code, kind) && (fetch || kind != AmoKind::CSWAP);
}

uint64_t amo_run(const AmoCommand &command, void *word, uint64_t first, uint64_t second) noexcept
{
	if (command.bytes == 4)
		return run(command.kind, static_cast<uint32_t *>(word), uint32_t(first), uint32_t(second));
	return run(command.kind, static_cast<uint64_t *>(word), first, second);
}

} // namespace aries
