// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages to and from the driver of another node. As long as both run, each message is delivered
 * once and in order. One message is in flight in each direction. It is retransmitted until it is
 * acknowledged. Each side identifies its end of the connection by a random epoch. So a node that
 * has rebooted, or that was given up as lost, starts afresh, and its peer notices.
 *
 * The contents of a slot were written by another machine. So they are copied once, and then the
 * copy is checked.
 */
#include <linux/crc32.h>
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "aries_dgram.h"

#define ARIES_TX_PAUSE_MIN (HZ / 5)
#define ARIES_TX_PAUSE_MAX HZ
/* A peer counts as lost after this time if puts to it fail, or if it does not answer. */
#define ARIES_TX_FAILED (10 * HZ)
#define ARIES_TX_SILENT (60 * HZ)

/*
 * CRC-32 (IEEE 802.3, as in Ethernet and zip) of a message as it is on the wire. It is the same in
 * all kernel versions, because a peer may run another one.
 */
static u32 aries_check(const void *data, size_t bytes)
{
	return ~crc32_le(~0, data, bytes);
}

/* The message in flight has ended. The next one gets the next sequence number. */
static void aries_peer_pop(struct aries_chan *ch, struct aries_peer *peer)
	__must_hold(&ch->lock)
{
	if (!peer->busy)
		return;
	peer->busy = false;
	peer->tx_seq++;
	aries_flow_landed(ch, peer);
}

/*
 * The other side has lost everything that was in progress. The caller has to call
 * aries_dg_settle().
 */
static void aries_peer_flush(struct aries_chan *ch, struct aries_peer *peer, bool lost)
	__must_hold(&ch->lock)
{
	aries_peer_pop(ch, peer);
	peer->rx_any = false;
	peer->restarted = true;
	peer->lost = lost;
	list_splice_tail_init(&peer->dgrams, &peer->old_dgrams);
	list_splice_tail_init(&peer->earlies, &peer->old_earlies);
	aries_flow_forget(peer);
}

/* The other side has started afresh. */
static void aries_peer_restart(struct aries_chan *ch, struct aries_peer *peer, u64 epoch)
	__must_hold(&ch->lock)
{
	aries_peer_flush(ch, peer, false);
	peer->epoch = epoch;
}

static void aries_peer_lost(struct aries_chan *ch, struct aries_peer *peer)
	__must_hold(&ch->lock)
{
	aries_peer_flush(ch, peer, true);
	peer->epoch = 0;
	peer->own_epoch = aries_epoch_new();
	ch->lost++;
}

static u32 aries_peer_own_slot(struct aries_chan *ch)
{
	return (ch->ad->pe & (ch->slots - 1)) * ARIES_SLOT_BYTES;
}

static void aries_peer_ack(struct aries_chan *ch, const struct aries_msg *msg, u64 epoch,
			   bool stale)
{
	u32 pe = le32_to_cpu(msg->src);
	struct aries_ack ack = { .src = cpu_to_le32(ch->ad->pe),
				 .seq = msg->seq,
				 .to_epoch = msg->src_epoch,
				 .epoch = cpu_to_le64(epoch),
				 .stale = cpu_to_le32(stale) };

	ack.check = cpu_to_le32(aries_check(&ack, offsetof(struct aries_ack, check)));
	/* if the acknowledgment is lost the message is retransmitted */
	aries_chan_put(ch, pe, aries_peer_own_slot(ch) + ARIES_SLOT_ACK, &ack, sizeof(ack),
		       ch->ad->pe | ARIES_CHAN_EVENT_ACK);
}

/* Warn once per peer: the administrator has to install the same driver version on both nodes. */
static void aries_peer_foreign(struct aries_chan *ch, struct aries_peer *peer, const char *what)
{
	if (peer->warned)
		return;
	peer->warned = true;
	dev_warn(&ch->ad->dev, "node %u: %s; no datagrams with it until both have the same driver\n",
		 peer->pe, what);
}

