// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ports: FMA descriptors that the kernel uses itself. Filling in the descriptor area and ringing
 * the doorbell is one step under a spinlock with interrupts disabled, so it is allowed in any
 * context.
 *
 * The operation has completed when the doorbell store has retired. So one area is enough for any
 * number of users, and the status that is read then belongs to the operation.
 */
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/string.h>

#include "aries_obj.h"
#include "aries_port.h"

/**
 * aries_port_init() - initialise a port for an FMA descriptor; it is switched off
 * @port: the port
 * @ad: the device
 * @nr: number of the descriptor
 *
 * Context: may sleep. Return: 0 or -ENOMEM.
 */
int aries_port_init(struct aries_port *port, struct aries_dev *ad, unsigned int nr)
{
	spin_lock_init(&port->lock);
	port->ad = ad;
	port->nr = nr;
	port->area = ad->desc + nr * ARIES_DESC_STRIDE;
	port->bell = ioremap(ad->fma_phys + nr * ARIES_FMA_STRIDE + ARIES_FMA_DOORBELL, PAGE_SIZE);
	return port->bell ? 0 : -ENOMEM;
}

/** aries_port_exit() - undo aries_port_init(); the port is switched off, the device may be gone */
void aries_port_exit(struct aries_port *port)
{
	if (port->bell)
		iounmap(port->bell);
	port->bell = NULL;
}

/*
 * aries_port_clear() - clear the contents of the last user from the area. Context: state_sem held.
 */
void aries_port_clear(struct aries_port *port)
{
	memset_io(port->area, 0, ARIES_DESC_STRIDE);
}

/**
 * aries_port_switch() - switch a port on or off
 * @port: the port
 * @on: on or off; the registers must be mapped while it is on
 *
 * Context: any. After it was switched off no thread is inside, and none can enter.
 */
void aries_port_switch(struct aries_port *port, bool on)
{
	unsigned long flags;

	spin_lock_irqsave(&port->lock, flags);
	port->on = on;
	spin_unlock_irqrestore(&port->lock, flags);
}

/* Copy whole words, because the area is memory and string instructions are slow in an emulator. */
static void aries_port_copy(void __iomem *to, const void *from, size_t bytes)
{
	const size_t words = bytes / sizeof(u64);
	u64 word;
	size_t i;

	for (i = 0; i < words; i++) {
		memcpy(&word, from + i * sizeof(word), sizeof(word));
		__raw_writeq(word, to + i * sizeof(word));
	}
	if (bytes % sizeof(word))
		memcpy_toio(to + words * sizeof(word), from + words * sizeof(word),
			    bytes % sizeof(word));
}

/* Return: ARIES_ST_* of the operation, or -ENODEV: all ones are not a status. */
static int aries_port_ring(struct aries_port *port, u64 value, u32 bell)
{
	u32 status;

	wmb(); /* flush the write-combining area before the doorbell starts the NIC */
	writeq(value, port->bell + bell);
	status = readl(port->area + ARIES_DESC_STATUS + offsetof(struct aries_fma_status, status));
	return status == ~0u ? -ENODEV : (int)status;
}

/* Return: the reason why a port cannot be used. */
static int aries_port_off(const struct aries_port *port)
{
	const struct aries_owner *own = port->own;
	int rc;

	if (!own)
		return -ENODEV;
	rc = aries_owner_why(own);
	if (!rc && READ_ONCE(own->suspended))
		rc = -EAGAIN;
	return rc ?: -EIO; /* the owner was destroyed */
}

int aries_port_fma(struct aries_port *port, const struct aries_fma *fma)
{
	unsigned long flags;
	int rc;

	if (WARN_ON_ONCE(fma->line && fma->length > ARIES_DESC_LINE_BYTES))
		return -EINVAL;
	spin_lock_irqsave(&port->lock, flags);
	if (likely(port->on && READ_ONCE(port->ad->hw_ok))) {
		aries_port_copy(port->area + ARIES_DESC_FMA, &fma->desc, sizeof(fma->desc));
		if (fma->line)
			aries_port_copy(port->area + ARIES_DESC_LINE, fma->line, fma->length);
		rc = aries_port_ring(port,
				     FIELD_PREP(ARIES_DB_TID_MASK, (u64)fma->tid) |
					     FIELD_PREP(ARIES_DB_LEN_MASK, (u64)fma->length) |
					     FIELD_PREP(ARIES_DB_OP_MASK, (u64)fma->op) |
					     FIELD_PREP(ARIES_DB_MODE_MASK, (u64)fma->mode) |
					     FIELD_PREP(ARIES_DB_AMO_MASK, (u64)fma->amo),
				     ARIES_DB_FMA);
	} else {
		rc = aries_port_off(port);
	}
	spin_unlock_irqrestore(&port->lock, flags);
	return rc;
}
EXPORT_SYMBOL_ARIES(aries_port_fma);

int aries_port_bte(struct aries_port *port, const struct aries_bte_desc *desc)
{
	unsigned long flags;
	int rc;

	spin_lock_irqsave(&port->lock, flags);
	if (likely(port->on && READ_ONCE(port->ad->hw_ok))) {
		/* the NIC copies the slot immediately, so one is enough */
		aries_port_copy(port->area + ARIES_DESC_BTE, desc, sizeof(*desc));
		rc = aries_port_ring(port, 0, ARIES_DB_BTE);
	} else {
		rc = aries_port_off(port);
	}
	spin_unlock_irqrestore(&port->lock, flags);
	return rc;
}
EXPORT_SYMBOL_ARIES(aries_port_bte);
