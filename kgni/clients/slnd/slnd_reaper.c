// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reaper, a thread that attaches to the NIC, and again after a reset, posts datagrams, closes
 * silent connections, frees closed ones, and detaches in the end.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/timekeeping.h>

#include "slnd_priv.h"

#define SLND_COOKIE GNI_JOB_CREATE_COOKIE(GNI_PKEY_LND, 0)
#define SLND_WILDCARDS 4
#define SLND_SENDS_PER_POST 6
#define SLND_GOODBYE (2 * HZ)
#define SLND_SOON (HZ / 50 + 1)

/* Handlers of queues get SLND_EV_* back. Only the queue of received messages may overrun. */
static gni_return_t slnd_device_attach(void)
{
	u32 posts = slnd_posts, sends = SLND_SENDS_PER_POST * posts;

	slnd.posts_left = posts;
	slnd.sends_left = sends;
	return gni_cdm_create(SLND_DEVICE, GNI_PTAG_LND, SLND_COOKIE, 0, &slnd.cdm) ?:
	       gni_cdm_attach(slnd.cdm, SLND_DEVICE, &slnd.address, &slnd.nic) ?:
	       gni_subscribe_errors(slnd.nic, GNI_ERRMASK_CRITICAL, 0, NULL, slnd_critical,
				    &slnd.err) ?:
	       gni_set_quiesce_callback(slnd.nic, slnd_resumed) ?:
	       gni_cq_create(slnd.nic, posts, 0, slnd_cq_handler, SLND_EV_RDMA, &slnd.rdma_cq) ?:
	       gni_cq_create(slnd.nic, sends, 0, slnd_cq_handler, SLND_EV_TX, &slnd.tx_cq) ?:
	       gni_cq_create(slnd.nic, slnd_rx_entries, 0, slnd_cq_handler, SLND_EV_RX,
			     &slnd.rx_cq);
}

/* Release everything, in the reverse order. There are no connections. */
void slnd_device_free(void)
{
	struct slnd_buffer *buffer, *next;

	if (slnd.dgram_task) {
		mutex_unlock(&slnd.mutex); /* it may wait for that */
		kthread_stop(slnd.dgram_task);
		mutex_lock(&slnd.mutex);
	}
	slnd_purgatory_expire(true);
	list_for_each_entry_safe(buffer, next, &slnd.mapped, node)
		slnd_map_end(buffer, 0);
	if (slnd.rx_cq)
		gni_cq_destroy(slnd.rx_cq);
	if (slnd.tx_cq)
		gni_cq_destroy(slnd.tx_cq);
	if (slnd.rdma_cq)
		gni_cq_destroy(slnd.rdma_cq);
	if (slnd.err)
		gni_release_errors(slnd.err);
	if (slnd.cdm)
		gni_cdm_destroy(slnd.cdm);
	slnd.dgram_task = NULL;
	slnd.rx_cq = NULL;
	slnd.tx_cq = NULL;
	slnd.rdma_cq = NULL;
	slnd.err = NULL;
	slnd.nic = NULL;
	slnd.cdm = NULL;
}

/* Attach to the NIC. Return: 0 or -ENODEV. */
int slnd_device_open(void)
{
	struct task_struct *task = ERR_PTR(-ENODEV);
	gni_return_t rc;

	WRITE_ONCE(slnd.critical, false);
	slnd.stopping = false;
	slnd.incarnation = ktime_get_real_ns();
	slnd.stamp = max(slnd.incarnation, slnd.stamp); /* the clock may be set back */
	rc = slnd_device_attach();
	if (rc == GNI_RC_SUCCESS)
		task = kthread_run(slnd_dgram_thread, NULL, "slnd_dgram");
	if (IS_ERR(task)) {
		pr_debug("slnd: device %u: %u\n", SLND_DEVICE, rc);
		slnd_device_free();
		return -ENODEV;
	}
	slnd.dgram_task = task;
	slnd.up = true;
	slnd_reaper_wake();
	pr_info("slnd: address %#x\n", slnd.address);
	return 0;
}

