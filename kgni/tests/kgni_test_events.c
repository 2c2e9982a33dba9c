// SPDX-License-Identifier: GPL-2.0-only
/* Refused calls, datagrams, errors, and a reset of the NIC. */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/spinlock.h>

#include "kgni_test.h"

/* Each refused call records the reason, one record per processor. */
int kt_test_refusals(struct seq_file *m)
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

/* The result of a datagram. */
struct kt_met {
	gni_post_state_t state;
	u32 address, id;
};

/* Find a datagram by its id with a lock held, as an LND does. */
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

/*
 * One side posts a directed datagram, the other a wildcard. Each gets what the other has sent,
 * once.
 */
int kt_test_datagrams(struct seq_file *m)
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

/* An error that we cause ourselves is reported, with the NIC's description. */
int kt_test_errors(struct seq_file *m)
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

/* A thread that waits for errors, and what ends that. */
struct kt_waiting {
	gni_err_handle_t err;
	gni_return_t rc;
	struct completion begins, done;
};

static int kt_wait_run(void *data)
{
	struct kt_waiting *w = data;
	gni_error_event_t event;
	u32 n = 0;

	complete(&w->begins);
	w->rc = gni_wait_error_events(w->err, &event, 1, 0, &n);
	complete(&w->done);
	return 0;
}

static int kt_wait_begin(struct seq_file *m, gni_nic_handle_t nic, struct kt_waiting *w)
{
	struct task_struct *task;

	init_completion(&w->begins);
	init_completion(&w->done);
	KT_IS(m, gni_subscribe_errors(nic, 0xff, 4, NULL, NULL, &w->err), GNI_RC_SUCCESS);
	task = kthread_run(kt_wait_run, w, "kgni-test/wait");
	KT_CHECK(m, !IS_ERR(task));
	KT_CHECK(m, wait_for_completion_timeout(&w->begins, KT_WAIT_MS * HZ / 1000));
	msleep(20);
	KT_CHECK(m, !try_wait_for_completion(&w->done));
	KT_IS(m, gni_release_errors(w->err), GNI_RC_NOT_DONE);
	return 0;
}

/* The domain is destroyed while a thread waits for errors: the wait ends first. */
int kt_test_errors_end(struct seq_file *m)
{
	static struct kt_waiting w;
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	u32 address;
	int rc;

	KT_IS(m, gni_cdm_create(7, GNI_PTAG_LND, KT_COOKIE, 0, &cdm), GNI_RC_SUCCESS);
	KT_IS(m, gni_cdm_attach(cdm, 0, &address, &nic), GNI_RC_SUCCESS);
	rc = kt_wait_begin(m, nic, &w);
	KT_IS(m, gni_cdm_destroy(cdm), GNI_RC_SUCCESS);
	KT_CHECK(m, !rc && wait_for_completion_timeout(&w.done, KT_WAIT_MS * HZ / 1000));
	KT_IS(m, w.rc, GNI_RC_NOT_DONE);
	return 0;
}

static void kt_quiet_end(gni_nic_handle_t nic, uint64_t msecs)
{
}

/*
 * The NIC is reset from outside meanwhile. Clients are told, outstanding operations end, and
 * handles stay valid.
 */
int kt_test_reset(struct seq_file *m)
{
	gni_ep_handle_t ask, listen;
	struct kt_met met = {};
	gni_post_descriptor_t d;
	static char text[16];
	u64 found;
	static struct kt_waiting waiting;
	gni_err_handle_t err;
	void *header;
	u32 address;
	int rc;

	init_completion(&kt_critical_done);
	rc = kt_wait_begin(m, kt[0].nic, &waiting);
	if (rc)
		return rc;
	KT_IS(m, gni_subscribe_errors(kt[0].nic, 0xff, 0, NULL, kt_critical, &err), GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_create(kt[0].nic, kt[0].tx, &listen), GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_create(kt[0].nic, kt[0].tx, &ask), GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_bind(ask, kt[0].address, 77), GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_postdata_w_id(listen, "a", 2, text, sizeof(text), 31), GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_postdata_w_id(ask, "b", 2, text, sizeof(text), 32), GNI_RC_SUCCESS);
	KT_IS(m, gni_set_quiesce_callback(kt[0].nic, kt_quiet_end), GNI_RC_SUCCESS);
	KT_IS(m, gni_set_quiesce_callback(kt[0].nic, kt_quiet_end), GNI_RC_INVALID_STATE);
	KT_CHECK(m, gni_get_quiesce_status(kt[0].nic) == 0);
	KT_CHECK(m, wait_for_completion_timeout(&kt_critical_done, KT_WAIT_MS * HZ / 1000));
	KT_CHECK(m, wait_for_completion_timeout(&waiting.done, KT_WAIT_MS * HZ / 1000));
	KT_IS(m, waiting.rc, GNI_RC_NOT_DONE);
	KT_IS(m, gni_release_errors(waiting.err), GNI_RC_SUCCESS);
	d = kt_post_of(GNI_POST_RDMA_PUT, (uintptr_t)kt[0].mem, (uintptr_t)kt[1].mem, 8);
	KT_IS(m, gni_post_rdma(kt[0].ep, &d), GNI_RC_ERROR_RESOURCE);
	KT_IS(m, gni_post_fma(kt[0].ep, &d), GNI_RC_INVALID_PARAM);
	KT_IS(m, gni_smsg_send(kt[0].ep, "x", 1, NULL, 0, 1), GNI_RC_NOT_DONE);
	KT_IS(m, gni_smsg_getnext(kt[0].ep, &header), GNI_RC_NOT_DONE);
	KT_IS(m, gni_release_errors(err), GNI_RC_SUCCESS);
	/* an LND cancels its datagrams, and waits for the end of the directed ones */
	KT_IS(m, gni_ep_postdata_cancel_by_id(listen, 31), GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_postdata_test_by_id(listen, 31, &met.state, &met.address, &met.id),
	      GNI_RC_NO_MATCH);
	KT_IS(m, gni_ep_postdata_cancel_by_id(ask, 33), GNI_RC_NO_MATCH);
	KT_IS(m, gni_ep_postdata_cancel_by_id(ask, 32), GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_postdata_cancel_by_id(ask, 32), GNI_RC_NO_MATCH);
	if (kt_find(m, &kt[0], ask, 32, &met))
		return -EIO;
	KT_CHECK(m, met.state == GNI_POST_TERMINATED);
	KT_IS(m, gni_postdata_probe_by_id(kt[0].nic, &found), GNI_RC_NO_MATCH);
	KT_IS(m, gni_ep_destroy(ask), GNI_RC_SUCCESS);
	KT_IS(m, gni_ep_destroy(listen), GNI_RC_SUCCESS);
	/* attach again after the reset */
	KT_CHECK(m, !kt_close(m, 0) && !kt_close(m, 1));
	KT_IS(m, gni_cdm_destroy(kt[0].cdm), GNI_RC_SUCCESS);
	kt[0].cdm = NULL;
	for (address = 0; address < KT_WAIT_MS / 10; address++) {
		KT_IS(m, gni_cdm_create(0, GNI_PTAG_LND, KT_COOKIE, 0, &kt[0].cdm), GNI_RC_SUCCESS);
		if (gni_cdm_attach(kt[0].cdm, 0, &kt[0].address, &kt[0].nic) == GNI_RC_SUCCESS)
			return 1; /* kt_close() was called already */
		KT_IS(m, gni_cdm_destroy(kt[0].cdm), GNI_RC_SUCCESS);
		kt[0].cdm = NULL;
		msleep(20);
	}
	KT_CHECK(m, kt[0].cdm);
	return 0;
}
