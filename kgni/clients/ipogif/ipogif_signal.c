// SPDX-License-Identifier: GPL-2.0-only
/*
 * What code of any part tells others that have to act later: NAPI, the work item that creates and
 * ends connections, and the timer that tries again.
 */
#include <linux/jiffies.h>

#include "ipogif.h"

struct workqueue_struct *ipogif_wq;

/** ipogif_kick() - have NAPI do something besides handling events. Context: any. */
void ipogif_kick(struct ipogif_queue *q, int what)
{
	set_bit(what, &q->flags);
	/*
	 * the caller need not be an interrupt handler, and local_bh_enable() then runs the softirq
	 */
	local_bh_disable();
	napi_schedule(&q->napi);
	local_bh_enable();
}

/**
 * ipogif_stalled() - try again soon, because a message or a put was refused for now
 * @conn: connection
 *
 * There is no event when kGNI would accept it, for example when a suspended job resumes or a
 * retransmission has ended. While the interface goes down nothing is tried again.
 * Context: ipogif_queue.lock held.
 */
void ipogif_stalled(struct ipogif_conn *conn)
{
	struct ipogif_queue *q = conn->txq;

	if (!q->open)
		return;
	if (list_empty(&conn->peer->backlog))
		list_add_tail(&conn->peer->backlog, &q->backlog);
	if (!timer_pending(&q->retry))
		mod_timer(&q->retry, jiffies + 1);
}

/*
 * ipogif_conn_find() - find a connection by its id. Context: under RCU or ipogif.mutex. Return: the
 * connection, or NULL.
 */
struct ipogif_conn *ipogif_conn_find(struct ipogif *ipg, u32 id)
{
	struct ipogif_conn *conn;

	conn = rcu_dereference_check(ipg->conns[id & (IPOGIF_CONNS - 1)],
				     lockdep_is_held(&ipg->mutex) || rcu_read_lock_bh_held());
	return conn && conn->id == id ? conn : NULL;
}

/**
 * ipogif_conn_unuse() - if a peer sends on this connection, take it away from the peer
 * @conn: connection
 *
 * Context: any.
 */
void ipogif_conn_unuse(struct ipogif_conn *conn)
{
	struct ipogif_peer *peer = READ_ONCE(conn->peer);

	if (peer)
		cmpxchg((struct ipogif_conn * __force *)&peer->conn, conn, NULL);
}

/**
 * ipogif_conn_fail() - give up a connection
 * @conn: connection
 * @why: reason for the log; NULL if it was closed in an orderly way
 *
 * Frames that wait for the peer will be sent on another connection. Context: any.
 */
void ipogif_conn_fail(struct ipogif_conn *conn, const char *why)
{
	if (test_and_set_bit(IPOGIF_CONN_DEAD, &conn->flags))
		return;
	clear_bit(IPOGIF_CONN_UP, &conn->flags);
	if (why) {
		atomic_inc(&conn->ipg->failures);
		netdev_dbg(conn->ipg->dev, "connection to node %u ends: %s\n",
			   conn->peer ? conn->peer->address : 0, why);
	}
	ipogif_conn_unuse(conn);
	queue_work(ipogif_wq, &conn->ipg->work);
}
