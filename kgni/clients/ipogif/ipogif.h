/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * ipogif: IP over the Gemini/Aries fabric, a network interface on kGNI.
 *
 * A *peer* is another node. It has a *connection*, made when there is something to send: mailboxes
 * on both sides, and buffers for large frames once somebody has sent one. A *queue* is a NAPI
 * context with three completion queues:
 *
 *   rx_cq    messages that have come; its handler schedules NAPI
 *   put_cq   block transfers that have ended; the same, when one did not end at once
 *   msg_cq   messages that were sent; looked at after each, no handler
 *
 * Locks, in the order in which they nest:
 *
 *   ipogif.control   open, stop, recovery of the NIC
 *   ipogif.mutex     connections come and go
 *   ipogif_queue.lock  sending to the peers of a queue; taken where softirqs are off, given back
 *                      by ipogif_unlock()
 *
 * What a connection receives belongs to the NAPI context of its mailbox, without a lock. Peers are
 * found under RCU and live as long as the interface is up; connections are found under RCU too.
 */
#ifndef IPOGIF_H
#define IPOGIF_H

#include <linux/etherdevice.h>
#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/u64_stats_sync.h>
#include <linux/workqueue.h>

#include "ipogif_wire.h"

#define IPOGIF_NAME "ipogif"
#define IPOGIF_NICS 4u /* of a node, each with an interface */
#define IPOGIF_QUEUES_MAX 8u
#define IPOGIF_CONNS 1024u /* connections of a node; their numbers are the low bits of an id */
#define IPOGIF_LISTENERS 4u
#define IPOGIF_CREDITS 64u
#define IPOGIF_WINDOW 52u /* FRAMEs that may be under way; other messages have the rest */
#define IPOGIF_SLOTS 32u  /* frames of a queue whose puts are under way */
#define IPOGIF_PIECES (MAX_SKB_FRAGS + 1)
#define IPOGIF_UNCONNECTED 64u /* frames that wait for a connection */
#define IPOGIF_DEFAULT_MTU 65520

struct ipogif;
struct ipogif_conn;

/**
 * struct ipogif_slot - a frame on its way
 * @node: in ipogif_conn.sending, or ipogif_queue.free_slots
 * @skb: the frame
 * @conn: its connection
 * @wire: message that tells of it, sent after the puts
 * @pieces: puts that it takes
 * @posted: how many of them have been posted
 * @puts: how many of these are under way
 * @failed: one of them has
 * @put: their descriptors
 */
struct ipogif_slot {
	struct list_head node;
	struct sk_buff *skb;
	struct ipogif_conn *conn;
	struct ipogif_wire wire;
	unsigned int pieces;
	unsigned int posted;
	unsigned int puts;
	bool failed;
	gni_post_descriptor_t put[IPOGIF_PIECES];
};

/**
 * struct ipogif_stats - counters of a queue, each written in one context
 * @packets: frames
 * @bytes: of them
 * @inlined: frames that went in a message
 * @buffered: frames of which a part went by block transfer
 * @copied: received frames that were copied out of a buffer
 * @dropped: frames
 * @waited: frames sent that had to wait
 * @events: messages received
 * @polls: runs of NAPI
 * @sync: guards them on 32-bit kernels
 */
struct ipogif_stats {
	u64_stats_t packets;
	u64_stats_t bytes;
	u64_stats_t inlined;
	u64_stats_t buffered;
	u64_stats_t copied;
	u64_stats_t dropped;
	u64_stats_t waited;
	u64_stats_t events;
	u64_stats_t polls;
	struct u64_stats_sync sync;
};

/* Bits of ipogif_queue.flags: what NAPI is to do beside its events. */
enum {
	IPOGIF_QUEUE_DRAIN, /* look into mailboxes without events */
	IPOGIF_QUEUE_FLUSH, /* try again to send */
	IPOGIF_QUEUE_SERVE, /* it has found the lock taken, and is to come again */
};

/* What is ours of skb->cb. */
struct ipogif_cb {
	bool counted; /* by the stack's byte queue limits, and in ipogif_queue.waiting */
};

#define IPOGIF_CB(skb) ((struct ipogif_cb *)(skb)->cb)

