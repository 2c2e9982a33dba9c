// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections are established by datagrams. A node that wants to send posts a datagram to the peer.
 * A wildcard listener there has a mailbox ready, and its answer tells where the mailbox is. If both
 * sides do so at once there are two connections. Then both sides send on the one that the node with
 * the lower address has asked for.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "ipogif.h"

#define IPOGIF_ID_SHIFT 10 /* an id is an index below IPOGIF_CONNS and a generation; 20 bits */
#define IPOGIF_GENERATIONS 1024u
#define IPOGIF_ANSWER (10 * HZ)	   /* a running node answers within this time */
#define IPOGIF_PING_AFTER (5 * HZ) /* of silence */
#define IPOGIF_SILENT (60 * HZ)
#define IPOGIF_IDLE (120 * HZ) /* an unused connection is closed */
#define IPOGIF_IDLE_LEAST HZ   /* the same if another connection needs its buffers */
#define IPOGIF_PAUSE_MOST 5    /* attempts are 2^5 s apart at most */
#define IPOGIF_HOLD_MS 60000   /* a lost peer's MDD is not reused for so long */
#define IPOGIF_PROBE_MS 250

static_assert(IPOGIF_CONNS == 1 << IPOGIF_ID_SHIFT);

static int ipogif_conn_number(struct ipogif_conn *conn)
{
	struct ipogif *ipg = conn->ipg;
	unsigned int i;

	for (i = 0; i < IPOGIF_CONNS; i++) {
		if (rcu_access_pointer(ipg->conns[i]))
			continue;
		conn->id = (ipg->generation++ % IPOGIF_GENERATIONS) << IPOGIF_ID_SHIFT | i;
		rcu_assign_pointer(ipg->conns[i], conn);
		return 0;
	}
	return -ENOSPC;
}

static int ipogif_conn_mailbox(struct ipogif_conn *conn)
{
	gni_smsg_attr_t *box = &conn->hello.mailbox;
	unsigned int bytes;

	*box = (gni_smsg_attr_t){
		.msg_type = GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT,
		.mbox_maxcredit = IPOGIF_CREDITS,
		.msg_maxsize = IPOGIF_MESSAGE,
	};
	if (gni_smsg_buff_size_needed(box, &bytes) != GNI_RC_SUCCESS)
		return -EINVAL;
	/* that size holds a few of the largest messages only, but here all may be large */
	box->buff_size = bytes + IPOGIF_CREDITS * SZ_2K;
	conn->mailbox_bytes = PAGE_ALIGN(box->buff_size);
	conn->mailbox = kvzalloc(conn->mailbox_bytes, GFP_KERNEL);
	if (!conn->mailbox)
		return -ENOMEM;
	if (gni_mem_register(conn->ipg->nic, (uintptr_t)conn->mailbox, conn->mailbox_bytes,
			     conn->rxq->rx_cq, GNI_MEM_READWRITE,
			     &conn->handle) != GNI_RC_SUCCESS) {
		kvfree(conn->mailbox);
		conn->mailbox = NULL;
		return -ENOSPC;
	}
	box->msg_buffer = conn->mailbox;
	box->mem_hndl = conn->handle;
	return 0;
}

/* Free a connection that can no longer be found. */
static void ipogif_conn_free(struct ipogif_conn *conn)
{
	int hold_ms = !conn->peer || test_bit(IPOGIF_CONN_CLEAN, &conn->flags) ? 0 : IPOGIF_HOLD_MS;

	if (conn->ep)
		gni_ep_destroy(conn->ep);
	if (conn->mailbox) {
		gni_mem_deregister(conn->ipg->nic, &conn->handle, hold_ms);
		kvfree(conn->mailbox);
	}
	ipogif_pool_end(conn, hold_ms);
	if (!list_empty(&conn->node)) {
		list_del(&conn->node);
		conn->ipg->conn_count--;
	}
	kfree(conn);
}

static struct ipogif_conn *ipogif_conn_new(struct ipogif *ipg, struct ipogif_queue *rxq)
{
	struct ipogif_conn *conn = kzalloc(sizeof(*conn), GFP_KERNEL);

