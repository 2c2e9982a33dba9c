/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Validation of handles. The first word of a handle tells its kind, and that it was not destroyed.
 * With the module parameter check_handles, kGNI first looks the handle up in a table, before it
 * reads that word.
 */
#ifndef KGNI_HANDLE_H
#define KGNI_HANDLE_H

#include <linux/compiler.h>
#include <linux/jump_label.h>

#include "kgni.h"

DECLARE_STATIC_KEY_FALSE(kgni_check_handles);

void kgni_handle_init(void);
bool kgni_handle_known(const void *handle);
int kgni_handle_add(const void *handle);
void kgni_handle_del(const void *handle);

/** kgni_handle_valid() - check that @handle is live and its first word is @magic. Context: any. */
static inline bool kgni_handle_valid(const void *handle, u32 magic)
{
	if (!handle)
		return false;
	if (static_branch_unlikely(&kgni_check_handles) && !kgni_handle_known(handle))
		return false;
	return READ_ONCE(*(const u32 *)handle) == magic;
}

static inline bool kgni_cdm_valid(const struct gni_cdm *cdm)
{
	return kgni_handle_valid(cdm, KGNI_CDM_MAGIC);
}

static inline bool kgni_nic_valid(const struct gni_nic *nic)
{
	return kgni_handle_valid(nic, KGNI_NIC_MAGIC);
}

static inline bool kgni_cq_valid(const struct gni_cq *cq)
{
	return kgni_handle_valid(cq, KGNI_CQ_MAGIC);
}

static inline bool kgni_ep_valid(const struct gni_ep *ep)
{
	return kgni_handle_valid(ep, KGNI_EP_MAGIC);
}

#endif