/**
 * struct ipogif_queue - see above
 * @ipg: interface
 * @index: number
 * @napi: its context
 * @rx_cq: see above
 * @put_cq: see above
 * @msg_cq: see above
 * @rx: counters of what is received; NAPI
 * @flags: IPOGIF_QUEUE_*
 * @lock: all below
 * @tx: counters of what is sent
 * @posts: puts under way
 * @messages: sent, and their events not seen yet
 * @stopped: the stack was told to stop
 * @waiting: frames that wait in peers which are connected
 * @retry: polls later, because a message could not be sent
 * @backlog: peers with frames that wait
 * @free_slots: unused ones
 * @slots: all
 * @scratch: a frame in pieces becomes one here
 */
struct ipogif_queue {
	struct ipogif *ipg;
	unsigned int index;
	struct napi_struct napi;
	gni_cq_handle_t rx_cq;
	gni_cq_handle_t put_cq;
	gni_cq_handle_t msg_cq;
	struct ipogif_stats rx;
	unsigned long flags;

	spinlock_t lock ____cacheline_aligned; /* see above */
	struct ipogif_stats tx;
	unsigned int posts;
	unsigned int messages;
	unsigned int waiting;
	bool stopped;
	struct timer_list retry;
	struct list_head backlog;
	struct list_head free_slots;
	struct ipogif_slot *slots;
	u8 scratch[IPOGIF_MESSAGE];
};

/**
 * struct ipogif_peer - another node
 * @hash: in ipogif.peers
 * @address: its NIC's
 * @queue: of what is sent to it
 * @conn: for what is sent to it, or NULL
 * @wanted: a connection is to be made
 * @asking: one is being made; ipogif.mutex
 * @failures: attempts in a row that came to nothing
 * @pause: no attempt before this time, if @failures
 * @guessed: when it was last asked for an address that it might have
 * @moved: when something was sent to it last, or began to wait
 * @stuck: it is connected and takes nothing, so nobody waits for it
 * @backlog: in ipogif_queue.backlog, or empty
 * @waiting: frames; ipogif_queue.lock
 * @rcu: frees it
 */
struct ipogif_peer {
	struct hlist_node hash;
	u32 address;
	struct ipogif_queue *queue;
	struct ipogif_conn __rcu *conn;
	bool wanted;
	struct ipogif_conn *asking;
	unsigned int failures;
	unsigned long pause;
	unsigned long guessed;
	unsigned long moved;
	bool stuck;
	struct list_head backlog;
	struct sk_buff_head waiting;
	struct rcu_head rcu;
};

/**
 * struct ipogif_pool - buffers that peers put frames into
 * @pages: one a buffer, of IPOGIF_BUFFER_ORDER; kept as long as the connection
 * @buffers: how many
 * @handle: registration
 * @held: those that the stack has not given back yet; NAPI
 * @freed: those that the peer is to be told of
 */
struct ipogif_pool {
	struct page **pages;
	unsigned int buffers;
	gni_mem_handle_t handle;
	u64 held;
	atomic64_t freed;
};

/* Bits of ipogif_conn.flags. */
enum {
	IPOGIF_CONN_UP,	   /* messages may be sent */
	IPOGIF_CONN_DEAD,  /* to be ended */
	IPOGIF_CONN_CLEAN, /* the peer has ended it in order: nothing of it arrives any more */
	IPOGIF_CONN_DRAIN, /* look for messages without an event */
	IPOGIF_CONN_OFFER, /* the peer wants buffers */
	IPOGIF_CONN_ASKED, /* it was asked for some */
	IPOGIF_CONN_TELL,  /* a STATE is due that could not be sent */
};

