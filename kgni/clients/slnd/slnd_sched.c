// SPDX-License-Identifier: GPL-2.0-only
/* The scheduler, a thread that reads the queues, receives messages, and tries again what stalls. */
#include <linux/kthread.h>

#include "slnd_priv.h"

#define SLND_BUDGET 64 /* messages to read from one connection before others have their turn */

/* A message stays where the peer has put it until it is released. The user reads it in place. */
static void slnd_rx_data(struct slnd_conn *conn, const void *message, u32 bytes)
{
	if (!slnd.user)
		return;
	slnd.counters.messages_received++;
	slnd.user->message(conn->peer->address, message, bytes);
}

/* The peer has moved our data, or reports an error. */
static void slnd_rx_done(struct slnd_conn *conn, const struct slnd_msg *msg)
{
	struct slnd_tx *tx;

	list_for_each_entry(tx, &conn->exposed, node)
		if (tx->id == msg->id) {
			list_del_init(&tx->node);
			slnd_tx_bulk_end(tx, msg->status);
			return;
		}
}

/* Take a message. Those for us are copied and released first. Return: an error, or NULL. */
static const char *slnd_rx_take(struct slnd_conn *conn, const void *message)
{
	struct slnd_msg msg;

	conn->last_rx = jiffies;
	slnd_purgatory_hello(conn);
	memcpy(&msg, message, sizeof(msg));
	if (!msg.type || msg.type > SLND_GET_REQ ||
	    (msg.type == SLND_IMMEDIATE && msg.bytes > SLND_MESSAGE_MAX))
		return "the peer has said what means nothing";
	if (msg.type == SLND_IMMEDIATE)
		slnd_rx_data(conn, message + sizeof(msg), msg.bytes);
	if (gni_smsg_release(conn->ep) != GNI_RC_SUCCESS)
		return "a message cannot be released";
	if (msg.type == SLND_DONE)
		slnd_rx_done(conn, &msg);
	if (msg.type == SLND_PUT_REQ || msg.type == SLND_GET_REQ)
		slnd_rdma_req(conn, &msg);
	if (msg.type == SLND_CLOSE) { /* the peer has waited for all that it had in flight */
		conn->clean = true;
		slnd.counters.closed++;
		slnd_conn_close(conn, NULL);
	}
	return NULL;
}

/* Read the messages of a connection, and send what was waiting for the credits that they bring. */
static void slnd_rx(struct slnd_conn *conn)
{
	const char *why;
	gni_return_t rc;
	void *message;
	int n;

	for (n = 0; conn->state == SLND_ESTABLISHED || conn->state == SLND_CLOSING; n++) {
		rc = n < SLND_BUDGET ? gni_smsg_getnext(conn->ep, &message) : GNI_RC_NOT_DONE;
		if (rc == GNI_RC_NOT_DONE)
			break;
		why = rc == GNI_RC_SUCCESS ? slnd_rx_take(conn, message) : "its mailbox is damaged";
		if (why)
			slnd_conn_close(conn, why);
	}
	if (n == SLND_BUDGET)
		slnd_wake(SLND_EV_RETRY);
	if (conn->peer)
		slnd_peer_push(conn->peer);
}

/* An event tells whose mailbox has a message. After an overrun all of them are looked at. */
static void slnd_rx_events(void)
{
	struct slnd_conn *conn;
	gni_cq_entry_t entry;
	gni_return_t rc;

	for (;;) {
		rc = gni_cq_get_event(slnd.rx_cq, &entry);
		if (rc == GNI_RC_ERROR_RESOURCE && GNI_CQ_OVERRUN(entry)) {
			slnd.counters.overruns++;
			slnd_wake(SLND_EV_RETRY);
			continue;
		}
		if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR)
			return;
		cond_resched(); /* events may come as fast as they are read */
		conn = xa_load(&slnd.conns, GNI_CQ_GET_REM_INST_ID(entry));
		if (conn)
			slnd_rx(conn);
	}
}

/* Try again all that has stalled, and whatever events may not have told of. */
static void slnd_sched_retry(void)
{
	struct slnd_peer *peer;
	struct slnd_conn *conn;
	unsigned long id;

	WRITE_ONCE(slnd.stalled, false);
	slnd_rdma_retry();
	xa_for_each(&slnd.conns, id, conn)
		slnd_rx(conn);
	xa_for_each(&slnd.peers, id, peer)
		slnd_peer_push(peer);
}

int slnd_sched_thread(void *unused)
{
	while (!kthread_should_stop()) {
		mutex_lock(&slnd.mutex);
		if (test_and_clear_bit(SLND_EV_NEW, &slnd.events))
			slnd_tx_take();
		if (test_and_clear_bit(SLND_EV_RX, &slnd.events))
			slnd_rx_events();
		if (test_and_clear_bit(SLND_EV_TX, &slnd.events))
			slnd_tx_events();
		if (test_and_clear_bit(SLND_EV_RDMA, &slnd.events))
			slnd_rdma_events();
		if (test_and_clear_bit(SLND_EV_RETRY, &slnd.events))
			slnd_sched_retry();
		clear_bit(SLND_EV_STALL, &slnd.events);
		mutex_unlock(&slnd.mutex);
		cond_resched();
		if (slnd_sched_sleep())
			set_bit(SLND_EV_RETRY, &slnd.events);
	}
	return 0;
}
