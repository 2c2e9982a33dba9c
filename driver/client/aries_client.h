/* SPDX-License-Identifier: GPL-2.0-only */
/* Owners that are clients in the kernel (aries_client.c, aries_kmem.c). */
#ifndef ARIES_CLIENT_H
#define ARIES_CLIENT_H

#include <linux/ktime.h>

#include "aries_obj.h"
#include "aries_kapi.h"

/**
 * struct aries_kowner - an owner that is a client in the kernel
 * @own: the owner; its lock protects the rest
 * @ports: ports that have an FMA descriptor
 * @holds: numbers that outlive their region
 * @hold_work: releases numbers whose hold time has passed
 * @node: in aries_dev.clients (aries_dev.client_lock)
 * @quiet: kept until the NIC can no longer access anything of this owner
 * @event: tells the client about events, or NULL
 * @data: for @event
 * @ptag: tag of its domain
 * @quiet_since: when its job was suspended
 */
struct aries_kowner {
	struct aries_owner own;
	struct list_head ports;
	struct list_head holds;
	struct delayed_work hold_work;
	struct list_head node;
	struct aries_kept quiet;
	void (*event)(void *data, enum aries_event event, const struct aries_event_info *info);
	void *data;
	u8 ptag;
	bool suspended; /* its job is suspended; protected by client_lock */
	ktime_t quiet_since;
};

static inline struct aries_kowner *aries_kowner_of(struct aries_owner *own)
{
	return container_of(own, struct aries_kowner, own);
}

int aries_hold_init(void);
void aries_hold_exit(void);
void aries_hold_work(struct work_struct *work);
void aries_hold_end_all(struct aries_kowner *kowner);

/* aries_client.c: the auxiliary device */
void aries_client_add(struct aries_dev *ad);
void aries_client_del(struct aries_dev *ad);
void aries_client_tell(struct aries_dev *ad, enum aries_event event);
void aries_client_quiesce(struct aries_dev *ad, bool quiet, unsigned int ms);
void aries_client_error(struct aries_dev *ad, const struct kgni_err_event *error);

#endif /* ARIES_CLIENT_H */
