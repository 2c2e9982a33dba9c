// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Bulk data that our user puts or gets. Its memory is registered, and the peer is told where it is.
 * The peer moves the data, and reports that it has done so.
 */
#include <linux/export.h>
#include <linux/slab.h>

#include "slnd_priv.h"

static atomic_t slnd_bulk_number;

static int slnd_bulk_begin(u32 to, bool put, u64 tag, struct slnd_buffer *buffer, slnd_done_f *done,
			   void *arg)
{
	struct slnd_bulk_words words = { .put = put, .bytes = buffer->bytes, .tag = tag };
	struct slnd_bulk *bulk;
	struct slnd_tx *tx;

	if (!buffer->bytes || buffer->offset >= PAGE_SIZE || !done ||
	    buffer->bytes > SLND_BULK_MAX - buffer->offset)
		return -EINVAL;
	bulk = kzalloc(sizeof(*bulk), GFP_KERNEL);
	if (!bulk)
		return -ENOMEM;
	/* numbers are not reused soon, so that a late answer does not find another transfer */
	bulk->id = atomic_inc_return(&slnd_bulk_number);
	words.id = bulk->id;
	bulk->buffer = buffer;
	bulk->done = done;
	bulk->arg = arg;
	tx = slnd_tx_new(slnd_peer_get(to), SLND_BULK_ASK, &words, sizeof(words));
	if (!tx) {
		kfree(bulk);
		return -ENOMEM;
	}
	tx->bulk = bulk;
	slnd_user_begin();
	slnd_count(put ? SLND_N_PUTS : SLND_N_GETS);
	slnd_tx_queue(tx);
	return 0;
}

/**
 * slnd_put() - put bulk data into memory that the peer's user names
 * @to: peer
 * @tag: for the peer's user
 * @buffer: data
 * @done: called when it is there, or has failed
 * @arg: for @done
 *
 * Context: sleeps. Return: 0, -EINVAL or -ENOMEM.
 */
int slnd_put(u32 to, u64 tag, struct slnd_buffer *buffer, slnd_done_f *done, void *arg)
{
	return slnd_bulk_begin(to, true, tag, buffer, done, arg);
}
EXPORT_SYMBOL_GPL(slnd_put);

/**
 * slnd_get() - get bulk data from memory that the peer's user names
 * @to: peer
 * @tag: for the peer's user
 * @buffer: where it goes
 * @done: called when it is there, or has failed
 * @arg: for @done
 *
 * Context: sleeps. Return: 0, -EINVAL or -ENOMEM.
 */
int slnd_get(u32 to, u64 tag, struct slnd_buffer *buffer, slnd_done_f *done, void *arg)
{
	return slnd_bulk_begin(to, false, tag, buffer, done, arg);
}
EXPORT_SYMBOL_GPL(slnd_get);

/**
 * slnd_bulk_map() - register the memory of a transfer, and enter it in the request
 * @tx: the request; it belongs to a connection, so the NIC stays open meanwhile
 *
 * Context: sleeps. Return: 0 or -ENOMEM.
 */
int slnd_bulk_map(struct slnd_tx *tx)
{
	struct slnd_bulk_words *words = (struct slnd_bulk_words *)tx->data;
	struct slnd_bulk *bulk = tx->bulk;
	int rc = slnd_map(bulk->buffer, &bulk->handle);

	words->address = bulk->buffer->offset;
	words->handle = bulk->handle;
	return rc;
}

/** slnd_bulk_asked() - the request for a transfer was sent. Context: slnd_peer.lock held. */
void slnd_bulk_asked(struct slnd_bulk *bulk, struct slnd_conn *conn)
{
	bulk->conn = conn;
	list_add_tail(&bulk->node, &conn->peer->bulks);
}

/** slnd_bulk_finish() - tell the user that a transfer has ended. Context: sleeps. */
void slnd_bulk_finish(struct slnd_bulk *bulk, int status)
{
	if (status)
		slnd_count(SLND_N_BULKS_FAILED);
	else
		slnd_add(SLND_N_BULK_BYTES, bulk->buffer->bytes);
	bulk->done(bulk->arg, status);
	kfree(bulk);
	slnd_user_end();
}

/*
 * Take the oldest transfer with that number, or on that connection, off the list. The caller owns
 * it afterwards.
 */
static struct slnd_bulk *slnd_bulk_take(struct slnd_peer *peer, u32 id, struct slnd_conn *conn)
{
	struct slnd_bulk *bulk, *found = NULL;

	spin_lock(&peer->lock);
	list_for_each_entry(bulk, &peer->bulks, node)
		if (conn ? bulk->conn == conn : bulk->id == id) {
			found = bulk;
			list_del(&bulk->node);
			break;
		}
	spin_unlock(&peer->lock);
	return found;
}

/** slnd_bulk_done() - the peer has moved the data, or reports an error. Context: sleeps. */
void slnd_bulk_done(struct slnd_conn *conn, const struct slnd_bulk_words *words)
{
	struct slnd_bulk *bulk = slnd_bulk_take(conn->peer, words->id, NULL);

	/* it may have failed already together with an earlier connection */
	if (bulk)
		slnd_bulk_finish(bulk, words->status);
}

/** slnd_bulk_fail_all() - end the transfers of a connection that has ended. Context: sleeps. */
void slnd_bulk_fail_all(struct slnd_conn *conn)
{
	struct slnd_bulk *bulk;

	while ((bulk = slnd_bulk_take(conn->peer, 0, conn))) {
		/* deregister it, and hold its MDD so that a late access of the peer hits nothing */
		if (!conn->clean) {
			slnd_map_hold(bulk->buffer);
			slnd_quarantine_handle(conn, &bulk->handle);
		}
		slnd_bulk_finish(bulk, -ECONNRESET);
	}
}
