/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/amo.hpp"

#include <algorithm>

namespace aries
{

namespace
{

constexpr uint16_t NO_FETCH = 0x100;
constexpr uint16_t GEN1_CACHED = 0x010;
constexpr uint16_t GEN2 = 0x040;
constexpr uint16_t GEN2_WIDE = 0x001; /* 64-bit operands */
constexpr uint16_t GEN2_CACHED = 0x020;
constexpr uint16_t GEN2_OP = 0x01e;

bool decode_gen1(uint16_t op, AmoKind &kind)
{
	switch (op) {
	case 0x8:
		kind = AmoKind::ADD;
		return true;
	case 0x9:
		kind = AmoKind::AND;
		return true;
	case 0xa:
		kind = AmoKind::OR;
		return true;
	case 0xb:
		kind = AmoKind::XOR;
		return true;
	case 0xc:
		kind = AmoKind::AX;
		return true;
	case 0xd:
		kind = AmoKind::CSWAP;
		return true;
	default:
		return false;
	}
}

bool decode_gen2(uint16_t op, AmoKind &kind)
{
	switch (op) {
	case 0x00:
		kind = AmoKind::AND;
		return true;
	case 0x02:
		kind = AmoKind::OR;
		return true;
	case 0x04:
		kind = AmoKind::XOR;
		return true;
	case 0x06:
		kind = AmoKind::SWAP;
		return true;
	case 0x08:
		kind = AmoKind::AX;
		return true;
	case 0x0a:
		kind = AmoKind::CSWAP;
		return true;
	case 0x10:
		kind = AmoKind::IMIN;
		return true;
	case 0x12:
		kind = AmoKind::IMAX;
		return true;
	case 0x14:
		kind = AmoKind::ADD;
		return true;
	default:
		return false;
	}
}

uint64_t result(AmoKind kind, uint64_t old, uint64_t a, uint64_t b)
{
	switch (kind) {
	case AmoKind::AX:
		return (old & a) ^ b;
	case AmoKind::IMIN:
		return uint64_t(std::min(int64_t(old), int64_t(a)));
	case AmoKind::IMAX:
		return uint64_t(std::max(int64_t(old), int64_t(a)));
	default:
		return old;
	}
}

} // namespace

bool AmoCommand::decode(uint16_t code) noexcept
{
	fetch = !(code & NO_FETCH);
	code &= uint16_t(~NO_FETCH);
	if (code & GEN2) {
		const uint16_t rest = code & uint16_t(~(GEN2 | GEN2_CACHED | GEN2_OP));

		return rest == GEN2_WIDE && decode_gen2(code & GEN2_OP, kind);
	}
	code &= uint16_t(~GEN1_CACHED);
	/* The first generation's compare and swap always fetches. */
	return decode_gen1(code, kind) && (fetch || kind != AmoKind::CSWAP);
}

uint64_t amo_run(const AmoCommand &command, uint64_t *word, uint64_t first, uint64_t second) noexcept
{
	switch (command.kind) {
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
	case AmoKind::AX:
	case AmoKind::IMIN:
	case AmoKind::IMAX:
		break;
	}
	uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);

	while (!__atomic_compare_exchange_n(word, &old, result(command.kind, old, first, second), true,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
	return old;
}

} // namespace aries
