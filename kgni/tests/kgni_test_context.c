// SPDX-License-Identifier: GPL-2.0-only
/* All functions that may be called in any context, called in each kind of context. */
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/random.h>
#include <linux/timer.h>

#include "kgni_test.h"

static gni_post_descriptor_t kt_fma, kt_bte;
static u64 kt_value;
static int kt_line; /* line of the check that failed, 0 if none has */
static struct completion kt_done;

#define KT_HERE(condition)                    \
	do {                                  \
		if (!(condition) && !kt_line) \
			kt_line = __LINE__;   \
	} while (0)

/* Call each function once that may be called in any context. */
static void kt_everything(void)
{
	gni_ep_handle_t ep = NULL;
	gni_cq_entry_t entry;
	void *header;

	KT_HERE(gni_post_fma(kt[0].ep, &kt_fma) == GNI_RC_SUCCESS);
	KT_HERE(*(u64 *)(kt[1].mem + 64) == kt_value);
	KT_HERE(gni_post_rdma(kt[0].ep, &kt_bte) == GNI_RC_SUCCESS);
	KT_HERE(gni_smsg_send(kt[0].ep, "head", 4, "body", 4, 99) == GNI_RC_SUCCESS);
	KT_HERE(gni_smsg_getnext(kt[1].ep, &header) == GNI_RC_SUCCESS &&
		!memcmp(header, "headbody", 8));
	KT_HERE(gni_smsg_release(kt[1].ep) == GNI_RC_SUCCESS);
	KT_HERE(gni_cq_get_event(kt[1].rx, &entry) == GNI_RC_SUCCESS);
	KT_HERE(gni_ep_create(kt[0].nic, kt[0].tx, &ep) == GNI_RC_SUCCESS);
	KT_HERE(gni_ep_bind(ep, kt[0].address, 3) == GNI_RC_SUCCESS);
	KT_HERE(gni_ep_unbind(ep) == GNI_RC_SUCCESS);
	KT_HERE(gni_ep_destroy(ep) == GNI_RC_SUCCESS);
}

static void kt_in_spinlock(void)
{
	static DEFINE_SPINLOCK(lock);
	unsigned long flags;

	spin_lock_irqsave(&lock, flags);
	kt_everything();
	spin_unlock_irqrestore(&lock, flags);
	complete(&kt_done);
}

static void kt_timer_run(struct timer_list *t)
{
	kt_everything();
	complete(&kt_done);
}

static DEFINE_TIMER(kt_timer, kt_timer_run);

static void kt_in_softirq(void)
{
	mod_timer(&kt_timer, jiffies + 1);
}

static void kt_irq_run(struct irq_work *work)
{
	kt_everything();
	complete(&kt_done);
}

static struct irq_work kt_irq = IRQ_WORK_INIT_HARD(kt_irq_run);

static void kt_in_hardirq(void)
{
	irq_work_queue(&kt_irq);
}

static void kt_in_process(void)
{
	kt_everything();
	complete(&kt_done);
}

static int kt_reap_everything(struct seq_file *m)
{
	unsigned int posts = 0, messages = 0, n;
	gni_post_descriptor_t *done;
	gni_cq_entry_t entry;

	for (n = 0; n < 3; n++) {
		KT_IS(m, kt_event(kt[0].tx, &entry), GNI_RC_SUCCESS);
		if (GNI_CQ_GET_TYPE(entry) == GNI_CQ_EVENT_TYPE_SMSG) {
			KT_CHECK(m, GNI_CQ_GET_MSG_ID(entry) == 99);
			messages++;
			continue;
		}
		KT_IS(m, gni_get_completed(kt[0].tx, entry, &done), GNI_RC_SUCCESS);
		KT_CHECK(m, done == &kt_fma || done == &kt_bte);
		posts++;
	}
	KT_CHECK(m, posts == 2 && messages == 1);
	KT_CHECK(m, !memcmp(kt[0].mem + PAGE_SIZE, kt[1].mem + 8 * PAGE_SIZE, 3 * PAGE_SIZE));
	return 0;
}

static int kt_context(struct seq_file *m, void (*run)(void))
{
	unsigned int round;
	int rc;

	for (round = 0; round < 50; round++) {
		kt_value = 0x1122334455660000ull + round;
		get_random_bytes(kt[0].mem + PAGE_SIZE, 3 * PAGE_SIZE);
		kt_fma = kt_post_of(GNI_POST_FMA_PUT, (uintptr_t)&kt_value,
				    (uintptr_t)kt[1].mem + 64, 8);
		kt_bte = kt_post_of(GNI_POST_RDMA_PUT, (uintptr_t)kt[0].mem + PAGE_SIZE,
				    (uintptr_t)kt[1].mem + 8 * PAGE_SIZE, 3 * PAGE_SIZE);
		kt_line = 0;
		init_completion(&kt_done);
		run();
		wait_for_completion(&kt_done);
		if (kt_line) {
			seq_printf(m, "not ok: line %d, round %u\n", kt_line, round);
			return -EIO;
		}
		rc = kt_reap_everything(m);
		if (rc)
			return rc;
	}
	KT_CHECK(m, atomic_read(&kt[0].tx_calls) && atomic_read(&kt[1].rx_calls));
	return 0;
}

int kt_test_process(struct seq_file *m)
{
	return kt_context(m, kt_in_process);
}

int kt_test_spinlock(struct seq_file *m)
{
	return kt_context(m, kt_in_spinlock);
}

int kt_test_softirq(struct seq_file *m)
{
	return kt_context(m, kt_in_softirq);
}

int kt_test_hardirq(struct seq_file *m)
{
	return kt_context(m, kt_in_hardirq);
}

void kt_context_end(void)
{
	del_timer_sync(&kt_timer);
	irq_work_sync(&kt_irq);
}
