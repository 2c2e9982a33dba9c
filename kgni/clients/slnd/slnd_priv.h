/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Declarations that the files of slnd share.
 *
 * Locks, outer one first: slnd_peer.lock, slnd.dgram_lock, slnd.lock. gni_ functions that do not
 * sleep are called with the first two held.
 */
#ifndef SLND_PRIV_H
#define SLND_PRIV_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "slnd.h"
#include "slnd_wire.h"

#define SLND_DEVICE 0
#define SLND_SCHEDULERS_MAX 8

/* Counters; their names are in slnd_debugfs.c. */
enum slnd_counter {
	SLND_N_MESSAGES_SENT,
	SLND_N_MESSAGES_RECEIVED,
	SLND_N_MESSAGES_DROPPED,
	SLND_N_SENDS_STALLED,
	SLND_N_PUTS,
	SLND_N_GETS,
	SLND_N_BOUNCED,
	SLND_N_EXPOSURES,
	SLND_N_BULK_BYTES,
	SLND_N_POSTS_REPEATED,
	SLND_N_POSTS_REFUSED,
	SLND_N_BULKS_FAILED,
	SLND_N_CONNECTED,
	SLND_N_CLOSED,
	SLND_N_FAILED,
	SLND_N_SILENT,
	SLND_N_ASKED,
	SLND_N_HAILS_REFUSED,
	SLND_N_OVERRUNS,
	SLND_N_QUARANTINED,
	SLND_N_RELEASED,
	SLND_N_RESETS,
	SLND_N_QUIESCES,
	SLND_COUNTERS,
};

/* Bits of slnd.events: work for the schedulers. */
enum {
	SLND_EV_RX,
	SLND_EV_TX,
	SLND_EV_RDMA,
	SLND_EV_LATER, /* there may be space for what waited for it */
	SLND_EV_N,
};

/* Bits of slnd.flags. */
enum {
	SLND_UP,       /* the device is open */
	SLND_STOPPING, /* no more connections are made */
	SLND_CRITICAL, /* the NIC was reset */
	SLND_RESUMED,  /* a quiesce has ended */
	SLND_ABORT,    /* the user leaves: end all operations in flight */
	SLND_KEEP,     /* the keeper has something to do */
};

/**
 * struct slnd_box - a mailbox
 * @node: in slnd.boxes while it is free
 * @block: block of memory that it is in
 * @offset: its offset there
 */
struct slnd_box {
	struct list_head node;
	struct slnd_block *block;
	u32 offset;
};

enum slnd_state {
	SLND_HAILING, /* its datagram is posted */
	SLND_OPEN,
	SLND_CLOSING, /* only the CLOSE is still sent */
	SLND_ENDED,
};

/* Does a connection wait for a scheduler? */
enum slnd_place {
	SLND_IDLE,
	SLND_READY,
	SLND_LATER, /* waits for space */
	SLND_RUNNING,
	SLND_AGAIN, /* running, and there is new work for it */
};

/**
 * struct slnd_conn - a connection, or an attempt to establish one
 * @refs: one until it has ended; one for each message and post in flight; one for a thread that
 *        works on it
 * @id: its id in the table, and in events
 * @ep: endpoint
 * @box: mailbox
 * @peer: the other end, NULL while it is a wildcard
 * @peer_node: in slnd_peer.conns
 * @hail_node: in slnd.hails
 * @mine: datagram that we post
 * @theirs: receives the peer's datagram
 * @hail_since: when the datagram was posted, in jiffies
 * @initiator: this side has sent the request
 * @stamp: number of the request
 * @state: enum slnd_state; slnd_peer.lock
 * @clean: no peer writes to the mailbox any more, because it was closed in an orderly way
 * @say: control messages to be sent, a bit for each enum slnd_type; slnd_peer.lock
 * @hello_due: SLND_HELLO is to be sent once all earlier connections are gone; slnd_peer.lock
 * @close_sent: SLND_CLOSE was sent; slnd_peer.lock
 * @close_came: SLND_CLOSE was received; slnd_peer.lock
 * @last_rx: when something was received, in jiffies
 * @last_tx: when something was sent
 * @place: enum slnd_place; slnd.lock
 * @stalled: it ran out of space while it was running; slnd.lock
 * @ready: in slnd.ready or slnd.later; slnd.lock
 * @ended: in slnd.ended; slnd.lock
 * @n_sent: messages sent
 * @n_received: messages received
 */
