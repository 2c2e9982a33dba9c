/* SPDX-License-Identifier: GPL-2.0-only */
/* Owners that are clients in the kernel (aries_client.c, aries_kmem.c). */
#ifndef ARIES_CLIENT_H
#define ARIES_CLIENT_H

#include "aries.h"
#include "aries_kapi.h"

/**
 * struct aries_kown - an owner that is a client in the kernel
 * @own: the owner; its lock protects the rest
 * @ports: ports that have their numbers
 * @holds: handles of regions that are held back
 * @hold_work: lets go of those whose time is over
 */
struct aries_kown {
	struct aries_owner own;
	struct list_head ports;
	struct list_head holds;
	struct delayed_work hold_work;
};

static inline struct aries_kown *aries_kown_of(struct aries_owner *own)
{
	return container_of(own, struct aries_kown, own);
}

void aries_hold_work(struct work_struct *work);
void aries_hold_end_all(struct aries_kown *kown);

/* aries_client.c: the auxiliary device */
void aries_client_add(struct aries_dev *ad);
void aries_client_del(struct aries_dev *ad);

#endif /* ARIES_CLIENT_H */