/* In a message of another version only the first members and the slot are valid. */
static void aries_peer_rx_foreign(struct aries_chan *ch, u32 slot, const struct aries_msg *msg)
{
	u32 magic = le32_to_cpu(msg->magic), src = le32_to_cpu(msg->src);
	struct aries_peer *peer;

	if ((magic ^ ARIES_MSG_MAGIC) & ARIES_MSG_MAGIC_MASK || magic == ARIES_MSG_MAGIC)
		return;
	if (src >= ch->ad->nodes || src == ch->ad->pe || (src & (ch->slots - 1)) != slot)
		return;
	peer = aries_peer_get(ch, src);
	if (peer)
		aries_peer_foreign(ch, peer, "its messages are of another version");
}

static bool aries_msg_valid(struct aries_chan *ch, u32 slot, const struct aries_msg *msg)
{
	u32 src = le32_to_cpu(msg->src);
	u16 type = le16_to_cpu(msg->type);

	return le32_to_cpu(msg->magic) == ARIES_MSG_MAGIC &&
	       le64_to_cpu(msg->check) == aries_check(msg, offsetof(struct aries_msg, check)) &&
	       src < ch->ad->nodes && src != ch->ad->pe && (src & (ch->slots - 1)) == slot &&
	       type && type <= ARIES_MSG_LAST && le16_to_cpu(msg->len) <= KGNI_DGRAM_BYTES &&
	       !msg->reserved && msg->src_epoch;
}

/* Return: whether the message is the next one. If not, it must be ignored. */
static bool aries_peer_in_order(struct aries_chan *ch, struct aries_peer *peer,
				const struct aries_msg *msg)
	__must_hold(&ch->lock)
{
	u64 epoch = le64_to_cpu(msg->src_epoch);
	u32 seq = le32_to_cpu(msg->seq);

	if (!peer->epoch) {
		peer->epoch = epoch;
		peer->rx_any = false;
	} else if (peer->epoch != epoch) {
		aries_peer_restart(ch, peer, epoch);
	}
	if (peer->rx_any && seq != peer->rx_seq + 1)
		return false;
	peer->rx_any = true;
	peer->rx_seq = seq;
	return true;
}

static bool aries_peer_again(const struct aries_peer *peer, const struct aries_msg *msg)
{
	return peer->rx_any && peer->epoch == le64_to_cpu(msg->src_epoch) &&
	       peer->rx_seq == le32_to_cpu(msg->seq);
}

static bool aries_spare_fill(struct aries_spare *spare)
{
	if (!spare->note)
		spare->note = kzalloc(sizeof(*spare->note), GFP_KERNEL);
	if (!spare->early)
		spare->early = kzalloc(sizeof(*spare->early), GFP_KERNEL);
	if (!spare->flow)
		spare->flow = kzalloc(sizeof(*spare->flow), GFP_KERNEL);
	return spare->note && spare->early && spare->flow;
}

static void aries_peer_take(struct aries_chan *ch, struct aries_peer *peer,
			    const struct aries_msg *msg)
{
	bool taken;

	/* without memory the message is not acknowledged, so it will be retransmitted */
	if (!aries_spare_fill(&ch->spare))
		return;
	spin_lock_irq(&ch->lock);
	taken = aries_peer_in_order(ch, peer, msg);
	spin_unlock_irq(&ch->lock);
	aries_dg_settle(ch, peer);
	if (!taken)
		return;
	spin_lock_irq(&ch->lock);
	aries_dg_message(ch, peer, msg, &ch->spare);
	spin_unlock_irq(&ch->lock);
	aries_peer_ack(ch, msg, peer->own_epoch, false);
}

/**
 * aries_peer_rx_msg() - handle the message in a slot
 * @ch: channel
 * @slot: number of the slot
 * @hinted: an event said that it was just put; otherwise a message that was handled before is
 *          ignored
 *
 * Context: the work item.
 */
