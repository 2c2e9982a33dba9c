// SPDX-License-Identifier: GPL-2.0-only
/*
 * Failing allocations. Each test runs the same code again and again, and each time the next
 * allocation fails, until there is none left. A call that fails must return one of the codes that
 * clients know and must leave nothing behind, and the NIC must stay usable. For kernels with fault
 * injection; selftests/kgni/failing.c sets that up.
 */
#include <linux/io.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "kgni_test.h"

#define KF_MOST 1000 /* allocations; more than any test here makes */
#define KF_POSTS 160 /* more than a queue has memory for from the start */
#define KF_SEGMENTS 8
#define KF_HOLD_MS (15 * 60 * 1000)

#define KF_MAY(code) (1u << (code))
#define KF_RESOURCE KF_MAY(GNI_RC_ERROR_RESOURCE)
#define KF_MEMORY KF_MAY(GNI_RC_ERROR_NOMEM)

/* The first call of the current attempt that was refused with a wrong code. */
static struct {
	int line;
	gni_return_t rc;
} kf_wrong;

static unsigned int kf_posted, kf_sent;
static gni_post_descriptor_t kf_descriptor[KF_POSTS];
static u8 *kf_area;
static gni_mem_segment_t kf_segment[KF_SEGMENTS];

static bool kf_look(gni_return_t rc, u32 may, int line)
{
	if (rc == GNI_RC_SUCCESS)
		return true;
	if (!(may & KF_MAY(rc)) && !kf_wrong.line) {
		kf_wrong.line = line;
		kf_wrong.rc = rc;
	}
	return false;
}

/* True if the call succeeds. If it is refused, the code has to be one of @may. */
#define KF_TRY(call, may) kf_look(call, may, __LINE__)
/* The call has to succeed even without memory. */
#define KF_MUST(call) kf_look(call, 0, __LINE__)

static void kf_attach(void)
{
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	u32 address;

	if (!KF_TRY(gni_cdm_create(7, GNI_PTAG_LND, KT_COOKIE, 0, &cdm), KF_RESOURCE))
		return;
	KF_TRY(gni_cdm_attach(cdm, 0, &address, &nic), KF_RESOURCE);
	KF_MUST(gni_cdm_destroy(cdm));
}

static void kf_handler(u32 device_id, u64 data)
{
}

static void kf_queue(void)
{
	gni_cq_handle_t cq;

	if (KF_TRY(gni_cq_create(kt[0].nic, 4096, 0, kf_handler, 0, &cq), KF_RESOURCE))
		KF_MUST(gni_cq_destroy(cq));
}

static void kf_endpoint(void)
{
	gni_ep_handle_t ep;

	if (!KF_TRY(gni_ep_create(kt[0].nic, kt[0].tx, &ep), KF_MEMORY))
		return;
	KF_MUST(gni_ep_bind(ep, kt[1].address, 1));
	KF_MUST(gni_ep_unbind(ep));
	KF_MUST(gni_ep_destroy(ep));
}

/* Deregister in one of the possible ways. None of them may need memory. */
static void kf_end(gni_mem_handle_t *handle, unsigned int how)
{
	unsigned long flags;

	if (how & 1)
		local_irq_save(flags);
	KF_MUST(gni_mem_deregister(kt[1].nic, handle, how & 2 ? KF_HOLD_MS : 0));
	if (how & 1)
		local_irq_restore(flags);
	if (how & 2)
		KF_MUST(gni_mem_mdd_release(kt[1].nic, handle));
}

static void kf_registration(void)
{
	const u64 start[] = { (uintptr_t)kt[1].mem, (uintptr_t)kf_area + 100 };
	gni_mem_handle_t handle = {};
	unsigned int n;

	for (n = 0; n < 8; n++)
		if (KF_TRY(gni_mem_register(kt[1].nic, start[n / 4], KT_BYTES - 100, kt[1].rx,
					    GNI_MEM_READWRITE, &handle),
			   KF_RESOURCE))
			kf_end(&handle, n);
}

static void kf_segments(void)
{
	gni_mem_handle_t handle = {};

	if (KF_TRY(gni_mem_register_segments(kt[1].nic, kf_segment, KF_SEGMENTS, NULL,
					     GNI_MEM_PHYS_SEGMENTS, &handle),
		   KF_RESOURCE))
		kf_end(&handle, 0);
}

