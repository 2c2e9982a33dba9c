// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client of GNI that is built outside of the tree (selftests/cluster/test_external.py). It puts 8
 * bytes into its own memory and asks where its node is; it loads if all of that was right.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/types.h>

#include <gni_pub.h>
#include <krca_lib.h>
#ifdef CONFIG_CRAY_XT
#include <aries/aries_timeouts_gpl.h>
#define EXTERNAL_TIMEOUT TIMEOUT_SECS(TO_GNILND_timeout)
#else
#define EXTERNAL_TIMEOUT 60
#endif

#if !defined(CONFIG_CRAY_ARIES)
#error "a client of Aries finds no CONFIG_CRAY_ARIES"
#endif

#ifdef CONFIG_CRAY_COMPUTE
#define EXTERNAL_KIND "compute"
#else
#define EXTERNAL_KIND "service"
#endif

static bool leave;
module_param(leave, bool, 0444);
MODULE_PARM_DESC(leave, "leave everything behind, as no client should");

#define EXTERNAL_WORD 0x600dda7a600dda7aull

/* Whatever was made so far; the rest is NULL. */
struct external {
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_cq_handle_t cq;
	gni_ep_handle_t ep;
	bool registered;
	gni_mem_handle_t handle;
	u64 *mem;
	u32 address;
};

static int external_open(struct external *x)
{
	x->mem = kzalloc(PAGE_SIZE, GFP_KERNEL);
	if (!x->mem)
		return -ENOMEM;
	if (gni_cdm_create(0, GNI_PTAG_LND, GNI_JOB_CREATE_COOKIE(GNI_PKEY_LND, 0), 0, &x->cdm))
		return -EIO;
	if (gni_cdm_attach(x->cdm, 0, &x->address, &x->nic))
		return -ENODEV;
	if (gni_cq_create(x->nic, 16, 0, NULL, 0, &x->cq))
		return -EIO;
	if (gni_mem_register(x->nic, (uintptr_t)x->mem, PAGE_SIZE, NULL, GNI_MEM_READWRITE,
			     &x->handle))
		return -EIO;
	x->registered = true;
	if (gni_ep_create(x->nic, x->cq, &x->ep) || gni_ep_bind(x->ep, x->address, 0))
		return -EIO;
	return 0;
}

static void external_close(struct external *x)
{
	if (x->ep)
		gni_ep_destroy(x->ep);
	if (x->registered)
		gni_mem_deregister(x->nic, &x->handle, 0);
	if (x->cq)
		gni_cq_destroy(x->cq);
	if (x->cdm)
		gni_cdm_destroy(x->cdm);
	kfree(x->mem);
}

static int external_put(struct external *x)
{
	gni_post_descriptor_t post = {
		.type = GNI_POST_FMA_PUT,
		.cq_mode = GNI_CQMODE_GLOBAL_EVENT,
		.dlvr_mode = GNI_DLVMODE_PERFORMANCE,
		.local_addr = (uintptr_t)&x->mem[0],
		.local_mem_hndl = x->handle,
		.remote_addr = (uintptr_t)&x->mem[1],
		.remote_mem_hndl = x->handle,
		.length = sizeof(x->mem[0]),
	};
	unsigned long end = jiffies + 60 * HZ;
	gni_post_descriptor_t *done = NULL;
	gni_return_t rc = GNI_RC_NOT_DONE;
	gni_cq_entry_t event;

	x->mem[0] = EXTERNAL_WORD;
	if (gni_post_fma(x->ep, &post))
		return -EIO;
	while (rc == GNI_RC_NOT_DONE && time_before(jiffies, end)) {
		rc = gni_cq_get_event(x->cq, &event);
		cond_resched();
	}
	if (rc || gni_get_completed(x->cq, event, &done) || done != &post)
		return -EIO;
	return x->mem[1] == EXTERNAL_WORD ? 0 : -EIO;
}

static int external_krca(struct external *x)
{
	krca_ticket_t ticket = KRCA_NULL_TICKET;
	nic_addr_t nic;
	rca_nid_t nid;
	int rc = krca_nicaddr_to_nid(x->address, &nid);

	if (rc)
		return rc;
	if (krca_nid_to_nicaddrs(nid, 1, &nic) != 1 || nic != x->address)
		return -EIO;
	rc = krca_register(&ticket, RCA_SVCTYPE_GNILND, current->pid, 0);
	return rc ?: krca_unregister(&ticket);
}

static int __init external_init(void)
{
	struct external x = {};
	uint32_t *version = symbol_get(kgni_driver_version);
	int rc = external_open(&x);

	rc = rc ?: external_put(&x);
	rc = rc ?: external_krca(&x);
	if (!leave)
		external_close(&x);
	pr_info("gni_external: %s, timeout %d, version %#x: %d\n", EXTERNAL_KIND,
		(int)EXTERNAL_TIMEOUT, version ? *version : 0, rc);
	if (version)
		symbol_put(kgni_driver_version);
	return version ? rc : -ENOENT;
}
module_init(external_init);

static void __exit external_exit(void)
{
}
module_exit(external_exit);

MODULE_DESCRIPTION("A client of GNI from outside of the tree");
MODULE_LICENSE("GPL");