	if (!conn)
		return NULL;
	conn->ipg = ipg;
	conn->rxq = rxq;
	conn->heard = jiffies;
	conn->used = jiffies;
	INIT_LIST_HEAD(&conn->sending);
	INIT_LIST_HEAD(&conn->node);
	if (ipogif_conn_mailbox(conn) ||
	    gni_ep_create(ipg->nic, rxq->msg_cq, &conn->ep) != GNI_RC_SUCCESS ||
	    ipogif_conn_number(conn)) {
		ipogif_conn_free(conn);
		return NULL;
	}
	conn->hello.magic = IPOGIF_MAGIC;
	conn->hello.version = IPOGIF_VERSION;
	conn->hello.incarnation = ipg->incarnation;
	conn->hello.id = conn->id;
	list_add_tail(&conn->node, &ipg->conns_all);
	ipg->conn_count++;
	return conn;
}

static int ipogif_conn_post(struct ipogif_conn *conn)
{
	gni_return_t rc = gni_ep_postdata_w_id(conn->ep, &conn->hello, sizeof(conn->hello),
					       conn->answer, sizeof(conn->answer), conn->id);

	conn->datagram = rc == GNI_RC_SUCCESS;
	return conn->datagram ? 0 : -EAGAIN;
}

static void ipogif_listen(struct ipogif *ipg)
{
	struct ipogif_conn *conn;
	unsigned int have = 0;

	list_for_each_entry(conn, &ipg->conns_all, node)
		have += conn->wildcard && conn->datagram;
	for (; have < IPOGIF_LISTENERS; have++) {
		conn = ipogif_conn_new(ipg, &ipg->queue[have % ipg->queues]);
		if (!conn)
			return;
		conn->wildcard = true;
		if (ipogif_conn_post(conn)) {
			ipogif_conn_fail(conn, NULL);
			return;
		}
	}
}

static void ipogif_peer_failed(struct ipogif_peer *peer)
{
	unsigned int n = min_t(unsigned int, peer->failures, IPOGIF_PAUSE_MOST);

	spin_lock_bh(&peer->queue->lock);
	peer->pause = jiffies + (HZ << n);
	peer->failures++;
	peer->wanted = false;
	ipogif_drop_waiting(peer);
	ipogif_unlock_bh(peer->queue);
}

static void ipogif_ask(struct ipogif_peer *peer)
{
	struct ipogif *ipg = peer->queue->ipg;
	struct ipogif_conn *conn = ipogif_conn_new(ipg, peer->queue);

	if (!conn) {
		ipogif_peer_failed(peer);
		return;
	}
	conn->peer = peer;
	peer->asking = conn;
	if (gni_ep_bind(conn->ep, peer->address, ipg->device_id) != GNI_RC_SUCCESS ||
	    ipogif_conn_post(conn)) {
		peer->asking = NULL;
		ipogif_peer_failed(peer);
		ipogif_conn_fail(conn, "no datagram");
	}
}

/* The node that has asked for a connection. */
static u32 ipogif_conn_asker(const struct ipogif_conn *conn)
{
	return conn->wildcard ? conn->peer->address : conn->ipg->address;
}

static u32 ipogif_conn_incarnation(const struct ipogif_conn *conn)
{
	return ((const struct ipogif_hello *)conn->answer)->incarnation;
}

/* Is a connection that has just been established the one to send on? */
static bool ipogif_conn_wins(const struct ipogif_conn *conn, struct ipogif_conn *old)
{
	if (!old)
		return true;
	if (ipogif_conn_incarnation(conn) != ipogif_conn_incarnation(old)) {
		ipogif_conn_fail(old, "the peer has begun anew");
		return true;
	}
	if (ipogif_conn_asker(conn) == ipogif_conn_asker(old)) {
		ipogif_conn_fail(old, "the peer has given it up");
		return true;
	}
	return ipogif_conn_asker(conn) < ipogif_conn_asker(old);
}

