/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A process attached through libugni, with a region registered and an endpoint to its own node.
 */
#ifndef UGNI_TEST_H
#define UGNI_TEST_H

#include <time.h>

#include "aries_test.h"
#include "gni_pub.h"

#define UGNI_PAGES 4

struct ugni_self {
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_cq_handle_t cq;
	gni_ep_handle_t ep;
	gni_mem_handle_t mem;
	uint8_t *data;
	uint32_t pe;
};

/* 0, or the number of the step that failed. */
static inline int ugni_begin_modes(struct ugni_self *u, uint32_t cookie, uint32_t modes)
{
	memset(u, 0, sizeof(*u));
	u->data = aries_pages(UGNI_PAGES);
	if (!u->data)
		return 1;
	if (GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, cookie, modes, &u->cdm))
		return 2;
	if (GNI_CdmAttach(u->cdm, 0, &u->pe, &u->nic))
		return 3;
	if (GNI_CqCreate(u->nic, 64, 0, GNI_CQ_NOBLOCK, NULL, NULL, &u->cq))
		return 4;
	if (GNI_MemRegister(u->nic, (uintptr_t)u->data, UGNI_PAGES * ARIES_PAGE, NULL,
			    GNI_MEM_READWRITE, (uint32_t)-1, &u->mem))
		return 5;
	if (GNI_EpCreate(u->nic, u->cq, &u->ep))
		return 6;
	return GNI_EpBind(u->ep, u->pe, 1) ? 7 : 0;
}

static inline int ugni_begin(struct ugni_self *u, uint32_t cookie)
{
	return ugni_begin_modes(u, cookie, 0);
}

static inline void ugni_end(struct ugni_self *u)
{
	if (u->ep) {
		GNI_EpUnbind(u->ep);
		GNI_EpDestroy(u->ep);
	}
	if (u->mem.qword1 || u->mem.qword2)
		GNI_MemDeregister(u->nic, &u->mem);
	if (u->cq)
		GNI_CqDestroy(u->cq);
	if (u->cdm)
		GNI_CdmDestroy(u->cdm);
	if (u->data)
		munmap(u->data, UGNI_PAGES * ARIES_PAGE);
}

/* A transfer from local offset @from to remote offset @to of the same region. */
static inline gni_post_descriptor_t ugni_desc(struct ugni_self *u, gni_post_type_t type, size_t local,
					      size_t remote, size_t bytes)
{
	gni_post_descriptor_t d;

	memset(&d, 0, sizeof(d));
	d.type = type;
	d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
	d.local_addr = (uintptr_t)u->data + local;
	d.local_mem_hndl = u->mem;
	d.remote_addr = (uintptr_t)u->data + remote;
	d.remote_mem_hndl = u->mem;
	d.length = bytes;
	d.src_cq_hndl = u->cq;
	return d;
}

/* Waits for the event of a post, at most 20 seconds; returns its return code. */
static inline gni_return_t ugni_reap(struct ugni_self *u, gni_post_descriptor_t *d)
{
	gni_post_descriptor_t *done = NULL;
	gni_cq_entry_t entry = 0;
	gni_return_t rc;
	time_t end = time(NULL) + 20;

	do {
		rc = GNI_CqGetEvent(u->cq, &entry);
	} while (rc == GNI_RC_NOT_DONE && time(NULL) < end);
	if (rc == GNI_RC_NOT_DONE)
		return rc;
	GNI_GetCompleted(u->cq, entry, &done);
	return done == d ? rc : GNI_RC_DESCRIPTOR_ERROR;
}

static inline gni_return_t ugni_fma(struct ugni_self *u, gni_post_descriptor_t *d)
{
	gni_return_t rc = GNI_PostFma(u->ep, d);

	return rc ? rc : ugni_reap(u, d);
}

static inline gni_return_t ugni_rdma(struct ugni_self *u, gni_post_descriptor_t *d)
{
	gni_return_t rc = GNI_PostRdma(u->ep, d);

	return rc ? rc : ugni_reap(u, d);
}

#endif /* UGNI_TEST_H */
