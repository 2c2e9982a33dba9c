/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/engines/ce_math.hpp"

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>

#include "aries_hw.h"

namespace aries
{

namespace
{

constexpr uint16_t CODE_WIDE = 0x01;
constexpr uint16_t CODE_GREATEST = 0x20;

/* The sum must happen between the caller's calls, in its rounding mode: hence volatile. */
template <typename F> F sum(F a, F b) noexcept
{
	volatile F x = a, y = b;
	volatile F r = x + y;

	return r;
}

uint64_t add_floating(bool wide, uint64_t a, uint64_t b) noexcept
{
	if (wide)
		return std::bit_cast<uint64_t>(sum(std::bit_cast<double>(a), std::bit_cast<double>(b)));
	return std::bit_cast<uint32_t>(sum(std::bit_cast<float>(uint32_t(a)), std::bit_cast<float>(uint32_t(b))));
}

uint64_t single(const CeCommand &command, uint64_t a, uint64_t b) noexcept
{
	const uint64_t mask = command.wide ? UINT64_MAX : UINT32_MAX;

	switch (command.kind) {
	case CeKind::AND:
		return a & b & mask;
	case CeKind::OR:
		return (a | b) & mask;
	case CeKind::XOR:
		return (a ^ b) & mask;
	case CeKind::IADD:
		return (a + b) & mask;
	default:
		return add_floating(command.wide, a, b);
	}
}

/* -1, 0 or 1: @a is less, equal, more than @b. */
int order_integer(bool wide, uint64_t a, uint64_t b) noexcept
{
	const int64_t x = wide ? int64_t(a) : int32_t(uint32_t(a));
	const int64_t y = wide ? int64_t(b) : int32_t(uint32_t(b));

	return x < y ? -1 : x > y;
}

double floating_value(bool wide, uint64_t word) noexcept
{
	return wide ? std::bit_cast<double>(word) : double(std::bit_cast<float>(uint32_t(word)));
}

/* Whether @in takes the place of @best. */
bool wins(const CeCommand &command, const CeValue &best, const CeValue &in, uint8_t &fpe) noexcept
{
	const bool minimum = command.kind == CeKind::IMIN || command.kind == CeKind::FPMIN;
	int order = 0;

	if (command.floating()) {
		const double a = floating_value(command.wide, best.operand[0]);
		const double b = floating_value(command.wide, in.operand[0]);
		const bool a_nan = std::isnan(a), b_nan = std::isnan(b);

		if (a_nan || b_nan)
			fpe |= ARIES_CE_FPE_INVALID;
		if (a_nan != b_nan)
			return a_nan;
		if (!a_nan)
			order = a < b ? -1 : a > b;
	} else {
		order = order_integer(command.wide, best.operand[0], in.operand[0]);
	}
	if (order)
		return minimum ? order > 0 : order < 0;
	return command.greatest ? in.operand[1] > best.operand[1] : in.operand[1] < best.operand[1];
}

uint8_t raised() noexcept
{
	const int bits = fetestexcept(FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT);

	return uint8_t(
		(bits & FE_INVALID ? ARIES_CE_FPE_INVALID : 0) | (bits & FE_OVERFLOW ? ARIES_CE_FPE_OVERFLOW : 0) |
		(bits & FE_UNDERFLOW ? ARIES_CE_FPE_UNDERFLOW : 0) | (bits & FE_INEXACT ? ARIES_CE_FPE_INEXACT : 0));
}

} // namespace

bool CeCommand::decode(uint16_t code) noexcept
{
	static constexpr struct {
		uint16_t code;
		CeKind kind;
	} table[] = {
		{0x00, CeKind::AND},   {0x02, CeKind::OR},    {0x04, CeKind::XOR},
		{0x10, CeKind::IMIN},  {0x12, CeKind::IMAX},  {0x14, CeKind::IADD},
		{0x18, CeKind::FPMIN}, {0x1a, CeKind::FPMAX}, {0x1c, CeKind::FPADD},
	};

	wide = code & CODE_WIDE;
	greatest = code & CODE_GREATEST;
	for (const auto &row : table) {
		if (row.code != (code & uint16_t(~(CODE_WIDE | CODE_GREATEST))))
			continue;
		kind = row.kind;
		return !greatest || indexed();
	}
	return false;
}

CeValue ce_reduce(const CeCommand &command, bool two, unsigned int round, const CeValue *values, size_t count) noexcept
{
	static constexpr int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TONEAREST, FE_TOWARDZERO};
	const uint64_t mask = command.wide ? UINT64_MAX : UINT32_MAX;
	CeValue all = {};
	fenv_t saved;

	feholdexcept(&saved);
	fesetround(modes[round % 4]);
	for (size_t i = 0; i < count; i++) {
		CeValue in = values[i];

		in.operand[0] &= mask;
		in.operand[1] = two || command.indexed() ? in.operand[1] & mask : 0;
		if (i == 0) {
			all = in;
			if (command.indexed() && command.floating() &&
			    std::isnan(floating_value(command.wide, in.operand[0])))
				all.fpe |= ARIES_CE_FPE_INVALID;
			continue;
		}
		all.fpe |= in.fpe;
		if (command.indexed()) {
			if (wins(command, all, in, all.fpe))
				std::copy(in.operand, in.operand + 2, all.operand);
			continue;
		}
		all.operand[0] = single(command, all.operand[0], in.operand[0]);
		if (two)
			all.operand[1] = single(command, all.operand[1], in.operand[1]);
	}
	if (command.kind == CeKind::FPADD)
		all.fpe |= raised();
	fesetenv(&saved);
	return all;
}

} // namespace aries