/**
 * struct ipogif_conn - a connection
 * @ipg: interface
 * @id: number here, see ipogif_conn_find()
 * @flags: IPOGIF_CONN_*
 * @peer: the node, NULL as long as it may be any
 * @rxq: queue of its mailbox
 * @txq: queue of what is sent
 * @ep: endpoint
 * @datagram: one is posted; ipogif.mutex
 * @wildcard: made by a listener
 * @hello: ours
 * @answer: the peer's
 * @mailbox: memory of the mailbox
 * @mailbox_bytes: of it
 * @handle: registration
 * @pool: buffers of frames to come, filled by the peer
 * @received: FRAMEs; NAPI of @rxq
 * @heard: when a message came last
 * @used: when there was a frame, either way
 * @acknowledged: of @sent, what the peer has received
 * @returned: of the peer's buffers, those that it has given back
 * @news: goes up when one of these two has changed
 * @told: of @received, what the peer knows; ipogif_queue.lock of @txq from here on
 * @sent: FRAMEs, those that are on their way included
 * @there: the peer's buffers
 * @there_free: those that may be filled
 * @seen: @news when it was last tried to send
 * @sending: frames in their order, struct ipogif_slot
 * @node: in ipogif.conns_all; ipogif.mutex
 */
struct ipogif_conn {
	struct ipogif *ipg;
	u32 id;
	unsigned long flags;
	struct ipogif_peer *peer;
	struct ipogif_queue *rxq;
	struct ipogif_queue *txq;
	gni_ep_handle_t ep;
	bool datagram;
	bool wildcard;
	struct ipogif_hello hello;
	u8 answer[GNI_DATAGRAM_MAXSIZE] __aligned(8);
	void *mailbox;
	size_t mailbox_bytes;
	gni_mem_handle_t handle;
	struct ipogif_pool pool;

	u16 received ____cacheline_aligned;
	unsigned long heard;
	unsigned long used;
	u16 acknowledged;
	u32 news;
	atomic64_t returned;

	u16 told ____cacheline_aligned;
	u16 sent;
	u32 seen;
	struct ipogif_offer there;
	u64 there_free;
	struct list_head sending;
	struct list_head node;
};

/**
 * struct ipogif - an interface
 * @dev: network device
 * @device_id: NIC
 * @address: of this node
 * @incarnation: see struct ipogif_hello
 * @control: see above
 * @running: attached to the NIC; @control
 * @mutex: see above
 * @cdm: domain
 * @nic: NIC handle
 * @err: subscription to errors
 * @queue: queues
 * @queues: how many
 * @buffers: of a connection, for ethtool
 * @ring: frames that may wait in a queue, for ethtool
 * @thread: waits for datagrams
 * @work: makes and ends connections
 * @tick: each second
 * @recover: after the NIC was reset
 * @peers: by address
 * @peers_lock: to add one
 * @peer_count: how many
 * @conns: by id
 * @generation: of ids
 * @conns_all: all of them
 * @conn_count: how many
 * @room: buffers that may still be made for connections; @mutex
 * @connects: connections that came up
 * @failures: connections that broke
 * @recoveries: of the NIC
 */
struct ipogif {
	struct net_device *dev;
	u32 device_id;
	u32 address;
	u32 incarnation;
	struct mutex control; /* see above */
	bool running;
	struct mutex mutex; /* see above */
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_err_handle_t err;
	struct ipogif_queue *queue;
	unsigned int queues;
	unsigned int buffers;
	unsigned int ring;
	struct task_struct *thread;
	struct work_struct work;
	struct delayed_work tick;
	struct delayed_work recover;
	DECLARE_HASHTABLE(peers, 8);
	spinlock_t peers_lock; /* see above */
	unsigned int peer_count;
	struct ipogif_conn __rcu *conns[IPOGIF_CONNS];
	u32 generation;
	struct list_head conns_all;
	unsigned int conn_count;
	unsigned int room;
	atomic_t connects;
	atomic_t failures;
	atomic_t recoveries;
};

static inline void ipogif_stat_add(struct ipogif_stats *s, u64_stats_t *what, u64 n)
{
	u64_stats_update_begin(&s->sync);
	u64_stats_add(what, n);
	u64_stats_update_end(&s->sync);
}

static inline void ipogif_count(struct ipogif_stats *s, u64_stats_t *what)
{
	ipogif_stat_add(s, what, 1);
}

/**
 * ipogif_unlock() - give a queue's lock back
 * @q: queue
 *
 * NAPI does not wait for the lock, which may be held as long as the NIC moves a frame: it comes
 * again after who has it, see ipogif_serve().
 *
 * Context: softirqs off.
 */
