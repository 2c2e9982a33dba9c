/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the handles of kGNI point to, and the functions that its files share.
 *
 * Locks, in the order in which they nest. All of them are taken with interrupts disabled, because
 * the data path may be entered from any context:
 *
 *   gni_ep.lock    one connection: mailboxes, retransmitted messages
 *   gni_cq.lock    one queue: its reader, its requests
 *   a port's lock  in aries.ko: one descriptor of the NIC
 *
 * The data path takes no lock of a whole NIC handle. gni_nic.mutex is for operations that may
 * sleep.
 */
#ifndef KGNI_H
#define KGNI_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/uio.h>

#include "aries_kapi.h"
#include "gni_pub.h"
#include "kgni_errno.h"
#include "kgni_request.h"

#define KGNI_CDM_MAGIC 0x6d64636bu
#define KGNI_NIC_MAGIC 0x63696e6bu
#define KGNI_CQ_MAGIC 0x3071636bu
#define KGNI_EP_MAGIC 0x3070656bu
#define KGNI_ERR_MAGIC 0x7272656bu

/* Largest number of FMA descriptors of a NIC handle. */
#define KGNI_PORTS 8u

struct kgni_smsg;
struct task_struct;

/**
 * struct gni_cdm - a communication domain
 * @magic: KGNI_CDM_MAGIC; another value once it is destroyed
 * @inst_id: instance
 * @cookie: cookie of the protection domain
 * @modes: GNI_CDM_MODE_*
 * @ptag: protection tag
 * @mutex: protects @nics
 * @nics: NIC handles
 */
struct gni_cdm {
	u32 magic;
	u32 inst_id;
	u32 cookie;
	u32 modes;
	u8 ptag;
	struct mutex mutex; /* see above */
	struct list_head nics;
};

/**
 * struct gni_nic - an attachment of a domain to a NIC
 * @magic: KGNI_NIC_MAGIC; another value once its domain is destroyed
 * @inst_id: instance
 * @modes: GNI_CDM_MODE_*
 * @address: address of this node
 * @device_id: number of the NIC
 * @gone: the NIC was reset or removed; handles stay valid, but all operations are refused
 * @smsg_delivery: GNI_DLVMODE_* of short messages
 * @smsg_retransmissions: number of retransmissions of a message that fails
 * @later_bit: ARIES_DB_LATER if the NIC supports it, else 0
 * @stats: counters, by gni_statistic_t
 * @cdm: domain
 * @own: the owner that stands for this handle in the NIC's driver
 * @port: FMA descriptors; operations that complete at once use one of the first @bells, chosen by
 *        processor, and block transfers use one of the others, chosen by endpoint
 * @ports: number of descriptors
 * @bells: how many of them are for operations that complete at once
 * @turn: endpoints created so far that have a port for block transfers
 * @names: endpoints created so far
 * @mutex: for operations that may sleep: queues, registrations
 * @lock: protects the lists below, and what is due to be told to the client
 * @eps: endpoints
 * @cqs: queues
 * @mems: registrations
 * @later: registrations that @later_work is to deregister, and MDD numbers that it is to release
 * @held: records of MDD numbers that are held
 * @later_work: works through @later
 * @errs: subscriptions to errors
 * @quiet: its job is suspended: posts have to wait
 * @quiet_end: function of the client that is called when that ends
 * @quiet_due: that has to be called
 * @quiet_ms: duration to report
 * @closing: the handle is being destroyed: waits for errors end, and no function is called
 * @closed: it was destroyed by a function that @tell_work has called, and is freed after that
 * @calling: a function is being called
 * @called: subscription whose function is being called
 * @teller: thread that runs @tell_work, NULL if none does
 * @tell_work: calls functions of the client, see kgni_tell.c
 * @tell_done: wait queue for the ends of these calls
 * @node: in gni_cdm.nics
 * @dev_node: in the list of the device
 */
