/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of slnd share. Locks and wake-ups are described in slnd_signal.c.
 *
 * States of a connection, and who changes them, with slnd.mutex held:
 *
 *   from         to           by                       when
 *                CONNECTING   slnd_conn_new()          reaper: its datagram will be posted
 *   CONNECTING   ESTABLISHED  slnd_conn_establish()    dgram thread: both have the other's connreq
 *   ESTABLISHED  CLOSING      slnd_conn_shut()         reaper: we leave
 *   not CLOSED   CLOSED       slnd_conn_close()        any: refused, error, silence, newer, reset
 *   CLOSED       purgatory    slnd_conn_free()         reaper: nothing in flight; freed if clean
 *   purgatory    freed        slnd_purgatory_expire()  reaper: the peer cannot write to it any more
 */
#ifndef SLND_PRIV_H
#define SLND_PRIV_H

#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "slnd.h"

#define SLND_DEVICE 0

enum slnd_connreq_type { SLND_WILDCARD = 1, SLND_REQUEST };

struct slnd_connreq { /* contents of a datagram */
	u32 magic;
	u16 version;
	u16 type; /* enum slnd_connreq_type */
	u32 address;
	u32 conn_id;	 /* event data of messages to the sender */
	u64 incarnation; /* of the sender; a new one each time it attaches */
	u64 stamp;	 /* number of this request */
	u64 known;	 /* of the newest request that came from the receiver */
	gni_smsg_attr_t smsg;
};

/* PUT_REQ asks the receiver to get bulk data, GET_REQ to put them. DONE is the answer. */
enum slnd_type { SLND_NOOP = 1, SLND_CLOSE, SLND_DONE, SLND_IMMEDIATE, SLND_PUT_REQ, SLND_GET_REQ };

struct slnd_msg {
	u16 type; /* enum slnd_type */
	u16 reserved;
	s32 status;
	u32 bytes;
	u32 id; /* of the transfer, from here on */
	u64 tag;
	u64 address; /* offset in the registration */
	gni_mem_handle_t handle;
};

enum slnd_state { SLND_CONNECTING, SLND_ESTABLISHED, SLND_CLOSING, SLND_CLOSED };

struct slnd_conn {
	u32 id; /* in slnd.conns, of its datagram, and in events */
	enum slnd_state state;
	bool posted;		/* its datagram is */
	bool initiator;		/* this side has requested it */
	bool clean;		/* no peer writes to the mailbox */
	unsigned int in_flight; /* messages and transfers that have not ended here */
	u64 stamp, known; /* of the request that made it */
	gni_ep_handle_t ep;
	struct slnd_peer *peer; /* NULL while it is a wildcard */
	struct slnd_connreq mine, theirs;
	struct list_head exposed;	       /* transfers that the peer was asked for */
	struct list_head node;		       /* in slnd_peer.conns, then slnd.purgatory */
	unsigned long since, last_rx, last_tx; /* since when it was posted, or in purgatory */
};

struct slnd_peer { /* a node; exists until the module is unloaded */
	u32 address;
	struct list_head txq; /* messages that were not sent yet */
	struct list_head conns;
	struct slnd_conn *conn;	    /* to send on, or NULL */
	struct slnd_conn *dgram;    /* whose datagram is posted, or NULL */
	u64 incarnation, stamp;	    /* of the newest connection, of the newest request received */
	u64 greeted[2];		    /* stamp before which nothing comes any more, by initiator */
	unsigned long retry, pause; /* when to post the next datagram */
};

struct slnd_tx { /* a message to be sent */
	struct list_head node;	    /* in slnd.txq, slnd_peer.txq; a transfer then in .exposed */
	u32 to, id;		    /* the latter in slnd.txs, and in the event */
	struct slnd_conn *conn;	    /* that it was sent on, or has to be; counted there */
	struct slnd_buffer *buffer; /* of a transfer, until that is over */
	unsigned long since;
	slnd_done_f *done;
	void *arg;
	struct slnd_msg msg;
	u8 data[];
};

struct slnd_counters { /* shown in debugfs by these names */
	u64 messages_sent, messages_received, sends_stalled, puts, gets, exposures, bounced;
	u64 bulk_bytes, bulks_failed, posts_repeated, posts_refused, overruns, resets, quiesces;
	u64 connected, closed, failed, connreqs_refused, purgatory, released;
};

