// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions of clients that kGNI calls for errors: what they may call, and that nothing is freed
 * while one of them runs.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kthread.h>

#include "kgni_test.h"

/* A function that was called for an error, and a thread that ends its subscription meanwhile. */
static struct {
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_err_handle_t err;
	gni_return_t rc;
	bool all_done;
	bool released_early;
	struct completion begun, go_on, released, destroyed;
} kl;

/* Cause an error of this domain. */
static int kt_cause_error(struct seq_file *m)
{
	gni_post_descriptor_t d, *done;
	gni_cq_entry_t entry;

	d = kt_post_of(GNI_POST_FMA_PUT, (uintptr_t)kt[0].mem, (uintptr_t)kt[1].mem + KT_BYTES, 8);
	KT_IS(m, gni_post_fma(kt[0].ep, &d), GNI_RC_SUCCESS);
	KT_IS(m, kt_event(kt[0].tx, &entry), GNI_RC_TRANSACTION_ERROR);
	KT_IS(m, gni_get_completed(kt[0].tx, entry, &done), GNI_RC_TRANSACTION_ERROR);
	return 0;
}

/* Return: the result of the first call that has failed. */
static gni_return_t kt_call_all(gni_err_handle_t err)
{
	gni_error_event_t event;
	gni_cq_handle_t cq;
	gni_ep_handle_t ep;
	gni_return_t rc;

	rc = gni_get_error_event(err, &event);
	if (rc == GNI_RC_SUCCESS)
		rc = gni_cq_create(kl.nic, 16, 0, NULL, 0, &cq);
	if (rc == GNI_RC_SUCCESS)
		rc = gni_ep_create(kl.nic, cq, &ep);
	if (rc == GNI_RC_SUCCESS)
		rc = gni_ep_destroy(ep);
	return rc == GNI_RC_SUCCESS ? gni_cq_destroy(cq) : rc;
}

static void kt_slow(gni_err_handle_t err)
{
	kl.rc = kt_call_all(err);
	complete(&kl.begun);
	kl.released_early =
		wait_for_completion_timeout(&kl.released, HZ / 10) ||
		!wait_for_completion_timeout(&kl.go_on, KT_WAIT_MS * HZ / 1000);
	WRITE_ONCE(kl.all_done, true);
}

static int kt_release_run(void *unused)
{
	gni_return_t rc = gni_release_errors(kl.err);

	if (!READ_ONCE(kl.all_done) || rc != GNI_RC_SUCCESS)
		kl.rc = GNI_RC_INVALID_STATE;
	complete(&kl.released);
	return 0;
}

static int kt_attach(struct seq_file *m)
{
	u32 address;

	memset(&kl, 0, sizeof(kl));
	init_completion(&kl.begun);
	init_completion(&kl.go_on);
	init_completion(&kl.released);
	init_completion(&kl.destroyed);
	KT_IS(m, gni_cdm_create(7, GNI_PTAG_LND, KT_COOKIE, 0, &kl.cdm), GNI_RC_SUCCESS);
	KT_IS(m, gni_cdm_attach(kl.cdm, 0, &address, &kl.nic), GNI_RC_SUCCESS);
	return 0;
}

/* A subscription is released while its function runs: the release waits for the function. */
int kt_test_release(struct seq_file *m)
{
	struct task_struct *task;
	int rc = kt_attach(m);

	if (rc)
		return rc;
	KT_IS(m, gni_subscribe_errors(kl.nic, 0xff, 16, kt_slow, NULL, &kl.err), GNI_RC_SUCCESS);
	rc = kt_cause_error(m);
	if (rc)
		return rc;
	KT_CHECK(m, wait_for_completion_timeout(&kl.begun, KT_WAIT_MS * HZ / 1000));
	task = kthread_run(kt_release_run, NULL, "kgni-test/release");
	KT_CHECK(m, !IS_ERR(task));
	KT_CHECK(m, !wait_for_completion_timeout(&kl.released, HZ / 5));
	complete(&kl.go_on);
	KT_CHECK(m, wait_for_completion_timeout(&kl.released, KT_WAIT_MS * HZ / 1000));
	KT_CHECK(m, !kl.released_early);
	KT_IS(m, kl.rc, GNI_RC_SUCCESS);
	KT_IS(m, gni_cdm_destroy(kl.cdm), GNI_RC_SUCCESS);
	return 0;
}

static void kt_destroy(gni_err_handle_t err)
{
	kl.rc = gni_release_errors(err);
	if (kl.rc == GNI_RC_SUCCESS)
		kl.rc = gni_cdm_destroy(kl.cdm);
	complete(&kl.destroyed);
}

/* The function itself ends the subscription and the domain. */
int kt_test_destroy(struct seq_file *m)
{
	int rc = kt_attach(m);

	if (rc)
		return rc;
	KT_IS(m, gni_subscribe_errors(kl.nic, 0xff, 16, kt_destroy, NULL, &kl.err), GNI_RC_SUCCESS);
	rc = kt_cause_error(m);
	if (rc)
		return rc;
	KT_CHECK(m, wait_for_completion_timeout(&kl.destroyed, KT_WAIT_MS * HZ / 1000));
	KT_IS(m, kl.rc, GNI_RC_SUCCESS);
	KT_IS(m, gni_cdm_destroy(kl.cdm), GNI_RC_INVALID_PARAM);
	return 0;
}