static void kf_mailbox(void)
{
	gni_smsg_attr_t near = kt[0].smsg, far = kt[1].smsg;
	gni_ep_handle_t ep;

	/* beside the mailboxes that are in use */
	near.mbox_offset = PAGE_SIZE;
	far.mbox_offset = PAGE_SIZE;
	if (!KF_TRY(gni_ep_create(kt[0].nic, kt[0].tx, &ep), KF_MEMORY))
		return;
	KF_MUST(gni_ep_bind(ep, kt[1].address, 1));
	KF_TRY(gni_smsg_init(ep, &near, &far), KF_RESOURCE);
	KF_MUST(gni_ep_destroy(ep));
}

static void kf_datagram(void)
{
	u32 may = KF_RESOURCE | KF_MEMORY, address, id;
	static char question[16], answer[16];
	gni_ep_handle_t ask, listen;
	gni_post_state_t state;
	u64 found;

	if (!KF_TRY(gni_ep_create(kt[0].nic, kt[0].tx, &ask), KF_MEMORY))
		return;
	KF_MUST(gni_ep_bind(ask, kt[1].address, 1));
	if (!KF_TRY(gni_ep_create(kt[1].nic, kt[1].tx, &listen), KF_MEMORY))
		goto out;
	if (!KF_TRY(gni_ep_postdata_w_id(listen, "answer", 7, question, 16, 11), may))
		goto out_listen;
	if (!KF_TRY(gni_ep_postdata_w_id(ask, "question", 9, answer, 16, 22), may)) {
		KF_MUST(gni_ep_postdata_cancel_by_id(listen, 11));
		goto out_listen;
	}
	KF_MUST(gni_postdata_probe_wait_by_id(kt[0].nic, KT_WAIT_MS, &found));
	KF_MUST(gni_postdata_probe_wait_by_id(kt[1].nic, KT_WAIT_MS, &found));
	/* without memory the datagrams are not lost */
	while (!KF_TRY(gni_ep_postdata_test_by_id(ask, 22, &state, &address, &id), KF_MEMORY))
		if (kf_wrong.line)
			break;
	while (!KF_TRY(gni_ep_postdata_test_by_id(listen, 11, &state, &address, &id), KF_MEMORY))
		if (kf_wrong.line)
			break;
out_listen:
	KF_MUST(gni_ep_destroy(listen));
out:
	KF_MUST(gni_ep_destroy(ask));
}

/* A refused post is not repeated. The others complete, see kf_reap(). */
static void kf_posts(void)
{
	gni_post_descriptor_t *d;
	unsigned int i;

	for (i = 0; i < KF_POSTS; i++) {
		d = &kf_descriptor[kf_posted];
		*d = kt_post_of(i % 2 ? GNI_POST_FMA_PUT : GNI_POST_RDMA_PUT, (uintptr_t)kt[0].mem,
				(uintptr_t)kt[1].mem, 8);
		d->post_id = i;
		if (KF_TRY(i % 2 ? gni_post_fma(kt[0].ep, d) : gni_post_rdma(kt[0].ep, d),
			   KF_RESOURCE))
			kf_posted++;
	}
}

static void kf_messages(void)
{
	unsigned int i;

	for (i = 0; i < 4; i++)
		if (KF_TRY(gni_smsg_send(kt[0].ep, "head", 4, "body", 4, 99),
			   KF_RESOURCE | KF_MAY(GNI_RC_NOT_DONE)))
			kf_sent++;
}

static void kf_errors(void)
{
	gni_err_handle_t err;

	if (KF_TRY(gni_subscribe_errors(kt[0].nic, 0xff, 16, NULL, NULL, &err), KF_RESOURCE))
		KF_MUST(gni_release_errors(err));
}