static void ipogif_conn_use(struct ipogif_conn *conn)
{
	struct ipogif_peer *peer = conn->peer;
	struct ipogif_conn *old;

	old = rcu_dereference_protected(peer->conn, lockdep_is_held(&conn->ipg->mutex));
	spin_lock_bh(&peer->queue->lock);
	peer->failures = 0;
	peer->wanted = false;
	/* pairs with the readers of the flag: the connection is complete before it is up */
	smp_mb__before_atomic();
	set_bit(IPOGIF_CONN_UP, &conn->flags);
	if (ipogif_conn_wins(conn, old))
		rcu_assign_pointer(peer->conn, conn);
	rcu_read_lock();
	ipogif_flush(peer);
	rcu_read_unlock();
	ipogif_unlock_bh(peer->queue);
	/* the peer may have been faster and sent messages whose events were ignored */
	ipogif_kick(conn->rxq, IPOGIF_QUEUE_DRAIN);
}

/* Replace the endpoint of a listener by one whose source queue is the one of the peer. */
static int ipogif_conn_accept(struct ipogif_conn *conn, u32 address, u32 id)
{
	gni_ep_destroy(conn->ep);
	conn->ep = NULL;
	if (gni_ep_create(conn->ipg->nic, conn->txq->msg_cq, &conn->ep) != GNI_RC_SUCCESS)
		return -ENOMEM;
	return gni_ep_bind(conn->ep, address, id) == GNI_RC_SUCCESS ? 0 : -EINVAL;
}

/* A datagram was answered by @address. */
static int ipogif_conn_up(struct ipogif_conn *conn, u32 address)
{
	struct ipogif_hello *there = (struct ipogif_hello *)conn->answer;
	struct ipogif *ipg = conn->ipg;
	struct ipogif_peer *peer;

	if (there->magic != IPOGIF_MAGIC || there->version != IPOGIF_VERSION ||
	    there->mailbox.msg_maxsize != IPOGIF_MESSAGE ||
	    there->mailbox.mbox_maxcredit != IPOGIF_CREDITS) {
		netdev_warn_once(ipg->dev, "node %u speaks another version\n", address);
		return -EPROTO;
	}
	rcu_read_lock();
	peer = ipogif_peer_get(ipg, address);
	rcu_read_unlock(); /* peers stay as long as the interface is up */
	if (!peer)
		return -ENOMEM;
	conn->peer = peer;
	conn->txq = peer->queue;
	if (conn->wildcard && ipogif_conn_accept(conn, address, there->id))
		return -ENOMEM;
	if (gni_ep_set_eventdata(conn->ep, conn->id, there->id) != GNI_RC_SUCCESS ||
	    gni_smsg_init(conn->ep, &conn->hello.mailbox, &there->mailbox) != GNI_RC_SUCCESS)
		return -EIO;
	WRITE_ONCE(conn->heard, jiffies);
	WRITE_ONCE(conn->used, jiffies);
	atomic_inc(&ipg->connects);
	ipogif_conn_use(conn);
	return 0;
}

/* A datagram is finished. */
static void ipogif_datagram(struct ipogif *ipg, u64 id)
{
	struct ipogif_conn *conn = ipogif_conn_find(ipg, id);
	u32 address, remote_id;
	gni_post_state_t state;
	int rc;

	if (!conn || !conn->datagram)
		return;
	if (gni_ep_postdata_test_by_id(conn->ep, id, &state, &address, &remote_id) !=
	    GNI_RC_SUCCESS)
		state = GNI_POST_ERROR;
	if (state == GNI_POST_PENDING || state == GNI_POST_REMOTE_DATA)
		return;
	conn->datagram = false;
	rc = state == GNI_POST_COMPLETED ? ipogif_conn_up(conn, address) : -ETIMEDOUT;
	if (conn->peer && conn->peer->asking == conn) {
		conn->peer->asking = NULL;
		if (rc)
			ipogif_peer_failed(conn->peer);
	}
	if (rc)
		ipogif_conn_fail(conn, "no answer");
	/* post another listener */
	queue_work(ipogif_wq, &ipg->work);
}

