/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * What aries.ko offers to clients in the kernel. Symbols are in the namespace ARIES.
 *
 * A client is an auxiliary driver: it is bound to a device "aries.gni" for each NIC, asks that for
 * the NIC (aries_client_dev()), makes owners, and for these queues, regions and ports. Its handles
 * stay valid until it gives them back, whatever becomes of the NIC: after a reset calls on them
 * give -EIO, after a removal -ENODEV. It gives all of them back before its module goes.
 *
 * "Any context" is any but NMI: with interrupts off, under spinlocks, in handlers.
 */
#ifndef ARIES_KAPI_H
#define ARIES_KAPI_H

#include <linux/auxiliary_bus.h>
#include <linux/list.h>
#include <linux/types.h>

#include "aries_hw.h"

struct auxiliary_device;
struct aries_cq;
struct aries_dev;
struct aries_owner;
struct aries_port;
struct aries_region;
/* of uapi/kgni_abi.h, for clients that have datagrams or are told of errors */
struct kgni_dgram_cancel;
struct kgni_dgram_post;
struct kgni_dgram_probe;
struct kgni_dgram_test;
struct kgni_err_event;

/* ---- devices ---- */

/* Name for struct auxiliary_device_id. */
#define ARIES_CLIENT_DEVICE "aries.gni"

/* The same for a client that wants to know no more of a NIC than which nodes are there. */
#define ARIES_NODES_DEVICE "aries.nodes"

/**
 * struct aries_info - what does not change of a NIC
 * @id: N of kgniN
 * @pe: node address
 * @nodes: nodes of the fabric
 * @bte_queue: block transfers that a descriptor may have queued
 * @caps: ID_CAPS
 * @dev: for messages
 */
struct aries_info {
	int id;
	u32 pe;
	u32 nodes;
	u32 bte_queue;
	u64 caps;
	struct device *dev;
};

/**
 * aries_client_dev() - the NIC behind an auxiliary device
 * @adev: as the auxiliary bus gives it to probe()
 *
 * Context: any. Return: it; valid until remove() has returned, and as long as there is an owner.
 */
struct aries_dev *aries_client_dev(struct auxiliary_device *adev);

/**
 * aries_get_info() - what does not change of a NIC
 * @ad: the NIC
 * @info: gets it
 *
 * Context: any.
 */
void aries_get_info(const struct aries_dev *ad, struct aries_info *info);

/* ---- nodes ---- */

/**
 * struct aries_node - what is known of a node
 * @state: ARIES_NODE_*; this node's NIC is a node like others
 * @life: another number than before means that whatever it had is lost, even if it is UP again
 */
struct aries_node {
	enum aries_node_state state;
	u32 life;
};

/**
 * aries_node_get() - what is known of a node
 * @ad: the NIC
 * @pe: node address
 *
 * While the NIC is not up nothing new is learned. It is never older than what who watches was told.
 *
 * Context: any. Return: it; NEVER for an address that the fabric does not have.
 */
struct aries_node aries_node_get(const struct aries_dev *ad, u32 pe);

/**
 * struct aries_node_watch - somebody who is told of changes
 * @list: the driver's
 * @changed: called with a lock held and where it may sleep; of several changes of a node in a row
 *           perhaps only the last is told
 */
struct aries_node_watch {
	struct list_head list;
	void (*changed)(struct aries_node_watch *watch, u32 pe, const struct aries_node *node);
};

/**
 * aries_node_watch() - be told of changes from now on
 * @ad: the NIC
 * @watch: stays where it is until aries_node_unwatch() has returned, which comes before the end of
 *         the auxiliary driver's remove()
 *
 * Context: sleeps; not from changed().
 */
void aries_node_watch(struct aries_dev *ad, struct aries_node_watch *watch);

/**
 * aries_node_unwatch() - no longer; changed() does not run any more when this returns
 * @ad: the NIC
 * @watch: as with aries_node_watch()
 *
 * Context: sleeps; not from changed().
 */
void aries_node_unwatch(struct aries_dev *ad, struct aries_node_watch *watch);

/* ---- owners ---- */

