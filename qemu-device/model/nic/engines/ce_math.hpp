/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arithmetic of the collective engine (N23). */
#ifndef ARIES_NIC_CE_MATH_HPP
#define ARIES_NIC_CE_MATH_HPP

#include <cstddef>
#include <cstdint>

namespace aries
{

enum class CeKind : uint8_t { AND, OR, XOR, IMIN, IMAX, IADD, FPMIN, FPMAX, FPADD };

/** A command of gni_ce_cmd_type_t, taken apart. */
struct CeCommand {
	CeKind kind = CeKind::AND;
	bool wide = false;     /* 64-bit operands */
	bool greatest = false; /* of equal minima or maxima the greatest index wins, else the lowest */

	/** False: there is no such command; products among others. */
	bool decode(uint16_t code) noexcept;
	/** The second operand is the index of the first. */
	bool indexed() const noexcept
	{
		return kind == CeKind::IMIN || kind == CeKind::IMAX || kind == CeKind::FPMIN || kind == CeKind::FPMAX;
	}
	bool floating() const noexcept { return kind >= CeKind::FPMIN; }
};

/** One contribution, partial result or result. */
struct CeValue {
	uint64_t operand[2];
	uint8_t fpe; /* ARIES_CE_FPE_* suffered so far */
};

/**
 * Reduces @count (at least 1) values from the first to the last.
 * @two: both operands are reduced, each for itself; else the second one of a command without index is 0
 * @round: CE_CTL.ROUND
 *
 * A number is preferred to a NaN as minimum and maximum, and a NaN raises
 * INVALID; zeroes of either sign are equal. The thread's floating-point
 * environment is left as it was.
 */
CeValue ce_reduce(const CeCommand &command, bool two, unsigned int round, const CeValue *values, size_t count) noexcept;

} // namespace aries

#endif
