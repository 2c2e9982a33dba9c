// SPDX-License-Identifier: GPL-2.0-only
/*
 * FMA posts: puts, gets and atomics. A transfer that is longer than one operation of the NIC takes
 * several operations. When one of them fails the rest is skipped, and kGNI delivers the event that
 * reports the failure.
 */
#include <linux/export.h>

#include "gni_memhandle.h"
#include "kgni_cq.h"
#include "kgni_fma.h"
#include "kgni_handle.h"
#include "kgni_post.h"

/* Length of one get: the largest multiple of a cache line that the NIC takes. */
#define KGNI_GET_PIECE 65472u

/** struct kgni_fma_post - an FMA post that is being issued */
struct kgni_fma_post {
	struct gni_ep *ep;
	gni_post_descriptor_t *d;
	struct aries_fma fma;
	u16 id;
};

static gni_return_t kgni_fma_accept(struct kgni_fma_post *p)
{
	const gni_post_descriptor_t *d = p->d;
	struct gni_ep *ep = p->ep;

	kgni_fma_begin(&p->fma, ep, gni_hndl_name(&d->remote_mem_hndl),
		       gni_hndl_offset(&d->remote_mem_hndl, d->remote_addr));
	p->fma.desc.dlvr_mode = d->dlvr_mode;
	return kgni_post_begin(ep, ep->cq, p->d, KGNI_REQUEST_POST, &p->id);
}

/* One of several operations has failed. No event is raised at the target. */
static void kgni_fma_fail(struct kgni_fma_post *p, u8 status)
{
	if (!p->id) {
		p->d->status = GNI_RC_TRANSACTION_ERROR;
		return;
	}
	if (kgni_cq_unsettled(p->ep->cq, p->id, false))
		kgni_cq_settle(p->ep->cq, p->id, status);
}

/*
 * Issue the last operation, which raises the events. A post without local events reports its
 * outcome at once.
 * Return: GNI_RC_SUCCESS, or GNI_RC_ERROR_RESOURCE if the NIC did not accept it now but may later.
 */
static gni_return_t kgni_fma_end(struct kgni_fma_post *p, const struct kgni_line *line, u64 length,
				 enum aries_fma_op op)
{
	u8 status = kgni_fma(p->ep, &p->fma, line, op, length, p->id, p->d->cq_mode);

	if (status == KGNI_ST_NOT_TAKEN || (!p->id && status == ARIES_ST_QUEUE_FULL)) {
		if (p->id && !kgni_cq_withdraw(p->ep->cq, p->id))
			return GNI_RC_SUCCESS;
		return kgni_refuse(GNI_RC_ERROR_RESOURCE, EAGAIN, p->d->post_id);
	}
	if (!p->id && status != ARIES_ST_OK)
		p->d->status = GNI_RC_TRANSACTION_ERROR;
	return GNI_RC_SUCCESS;
}

static gni_return_t kgni_fma_put(struct kgni_fma_post *p)
{
	const gni_post_descriptor_t *d = p->d;
	bool flagged = d->type == GNI_POST_FMA_PUT_W_SYNCFLAG;
	struct kvec from = { (void *)(uintptr_t)d->local_addr, d->length };
	struct kgni_line line = { .parts = &from, .count = 1 };
	u64 left = d->length;
	gni_return_t rc;
	u8 status;

	if (gni_hndl_none(&d->remote_mem_hndl) || (left && !d->local_addr))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EBADF, d->post_id, d->local_addr);
	if (flagged && (d->sync_flag_addr & 7))
		return kgni_refuse(GNI_RC_ALIGNMENT_ERROR, EINVAL, d->post_id, d->sync_flag_addr);
	rc = kgni_fma_accept(p);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	for (; left > ARIES_DESC_LINE_BYTES; left -= ARIES_DESC_LINE_BYTES) {
		line.bytes = ARIES_DESC_LINE_BYTES;
		status = kgni_fma(p->ep, &p->fma, &line, ARIES_FMA_PUT_LINE, line.bytes, 0, 0);
		if (status != ARIES_ST_OK) {
			kgni_fma_fail(p, status);
			return GNI_RC_SUCCESS;
		}
		line.from += ARIES_DESC_LINE_BYTES;
		p->fma.desc.offset = (p->fma.desc.offset + ARIES_DESC_LINE_BYTES) &
				     GNI_OFFSET_MASK;
	}
	line.bytes = left;
	if (flagged) {
		p->fma.desc.sync_offset = gni_hndl_offset(&d->remote_mem_hndl, d->sync_flag_addr);
		p->fma.desc.sync_value = d->sync_flag_value;
	}
	return kgni_fma_end(p, &line, left, flagged ? ARIES_FMA_PUT_SYNC : ARIES_FMA_PUT_LINE);
}

