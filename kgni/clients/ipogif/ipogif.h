/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ipogif: IP over the Gemini/Aries fabric, a network interface on kGNI.
 *
 * A *peer* is another node. It gets a *connection* when there is something to send: a mailbox on
 * both sides, and buffers for large frames once one has been sent. A *queue* is a NAPI context with
 * three completion queues:
 *
 *   rx_cq    received messages; its handler schedules NAPI
 *   put_cq   completed block transfers; the same, for those that did not complete at once
 *   msg_cq   sent messages; polled after each send, has no handler
 *
 * Locks, in the order in which they nest:
 *
 *   ipogif.control   open, stop, recovery of the NIC
 *   ipogif.mutex     creating and ending connections
 *   ipogif_queue.lock  sending to the peers of a queue; taken with softirqs disabled, released
 *                      by ipogif_unlock()
 *
 * The receiving side of a connection belongs to the NAPI context of its mailbox and needs no lock.
 * Peers are found under RCU and live as long as the interface is up. Connections are found under
 * RCU, too.
 */
#ifndef IPOGIF_H
#define IPOGIF_H

#include <linux/completion.h>
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
#define IPOGIF_NICS 4u /* per node, each with an interface */
#define IPOGIF_QUEUES_MAX 8u
#define IPOGIF_CONNS 1024u /* connections per interface; the low bits of an id are an index */
#define IPOGIF_LISTENERS 4u
#define IPOGIF_CREDITS 64u
#define IPOGIF_WINDOW 52u /* FRAMEs in flight; the other credits are for other messages */
#define IPOGIF_SLOTS 32u  /* frames per queue whose puts are in flight */
#define IPOGIF_PIECES (MAX_SKB_FRAGS + 1)
#define IPOGIF_UNCONNECTED 64u /* frames that wait for a connection */
#define IPOGIF_DEFAULT_MTU 65520

struct ipogif;
struct ipogif_conn;

/**
 * struct ipogif_slot - a frame in flight
 * @node: in ipogif_conn.sending, or ipogif_queue.free_slots
 * @skb: the frame
 * @conn: its connection
 * @wire: message that announces it, sent after the puts
 * @pieces: number of puts that it takes
 * @posted: how many of them have been posted
 * @puts: how many of these are in flight
 * @failed: one of them has failed
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
 * struct ipogif_stats - counters of a queue; each set is written in one context only
 * @packets: frames
 * @bytes: bytes of these frames
 * @inlined: frames sent inside a message
 * @buffered: frames of which a part was sent by block transfer
 * @copied: received frames that were copied out of a buffer
 * @dropped: frames dropped
 * @waited: sent frames that had to wait
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

/* Bits of ipogif_queue.flags: what NAPI has to do besides handling events. */
enum {
	IPOGIF_QUEUE_DRAIN, /* look into all mailboxes, with or without events */
	IPOGIF_QUEUE_FLUSH, /* try again to send waiting frames */
	IPOGIF_QUEUE_SERVE, /* NAPI has found the lock taken, and has to run again */
};

/* Our part of skb->cb. */
struct ipogif_cb {
	bool counted; /* in the stack's byte queue limits, and in ipogif_queue.waiting */
};

#define IPOGIF_CB(skb) ((struct ipogif_cb *)(skb)->cb)

/**
 * struct ipogif_queue - see above
 * @ipg: interface
 * @index: number
 * @napi: its NAPI context
 * @rx_cq: see above
 * @put_cq: see above
 * @msg_cq: see above
 * @rx: counters of received frames; written by NAPI
 * @flags: IPOGIF_QUEUE_*
 * @lock: all below
 * @tx: counters of sent frames
 * @posts: puts in flight
 * @messages: sent messages whose events were not seen yet
 * @open: the stack's queue may be woken, and @retry armed; false while the NIC is not attached
 * @stopped: the stack was told to stop
 * @waiting: frames that wait for connected peers
 * @retry: schedules NAPI later, because a message could not be sent
 * @backlog: peers with waiting frames
 * @free_slots: unused slots
 * @slots: all slots
 * @scratch: buffer to linearise the beginning of a frame
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
	bool open;
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
 * @address: address of its NIC
 * @queue: queue of all frames for it
 * @conn: connection for sending to it, or NULL
 * @wanted: a connection is to be established
 * @asking: connection that is being established; ipogif.mutex
 * @failures: number of consecutive attempts that failed
 * @pause: no attempt before this time, if @failures
 * @guessed: when it was last sent a request for an address that it might have
 * @moved: when something was last sent to it, or began to wait
 * @stuck: it is connected but accepts nothing, so the stack is not stopped for it
 * @backlog: in ipogif_queue.backlog, or empty
 * @waiting: waiting frames; ipogif_queue.lock
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
 * @pages: one page of IPOGIF_BUFFER_ORDER per buffer, kept as long as the connection exists
 * @buffers: number of buffers
 * @handle: registration
 * @held: bitmap of buffers that the stack still uses; NAPI
 * @freed: bitmap of free buffers that the peer does not know to be free yet
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
	IPOGIF_CONN_DEAD,  /* to be torn down */
	IPOGIF_CONN_CLEAN, /* the peer has closed it and sends nothing on it any more */
	IPOGIF_CONN_DRAIN, /* unused */
	IPOGIF_CONN_OFFER, /* the peer wants buffers */
	IPOGIF_CONN_ASKED, /* the peer was asked for buffers */
	IPOGIF_CONN_TELL,  /* a STATE has to be sent that could not be sent before */
};