enum { SLND_EV_RX, SLND_EV_TX, SLND_EV_RDMA, SLND_EV_NEW, SLND_EV_STALL, SLND_EV_RETRY };

struct slnd {
	/* see slnd_signal.c */
	unsigned long events; /* bits of SLND_EV_* */
	bool stalled;	      /* something has no credits, or no space */
	bool reap;	      /* the reaper has something to do */
	bool critical;	      /* the NIC was reset */
	bool resumed;	      /* a quiesce has ended */
	wait_queue_head_t sched_wq, reaper_wq;
	spinlock_t lock;      /* the next one */
	struct list_head txq; /* messages that the user has handed over */
	atomic_t user_ops;    /* whose end the user was not told yet */
	struct mutex mutex;   /* all below */
	const struct slnd_user *user;
	bool up, stopping; /* the NIC is attached; it will be detached */
	bool quiet;	   /* the network is quiesced, or was until now */
	u32 address;
	u64 incarnation, stamp; /* the latter of the last request */
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_err_handle_t err;
	gni_cq_handle_t tx_cq, rx_cq, rdma_cq;
	unsigned int sends_left, posts_left; /* room in tx_cq and rdma_cq */
	unsigned int wildcards;		     /* that are posted */
	struct list_head rdmaq;		     /* transfers that wait for space */
	struct list_head mapped;	     /* registered buffers */
	struct list_head purgatory;
	struct xarray conns, peers, txs;
	u32 next_conn;
	struct task_struct *scheduler, *dgram_task, *reaper;
	struct slnd_counters counters;
};

extern struct slnd slnd;
extern unsigned int slnd_credits, slnd_timeout, slnd_rx_entries, slnd_posts, slnd_hold;

/* slnd_signal.c */
void slnd_wake(unsigned int event);
void slnd_reaper_wake(void);
void slnd_stall(void);
bool slnd_sched_sleep(void);
void slnd_reaper_sleep(unsigned long ticks);
void slnd_cq_handler(u32 device, u64 event);
void slnd_critical(gni_err_handle_t err);
void slnd_resumed(gni_nic_handle_t nic, u64 ms);

/* slnd_mem.c */
int slnd_mbox_get(gni_smsg_attr_t *mbox);
void slnd_mbox_free(gni_smsg_attr_t *mbox);
int slnd_map(struct slnd_buffer *buffer);
void slnd_map_end(struct slnd_buffer *buffer, int hold_ms);

/* slnd_purgatory.c */
void slnd_purgatory_enter(struct slnd_conn *conn);
void slnd_purgatory_hello(const struct slnd_conn *conn);
void slnd_purgatory_expire(bool all);

/* slnd_conn.c */
struct slnd_peer *slnd_peer_get(u32 address);
struct slnd_conn *slnd_conn_new(struct slnd_peer *peer);
void slnd_conn_establish(struct slnd_conn *conn, struct slnd_peer *peer, bool initiator);
void slnd_conn_shut(struct slnd_conn *conn);
void slnd_conn_close(struct slnd_conn *conn, const char *why);
void slnd_conn_put(struct slnd_conn *conn);
void slnd_conn_free(struct slnd_conn *conn);

/* slnd_dgram.c */
void slnd_dgram_post(struct slnd_peer *peer);
void slnd_dgram_cancel(struct slnd_conn *conn);
int slnd_dgram_thread(void *unused);

/* slnd_tx.c */
void slnd_tx_say(struct slnd_conn *conn, struct slnd_msg msg);
void slnd_tx_bulk_end(struct slnd_tx *tx, int status);
void slnd_tx_take(void);
void slnd_tx_events(void);
void slnd_peer_push(struct slnd_peer *peer);

/* slnd_rdma.c */
void slnd_rdma_req(struct slnd_conn *conn, const struct slnd_msg *msg);
void slnd_rdma_events(void);
void slnd_rdma_retry(void);

/* slnd_sched.c, slnd_reaper.c */
int slnd_sched_thread(void *unused);
int slnd_device_open(void);
void slnd_device_free(void);
int slnd_reaper_thread(void *unused);

#endif
