// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* Outgoing messages: queued for a node, sent on its connection, completed by their event. */
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "slnd_priv.h"

/**
 * slnd_tx_new() - allocate a message
 * @peer: its destination; NULL if there was no memory for that
 * @type: its type
 * @data: copied
 * @bytes: length of @data
 *
 * Context: sleeps. Return: the message, or NULL.
 */
struct slnd_tx *slnd_tx_new(struct slnd_peer *peer, enum slnd_type type, const void *data,
			    u32 bytes)
{
	struct slnd_tx *tx = peer ? kmalloc(struct_size(tx, data, bytes), GFP_KERNEL) : NULL;

	if (!tx)
		return NULL;
	memset(tx, 0, sizeof(*tx));
	tx->peer = peer;
	tx->since = jiffies;
	tx->head.type = type;
	tx->head.bytes = bytes;
	memcpy(tx->data, data, bytes);
	return tx;
}

/** slnd_tx_only() - a message is meaningful on this connection only. Context: any. */
void slnd_tx_only(struct slnd_tx *tx, struct slnd_conn *conn)
{
	refcount_inc(&conn->refs);
	tx->only = conn;
}

/* Complete a message that was sent, or will never be. */
static void slnd_tx_done(struct slnd_tx *tx, int status)
{
	if (tx->only)
		slnd_conn_put(tx->only);
	if (tx->bulk)
		slnd_bulk_finish(tx->bulk, status);
	if (tx->done) {
		tx->done(tx->arg, status);
		slnd_user_end();
	}
	kfree(tx);
}

static bool slnd_tx_obsolete(const struct slnd_tx *tx)
{
	return tx->only && tx->only->state == SLND_ENDED;
}

/**
 * slnd_sent_init() - allocate an element for each message that may be in flight
 * @entries: entries of their queue
 *
 * Context: sleeps. Return: 0 or -ENOMEM.
 */
int slnd_sent_init(u32 entries)
{
	u32 i;

	slnd.sent = kvcalloc(entries, sizeof(*slnd.sent), GFP_KERNEL);
	if (!slnd.sent)
		return -ENOMEM;
	INIT_LIST_HEAD(&slnd.sent_free);
	for (i = 0; i < entries; i++)
		list_add_tail(&slnd.sent[i].node, &slnd.sent_free);
	return 0;
}

static struct slnd_sent *slnd_sent_get(void)
{
	struct slnd_sent *sent;

	spin_lock(&slnd.lock);
	sent = list_first_entry_or_null(&slnd.sent_free, struct slnd_sent, node);
	if (sent)
		list_del(&sent->node);
	spin_unlock(&slnd.lock);
	return sent;
}

static void slnd_sent_put(struct slnd_sent *sent)
{
	spin_lock(&slnd.lock);
	list_add(&sent->node, &slnd.sent_free);
	spin_unlock(&slnd.lock);
}

/* Send one message; @tx is NULL for a control message. Context: slnd_peer.lock held. */
static gni_return_t slnd_tx_post(struct slnd_conn *conn, struct slnd_head *head, struct slnd_tx *tx)
{
	struct slnd_sent *sent = slnd_sent_get();
	gni_return_t rc;

	if (!sent)
		return GNI_RC_NOT_DONE;
	sent->conn = conn;
	sent->tx = tx;
	sent->type = head->type;
	refcount_inc(&conn->refs);
	/* the event carries only this index, so the element has to tell the connection as well */
	rc = gni_smsg_send(conn->ep, head, sizeof(*head), tx ? tx->data : NULL, head->bytes,
			   sent - slnd.sent);
	if (rc == GNI_RC_SUCCESS) {
		WRITE_ONCE(conn->last_tx, jiffies);
		conn->n_sent++;
		return rc;
	}
	refcount_dec(&conn->refs); /* never the last: the caller's list holds one */
	slnd_sent_put(sent);
	return rc;
}

/* There are no credits, there is no space, or the network is quiesced: try again later. */
static void slnd_tx_stalled(struct slnd_conn *conn, gni_return_t rc)
{
	if (rc == GNI_RC_NOT_DONE) {
		slnd_count(SLND_N_SENDS_STALLED);
		slnd_schedule_later(conn);
	} else {
		slnd_conn_end_locked(conn, "it takes no messages any more");
	}
}

/* Send the control messages of a connection. Context: slnd_peer.lock held. */
static void slnd_conn_push(struct slnd_conn *conn)
{
	while (conn->say && (conn->state == SLND_OPEN || conn->state == SLND_CLOSING)) {
		u32 type = __ffs(conn->say);
		struct slnd_head head = { .type = type };
		gni_return_t rc = slnd_tx_post(conn, &head, NULL);

		if (rc != GNI_RC_SUCCESS) {
			slnd_tx_stalled(conn, rc);
			return;
		}
		conn->say &= ~BIT(type);
	}
}

/* Send the oldest message for a node. Context: slnd_peer.lock held. Return: whether it was sent. */
static bool slnd_peer_send(struct slnd_peer *peer, struct slnd_tx *tx)
{
	struct slnd_conn *conn = peer->conn;
	struct slnd_bulk *bulk = tx->bulk;
	gni_return_t rc;

	rc = slnd_tx_post(conn, &tx->head, tx);
	if (rc != GNI_RC_SUCCESS) {
		slnd_tx_stalled(conn, rc);
		return false;
	}
	list_del(&tx->node);
	if (bulk) {
		slnd_bulk_asked(bulk, conn);
		tx->bulk = NULL;
	}
	return true;
}

