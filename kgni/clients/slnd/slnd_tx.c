// SPDX-License-Identifier: GPL-2.0-only
/* Outgoing messages: queued for a node, sent on its connection, completed by their event. */
#include <linux/export.h>

#include "slnd_priv.h"

/* Prepare a message, with data if it is IMMEDIATE. Context: sleeps. Return: it, or NULL. */
static struct slnd_tx *slnd_tx_new(u32 to, const struct slnd_msg *msg, const void *data)
{
	u32 bytes = data ? msg->bytes : 0;
	struct slnd_tx *tx = kmalloc(struct_size(tx, data, bytes), GFP_KERNEL);

	if (!tx)
		return NULL;
	memset(tx, 0, sizeof(*tx));
	tx->to = to;
	tx->since = jiffies;
	tx->msg = *msg;
	memcpy(tx->data, data, bytes);
	if (!xa_alloc(&slnd.txs, &tx->id, tx, xa_limit_32b, GFP_KERNEL))
		return tx;
	kfree(tx);
	return NULL;
}

/* A message was sent or never will be. One of a transfer is needed until that is over, too. */
static void slnd_tx_end(struct slnd_tx *tx, int status)
{
	if (tx->conn)
		slnd_conn_put(tx->conn);
	tx->conn = NULL;
	if (tx->done) {
		tx->done(tx->arg, status);
		atomic_dec(&slnd.user_ops);
	}
	if (tx->buffer)
		return;
	xa_erase(&slnd.txs, tx->id);
	if (list_empty(&tx->node)) /* otherwise its connection takes it to purgatory */
		kfree(tx);
}

/* A transfer is over. Its message may still be in flight. */
void slnd_tx_bulk_end(struct slnd_tx *tx, int status)
{
	struct slnd_buffer *buffer = tx->buffer;

	if (status)
		slnd.counters.bulks_failed++;
	else
		slnd.counters.bulk_bytes += buffer->bytes;
	tx->buffer = NULL;
	buffer->done(buffer, status);
	atomic_dec(&slnd.user_ops);
	if (!tx->conn)
		slnd_tx_end(tx, status);
}

/* Give up a message that was not sent. */
static void slnd_tx_drop(struct slnd_tx *tx, int status)
{
	list_del_init(&tx->node);
	if (tx->buffer)
		slnd_tx_bulk_end(tx, status);
	else
		slnd_tx_end(tx, status);
}

/* Send a message. Return: whether the next one may be tried. */
static bool slnd_tx_send(struct slnd_tx *tx, struct slnd_conn *conn)
{
	u32 bytes = tx->msg.type == SLND_IMMEDIATE ? tx->msg.bytes : 0;
	gni_return_t rc = GNI_RC_NOT_DONE;

	if (tx->buffer) {
		if (slnd_map(tx->buffer)) {
			slnd_tx_drop(tx, -ENOMEM);
			return true;
		}
		tx->msg.address = tx->buffer->offset;
		tx->msg.handle = tx->buffer->handle;
	}
	if (slnd.sends_left)
		rc = gni_smsg_send(conn->ep, &tx->msg, sizeof(tx->msg), tx->data, bytes, tx->id);
	if (rc == GNI_RC_NOT_DONE) { /* no credits, no space, or a quiesce */
		slnd.counters.sends_stalled++;
		slnd_stall();
		return false;
	}
	if (rc != GNI_RC_SUCCESS) {
		slnd_conn_close(conn, "it takes no messages any more");
		return false;
	}
	slnd.sends_left--;
	conn->last_tx = jiffies;
	list_del_init(&tx->node);
	if (!tx->conn)
		conn->in_flight++;
	tx->conn = conn;
	if (tx->buffer)
		list_add_tail(&tx->node, &conn->exposed);
	return true;
}

/*
 * May a message be sent on that connection? Nothing may while anything of earlier ones is in
 * flight, see slnd_purgatory.c; and while it is closing only what belongs to it may.
 */
static bool slnd_tx_fits(const struct slnd_tx *tx, const struct slnd_conn *conn)
{
	struct slnd_conn *other;

	if (conn->state != SLND_ESTABLISHED && (conn->state != SLND_CLOSING || !tx->conn))
		return false;
	list_for_each_entry(other, &conn->peer->conns, node)
		if (other->state == SLND_CLOSED)
			return false;
	return true;
}

/* Send what can be sent to a node, and give up what has waited for too long. */
void slnd_peer_push(struct slnd_peer *peer)
{
	struct slnd_tx *tx, *next;

	list_for_each_entry_safe(tx, next, &peer->txq, node) {
		struct slnd_conn *conn = tx->conn ?: peer->conn;

		if (tx->conn && conn->state == SLND_CLOSED)
			slnd_tx_drop(tx, -ECONNRESET);
		else if (!tx->conn && time_after(jiffies, tx->since + slnd_timeout * HZ))
			slnd_tx_drop(tx, -EHOSTUNREACH);
		else if (conn && slnd_tx_fits(tx, conn) && !slnd_tx_send(tx, conn))
			break;
	}
	if (!peer->conn && !list_empty(&peer->txq))
		slnd_reaper_wake();
}

