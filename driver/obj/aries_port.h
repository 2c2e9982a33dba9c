/* SPDX-License-Identifier: GPL-2.0-only */
/* Ports (aries_port.c): the interface for the rest of the driver. */
#ifndef ARIES_PORT_H
#define ARIES_PORT_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "aries_compat.h"
#include "aries_kapi.h"

/**
 * struct aries_port - an FMA descriptor that the kernel uses itself
 * @lock: protects @on and the area; see DOC: locks
 * @on: the port may be used
 * @ad: the device
 * @nr: number of the descriptor
 * @area: descriptor area
 * @bell: doorbell page
 * @own: client in the kernel that it belongs to, with a reference; NULL for the port of the channel
 * @node: in the client's list while it has a descriptor
 */
struct aries_port {
	spinlock_t lock; /* see DOC: locks */
	bool on;
	struct aries_dev *ad;
	unsigned int nr;
	void __iomem *area;
	void __iomem *bell;
	struct aries_owner *own;
	struct list_head node;
};

int aries_port_init(struct aries_port *port, struct aries_dev *ad, unsigned int nr);
void aries_port_exit(struct aries_port *port);
void aries_port_clear(struct aries_port *port);
void aries_port_switch(struct aries_port *port, bool on);

#endif /* ARIES_PORT_H */
