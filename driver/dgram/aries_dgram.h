/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Datagrams: what aries_chan.c, aries_peer.c, aries_dgmatch.c and aries_dgram.c share.
 *
 *   aries_dgram    requests of processes, states of their datagrams
 *   aries_dgmatch  which datagram meets which, here and with other nodes
 *   aries_flow     whose message to another node is the next one, and when to ask again
 *   aries_peer     messages to and from the driver of another node: in order, once, acknowledged
 *   aries_chan     FMA descriptor 0, the receive area, its queue and interrupt, the work item
 *
 * aries_chan.lock, a spinlock with interrupts off, protects everything of the upper three and the
 * peers. Nothing under it sleeps or touches the NIC; hardware is the business of the one work item.
 * Nobody's number of datagrams decides how long it is held: what is looked for is found by a hash
 * whose seed nobody knows, and what concerns many is done in portions of ARIES_DG_BATCH.
 */
#ifndef ARIES_DGRAM_H
#define ARIES_DGRAM_H

#include <linux/hashtable.h>
#include <linux/workqueue.h>

#include "aries_chan.h"
#include "aries_dgram_api.h"
#include "aries_port.h"
#include "aries_ptag.h"

/* Kernel's number 0 of each kind, the same on every node: peers must know the MDH. */
#define ARIES_CHAN_FMAD 0
#define ARIES_CHAN_CQ 0
#define ARIES_CHAN_MDH 0
#define ARIES_CHAN_OWNER 0

#define ARIES_SLOT_BYTES 256
#define ARIES_SLOTS_MIN 16
#define ARIES_SLOTS_MAX 4096 /* nodes of a larger fabric share slots */
#define ARIES_SLOT_ACK 208 /* where the acknowledgment is */
/* "ADG" and the version of what follows. Version 1 was under another tag and key. */
#define ARIES_MSG_MAGIC 0x32474441u
#define ARIES_MSG_MAGIC_MASK 0x00ffffffu

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
 * @src: node address of the side that acknowledges
 * @seq: of the message
 * @to_epoch: src_epoch of the message
 * @epoch: of the side that acknowledges
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

/* Datagrams, requests or messages that are gone through before others get the lock. */
#define ARIES_DG_BATCH 64
#define ARIES_DG_BITS 12 /* of hash tables */
#define ARIES_PAUSES 16 /* list n is for pauses of 2^n jiffies */

/**
 * struct aries_note - a message without data that waits for its turn
 * @node: in aries_flow.notes
 * @type: enum aries_msg_type
 * @cookie: as in struct aries_msg, and the rest too
 * @src_inst: instance of the sender
 * @dst_inst: instance of the receiver
 * @src_handle: the sender's datagram
 * @dst_handle: the receiver's
 */
struct aries_note {
	struct list_head node;
	u16 type;
	u32 cookie;
	u32 src_inst;
	u32 dst_inst;
	u64 src_handle;
	u64 dst_handle;
};

/**
 * struct aries_flow - what the datagrams of one domain have to say to one peer
 *
 * Flows of a peer take turns, so a domain has its share of the channel however much others have to
 * say. There is one while it has datagrams or notes.
 *
 * @hash: in aries_chan.flows
 * @node: in aries_peer.flows
 * @turn: in aries_peer.turn while there is something to send
 * @peer: to whom
 * @cookie: whose
 * @ptag: the same as this node calls it, 0 for nobody
 * @notes: messages without data, first of all
 * @nnotes: how many
 * @answers: datagrams that have met one of the peer, whose data is to go there
 * @asks: datagrams that look for their match, last of all
 * @users: datagrams that belong here
 * @sent: messages so far
 */
struct aries_flow {
	struct hlist_node hash;
	struct list_head node;
	struct list_head turn;
	struct aries_peer *peer;
	u32 cookie;
	u8 ptag;
	struct list_head notes;
	unsigned int nnotes;
	struct list_head answers;
	struct list_head asks;
	unsigned int users;
	u64 sent;
};

