// SPDX-License-Identifier: GPL-2.0-only
/* Frames that wait for their turn. All of this runs under the lock of the peer's queue. */
#include <linux/jiffies.h>

#include "ipogif.h"

static void ipogif_stop_queue(struct ipogif_queue *q)
{
	q->stopped = true;
	netif_tx_stop_queue(netdev_get_tx_queue(q->ipg->dev, q->index));
}

static void ipogif_wake(struct ipogif_queue *q)
{
	if (!q->open || !q->stopped || q->waiting > READ_ONCE(q->ipg->ring) / 2)
		return;
	q->stopped = false;
	netif_tx_wake_queue(netdev_get_tx_queue(q->ipg->dev, q->index));
}

static void ipogif_drop(struct ipogif_queue *q, struct sk_buff *skb)
{
	ipogif_count(&q->tx, &q->tx.dropped);
	dev_kfree_skb_any(skb);
}

/*
 * NAPI stores what the peer has reported before it looks for waiting frames. So after queueing a
 * frame we must check for new reports, or neither side would notice the other.
 */
static void ipogif_look_again(struct ipogif_queue *q, const struct ipogif_conn *conn)
{
	smp_mb(); /* pairs with ipogif_news() */
	if (READ_ONCE(conn->news) != conn->seen)
		set_bit(IPOGIF_QUEUE_FLUSH, &q->flags);
}

/*
 * The stack is not stopped for frames that are not counted, because their peer may be gone for
 * good, or because they are copies that the stack does not know of.
 */
static void ipogif_wait(struct ipogif_peer *peer, struct sk_buff *skb, bool counted)
{
	struct ipogif_queue *q = peer->queue;

	if (!counted && skb_queue_len(&peer->waiting) >= IPOGIF_UNCONNECTED) {
		ipogif_drop(q, skb);
		return;
	}
	IPOGIF_CB(skb)->counted = counted;
	if (skb_queue_empty(&peer->waiting))
		peer->moved = jiffies;
	__skb_queue_tail(&peer->waiting, skb);
	ipogif_count(&q->tx, &q->tx.waited);
	if (list_empty(&peer->backlog))
		list_add_tail(&peer->backlog, &q->backlog);
	if (!counted)
		return;
	netdev_tx_sent_queue(netdev_get_tx_queue(q->ipg->dev, q->index), skb->len);
	if (++q->waiting >= READ_ONCE(q->ipg->ring))
		ipogif_stop_queue(q);
}

/* Remove a frame from the waiting ones. */
static void ipogif_unwait(struct ipogif_peer *peer, struct sk_buff *skb, unsigned int *frames,
			  unsigned int *bytes)
{
	__skb_unlink(skb, &peer->waiting);
	if (!IPOGIF_CB(skb)->counted)
		return;
	peer->queue->waiting--;
	(*frames)++;
	*bytes += skb->len;
}

static void ipogif_unwaited(struct ipogif_queue *q, unsigned int frames, unsigned int bytes)
{
	if (frames)
		netdev_tx_completed_queue(netdev_get_tx_queue(q->ipg->dev, q->index), frames,
					  bytes);
	ipogif_wake(q);
}

/* Return: false if it has to wait. */
static bool ipogif_try(struct ipogif_conn *conn, struct sk_buff *skb)
{
	struct ipogif_queue *q = conn->txq;
	unsigned int bytes = skb->len;

	switch (ipogif_send_frame(conn, skb)) {
	case IPOGIF_BUSY:
		return false;
	case IPOGIF_HOPELESS:
		ipogif_drop(q, skb);
		return true;
	case IPOGIF_SENT:
		dev_consume_skb_any(skb);
		break;
	case IPOGIF_ON_ITS_WAY:
		break; /* the slot owns it now */
	}
	conn->peer->moved = jiffies;
	conn->peer->stuck = false;
	ipogif_count(&q->tx, &q->tx.packets);
	ipogif_stat_add(&q->tx, &q->tx.bytes, bytes);
	return true;
}