/* Say something of our own on a connection. */
void slnd_tx_say(struct slnd_conn *conn, struct slnd_msg msg)
{
	struct slnd_tx *tx = slnd_tx_new(conn->peer->address, &msg, NULL);

	if (!tx) {
		slnd_conn_close(conn, "there is no memory for a message");
		return;
	}
	tx->conn = conn;
	conn->in_flight++;
	conn->last_tx = jiffies;
	list_add_tail(&tx->node, &conn->peer->txq);
	slnd_peer_push(conn->peer);
}

/* Take what the user has handed over. Context: scheduler. */
void slnd_tx_take(void)
{
	struct slnd_tx *tx, *next;
	struct slnd_peer *peer;
	LIST_HEAD(new);

	spin_lock(&slnd.lock);
	list_splice_init(&slnd.txq, &new);
	spin_unlock(&slnd.lock);
	list_for_each_entry_safe(tx, next, &new, node) {
		if (tx->msg.type == SLND_PUT_REQ)
			slnd.counters.puts++;
		else if (tx->msg.type == SLND_GET_REQ)
			slnd.counters.gets++;
		peer = slnd_peer_get(tx->to);
		if (!peer) {
			slnd_tx_drop(tx, -ENOMEM);
			continue;
		}
		list_move_tail(&tx->node, &peer->txq);
		if (list_is_singular(&peer->txq)) /* if others wait it has to, too */
			slnd_peer_push(peer);
	}
}

/* Read the queue of messages that were sent. Context: scheduler. */
void slnd_tx_events(void)
{
	gni_cq_entry_t entry;
	struct slnd_tx *tx;
	gni_return_t rc;
	char why[64];

	for (;;) {
		rc = gni_cq_get_event(slnd.tx_cq, &entry);
		if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR)
			return;
		cond_resched(); /* events may come as fast as they are read */
		slnd.sends_left++;
		tx = xa_load(&slnd.txs, GNI_CQ_GET_MSG_ID(entry));
		if (rc != GNI_RC_SUCCESS) {
			gni_cq_error_str(entry, why, sizeof(why));
			slnd_conn_close(tx->conn, why);
		} else if (tx->msg.type == SLND_CLOSE) {
			slnd_conn_close(tx->conn, NULL);
		} else if (tx->msg.type != SLND_NOOP) {
			slnd.counters.messages_sent++;
		}
		slnd_tx_end(tx, rc == GNI_RC_SUCCESS ? 0 : -EIO);
	}
}

/* Hand a message over to the scheduler. */
static int slnd_tx_queue(struct slnd_tx *tx)
{
	if (tx->done || tx->buffer)
		atomic_inc(&slnd.user_ops);
	spin_lock(&slnd.lock);
	list_add_tail(&tx->node, &slnd.txq);
	spin_unlock(&slnd.lock);
	slnd_wake(SLND_EV_NEW);
	return 0;
}

/**
 * slnd_send() - send a message
 * @to: peer
 * @data: copied
 * @bytes: SLND_MESSAGE_MAX at most
 * @done: called when the peer has it, or when that is unknown; may be NULL
 * @arg: for @done
 *
 * Messages arrive in order while a connection holds. Context: sleeps. Return: 0, -EINVAL, -ENOMEM.
 */
int slnd_send(u32 to, const void *data, u32 bytes, slnd_done_f *done, void *arg)
{
	struct slnd_msg msg = { .type = SLND_IMMEDIATE, .bytes = bytes };
	struct slnd_tx *tx;

	if (bytes > SLND_MESSAGE_MAX)
		return -EINVAL;
	tx = slnd_tx_new(to, &msg, data);
	if (!tx)
		return -ENOMEM;
	tx->done = done;
	tx->arg = arg;
	return slnd_tx_queue(tx);
}
EXPORT_SYMBOL_GPL(slnd_send);

/**
 * slnd_transfer() - put or get bulk data
 * @to: peer, whose user names the other memory
 * @put: put; otherwise get
 * @tag: for the peer's user
 * @buffer: our memory, whose slnd_buffer.done will be called
 *
 * Context: sleeps. Return: 0, -EINVAL or -ENOMEM.
 */
int slnd_transfer(u32 to, bool put, u64 tag, struct slnd_buffer *buffer)
{
	struct slnd_msg msg = { .type = put ? SLND_PUT_REQ : SLND_GET_REQ, .tag = tag,
				.bytes = buffer->bytes };
	struct slnd_tx *tx;

	if (!buffer->bytes || buffer->offset >= PAGE_SIZE ||
	    buffer->bytes > SLND_BULK_MAX - buffer->offset)
		return -EINVAL;
	tx = slnd_tx_new(to, &msg, NULL);
	if (!tx)
		return -ENOMEM;
	tx->msg.id = tx->id;
	tx->buffer = buffer;
	return slnd_tx_queue(tx);
}
EXPORT_SYMBOL_GPL(slnd_transfer);
