// SPDX-License-Identifier: GPL-2.0-only
/* Single FMA operations and block transfers, through a descriptor of the NIC handle. */
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "kgni_fma.h"

/* Buffer to gather the data of a put that comes from several places. */
static DEFINE_PER_CPU_ALIGNED(u8[ARIES_DESC_LINE_BYTES], kgni_line_buffer);

static void kgni_line_gather(u8 *to, const struct kgni_line *line)
{
	u64 from = line->from;
	u32 left = line->bytes;
	unsigned int i;

	for (i = 0; i < line->count && left; i++) {
		const struct kvec *part = &line->parts[i];
		u32 bytes;

		if (from >= part->iov_len) {
			from -= part->iov_len;
			continue;
		}
		bytes = min_t(size_t, part->iov_len - from, left);
		memcpy(to, part->iov_base + from, bytes);
		to += bytes;
		left -= bytes;
		from = 0;
	}
}

/*
 * The descriptor of this processor. If the thread migrates afterwards the descriptor is shared for
 * once, which is harmless.
 */
static struct aries_port *kgni_fma_port(const struct gni_nic *nic)
{
	return nic->port[raw_smp_processor_id() % nic->bells];
}

/*
 * Convert the result of a port function. If the NIC is gone it did not get the operation, so the
 * operation was not executed.
 */
static u8 kgni_port_status(struct gni_ep *ep, int rc)
{
	if (likely(rc >= 0))
		return rc;
	/* the job is suspended */
	if (rc == -EAGAIN)
		return KGNI_ST_NOT_TAKEN;
	if (rc == -EIO || rc == -ENODEV)
		WRITE_ONCE(ep->nic->gone, true);
	return ARIES_ST_DISABLED;
}

/*
 * A part of a post without an id cannot be withdrawn, so for such a part a busy NIC is a failure.
 */
static u8 kgni_fma_status(struct gni_ep *ep, int rc, u16 id)
{
	u8 status = kgni_port_status(ep, rc);

	return status == KGNI_ST_NOT_TAKEN && !id ? ARIES_ST_QUEUE_FULL : status;
}

/**
 * kgni_fma() - execute an FMA operation
 * @ep: endpoint; its node and queue are in @fma
 * @fma: from kgni_fma_begin(); its other members are filled in here
 * @line: data of a put, NULL if there is none
 * @op: operation
 * @length: bytes
 * @id: transaction id for the events
 * @events: ARIES_EV_* wanted
 *
 * The operation has completed when this returns, and its events are written.
 *
 * Context: any. Return: ARIES_ST_*. ARIES_ST_DISABLED: the NIC is gone. KGNI_ST_NOT_TAKEN: the NIC
 * did not accept the operation now but may later; without @id, ARIES_ST_QUEUE_FULL is returned
 * instead. In these two cases no event is raised.
 */
u8 kgni_fma(struct gni_ep *ep, struct aries_fma *fma, const struct kgni_line *line,
	    enum aries_fma_op op, u32 length, u16 id, u8 events)
{
	unsigned long flags;
	int rc;

	fma->op = op;
	fma->length = length;
	fma->tid = id;
	fma->mode = events;
	if (!line || !line->bytes || line->count == 1) {
		fma->line = line && line->bytes ? line->parts[0].iov_base + line->from : NULL;
		return kgni_fma_status(ep, aries_port_fma(kgni_fma_port(ep->nic), fma), id);
	}
	local_irq_save(flags);
	fma->line = *this_cpu_ptr(&kgni_line_buffer);
	kgni_line_gather(*this_cpu_ptr(&kgni_line_buffer), line);
	rc = aries_port_fma(kgni_fma_port(ep->nic), fma);
	local_irq_restore(flags);
	return kgni_fma_status(ep, rc, id);
}

/**
 * kgni_bte() - start a block transfer
 * @ep: endpoint; its node is in @desc
 * @desc: transfer
 *
 * Context: any. Return: ARIES_ST_OK if it is queued, ARIES_ST_QUEUE_FULL, ARIES_ST_DISABLED if the
 * NIC is gone. With any other status the NIC raises the events that were asked for.
 */
u8 kgni_bte(struct gni_ep *ep, const struct aries_bte_desc *desc)
{
	u8 status = kgni_port_status(ep, aries_port_bte(ep->port, desc));

	return status == KGNI_ST_NOT_TAKEN ? ARIES_ST_QUEUE_FULL : status;
}
