// SPDX-License-Identifier: GPL-2.0-only
/* Transfers, and registrations of every kind of memory. */
#include <linux/io.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "kgni_test.h"

int kt_test_transfers(struct seq_file *m)
{
	u64 far = (uintptr_t)kt[1].mem, near = (uintptr_t)kt[0].mem;
	gni_post_descriptor_t d;
	int rc;

	get_random_bytes(kt[1].mem, 16 * PAGE_SIZE);
	d = kt_post_of(GNI_POST_FMA_GET, near, far, 70000 & ~3);
	KT_IS(m, gni_post_fma(kt[0].ep, &d), GNI_RC_SUCCESS);
	rc = kt_completes(m, &d);
	KT_CHECK(m, rc || !memcmp(kt[0].mem, kt[1].mem, d.length));
	get_random_bytes(kt[0].mem, 16 * PAGE_SIZE);
	d = kt_post_of(GNI_POST_FMA_PUT, near + 3, far + 1, 10001);
	KT_IS(m, gni_post_fma(kt[0].ep, &d), GNI_RC_SUCCESS);
	rc = rc ?: kt_completes(m, &d);
	KT_CHECK(m, rc || !memcmp(kt[0].mem + 3, kt[1].mem + 1, d.length));
	d = kt_post_of(GNI_POST_RDMA_GET, near + 4, far + 8, 20000);
	KT_IS(m, gni_post_rdma(kt[0].ep, &d), GNI_RC_SUCCESS);
	rc = rc ?: kt_completes(m, &d);
	KT_CHECK(m, rc || !memcmp(kt[0].mem + 4, kt[1].mem + 8, d.length));
	/* and from unregistered memory, by its physical address */
	d = kt_post_of(GNI_POST_RDMA_PUT, virt_to_phys(kt[0].mem) + 5, far + 9, 30000);
	d.rdma_mode = GNI_RDMAMODE_PHYS_ADDR;
	d.local_mem_hndl = (gni_mem_handle_t){};
	KT_IS(m, gni_post_rdma(kt[0].ep, &d), GNI_RC_SUCCESS);
	rc = rc ?: kt_completes(m, &d);
	KT_CHECK(m, rc || !memcmp(kt[0].mem + 5, kt[1].mem + 9, d.length));
	*(u64 *)(kt[1].mem + 16) = 40;
	d = kt_post_of(GNI_POST_AMO, near + 24, far + 16, 8);
	d.amo_cmd = GNI_FMA_ATOMIC_FADD;
	d.first_operand = 2;
	KT_IS(m, gni_post_fma(kt[0].ep, &d), GNI_RC_SUCCESS);
	rc = rc ?: kt_completes(m, &d);
	KT_CHECK(m, rc || (*(u64 *)(kt[1].mem + 16) == 42 && *(u64 *)(kt[0].mem + 24) == 40));
	return rc;
}

/* Scattered pages by their physical addresses. Addresses in such a region are offsets. */
int kt_test_segments(struct seq_file *m)
{
	gni_mem_segment_t segments[8];
	gni_mem_handle_t handle = {};
	gni_post_descriptor_t d;
	struct page *page[8];
	unsigned int i;
	int rc = 0;

	for (i = 0; i < 8; i++) {
		page[i] = alloc_page(GFP_KERNEL);
		KT_CHECK(m, page[i]);
		/* an LND does not set the length */
		segments[i] = (gni_mem_segment_t){ page_to_phys(page[i]), i ? ~0ull : 0 };
	}
	get_random_bytes(kt[0].mem, 8 * PAGE_SIZE);
	KT_IS(m,
	      gni_mem_register_segments(kt[1].nic, segments, 8, NULL,
					GNI_MEM_PHYS_SEGMENTS | GNI_MEM_RELAXED_PI_ORDERING,
					&handle),
	      GNI_RC_SUCCESS);
	d = kt_post_of(GNI_POST_RDMA_PUT, (uintptr_t)kt[0].mem, 0, 8 * PAGE_SIZE);
	d.remote_mem_hndl = handle;
	KT_IS(m, gni_post_rdma(kt[0].ep, &d), GNI_RC_SUCCESS);
	rc = kt_completes(m, &d);
	for (i = 0; i < 8 && !rc; i++)
		KT_CHECK(m, !memcmp(page_address(page[i]), kt[0].mem + i * PAGE_SIZE, PAGE_SIZE));
	KT_IS(m, gni_mem_deregister(kt[1].nic, &handle, 0), GNI_RC_SUCCESS);
	for (i = 0; i < 8; i++)
		__free_page(page[i]);
	return rc;
}