/* Everything that was accepted completes without an error. */
static int kf_reap(struct seq_file *m)
{
	gni_post_descriptor_t *done;
	gni_cq_entry_t entry;
	void *header;
	unsigned int i;

	for (i = 0; i < kf_posted + kf_sent; i++) {
		KT_IS(m, kt_event(kt[0].tx, &entry), GNI_RC_SUCCESS);
		if (GNI_CQ_GET_TYPE(entry) == GNI_CQ_EVENT_TYPE_SMSG)
			continue;
		KT_IS(m, gni_get_completed(kt[0].tx, entry, &done), GNI_RC_SUCCESS);
		KT_CHECK(m, done->status == GNI_RC_SUCCESS);
	}
	for (i = 0; i < kf_sent; i++) {
		KT_IS(m, kt_event(kt[1].rx, &entry), GNI_RC_SUCCESS);
		KT_IS(m, gni_smsg_getnext(kt[1].ep, &header), GNI_RC_SUCCESS);
		KT_CHECK(m, !memcmp(header, "headbody", 8));
		KT_IS(m, gni_smsg_release(kt[1].ep), GNI_RC_SUCCESS);
	}
	KT_IS(m, gni_cq_get_event(kt[0].tx, &entry), GNI_RC_NOT_DONE);
	kf_posted = 0;
	kf_sent = 0;
	return 0;
}

/* The NIC transfers data, and the connection works. */
static int kf_usable(struct seq_file *m)
{
	gni_post_descriptor_t d;
	int rc = kf_reap(m);

	if (rc)
		return rc;
	get_random_bytes(kt[0].mem, 8);
	d = kt_post_of(GNI_POST_FMA_PUT, (uintptr_t)kt[0].mem, (uintptr_t)kt[1].mem, 8);
	KT_IS(m, gni_post_fma(kt[0].ep, &d), GNI_RC_SUCCESS);
	rc = kt_completes(m, &d);
	KT_CHECK(m, rc || !memcmp(kt[0].mem, kt[1].mem, 8));
	KT_IS(m, gni_smsg_send(kt[0].ep, "head", 4, "body", 4, 99), GNI_RC_SUCCESS);
	kf_sent = 1;
	return rc ?: kf_reap(m);
}

/*
 * Run @subject until each of its allocations has failed once. With @renew it gets new queues each
 * time, because it allocates on new queues only.
 */
static int kf_run(struct seq_file *m, void (*subject)(void), bool renew)
{
	bool reached = true;
	unsigned int n;
	int rc = 0;

	for (n = 1; reached && !rc; n++) {
		KT_CHECK(m, n < KF_MOST);
		rc = renew ? kt_renew(m) : 0;
		if (rc)
			break;
		memset(&kf_wrong, 0, sizeof(kf_wrong));
		current->fail_nth = n;
		subject();
		reached = !current->fail_nth;
		current->fail_nth = 0;
		if (kf_wrong.line) {
			seq_printf(m, "not ok: allocation %u: %d (line %d)\n", n, kf_wrong.rc,
				   kf_wrong.line);
			return -EIO;
		}
		rc = kf_usable(m);
		if (rc)
			seq_printf(m, "after allocation %u\n", n);
	}
	/* n - 2 allocations have failed; if there was none, nothing was tested */
	KT_CHECK(m, rc || n > 2);
	return rc;
}

#define KF_TEST(subject, renew)                           \
	int kt_fail_##subject(struct seq_file *m)         \
	{                                                 \
		return kf_run(m, kf_##subject, renew);    \
	}

KF_TEST(attach, false)
KF_TEST(queue, false)
KF_TEST(endpoint, false)
KF_TEST(mailbox, false)
KF_TEST(datagram, false)
KF_TEST(posts, true)
KF_TEST(messages, true)
KF_TEST(errors, false)

int kt_fail_registration(struct seq_file *m)
{
	int rc;

	kf_area = vzalloc(KT_BYTES);
	KT_CHECK(m, kf_area);
	rc = kf_run(m, kf_registration, false);
	vfree(kf_area);
	return rc;
}

int kt_fail_segments(struct seq_file *m)
{
	struct page *page[KF_SEGMENTS];
	unsigned int i;
	int rc;

	for (i = 0; i < KF_SEGMENTS; i++) {
		page[i] = alloc_page(GFP_KERNEL | __GFP_NOFAIL);
		kf_segment[i] = (gni_mem_segment_t){ page_to_phys(page[i]), PAGE_SIZE };
	}
	rc = kf_run(m, kf_segments, false);
	for (i = 0; i < KF_SEGMENTS; i++)
		__free_page(page[i]);
	return rc;
}
