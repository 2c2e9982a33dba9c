// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client of kGNI that tests it on one node. Each file in debugfs, kgni_test/, is a test that runs
 * when it is read and says "ok" or what was wrong. selftests/kgni/kgni.c reads them.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>

#include "gni_pub.h"

#define KT_COOKIE \
	GNI_JOB_CREATE_COOKIE(GNI_PKEY_LND, 0) /* as an LND: tags of users may be used up */
#define KT_BYTES (64 * PAGE_SIZE)
#define KT_CREDITS 16
#define KT_LARGEST 2048
#define KT_WAIT_MS 60000 /* far more than anything here takes */

/**
 * struct kt_side - one of two clients that talk to each other
 * @cdm: domain
 * @nic: its attachment
 * @tx: queue of what it starts
 * @rx: queue of what peers do
 * @ep: to the other side
 * @mem: KT_BYTES
 * @handle: of it
 * @smsg: its mailbox, at the end of @mem
 * @address: of this node
 * @tx_calls: of the handler of @tx
 * @rx_calls: of the handler of @rx
 */
struct kt_side {
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_cq_handle_t tx, rx;
	gni_ep_handle_t ep;
	u8 *mem;
	gni_mem_handle_t handle;
	gni_smsg_attr_t smsg;
	u32 address;
	atomic_t tx_calls, rx_calls;
};

static struct kt_side kt[2];
static DEFINE_MUTEX(kt_lock); /* one test at a time */
static struct dentry *kt_dir;