/**
 * ipogif_xmit_peer() - send a frame, or queue it
 * @peer: receiver
 * @skb: frame
 * @counts: the stack has sent it on its queue of the same number, whose lock is held. So that queue
 *	may be stopped until the frame is sent.
 *
 * Context: softirqs disabled, which is all that pktgen has in place of RCU's lock.
 */
void ipogif_xmit_peer(struct ipogif_peer *peer, struct sk_buff *skb, bool counts)
{
	struct ipogif_queue *q = peer->queue;
	struct ipogif_conn *conn;

	spin_lock(&q->lock);
	conn = rcu_dereference_bh(peer->conn);
	if (!conn) {
		if (peer->failures && time_before(jiffies, peer->pause)) {
			ipogif_drop(q, skb);
		} else {
			ipogif_wait(peer, skb, false);
			if (!peer->wanted) {
				peer->wanted = true;
				queue_work(ipogif_wq, &q->ipg->work);
			}
		}
	} else if (!skb_queue_empty(&peer->waiting) || !ipogif_try(conn, skb)) {
		ipogif_wait(peer, skb, counts && !peer->stuck);
		ipogif_look_again(q, conn);
	}
	ipogif_unlock(q);
}

/**
 * ipogif_flush() - send as many waiting frames as possible
 * @peer: receiver
 *
 * Context: ipogif_queue.lock held, softirqs disabled.
 */
void ipogif_flush(struct ipogif_peer *peer)
{
	struct ipogif_conn *conn = rcu_dereference_bh(peer->conn);
	unsigned int frames = 0, bytes = 0;
	struct sk_buff *skb;

	if (!conn)
		return;
	list_del_init(&peer->backlog);
	ipogif_send_ready(conn);
	while ((skb = skb_peek(&peer->waiting))) {
		/* the frame may be freed by the attempt, so take it off the list first */
		ipogif_unwait(peer, skb, &frames, &bytes);
		if (ipogif_try(conn, skb))
			continue;
		__skb_queue_head(&peer->waiting, skb);
		if (IPOGIF_CB(skb)->counted) {
			peer->queue->waiting++;
			frames--;
			bytes -= skb->len;
		}
		break;
	}
	if (test_bit(IPOGIF_CONN_TELL, &conn->flags) && ipogif_control(conn, IPOGIF_STATE, NULL, 0))
		clear_bit(IPOGIF_CONN_TELL, &conn->flags);
	if (!skb_queue_empty(&peer->waiting)) {
		if (list_empty(&peer->backlog))
			list_add_tail(&peer->backlog, &peer->queue->backlog);
		ipogif_look_again(peer->queue, conn);
	}
	ipogif_unwaited(peer->queue, frames, bytes);
}

/** ipogif_flush_backlog() - the same for all peers of a queue. Context: as ipogif_flush(). */
void ipogif_flush_backlog(struct ipogif_queue *q)
{
	struct ipogif_peer *peer;
	LIST_HEAD(behind);

	list_splice_init(&q->backlog, &behind);
	while ((peer = list_first_entry_or_null(&behind, struct ipogif_peer, backlog))) {
		list_move_tail(&peer->backlog, &q->backlog);
		ipogif_flush(peer);
	}
}

/** ipogif_drop_waiting() - drop the waiting frames of a peer. Context: ipogif_queue.lock held. */
void ipogif_drop_waiting(struct ipogif_peer *peer)
{
	unsigned int frames = 0, bytes = 0;
	struct sk_buff *skb;

	while ((skb = skb_peek(&peer->waiting))) {
		ipogif_unwait(peer, skb, &frames, &bytes);
		ipogif_drop(peer->queue, skb);
	}
	list_del_init(&peer->backlog);
	ipogif_unwaited(peer->queue, frames, bytes);
}