/**
 * enum aries_event - what an owner is told
 * @ARIES_EVENT_ERROR: the NIC has reported an error of its domain, or of no domain
 * @ARIES_EVENT_RESET: the NIC is about to be reset, recovered or put to sleep: everything of the
 *                     owner is about to be revoked
 * @ARIES_EVENT_QUIET: after one of RESET and GONE: nothing of what the owner had started reaches
 *                     memory any more. That may be after UP, if a peer was stopped in the middle of
 *                     an access
 * @ARIES_EVENT_UP: it is up again; who gives everything back can make it anew
 * @ARIES_EVENT_GONE: the NIC is about to be removed: everything is about to be revoked
 * @ARIES_EVENT_QUIESCE: the owner's job was suspended: ports answer -EAGAIN, nothing is lost. Or
 *                       the network is quiesced: ports take what they are given, and the NIC holds
 *                       it. May come before aries_owner_create() returns
 * @ARIES_EVENT_RESUME: neither is the case any more
 */
enum aries_event {
	ARIES_EVENT_ERROR,
	ARIES_EVENT_RESET,
	ARIES_EVENT_QUIET,
	ARIES_EVENT_UP,
	ARIES_EVENT_GONE,
	ARIES_EVENT_QUIESCE,
	ARIES_EVENT_RESUME,
};

/**
 * struct aries_event_info - more about an event
 * @error: with ERROR, what the NIC has said; else NULL
 * @quiet_ms: with RESUME, how long it was quiet
 */
struct aries_event_info {
	const struct kgni_err_event *error;
	unsigned int quiet_ms;
};

/**
 * struct aries_owner_args - what to attach
 * @name: for lists in debugfs
 * @ptag: protection tag, those of the kernel too; 255 for any
 * @cookie: of the domain; one that there is not is made
 * @inst_id: what datagrams and collectives call the owner
 * @modes: GNI_CDM_MODE_* bits
 * @event: told what happens, or NULL. Called with locks held: it does not sleep and calls nothing
 *         but what any context may call
 * @datagram: called when a datagram has a final state, or NULL. Called with interrupts off and
 *            locks held: it calls nothing about datagrams
 * @data: for both
 */
struct aries_owner_args {
	const char *name;
	u8 ptag;
	u32 cookie;
	u32 inst_id;
	u32 modes;
	void (*event)(void *data, enum aries_event event, const struct aries_event_info *info);
	void (*datagram)(void *data);
	void *data;
};

/**
 * aries_owner_create() - attach a client to a domain
 * @ad: the NIC
 * @args: how
 *
 * Context: may sleep. Return: an owner, or an error pointer: -EINVAL no tag, -EACCES tag and cookie
 * do not belong together, or are the driver's own, -ENOSPC, -ENOMEM, -EIO the NIC was reset and is
 * not up, -ENODEV it is gone.
 */
struct aries_owner *aries_owner_create(struct aries_dev *ad, const struct aries_owner_args *args);

/**
 * aries_owner_destroy() - end an attachment, and whatever it still has
 * @own: from aries_owner_create(), not to be used afterwards
 *
 * Queues, regions and ports that were not given back are revoked, and still have to be. Neither
 * event() nor datagram() runs any more when this returns.
 *
 * Context: sleeps.
 */
void aries_owner_destroy(struct aries_owner *own);

/** aries_owner_ptag() - the tag of the domain that an owner has joined. Context: any. */
u8 aries_owner_ptag(struct aries_owner *own);

/* ---- queues ---- */

/**
 * struct aries_queue_args - what queue to make
 * @entries: that it holds at least, fewer than 2^19
 * @delay: entries that it takes to raise an interrupt
 * @handler: called with interrupts off when there are entries; it may poll. NULL: polled only
 * @data: for @handler
 */
struct aries_queue_args {
	u32 entries;
	u32 delay;
	void (*handler)(void *data);
	void *data;
};

/**
 * aries_queue_create() - make a completion queue
 * @own: owner
 * @args: how
 *
 * One with a handler is armed: the handler is called once when entries come, perhaps before this
 * returns. It is called again after a poll has found the queue empty, so it has to see to it that
 * somebody polls until then. It may run on two processors at once.
 *
 * Context: may sleep. Return: a queue, or an error pointer: -EINVAL, -EFBIG, -ENOSPC, -ENOMEM,
 * -EIO, -ENODEV.
 */