struct slnd_conn {
	refcount_t refs;
	u32 id;
	gni_ep_handle_t ep;
	struct slnd_box *box;
	struct slnd_peer *peer;
	struct list_head peer_node;
	struct list_head hail_node;
	struct slnd_hail mine;
	struct slnd_hail theirs;
	unsigned long hail_since;
	bool initiator;
	u64 stamp;
	enum slnd_state state;
	bool clean;
	unsigned int say;
	bool hello_due;
	bool close_sent;
	bool close_came;
	unsigned long last_rx;
	unsigned long last_tx;
	enum slnd_place place;
	bool stalled;
	struct list_head ready;
	struct list_head ended;
	u64 n_sent;
	u64 n_received;
};

/**
 * struct slnd_peer - a node; exists until the module is unloaded
 * @lock: protects the members below, and those members of connections that say so
 * @address: of its NIC
 * @queue: messages that were not sent yet
 * @bulks: transfers that the peer was asked to do
 * @conn: connection to send on, or NULL
 * @conns: all connections with it
 * @hailing: connection whose datagram is posted, or NULL
 * @wanted: the peer has asked for a connection
 * @incarnation: newest known incarnation
 * @stamp: number of the newest request received from it
 * @greeted: number of the newest connection on which it has sent SLND_HELLO; one for connections
 *           that it has requested, one for those that we have requested
 * @next_try: when to hail it, in jiffies
 * @pause: pause before the next attempt, in jiffies
 */
struct slnd_peer {
	spinlock_t lock; /* the outermost lock */
	u32 address;
	struct list_head queue;
	struct list_head bulks;
	struct slnd_conn *conn;
	struct list_head conns;
	struct slnd_conn *hailing;
	bool wanted;
	u64 incarnation;
	u64 stamp;
	u64 greeted[2];
	unsigned long next_try;
	unsigned long pause;
};

/**
 * struct slnd_tx - a message to be sent
 * @node: in slnd_peer.queue
 * @peer: its destination
 * @only: the only connection on which it is meaningful, with a reference; NULL: any
 * @bulk: transfer that it asks for, or NULL; has no connection until its memory is registered
 * @since: when it was queued, in jiffies
 * @done: the user's
 * @arg: the user's
 * @head: header, with the length of @data
 * @data: contents
 */
struct slnd_tx {
	struct list_head node;
	struct slnd_peer *peer;
	struct slnd_conn *only;
	struct slnd_bulk *bulk;
	unsigned long since;
	slnd_done_f *done;
	void *arg;
	struct slnd_head head;
	u8 data[];
};

/**
 * struct slnd_sent - a message in flight; its event carries its index in slnd.sent
 * @node: in slnd.sent_free while unused
 * @conn: connection that it was sent on, with a reference
 * @tx: the message, NULL for a control message
 * @type: type of a control message
 */
struct slnd_sent {
	struct list_head node;
	struct slnd_conn *conn;
	struct slnd_tx *tx;
	enum slnd_type type;
};

/**
 * struct slnd_bulk - transfer of bulk data that our user has started
 * @node: in slnd_peer.bulks once the peer was asked
 * @id: its number
 * @conn: connection on which the peer was asked
 * @buffer: the user's memory
 * @handle: registration of @buffer
 * @done: the user's
 * @arg: the user's
 */
struct slnd_bulk {
	struct list_head node;
	u32 id;
	struct slnd_conn *conn;
	struct slnd_buffer *buffer;
	gni_mem_handle_t handle;
	slnd_done_f *done;
	void *arg;
};

