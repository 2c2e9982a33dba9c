/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Datagrams: declarations that the files of this folder share.
 *
 *   aries_dgram    requests of processes, states of their datagrams
 *   aries_dgmatch  matching of datagrams, on this node and with other nodes
 *   aries_flow     which message to another node is the next one, and when to ask again
 *   aries_peer     messages to and from the driver of another node: ordered and reliable
 *   aries_chan     FMA descriptor 0, the receive area, its queue and interrupt, the work item
 *
 * aries_chan.lock, a spinlock with interrupts disabled, protects everything of the upper three and
 * the peers. Under it nothing sleeps or accesses the NIC; only the work item does. How long it is
 * held does not depend on the number of datagrams: searches use hash tables with a secret seed, and
 * work on many datagrams is done in batches of ARIES_DG_BATCH.
 */
#ifndef ARIES_DGRAM_H
#define ARIES_DGRAM_H

#include <linux/hashtable.h>
#include <linux/workqueue.h>

#include "aries_chan.h"
#include "aries_dgram_api.h"
#include "aries_port.h"
#include "aries_ptag.h"

/* The kernel has number 0 of each kind, on every node, because peers must know the MDH. */
#define ARIES_CHAN_FMAD 0
#define ARIES_CHAN_CQ 0
#define ARIES_CHAN_MDH 0
#define ARIES_CHAN_OWNER 0

#define ARIES_SLOT_BYTES 256
#define ARIES_SLOTS_MIN 16
#define ARIES_SLOTS_MAX 4096 /* nodes of a larger fabric share slots */
#define ARIES_SLOT_ACK 208 /* offset of the acknowledgment */
/*
 * "ADG" and the version of the protocol. Version 1 used another tag and key, and version 2 another
 * checksum.
 */
#define ARIES_MSG_MAGIC 0x33474441u
#define ARIES_MSG_MAGIC_MASK 0x00ffffffu

enum aries_msg_type {
	ARIES_MSG_REQUEST = 1, /* a directed datagram looks for its match */
	ARIES_MSG_ACCEPT, /* a match was found; carries its data */
	ARIES_MSG_CONFIRM, /* the first side has the data: both are complete */
	ARIES_MSG_REJECT, /* the datagram of the first side was cancelled meanwhile */
	ARIES_MSG_CANCEL, /* forget the request */
	ARIES_MSG_NAK, /* no such instance, or no space: ask again later */
	ARIES_MSG_LAST = ARIES_MSG_NAK,
};

/**
 * struct aries_msg - one message between two drivers, at the start of a slot
 * @magic: ARIES_MSG_MAGIC
 * @src: node address of the sender
 * @src_epoch: identifies the sender's side of the connection; a new one after a restart or a loss
 * @dst_epoch: epoch of the receiver, 0 if the sender does not know it yet
 * @seq: counts messages in this direction
 * @type: enum aries_msg_type
 * @len: bytes of @data in use
 * @cookie: domain of the datagrams
 * @src_inst: instance of the sender's datagram
 * @dst_inst: instance of the receiver's datagram
 * @reserved: zero
 * @src_handle: the sender's datagram
 * @dst_handle: the receiver's datagram, as learned from its messages
 * @data: payload
 * @check: CRC-32 of everything before, because a slot may be read while it is written
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
 * @seq: sequence number of the message
 * @to_epoch: src_epoch of the message
 * @epoch: epoch of the side that acknowledges
 * @stale: not 0 if the message was dropped, because it was meant for an earlier epoch
 * @check: CRC-32 of everything before
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

/* Remote event of a put into a slot. It is only a hint where to look. */
#define ARIES_CHAN_EVENT_ACK BIT(31)

/* Datagrams, requests or messages to handle before the lock is dropped. */
#define ARIES_DG_BATCH 64
#define ARIES_DG_BITS 12 /* size of hash tables */
#define ARIES_PAUSES 16 /* list n has pauses of 2^n jiffies */

