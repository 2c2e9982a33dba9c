/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ECC of the NIC's memories. An entry that an injected error has hit loses its valid bit and says why in two bits that
 * no register has: whoever uses entries that are whole does not look for errors. One wrong bit is put right by the next
 * who needs the entry; with two it stays refused until the driver writes it anew. Memories whose entries come and go by
 * themselves (caches, ORB, transfers, contributions) have marks of their own for the same.
 *
 * Errors that are too many (RAS_LIMIT), or of memories that RAS_SIGNAL names, stop the NIC: nothing of it can be
 * trusted. It serves nobody until a reset, and its host signals an uncorrectable error on PCI Express.
 */
#ifndef ARIES_NIC_ECC_HPP
#define ARIES_NIC_ECC_HPP

#include "nic/core/core.hpp"

namespace aries
{

/** Bits of an entry: in use, hit by an error, by one of two bits. */
template <typename Word> struct EccBits {
	Word valid, hit, twice;
};

inline constexpr EccBits<uint32_t> NTT_ECC{ARIES_NTT_ENTRY_VALID_MASK, uint32_t(1) << 30, uint32_t(1) << 29};
inline constexpr EccBits<uint64_t> MDD_ECC{ARIES_MDD_CTL_VALID_MASK, 1 << 5, 1 << 4};
inline constexpr EccBits<uint64_t> FMAD_ECC{ARIES_FMAD_CTL_ENABLE_MASK, 1 << 5, 1 << 4};
inline constexpr EccBits<uint64_t> CQ_ECC{ARIES_CQ_CTL_VALID_MASK, 1 << 5, 1 << 4};
inline constexpr EccBits<uint64_t> VMDH_ECC{ARIES_VMDH_CTL_VALID_MASK, 1 << 5, 1 << 4};
inline constexpr EccBits<uint64_t> PTAG_ECC{ARIES_PTAG_KEY_VALID_MASK, uint64_t(1) << 41, uint64_t(1) << 40};

/** An entry as it was written. */
template <typename Word> constexpr Word ecc_shown(Word entry, const EccBits<Word> &bits) noexcept
{
	return entry & bits.hit ? (entry & ~(bits.hit | bits.twice)) | bits.valid : entry;
}

/** Whether an entry, as it was read, has two wrong bits. */
template <typename Word> constexpr bool ecc_lost(Word entry, const EccBits<Word> &bits) noexcept
{
	return (entry & bits.hit) && (entry & bits.twice);
}

/** Writes an entry that was hit anew, as it was; one that is whole, or free, stays what it is. */
template <typename Word> void ecc_rewrite(std::atomic<Word> &entry, const EccBits<Word> &bits) noexcept
{
	Word value = entry.load();

	while ((value & bits.hit) && !entry.compare_exchange_weak(value, ecc_shown(value, bits)))
		;
}

/** Hits an entry with an error of one bit, or @twice of two; false if it is not in use. */
template <typename Word> bool ecc_hit(std::atomic<Word> &entry, const EccBits<Word> &bits, bool twice) noexcept
{
	Word was = entry.load();

	do {
		if (!(was & (bits.valid | bits.hit)))
			return false;
	} while (!entry.compare_exchange_weak(was, (was & ~bits.valid) | bits.hit | (was & bits.twice) |
							   (twice ? bits.twice : Word(0))));
	return true;
}

/**
 * What the decoder of a Hamming code with parity finds: the place of the wrong bit, or the sum of both places. The
 * model has bit @index modulo 64 of an entry wrong, and of two the next one.
 */
uint8_t ecc_syndrome(uint32_t index, bool twice) noexcept;

/**
 * Counts an error that was found at @node, keeps the first, tells the driver what it wants to know. Any thread; locks
 * of the segment other than that of the error queue may be held.
 * @mdh: memory domain that has lost something by it, for the driver's log
 */
[[gnu::cold]] void ecc_found(const Core &core, uint32_t node, aries_ras_memory memory, uint32_t index, bool twice,
			     uint16_t mdh = 0) noexcept;

/**
 * Looks at an entry that does not seem to be in use.
 * @param value the entry as it is afterwards
 * Return: ARIES_ST_ECC, or ARIES_ST_OK: nothing is wrong (any more)
 */
template <typename Word>
[[gnu::cold, gnu::noinline]] uint8_t ecc_look(const Core &core, uint32_t node, aries_ras_memory memory, uint32_t index,
					      std::atomic<Word> &entry, const EccBits<Word> &bits, Word &value) noexcept
{
	value = entry.load();
	while (value & bits.hit) {
		if (value & bits.twice) {
			ecc_found(core, node, memory, index, true);
			return ARIES_ST_ECC;
		}
		const Word whole = ecc_shown(value, bits);

		if (entry.compare_exchange_strong(value, whole)) {
			value = whole;
			ecc_found(core, node, memory, index, false);
		}
	}
	return ARIES_ST_OK;
}

/**
 * An entry that is read where nobody waits for an answer of this NIC's: put right if that can be.
 * Return: the entry; without its valid bit if it has two wrong bits
 */
template <typename Word>
Word ecc_read(const Core &core, uint32_t node, aries_ras_memory memory, uint32_t index, std::atomic<Word> &entry,
	      const EccBits<Word> &bits) noexcept
{
	Word value = entry.load(std::memory_order_acquire);

	if (value & bits.hit) [[unlikely]]
		(void)ecc_look(core, node, memory, index, entry, bits, value);
	return value;
}

/** Entries of each memory. */
inline constexpr uint32_t ECC_ENTRIES[] = {
#define ARIES_ECC_ENTRIES(NAME, name, entries, row, text) entries,
	ARIES_RAS_MEMORIES(ARIES_ECC_ENTRIES)
#undef ARIES_ECC_ENTRIES
};

} // namespace aries

#endif