void aries_peer_rx_msg(struct aries_chan *ch, u32 slot, bool hinted)
{
	struct aries_peer *peer;
	struct aries_msg msg;
	u64 dst;

	memcpy(&msg, ch->area + slot * ARIES_SLOT_BYTES, sizeof(msg));
	barrier(); /* checked and used is the copy */
	if (!aries_msg_valid(ch, slot, &msg)) {
		aries_peer_rx_foreign(ch, slot, &msg);
		return;
	}
	peer = aries_peer_get(ch, le32_to_cpu(msg.src));
	if (!peer)
		return;
	dst = le64_to_cpu(msg.dst_epoch);
	if (aries_peer_again(peer, &msg)) {
		if (hinted)
			aries_peer_ack(ch, &msg, peer->own_epoch, false);
	} else if (dst && dst != peer->own_epoch) {
		if (hinted)
			aries_peer_ack(ch, &msg, peer->own_epoch, true);
	} else {
		aries_peer_take(ch, peer, &msg);
	}
}

static bool aries_ack_valid(struct aries_chan *ch, u32 slot, const struct aries_ack *ack)
{
	u32 src = le32_to_cpu(ack->src);

	return le32_to_cpu(ack->check) == aries_check(ack, offsetof(struct aries_ack, check)) &&
	       src < ch->ad->nodes && src != ch->ad->pe && (src & (ch->slots - 1)) == slot &&
	       ack->epoch;
}

static void aries_peer_acked(struct aries_chan *ch, struct aries_peer *peer,
			     const struct aries_ack *ack)
	__must_hold(&ch->lock)
{
	u64 epoch = le64_to_cpu(ack->epoch);

	if (!peer->busy || le64_to_cpu(ack->to_epoch) != peer->own_epoch ||
	    le32_to_cpu(ack->seq) != peer->tx_seq)
		return;
	if (ack->stale ? epoch != peer->epoch : peer->epoch && epoch != peer->epoch) {
		aries_peer_restart(ch, peer, epoch);
		return;
	}
	peer->epoch = epoch;
	if (!ack->stale)
		aries_peer_pop(ch, peer);
}

/** aries_peer_rx_ack() - handle the acknowledgment in a slot. Context: the work item. */
void aries_peer_rx_ack(struct aries_chan *ch, u32 slot)
{
	struct aries_peer *peer;
	struct aries_ack ack;

	memcpy(&ack, ch->area + slot * ARIES_SLOT_BYTES + ARIES_SLOT_ACK, sizeof(ack));
	barrier(); /* checked and used is the copy */
	if (!aries_ack_valid(ch, slot, &ack))
		return;
	spin_lock_irq(&ch->lock);
	peer = aries_peer_find(ch, le32_to_cpu(ack.src));
	if (peer)
		aries_peer_acked(ch, peer, &ack);
	spin_unlock_irq(&ch->lock);
	if (peer)
		aries_dg_settle(ch, peer);
}

static void aries_peer_fill(struct aries_chan *ch, struct aries_peer *peer, struct aries_msg *msg)
{
	msg->magic = cpu_to_le32(ARIES_MSG_MAGIC);
	msg->src = cpu_to_le32(ch->ad->pe);
	msg->src_epoch = cpu_to_le64(peer->own_epoch);
	msg->dst_epoch = cpu_to_le64(peer->epoch);
	msg->seq = cpu_to_le32(peer->tx_seq);
	msg->check = cpu_to_le64(aries_check(msg, offsetof(struct aries_msg, check)));
}

