// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bulk data that is put or got by this side: the peer is asked, says where its memory is, and is
 * told when the block transfer is over. Only this side posts.
 */
#include <linux/export.h>
#include <linux/highmem.h>
#include <linux/slab.h>

#include "slnd_priv.h"

#define SLND_GET_ALIGN 4

/** slnd_bulk_new() - a transfer. Context: sleeps. Return: it, or NULL. */
struct slnd_bulk *slnd_bulk_new(struct slnd_peer *peer, struct slnd_buffer *buffer, bool put)
{
	struct slnd_bulk *bulk = kzalloc(sizeof(*bulk), GFP_KERNEL);

	if (!bulk)
		return NULL;
	INIT_LIST_HEAD(&bulk->node);
	bulk->peer = peer;
	bulk->put = put;
	bulk->buffer = buffer;
	/* numbers go round, so that a late answer does not find another transfer */
	if (xa_alloc_cyclic(&slnd.bulks, &bulk->id, bulk, XA_LIMIT(1, INT_MAX), &slnd.next_bulk,
			    GFP_KERNEL) >= 0)
		return bulk;
	kfree(bulk);
	return NULL;
}

/** slnd_bulk_free() - forget a transfer that has ended. Context: sleeps. */
void slnd_bulk_free(struct slnd_bulk *bulk)
{
	xa_erase(&slnd.bulks, bulk->id);
	kvfree(bulk->bounce);
	kfree(bulk);
}

/**
 * slnd_bulk_find() - the transfer that a message is about
 * @conn: where it came
 * @id: number
 *
 * Context: slnd_peer.lock held, and as long as it is. Return: it, or NULL.
 */
struct slnd_bulk *slnd_bulk_find(struct slnd_conn *conn, u32 id)
{
	struct slnd_bulk *bulk = xa_load(&slnd.bulks, id);

	return bulk && bulk->peer == conn->peer ? bulk : NULL;
}

/**
 * slnd_bulk_message() - what the other side of a transfer is to know of it
 * @bulk: it
 * @type: message
 * @status: 0 or a negative errno
 *
 * Context: sleeps. Return: a message, or NULL.
 */
struct slnd_tx *slnd_bulk_message(struct slnd_bulk *bulk, enum slnd_type type, int status)
{
	struct slnd_bulk_words words = {
		.to = bulk->other,
		.from = bulk->id,
		.status = status,
		.put = bulk->put,
		.bytes = bulk->buffer ? bulk->buffer->bytes : 0,
		.tag = bulk->tag,
		.address = bulk->buffer ? bulk->buffer->offset : 0,
		.handle = bulk->handle,
	};
	struct slnd_tx *tx = slnd_tx_new(type, &words, sizeof(words));

	if (tx && type == SLND_BULK_ASK)
		tx->bulk = bulk;
	else if (tx)
		tx->only = bulk->conn;
	return tx;
}

/** slnd_bulk_tell() - tell it. Context: sleeps. Return: 0 or -ENOMEM. */
int slnd_bulk_tell(struct slnd_bulk *bulk, enum slnd_type type, int status)
{
	struct slnd_tx *tx = slnd_bulk_message(bulk, type, status);

	if (!tx)
		return -ENOMEM;
	slnd_tx_queue(bulk->peer, tx);
	return 0;
}

