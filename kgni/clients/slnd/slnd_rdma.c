// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Bulk data that a peer asks us to move. Our user chooses the memory, one block transfer moves the
 * data, and a message reports the end. If the peer wants to put we get from it, and the other way
 * round.
 */
#include <linux/cache.h>
#include <linux/highmem.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "slnd_priv.h"

#define SLND_GET_ALIGN 4

/**
 * struct slnd_post - a block transfer
 * @node: in slnd.post_wait while there is no space
 * @conn: connection on which the peer has asked, with a reference
 * @id: number that the peer has given it
 * @buffer: memory of our user
 * @arg: argument of our user
 * @bounce: replaces @buffer if that does not have the alignment that a get needs
 * @skip: bytes in @bounce before the first wanted one
 * @desc: descriptor
 * @attempts: how often it was posted
 */
struct slnd_post {
	struct list_head node;
	struct slnd_conn *conn;
	u32 id;
	struct slnd_buffer *buffer;
	void *arg;
	void *bounce;
	u32 skip;
	gni_post_descriptor_t desc;
	unsigned int attempts;
};

static void slnd_rdma_tell(struct slnd_conn *conn, u32 id, int status)
{
	struct slnd_bulk_words words = { .id = id, .status = status };
	struct slnd_tx *tx = slnd_tx_new(conn->peer, SLND_BULK_DONE, &words, sizeof(words));

	if (!tx) {
		slnd_conn_end(conn, "there is no memory for a message");
		return;
	}
	slnd_tx_only(tx, conn);
	slnd_tx_queue(tx);
}

/* Copy the data from the bounce buffer to where it is wanted. */
static void slnd_unbounce(struct slnd_post *post)
{
	struct slnd_buffer *buffer = post->buffer;
	const u8 *from = post->bounce + post->skip;
	u32 left = buffer->bytes, offset = buffer->offset, i;

	for (i = 0; left; i++) {
		u32 bytes = min_t(u32, left, PAGE_SIZE - offset);

		memcpy_to_page(buffer->pages[i], offset, from, bytes);
		from += bytes;
		left -= bytes;
		offset = 0;
	}
}

/* A transfer has ended. */
static void slnd_rdma_finish(struct slnd_post *post, int status)
{
	/* first of all, because the rest takes time */
	slnd_rdma_tell(post->conn, post->id, status);
	if (post->bounce) {
		gni_mem_deregister(slnd.nic, &post->desc.local_mem_hndl, 0);
		if (!status)
			slnd_unbounce(post);
		kvfree(post->bounce);
	}
	if (status)
		slnd_count(SLND_N_BULKS_FAILED);
	slnd_user_exposed(post->arg, status);
	slnd_user_end();
	slnd_conn_put(post->conn);
	kfree(post);
}

/*
 * There is no space now. The transfer is posted after another one has completed, or a while later.
 */
static void slnd_rdma_wait(struct slnd_post *post)
{
	slnd_count(SLND_N_POSTS_REFUSED);
	spin_lock(&slnd.lock);
	list_add_tail(&post->node, &slnd.post_wait);
	spin_unlock(&slnd.lock);
}

/*
 * Post a transfer whose descriptor is filled in. The queue never overruns, because no more
 * transfers are in flight than it has entries.
 */
static void slnd_rdma_post(struct slnd_post *post)
{
	gni_return_t rc;

	if (READ_ONCE(post->conn->state) != SLND_OPEN) {
		slnd_rdma_finish(post, -ECONNRESET);
		return;
	}
	if (!atomic_add_unless(&slnd.posts_left, -1, 0)) {
		slnd_rdma_wait(post);
		return;
	}
	post->attempts++;
	/* @post may be freed before the call returns */
	rc = gni_post_rdma(post->conn->ep, &post->desc);
	if (rc == GNI_RC_SUCCESS)
		return;
	atomic_inc(&slnd.posts_left);
	if (rc == GNI_RC_ERROR_RESOURCE)
		slnd_rdma_wait(post);
	else
		slnd_rdma_finish(post, -EIO);
}

/*
 * A get needs addresses and a length that are multiples of four. If they are not, use a bounce
 * buffer and round up at both ends. The additional bytes exist at the peer, because it registers
 * whole pages. The NIC writes to the buffer, so it must not share a cache line with other data.
 * That is why the size is rounded up to a power of two: such an allocation is aligned to its size.
 */