/** ipogif_conn_thread() - thread that waits for datagrams. Context: a thread. Return: 0. */
int ipogif_conn_thread(void *data)
{
	struct ipogif *ipg = data;

	while (!kthread_should_stop()) {
		u64 id;

		if (gni_postdata_probe_wait_by_id(ipg->nic, IPOGIF_PROBE_MS, &id) != GNI_RC_SUCCESS)
			continue;
		mutex_lock(&ipg->mutex);
		ipogif_datagram(ipg, id);
		mutex_unlock(&ipg->mutex);
	}
	return 0;
}

/* Free dead connections that the NIC no longer uses. Return: false if some are still in use. */
static bool ipogif_conns_bury(struct ipogif *ipg)
{
	struct ipogif_conn *conn, *next;
	struct ipogif_slot *slot;
	LIST_HEAD(dead);
	bool all = true;

	list_for_each_entry_safe(conn, next, &ipg->conns_all, node) {
		if (!test_bit(IPOGIF_CONN_DEAD, &conn->flags))
			continue;
		/* it may have been assigned to its peer while it failed */
		ipogif_conn_unuse(conn);
		RCU_INIT_POINTER(ipg->conns[conn->id & (IPOGIF_CONNS - 1)], NULL);
		list_move_tail(&conn->node, &dead);
	}
	if (list_empty(&dead))
		return true;
	synchronize_net();
	list_for_each_entry_safe(conn, next, &dead, node) {
		bool busy = false;

		if (conn->peer && conn->peer->asking == conn)
			conn->peer->asking = NULL;
		if (conn->txq) {
			spin_lock_bh(&conn->txq->lock);
			ipogif_reap(conn->txq);
			list_for_each_entry(slot, &conn->sending, node)
				busy |= slot->puts;
			if (!busy)
				ipogif_sending_drop(conn);
			ipogif_unlock_bh(conn->txq);
		}
		if (!busy)
			ipogif_conn_free(conn);
		all &= !busy;
	}
	list_splice(&dead, &ipg->conns_all);
	return all;
}

/* Close a connection in an orderly way. */
static void ipogif_close(struct ipogif_conn *conn)
{
	spin_lock_bh(&conn->txq->lock);
	ipogif_control(conn, IPOGIF_CLOSE, NULL, 0);
	ipogif_unlock_bh(conn->txq);
	ipogif_conn_fail(conn, NULL);
}

static unsigned long ipogif_idle(const struct ipogif_conn *conn)
{
	return jiffies - READ_ONCE(conn->used);
}

/* Other connections have all buffers: close the one that was idle for longest. */
static void ipogif_make_room(struct ipogif *ipg)
{
	struct ipogif_conn *conn, *oldest = NULL;

	list_for_each_entry(conn, &ipg->conns_all, node) {
		if (!test_bit(IPOGIF_CONN_UP, &conn->flags) || !conn->pool.buffers)
			continue;
		if (!oldest || ipogif_idle(conn) > ipogif_idle(oldest))
			oldest = conn;
	}
	if (oldest && ipogif_idle(oldest) > IPOGIF_IDLE_LEAST)
		ipogif_close(oldest);
}

static void ipogif_offer(struct ipogif_conn *conn)
{
	struct ipogif_offer offer = { .bytes = IPOGIF_BUFFER };
	int rc = conn->pool.buffers ? 0 : ipogif_pool_make(conn);

	if (rc == -ENOBUFS)
		ipogif_make_room(conn->ipg);
	if (rc)
		return; /* the peer waits, and the next tick tries again */
	offer.handle = conn->pool.handle;
	offer.buffers = conn->pool.buffers;
	spin_lock_bh(&conn->txq->lock);
	if (ipogif_control(conn, IPOGIF_OFFER, &offer, sizeof(offer)))
		clear_bit(IPOGIF_CONN_OFFER, &conn->flags);
	ipogif_unlock_bh(conn->txq);
}

static bool ipogif_peer_wants(struct ipogif_peer *peer)
{
	if (rcu_access_pointer(peer->conn) || peer->asking)
		return false;
	if (peer->failures && time_before(jiffies, peer->pause))
		return false;
	return READ_ONCE(peer->wanted) || !skb_queue_empty_lockless(&peer->waiting);
}