/**
 * struct aries_peer - the driver of another node
 * @pe: its address
 * @active: in aries_chan.active while a message is under way or a flow has its turn
 * @flows: all flows
 * @turn: those that have something to send
 * @nobody: what no datagram of ours is behind: refusals
 * @dgrams: ours that are directed there or have met one from there
 * @earlies: its requests that we keep
 * @restarted: it has forgotten everything; aries_dg_settle() is to be called
 * @lost: and is not there any more
 * @old_dgrams: those of @dgrams that do not know yet
 * @old_earlies: those of @earlies
 * @old_notes: what was not sent before
 * @busy: @msg is under way
 * @msg: message under way
 * @flying: datagram that it is about, NULL for none and when that has ended
 * @epoch: of the peer, 0 unknown
 * @own_epoch: ours towards it
 * @tx_seq: of @msg, or of the next one
 * @rx_seq: last one taken
 * @rx_any: @rx_seq is valid
 * @next: when to put @msg again
 * @since: when its first attempt was
 * @pause: between attempts
 * @failed: the last put failed
 * @warned: the log has it that the peer's driver is of another version
 */
struct aries_peer {
	u32 pe;
	struct list_head active;
	struct list_head flows;
	struct list_head turn;
	struct aries_flow nobody;
	struct list_head dgrams;
	struct list_head earlies;
	bool restarted;
	bool lost;
	struct list_head old_dgrams;
	struct list_head old_earlies;
	struct list_head old_notes;
	bool busy;
	struct aries_msg msg;
	struct aries_dgram *flying;
	u64 epoch;
	u64 own_epoch;
	u32 tx_seq;
	u32 rx_seq;
	bool rx_any;
	unsigned long next;
	unsigned long since;
	unsigned long pause;
	bool failed;
	bool warned;
};

/**
 * struct aries_spare - memory for what a message may need, allocated where one may sleep
 * @note: for a reply
 * @early: for a request without match
 * @flow: for a datagram that is the first of its domain that deals with that peer
 */
struct aries_spare {
	struct aries_note *note;
	struct aries_early *early;
	struct aries_flow *flow;
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
 * @port: FMA descriptor 0
 * @spare: of the work item
 * @peers: struct aries_peer by node address
 * @active: peers that have something to send
 * @pause: datagrams that ask another node again, by the length of the pause
 * @seed: of the hash tables
 * @flows: by node and cookie
 * @by_inst: attachments, by cookie and instance
 * @by_handle: datagrams that other nodes may name
 * @by_ep: all of them, by attachment and endpoint
 * @by_route: those that go somewhere or have met somebody, by cookie, instance, and whom
 * @by_callee: directed ones without partner on this node, oldest first, by cookie and where they go
 * @by_partner: those that have met one of another node, by node and its handle
 * @by_request: requests that we keep, by node and handle
 * @by_caller: the same, by cookie, instance, and where they come from
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
	struct aries_port port;
	struct aries_spare spare;
	struct xarray peers;
	struct list_head active;
	struct list_head pause[ARIES_PAUSES];
	u32 seed;
	DECLARE_HASHTABLE(flows, ARIES_DG_BITS);
	DECLARE_HASHTABLE(by_inst, ARIES_DG_BITS);
	DECLARE_HASHTABLE(by_handle, ARIES_DG_BITS);
	DECLARE_HASHTABLE(by_ep, ARIES_DG_BITS);
	DECLARE_HASHTABLE(by_route, ARIES_DG_BITS);
	struct list_head by_callee[BIT(ARIES_DG_BITS)];
	DECLARE_HASHTABLE(by_partner, ARIES_DG_BITS);
	DECLARE_HASHTABLE(by_request, ARIES_DG_BITS);
	DECLARE_HASHTABLE(by_caller, ARIES_DG_BITS);
	u64 handle;
	unsigned long lost;
};

/**
 * struct aries_dgram - one datagram of a process
 * @node: in a list of its attachment, see struct aries_dgrams
 * @queue: with another node: in aries_flow.asks or answers while it has its say, or in
 *         aries_chan.pause
 * @of_peer: with another node: in aries_peer.dgrams
 * @flow: with another node: whose turn is its own
 * @wild: in aries_dgrams.wild, or in aries_chan.by_callee
 * @hash: in aries_chan.by_handle
 * @ep_hash: in aries_chan.by_ep
 * @route: in aries_chan.by_route
 * @partner: in aries_chan.by_partner
 * @own: attachment
 * @ep: endpoint, as the process calls it
 * @id: given by the process
 * @handle: name towards other nodes, never used again
 * @flags: KGNI_DGRAM_*
 * @to_pe: node that a directed one goes to; of any one the partner's once there is a partner
 * @to_inst: the same for the instance
 * @peer_handle: the partner's handle, while the exchange is under way
 * @state: KGNI_DGRAM_*
 * @ended: which one of its attachment it was to reach a final state
 * @cancelled: by its owner; ends as TERMINATED whatever the partner says
 * @orphan: the endpoint is gone, told once and then forgotten
 * @due: in a queue of its flow
 * @kept: the other node may keep its request
 * @refused: the other node has answered that there is nobody, or no room
 * @since: when it began to look for a partner
 * @next: when to ask, or to look after the peer, again
 * @in_len: bytes of @in
 * @out_len: bytes of @out
 * @in: what the process sends
 * @out: what the partner sent
 */
