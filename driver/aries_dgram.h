/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Datagrams: what aries_chan.c, aries_peer.c, aries_dgmatch.c and aries_dgram.c share.
 *
 *   aries_dgram    requests of processes, states of their datagrams
 *   aries_dgmatch  which datagram meets which, here and with other nodes
 *   aries_peer     messages to and from the driver of another node: in order, once, acknowledged
 *   aries_chan     FMA descriptor 0, the receive area, its queue and interrupt, the work item
 *
 * aries_chan.lock, a spinlock, protects everything of the upper two and the queues of messages.
 * Nothing under it sleeps or touches the NIC; hardware is the business of the one work item.
 */
#ifndef ARIES_DGRAM_H
#define ARIES_DGRAM_H

#include <linux/hashtable.h>
#include <linux/workqueue.h>

#include "aries.h"

/* The drivers' own domain: no process enters it, whatever its rights. */
#define ARIES_CHAN_PTAG 2
#define ARIES_CHAN_COOKIE 0x00020001u /* pkey 2 is a kernel key */
/* Kernel's number 0 of each kind, the same on every node: peers must know the MDH. */
#define ARIES_CHAN_FMAD 0
#define ARIES_CHAN_CQ 0
#define ARIES_CHAN_MDH 0
#define ARIES_CHAN_OWNER 0

#define ARIES_SLOT_BYTES 256
#define ARIES_SLOTS_MIN 16
#define ARIES_SLOTS_MAX 4096 /* nodes of a larger fabric share slots */
#define ARIES_SLOT_ACK 208 /* where the acknowledgment is */
#define ARIES_MSG_MAGIC 0x31474441u /* "ADG1" */

enum aries_msg_type {
	ARIES_MSG_REQUEST = 1, /* a directed datagram looks for its match */
	ARIES_MSG_ACCEPT, /* found one; carries the other's data */
	ARIES_MSG_CONFIRM, /* the first side has the data: both are complete */
	ARIES_MSG_REJECT, /* the first side was cancelled meanwhile */
	ARIES_MSG_CANCEL, /* forget the request */
	ARIES_MSG_NAK, /* nobody of that name, or no room: ask again later */
	ARIES_MSG_LAST = ARIES_MSG_NAK,
};

/**
 * struct aries_msg - one message between two drivers, at the start of a slot
 * @magic: ARIES_MSG_MAGIC
 * @src: node address of the sender
 * @src_epoch: names the sender's side of the connection; another one after a restart or a loss
 * @dst_epoch: that of the receiver, 0 if the sender does not know it yet
 * @seq: counts messages in this direction
 * @type: enum aries_msg_type
 * @len: bytes of @data in use
 * @cookie: domain of the datagrams
 * @src_inst: instance of the sender's datagram
 * @dst_inst: instance of the receiver's
 * @reserved: zero
 * @src_handle: the sender's datagram
 * @dst_handle: the receiver's, as it was told
 * @data: payload
 * @check: of everything before; a slot may be read while it is written
 */
struct aries_msg {
	__le32 magic;
	__le32 src;
	__le64 src_epoch;
	__le64 dst_epoch;
	__le32 seq;
	__le16 type;
	__le16 len;
	__le32 cookie;
	__le32 src_inst;
	__le32 dst_inst;
	__le32 reserved;
	__le64 src_handle;
	__le64 dst_handle;
	u8 data[KGNI_DGRAM_BYTES];
	__le64 check;
};

static_assert(sizeof(struct aries_msg) == 200);

/**
 * struct aries_ack - the answer to a message, at ARIES_SLOT_ACK of a slot
 * @src: node address of who acknowledges
 * @seq: of the message
 * @to_epoch: src_epoch of the message
 * @epoch: of who acknowledges
 * @stale: not 0: not taken, it was meant for an earlier life
 * @check: of everything before
 */
struct aries_ack {
	__le32 src;
	__le32 seq;
	__le64 to_epoch;
	__le64 epoch;
	__le32 stale;
	__le32 check;
};

static_assert(ARIES_SLOT_ACK + sizeof(struct aries_ack) <= ARIES_SLOT_BYTES);

/* Remote event of a put into a slot. It is a hint where to look, nothing more. */
#define ARIES_CHAN_EVENT_ACK BIT(31)

/** struct aries_tx - a message that waits for its turn or its acknowledgment */
struct aries_tx {
	struct list_head node;
	struct aries_msg msg;
};

/**
 * struct aries_peer - the driver of another node
 * @pe: its address
 * @active: in aries_chan.active while it has messages to send
 * @tx: messages, the first is under way
 * @ntx: how many
 * @sent: the first was put at least once
 * @epoch: of the peer, 0 unknown
 * @own_epoch: ours towards it
 * @tx_seq: of the first message
 * @rx_seq: last one taken
 * @rx_any: @rx_seq is valid
 * @next: when to put the first message again
 * @since: when its first attempt was
 * @pause: between attempts
 * @failed: the last put failed
 */
struct aries_peer {
	u32 pe;
	struct list_head active;
	struct list_head tx;
	unsigned int ntx;
	bool sent;
	u64 epoch;
	u64 own_epoch;
	u32 tx_seq;
	u32 rx_seq;
	bool rx_any;
	unsigned long next;
	unsigned long since;
	unsigned long pause;
	bool failed;
};