/* Says what was wrong, and leaves the test. */
#define KT_CHECK(m, condition)                                                         \
	do {                                                                           \
		if (!(condition)) {                                                    \
			seq_printf(m, "not ok: %s (line %d)\n", #condition, __LINE__); \
			return -EIO;                                                   \
		}                                                                      \
	} while (0)

#define KT_IS(m, call, code)                                                                 \
	do {                                                                                 \
		gni_return_t kt_rc = (call);                                                 \
		if (kt_rc != (code)) {                                                       \
			seq_printf(m, "not ok: %s: %d (line %d)\n", #call, kt_rc, __LINE__); \
			return -EIO;                                                         \
		}                                                                            \
	} while (0)

static void kt_handler(uint32_t device_id, uint64_t data)
{
	struct kt_side *s = &kt[data >> 1];

	atomic_inc(data & 1 ? &s->rx_calls : &s->tx_calls);
}

static int kt_open(struct seq_file *m, unsigned int i)
{
	struct kt_side *s = &kt[i];
	unsigned int bytes;

	s->mem = kzalloc(KT_BYTES, GFP_KERNEL);
	KT_CHECK(m, s->mem);
	KT_IS(m, gni_cdm_create(i, GNI_PTAG_LND, KT_COOKIE, 0, &s->cdm), GNI_RC_SUCCESS);
	KT_IS(m, gni_cdm_attach(s->cdm, 0, &s->address, &s->nic), GNI_RC_SUCCESS);
	KT_IS(m, gni_cq_create(s->nic, 256, 0, kt_handler, 2 * i, &s->tx), GNI_RC_SUCCESS);
	KT_IS(m, gni_cq_create(s->nic, 4096, 0, kt_handler, 2 * i + 1, &s->rx), GNI_RC_SUCCESS);
	KT_IS(m,
	      gni_mem_register(s->nic, (uintptr_t)s->mem, KT_BYTES, s->rx, GNI_MEM_READWRITE,
			       &s->handle),
	      GNI_RC_SUCCESS);
	s->smsg = (gni_smsg_attr_t){
		.msg_type = GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT,
		.mbox_maxcredit = KT_CREDITS,
		.msg_maxsize = KT_LARGEST,
		.mem_hndl = s->handle,
	};
	KT_IS(m, gni_smsg_buff_size_needed(&s->smsg, &bytes), GNI_RC_SUCCESS);
	KT_CHECK(m, bytes < KT_BYTES / 2);
	s->smsg.msg_buffer = s->mem;
	s->smsg.mbox_offset = KT_BYTES / 2;
	s->smsg.buff_size = bytes;
	return 0;
}

static int kt_connect(struct seq_file *m, unsigned int i)
{
	struct kt_side *s = &kt[i];

	KT_IS(m, gni_ep_create(s->nic, s->tx, &s->ep), GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_bind(s->ep, kt[!i].address, !i), GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_set_eventdata(s->ep, 0x1000 + i, 0x2000 + i), GNI_RC_SUCCESS);
	KT_IS(m, gni_smsg_init(s->ep, &s->smsg, &kt[!i].smsg), GNI_RC_SUCCESS);
	return 0;
}

static int kt_close(struct seq_file *m, unsigned int i)
{
	struct kt_side *s = &kt[i];

	KT_IS(m, gni_ep_destroy(s->ep), GNI_RC_SUCCESS);
	KT_IS(m, gni_mem_deregister(s->nic, &s->handle, 0), GNI_RC_SUCCESS);
	KT_IS(m, gni_cq_destroy(s->rx), GNI_RC_SUCCESS);
	KT_IS(m, gni_cq_destroy(s->tx), GNI_RC_SUCCESS);
	return 0;
}

/* The next event of a queue. */
static gni_return_t kt_event(gni_cq_handle_t cq, gni_cq_entry_t *entry)
{
	gni_return_t rc;
	int i;

	for (i = 0; i < KT_WAIT_MS; i++) {
		rc = gni_cq_get_event(cq, entry);
		if (rc != GNI_RC_NOT_DONE)
			return rc;
		msleep(1);
	}
	return GNI_RC_TIMEOUT;
}

static int kt_completes(struct seq_file *m, gni_post_descriptor_t *d)
{
	gni_post_descriptor_t *done;
	gni_cq_entry_t entry;

	KT_IS(m, kt_event(kt[0].tx, &entry), GNI_RC_SUCCESS);
	KT_CHECK(m, GNI_CQ_GET_INST_ID(entry) == 0x1000);
	KT_IS(m, gni_get_completed(kt[0].tx, entry, &done), GNI_RC_SUCCESS);
	KT_CHECK(m, done == d && d->status == GNI_RC_SUCCESS && d->post_id == 0x7e57);
	KT_IS(m, gni_get_completed(kt[0].tx, entry, &done), GNI_RC_DESCRIPTOR_ERROR);
	return 0;
}

static gni_post_descriptor_t kt_post_of(gni_post_type_t type, u64 local, u64 remote, u64 length)
{
	return (gni_post_descriptor_t){
		.type = type,
		.post_id = 0x7e57,
		.cq_mode = GNI_CQMODE_GLOBAL_EVENT,
		.local_addr = local,
		.local_mem_hndl = kt[0].handle,
		.remote_addr = remote,
		.remote_mem_hndl = kt[1].handle,
		.length = length,
	};
}

/* ---- what happens in some context ---- */

static gni_post_descriptor_t kt_fma, kt_bte;
static u64 kt_value;
static int kt_line; /* of the check that failed, 0 if none has */
static struct completion kt_done;

#define KT_HERE(condition)                    \
	do {                                  \
		if (!(condition) && !kt_line) \
			kt_line = __LINE__;   \
	} while (0)

/* All that may be called from anywhere, once. */
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

static int kt_test_process(struct seq_file *m)
{
	return kt_context(m, kt_in_process);
}

static int kt_test_spinlock(struct seq_file *m)
{
	return kt_context(m, kt_in_spinlock);
}

static int kt_test_softirq(struct seq_file *m)
{
	return kt_context(m, kt_in_softirq);
}

static int kt_test_hardirq(struct seq_file *m)
{
	return kt_context(m, kt_in_hardirq);
}

/* ---- the rest ---- */

static int kt_test_transfers(struct seq_file *m)
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
	*(u64 *)(kt[1].mem + 16) = 40;
	d = kt_post_of(GNI_POST_AMO, near + 24, far + 16, 8);
	d.amo_cmd = GNI_FMA_ATOMIC_FADD;
	d.first_operand = 2;
	KT_IS(m, gni_post_fma(kt[0].ep, &d), GNI_RC_SUCCESS);
	rc = rc ?: kt_completes(m, &d);
	KT_CHECK(m, rc || (*(u64 *)(kt[1].mem + 16) == 42 && *(u64 *)(kt[0].mem + 24) == 40));
	return rc;
}

/* Pages of anywhere by their physical address; addresses in such a region are offsets. */
static int kt_test_segments(struct seq_file *m)
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
		segments[i] = (gni_mem_segment_t){ page_to_phys(page[i]), PAGE_SIZE };
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

static int kt_test_vmalloc(struct seq_file *m)
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

/* What was deregistered with a time to hold it cannot be reached, and its number is nobody else's.
 */
static int kt_test_hold(struct seq_file *m)
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

static int kt_test_messages(struct seq_file *m)
{
	static u8 text[KT_LARGEST];
	u32 sent = 0, got = 0, events = 0, bytes, i;
	gni_cq_entry_t entry;
	gni_return_t rc;
	void *header;

	while (got < 5000) {
		bytes = sent % 7 ? sent % 100 : sent * 37 % (KT_LARGEST + 1);
		memset(text, sent, bytes);
		rc = sent < 5000 ? gni_smsg_send(kt[0].ep, text, bytes / 2, text, bytes - bytes / 2,
						 sent)
				 : GNI_RC_NOT_DONE;
		KT_CHECK(m, rc == GNI_RC_SUCCESS || rc == GNI_RC_NOT_DONE);
		sent += rc == GNI_RC_SUCCESS;
		while (gni_cq_get_event(kt[0].tx, &entry) == GNI_RC_SUCCESS)
			events += GNI_CQ_GET_MSG_ID(entry) == events;
		if (rc == GNI_RC_SUCCESS && sent % 5)
			continue;
		while (gni_smsg_getnext(kt[1].ep, &header) == GNI_RC_SUCCESS) {
			bytes = got % 7 ? got % 100 : got * 37 % (KT_LARGEST + 1);
			for (i = 0; i < bytes; i++)
				KT_CHECK(m, ((u8 *)header)[i] == (u8)got);
			KT_IS(m, gni_smsg_release(kt[1].ep), GNI_RC_SUCCESS);
			got++;
		}
		while (gni_cq_get_event(kt[1].rx, &entry) == GNI_RC_SUCCESS)
			KT_CHECK(m, GNI_CQ_GET_REM_INST_ID(entry) == 0x2000);
	}
	while (events < sent) {
		KT_IS(m, kt_event(kt[0].tx, &entry), GNI_RC_SUCCESS);
		events++;
	}
	return 0;
}

#define KT_THREADS 4
#define KT_PUTS 2000

struct kt_thread {
	struct task_struct *task;
	gni_ep_handle_t ep;
	unsigned int place;
	u32 wrong;
};

/* Posts on an endpoint of its own, and completes whatever comes to the queue that all share. */
static int kt_thread_run(void *data)
{
	struct kt_thread *t = data;
	gni_post_descriptor_t d, *done;
	unsigned int n;
	gni_cq_entry_t entry;
	u64 value;

	for (n = 0; n < KT_PUTS; n++) {
		value = n;
		d = kt_post_of(GNI_POST_FMA_PUT, (uintptr_t)&value,
			       (uintptr_t)kt[1].mem + 8 * t->place, 8);
		WRITE_ONCE(d.prev_descr, NULL);
		while (gni_post_fma(t->ep, &d) == GNI_RC_ERROR_RESOURCE)
			cond_resched();
		while (!READ_ONCE(d.prev_descr)) {
			if (gni_cq_get_event(kt[0].tx, &entry) == GNI_RC_SUCCESS) {
				if (gni_get_completed(kt[0].tx, entry, &done) == GNI_RC_SUCCESS)
					WRITE_ONCE(done->prev_descr, done);
				else
					t->wrong++;
			}
			cond_resched();
		}
	}
	while (!kthread_should_stop())
		msleep(1);
	return 0;
}

static int kt_test_threads(struct seq_file *m)
{
	struct kt_thread t[KT_THREADS] = {};
	unsigned int i, wrong = 0;

	for (i = 0; i < KT_THREADS; i++) {
		KT_IS(m, gni_ep_create(kt[0].nic, kt[0].tx, &t[i].ep), GNI_RC_SUCCESS);
		KT_IS(m, gni_ep_bind(t[i].ep, kt[1].address, 1), GNI_RC_SUCCESS);
		t[i].place = i;
		t[i].task = kthread_run(kt_thread_run, &t[i], "kgni-test/%u", i);
		KT_CHECK(m, !IS_ERR(t[i].task));
	}
	for (i = 0; i < KT_THREADS; i++) {
		kthread_stop(t[i].task);
		wrong += t[i].wrong;
		KT_IS(m, gni_ep_destroy(t[i].ep), GNI_RC_SUCCESS);
	}
	KT_CHECK(m, !wrong);
	return 0;
}

/* Each refusal says why, once for a processor. */
static int kt_test_refusals(struct seq_file *m)
{
	gni_post_descriptor_t d =
		kt_post_of(GNI_POST_RDMA_GET, (uintptr_t)kt[0].mem, (uintptr_t)kt[1].mem + 1, 8);
	gni_mem_handle_t handle = {};
	gni_ep_handle_t ep = NULL;
	gni_errno_t why = {};
	u32 address;

	migrate_disable();
	gni_get_errno(kt[0].nic, &why);
	KT_IS(m, gni_get_errno(kt[0].nic, &why), GNI_RC_INVALID_STATE);
	KT_IS(m, gni_post_rdma(kt[0].ep, &d), GNI_RC_ALIGNMENT_ERROR);
	KT_IS(m, gni_post_rdma((gni_ep_handle_t)kt[0].tx, &d), GNI_RC_INVALID_PARAM);
	KT_IS(m, gni_get_errno(kt[0].nic, &why), GNI_RC_SUCCESS);
	KT_CHECK(m, why.valid && why.errno == EINVAL && why.data1 == 0x7e57 &&
			    !strcmp(why.func, "kgni_rdma_check"));
	KT_IS(m, gni_get_errno(kt[0].nic, &why), GNI_RC_INVALID_STATE);
	migrate_enable();
	KT_IS(m, gni_mem_register(kt[0].nic, (uintptr_t)kt[0].mem, 0, NULL, 0, &handle),
	      GNI_RC_INVALID_PARAM);
	KT_IS(m, gni_mem_register(kt[0].nic, 0x1000, 8, NULL, 0, &handle), GNI_RC_INVALID_PARAM);
	KT_IS(m, gni_mem_register(kt[0].nic, (uintptr_t)kt[0].mem, 8, kt[0].tx, 0, &handle),
	      GNI_RC_INVALID_PARAM);
	KT_IS(m, gni_ep_create(kt[0].nic, kt[0].rx, &ep), GNI_RC_INVALID_PARAM);
	KT_IS(m, gni_cq_destroy(kt[0].rx), GNI_RC_ERROR_RESOURCE);
	KT_IS(m, gni_cq_destroy(kt[0].tx), GNI_RC_ERROR_RESOURCE);
	KT_IS(m, gni_cdm_attach(kt[0].cdm, 0, &address, &kt[0].nic), GNI_RC_INVALID_STATE);
	KT_IS(m, gni_cdm_attach(kt[0].cdm, 77, &address, &kt[0].nic), GNI_RC_NO_MATCH);
	d = kt_post_of(GNI_POST_FMA_PUT, (uintptr_t)kt[0].mem, (uintptr_t)kt[1].mem, 8);
	KT_IS(m, gni_ep_create(kt[0].nic, kt[0].tx, &ep), GNI_RC_SUCCESS);
	KT_IS(m, gni_post_fma(ep, &d), GNI_RC_INVALID_PARAM);
	KT_IS(m, gni_ep_destroy(ep), GNI_RC_SUCCESS);
	return 0;
}

/* What a datagram has come to. */
struct kt_met {
	gni_post_state_t state;
	u32 address, id;
};

/* As an LND does it: found by its id, with a lock held. */
static int kt_find(struct seq_file *m, struct kt_side *s, gni_ep_handle_t ep, u64 id,
		   struct kt_met *met)
{
	static DEFINE_SPINLOCK(lock);
	unsigned long flags;
	u64 found = 0;
	gni_return_t probe, test;

	KT_IS(m, gni_postdata_probe_wait_by_id(s->nic, KT_WAIT_MS, &found), GNI_RC_SUCCESS);
	KT_CHECK(m, found == id);
	spin_lock_irqsave(&lock, flags);
	probe = gni_postdata_probe_by_id(s->nic, &found);
	test = gni_ep_postdata_test_by_id(ep, id, &met->state, &met->address, &met->id);
	spin_unlock_irqrestore(&lock, flags);
	KT_IS(m, probe, GNI_RC_SUCCESS);
	KT_IS(m, test, GNI_RC_SUCCESS);
	return 0;
}

/* One asks, the other listens to anybody: each has what the other has sent, once. */
static int kt_test_datagrams(struct seq_file *m)
{
	gni_ep_handle_t ask, listen;
	char question[16] = "", answer[16] = "";
	struct kt_met met = {};
	u64 found;
	int rc;

	KT_IS(m, gni_ep_create(kt[0].nic, kt[0].tx, &ask), GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_bind(ask, kt[1].address, 1), GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_create(kt[1].nic, kt[1].tx, &listen), GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_postdata_w_id(listen, "answer", 7, question, sizeof(question), 11),
	      GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_postdata_w_id(listen, "answer", 7, question, sizeof(question), 12),
	      GNI_RC_ERROR_RESOURCE);
	KT_IS(m, gni_postdata_probe_by_id(kt[1].nic, &found), GNI_RC_NO_MATCH);
	KT_IS(m, gni_postdata_probe_wait_by_id(kt[1].nic, 10, &found), GNI_RC_TIMEOUT);
	KT_IS(m, gni_ep_postdata_w_id(ask, question, 200, answer, 8, 22), GNI_RC_SIZE_ERROR);
	KT_IS(m, gni_ep_postdata_w_id(ask, "question", 9, answer, sizeof(answer), 22),
	      GNI_RC_SUCCESS);
	rc = kt_find(m, &kt[1], listen, 11, &met);
	if (rc)
		return rc;
	KT_CHECK(m,
		 met.state == GNI_POST_COMPLETED && met.id == 0 && !strcmp(question, "question"));
	rc = kt_find(m, &kt[0], ask, 22, &met);
	if (rc)
		return rc;
	KT_CHECK(m, met.state == GNI_POST_COMPLETED && met.id == 1 && !strcmp(answer, "answer"));
	KT_IS(m, gni_ep_postdata_test_by_id(ask, 22, &met.state, &met.address, &met.id),
	      GNI_RC_NO_MATCH);
	KT_IS(m, gni_ep_postdata_w_id(listen, "more", 5, question, sizeof(question), 13),
	      GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_postdata_cancel_by_id(listen, 13), GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_postdata_cancel_by_id(listen, 13), GNI_RC_NO_MATCH);
	KT_IS(m, gni_ep_postdata(listen, "last", 5, question, sizeof(question)), GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_destroy(listen), GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_destroy(ask), GNI_RC_SUCCESS);
	return 0;
}

static struct completion kt_critical_done, kt_new_done;

static void kt_critical(gni_err_handle_t err)
{
	complete(&kt_critical_done);
}

static void kt_new(gni_err_handle_t err)
{
	complete(&kt_new_done);
}

/* An error of our own is told, with what the NIC says of it. */
static int kt_test_errors(struct seq_file *m)
{
	gni_error_mask_t mask = 0;
	gni_post_descriptor_t d, *done;
	gni_error_event_t event[2];
	gni_cq_entry_t entry;
	gni_err_handle_t err;
	u32 n = 0;

	init_completion(&kt_new_done);
	KT_IS(m, gni_subscribe_errors(kt[0].nic, 0xff, 16, kt_new, NULL, &err), GNI_RC_SUCCESS);
	KT_IS(m, gni_get_error_mask(err, &mask), GNI_RC_SUCCESS);
	KT_CHECK(m, mask == 0xff);
	KT_IS(m, gni_get_error_event(err, event), GNI_RC_NOT_DONE);
	d = kt_post_of(GNI_POST_FMA_PUT, (uintptr_t)kt[0].mem, (uintptr_t)kt[1].mem + KT_BYTES, 8);
	KT_IS(m, gni_post_fma(kt[0].ep, &d), GNI_RC_SUCCESS);
	KT_IS(m, kt_event(kt[0].tx, &entry), GNI_RC_TRANSACTION_ERROR);
	KT_IS(m, gni_get_completed(kt[0].tx, entry, &done), GNI_RC_TRANSACTION_ERROR);
	KT_CHECK(m, wait_for_completion_timeout(&kt_new_done, KT_WAIT_MS * HZ / 1000));
	KT_IS(m, gni_wait_error_events(err, event, 1, 0, &n), GNI_RC_SUCCESS);
	KT_CHECK(m, n == 1 && event[0].serial_number == 1 && event[0].error_category);
	KT_IS(m, gni_set_error_ptag(err, 250), GNI_RC_PERMISSION_ERROR);
	KT_IS(m, gni_release_errors(err), GNI_RC_SUCCESS);
	KT_IS(m, gni_release_errors(err), GNI_RC_INVALID_PARAM);
	return 0;
}

static void kt_quiet_end(gni_nic_handle_t nic, uint64_t msecs)
{
}

/* Somebody resets the NIC meanwhile: clients are told, what is under way ends, handles stay good.
 */
static int kt_test_reset(struct seq_file *m)
{
	gni_post_descriptor_t d;
	gni_err_handle_t err;
	void *header;
	u32 address;

	init_completion(&kt_critical_done);
	KT_IS(m, gni_subscribe_errors(kt[0].nic, 0xff, 0, NULL, kt_critical, &err), GNI_RC_SUCCESS);
	KT_IS(m, gni_set_quiesce_callback(kt[0].nic, kt_quiet_end), GNI_RC_SUCCESS);
	KT_IS(m, gni_set_quiesce_callback(kt[0].nic, kt_quiet_end), GNI_RC_INVALID_STATE);
	KT_CHECK(m, gni_get_quiesce_status(kt[0].nic) == 0);
	KT_CHECK(m, wait_for_completion_timeout(&kt_critical_done, KT_WAIT_MS * HZ / 1000));
	d = kt_post_of(GNI_POST_RDMA_PUT, (uintptr_t)kt[0].mem, (uintptr_t)kt[1].mem, 8);
	KT_IS(m, gni_post_rdma(kt[0].ep, &d), GNI_RC_ERROR_RESOURCE);
	KT_IS(m, gni_post_fma(kt[0].ep, &d), GNI_RC_INVALID_PARAM);
	KT_IS(m, gni_smsg_send(kt[0].ep, "x", 1, NULL, 0, 1), GNI_RC_NOT_DONE);
	KT_IS(m, gni_smsg_getnext(kt[0].ep, &header), GNI_RC_NOT_DONE);
	KT_IS(m, gni_release_errors(err), GNI_RC_SUCCESS);
	/* the same again, on the NIC as it is now */
	KT_CHECK(m, !kt_close(m, 0) && !kt_close(m, 1));
	KT_IS(m, gni_cdm_destroy(kt[0].cdm), GNI_RC_SUCCESS);
	kt[0].cdm = NULL;
	for (address = 0; address < KT_WAIT_MS / 10; address++) {
		KT_IS(m, gni_cdm_create(0, GNI_PTAG_LND, KT_COOKIE, 0, &kt[0].cdm), GNI_RC_SUCCESS);
		if (gni_cdm_attach(kt[0].cdm, 0, &kt[0].address, &kt[0].nic) == GNI_RC_SUCCESS)
			return 1; /* what kt_close() closes is closed */
		KT_IS(m, gni_cdm_destroy(kt[0].cdm), GNI_RC_SUCCESS);
		kt[0].cdm = NULL;
		msleep(20);
	}
	KT_CHECK(m, kt[0].cdm);
	return 0;
}

struct kt_test {
	const char *name;
	int (*run)(struct seq_file *m);
};

static const struct kt_test kt_tests[] = {
	{ "process", kt_test_process },	    { "spinlock", kt_test_spinlock },
	{ "softirq", kt_test_softirq },	    { "hardirq", kt_test_hardirq },
	{ "transfers", kt_test_transfers }, { "segments", kt_test_segments },
	{ "vmalloc", kt_test_vmalloc },	    { "hold", kt_test_hold },
	{ "messages", kt_test_messages },   { "threads", kt_test_threads },
	{ "refusals", kt_test_refusals },   { "datagrams", kt_test_datagrams },
	{ "errors", kt_test_errors },	    { "reset", kt_test_reset },
};

static int kt_run(struct seq_file *m, const struct kt_test *test)
{
	int rc = kt_open(m, 0);

	rc = rc ?: kt_open(m, 1);
	rc = rc ?: kt_connect(m, 0);
	rc = rc ?: kt_connect(m, 1);
	rc = rc ?: test->run(m);
	if (rc == 1)
		return 0; /* it has closed them itself */
	rc = rc ?: kt_close(m, 0);
	rc = rc ?: kt_close(m, 1);
	return rc;
}

static int kt_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	mutex_lock(&kt_lock);
	if (!kt_run(m, m->private))
		seq_puts(m, "ok\n");
	/* ends whatever is left, too */
	for (i = 0; i < 2; i++) {
		if (kt[i].cdm && gni_cdm_destroy(kt[i].cdm) != GNI_RC_SUCCESS)
			seq_puts(m, "a domain does not end\n");
		kfree(kt[i].mem);
		memset(&kt[i], 0, sizeof(kt[i]));
	}
	mutex_unlock(&kt_lock);
	return 0;
}

static int kt_open_file(struct inode *inode, struct file *file)
{
	return single_open(file, kt_show, inode->i_private);
}

static const struct file_operations kt_fops = {
	.owner = THIS_MODULE,
	.open = kt_open_file,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

static int __init kt_init(void)
{
	unsigned int i;

	kt_dir = debugfs_create_dir("kgni_test", NULL);
	for (i = 0; i < ARRAY_SIZE(kt_tests); i++)
		debugfs_create_file(kt_tests[i].name, 0400, kt_dir, (void *)&kt_tests[i], &kt_fops);
	return 0;
}
module_init(kt_init);

static void __exit kt_exit(void)
{
	debugfs_remove_recursive(kt_dir);
	del_timer_sync(&kt_timer);
	irq_work_sync(&kt_irq);
}
module_exit(kt_exit);

MODULE_DESCRIPTION("Tests of kGNI");
MODULE_LICENSE("GPL");