static int slnd_bounce(struct slnd_post *post)
{
	gni_post_descriptor_t *d = &post->desc;
	size_t room;
	void *bounce;

	post->skip = d->remote_addr % SLND_GET_ALIGN;
	d->remote_addr -= post->skip;
	d->length = ALIGN(post->skip + d->length, SLND_GET_ALIGN);
	room = max_t(size_t, d->length, SMP_CACHE_BYTES);
	bounce = kvmalloc(room < PAGE_SIZE ? roundup_pow_of_two(room) : room, GFP_KERNEL);
	d->local_addr = (uintptr_t)bounce;
	if (!bounce || gni_mem_register(slnd.nic, d->local_addr, d->length, NULL, GNI_MEM_READWRITE,
					&d->local_mem_hndl) != GNI_RC_SUCCESS) {
		kvfree(bounce);
		return -ENOMEM;
	}
	post->bounce = bounce;
	slnd_count(SLND_N_BOUNCED);
	return 0;
}

static int slnd_rdma_prepare(struct slnd_post *post, const struct slnd_bulk_words *words)
{
	gni_post_descriptor_t *d = &post->desc;

	*d = (gni_post_descriptor_t){
		.type = words->put ? GNI_POST_RDMA_GET : GNI_POST_RDMA_PUT,
		.cq_mode = GNI_CQMODE_GLOBAL_EVENT,
		.dlvr_mode = GNI_DLVMODE_PERFORMANCE,
		.post_id = (uintptr_t)post,
		.local_addr = post->buffer->offset,
		.remote_addr = words->address,
		.remote_mem_hndl = words->handle,
		.length = post->buffer->bytes,
		.src_cq_hndl = slnd.rdma_cq,
	};
	if (words->put && (d->local_addr | d->remote_addr | d->length) % SLND_GET_ALIGN)
		return slnd_bounce(post);
	return slnd_map(post->buffer, &d->local_mem_hndl);
}

/** slnd_rdma_asked() - a peer wants to put, or to get. Context: sleeps. */
void slnd_rdma_asked(struct slnd_conn *conn, const struct slnd_bulk_words *words)
{
	struct slnd_offer offer = {
		.from = conn->peer->address,
		.put = words->put,
		.bytes = words->bytes,
		.tag = words->tag,
	};
	struct slnd_post *post = kzalloc(sizeof(*post), GFP_KERNEL);
	int rc = post ? slnd_user_expose(&offer, &post->buffer, &post->arg) : -ENOMEM;

	if (rc) {
		slnd_rdma_tell(conn, words->id, rc);
		kfree(post);
		return;
	}
	slnd_count(SLND_N_EXPOSURES);
	refcount_inc(&conn->refs);
	post->conn = conn;
	post->id = words->id;
	rc = slnd_rdma_prepare(post, words);
	if (rc)
		slnd_rdma_finish(post, rc);
	else
		slnd_rdma_post(post);
}

/* A transfer has failed. If the error is recoverable the transfer is posted again unchanged. */
static void slnd_rdma_failed(struct slnd_post *post, gni_cq_entry_t entry)
{
	u32 recoverable = 0;
	char why[64] = "?";

	if (gni_cq_error_recoverable(entry, &recoverable) != GNI_RC_SUCCESS)
		recoverable = 0;
	if (recoverable && post->attempts <= slnd_retries) {
		slnd_count(SLND_N_POSTS_REPEATED);
		slnd_rdma_post(post);
		return;
	}
	gni_cq_error_str(entry, why, sizeof(why));
	pr_info_ratelimited("slnd: transfer with %#x: %s after %u attempts\n",
			    post->conn->peer->address, why, post->attempts);
	slnd_rdma_finish(post, -EIO);
}

/** slnd_rdma_events() - read the queue of block transfers. Context: sleeps. */
void slnd_rdma_events(void)
{
	gni_post_descriptor_t *done;
	struct slnd_post *post;
	gni_cq_entry_t entry;
	gni_return_t rc;

	for (;;) {
		rc = gni_cq_get_event(slnd.rdma_cq, &entry);
		if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR)
			return;
		cond_resched(); /* events may come as fast as they are read */
		rc = gni_get_completed(slnd.rdma_cq, entry, &done);
		if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR)
			continue;
		atomic_inc(&slnd.posts_left);
		post = (struct slnd_post *)(uintptr_t)done->post_id;
		if (done->status == GNI_RC_SUCCESS)
			slnd_rdma_finish(post, 0);
		else
			slnd_rdma_failed(post, entry);
		if (!list_empty_careful(&slnd.post_wait))
			slnd_wake(SLND_EV_LATER);
	}
}

/** slnd_rdma_waiting() - post transfers that have waited for space. Context: sleeps. */
void slnd_rdma_waiting(void)
{
	struct slnd_post *post, *next;
	LIST_HEAD(waiting);

	spin_lock(&slnd.lock);
	list_splice_init(&slnd.post_wait, &waiting);
	spin_unlock(&slnd.lock);
	list_for_each_entry_safe(post, next, &waiting, node)
		slnd_rdma_post(post);
}