/**
 * struct aries_chan - the channel between drivers, and all datagrams of a NIC
 * @ad: the device
 * @lock: see the top of this file
 * @on: the hardware part is set up
 * @work: does everything that touches the NIC
 * @wq: its queue
 * @slots: of the receive area, a power of two, the same on every node of the fabric
 * @area: receive area
 * @area_dma: its bus address
 * @pte: page of translation entries
 * @pte_dma: its bus address
 * @cq: header page and slots of the kernel's queue
 * @cq_dma: its bus address
 * @consumed: entries taken from it
 * @stuck: the NIC did not let go of the receive area
 * @bell: doorbell page of descriptor 0
 * @peers: struct aries_peer by node address
 * @active: peers that have something to send
 * @ctxs: attachments, struct aries_dgrams
 * @remote: datagrams that wait for another node
 * @by_handle: those that other nodes may name
 * @by_ep: all, by attachment and endpoint
 * @handle: last number given out
 * @lost: peers given up
 */
struct aries_chan {
	struct aries_dev *ad;
	spinlock_t lock; /* the rest */
	bool on;
	struct delayed_work work;
	struct workqueue_struct *wq;
	u32 slots;
	u8 *area;
	dma_addr_t area_dma;
	__le64 *pte;
	dma_addr_t pte_dma;
	u64 *cq;
	dma_addr_t cq_dma;
	u64 consumed;
	bool stuck;
	void __iomem *bell;
	struct xarray peers;
	struct list_head active;
	struct list_head ctxs;
	struct list_head remote;
	DECLARE_HASHTABLE(by_handle, 8);
	DECLARE_HASHTABLE(by_ep, 10);
	u64 handle;
	unsigned long lost;
};

/**
 * struct aries_dgram - one datagram of a process
 * @node: in the pending or done list of its attachment
 * @remote: in aries_chan.remote
 * @hash: in aries_chan.by_handle
 * @ep_hash: in aries_chan.by_ep
 * @ctx: attachment
 * @ep: endpoint, as the process calls it
 * @id: given by the process
 * @handle: name towards other nodes, never used again
 * @flags: KGNI_DGRAM_*
 * @to_pe: node that a directed one goes to; of any one the partner's once there is a partner
 * @to_inst: the same for the instance
 * @peer_handle: the partner's handle, while the exchange is under way
 * @state: KGNI_DGRAM_*
 * @cancelled: by its owner; ends as TERMINATED whatever the partner says
 * @orphan: the endpoint is gone, told once and then forgotten
 * @asking: a request is in the queue of messages
 * @next: when to ask, or to look after the peer, again
 * @pause: between requests
 * @in_len: bytes of @in
 * @out_len: bytes of @out
 * @in: what the process sends
 * @out: what the partner sent
 */
struct aries_dgram {
	struct list_head node;
	struct list_head remote;
	struct hlist_node hash;
	struct hlist_node ep_hash;
	struct aries_ctx *ctx;
	u64 ep;
	u64 id;
	u64 handle;
	u32 flags;
	u32 to_pe;
	u32 to_inst;
	u64 peer_handle;
	u32 state;
	bool cancelled;
	bool orphan;
	bool asking;
	unsigned long next;
	unsigned long pause;
	u16 in_len;
	u16 out_len;
	u8 in[KGNI_DGRAM_BYTES];
	u8 out[KGNI_DGRAM_BYTES];
};

/** struct aries_early - a request of another node that no datagram matched yet */
struct aries_early {
	struct list_head node;
	u32 pe;
	u32 inst;
	u64 handle;
	u16 len;
	u8 data[KGNI_DGRAM_BYTES];
};

/**
 * struct aries_spare - memory for what a message may need, allocated where one may sleep
 * @tx: for a reply
 * @early: for a request without match
 */
struct aries_spare {
	struct aries_tx *tx;
	struct aries_early *early;
};

/* aries_chan.c */
int aries_chan_put(struct aries_chan *ch, u32 pe, u32 at, const void *data, size_t bytes,
		   u32 event);
void aries_chan_kick(struct aries_chan *ch);

/* aries_peer.c */
struct aries_peer *aries_peer_get(struct aries_chan *ch, u32 pe);
struct aries_peer *aries_peer_find(struct aries_chan *ch, u32 pe);
void aries_peer_queue(struct aries_chan *ch, struct aries_peer *peer, struct aries_tx *tx);
void aries_peer_rx_msg(struct aries_chan *ch, u32 slot, bool hinted);
void aries_peer_rx_ack(struct aries_chan *ch, u32 slot);
unsigned long aries_peer_run(struct aries_chan *ch, unsigned long next);
void aries_peer_free_all(struct aries_chan *ch);
unsigned long aries_earlier(unsigned long a, unsigned long b);

/* aries_dgmatch.c */
void aries_dg_message(struct aries_chan *ch, struct aries_peer *peer, const struct aries_msg *msg,
		      struct aries_spare *spare);
void aries_dg_peer_restarted(struct aries_chan *ch, u32 pe, bool lost);
bool aries_dg_meet(struct aries_chan *ch, struct aries_dgram *dg, struct aries_spare *spare);
void aries_dg_sent(struct aries_chan *ch, const struct aries_msg *msg);
unsigned long aries_dg_run(struct aries_chan *ch, unsigned long next);
void aries_dg_tell(struct aries_chan *ch, u32 pe, enum aries_msg_type type, u32 cookie,
		   u64 dst_handle, u64 src_handle);

/* aries_dgram.c */
void aries_dg_finish(struct aries_chan *ch, struct aries_dgram *dg, u32 state);

#endif /* ARIES_DGRAM_H */