/**
 * struct ipogif_conn - a connection
 * @ipg: interface
 * @id: id on this node, see ipogif_conn_find()
 * @flags: IPOGIF_CONN_*
 * @peer: the node; NULL for a listener that no node has answered
 * @rxq: queue of its mailbox, for receiving
 * @txq: queue for sending
 * @ep: endpoint
 * @datagram: its datagram is posted; ipogif.mutex
 * @wildcard: it was created as a listener
 * @hello: our datagram
 * @answer: datagram of the peer
 * @mailbox: memory of the mailbox
 * @mailbox_bytes: its size
 * @handle: registration
 * @pool: receive buffers, filled by the peer
 * @received: FRAMEs received; NAPI of @rxq
 * @heard: when the last message was received
 * @used: when the last frame was sent or received
 * @acknowledged: how many of @sent the peer has received
 * @returned: bitmap of the peer's buffers that it has released
 * @news: incremented when one of these two changes
 * @told: how many of @received the peer was told of; from here on ipogif_queue.lock of @txq
 * @sent: FRAMEs sent, including those in flight
 * @there: the peer's buffers
 * @there_free: bitmap of those that may be filled
 * @seen: value of @news at the last attempt to send
 * @sending: frames in flight in order, struct ipogif_slot
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
 * @address: address of this node
 * @incarnation: see struct ipogif_hello
 * @control: see above
 * @running: attached to the NIC; @control
 * @ending: no longer @running, but the NIC has not been released yet; @control
 * @ended: completed while not @ending
 * @mutex: see above
 * @attached: connections may be made; @mutex
 * @cdm: domain
 * @nic: NIC handle
 * @err: subscription to errors
 * @queue: queues
 * @queues: number of queues
 * @buffers: buffers per connection, set by ethtool
 * @ring: frames that may wait in a queue, set by ethtool
 * @thread: waits for datagrams
 * @work: creates and ends connections
 * @tick: periodic work, once a second
 * @recover: releases the NIC, and attaches again after a reset
 * @peers: peers by address
 * @peers_lock: taken to add a peer
 * @peer_count: number of peers
 * @conns: connections by id
 * @generation: generation of the next id
 * @conns_all: all connections
 * @conn_count: number of connections
 * @room: buffers that may still be allocated for connections; @mutex
 * @connects: connections that came up
 * @failures: connections that broke
 * @recoveries: recoveries of the NIC
 */
struct ipogif {
	struct net_device *dev;
	u32 device_id;
	u32 address;
	u32 incarnation;
	struct mutex control; /* see above */
	bool running;
	bool ending;
	struct completion ended;
	struct mutex mutex; /* see above */
	bool attached;
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
 * ipogif_unlock() - release the lock of a queue
 * @q: queue
 *
 * NAPI does not wait for the lock, which may be held for as long as the NIC takes to move a frame.
 * The holder schedules NAPI again when it releases the lock, see ipogif_serve().
 *
 * Context: softirqs disabled.
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

/* Return: the node that a hardware address belongs to, or U32_MAX. */
static inline u32 ipogif_address_of(const u8 *mac)
{
	if (mac[0] != 0x00 || mac[1] != 0x01 || mac[2] != 0x01)
		return U32_MAX;
	return mac[3] << 16 | mac[4] << 8 | mac[5];
}

/* ipogif_signal.c: what is below all others */
extern struct workqueue_struct *ipogif_wq;
void ipogif_kick(struct ipogif_queue *q, int what);
void ipogif_stalled(struct ipogif_conn *conn);
struct ipogif_conn *ipogif_conn_find(struct ipogif *ipg, u32 id);
void ipogif_conn_unuse(struct ipogif_conn *conn);
void ipogif_conn_fail(struct ipogif_conn *conn, const char *why);

/* ipogif_nodes.c */
extern unsigned int ipogif_nodes;
bool ipogif_node_there(u32 address);
int ipogif_nodes_start(void (*changed)(u32 address, bool up));
void ipogif_nodes_stop(void);

/* ipogif_nic.c */
int ipogif_probe_address(u32 device_id, u32 *address);
int ipogif_start(struct ipogif *ipg);
void ipogif_stop(struct ipogif *ipg);
void ipogif_recover(struct work_struct *work);
void ipogif_retry(struct timer_list *t);

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

/* ipogif_message.c */
bool ipogif_send(struct ipogif_conn *conn, struct ipogif_wire *wire, const void *data);
bool ipogif_control(struct ipogif_conn *conn, enum ipogif_type type, const void *data,
		    unsigned int bytes);

/* ipogif_tx.c */
void ipogif_xmit_peer(struct ipogif_peer *peer, struct sk_buff *skb, bool counts);
void ipogif_flush(struct ipogif_peer *peer);
void ipogif_flush_backlog(struct ipogif_queue *q);
void ipogif_drop_waiting(struct ipogif_peer *peer);

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
