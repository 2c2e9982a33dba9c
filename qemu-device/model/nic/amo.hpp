/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Atomic memory operations. */
#ifndef ARIES_NIC_AMO_HPP
#define ARIES_NIC_AMO_HPP

#include <cstdint>

namespace aries
{

enum class AmoKind : uint8_t { ADD, AND, OR, XOR, SWAP, AX, CSWAP, IMIN, IMAX };

/** A decoded atomic command (GNI_FMA_ATOMIC*). */
struct AmoCommand {
	AmoKind kind;
	bool fetch; /* the old value is returned */

	/** False for commands that this NIC does not have: 32-bit and floating point ones, and no commands at all. */
	bool decode(uint16_t code) noexcept;

	/** Whether the command uses the second operand. */
	bool two_operands() const noexcept { return kind == AmoKind::AX || kind == AmoKind::CSWAP; }
};

/** Runs @command on an aligned word of shared memory, atomically against all NICs and processors. Returns the old
 * value. */
uint64_t amo_run(const AmoCommand &command, uint64_t *word, uint64_t first, uint64_t second) noexcept;

} // namespace aries

#endif
