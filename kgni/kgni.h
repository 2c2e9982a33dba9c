/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * What the handles of kGNI point at, and what its files call of each other.
 *
 * Locks, in the order in which they nest; all of them are taken with interrupts off, because the
 * data path may be entered from any context:
 *
 *   gni_ep.lock    one connection: mailboxes, messages that are tried again
 *   gni_cq.lock    one queue: its reader, its requests
 *   a port's lock  in aries.ko: one descriptor of the NIC
 *
 * Nothing that belongs to a whole NIC handle is locked there. gni_nic.mutex is for what may sleep.
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

/* Descriptors of a NIC handle at most. */
#define KGNI_PORTS 8u

#define KGNI_OFFSET_MASK ((1ull << 40) - 1)

struct kgni_smsg;

/**
 * struct gni_cdm - a communication domain
 * @magic: KGNI_CDM_MAGIC; another value once it is destroyed
 * @inst_id: instance
 * @cookie: of the protection domain
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
 * @address: of this node
 * @device_id: number of the NIC
 * @gone: the NIC was reset or removed; handles stay valid, and what they are used for is refused
 * @smsg_delivery: GNI_DLVMODE_* of short messages
 * @smsg_retransmissions: attempts for a message that fails
 * @later_bit: ARIES_DB_LATER if the NIC knows it, else 0
 * @stats: counters, by gni_statistic_t
 * @cdm: domain
 * @own: what the NIC's driver knows it as
 * @port: descriptors; what is over at once goes through one of the first @bells, by processor, and
 *        block transfers through one of the others, by endpoint
 * @ports: how many
 * @bells: of them, for what is over at once
 * @turn: endpoints made so far
 * @mutex: for what may sleep: queues, registrations
 * @lock: protects the lists below
 * @eps: endpoints
 * @cqs: queues
 * @mems: registrations
 * @later: those whose end was left to @later_work
 * @later_work: ends them
 * @errs: subscriptions to errors
 * @quiet: its job is suspended: what is posted has to wait
 * @quiet_end: the client's function that is told when that ends
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
	struct mutex mutex; /* see above */
	spinlock_t lock; /* the same */
	struct list_head eps;
	struct list_head cqs;
	struct list_head mems;
	struct list_head later;
	struct work_struct later_work;
	struct list_head errs;
	bool quiet;
	void (*quiet_end)(gni_nic_handle_t nic, uint64_t msecs);
	struct list_head node;
	struct list_head dev_node;
};

/**
 * struct gni_cq - a queue
 * @magic: KGNI_CQ_MAGIC; another value once it is destroyed
 * @number: the NIC's
 * @nic: NIC handle
 * @hw: the queue in aries.ko
 * @handler: the client's, NULL if it polls
 * @data: for it
 * @lock: all below
 * @requests: what is under way
 * @room: events that posts may still ask for
 * @endpoints: that name it as their source queue
 * @registrations: that name it for remote events
 * @kept: oldest request whose event kGNI tells, 0 if there is none
 * @kept_last: and the last one
 * @gone: the NIC is; whatever was under way has ended
 * @kick: calls the handler for events that kGNI tells
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
 * @ref: one of the handle, one of each request and of a datagram that is not reaped
 * @nic: NIC handle
 * @cq: source queue, may be NULL
 * @port: descriptor for block transfers
 * @lock: all below
 * @remote_address: node
 * @remote_id: instance there
 * @local_event: data of events in the source queue
 * @remote_event: data of events in the target's queue
 * @bound: to a peer
 * @own_event_data: set by the client, not derived from the binding
 * @smsg: connection, NULL without mailboxes
 * @smsg_begun: messages that were ever put, which is the number of the last one
 * @smsg_decided: of these, up to which number their senders have seen the status of the put
 * @smsg_first: the number of the last one before this connection
 * @smsg_asked: somebody has read the event of one that was not decided yet
 * @smsg_late: a message of this connection was lost for good when others were sent behind it
 * @smsg_lost: messages of this connection that have left, were lost, and wait for another attempt
 * @smsg_mending: these, and those of them that have left again
 * @timer: of a message that is tried again; holds a reference while it runs
 * @dgram: what is known of its datagram
 * @node: in gni_nic.eps
 */
struct gni_ep {
	u32 magic;
	refcount_t ref;
	struct gni_nic *nic;
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
	/* gni_cq.lock for these */
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
		bool cancelled; /* when the NIC was gone */
	} dgram;
	struct list_head node;
};

/** kgni_count() - something has happened once more. Context: any. */
static inline void kgni_count(struct gni_nic *nic, gni_statistic_t what)
{
	atomic_inc(&nic->stats[what]);
}

bool kgni_status_recoverable(u8 status);

#endif