static gni_return_t kgni_fma_get(struct kgni_fma_post *p)
{
	const gni_post_descriptor_t *d = p->d;
	bool flagged = d->type == GNI_POST_FMA_GET_W_FLAG;
	u64 left = d->length;
	gni_return_t rc;
	u8 status;

	if (gni_hndl_none(&d->remote_mem_hndl) || gni_hndl_none(&d->local_mem_hndl) || !left)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EBADF, d->post_id, left);
	if (((d->remote_addr | left) & 3) || (flagged && (d->local_addr & 3)))
		return kgni_refuse(GNI_RC_ALIGNMENT_ERROR, EINVAL, d->post_id, d->remote_addr,
				   left);
	rc = kgni_fma_accept(p);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	p->fma.desc.local_mdh = gni_hndl_name(&d->local_mem_hndl);
	p->fma.desc.local_offset = gni_hndl_offset(&d->local_mem_hndl, d->local_addr);
	for (; left > KGNI_GET_PIECE; left -= KGNI_GET_PIECE) {
		status = kgni_fma(p->ep, &p->fma, NULL, ARIES_FMA_GET_OP, KGNI_GET_PIECE, 0, 0);
		if (status != ARIES_ST_OK) {
			kgni_fma_fail(p, status);
			return GNI_RC_SUCCESS;
		}
		p->fma.desc.offset = (p->fma.desc.offset + KGNI_GET_PIECE) & GNI_OFFSET_MASK;
		p->fma.desc.local_offset = (p->fma.desc.local_offset + KGNI_GET_PIECE) &
					   GNI_OFFSET_MASK;
	}
	return kgni_fma_end(p, NULL, left, flagged ? ARIES_FMA_GET_FLAG : ARIES_FMA_GET_OP);
}

/*
 * Operand size of an atomic in bytes, 0 if there is no such operation. First generation: low nibble
 * 8 ADD, 9 AND, A OR, B XOR, C AX, D CSWAP (fetching only), bit 4 cached. Second: bit 6, operation
 * in bits 4..1, bit 0 64-bit or bit 9 32-bit operands, bit 5 cached. Both: bit 8 nothing returned.
 */
static u8 kgni_amo_bytes(u32 opcode)
{
	/* bit n: operation n of AND OR XOR SWAP AX CSWAP - - IMIN IMAX IADD - FPMIN FPMAX FPADD */
	const u32 operations = 0x773f;
	u32 low = opcode & 0xf;
	bool wide = opcode & 0x001, narrow = opcode & 0x200;

	if (opcode & ~0x37fu)
		return 0;
	if (!(opcode & 0x40)) {
		if ((opcode & ~0x11fu) || low < 0x8 || low > 0xd ||
		    (low == 0xd && (opcode & 0x100)))
			return 0;
		return 8;
	}
	if (wide == narrow || !(operations >> (opcode >> 1 & 0xf) & 1))
		return 0;
	return wide ? 8 : 4;
}

static gni_return_t kgni_fma_amo(struct kgni_fma_post *p)
{
	const gni_post_descriptor_t *d = p->d;
	bool flagged = d->type == GNI_POST_AMO_W_FLAG;
	bool fetching = !(d->amo_cmd & 0x100);
	u8 bytes = kgni_amo_bytes(d->amo_cmd);
	gni_return_t rc;

	if (!bytes || !d->length || gni_hndl_none(&d->remote_mem_hndl) ||
	    (fetching && gni_hndl_none(&d->local_mem_hndl)) || (flagged && !fetching))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, d->post_id, d->amo_cmd, d->length);
	if ((d->remote_addr & (bytes - 1)) || (fetching && (d->local_addr & (bytes - 1))))
		return kgni_refuse(GNI_RC_ALIGNMENT_ERROR, EINVAL, d->post_id, d->remote_addr,
				   d->local_addr);
	rc = kgni_fma_accept(p);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	p->fma.desc.operand[0] = d->first_operand;
	p->fma.desc.operand[1] = d->second_operand;
	if (fetching) {
		p->fma.desc.local_mdh = gni_hndl_name(&d->local_mem_hndl);
		p->fma.desc.local_offset = gni_hndl_offset(&d->local_mem_hndl, d->local_addr);
	}
	p->fma.amo = d->amo_cmd;
	return kgni_fma_end(p, NULL, bytes, flagged ? ARIES_FMA_AMO_FLAG : ARIES_FMA_AMO_OP);
}

/* gni_post_fma() - post a put, get or atomic, see gni_pub.h. Context: any. */
gni_return_t gni_post_fma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr)
{
	gni_return_t rc = kgni_post_check(ep_hndl, post_descr);
	struct kgni_fma_post p;

	if (rc != GNI_RC_SUCCESS)
		return rc;
	p.ep = ep_hndl;
	p.d = post_descr;
	switch (post_descr->type) {
	case GNI_POST_FMA_PUT:
	case GNI_POST_FMA_PUT_W_SYNCFLAG:
		return kgni_fma_put(&p);
	case GNI_POST_FMA_GET:
	case GNI_POST_FMA_GET_W_FLAG:
		return kgni_fma_get(&p);
	case GNI_POST_AMO:
	case GNI_POST_AMO_W_FLAG:
		return kgni_fma_amo(&p);
	default:
		return kgni_refuse(GNI_RC_INVALID_PARAM, EOPNOTSUPP, post_descr->post_id,
				   post_descr->type);
	}
}
EXPORT_SYMBOL_GPL(gni_post_fma);