/*
 * The memory of this transfer has to be registered. A reference to the connection keeps the NIC
 * open meanwhile.
 */
static void slnd_tx_unmapped(struct slnd_tx *tx, struct slnd_conn *conn, struct list_head *list)
{
	slnd_tx_only(tx, conn);
	list_move_tail(&tx->node, list);
}

static void slnd_tx_map(struct slnd_tx *tx)
{
	int rc = slnd_bulk_map(tx);

	if (rc)
		slnd_tx_done(tx, rc);
	else
		slnd_tx_queue(tx);
}

/** slnd_peer_push() - send as much as possible to a node. Context: any thread, without locks. */
void slnd_peer_push(struct slnd_peer *peer)
{
	struct slnd_tx *tx, *next;
	struct slnd_conn *conn;
	LIST_HEAD(obsolete);
	LIST_HEAD(unmapped);
	bool wanting;

	spin_lock(&peer->lock);
	list_for_each_entry(conn, &peer->conns, peer_node)
		slnd_conn_push(conn);
	list_for_each_entry_safe(tx, next, &peer->queue, node) {
		if (slnd_tx_obsolete(tx))
			list_move_tail(&tx->node, &obsolete);
		else if (!peer->conn)
			break;
		else if (tx->bulk && !tx->only)
			slnd_tx_unmapped(tx, peer->conn, &unmapped);
		else if (!slnd_peer_send(peer, tx))
			break;
	}
	wanting = !peer->conn && !list_empty(&peer->queue);
	spin_unlock(&peer->lock);
	if (wanting)
		slnd_keeper_wake();
	list_for_each_entry_safe(tx, next, &obsolete, node)
		slnd_tx_done(tx, -ECONNRESET);
	list_for_each_entry_safe(tx, next, &unmapped, node)
		slnd_tx_map(tx);
}

/** slnd_tx_queue() - queue a message for a node. Context: any thread, without locks. */
void slnd_tx_queue(struct slnd_tx *tx)
{
	struct slnd_peer *peer = tx->peer;
	bool first, obsolete;

	spin_lock(&peer->lock);
	first = list_empty(&peer->queue);
	/* after slnd_conn_bury() nothing looks for messages of that connection */
	obsolete = slnd_tx_obsolete(tx);
	if (!obsolete)
		list_add_tail(&tx->node, &peer->queue);
	spin_unlock(&peer->lock);
	/* if others have stalled, the thread that retries them sends this one after them */
	if (obsolete)
		slnd_tx_done(tx, -ECONNRESET);
	else if (first)
		slnd_peer_push(peer);
}

/** slnd_say() - send a control message on a connection. Context: any thread. */
void slnd_say(struct slnd_conn *conn, enum slnd_type type)
{
	spin_lock(&conn->peer->lock);
	conn->say |= BIT(type);
	spin_unlock(&conn->peer->lock);
	slnd_schedule(conn);
}

/**
 * slnd_peer_flush() - give up messages that could not be sent
 * @peer: node
 * @age: give up messages that have waited this long, in jiffies, and those of connections that have
 *       ended
 *
 * Context: any thread, without locks.
 */
void slnd_peer_flush(struct slnd_peer *peer, unsigned long age)
{
	struct slnd_tx *tx, *next;
	LIST_HEAD(over);

	spin_lock(&peer->lock);
	list_for_each_entry_safe(tx, next, &peer->queue, node)
		if (slnd_tx_obsolete(tx) || jiffies - tx->since >= age)
			list_move_tail(&tx->node, &over);
	spin_unlock(&peer->lock);
	list_for_each_entry_safe(tx, next, &over, node)
		slnd_tx_done(tx, slnd_tx_obsolete(tx) ? -ECONNRESET : -EHOSTUNREACH);
}

/* The event of a message has arrived. */
static void slnd_tx_event(struct slnd_sent sent, gni_cq_entry_t entry, bool failed)
{
	char why[64] = "a message was not delivered";

	if (failed)
		gni_cq_error_str(entry, why, sizeof(why));
	/* take the lock, because slnd_peer_send() may still be using the message */
	spin_lock(&sent.conn->peer->lock);
	if (failed)
		slnd_conn_end_locked(sent.conn, why);
	else if (!sent.tx && sent.type == SLND_CLOSE)
		slnd_conn_closed(sent.conn, &sent.conn->close_sent);
	spin_unlock(&sent.conn->peer->lock);
	if (sent.tx) {
		slnd_count(SLND_N_MESSAGES_SENT);
		slnd_tx_done(sent.tx, failed ? -EIO : 0);
	}
	slnd_conn_put(sent.conn);
}

/** slnd_tx_events() - read the queue of messages that were sent. Context: schedulers. */
void slnd_tx_events(void)
{
	struct slnd_sent *place, sent;
	gni_cq_entry_t entry;
	gni_return_t rc;

	for (;;) {
		rc = gni_cq_get_event(slnd.tx_cq, &entry);
		if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR)
			return;
		cond_resched(); /* events may come as fast as they are read */
		place = &slnd.sent[GNI_CQ_GET_MSG_ID(entry)];
		sent = *place;
		slnd_sent_put(place);
		slnd_tx_event(sent, entry, rc != GNI_RC_SUCCESS);
	}
}