struct gni_nic {
	u32 magic;
	u32 inst_id;
	u32 modes;
	u32 address;
	u32 device_id;
	bool gone;
	u16 smsg_delivery;
	u16 smsg_retransmissions;
	u8 later_bit;
	atomic_t stats[GNI_NUM_STATS];
	struct gni_cdm *cdm;
	struct aries_owner *own;
	struct aries_port *port[KGNI_PORTS];
	unsigned int ports;
	unsigned int bells;
	unsigned int turn;
	u64 names;
	struct mutex mutex; /* see above */
	spinlock_t lock; /* the same */
	struct list_head eps;
	struct list_head cqs;
	struct list_head mems;
	struct list_head later;
	struct list_head held;
	struct work_struct later_work;
	struct list_head errs;
	bool quiet;
	void (*quiet_end)(gni_nic_handle_t nic, uint64_t msecs);
	bool quiet_due;
	u64 quiet_ms;
	bool closing;
	bool closed;
	bool calling;
	const struct gni_err *called;
	struct task_struct *teller;
	struct work_struct tell_work;
	wait_queue_head_t tell_done;
	struct list_head node;
	struct list_head dev_node;
};

/**
 * struct gni_cq - a queue
 * @magic: KGNI_CQ_MAGIC; another value once it is destroyed
 * @number: number of the queue in the NIC
 * @nic: NIC handle
 * @hw: the queue in aries.ko
 * @handler: handler of the client, NULL if it polls
 * @data: argument for @handler
 * @lock: all below
 * @requests: outstanding posts and messages
 * @room: number of events that posts may still ask for
 * @endpoints: number of endpoints that use it as their source queue
 * @registrations: number of registrations that use it for remote events
 * @kept: oldest request whose event kGNI delivers itself, 0 if there is none
 * @kept_last: the newest such request
 * @gone: the NIC is gone; everything outstanding has ended
 * @kick: calls the handler for events that kGNI delivers itself
 * @node: in gni_nic.cqs
 */
struct gni_cq {
	u32 magic;
	u32 number;
	struct gni_nic *nic;
	struct aries_cq *hw;
	gni_cq_event_hndlr_f *handler;
	u64 data;
	spinlock_t lock; /* see above */
	struct kgni_requests requests;
	u32 room;
	u32 endpoints;
	u32 registrations;
	u16 kept;
	u16 kept_last;
	bool gone;
	struct irq_work kick;
	struct list_head node;
};

/**
 * struct gni_ep - an endpoint
 * @magic: KGNI_EP_MAGIC; another value once it is destroyed
 * @ref: one for the handle, one for each request, and one for a datagram that is not reaped
 * @nic: NIC handle
 * @name: number that names it to the NIC's driver, unlike that of any other of the NIC handle
 * @cq: source queue, may be NULL
 * @port: descriptor for block transfers
 * @lock: all below
 * @remote_address: node of the peer
 * @remote_id: instance of the peer on that node
 * @local_event: data of events in the source queue
 * @remote_event: data of events in the target's queue
 * @bound: the endpoint is bound to a peer
 * @own_event_data: the client has set the event data, they are not derived from the binding
 * @smsg: connection, NULL without mailboxes
 * @smsg_begun: number of messages ever put, which is also the number of the last one
 * @smsg_decided: number of the last message whose sender has seen the status of the put
 * @smsg_first: number of the last message before this connection
 * @smsg_asked: the event of a message was read that was not decided yet
 * @smsg_late: a message of this connection was lost for good, and others were sent after it
 * @smsg_lost: messages of this connection that were lost in flight and wait for another attempt
 * @smsg_mending: number of these, including those that are in flight again
 * @timer: timer for retransmissions; holds a reference while it is pending
 * @dgram: state of its datagram
 * @node: in gni_nic.eps
 */
struct gni_ep {
	u32 magic;
	refcount_t ref;
	struct gni_nic *nic;
	u64 name;
	struct gni_cq *cq;
	struct aries_port *port;
	spinlock_t lock; /* see above */
	u32 remote_address;
	u32 remote_id;
	u32 local_event;
	u32 remote_event;
	bool bound;
	bool own_event_data;
	struct kgni_smsg *smsg;
	u32 smsg_begun;
	u32 smsg_decided; /* written with gni_ep.lock held, read without */
	/* the following are protected by gni_cq.lock */
	u32 smsg_first;
	bool smsg_asked;
	bool smsg_late;
	struct list_head smsg_lost;
	u32 smsg_mending;
	struct timer_list timer;
	struct {
		void *out;
		u64 id;
		u16 room;
		bool posted;
		bool by_id;
		bool wildcard;
		bool cancelled; /* it was cancelled after the NIC was gone */
	} dgram;
	struct list_head node;
};

/** kgni_count() - increment a counter. Context: any. */
static inline void kgni_count(struct gni_nic *nic, gni_statistic_t what)
{
	atomic_inc(&nic->stats[what]);
}

#endif