static inline void ipogif_unlock(struct ipogif_queue *q)
{
	spin_unlock(&q->lock);
	smp_mb(); /* pairs with ipogif_serve() */
	if (READ_ONCE(q->flags) & (BIT(IPOGIF_QUEUE_SERVE) | BIT(IPOGIF_QUEUE_FLUSH)))
		napi_schedule(&q->napi);
}

static inline void ipogif_unlock_bh(struct ipogif_queue *q)
{
	ipogif_unlock(q);
	local_bh_enable();
}

/* The node of a hardware address, or U32_MAX. */
static inline u32 ipogif_address_of(const u8 *mac)
{
	if (mac[0] != 0x00 || mac[1] != 0x01 || mac[2] != 0x01)
		return U32_MAX;
	return mac[3] << 16 | mac[4] << 8 | mac[5];
}

/* ipogif_main.c */
extern struct workqueue_struct *ipogif_wq;
void ipogif_for_each(void (*visit)(struct ipogif *ipg, u32 address), u32 address);

/* ipogif_nodes.c */
extern unsigned int ipogif_nodes;
bool ipogif_node_there(u32 address);
int ipogif_nodes_start(void);
void ipogif_nodes_stop(void);

/* ipogif_nic.c */
int ipogif_probe_address(u32 device_id, u32 *address);
int ipogif_start(struct ipogif *ipg);
void ipogif_stop(struct ipogif *ipg);
void ipogif_recover(struct work_struct *work);

/* ipogif_peer.c */
struct ipogif_peer *ipogif_peer_get(struct ipogif *ipg, u32 address);
struct ipogif_queue *ipogif_queue_of(struct ipogif *ipg, u32 address);
netdev_tx_t ipogif_xmit_group(struct ipogif *ipg, struct sk_buff *skb);
void ipogif_peers_purge(struct ipogif *ipg);
void ipogif_peers_tick(struct ipogif *ipg);
void ipogif_peer_gone(struct ipogif *ipg, u32 address);
void ipogif_peer_back(struct ipogif *ipg, u32 address);
void ipogif_peers_free(struct ipogif *ipg);

/* ipogif_conn.c */
struct ipogif_conn *ipogif_conn_find(struct ipogif *ipg, u32 id);
void ipogif_conn_fail(struct ipogif_conn *conn, const char *why);
void ipogif_conns_work(struct work_struct *work);
void ipogif_conns_tick(struct work_struct *work);
void ipogif_conns_end(struct ipogif *ipg);
int ipogif_conn_thread(void *data);

/* ipogif_pool.c */
int ipogif_pool_make(struct ipogif_conn *conn);
void ipogif_pool_end(struct ipogif_conn *conn, int hold_ms);
void ipogif_pool_reclaim(struct ipogif_pool *pool);
struct sk_buff *ipogif_pool_take(struct ipogif_conn *conn, struct sk_buff *skb, unsigned int buffer,
				 unsigned int bytes);

/* ipogif_tx.c */
void ipogif_kick(struct ipogif_queue *q, int what);
bool ipogif_send(struct ipogif_conn *conn, struct ipogif_wire *wire, const void *data);
bool ipogif_control(struct ipogif_conn *conn, enum ipogif_type type, const void *data,
		    unsigned int bytes);
void ipogif_xmit_peer(struct ipogif_peer *peer, struct sk_buff *skb);
void ipogif_flush(struct ipogif_peer *peer);
void ipogif_flush_backlog(struct ipogif_queue *q);
void ipogif_drop_waiting(struct ipogif_peer *peer);
void ipogif_stalled(struct ipogif_conn *conn);

/* ipogif_put.c */
enum ipogif_tx { IPOGIF_SENT, IPOGIF_ON_ITS_WAY, IPOGIF_BUSY, IPOGIF_HOPELESS };

enum ipogif_tx ipogif_send_frame(struct ipogif_conn *conn, struct sk_buff *skb);
void ipogif_reap(struct ipogif_queue *q);
void ipogif_send_ready(struct ipogif_conn *conn);
void ipogif_sending_drop(struct ipogif_conn *conn);

/* ipogif_rx.c */
int ipogif_poll(struct napi_struct *napi, int budget);

/* ipogif_ethtool.c */
extern const struct ethtool_ops ipogif_ethtool_ops;

#endif