static int slnd_bulk_begin(u32 to, bool put, u64 tag, struct slnd_buffer *buffer, slnd_done_f *done,
			   void *arg)
{
	struct slnd_peer *peer;
	struct slnd_bulk *bulk;

	if (!buffer->bytes || buffer->offset >= PAGE_SIZE || !done ||
	    buffer->bytes > SLND_BULK_MAX - buffer->offset)
		return -EINVAL;
	peer = slnd_peer_get(to);
	bulk = peer ? slnd_bulk_new(peer, buffer, put) : NULL;
	if (!bulk)
		return -ENOMEM;
	bulk->tag = tag;
	bulk->done = done;
	bulk->arg = arg;
	slnd_user_begin();
	slnd_count(put ? SLND_N_PUTS : SLND_N_GETS);
	if (!slnd_bulk_tell(bulk, SLND_BULK_ASK, 0))
		return 0;
	slnd_bulk_free(bulk);
	slnd_user_end();
	return -ENOMEM;
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

/*
 * A get needs addresses and length of a multiple of four. What is not goes through a buffer that is
 * larger by what is missing at both ends: that is there at the peer, whose pages are registered as
 * a whole.
 */
static int slnd_bulk_bounce(struct slnd_bulk *bulk)
{
	gni_post_descriptor_t *d = &bulk->post;

	bulk->skip = d->remote_addr % SLND_GET_ALIGN;
	bulk->bounce_bytes = ALIGN(bulk->skip + bulk->buffer->bytes, SLND_GET_ALIGN);
	bulk->bounce = kvmalloc(bulk->bounce_bytes, GFP_KERNEL);
	if (!bulk->bounce ||
	    gni_mem_register(slnd.nic, (uintptr_t)bulk->bounce, bulk->bounce_bytes, NULL,
			     GNI_MEM_READWRITE, &bulk->handle) != GNI_RC_SUCCESS)
		return -ENOMEM;
	d->remote_addr -= bulk->skip;
	d->local_addr = (uintptr_t)bulk->bounce;
	d->length = bulk->bounce_bytes;
	slnd_count(SLND_N_BOUNCED);
	return 0;
}

static int slnd_bulk_prepare(struct slnd_bulk *bulk, const struct slnd_bulk_words *words)
{
	gni_post_descriptor_t *d = &bulk->post;
	int rc;

	*d = (gni_post_descriptor_t){
		.type = bulk->put ? GNI_POST_RDMA_PUT : GNI_POST_RDMA_GET,
		.cq_mode = GNI_CQMODE_GLOBAL_EVENT,
		.dlvr_mode = GNI_DLVMODE_PERFORMANCE,
		.post_id = (uintptr_t)bulk,
		.local_addr = bulk->buffer->offset,
		.remote_addr = words->address,
		.remote_mem_hndl = words->handle,
		.length = bulk->buffer->bytes,
		.src_cq_hndl = slnd.rdma_cq,
	};
	if (!bulk->put && (d->local_addr | d->remote_addr | d->length) % SLND_GET_ALIGN)
		rc = slnd_bulk_bounce(bulk);
	else
		rc = slnd_map(bulk->buffer, &bulk->handle);
	d->local_mem_hndl = bulk->handle;
	return rc;
}

/** slnd_bulk_answer() - the peer has said where its memory is. Context: sleeps. */
void slnd_bulk_answer(struct slnd_conn *conn, const struct slnd_bulk_words *words)
{
	struct slnd_bulk *bulk;
	int status;

	spin_lock(&conn->peer->lock);
	bulk = slnd_bulk_find(conn, words->to);
	/* it may have failed with an earlier connection */
	if (bulk && bulk->state == SLND_BULK_ASKED) {
		bulk->state = SLND_BULK_POSTED;
		bulk->other = words->from;
		refcount_inc(&bulk->conn->refs);
	} else {
		bulk = NULL;
	}
	spin_unlock(&conn->peer->lock);
	if (!bulk)
		return;
	status = words->status ? words->status : slnd_bulk_prepare(bulk, words);
	if (!status)
		slnd_rdma_post(bulk);
	else
		slnd_bulk_finish(bulk, status);
}

static void slnd_bulk_unbounce(struct slnd_bulk *bulk)
{
	struct slnd_buffer *buffer = bulk->buffer;
	const u8 *from = bulk->bounce + bulk->skip;
	u32 left = buffer->bytes, offset = buffer->offset, i;

	for (i = 0; left; i++) {
		u32 bytes = min_t(u32, left, PAGE_SIZE - offset);

		memcpy_to_page(buffer->pages[i], offset, from, bytes);
		from += bytes;
		left -= bytes;
		offset = 0;
	}
}

/**
 * slnd_bulk_finish() - a transfer of this side is over
 * @bulk: it; not there any more afterwards
 * @status: 0 or a negative errno
 *
 * Context: sleeps.
 */
void slnd_bulk_finish(struct slnd_bulk *bulk, int status)
{
	struct slnd_conn *conn = NULL;

	spin_lock(&bulk->peer->lock);
	if (bulk->state == SLND_BULK_POSTED) {
		conn = bulk->conn;
		if (conn->state != SLND_OPEN && !status)
			status = -ECONNRESET; /* nobody can tell the peer that it is complete */
	}
	list_del_init(&bulk->node);
	bulk->state = SLND_BULK_ENDED;
	spin_unlock(&bulk->peer->lock);
	/* before anything that takes time; a peer that has refused has nothing to end */
	if (conn && bulk->other && slnd_bulk_tell(bulk, SLND_BULK_DONE, status))
		slnd_conn_end(conn, "there is no memory for a message");
	if (bulk->bounce && (bulk->handle.qword1 || bulk->handle.qword2))
		gni_mem_deregister(slnd.nic, &bulk->handle, 0);
	if (bulk->bounce && !status)
		slnd_bulk_unbounce(bulk);
	if (status)
		slnd_count(SLND_N_BULKS_FAILED);
	else
		slnd_add(SLND_N_BULK_BYTES, bulk->buffer->bytes);
	bulk->done(bulk->arg, status);
	slnd_bulk_free(bulk);
	if (conn)
		slnd_conn_put(conn);
	slnd_user_end();
}

/* One transfer that depends on a connection, and will not be ended by somebody else. */
static struct slnd_bulk *slnd_bulk_of(struct slnd_conn *conn, bool *exposed)
{
	struct slnd_bulk *bulk, *found = NULL;

	spin_lock(&conn->peer->lock);
	list_for_each_entry(bulk, &conn->bulks, node)
		if (bulk->state != SLND_BULK_POSTED) {
			*exposed = bulk->state == SLND_BULK_EXPOSED;
			bulk->state = SLND_BULK_ENDED;
			list_del_init(&bulk->node);
			found = bulk;
			break;
		}
	spin_unlock(&conn->peer->lock);
	return found;
}

/** slnd_bulk_fail_all() - a connection has ended: so do the transfers on it. Context: sleeps. */
void slnd_bulk_fail_all(struct slnd_conn *conn)
{
	struct slnd_bulk *bulk;
	bool exposed;

	while ((bulk = slnd_bulk_of(conn, &exposed))) {
		if (exposed)
			slnd_exposure_finish(bulk, -ECONNRESET, !conn->clean);
		else
			slnd_bulk_finish(bulk, -ECONNRESET);
	}
}
