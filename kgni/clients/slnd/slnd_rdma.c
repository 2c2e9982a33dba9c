// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bulk data, on the side that moves them. The initiator has registered its memory and asked. Our
 * user supplies memory, one block transfer moves the data, for a put of the initiator a get and for
 * a get a put, and the answer is DONE.
 */
#include <linux/highmem.h>
#include <linux/log2.h>

#include "slnd_priv.h"

#define SLND_RETRIES 5
#define SLND_GET_ALIGN 4

struct slnd_rdma {
	struct list_head node;	/* in slnd.rdmaq while there is no space */
	struct slnd_conn *conn; /* on which the peer has asked; counted there */
	u32 id;			/* that the peer has given it */
	struct slnd_buffer *buffer;
	void *bounce; /* replaces @buffer, for a get that is not aligned */
	u32 skip;     /* bytes in @bounce before those that are wanted */
	unsigned int attempts;
	gni_post_descriptor_t desc;
};

static void slnd_rdma_answer(struct slnd_conn *conn, u32 id, int status)
{
	slnd_tx_say(conn, (struct slnd_msg){ .type = SLND_DONE, .id = id, .status = status });
}

/* Copy what a get has brought to where it is wanted. */
static void slnd_rdma_unbounce(struct slnd_rdma *rdma)
{
	u32 left = rdma->buffer->bytes, offset = rdma->buffer->offset, bytes, i;
	const u8 *from = rdma->bounce + rdma->skip;

	for (i = 0; left; i++, left -= bytes, from += bytes, offset = 0) {
		bytes = min_t(u32, left, PAGE_SIZE - offset);
		memcpy_to_page(rdma->buffer->pages[i], offset, from, bytes);
	}
}

static void slnd_rdma_end(struct slnd_rdma *rdma, int status)
{
	slnd_rdma_answer(rdma->conn, rdma->id, status);
	if (rdma->bounce) {
		gni_mem_deregister(slnd.nic, &rdma->desc.local_mem_hndl, 0);
		if (!status)
			slnd_rdma_unbounce(rdma);
		kvfree(rdma->bounce);
	}
	if (status)
		slnd.counters.bulks_failed++;
	rdma->buffer->done(rdma->buffer, status);
	atomic_dec(&slnd.user_ops);
	slnd_conn_put(rdma->conn);
	kfree(rdma);
}

/* Post a transfer, or keep it until another has ended, because the queue must not overrun. */
static void slnd_rdma_post(struct slnd_rdma *rdma)
{
	gni_return_t rc = GNI_RC_ERROR_RESOURCE;

	if (rdma->conn->state == SLND_CLOSED)
		rc = GNI_RC_INVALID_STATE;
	else if (slnd.posts_left)
		rc = gni_post_rdma(rdma->conn->ep, &rdma->desc);
	if (rc == GNI_RC_SUCCESS) {
		slnd.posts_left--;
		rdma->attempts++;
	} else if (rc == GNI_RC_ERROR_RESOURCE) {
		slnd.counters.posts_refused++;
		list_add_tail(&rdma->node, &slnd.rdmaq);
		slnd_stall();
	} else {
		slnd_rdma_end(rdma, -EIO);
	}
}

/*
 * A get needs addresses and a length that are multiples of four. Otherwise get more, which is there
 * because whole pages are registered, into a bounce buffer. The NIC writes to that, so it must not
 * share a cache line: its size is a power of two, to which it is aligned then.
 */
static int slnd_rdma_bounce(struct slnd_rdma *rdma, gni_post_descriptor_t *d)
{
	rdma->skip = d->remote_addr % SLND_GET_ALIGN;
	d->remote_addr -= rdma->skip;
	d->length = ALIGN(rdma->skip + d->length, SLND_GET_ALIGN);
	rdma->bounce = kvmalloc(max_t(size_t, roundup_pow_of_two(d->length), SMP_CACHE_BYTES),
				GFP_KERNEL);
	d->local_addr = (uintptr_t)rdma->bounce;
	slnd.counters.bounced++;
	if (rdma->bounce &&
	    gni_mem_register(slnd.nic, d->local_addr, d->length, NULL, GNI_MEM_READWRITE,
			     &d->local_mem_hndl) == GNI_RC_SUCCESS)
		return 0;
	kvfree(rdma->bounce);
	rdma->bounce = NULL;
	return -ENOMEM;
}