/** ipogif_conns_work() - create and end connections. Context: sleeps. */
void ipogif_conns_work(struct work_struct *work)
{
	struct ipogif *ipg = container_of(work, struct ipogif, work);
	struct ipogif_conn *conn;
	struct ipogif_peer *peer;
	int bucket;

	mutex_lock(&ipg->mutex);
	/* a connection that fails while all of them end schedules this work, too */
	if (!ipg->attached) {
		mutex_unlock(&ipg->mutex);
		return;
	}
	if (!ipogif_conns_bury(ipg))
		mod_delayed_work(ipogif_wq, &ipg->tick, msecs_to_jiffies(20));
	list_for_each_entry(conn, &ipg->conns_all, node)
		if (test_bit(IPOGIF_CONN_OFFER, &conn->flags) &&
		    test_bit(IPOGIF_CONN_UP, &conn->flags))
			ipogif_offer(conn);
	/* Peers may be added meanwhile. None is freed before this work has ended. */
	for (bucket = 0; bucket < HASH_SIZE(ipg->peers); bucket++)
		hlist_for_each_entry_rcu(peer, &ipg->peers[bucket], hash, true)
			if (ipogif_peer_wants(peer))
				ipogif_ask(peer);
	ipogif_listen(ipg);
	mutex_unlock(&ipg->mutex);
}

/* Check whether the peer is alive, and whether it has answered a datagram. */
static void ipogif_conn_check(struct ipogif_conn *conn)
{
	unsigned long silent = jiffies - READ_ONCE(conn->heard);

	if (test_bit(IPOGIF_CONN_UP, &conn->flags)) {
		if (silent > IPOGIF_SILENT) {
			ipogif_conn_fail(conn, "the peer is silent");
		} else if (ipogif_idle(conn) > IPOGIF_IDLE) {
			ipogif_close(conn);
		} else if (silent > IPOGIF_PING_AFTER) {
			spin_lock_bh(&conn->txq->lock);
			ipogif_control(conn, IPOGIF_PING, NULL, 0);
			ipogif_unlock_bh(conn->txq);
		}
	} else if (conn->datagram && !conn->wildcard && silent > IPOGIF_ANSWER) {
		/* its end is reported like that of any other datagram */
		gni_ep_postdata_cancel_by_id(conn->ep, conn->id);
	}
}

/** ipogif_conns_tick() - periodic work, once a second. Context: sleeps. */
void ipogif_conns_tick(struct work_struct *work)
{
	struct ipogif *ipg = container_of(work, struct ipogif, tick.work);
	struct ipogif_conn *conn;
	bool attached;
	unsigned int i;

	mutex_lock(&ipg->mutex);
	attached = ipg->attached;
	list_for_each_entry(conn, &ipg->conns_all, node)
		ipogif_conn_check(conn);
	mutex_unlock(&ipg->mutex);
	if (!attached)
		return;
	ipogif_peers_tick(ipg);
	for (i = 0; i < ipg->queues; i++) {
		set_bit(IPOGIF_QUEUE_DRAIN, &ipg->queue[i].flags);
		ipogif_kick(&ipg->queue[i], IPOGIF_QUEUE_FLUSH);
	}
	queue_work(ipogif_wq, &ipg->work);
	queue_delayed_work(ipogif_wq, &ipg->tick, HZ);
}

/**
 * ipogif_conns_end() - end all connections
 * @ipg: interface
 *
 * A connection ends when its puts have. Each put ends, even if only because the NIC gives up, but
 * while the network is quiet that can take any time.
 *
 * Context: sleeps, for as long as that takes; NAPI and the thread do not run.
 */
void ipogif_conns_end(struct ipogif *ipg)
{
	struct ipogif_conn *conn;

	mutex_lock(&ipg->mutex);
	ipg->attached = false;
	list_for_each_entry(conn, &ipg->conns_all, node) {
		if (test_bit(IPOGIF_CONN_UP, &conn->flags))
			ipogif_close(conn);
		else
			ipogif_conn_fail(conn, NULL);
	}
	while (!ipogif_conns_bury(ipg))
		msleep(20);
	mutex_unlock(&ipg->mutex);
}