struct aries_cq *aries_queue_create(struct aries_owner *own, const struct aries_queue_args *args);

/**
 * aries_queue_destroy() - stop a queue and give it back
 * @cq: queue
 *
 * Its handler does not run any more when this returns; so this is not for the handler, or with
 * anything held that the handler waits for.
 *
 * Context: sleeps. Return: 0, or -EBUSY a region or an engine names it.
 */
int aries_queue_destroy(struct aries_cq *cq);

/**
 * aries_queue_poll() - take an entry from a queue
 * @cq: queue
 * @entry: gets it: ARIES_CQE_*
 *
 * Arms the queue if it has a handler and is empty.
 *
 * Context: any. Return: 0, -EAGAIN it is empty, -EIO or -ENODEV it was revoked.
 */
int aries_queue_poll(struct aries_cq *cq, u64 *entry);

/** aries_queue_nr() - what descriptors call a queue. Context: any. */
u16 aries_queue_nr(const struct aries_cq *cq);

/** aries_queue_entries() - slots of a queue. Context: any. */
u32 aries_queue_entries(const struct aries_cq *cq);

/* ---- regions ---- */

/* Peers may only read. */
#define ARIES_REGION_READ_ONLY 0x1u

/**
 * struct aries_segment - a piece of a region
 * @address: kernel address, linear or from vmalloc; or physical, of memory that has struct page
 * @length: bytes; a physical one is the page that the address is in, whatever stands here
 */
struct aries_segment {
	u64 address;
	u64 length;
};

/**
 * struct aries_region_args - memory to register
 * @segments: pieces, each widened to whole pages
 * @count: how many
 * @physical: their addresses are
 * @by_offset: the region counts from 0 at its first page, not from the address of that; so does
 *             every region of more than one piece, or of physical ones
 * @flags: ARIES_REGION_*
 * @cq: queue for remote events or NULL
 */
struct aries_region_args {
	const struct aries_segment *segments;
	unsigned int count;
	bool physical;
	bool by_offset;
	u32 flags;
	struct aries_cq *cq;
};

/**
 * struct aries_region_info - what peers have to know of a region
 * @mdh: memory domain handle
 * @base: offset of its first byte
 * @bytes: its length, whole pages
 */
struct aries_region_info {
	u16 mdh;
	u64 base;
	u64 bytes;
};

/**
 * aries_region_register() - let peers reach memory of the kernel
 * @own: owner
 * @args: which; the memory stays where it is until aries_region_deregister() has returned
 * @info: gets what peers have to know
 *
 * Context: may sleep; any number of threads at once. Return: a region, or an error pointer:
 * -EINVAL, -EFAULT no memory of the kernel, -EFBIG, -ENOSPC, -ENOMEM, -EIO, -ENODEV.
 */
struct aries_region *aries_region_register(struct aries_owner *own,
					   const struct aries_region_args *args,
					   struct aries_region_info *info);

/**
 * aries_region_deregister() - end a region and give it back
 * @region: from aries_region_register()
 * @hold_ms: so long its memory domain handle stays nobody else's, unless aries_region_release() or
 *           the end of the owner comes first; 0 for not at all
 *
 * When it returns 0 nobody reaches the memory, however long a peer has taken that was stopped in an
 * access.
 *
 * Context: sleeps. Return: 0; -EBUSY receives are posted in it; -EIO it cannot be known that nobody
 * reaches the memory, it must never be used for anything else.
 */
int aries_region_deregister(struct aries_region *region, unsigned int hold_ms);

/**
 * aries_region_cut() - nobody reaches a region any more
 * @region: from aries_region_register(), still to be given back
 *
 * For who must not sleep and gives the memory back now, and the region later.
 *
 * Context: any; spins for as long as accesses take that are in flight. Return: 0; -ETIMEDOUT they
 * take seconds, as when a peer is stopped in one: it may still write when it goes on.
 */