static int slnd_rdma_prepare(struct slnd_rdma *rdma, const struct slnd_msg *msg)
{
	bool get = msg->type == SLND_PUT_REQ;
	gni_post_descriptor_t *d = &rdma->desc;

	*d = (gni_post_descriptor_t){
		.type = get ? GNI_POST_RDMA_GET : GNI_POST_RDMA_PUT,
		.cq_mode = GNI_CQMODE_GLOBAL_EVENT,
		.dlvr_mode = GNI_DLVMODE_PERFORMANCE,
		.post_id = (uintptr_t)rdma,
		.local_addr = rdma->buffer->offset,
		.remote_addr = msg->address,
		.remote_mem_hndl = msg->handle,
		.length = rdma->buffer->bytes,
		.src_cq_hndl = slnd.rdma_cq,
	};
	if (get && (d->local_addr | d->remote_addr | d->length) % SLND_GET_ALIGN)
		return slnd_rdma_bounce(rdma, d);
	if (slnd_map(rdma->buffer))
		return -ENOMEM;
	d->local_mem_hndl = rdma->buffer->handle;
	return 0;
}

/* A peer wants to put, or to get. */
void slnd_rdma_req(struct slnd_conn *conn, const struct slnd_msg *msg)
{
	struct slnd_rdma *rdma = kzalloc(sizeof(*rdma), GFP_KERNEL);
	struct slnd_buffer *buffer = ERR_PTR(rdma ? -ENXIO : -ENOMEM);

	if (rdma && slnd.user)
		buffer = slnd.user->expose(msg->type == SLND_PUT_REQ, msg->bytes, msg->tag);
	if (IS_ERR(buffer)) {
		slnd_rdma_answer(conn, msg->id, PTR_ERR(buffer));
		kfree(rdma);
		return;
	}
	slnd.counters.exposures++;
	atomic_inc(&slnd.user_ops);
	conn->in_flight++;
	rdma->conn = conn;
	rdma->id = msg->id;
	rdma->buffer = buffer;
	if (slnd_rdma_prepare(rdma, msg))
		slnd_rdma_end(rdma, -ENOMEM);
	else
		slnd_rdma_post(rdma);
}

/* A transfer has failed. If the error is recoverable it is posted again unchanged. */
static void slnd_rdma_failed(struct slnd_rdma *rdma, gni_cq_entry_t entry)
{
	u32 recoverable = 0;
	char why[64] = "?";

	if (gni_cq_error_recoverable(entry, &recoverable) == GNI_RC_SUCCESS && recoverable &&
	    rdma->attempts <= SLND_RETRIES) {
		slnd.counters.posts_repeated++;
		slnd_rdma_post(rdma);
		return;
	}
	gni_cq_error_str(entry, why, sizeof(why));
	pr_info_ratelimited("slnd: transfer with %#x: %s after %u attempts\n",
			    rdma->conn->peer->address, why, rdma->attempts);
	slnd_rdma_end(rdma, -EIO);
}

/* Read the queue of transfers that have ended. Context: scheduler. */
void slnd_rdma_events(void)
{
	gni_post_descriptor_t *done;
	struct slnd_rdma *rdma;
	gni_cq_entry_t entry;
	gni_return_t rc;

	for (;;) {
		rc = gni_cq_get_event(slnd.rdma_cq, &entry);
		if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR)
			break;
		cond_resched(); /* events may come as fast as they are read */
		rc = gni_get_completed(slnd.rdma_cq, entry, &done);
		if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR)
			continue;
		slnd.posts_left++;
		rdma = (struct slnd_rdma *)(uintptr_t)done->post_id;
		if (done->status == GNI_RC_SUCCESS)
			slnd_rdma_end(rdma, 0);
		else
			slnd_rdma_failed(rdma, entry);
	}
	slnd_rdma_retry();
}

/* Post what has waited for space. Context: scheduler. */
void slnd_rdma_retry(void)
{
	struct slnd_rdma *rdma, *next;
	LIST_HEAD(waiting);

	list_splice_init(&slnd.rdmaq, &waiting);
	list_for_each_entry_safe(rdma, next, &waiting, node)
		slnd_rdma_post(rdma);
}
