// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sending frames. A frame that fits is sent inside a message. Of a larger frame only the beginning
 * is. The rest is put from where it is into a buffer of the receiver, by physical address and
 * without a copy on this side. The message follows when all puts have completed. Frames of a
 * connection stay in order.
 *
 * If the NIC has carried out a put while it was posted, the event is there already. So the queue is
 * read after each frame, but only as long as puts are in flight. Interrupts then come only from
 * puts that had not completed by that time, because it is reading an empty queue that arms it.
 */
#include <linux/highmem.h>

#include "ipogif.h"

static void ipogif_piece(struct ipogif_slot *slot, u64 physical, unsigned int bytes, u64 *remote)
{
	gni_post_descriptor_t *put = &slot->put[slot->pieces++];

	*put = (gni_post_descriptor_t){
		.type = GNI_POST_RDMA_PUT,
		.post_id = (uintptr_t)slot,
		.cq_mode = GNI_CQMODE_GLOBAL_EVENT,
		.dlvr_mode = GNI_DLVMODE_PERFORMANCE,
		.rdma_mode = GNI_RDMAMODE_PHYS_ADDR,
		.local_addr = physical,
		.remote_addr = *remote,
		.remote_mem_hndl = slot->conn->there.handle,
		.length = bytes,
		.src_cq_hndl = slot->conn->txq->put_cq,
	};
	*remote += bytes;
}

/* Prepare the puts for everything in the frame that is not in the message. */
static void ipogif_cut(struct ipogif_slot *slot)
{
	const struct sk_buff *skb = slot->skb;
	u64 remote = slot->conn->there.address + (u64)slot->wire.buffer * IPOGIF_BUFFER;
	unsigned int i;

	if (skb_headlen(skb) > slot->wire.bytes)
		ipogif_piece(slot, virt_to_phys(skb->data + slot->wire.bytes),
			     skb_headlen(skb) - slot->wire.bytes, &remote);
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		const skb_frag_t *frag = &skb_shinfo(skb)->frags[i];

		ipogif_piece(slot, page_to_phys(skb_frag_page(frag)) + skb_frag_off(frag),
			     skb_frag_size(frag), &remote);
	}
}

static void ipogif_post(struct ipogif_slot *slot)
{
	struct ipogif_conn *conn = slot->conn;

	while (slot->posted < slot->pieces) {
		gni_return_t rc;

		/* NAPI may see the event before the call has returned */
		WRITE_ONCE(conn->txq->posts, conn->txq->posts + 1);
		rc = gni_post_rdma(conn->ep, &slot->put[slot->posted]);
		if (rc != GNI_RC_SUCCESS)
			WRITE_ONCE(conn->txq->posts, conn->txq->posts - 1);
		if (rc == GNI_RC_ERROR_RESOURCE) {
			ipogif_stalled(conn);
			return;
		}
		if (rc != GNI_RC_SUCCESS) {
			slot->failed = true;
			slot->posted = slot->pieces;
			ipogif_conn_fail(conn, "puts are refused");
			return;
		}
		slot->posted++;
		slot->puts++;
	}
}

static const void *ipogif_beginning(struct ipogif_queue *q, const struct sk_buff *skb,
				    unsigned int bytes)
{
	if (bytes <= skb_headlen(skb))
		return skb->data;
	return skb_copy_bits(skb, 0, q->scratch, bytes) ? NULL : q->scratch;
}

static void ipogif_slot_free(struct ipogif_slot *slot)
{
	list_move_tail(&slot->node, &slot->conn->txq->free_slots);
	slot->skb = NULL;
}

/**
 * ipogif_send_ready() - continue with the frames in flight of a connection
 * @conn: connection
 *
 * Of a connection that is to be torn down only what is in flight goes on.
 *
 * Context: ipogif_queue.lock held.
 */
void ipogif_send_ready(struct ipogif_conn *conn)
{
	struct ipogif_slot *slot;

	if (test_bit(IPOGIF_CONN_DEAD, &conn->flags))
		return;
	list_for_each_entry(slot, &conn->sending, node)
		if (slot->posted < slot->pieces)
			ipogif_post(slot);
	while ((slot = list_first_entry_or_null(&conn->sending, struct ipogif_slot, node))) {
		if (slot->posted < slot->pieces || slot->puts ||
		    test_bit(IPOGIF_CONN_DEAD, &conn->flags))
			return;
		if (slot->failed) {
			conn->there_free |= BIT_ULL(slot->wire.buffer);
			conn->sent--;
			ipogif_count(&conn->txq->tx, &conn->txq->tx.dropped);
			dev_kfree_skb_any(slot->skb);
		} else {
			if (!ipogif_send(conn, &slot->wire,
					 ipogif_beginning(conn->txq, slot->skb, slot->wire.bytes)))
				return;
			dev_consume_skb_any(slot->skb);
		}
		ipogif_slot_free(slot);
	}
}

