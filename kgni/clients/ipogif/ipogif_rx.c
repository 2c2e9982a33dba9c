// SPDX-License-Identifier: GPL-2.0-only
/* NAPI: received messages, and other work in softirq context. */
#include "ipogif.h"

/* Return: the frame; NULL if there is no memory, or if the frame is invalid. */
static struct sk_buff *ipogif_frame(struct ipogif_conn *conn, const struct ipogif_wire *wire,
				    const void *data)
{
	struct ipogif_queue *q = conn->rxq;
	struct sk_buff *skb;

	skb = napi_alloc_skb(&q->napi, wire->bytes);
	if (skb)
		skb_put_data(skb, data, wire->bytes);
	if (wire->rest)
		skb = ipogif_pool_take(conn, skb, wire->buffer, wire->rest);
	if (!skb)
		return NULL;
	if (wire->offload.flags & VIRTIO_NET_HDR_F_DATA_VALID)
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	if (virtio_net_hdr_to_skb(skb, &wire->offload, true)) {
		dev_kfree_skb_any(skb);
		return NULL;
	}
	return skb;
}

static void ipogif_deliver(struct ipogif_queue *q, struct sk_buff *skb)
{
	ipogif_count(&q->rx, &q->rx.packets);
	ipogif_stat_add(&q->rx, &q->rx.bytes, skb->len);
	skb_record_rx_queue(skb, q->index);
	skb->protocol = eth_type_trans(skb, q->ipg->dev);
	napi_gro_receive(&q->napi, skb);
}

/* Account for what the peer has received, and for its buffers that are free again. */
static void ipogif_news(struct ipogif_conn *conn, const struct ipogif_wire *wire,
			const struct ipogif_offer *offer)
{
	struct ipogif_queue *q = conn->txq;

	if (wire->received == conn->acknowledged && !wire->freed && !offer)
		return;
	if (offer) {
		spin_lock(&q->lock);
		conn->there = *offer;
		ipogif_unlock(q);
	}
	WRITE_ONCE(conn->acknowledged, wire->received);
	if (wire->freed)
		atomic64_or(wire->freed, &conn->returned);
	/* pairs with ipogif_send_frame(): a thread that sees this sees the two above */
	smp_store_release(&conn->news, conn->news + 1);
	smp_mb(); /* pairs with ipogif_look_again() */
	if (list_empty_careful(&conn->peer->backlog))
		return;
	set_bit(IPOGIF_QUEUE_FLUSH, &q->flags);
	if (q != conn->rxq)
		napi_schedule(&q->napi);
}

/*
 * Tell the peer what we have received and which buffers are free, if half of the window or a
 * quarter of the buffers has accumulated.
 */
static void ipogif_tell(struct ipogif_conn *conn, bool now)
{
	unsigned int freed = hweight64(atomic64_read(&conn->pool.freed));

	if (!now && (u16)(conn->received - READ_ONCE(conn->told)) < IPOGIF_WINDOW / 2 &&
	    (!freed || freed < conn->pool.buffers / 4))
		return;
	spin_lock(&conn->txq->lock);
	if (!ipogif_control(conn, IPOGIF_STATE, NULL, 0))
		set_bit(IPOGIF_CONN_TELL, &conn->flags);
	ipogif_unlock(conn->txq);
}

static void ipogif_message(struct ipogif_conn *conn, const struct ipogif_wire *wire,
			   const void *data, struct sk_buff **skb)
{
	struct ipogif_offer offer;

	switch (wire->type) {
	case IPOGIF_FRAME:
		*skb = ipogif_frame(conn, wire, data);
		if (!*skb)
			ipogif_count(&conn->rxq->rx, &conn->rxq->rx.dropped);
		WRITE_ONCE(conn->received, conn->received + 1);
		WRITE_ONCE(conn->used, jiffies);
		break;
	case IPOGIF_OFFER:
		memcpy(&offer, data, sizeof(offer));
		if (offer.bytes == IPOGIF_BUFFER)
			ipogif_news(conn, wire, &offer);
		return;
	case IPOGIF_ASK:
		set_bit(IPOGIF_CONN_OFFER, &conn->flags);
		queue_work(ipogif_wq, &conn->ipg->work);
		break;
	case IPOGIF_CLOSE:
		set_bit(IPOGIF_CONN_CLEAN, &conn->flags);
		ipogif_conn_fail(conn, NULL);
		break;
	default:
		break; /* a STATE or PING has only what is in every message */
	}
	ipogif_news(conn, wire, NULL);
}