/**
 * struct slnd_sched - a scheduler
 * @task: its thread, NULL if there is none
 * @idle: it sleeps; a thread that finds work sets this to false and wakes it
 */
struct slnd_sched {
	struct task_struct *task;
	bool idle;
};

/**
 * struct slnd - all state of the module
 * @flags: SLND_UP and so on
 * @events: SLND_EV_RX and so on
 * @address: address of the NIC
 * @incarnation: when the device was opened
 * @stamp: number of the last request
 * @cdm: domain
 * @nic: attachment
 * @err: subscription of errors
 * @tx_cq: queue for events of sent messages
 * @rx_cq: queue for events of received messages
 * @rdma_cq: queue for events of block transfers
 * @posts_left: how many more posts may be in flight
 * @sent: one element for each message that may be in flight
 * @lock: protects the lists below it
 * @sent_free: unused elements of @sent
 * @ready: connections that wait for a scheduler
 * @later: connections that wait for space
 * @post_wait: block transfers that wait for space
 * @ended: connections for the keeper
 * @boxes: free mailboxes
 * @blocks: memory of mailboxes
 * @quarantine: memory that a peer may still write to
 * @dgram_lock: protects @hails and the datagrams of those connections
 * @hails: connections whose datagram is posted
 * @listening: number of wildcards among them
 * @conns: table of connections
 * @peers: table of nodes
 * @next_conn: where to look for a free id
 * @conns_left: connections that exist
 * @keeper_wq: wait queue of the keeper
 * @user_wq: wait queue of slnd_unregister()
 * @user_ops: number of operations whose end the user was not told yet
 * @sched: schedulers
 * @mover: thread that waits for datagrams
 * @keeper: the keeper thread
 * @counters: enum slnd_counter
 */
struct slnd {
	unsigned long flags;
	unsigned long events;
	u32 address;
	u64 incarnation;
	atomic64_t stamp;
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_err_handle_t err;
	gni_cq_handle_t tx_cq;
	gni_cq_handle_t rx_cq;
	gni_cq_handle_t rdma_cq;
	atomic_t posts_left;
	struct slnd_sent *sent;
	spinlock_t lock; /* the innermost lock */
	struct list_head sent_free;
	struct list_head ready;
	struct list_head later;
	struct list_head post_wait;
	struct list_head ended;
	struct list_head boxes;
	struct list_head blocks;
	struct list_head quarantine;
	spinlock_t dgram_lock; /* between the other two */
	struct list_head hails;
	unsigned int listening;
	struct xarray conns;
	struct xarray peers;
	u32 next_conn;
	atomic_t conns_left;
	wait_queue_head_t keeper_wq;
	wait_queue_head_t user_wq;
	atomic_t user_ops;
	struct slnd_sched sched[SLND_SCHEDULERS_MAX];
	struct task_struct *mover;
	struct task_struct *keeper;
	atomic64_t counters[SLND_COUNTERS];
};

extern struct slnd slnd;
extern unsigned int slnd_credits;
extern unsigned int slnd_wildcards;
extern unsigned int slnd_timeout;
extern unsigned int slnd_rx_entries;
extern unsigned int slnd_posts;
extern unsigned int slnd_retries;
extern unsigned int slnd_hold;
extern unsigned int slnd_schedulers;

static inline void slnd_add(enum slnd_counter which, u64 n)
{
	atomic64_add(n, &slnd.counters[which]);
}

static inline void slnd_count(enum slnd_counter which)
{
	slnd_add(which, 1);
}

/* slnd_main.c */
int slnd_user_expose(const struct slnd_offer *offer, struct slnd_buffer **buffer, void **arg);
void slnd_user_exposed(void *arg, int status);
void slnd_user_message(u32 from, const void *data, u32 bytes);
void slnd_user_begin(void);
void slnd_user_end(void);

