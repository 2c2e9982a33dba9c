/* SPDX-License-Identifier: GPL-2.0-only */
/* Registrations. */
#ifndef KGNI_MEM_H
#define KGNI_MEM_H

#include "kgni.h"

/**
 * struct kgni_mem - a registration; after its deregistration, the record of its held MDD number
 * @node: in gni_nic.mems, then in gni_nic.later, then in gni_nic.held; protected by gni_nic.lock
 * @handle: handle that the client has
 * @region: region in aries.ko; NULL once its deregistration has begun
 * @cq: queue for remote events or NULL
 * @hold_ms: how long to hold its MDD number after the deregistration; 0 if it need not be held
 * @hold_end: when the hold ends, in jiffies
 */
struct kgni_mem {
	struct list_head node;
	gni_mem_handle_t handle;
	struct aries_region *region;
	struct gni_cq *cq;
	unsigned int hold_ms;
	unsigned long hold_end;
};

static inline bool kgni_mem_same(const struct kgni_mem *mem, const gni_mem_handle_t *handle)
{
	return mem->handle.qword1 == handle->qword1 && mem->handle.qword2 == handle->qword2;
}

void kgni_mem_close(struct gni_nic *nic);

/* kgni_mem_later.c */
void kgni_mem_end(const struct kgni_mem *mem);
int kgni_mem_later_start(void);
void kgni_mem_later_end(void);
void kgni_mem_later_init(struct gni_nic *nic);
void kgni_mem_end_later(struct gni_nic *nic, struct kgni_mem *mem);
bool kgni_mem_release_later(struct gni_nic *nic, const gni_mem_handle_t *handle);
void kgni_mem_later_flush(struct gni_nic *nic);
void kgni_mem_later_close(struct gni_nic *nic);

#endif