int kt_test_vmalloc(struct seq_file *m)
{
	u8 *area = vzalloc(5 * PAGE_SIZE);
	gni_mem_handle_t handle = {};
	gni_post_descriptor_t d;
	int rc;

	KT_CHECK(m, area);
	KT_IS(m,
	      gni_mem_register(kt[1].nic, (uintptr_t)area + 100, 5 * PAGE_SIZE - 100, NULL, 0,
			       &handle),
	      GNI_RC_SUCCESS);
	get_random_bytes(kt[0].mem, 4 * PAGE_SIZE);
	d = kt_post_of(GNI_POST_RDMA_PUT, (uintptr_t)kt[0].mem, (uintptr_t)area + 100,
		       4 * PAGE_SIZE);
	d.remote_mem_hndl = handle;
	KT_IS(m, gni_post_rdma(kt[0].ep, &d), GNI_RC_SUCCESS);
	rc = kt_completes(m, &d);
	KT_CHECK(m, rc || !memcmp(area + 100, kt[0].mem, 4 * PAGE_SIZE));
	KT_IS(m, gni_mem_deregister(kt[1].nic, &handle, 0), GNI_RC_SUCCESS);
	vfree(area);
	return rc;
}

/* Memory that was deregistered with a hold time cannot be accessed, and its MDD is not reused. */
int kt_test_hold(struct seq_file *m)
{
	gni_mem_handle_t held = {}, other = {};
	gni_post_descriptor_t d, *done;
	gni_cq_entry_t entry;
	unsigned int i;
	char text[64];

	KT_IS(m, gni_mem_register(kt[1].nic, (uintptr_t)kt[1].mem, PAGE_SIZE, NULL, 0, &held),
	      GNI_RC_SUCCESS);
	KT_IS(m, gni_mem_deregister(kt[1].nic, &held, 15 * 60 * 1000), GNI_RC_SUCCESS);
	d = kt_post_of(GNI_POST_FMA_PUT, (uintptr_t)kt[0].mem, (uintptr_t)kt[1].mem, 8);
	d.remote_mem_hndl = held;
	KT_IS(m, gni_post_fma(kt[0].ep, &d), GNI_RC_SUCCESS);
	KT_IS(m, kt_event(kt[0].tx, &entry), GNI_RC_TRANSACTION_ERROR);
	KT_IS(m, gni_cq_error_str(entry, text, sizeof(text)), GNI_RC_SUCCESS);
	KT_CHECK(m, !strcmp(text, "FMA:MDD_INVALID"));
	KT_IS(m, gni_get_completed(kt[0].tx, entry, &done), GNI_RC_TRANSACTION_ERROR);
	KT_CHECK(m, done == &d && d.status == GNI_RC_TRANSACTION_ERROR);
	for (i = 0; i < 8; i++) {
		KT_IS(m,
		      gni_mem_register(kt[1].nic, (uintptr_t)kt[1].mem, PAGE_SIZE, NULL, 0, &other),
		      GNI_RC_SUCCESS);
		KT_CHECK(m, other.qword1 >> 52 != held.qword1 >> 52);
		KT_IS(m, gni_mem_deregister(kt[1].nic, &other, 0), GNI_RC_SUCCESS);
	}
	KT_IS(m, gni_mem_deregister(kt[1].nic, &held, 0), GNI_RC_INVALID_PARAM);
	KT_IS(m, gni_mem_mdd_release(kt[1].nic, &held), GNI_RC_SUCCESS);
	KT_IS(m, gni_mem_mdd_release(kt[1].nic, &held), GNI_RC_NO_MATCH);
	return 0;
}

