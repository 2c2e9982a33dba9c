/* SPDX-License-Identifier: GPL-2.0-only */
/* One FMA operation, from the descriptor to the status. */
#ifndef KGNI_FMA_H
#define KGNI_FMA_H

#include <linux/bitfield.h>
#include <linux/uio.h>

#include "kgni.h"

/**
 * struct kgni_line - bytes of several places that go into the line of a descriptor
 * @parts: places, one behind the other
 * @count: of these
 * @from: bytes of them to leave out
 * @bytes: bytes to take, ARIES_DESC_LINE_BYTES at most
 */
struct kgni_line {
	const struct kvec *parts;
	unsigned int count;
	u32 from;
	u32 bytes;
};

/** kgni_doorbell() - value of a doorbell of FMA, see aries_hw.h */
static inline u64 kgni_doorbell(u16 id, u64 length, enum aries_fma_op op, u32 events)
{
	return id | FIELD_PREP(ARIES_DB_LEN_MASK, length) | FIELD_PREP(ARIES_DB_OP_MASK, (u64)op) |
	       FIELD_PREP(ARIES_DB_MODE_MASK, (u64)events);
}

u8 kgni_fma(struct gni_ep *ep, const struct aries_fma_desc *desc, const struct kgni_line *line,
	    u64 doorbell);
u8 kgni_bte(struct gni_ep *ep, const struct aries_bte_desc *desc);

#endif