/**
 * struct aries_note - a message without data that waits for its turn
 * @node: in aries_flow.notes
 * @type: enum aries_msg_type
 * @cookie: as in struct aries_msg, like the other members
 * @src_inst: instance of the sender
 * @dst_inst: instance of the receiver
 * @src_handle: the sender's datagram
 * @dst_handle: the receiver's datagram
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
 * struct aries_flow - messages of the datagrams of one domain to one peer
 *
 * The flows of a peer take turns, so that each domain gets its share of the channel, however many
 * messages others have. A flow exists while it has datagrams or notes.
 *
 * @hash: in aries_chan.flows
 * @node: in aries_peer.flows
 * @turn: in aries_peer.turn while it has something to send
 * @peer: receiver
 * @cookie: domain
 * @ptag: tag of the domain on this node, 0 for no domain
 * @notes: messages without data; they are sent first
 * @nnotes: number of notes
 * @answers: matched datagrams whose data has to be sent to the peer
 * @asks: datagrams that look for a match; they are sent last
 * @users: number of datagrams of this flow
 * @sent: number of messages sent
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
 * @pe: node address
 * @active: in aries_chan.active while a message is in flight or a flow has something to send
 * @flows: all its flows
 * @turn: flows that have something to send
 * @nobody: flow for messages that belong to no datagram of ours: refusals
 * @dgrams: our datagrams that are directed to this node, or are matched with one of it
 * @earlies: requests of the peer that we keep
 * @restarted: it has restarted, so aries_dg_settle() has to be called
 * @lost: it was given up as lost
 * @old_dgrams: datagrams from before the restart
 * @old_earlies: requests from before the restart
 * @old_notes: notes that were not sent before the restart
 * @busy: @msg is in flight
 * @msg: message in flight
 * @flying: datagram that @msg belongs to, NULL if there is none or it has ended
 * @epoch: epoch of the peer, 0 if unknown
 * @own_epoch: our epoch towards this peer
 * @tx_seq: sequence number of @msg, or of the next message
 * @rx_seq: sequence number of the last message accepted
 * @rx_any: @rx_seq is valid
 * @next: when to retransmit @msg
 * @since: when @msg was sent first
 * @pause: pause between attempts
 * @failed: the last put failed
 * @warned: it was logged that the peer's driver has another version
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
 * struct aries_spare - memory that handling a message may need, allocated before taking the lock
 * @note: memory for a reply
 * @early: memory for a request without match
 * @flow: memory for the first datagram of a domain to that peer
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
 * @work: does everything that accesses the NIC
 * @wq: workqueue for it
 * @slots: slots of the receive area, a power of two, the same on every node of the fabric
 * @area: receive area
 * @area_dma: its bus address
 * @pte: page of translation entries
 * @pte_dma: its bus address
 * @cq: header page and entries of the kernel's queue
 * @cq_dma: its bus address
 * @consumed: entries read from it
 * @port: FMA descriptor 0
 * @spare: spare memory of the work item
 * @peers: struct aries_peer by node address
 * @active: peers with a message in flight or something to send
 * @pause: datagrams that will ask another node again, by the length of the pause
 * @seed: seed of the hash tables
 * @flows: flows, by node and cookie
 * @by_inst: attachments, by cookie and instance
 * @by_handle: datagrams that other nodes may name
 * @by_ep: all datagrams, by attachment and endpoint
 * @by_route: directed or matched datagrams, by cookie, instance, and partner
 * @by_callee: unmatched datagrams directed to this node, oldest first, by cookie and target
 *             instance
 * @by_partner: datagrams matched with one of another node, by node and its handle
 * @by_request: requests that we keep, by node and handle
 * @by_caller: the same, by cookie, instance, and sender
 * @handle: last handle given out
 * @lost: number of peers that were given up as lost
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
 * @queue: if another node is involved: in aries_flow.asks or answers while something has to be
 *         sent, or in aries_chan.pause
 * @of_peer: if another node is involved: in aries_peer.dgrams
 * @flow: if another node is involved: its flow
 * @wild: in aries_dgrams.wild, or in aries_chan.by_callee
 * @hash: in aries_chan.by_handle
 * @ep_hash: in aries_chan.by_ep
 * @route: in aries_chan.by_route
 * @partner: in aries_chan.by_partner
 * @own: attachment
 * @ep: name of the endpoint, chosen by the process
 * @id: id chosen by the process
 * @handle: name towards other nodes, never reused
 * @flags: KGNI_DGRAM_*
 * @to_pe: target node of a directed datagram; once matched, the partner's node
 * @to_inst: the same for the instance
 * @peer_handle: handle of the partner, while the exchange is in progress
 * @state: KGNI_DGRAM_*
 * @ended: order in which the datagrams of an attachment have reached their final state
 * @cancelled: cancelled by its owner; it ends as TERMINATED whatever the partner answers
 * @orphan: the endpoint was destroyed; the datagram is reported once and then freed
 * @due: it is in a queue of its flow
 * @kept: the other node may have kept its request
 * @refused: the other node has answered that there is no such instance, or no space
 * @since: when it began to look for a partner
 * @next: when to ask again, or to check the peer again
 * @in_len: bytes of @in
 * @out_len: bytes of @out
 * @in: data that the process sends
 * @out: data that the partner has sent
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
 * @pe: node of the sender
 * @inst: instance of the sender
 * @handle: handle of the datagram there
 * @len: bytes of @data
 * @data: its data
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

/* aries_chanput.c */
int aries_chan_put(struct aries_chan *ch, u32 pe, u32 at, const void *data, size_t bytes,
		   u32 event);
void aries_chan_kick(struct aries_chan *ch);

/* aries_peers.c */
u64 aries_epoch_new(void);
struct aries_peer *aries_peer_get(struct aries_chan *ch, u32 pe);
struct aries_peer *aries_peer_find(struct aries_chan *ch, u32 pe);

/* aries_peer.c */
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

/* aries_early.c */
u32 aries_handle_key(const struct aries_chan *ch, u32 pe, u64 handle);
struct aries_early *aries_early_find(struct aries_chan *ch, const struct aries_dgrams *dgs,
				     const struct aries_dgram *dg);
struct aries_early *aries_early_of(struct aries_chan *ch, u32 pe, u64 handle);
bool aries_early_keep(struct aries_chan *ch, struct aries_dgrams *dgs, struct aries_peer *peer,
		      const struct aries_msg *msg, struct aries_spare *spare);
void aries_early_free(struct aries_early *early);

/* aries_dgstate.c */
int aries_dg_why(struct aries_owner *own, int rc);
u32 aries_dg_ep_key(const struct aries_chan *ch, const struct aries_owner *own, u64 ep);
struct aries_dgram *aries_dg_by_ep(struct aries_owner *own, u64 ep);
struct aries_dgram *aries_dg_named(struct aries_owner *own, u32 flags, u64 ep, u64 id);
bool aries_dg_final(const struct aries_dgram *dg);
void aries_dg_free(struct aries_dgram *dg);
void aries_dg_file(struct aries_dgram *dg);
void aries_dg_finish(struct aries_chan *ch, struct aries_dgram *dg, u32 state);

#endif /* ARIES_DGRAM_H */