/* slnd_device.c */
int slnd_device_open(void);
void slnd_device_close(bool polite);

/* slnd_conn.c */
struct slnd_peer *slnd_peer_get(u32 address);
void slnd_peers_free(void);
struct slnd_conn *slnd_conn_new(struct slnd_peer *peer);
struct slnd_conn *slnd_conn_find(u32 id);
void slnd_for_conns(void (*do_it)(struct slnd_conn *conn));
void slnd_conn_put(struct slnd_conn *conn);
void slnd_conn_open(struct slnd_conn *conn, struct slnd_peer *peer, bool initiator, u64 stamp);
void slnd_conn_end(struct slnd_conn *conn, const char *why);
void slnd_conn_end_locked(struct slnd_conn *conn, const char *why);
void slnd_conn_shut(struct slnd_conn *conn);
void slnd_conn_closed(struct slnd_conn *conn, bool *side);
void slnd_conn_bury(struct slnd_conn *conn);

/* slnd_dgram.c */
int slnd_hail(struct slnd_conn *conn);
void slnd_hail_expire(bool all);
int slnd_mover(void *unused);

/* slnd_mailbox.c */
struct slnd_box *slnd_box_get(void);
void slnd_box_put(struct slnd_box *box);
void slnd_box_describe(const struct slnd_box *box, gni_smsg_attr_t *attr);
void slnd_blocks_free(void);

/* slnd_quarantine.c */
void slnd_quarantine_box(struct slnd_conn *conn);
void slnd_quarantine_handle(struct slnd_conn *conn, const gni_mem_handle_t *handle);
void slnd_quarantine_hello(const struct slnd_conn *conn);
void slnd_quarantine_expire(bool all);

/* slnd_send.c */
int slnd_sent_init(u32 entries);
struct slnd_tx *slnd_tx_new(struct slnd_peer *peer, enum slnd_type type, const void *data,
			    u32 bytes);
void slnd_tx_only(struct slnd_tx *tx, struct slnd_conn *conn);
void slnd_tx_queue(struct slnd_tx *tx);
void slnd_tx_events(void);
void slnd_peer_push(struct slnd_peer *peer);
void slnd_peer_flush(struct slnd_peer *peer, unsigned long age);
void slnd_say(struct slnd_conn *conn, enum slnd_type type);

/* slnd_receive.c */
void slnd_rx_events(void);
bool slnd_receive(struct slnd_conn *conn);

/* slnd_bulk.c */
int slnd_bulk_map(struct slnd_tx *tx);
void slnd_bulk_asked(struct slnd_bulk *bulk, struct slnd_conn *conn);
void slnd_bulk_done(struct slnd_conn *conn, const struct slnd_bulk_words *words);
void slnd_bulk_finish(struct slnd_bulk *bulk, int status);
void slnd_bulk_fail_all(struct slnd_conn *conn);

/* slnd_rdma.c */
void slnd_rdma_asked(struct slnd_conn *conn, const struct slnd_bulk_words *words);
void slnd_rdma_events(void);
void slnd_rdma_waiting(void);

/* slnd_map.c */
int slnd_map(struct slnd_buffer *buffer, gni_mem_handle_t *handle);
void slnd_map_hold(struct slnd_buffer *buffer);
void slnd_map_end(void);

/* slnd_sched.c */
void slnd_cq_handler(u32 device, u64 event);
void slnd_wake(unsigned int event);
void slnd_schedule(struct slnd_conn *conn);
void slnd_schedule_later(struct slnd_conn *conn);
int slnd_schedulers_start(void);
void slnd_schedulers_stop(void);

/* slnd_keeper.c */
void slnd_keeper_wake(void);
void slnd_keeper_sleep(unsigned long ticks);
void slnd_keep_ended(void);
int slnd_keeper_run(void *unused);

/* slnd_debugfs.c */
void slnd_debugfs_init(void);
void slnd_debugfs_exit(void);

#endif