/* Nothing of a closed connection is in flight here. What the peer was asked for fails. */
static void slnd_reap_closed(struct slnd_conn *conn)
{
	struct slnd_tx *tx, *next;

	list_for_each_entry_safe(tx, next, &conn->exposed, node) {
		if (conn->clean)
			list_del_init(&tx->node);
		else
			slnd_map_end(tx->buffer, slnd_hold * 1000);
		slnd_tx_bulk_end(tx, -ECONNRESET);
	}
	slnd_conn_free(conn);
}

static void slnd_reap_conn(struct slnd_conn *conn)
{
	if (conn->state == SLND_CONNECTING)
		slnd_dgram_cancel(conn);
	if (conn->state == SLND_CLOSED && !conn->in_flight)
		slnd_reap_closed(conn);
	else if (conn->state == SLND_CLOSED || conn->state == SLND_CONNECTING)
		return;
	else if (slnd.quiet)
		conn->last_rx = jiffies;
	else if (time_after(jiffies, conn->last_rx + slnd_timeout * HZ))
		slnd_conn_close(conn, "the peer is silent");
	else if (conn->state == SLND_CLOSING && !conn->in_flight && list_empty(&conn->exposed))
		slnd_tx_say(conn, (struct slnd_msg){ .type = SLND_CLOSE });
	else if (time_after(jiffies, conn->last_tx + slnd_timeout * HZ / 4))
		slnd_tx_say(conn, (struct slnd_msg){ .type = SLND_NOOP });
}

/* End all connections and detach, @polite if peers are told. What is in flight ends by itself. */
static void slnd_device_close(bool polite)
{
	unsigned long end = jiffies + (polite ? SLND_GOODBYE : 0), id;
	struct slnd_conn *conn;

	slnd.stopping = true;
	slnd.up = false;
	while (!xa_empty(&slnd.conns)) {
		xa_for_each(&slnd.conns, id, conn) {
			if (conn->state == SLND_ESTABLISHED)
				slnd_conn_shut(conn);
			if (conn->state == SLND_CLOSING && !time_before(jiffies, end))
				slnd_conn_close(conn, polite ? NULL : "the NIC was reset");
			slnd_reap_conn(conn);
		}
		mutex_unlock(&slnd.mutex);
		schedule_timeout_interruptible(SLND_SOON);
		mutex_lock(&slnd.mutex);
	}
	slnd_device_free();
}

/* Return: whether the node waits for a connection. */
static bool slnd_reap_peer(struct slnd_peer *peer)
{
	bool wanting;

	slnd_peer_push(peer);
	wanting = !peer->conn && !list_empty(&peer->txq);
	if (wanting && slnd.up && !peer->dgram && time_after_eq(jiffies, peer->retry))
		slnd_dgram_post(peer);
	return wanting;
}

/* One round. Return: when to begin the next one, in jiffies. */
static unsigned long slnd_reap(void)
{
	struct slnd_peer *peer;
	struct slnd_conn *conn;
	bool soon = !slnd.up;
	unsigned long id;
	int i;

	xa_for_each(&slnd.peers, id, peer)
		soon |= slnd_reap_peer(peer);
	for (i = 0; slnd.up && slnd.wildcards < SLND_WILDCARDS && i < SLND_WILDCARDS; i++)
		slnd_dgram_post(NULL);
	WRITE_ONCE(slnd.quiet, slnd.up && gni_get_quiesce_status(slnd.nic));
	if (xchg(&slnd.resumed, false)) {
		slnd.counters.quiesces++;
		WRITE_ONCE(slnd.quiet, true); /* silence is forgotten */
	}
	xa_for_each(&slnd.conns, id, conn)
		slnd_reap_conn(conn);
	slnd_purgatory_expire(false);
	return soon ? SLND_SOON : HZ / 10;
}

int slnd_reaper_thread(void *unused)
{
	unsigned long pause;

	mutex_lock(&slnd.mutex);
	while (!kthread_should_stop()) {
		if (slnd.up && READ_ONCE(slnd.critical)) {
			slnd.counters.resets++;
			slnd_device_close(false);
		}
		if (!slnd.up)
			slnd_device_open();
		pause = slnd_reap();
		mutex_unlock(&slnd.mutex);
		slnd_reaper_sleep(pause);
		mutex_lock(&slnd.mutex);
	}
	if (slnd.up)
		slnd_device_close(true);
	mutex_unlock(&slnd.mutex);
	return 0;
}
