// SPDX-License-Identifier: GPL-2.0-only
/* Block transfers: posted, posted again, and completed. */
#include "slnd_priv.h"

/* There is no room now: after another one has completed, or a while later. */
static void slnd_rdma_wait(struct slnd_bulk *bulk)
{
	slnd_count(SLND_N_POSTS_REFUSED);
	spin_lock(&slnd.lock);
	list_add_tail(&bulk->waiting, &slnd.post_wait);
	spin_unlock(&slnd.lock);
}

/**
 * slnd_rdma_post() - post a block transfer
 * @bulk: it, with its descriptor filled in
 *
 * Its queue never overruns: as many are under way as it has entries for. Context: sleeps.
 */
void slnd_rdma_post(struct slnd_bulk *bulk)
{
	gni_return_t rc;

	if (READ_ONCE(bulk->conn->state) != SLND_OPEN) {
		slnd_bulk_finish(bulk, -ECONNRESET);
		return;
	}
	if (!atomic_add_unless(&slnd.posts_left, -1, 0)) {
		slnd_rdma_wait(bulk);
		return;
	}
	bulk->attempts++;
	/* it may be over, and gone, before the call returns */
	rc = gni_post_rdma(bulk->conn->ep, &bulk->post);
	if (rc == GNI_RC_SUCCESS)
		return;
	atomic_inc(&slnd.posts_left);
	if (rc == GNI_RC_ERROR_RESOURCE)
		slnd_rdma_wait(bulk);
	else
		slnd_bulk_finish(bulk, -EIO);
}

/* A transfer has failed. One that may go better the next time is posted again as it was. */
static void slnd_rdma_failed(struct slnd_bulk *bulk, gni_cq_entry_t entry)
{
	u32 recoverable = 0;
	char why[64] = "?";

	if (gni_cq_error_recoverable(entry, &recoverable) != GNI_RC_SUCCESS)
		recoverable = 0;
	if (recoverable && bulk->attempts <= slnd_retries) {
		slnd_count(SLND_N_POSTS_REPEATED);
		slnd_rdma_post(bulk);
		return;
	}
	gni_cq_error_str(entry, why, sizeof(why));
	pr_info_ratelimited("slnd: transfer with %#x: %s after %u attempts\n", bulk->peer->address,
			    why, bulk->attempts);
	slnd_bulk_finish(bulk, -EIO);
}

/** slnd_rdma_events() - read the queue of block transfers. Context: sleeps. */
void slnd_rdma_events(void)
{
	gni_post_descriptor_t *done;
	struct slnd_bulk *bulk;
	gni_cq_entry_t entry;
	gni_return_t rc;

	for (;;) {
		rc = gni_cq_get_event(slnd.rdma_cq, &entry);
		if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR)
			return;
		rc = gni_get_completed(slnd.rdma_cq, entry, &done);
		if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR)
			continue;
		atomic_inc(&slnd.posts_left);
		bulk = (struct slnd_bulk *)(uintptr_t)done->post_id;
		if (done->status == GNI_RC_SUCCESS)
			slnd_bulk_finish(bulk, 0);
		else
			slnd_rdma_failed(bulk, entry);
		slnd_wake(SLND_EV_LATER);
	}
}

/** slnd_rdma_waiting() - post those that have waited for room. Context: sleeps. */
void slnd_rdma_waiting(void)
{
	struct slnd_bulk *bulk, *next;
	LIST_HEAD(waiting);

	spin_lock(&slnd.lock);
	list_splice_init(&slnd.post_wait, &waiting);
	spin_unlock(&slnd.lock);
	list_for_each_entry_safe(bulk, next, &waiting, waiting)
		slnd_rdma_post(bulk);
}