int aries_region_cut(struct aries_region *region);

/**
 * aries_region_release() - let go of a handle that was held
 * @own: owner
 * @mdh: handle of a region that was deregistered with a time to hold it
 *
 * Context: may sleep. Return: 0, or -ENOENT it is not held.
 */
int aries_region_release(struct aries_owner *own, u16 mdh);

/* ---- ports ---- */

/**
 * struct aries_fma - an FMA operation
 * @desc: destination, addresses, event data, operands
 * @line: data of a put, at most ARIES_DESC_LINE_BYTES; NULL for other operations
 * @length: bytes, or the length of an atomic's operands
 * @tid: transaction id, returned in the events
 * @amo: command of an atomic
 * @op: enum aries_fma_op
 * @mode: ARIES_EV_* events wanted
 */
struct aries_fma {
	struct aries_fma_desc desc;
	const void *line;
	u16 length;
	u16 tid;
	u16 amo;
	u8 op;
	u8 mode;
};

/**
 * aries_port_create() - give a client an FMA descriptor
 * @own: owner, whose rights it has
 *
 * Context: may sleep. Return: a port, or an error pointer: -ENOSPC, -ENOMEM, -EIO, -ENODEV.
 */
struct aries_port *aries_port_create(struct aries_owner *own);

/**
 * aries_port_destroy() - give a port back
 * @port: port, which nobody uses any more
 *
 * Block transfers that wait end with FLUSHED, those that run are waited for.
 *
 * Context: sleeps.
 */
void aries_port_destroy(struct aries_port *port);

/**
 * aries_port_fma() - put, get, atomic, CQ write
 * @port: port
 * @fma: operation
 *
 * It is over when this returns, events included.
 *
 * Context: any; several at once take turns.
 * Return: ARIES_ST_OK (0), another ARIES_ST_* why it failed, -EINVAL, -EIO or -ENODEV the port was
 * revoked, -EAGAIN its job is suspended.
 */
int aries_port_fma(struct aries_port *port, const struct aries_fma *fma);

/**
 * aries_port_bte() - start a block transfer
 * @port: port
 * @desc: transfer; copied
 *
 * Context: any. Return: ARIES_ST_OK (0) it is queued, ARIES_ST_QUEUE_FULL it may be tried later;
 * the rest as aries_port_fma().
 */
int aries_port_bte(struct aries_port *port, const struct aries_bte_desc *desc);

/**
 * aries_status_name() - name of a status, of an entry for example
 * @code: ARIES_ST_*; ARIES_ST_LOCAL is left out
 *
 * Context: any. Return: a word, "?" if there is none.
 */
const char *aries_status_name(unsigned int code);

/* ---- datagrams: as the ioctls of these names, nodes by their physical address ---- */

/**
 * aries_datagram_post() - KGNI_IOC_DGRAM_POST
 * @own: owner
 * @arg: as there; argsz is not looked at
 *
 * Context: may sleep. Return: 0, or as there.
 */
int aries_datagram_post(struct aries_owner *own, struct kgni_dgram_post *arg);

/**
 * aries_datagram_test() - KGNI_IOC_DGRAM_TEST
 * @own: owner
 * @arg: as there
 *
 * Context: any without timeout_ms, with it sleeps, interruptibly. Return: 0, or as there.
 */
int aries_datagram_test(struct aries_owner *own, struct kgni_dgram_test *arg);

/**
 * aries_datagram_probe() - KGNI_IOC_DGRAM_PROBE
 * @own: owner
 * @arg: as there
 *
 * Context: any without timeout_ms, with it sleeps, interruptibly. Return: 0, or as there.
 */
int aries_datagram_probe(struct aries_owner *own, struct kgni_dgram_probe *arg);

/**
 * aries_datagram_cancel() - KGNI_IOC_DGRAM_CANCEL
 * @own: owner
 * @arg: as there
 *
 * Context: any without KGNI_DGRAM_ALL, with it sleeps. Return: 0, or as there.
 */
int aries_datagram_cancel(struct aries_owner *own, struct kgni_dgram_cancel *arg);

#endif /* ARIES_KAPI_H */
