// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* The NIC: domain, queues, threads. */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "slnd_priv.h"

#define SLND_COOKIE GNI_JOB_CREATE_COOKIE(GNI_PKEY_LND, 0)
#define SLND_SENDS_PER_POST 6
#define SLND_GOODBYE (2 * HZ)
#define SLND_POLL (HZ / 50 + 1)

/* The NIC was reset. On the original machines this is called in atomic context. */
static void slnd_critical(gni_err_handle_t err)
{
	set_bit(SLND_CRITICAL, &slnd.flags);
	slnd_keeper_wake();
}

/* The network works again. On the original machines this is called in atomic context, too. */
static void slnd_resumed(gni_nic_handle_t nic, u64 ms)
{
	set_bit(SLND_RESUMED, &slnd.flags);
	slnd_keeper_wake();
	slnd_wake(SLND_EV_LATER);
}

static gni_return_t slnd_queue(u32 entries, u64 event, gni_cq_handle_t *cq)
{
	return gni_cq_create(slnd.nic, entries, 0, slnd_cq_handler, event, cq);
}

/* Create the three queues. Only the one for received messages can overrun. */
static gni_return_t slnd_queues(void)
{
	u32 sends = SLND_SENDS_PER_POST * slnd_posts;
	gni_return_t rc;

	atomic_set(&slnd.posts_left, slnd_posts);
	if (slnd_sent_init(sends))
		return GNI_RC_ERROR_RESOURCE;
	rc = slnd_queue(slnd_posts, SLND_EV_RDMA, &slnd.rdma_cq);
	if (rc == GNI_RC_SUCCESS)
		rc = slnd_queue(sends, SLND_EV_TX, &slnd.tx_cq);
	if (rc == GNI_RC_SUCCESS)
		rc = slnd_queue(slnd_rx_entries, SLND_EV_RX, &slnd.rx_cq);
	return rc;
}

static int slnd_threads(void)
{
	if (slnd_schedulers_start())
		return -ENOMEM;
	slnd.mover = kthread_run(slnd_mover, NULL, "slnd_dgram");
	if (!IS_ERR(slnd.mover))
		return 0;
	slnd.mover = NULL;
	return -ENOMEM;
}

/* Release everything that was set up. */
static void slnd_device_free(void)
{
	slnd_schedulers_stop();
	if (slnd.mover)
		kthread_stop(slnd.mover);
	slnd.mover = NULL;
	if (slnd.nic) {
		slnd_map_end();
		slnd_quarantine_expire(true);
		slnd_blocks_free();
	}
	if (slnd.rx_cq)
		gni_cq_destroy(slnd.rx_cq);
	if (slnd.rdma_cq)
		gni_cq_destroy(slnd.rdma_cq);
	if (slnd.tx_cq)
		gni_cq_destroy(slnd.tx_cq);
	if (slnd.err)
		gni_release_errors(slnd.err);
	if (slnd.cdm)
		gni_cdm_destroy(slnd.cdm);
	kvfree(slnd.sent);
	slnd.sent = NULL;
	slnd.rx_cq = NULL;
	slnd.rdma_cq = NULL;
	slnd.tx_cq = NULL;
	slnd.err = NULL;
	slnd.nic = NULL;
	slnd.cdm = NULL;
}

/**
 * slnd_device_open() - attach to the NIC, and start the threads
 *
 * Context: sleeps. Return: 0 or -ENODEV.
 */
int slnd_device_open(void)
{
	gni_return_t rc;

	clear_bit(SLND_CRITICAL, &slnd.flags);
	clear_bit(SLND_STOPPING, &slnd.flags);
	slnd.incarnation = ktime_get_real_ns();
	/* it must increase even if the clock was set back */
	atomic64_set(&slnd.stamp, max_t(u64, slnd.incarnation, atomic64_read(&slnd.stamp)));
	rc = gni_cdm_create(SLND_DEVICE, GNI_PTAG_LND, SLND_COOKIE, 0, &slnd.cdm);
	if (rc == GNI_RC_SUCCESS)
		rc = gni_cdm_attach(slnd.cdm, SLND_DEVICE, &slnd.address, &slnd.nic);
	if (rc == GNI_RC_SUCCESS)
		rc = gni_subscribe_errors(slnd.nic, GNI_ERRMASK_CRITICAL, 0, NULL, slnd_critical,
					  &slnd.err);
	if (rc == GNI_RC_SUCCESS)
		rc = gni_set_quiesce_callback(slnd.nic, slnd_resumed);
	if (rc == GNI_RC_SUCCESS)
		rc = slnd_queues();
	if (rc != GNI_RC_SUCCESS || slnd_threads()) {
		pr_debug("slnd: device %u: %u\n", SLND_DEVICE, rc);
		slnd_device_free();
		return -ENODEV;
	}
	set_bit(SLND_UP, &slnd.flags);
	slnd_keeper_wake();
	pr_info("slnd: address %#x\n", slnd.address);
	return 0;
}

static bool slnd_no_hails(void)
{
	return list_empty_careful(&slnd.hails);
}

static unsigned int slnd_talking;

static void slnd_count_talk(struct slnd_conn *conn)
{
	enum slnd_state state = READ_ONCE(conn->state);

	slnd_talking += state == SLND_OPEN || state == SLND_CLOSING;
}

/* Is no node connected? */
static bool slnd_no_talk(void)
{
	slnd_talking = 0;
	slnd_for_conns(slnd_count_talk);
	return !slnd_talking;
}

static bool slnd_no_conns(void)
{
	return !atomic_read(&slnd.conns_left);
}

static void slnd_end_it(struct slnd_conn *conn)
{
	slnd_conn_end(conn, test_bit(SLND_CRITICAL, &slnd.flags) ? "the NIC was reset" : NULL);
}

/* Do the keeper's work until a condition is true. Return: false if that took too long. */
static bool slnd_until(bool (*true_yet)(void), unsigned long ticks)
{
	unsigned long end = jiffies + ticks;

	for (;;) {
		slnd_keep_ended();
		if (true_yet())
			return true;
		if (time_after(jiffies, end))
			return false;
		slnd_keeper_sleep(SLND_POLL);
	}
}

/**
 * slnd_device_close() - end all connections, and detach from the NIC
 * @polite: tell the peers first
 *
 * Context: sleeps. Everything in flight ends with an event, even if the NIC was reset. This
 * function waits for these events.
 */
void slnd_device_close(bool polite)
{
	set_bit(SLND_STOPPING, &slnd.flags);
	clear_bit(SLND_UP, &slnd.flags);
	/* a datagram that was just matched ends a little later */
	do
		slnd_hail_expire(true);
	while (!slnd_until(slnd_no_hails, HZ / 4));
	if (polite) {
		slnd_for_conns(slnd_conn_shut);
		slnd_until(slnd_no_talk, SLND_GOODBYE);
	}
	slnd_for_conns(slnd_end_it);
	while (!slnd_until(slnd_no_conns, 10 * HZ))
		pr_warn("slnd: %d connections do not end\n", atomic_read(&slnd.conns_left));
	slnd_device_free();
}