static gni_return_t kt_locked(gni_return_t (*call)(gni_nic_handle_t nic, gni_mem_handle_t *handle),
			      gni_nic_handle_t nic, gni_mem_handle_t *handle)
{
	static DEFINE_SPINLOCK(lock);
	unsigned long flags;
	gni_return_t rc;

	spin_lock_irqsave(&lock, flags);
	rc = call(nic, handle);
	spin_unlock_irqrestore(&lock, flags);
	return rc;
}

static gni_return_t kt_end_held(gni_nic_handle_t nic, gni_mem_handle_t *handle)
{
	return gni_mem_deregister(nic, handle, 15 * 60 * 1000);
}

static gni_return_t kt_end(gni_nic_handle_t nic, gni_mem_handle_t *handle)
{
	return gni_mem_deregister(nic, handle, 0);
}

/* An LND deregisters memory with a spinlock held, and frees it at once. */
int kt_test_later(struct seq_file *m)
{
	gni_mem_handle_t handle = {};
	gni_post_descriptor_t d, *done;
	gni_cq_entry_t entry;
	gni_cq_handle_t cq;
	unsigned int n;
	u64 *area;

	KT_IS(m, gni_cq_create(kt[1].nic, 16, 0, NULL, 0, &cq), GNI_RC_SUCCESS);
	for (n = 0; n < 100; n++) {
		area = vzalloc(PAGE_SIZE);
		KT_CHECK(m, area);
		KT_IS(m, gni_mem_register(kt[1].nic, (uintptr_t)area, PAGE_SIZE, cq, 0, &handle),
		      GNI_RC_SUCCESS);
		KT_IS(m, kt_locked(n % 2 ? kt_end_held : kt_end, kt[1].nic, &handle),
		      GNI_RC_SUCCESS);
		memset(kt[0].mem, 0xff, 8);
		d = kt_post_of(GNI_POST_FMA_PUT, (uintptr_t)kt[0].mem, (uintptr_t)area, 8);
		d.remote_mem_hndl = handle;
		KT_IS(m, gni_post_fma(kt[0].ep, &d), GNI_RC_SUCCESS);
		KT_IS(m, kt_event(kt[0].tx, &entry), GNI_RC_TRANSACTION_ERROR);
		KT_IS(m, gni_get_completed(kt[0].tx, entry, &done), GNI_RC_TRANSACTION_ERROR);
		KT_CHECK(m, !area[0]);
		vfree(area);
		if (n % 4 == 1)
			KT_IS(m, kt_locked(gni_mem_mdd_release, kt[1].nic, &handle),
			      GNI_RC_SUCCESS);
		else if (n % 4 == 3)
			KT_IS(m, gni_mem_mdd_release(kt[1].nic, &handle), GNI_RC_SUCCESS);
		KT_IS(m, kt_locked(kt_end, kt[1].nic, &handle), GNI_RC_INVALID_PARAM);
		KT_IS(m, kt_locked(gni_mem_mdd_release, kt[1].nic, &handle),
		      GNI_RC_NO_MATCH);
	}
	/* destroying a queue waits for deferred deregistrations */
	KT_IS(m, gni_mem_register(kt[1].nic, (uintptr_t)kt[1].mem, 8, cq, 0, &handle),
	      GNI_RC_SUCCESS);
	KT_IS(m, gni_cq_destroy(cq), GNI_RC_ERROR_RESOURCE);
	KT_IS(m, kt_locked(kt_end, kt[1].nic, &handle), GNI_RC_SUCCESS);
	KT_IS(m, gni_cq_destroy(cq), GNI_RC_SUCCESS);
	return 0;
}
