/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Atomic memory operations. */
#ifndef ARIES_NIC_AMO_HPP
#define ARIES_NIC_AMO_HPP

#include <cstdint>

namespace aries
{

enum class AmoKind : uint8_t { ADD, AND, OR, XOR, SWAP, AX, CSWAP, IMIN, IMAX, FPMIN, FPMAX, FPADD };

/** A decoded atomic command (GNI_FMA_ATOMIC*). */
struct AmoCommand {
	AmoKind kind;
	bool fetch;    /* the old value is returned */
	bool cached;   /* goes through the target's AMO cache */
	uint8_t bytes; /* of the word and of each operand: 4 or 8 */

	/** False if there is no such command; the members mean nothing then. */
	bool decode(uint16_t code) noexcept;

	/** Whether the command uses the second operand. */
	bool two_operands() const noexcept { return kind == AmoKind::AX || kind == AmoKind::CSWAP; }
};

/**
 * Runs @command on a word of shared memory, atomically against all NICs and
 * processors. @word is aligned to the command's width; a narrow command uses
 * the low halves of the operands. Return: the old value, zero-extended.
 *
 * Floating point is IEEE 754 binary32 and binary64, rounding to nearest even,
 * subnormals kept. Minimum and maximum give the number if one operand is NaN,
 * and take -0 as less than +0. Where the result is NaN it is the quiet NaN
 * with sign and payload zero.
 */
uint64_t amo_run(const AmoCommand &command, void *word, uint64_t first, uint64_t second) noexcept;

/** Operands and results of atomics travel as 64 bits, whatever their width. */
inline constexpr uint32_t AMO_WIRE_WORD = 8;
inline uint32_t amo_wire_bytes(const AmoCommand &command) noexcept
{
	return command.two_operands() ? 2 * AMO_WIRE_WORD : AMO_WIRE_WORD;
}

} // namespace aries

#endif