/* A put has completed. */
static void ipogif_completed(struct ipogif_queue *q, gni_cq_entry_t entry)
{
	gni_post_descriptor_t *put;
	struct ipogif_slot *slot;
	gni_return_t rc = gni_get_completed(q->put_cq, entry, &put);
	u32 recoverable = 0;

	if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR)
		return;
	WRITE_ONCE(q->posts, q->posts - 1);
	slot = (struct ipogif_slot *)(uintptr_t)put->post_id;
	slot->puts--;
	if (rc != GNI_RC_SUCCESS) {
		/* the frame is lost; the kind of error tells whether the connection is lost, too */
		slot->failed = true;
		if (gni_cq_error_recoverable(entry, &recoverable) != GNI_RC_SUCCESS || !recoverable)
			ipogif_conn_fail(slot->conn, "a put did not get through");
	}
	if (!slot->puts)
		ipogif_send_ready(slot->conn);
}

/** ipogif_reap() - read the events of puts. Context: ipogif_queue.lock held. */
void ipogif_reap(struct ipogif_queue *q)
{
	gni_cq_entry_t entry;

	while (q->posts) {
		gni_return_t rc = gni_cq_get_event(q->put_cq, &entry);

		if (rc != GNI_RC_SUCCESS && rc != GNI_RC_TRANSACTION_ERROR)
			return;
		ipogif_completed(q, entry);
	}
}

/* Take a buffer of the peer for the frame. Return: false if none is free now. */
static bool ipogif_buffer(struct ipogif_conn *conn, struct ipogif_wire *wire)
{
	if (!wire->rest)
		return true;
	if (!conn->there.buffers && !test_bit(IPOGIF_CONN_ASKED, &conn->flags) &&
	    ipogif_control(conn, IPOGIF_ASK, NULL, 0))
		set_bit(IPOGIF_CONN_ASKED, &conn->flags);
	if (!conn->there_free)
		conn->there_free = atomic64_xchg(&conn->returned, 0);
	if (!conn->there_free)
		return false;
	wire->buffer = __ffs64(conn->there_free);
	conn->there_free &= conn->there_free - 1;
	return true;
}

static enum ipogif_tx ipogif_send_in_turn(struct ipogif_conn *conn, struct sk_buff *skb,
					  struct ipogif_wire *wire)
{
	struct ipogif_queue *q = conn->txq;
	struct ipogif_slot *slot =
		list_first_entry_or_null(&q->free_slots, struct ipogif_slot, node);

	if (!slot || !ipogif_buffer(conn, wire))
		return IPOGIF_BUSY;
	slot->skb = skb;
	slot->conn = conn;
	slot->wire = *wire;
	slot->pieces = 0;
	slot->posted = 0;
	slot->puts = 0;
	slot->failed = false;
	if (wire->rest)
		ipogif_cut(slot);
	list_move_tail(&slot->node, &conn->sending);
	conn->sent++;
	ipogif_post(slot);
	if (wire->rest)
		ipogif_count(&q->tx, &q->tx.buffered);
	ipogif_reap(q);
	return IPOGIF_ON_ITS_WAY;
}

/**
 * ipogif_send_frame() - send a frame
 * @conn: connection
 * @skb: frame
 *
 * Context: ipogif_queue.lock held. Return: IPOGIF_SENT; IPOGIF_ON_ITS_WAY if it is in flight and
 * belongs to the connection now; IPOGIF_BUSY if there is no space now; IPOGIF_HOPELESS if it can
 * never be sent.
 */
enum ipogif_tx ipogif_send_frame(struct ipogif_conn *conn, struct sk_buff *skb)
{
	struct ipogif_wire wire = { .type = IPOGIF_FRAME };

	conn->seen = smp_load_acquire(&conn->news); /* pairs with ipogif_news() */
	if ((u16)(conn->sent - READ_ONCE(conn->acknowledged)) >= IPOGIF_WINDOW)
		return IPOGIF_BUSY;
	if (skb->len <= IPOGIF_INLINE)
		wire.bytes = skb->len;
	else
		wire.bytes = skb_headlen(skb) <= IPOGIF_INLINE ? skb_headlen(skb) : IPOGIF_HEADERS;
	wire.rest = skb->len - wire.bytes;
	if (wire.rest > IPOGIF_BUFFER || virtio_net_hdr_from_skb(skb, &wire.offload, true, true, 0))
		return IPOGIF_HOPELESS;
	WRITE_ONCE(conn->used, jiffies);
	if (wire.rest || !list_empty(&conn->sending))
		return ipogif_send_in_turn(conn, skb, &wire);
	if (!ipogif_send(conn, &wire, ipogif_beginning(conn->txq, skb, wire.bytes)))
		return IPOGIF_BUSY;
	conn->sent++;
	ipogif_count(&conn->txq->tx, &conn->txq->tx.inlined);
	return IPOGIF_SENT;
}

/*
 * ipogif_sending_drop() - drop the frames in flight of a connection. Context: ipogif_queue.lock
 * held.
 */
void ipogif_sending_drop(struct ipogif_conn *conn)
{
	struct ipogif_slot *slot;

	while ((slot = list_first_entry_or_null(&conn->sending, struct ipogif_slot, node))) {
		ipogif_count(&conn->txq->tx, &conn->txq->tx.dropped);
		dev_kfree_skb_any(slot->skb);
		ipogif_slot_free(slot);
	}
}