struct aries_dgram {
	struct list_head node;
	struct list_head queue;
	struct list_head of_peer;
	struct aries_flow *flow;
	struct list_head wild;
	struct hlist_node hash;
	struct hlist_node ep_hash;
	struct hlist_node route;
	struct hlist_node partner;
	struct aries_owner *own;
	u64 ep;
	u64 id;
	u64 handle;
	u32 flags;
	u32 to_pe;
	u32 to_inst;
	u64 peer_handle;
	u32 state;
	u64 ended;
	bool cancelled;
	bool orphan;
	bool due;
	bool kept;
	bool refused;
	unsigned long since;
	unsigned long next;
	u16 in_len;
	u16 out_len;
	u8 in[KGNI_DGRAM_BYTES];
	u8 out[KGNI_DGRAM_BYTES];
};

/**
 * struct aries_early - a request of another node that no datagram matched yet
 * @node: in aries_dgrams.early
 * @of_peer: in aries_peer.earlies
 * @request: in aries_chan.by_request
 * @caller: in aries_chan.by_caller
 * @dgs: attachment that keeps it
 * @pe: from where
 * @inst: from whom
 * @handle: name of the datagram there
 * @len: bytes of @data
 * @data: what it brings
 */
struct aries_early {
	struct list_head node;
	struct list_head of_peer;
	struct hlist_node request;
	struct hlist_node caller;
	struct aries_dgrams *dgs;
	u32 pe;
	u32 inst;
	u64 handle;
	u16 len;
	u8 data[KGNI_DGRAM_BYTES];
};

/* aries_chan.c */
int aries_chan_put(struct aries_chan *ch, u32 pe, u32 at, const void *data, size_t bytes,
		   u32 event);
void aries_chan_kick(struct aries_chan *ch);

/* aries_peer.c */
struct aries_peer *aries_peer_get(struct aries_chan *ch, u32 pe);
struct aries_peer *aries_peer_find(struct aries_chan *ch, u32 pe);
void aries_peer_rx_msg(struct aries_chan *ch, u32 slot, bool hinted);
void aries_peer_rx_ack(struct aries_chan *ch, u32 slot);
unsigned long aries_peer_run(struct aries_chan *ch, unsigned long next);
void aries_peer_free_all(struct aries_chan *ch);

/* aries_flow.c */
u32 aries_dg_key(const struct aries_chan *ch, u32 a, u32 b, u32 c, u32 d);
unsigned long aries_earlier(unsigned long a, unsigned long b);
void aries_flow_init(struct aries_flow *flow, struct aries_peer *peer, u32 cookie);
bool aries_flow_bind(struct aries_chan *ch, struct aries_dgram *dg, struct aries_peer *peer,
		     struct aries_flow **spare);
void aries_flow_leave(struct aries_dgram *dg);
void aries_flow_due(struct aries_chan *ch, struct aries_dgram *dg);
void aries_flow_refused(struct aries_chan *ch, struct aries_dgram *dg);
struct aries_note *aries_flow_note(struct aries_chan *ch, struct aries_flow *flow,
				   struct aries_note **spare);
bool aries_flow_next(struct aries_peer *peer);
void aries_flow_landed(struct aries_chan *ch, struct aries_peer *peer);
void aries_flow_forget(struct aries_peer *peer);
unsigned long aries_flow_run(struct aries_chan *ch, unsigned long next);

/* aries_dgmatch.c */
void aries_dg_message(struct aries_chan *ch, struct aries_peer *peer, const struct aries_msg *msg,
		      struct aries_spare *spare);
void aries_dg_settle(struct aries_chan *ch, struct aries_peer *peer);
bool aries_dg_meet(struct aries_chan *ch, struct aries_dgram *dg, struct aries_spare *spare);
bool aries_dg_named_already(struct aries_chan *ch, const struct aries_dgram *dg);
void aries_dg_tell(struct aries_chan *ch, struct aries_flow *flow, enum aries_msg_type type,
		   u32 cookie, u64 dst_handle, u64 src_handle);
void aries_early_free(struct aries_early *early);

/* aries_dgram.c */
void aries_dg_finish(struct aries_chan *ch, struct aries_dgram *dg, u32 state);

#endif /* ARIES_DGRAM_H */
