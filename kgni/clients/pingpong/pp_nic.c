// SPDX-License-Identifier: GPL-2.0-only
/* The NIC: domain, queues, memory, the peer; one message, one put. */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "pp.h"

#define PP_COOKIE GNI_JOB_CREATE_COOKIE(GNI_PKEY_LND, 0)
#define PP_PATIENCE_MS 60000
#define PP_CREDITS 16
#define PP_WORD (PP_MEMORY - PAGE_SIZE) /* incoming data is stored here, outgoing data beside it */

struct pp pp = {
	.wq = __WAIT_QUEUE_HEAD_INITIALIZER(pp.wq),
	.answer = COMPLETION_INITIALIZER(pp.answer),
};

/* The peer has sent a message or a put. Context: any, including hard interrupts. */
static void pp_happened(u32 device, u64 unused)
{
	atomic_inc(&pp.events);
	wake_up(&pp.wq);
}

/* The NIC was reset or removed: nothing succeeds any more. Context: any. */
static void pp_lost(gni_err_handle_t unused)
{
	WRITE_ONCE(pp.failed, -EIO);
	complete(&pp.answer);
}

static int pp_attach(void)
{
	if (gni_cdm_create(PP_INSTANCE, GNI_PTAG_LND, PP_COOKIE, 0, &pp.cdm) != GNI_RC_SUCCESS)
		return -EINVAL;
	if (gni_cdm_attach(pp.cdm, 0, &pp.address, &pp.nic) != GNI_RC_SUCCESS)
		return -ENODEV;
	if (gni_subscribe_errors(pp.nic, GNI_ERRMASK_CRITICAL, 0, NULL, pp_lost, &pp.err) !=
	    GNI_RC_SUCCESS)
		return -ENOMEM;
	/* local events are polled, remote events raise an interrupt */
	if (gni_cq_create(pp.nic, 64, 0, NULL, 0, &pp.tx) != GNI_RC_SUCCESS ||
	    gni_cq_create(pp.nic, 1024, 0, pp_happened, 0, &pp.rx) != GNI_RC_SUCCESS)
		return -ENOMEM;
	return 0;
}

static int pp_mailbox(void)
{
	gni_smsg_attr_t *box = &pp.mine.mailbox;

	if (gni_mem_register(pp.nic, (uintptr_t)pp.memory, PP_MEMORY, pp.rx, GNI_MEM_READWRITE,
			     &pp.mine.memory) != GNI_RC_SUCCESS)
		return -ENOMEM;
	pp.registered = true;
	pp.mine.word = (uintptr_t)pp.memory + PP_WORD;
	box->msg_type = GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT;
	box->mbox_maxcredit = PP_CREDITS;
	box->msg_maxsize = 64;
	box->msg_buffer = pp.memory;
	box->mem_hndl = pp.mine.memory;
	if (gni_smsg_buff_size_needed(box, &box->buff_size) != GNI_RC_SUCCESS ||
	    box->buff_size > PP_WORD)
		return -EINVAL;
	return 0;
}

/**
 * pp_open() - attach, and set up everything that does not need the peer
 *
 * Context: sleeps. Return: 0, -EINVAL, -ENODEV or -ENOMEM; pp_close() is called in any case.
 */
int pp_open(void)
{
	int rc;

	pp.memory = kzalloc(PP_MEMORY, GFP_KERNEL);
	if (!pp.memory)
		return -ENOMEM;
	rc = pp_attach();
	return rc ? rc : pp_mailbox();
}

/** pp_close() - release everything, in the reverse order. Context: sleeps. */
void pp_close(void)
{
	if (pp.put_ep)
		gni_ep_destroy(pp.put_ep);
	if (pp.ep)
		gni_ep_destroy(pp.ep);
	if (pp.registered)
		gni_mem_deregister(pp.nic, &pp.mine.memory, 0);
	if (pp.rx)
		gni_cq_destroy(pp.rx);
	if (pp.tx)
		gni_cq_destroy(pp.tx);
	if (pp.err)
		gni_release_errors(pp.err);
	if (pp.cdm)
		gni_cdm_destroy(pp.cdm);
	kfree(pp.memory);
}

static bool pp_endpoint(gni_ep_handle_t *ep, enum pp_about about)
{
	return gni_ep_create(pp.nic, pp.tx, ep) == GNI_RC_SUCCESS &&
	       gni_ep_bind(*ep, pp.peer, PP_INSTANCE) == GNI_RC_SUCCESS &&
	       gni_ep_set_eventdata(*ep, 0, about) == GNI_RC_SUCCESS;
}

/**
 * pp_meet() - exchange cards with the peer, which does the same
 *
 * Context: sleeps, until the peer comes. Return: 0, -EIO or -ETIMEDOUT.
 */
