// SPDX-License-Identifier: GPL-2.0-only
/* Communication domains, and their attachments to NICs. */
#include <linux/module.h>
#include <linux/slab.h>

#include "kgni_cq.h"
#include "kgni_dev.h"
#include "kgni_err.h"
#include "kgni_handle.h"
#include "kgni_mem.h"
#include "kgni_tell.h"

/* all GNI_CDM_MODE_* bits that are defined */
#define KGNI_CDM_MODES 0x003fd3ffu

/* gni_cdm_create() - create a domain, see gni_pub.h. Context: sleeps. */
gni_return_t gni_cdm_create(uint32_t inst_id, uint8_t ptag, uint32_t cookie, uint32_t modes,
			    gni_cdm_handle_t *cdm_hndl)
{
	struct gni_cdm *cdm;

	might_sleep();
	if (!cdm_hndl || (modes & ~KGNI_CDM_MODES))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, modes);
	cdm = kzalloc(sizeof(*cdm), GFP_KERNEL);
	if (!cdm || kgni_handle_add(cdm)) {
		kfree(cdm);
		return kgni_refuse(GNI_RC_ERROR_RESOURCE, ENOMEM);
	}
	cdm->inst_id = inst_id;
	cdm->ptag = ptag;
	cdm->cookie = cookie;
	cdm->modes = modes;
	mutex_init(&cdm->mutex);
	INIT_LIST_HEAD(&cdm->nics);
	cdm->magic = KGNI_CDM_MAGIC;
	/*
	 * Hold this module while the domain exists: if a client is unloaded without destroying it,
	 * aries.ko still calls into this module.
	 */
	__module_get(THIS_MODULE);
	*cdm_hndl = cdm;
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_cdm_create);

static bool kgni_cdm_attached(struct gni_cdm *cdm, u32 device_id)
{
	struct gni_nic *nic;

	list_for_each_entry(nic, &cdm->nics, node)
		if (nic->device_id == device_id)
			return true;
	return false;
}

static gni_return_t kgni_cdm_attach(struct gni_cdm *cdm, u32 device_id, struct gni_nic **made)
{
	struct gni_nic *nic;
	gni_return_t rc;

	if (kgni_cdm_attached(cdm, device_id))
		return kgni_refuse(GNI_RC_INVALID_STATE, EISCONN, device_id);
	nic = kzalloc(sizeof(*nic), GFP_KERNEL);
	if (!nic || kgni_handle_add(nic)) {
		kfree(nic);
		return kgni_refuse(GNI_RC_ERROR_RESOURCE, ENOMEM);
	}
	nic->cdm = cdm;
	nic->inst_id = cdm->inst_id;
	nic->modes = cdm->modes;
	nic->device_id = device_id;
	nic->smsg_retransmissions = FMA_SMSG_MAX_RETRANS_DEFAULT;
	mutex_init(&nic->mutex);
	spin_lock_init(&nic->lock);
	INIT_LIST_HEAD(&nic->eps);
	INIT_LIST_HEAD(&nic->cqs);
	INIT_LIST_HEAD(&nic->mems);
	INIT_LIST_HEAD(&nic->errs);
	kgni_mem_later_init(nic);
	kgni_tell_init(nic);
	rc = kgni_dev_join(nic);
	if (rc != GNI_RC_SUCCESS) {
		kgni_handle_del(nic);
		kfree(nic);
		return rc;
	}
	list_add_tail(&nic->node, &cdm->nics);
	nic->magic = KGNI_NIC_MAGIC;
	*made = nic;
	return GNI_RC_SUCCESS;
}

/* gni_cdm_attach() - attach a domain to a NIC, see gni_pub.h. Context: sleeps. */
gni_return_t gni_cdm_attach(gni_cdm_handle_t cdm_hndl, uint32_t device_id, uint32_t *local_addr,
			    gni_nic_handle_t *nic_hndl)
{
	gni_return_t rc;

	might_sleep();
	if (!kgni_cdm_valid(cdm_hndl) || !local_addr || !nic_hndl)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)cdm_hndl);
	mutex_lock(&cdm_hndl->mutex);
	rc = kgni_cdm_attach(cdm_hndl, device_id, nic_hndl);
	if (rc == GNI_RC_SUCCESS)
		*local_addr = (*nic_hndl)->address;
	mutex_unlock(&cdm_hndl->mutex);
	return rc;
}
EXPORT_SYMBOL_GPL(gni_cdm_attach);

/*
 * Release everything that the client has not released itself. The functions of the client are
 * stopped first, because they may use all of it.
 */
static void kgni_nic_close(struct gni_nic *nic)
{
	struct gni_ep *ep, *next_ep;
	struct gni_cq *cq, *next_cq;

	kgni_tell_stop(nic);
	list_for_each_entry_safe(ep, next_ep, &nic->eps, node)
		gni_ep_destroy(ep);
	kgni_mem_close(nic);
	list_for_each_entry_safe(cq, next_cq, &nic->cqs, node) {
		cq->magic = 0;
		WARN_ON(kgni_cq_free(cq));
	}
	nic->magic = 0;
	kgni_handle_del(nic);
	kgni_dev_leave(nic);
	kgni_err_close(nic);
	kgni_tell_free(nic);
}

/* gni_cdm_destroy() - destroy a domain and its attachments, see gni_pub.h. Context: sleeps. */
gni_return_t gni_cdm_destroy(gni_cdm_handle_t cdm_hndl)
{
	struct gni_nic *nic, *next;
	LIST_HEAD(nics);

	might_sleep();
	if (!kgni_cdm_valid(cdm_hndl) ||
	    cmpxchg(&cdm_hndl->magic, KGNI_CDM_MAGIC, 0) != KGNI_CDM_MAGIC)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)cdm_hndl);
	kgni_handle_del(cdm_hndl);
	mutex_lock(&cdm_hndl->mutex);
	list_splice_tail_init(&cdm_hndl->nics, &nics);
	mutex_unlock(&cdm_hndl->mutex);
	/* without the mutex, because this waits for functions of the client, which may attach */
	list_for_each_entry_safe(nic, next, &nics, node)
		kgni_nic_close(nic);
	kfree(cdm_hndl);
	module_put(THIS_MODULE);
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_cdm_destroy);
