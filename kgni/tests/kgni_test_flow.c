// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traffic that continues until the module is unloaded or another test begins: block puts that take
 * a while, and messages. Stopping it does not wait for their completion.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/vmalloc.h>

#include "kgni_test.h"

#define KT_LARGE (4ul << 20) /* more than the NIC moves in one go */
#define KT_BLOCKS 4

static struct task_struct *kt_traffic;
static u8 *kt_large[2];
static gni_mem_handle_t kt_large_handle[2];
static gni_post_descriptor_t kt_block[KT_BLOCKS];
static bool kt_busy[KT_BLOCKS];
static atomic_t kt_moved;

/* Refused posts are repeated in the next round: the NIC may be in a reset, or gone. */
static void kt_post_blocks(void)
{
	unsigned int i;

	for (i = 0; i < KT_BLOCKS; i++) {
		gni_post_descriptor_t *d = &kt_block[i];

		if (kt_busy[i])
			continue;
		*d = kt_post_of(GNI_POST_RDMA_PUT, (uintptr_t)kt_large[0], (uintptr_t)kt_large[1],
				KT_LARGE);
		d->local_mem_hndl = kt_large_handle[0];
		d->remote_mem_hndl = kt_large_handle[1];
		kt_busy[i] = gni_post_rdma(kt[0].ep, d) == GNI_RC_SUCCESS;
	}
}

static void kt_talk(void)
{
	void *header;
	u32 word = 1;

	gni_smsg_send(kt[0].ep, &word, sizeof(word), NULL, 0, word);
	while (gni_smsg_getnext(kt[1].ep, &header) == GNI_RC_SUCCESS)
		gni_smsg_release(kt[1].ep);
}

static bool kt_take(gni_cq_handle_t cq, gni_cq_entry_t *entry)
{
	gni_return_t rc = gni_cq_get_event(cq, entry);

	return rc == GNI_RC_SUCCESS || rc == GNI_RC_TRANSACTION_ERROR;
}

static void kt_take_events(void)
{
	gni_post_descriptor_t *done;
	gni_cq_entry_t entry;

	while (kt_take(kt[0].tx, &entry)) {
		if (GNI_CQ_GET_TYPE(entry) == GNI_CQ_EVENT_TYPE_SMSG ||
		    gni_get_completed(kt[0].tx, entry, &done) == GNI_RC_DESCRIPTOR_ERROR)
			continue;
		kt_busy[done - kt_block] = false;
		atomic_inc(&kt_moved);
	}
	while (kt_take(kt[1].rx, &entry))
		;
}

static int kt_traffic_run(void *unused)
{
	while (!kthread_should_stop()) {
		kt_post_blocks();
		kt_talk();
		kt_take_events();
		cond_resched();
	}
	return 0;
}

int kt_test_traffic(struct seq_file *m)
{
	unsigned long i;

	for (i = 0; i < 2; i++) {
		kt_large[i] = vzalloc(KT_LARGE);
		KT_CHECK(m, kt_large[i]);
		KT_IS(m,
		      gni_mem_register(kt[i].nic, (uintptr_t)kt_large[i], KT_LARGE, NULL,
				       GNI_MEM_READWRITE, &kt_large_handle[i]),
		      GNI_RC_SUCCESS);
	}
	memset(kt_busy, 0, sizeof(kt_busy));
	atomic_set(&kt_moved, 0);
	kt_traffic = kthread_run(kt_traffic_run, NULL, "kgni-test/traffic");
	if (IS_ERR(kt_traffic))
		kt_traffic = NULL;
	KT_CHECK(m, kt_traffic);
	for (i = 0; i < KT_WAIT_MS && !atomic_read(&kt_moved); i++)
		msleep(1);
	KT_CHECK(m, atomic_read(&kt_moved));
	return KT_GOES_ON;
}

/* Stop starting new operations. Those in flight continue. */
void kt_traffic_stop(void)
{
	if (kt_traffic)
		kthread_stop(kt_traffic);
	kt_traffic = NULL;
}

/* Free the memory, which the NIC can no longer access. */
void kt_traffic_free(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		vfree(kt_large[i]);
		kt_large[i] = NULL;
	}
}