int pp_meet(void)
{
	gni_post_state_t state = GNI_POST_PENDING;
	u32 address, instance;
	u64 id = 0;

	if (!pp_endpoint(&pp.ep, PP_MESSAGE) || !pp_endpoint(&pp.put_ep, PP_PUT) ||
	    gni_ep_postdata_w_id(pp.ep, &pp.mine, sizeof(pp.mine), &pp.theirs, sizeof(pp.theirs),
				 1) != GNI_RC_SUCCESS)
		return -EIO;
	if (gni_postdata_probe_wait_by_id(pp.nic, PP_PATIENCE_MS, &id) != GNI_RC_SUCCESS) {
		gni_ep_postdata_cancel_by_id(pp.ep, 1);
		return -ETIMEDOUT;
	}
	if (gni_ep_postdata_test_by_id(pp.ep, id, &state, &address, &instance) != GNI_RC_SUCCESS ||
	    state != GNI_POST_COMPLETED ||
	    gni_smsg_init(pp.ep, &pp.mine.mailbox, &pp.theirs.mailbox) != GNI_RC_SUCCESS)
		return -EIO;
	return 0;
}

/*
 * Let others run for a moment. What is waited for takes microseconds, except that nothing happens
 * during a quiesce. Context: sleeps. Return: whether there is a quiesce.
 */
static bool pp_breathe(void)
{
	bool quiet = gni_get_quiesce_status(pp.nic);

	if (quiet)
		msleep(20);
	else
		cond_resched();
	return quiet;
}

/*
 * The NIC takes no operation now: it has no space, or there is a quiesce. Wait for a moment, but
 * not for ever. @since is the time since when the NIC could have taken it.
 */
static int pp_wait(unsigned long *since)
{
	if (READ_ONCE(pp.failed))
		return pp.failed;
	if (signal_pending(current))
		return -EINTR;
	if (time_after(jiffies, *since + msecs_to_jiffies(PP_PATIENCE_MS)))
		return -ETIMEDOUT;
	if (pp_breathe())
		*since = jiffies;
	return 0;
}

/*
 * Wait for the event of the operation that was started last. Nothing else is in flight. If the peer
 * is on the same host the event is there at once. Otherwise it takes a round trip to the other
 * host, during which the loop polls many times. The event always comes, also after a reset, and
 * kGNI uses the descriptor until it was read: so this wait must not end earlier.
 */
static int pp_done(gni_post_descriptor_t *post)
{
	gni_post_descriptor_t *done;
	gni_cq_entry_t entry;
	gni_return_t rc;

	while ((rc = gni_cq_get_event(pp.tx, &entry)) == GNI_RC_NOT_DONE)
		pp_breathe();
	if (rc != GNI_RC_SUCCESS)
		return -EIO;
	if (post && gni_get_completed(pp.tx, entry, &done) != GNI_RC_SUCCESS)
		return -EIO;
	return 0;
}

/**
 * pp_send() - send a message and wait for its event
 *
 * Context: sleeps. Return: 0; -EIO, -ETIMEDOUT, -EINTR, -ESHUTDOWN if it was not sent.
 */
int pp_send(void)
{
	unsigned long since = jiffies;
	gni_return_t rc;
	int bad;

	for (;;) {
		rc = gni_smsg_send(pp.ep, pp.memory + PP_WORD + PP_BYTES, PP_BYTES, NULL, 0, 1);
		if (rc != GNI_RC_NOT_DONE)
			return rc == GNI_RC_SUCCESS ? pp_done(NULL) : -EIO;
		/* credits of earlier messages are still in flight */
		bad = pp_wait(&since);
		if (bad)
			return bad;
	}
}

/**
 * pp_put() - do an FMA put of PP_BYTES and wait for its event
 * @remote_event: raise an event at the peer, too
 *
 * Context: sleeps. Return: as pp_send().
 */
int pp_put(bool remote_event)
{
	gni_post_descriptor_t post = {
		.type = GNI_POST_FMA_PUT,
		.cq_mode = GNI_CQMODE_GLOBAL_EVENT | (remote_event ? GNI_CQMODE_REMOTE_EVENT : 0),
		.local_addr = (uintptr_t)pp.memory + PP_WORD + PP_BYTES,
		.remote_addr = pp.theirs.word,
		.remote_mem_hndl = pp.theirs.memory,
		.length = PP_BYTES,
	};
	unsigned long since = jiffies;
	gni_return_t rc;
	int bad;

	for (;;) {
		rc = gni_post_fma(pp.put_ep, &post);
		if (rc != GNI_RC_ERROR_RESOURCE)
			return rc == GNI_RC_SUCCESS ? pp_done(&post) : -EIO;
		bad = pp_wait(&since);
		if (bad)
			return bad;
	}
}