/* Return: false if there was no message. */
static bool ipogif_receive(struct ipogif_conn *conn)
{
	struct sk_buff *skb = NULL;
	struct ipogif_wire wire;
	unsigned int buffers;
	gni_return_t rc;
	void *message;

	if (!test_bit(IPOGIF_CONN_UP, &conn->flags))
		return false;
	rc = gni_smsg_getnext(conn->ep, &message);
	if (rc != GNI_RC_SUCCESS) {
		if (rc != GNI_RC_NOT_DONE)
			ipogif_conn_fail(conn, "its mailbox is damaged");
		return false;
	}
	buffers = smp_load_acquire(&conn->pool.buffers); /* pairs with ipogif_pool_make() */
	if (!ipogif_wire_read(&wire, message, conn->mailbox + conn->mailbox_bytes, buffers)) {
		ipogif_conn_fail(conn, "a message makes no sense");
		return false;
	}
	ipogif_count(&conn->rxq->rx, &conn->rxq->rx.events);
	WRITE_ONCE(conn->heard, jiffies);
	ipogif_message(conn, &wire, message + sizeof(wire), &skb);
	gni_smsg_release(conn->ep);
	ipogif_tell(conn, wire.type == IPOGIF_PING);
	if (skb)
		ipogif_deliver(conn->rxq, skb);
	return true;
}

/*
 * Look for messages without an event. They arrived before the connection was up, or when the queue
 * had overrun.
 */
static int ipogif_drain(struct ipogif_queue *q, int budget)
{
	unsigned int i;
	int done = 0;

	for (i = 0; i < IPOGIF_CONNS && done < budget; i++) {
		struct ipogif_conn *conn = rcu_dereference(q->ipg->conns[i]);

		if (!conn || conn->rxq != q)
			continue;
		while (done < budget && ipogif_receive(conn))
			done++;
	}
	/* the next run continues */
	if (done == budget)
		set_bit(IPOGIF_QUEUE_DRAIN, &q->flags);
	return done;
}

static int ipogif_events(struct ipogif_queue *q, int budget)
{
	int done = 0;

	while (done < budget) {
		struct ipogif_conn *conn;
		gni_cq_entry_t entry;
		gni_return_t rc = gni_cq_get_event(q->rx_cq, &entry);

		if (rc == GNI_RC_NOT_DONE || rc == GNI_RC_INVALID_PARAM)
			break;
		done++;
		if (rc == GNI_RC_ERROR_RESOURCE) {
			set_bit(IPOGIF_QUEUE_DRAIN, &q->flags);
			continue;
		}
		conn = ipogif_conn_find(q->ipg, GNI_CQ_GET_REM_INST_ID(entry));
		if (rc == GNI_RC_SUCCESS && conn)
			ipogif_receive(conn);
	}
	return done;
}

/*
 * The part of NAPI's work that needs the lock. If the lock is taken it is left to the next run,
 * which the holder of the lock schedules.
 */
static void ipogif_serve(struct ipogif_queue *q)
{
	const unsigned long work = BIT(IPOGIF_QUEUE_SERVE) | BIT(IPOGIF_QUEUE_FLUSH);

	if (!READ_ONCE(q->posts) && !(READ_ONCE(q->flags) & work))
		return;
	set_bit(IPOGIF_QUEUE_SERVE, &q->flags);
	smp_mb__after_atomic(); /* pairs with ipogif_unlock() */
	if (!spin_trylock(&q->lock))
		return;
	clear_bit(IPOGIF_QUEUE_SERVE, &q->flags);
	ipogif_reap(q);
	if (test_and_clear_bit(IPOGIF_QUEUE_FLUSH, &q->flags))
		ipogif_flush_backlog(q);
	ipogif_unlock(q);
}

/** ipogif_poll() - the NAPI function. Context: softirq. Return: number of messages. */
int ipogif_poll(struct napi_struct *napi, int budget)
{
	struct ipogif_queue *q = container_of(napi, struct ipogif_queue, napi);
	int done = 0;

	rcu_read_lock();
	ipogif_count(&q->rx, &q->rx.polls);
	if (budget)
		done = ipogif_events(q, budget);
	if (done < budget && test_and_clear_bit(IPOGIF_QUEUE_DRAIN, &q->flags))
		done += ipogif_drain(q, budget - done);
	/* after the messages, which may have brought buffers and credits */
	ipogif_serve(q);
	rcu_read_unlock();
	if (done < budget)
		napi_complete_done(napi, done);
	return done;
}
