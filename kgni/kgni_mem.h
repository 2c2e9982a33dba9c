/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/* Registrations. */
#ifndef KGNI_MEM_H
#define KGNI_MEM_H

#include "kgni.h"

/**
 * struct kgni_mem - a registration
 * @node: in gni_nic.mems, or in gni_nic.later; protected by gni_nic.lock
 * @handle: handle that the client has
 * @region: region in aries.ko; NULL if only a held MDD number is to be released
 * @cq: queue for remote events or NULL
 * @hold_ms: how long to hold its MDD number after the deregistration
 */
struct kgni_mem {
	struct list_head node;
	gni_mem_handle_t handle;
	struct aries_region *region;
	struct gni_cq *cq;
	unsigned int hold_ms;
};

void kgni_mem_end(struct kgni_mem *mem);
void kgni_mem_close(struct gni_nic *nic);

/* kgni_mem_later.c */
void kgni_mem_later_init(struct gni_nic *nic);
void kgni_mem_end_later(struct gni_nic *nic, struct kgni_mem *mem);
bool kgni_mem_release_later(struct gni_nic *nic, const gni_mem_handle_t *handle);
void kgni_mem_later_flush(struct gni_nic *nic);

#endif
