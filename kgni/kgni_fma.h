/* SPDX-License-Identifier: GPL-2.0-only */
/* FMA operations, from the descriptor to the status. */
#ifndef KGNI_FMA_H
#define KGNI_FMA_H

#include <linux/uio.h>

#include "kgni.h"

/**
 * struct kgni_line - bytes from several places that go into the line of a descriptor
 * @parts: the places, in order
 * @count: number of @parts
 * @from: bytes to skip at their beginning; a post may be longer than 4 GiB
 * @bytes: bytes to take, ARIES_DESC_LINE_BYTES at most
 */
struct kgni_line {
	const struct kvec *parts;
	unsigned int count;
	u64 from;
	u32 bytes;
};

/**
 * kgni_fma_begin() - initialise an operation with its destination
 * @fma: is filled in word by word, because string instructions are slow in an emulator
 * @ep: endpoint
 * @mdh: memory domain on the peer's node, in the form of descriptors
 * @offset: offset in that memory domain
 */
static inline void kgni_fma_begin(struct aries_fma *fma, const struct gni_ep *ep, u16 mdh,
				  u64 offset)
{
	struct aries_fma_desc *desc = &fma->desc;

	desc->pe = ep->remote_address;
	desc->mdh = mdh;
	desc->dlvr_mode = 0;
	desc->offset = offset;
	desc->local_offset = 0;
	desc->local_mdh = 0;
	desc->cq = ep->cq ? ep->cq->number : 0;
	desc->reserved = 0;
	desc->local_event = ep->local_event;
	desc->remote_event = ep->remote_event;
	desc->operand[0] = 0;
	desc->operand[1] = 0;
	desc->sync_offset = 0;
	desc->sync_value = 0;
	fma->line = NULL;
	fma->amo = 0;
}

/*
 * Not a status of the NIC: the NIC did not accept the operation now, but may later. If the NIC
 * itself reports ARIES_ST_QUEUE_FULL it has accepted the operation, and reports the failure by an
 * event like any other.
 */
#define KGNI_ST_NOT_TAKEN 0xff

u8 kgni_fma(struct gni_ep *ep, struct aries_fma *fma, const struct kgni_line *line,
	    enum aries_fma_op op, u32 length, u16 id, u8 events);
u8 kgni_bte(struct gni_ep *ep, const struct aries_bte_desc *desc);

#endif