/* Return: whether there is a message and it is time to put it. If not, *next may become earlier. */
static bool aries_peer_ready(struct aries_chan *ch, struct aries_peer *peer, unsigned long *next)
	__must_hold(&ch->lock)
{
	unsigned long bound = peer->failed ? ARIES_TX_FAILED : ARIES_TX_SILENT;

	if (peer->busy && time_before(jiffies, peer->next)) {
		*next = aries_earlier(*next, peer->next);
		return false;
	}
	if (peer->busy && time_after(jiffies, peer->since + bound))
		aries_peer_lost(ch, peer);
	if (peer->busy || peer->restarted)
		return !peer->restarted;
	peer->busy = aries_flow_next(peer);
	peer->since = jiffies;
	peer->pause = ARIES_TX_PAUSE_MIN;
	if (!peer->busy)
		list_del_init(&peer->active);
	return peer->busy;
}

static void aries_peer_put(struct aries_chan *ch, struct aries_peer *peer)
{
	struct aries_msg msg;
	int status;

	/* only the work item changes the message, so the lock is not needed */
	msg = peer->msg;
	aries_peer_fill(ch, peer, &msg);
	status = aries_chan_put(ch, peer->pe, aries_peer_own_slot(ch), &msg, sizeof(msg),
				ch->ad->pe);
	/* the peer has another key for our tag, so its driver has another version */
	if (status == ARIES_ST_PTAG)
		aries_peer_foreign(ch, peer, "it refuses the key of our messages");
	peer->failed = status != ARIES_ST_OK;
	peer->next = jiffies + peer->pause;
	peer->pause = min(2 * peer->pause, (unsigned long)ARIES_TX_PAUSE_MAX);
}

/* Return: a peer that has to be sent a message, or settled; NULL when all were checked. */
static struct aries_peer *aries_peer_due(struct aries_chan *ch, struct list_head *rest,
					 unsigned long *next)
	__must_hold(&ch->lock)
{
	struct aries_peer *peer;
	unsigned int n;

	for (n = 0; !list_empty(rest); n++) {
		if (n == ARIES_DG_BATCH) {
			spin_unlock_irq(&ch->lock);
			cond_resched();
			spin_lock_irq(&ch->lock);
			n = 0;
		}
		peer = list_first_entry(rest, struct aries_peer, active);
		list_move_tail(&peer->active, &ch->active);
		if (aries_peer_ready(ch, peer, next) || peer->restarted)
			return peer;
	}
	return NULL;
}

/**
 * aries_peer_run() - put the messages that are due, one to each peer
 * @ch: channel
 * @next: when the work item is to run again at the latest
 *
 * Context: the work item. Return: the same, or earlier.
 */
unsigned long aries_peer_run(struct aries_chan *ch, unsigned long next)
{
	struct aries_peer *peer;
	LIST_HEAD(rest);

	spin_lock_irq(&ch->lock);
	list_splice_tail_init(&ch->active, &rest);
	while ((peer = aries_peer_due(ch, &rest, &next))) {
		spin_unlock_irq(&ch->lock);
		if (peer->restarted) {
			aries_dg_settle(ch, peer);
			next = jiffies; /* it may have something to send after this */
		} else {
			aries_peer_put(ch, peer);
			next = aries_earlier(next, peer->next);
		}
		spin_lock_irq(&ch->lock);
	}
	spin_unlock_irq(&ch->lock);
	return next;
}

/** aries_peer_free_all() - free all peers; the work item does not run. Context: may sleep. */
void aries_peer_free_all(struct aries_chan *ch)
{
	struct aries_peer *peer;
	unsigned long pe;

	xa_for_each(&ch->peers, pe, peer) {
		spin_lock_irq(&ch->lock);
		aries_peer_flush(ch, peer, true);
		spin_unlock_irq(&ch->lock);
		aries_dg_settle(ch, peer);
		spin_lock_irq(&ch->lock);
		list_del(&peer->active);
		xa_erase(&ch->peers, pe);
		spin_unlock_irq(&ch->lock);
		kfree(peer);
	}
	kfree(ch->spare.note);
	kfree(ch->spare.early);
	kfree(ch->spare.flow);
	memset(&ch->spare, 0, sizeof(ch->spare));
}
