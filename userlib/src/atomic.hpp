// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Structure of the atomic opcodes (gni_fma_cmd_type_t). */
#ifndef UGNI_ATOMIC_HPP
#define UGNI_ATOMIC_HPP

#include <cstdint>

namespace ugni
{

/** What an opcode asks for; operand_bytes 0: there is no such opcode. */
struct AtomicKind {
	uint8_t operand_bytes;
	bool fetching;
	bool cached;
	bool floating;
};

/**
 * First generation: low nibble 8 ADD, 9 AND, A OR, B XOR, C AX, D CSWAP (fetching
 * only), bit 4 cached. Second: bit 6, operation in bits 4..1, bit 0 64-bit or bit
 * 9 32-bit operands, bit 5 cached. Both: bit 8 nothing returned.
 */
constexpr AtomicKind atomic_kind(uint32_t opcode)
{
	constexpr AtomicKind kNone{0, false, false, false};
	bool fetching = !(opcode & 0x100);

	if (opcode & ~0x37fU)
		return kNone;
	if (!(opcode & 0x40)) {
		uint32_t low = opcode & 0xf;
		if ((opcode & ~0x11fU) || low < 0x8 || low > 0xd || (low == 0xd && !fetching))
			return kNone;
		return {8, fetching, (opcode & 0x10) != 0, false};
	}
	bool wide = opcode & 0x001;
	bool narrow = opcode & 0x200;
	/* Bit n: operation n of AND OR XOR SWAP AX CSWAP - - IMIN IMAX IADD - FPMIN FPMAX FPADD. */
	constexpr uint32_t kOperations = 0x773f;
	uint32_t operation = opcode >> 1 & 0xf;
	if (wide == narrow || !(kOperations >> operation & 1))
		return kNone;
	return {static_cast<uint8_t>(wide ? 8 : 4), fetching, (opcode & 0x20) != 0, operation >= 12};
}

} // namespace ugni

#endif
