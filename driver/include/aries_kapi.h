/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * The interface of aries.ko for clients in the kernel. Symbols are in the namespace ARIES.
 *
 * A client is an auxiliary driver, which is bound to a device "aries.gni" for each NIC. It gets the
 * NIC from that device (aries_client_dev()). It then creates owners, and queues, regions and ports
 * for them. Its handles stay valid until it releases them, whatever happens to the NIC: after a
 * reset, calls on them return -EIO, after a removal -ENODEV. A client has to release all of them
 * before its module is unloaded.
 *
 * "Any context" is any context but NMI: with interrupts disabled, under spinlocks, in interrupt
 * handlers.
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
/* of uapi/kgni_abi.h, for clients that use datagrams or get error events */
struct kgni_dgram_cancel;
struct kgni_dgram_post;
struct kgni_dgram_probe;
struct kgni_dgram_test;
struct kgni_err_event;

/* ---- devices ---- */

/* Name for struct auxiliary_device_id. */
#define ARIES_CLIENT_DEVICE "aries.gni"

/* The same for a client that only wants to know which nodes are up. */
#define ARIES_NODES_DEVICE "aries.nodes"

/**
 * struct aries_info - constant properties of a NIC
 * @id: N of kgniN
 * @pe: node address
 * @nodes: nodes of the fabric
 * @bte_queue: number of block transfers that a descriptor may have queued
 * @caps: ID_CAPS
 * @dev: device, for log messages
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
 * aries_client_dev() - get the NIC of an auxiliary device
 * @adev: the device that the auxiliary bus passes to probe()
 *
 * Context: any. Return: the NIC; valid until remove() has returned, and as long as there is an
 * owner.
 */
struct aries_dev *aries_client_dev(struct auxiliary_device *adev);

/**
 * aries_get_info() - get the constant properties of a NIC
 * @ad: the NIC
 * @info: receives them
 *
 * Context: any.
 */
void aries_get_info(const struct aries_dev *ad, struct aries_info *info);

/* ---- nodes ---- */

/**
 * struct aries_node - state of a node
 * @state: ARIES_NODE_*; this node is included
 * @life: if this number changes the node has lost all its state, even if it is UP again
 */
struct aries_node {
	enum aries_node_state state;
	u32 life;
};

/**
 * aries_node_get() - get the state of a node
 * @ad: the NIC
 * @pe: node address
 *
 * While the NIC is down the state does not change. It is never older than what watchers were told.
 *
 * Context: any. Return: the state; NEVER for an address that is not in the fabric.
 */
struct aries_node aries_node_get(const struct aries_dev *ad, u32 pe);

/**
 * struct aries_node_watch - a watcher of nodes
 * @list: used by the driver
 * @changed: called with a lock held, may sleep; of several changes of a node in a row perhaps only
 *           the last is reported
 */
struct aries_node_watch {
	struct list_head list;
	void (*changed)(struct aries_node_watch *watch, u32 pe, const struct aries_node *node);
};

/**
 * aries_node_watch() - start watching nodes
 * @ad: the NIC
 * @watch: must stay valid until aries_node_unwatch() has returned, which must be called before the
 *         auxiliary driver's remove() returns
 *
 * Context: sleeps; not from changed().
 */
void aries_node_watch(struct aries_dev *ad, struct aries_node_watch *watch);

/**
 * aries_node_unwatch() - stop watching nodes; changed() does not run any more when this returns
 * @ad: the NIC
 * @watch: as with aries_node_watch()
 *
 * Context: sleeps; not from changed().
 */
void aries_node_unwatch(struct aries_dev *ad, struct aries_node_watch *watch);

/* ---- owners ---- */

/**
 * enum aries_event - events for an owner
 * @ARIES_EVENT_ERROR: the NIC has reported an error of its domain, or of no domain
 * @ARIES_EVENT_RESET: the NIC is about to be reset, recovered or suspended: all objects of the
 *                     owner are about to be revoked
 * @ARIES_EVENT_QUIET: follows RESET or GONE: nothing that the owner has started accesses memory any
 *                     more. It may come after UP, if a peer was stopped in the middle of an access
 * @ARIES_EVENT_UP: the NIC is up again; the client may release its objects and create new ones
 * @ARIES_EVENT_GONE: the NIC is about to be removed: all objects are about to be revoked
 * @ARIES_EVENT_QUIESCE: the owner's job was suspended: ports return -EAGAIN, nothing is lost. Or
 *                       the network is quiesced: ports accept operations, and the NIC delays them.
 *                       May come before aries_owner_create() returns
 * @ARIES_EVENT_RESUME: neither of these is the case any more
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
 * @error: for ERROR, the report of the NIC; otherwise NULL
 * @quiet_ms: for RESUME, how long the quiesce was
 */
struct aries_event_info {
	const struct kgni_err_event *error;
	unsigned int quiet_ms;
};

/**
 * struct aries_owner_args - parameters of an owner
 * @name: name for lists in debugfs
 * @ptag: protection tag, may be one of the kernel's; 255 for any
 * @cookie: cookie of the domain, which is created if it does not exist
 * @inst_id: instance id for datagrams and collectives
 * @modes: GNI_CDM_MODE_* bits
 * @event: called for events, or NULL. Called with locks held: it must not sleep, and may only call
 *         functions that are allowed in any context
 * @datagram: called when a datagram has reached a final state, or NULL. Called with interrupts
 *            disabled and locks held: it must not call datagram functions
 * @data: argument for both
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
 * Context: may sleep. Return: an owner, or an error pointer: -EINVAL if the tag is 0; -EACCES if
 * tag and cookie do not belong together, or are the driver's own; -ENOSPC; -ENOMEM; -EIO if the NIC
 * was reset and is not up; -ENODEV if it is gone.
 */
struct aries_owner *aries_owner_create(struct aries_dev *ad, const struct aries_owner_args *args);

/**
 * aries_owner_destroy() - detach a client, and revoke everything that it still has
 * @own: from aries_owner_create(), not to be used afterwards
 *
 * Queues, regions and ports that were not released are revoked, but still have to be released.
 * Neither event() nor datagram() runs any more when this returns.
 *
 * Context: sleeps.
 */
void aries_owner_destroy(struct aries_owner *own);

/** aries_owner_ptag() - get the tag of an owner's domain. Context: any. */
u8 aries_owner_ptag(struct aries_owner *own);

/* ---- queues ---- */

/**
 * struct aries_queue_args - parameters of a queue
 * @entries: minimum number of entries, less than 2^19
 * @delay: number of entries that raise an interrupt
 * @handler: called with interrupts disabled when there are entries; it may poll. NULL: polled only
 * @data: for @handler
 */
struct aries_queue_args {
	u32 entries;
	u32 delay;
	void (*handler)(void *data);
	void *data;
};

/**
 * aries_queue_create() - create a completion queue
 * @own: owner
 * @args: how
 *
 * A queue with a handler is armed: the handler is called once when entries arrive, perhaps before
 * this function returns. It is called again only after a poll has found the queue empty. So the
 * client has to poll until then. The handler may run on two processors at once.
 *
 * Context: may sleep. Return: a queue, or an error pointer: -EINVAL, -EFBIG, -ENOSPC, -ENOMEM,
 * -EIO, -ENODEV.
 */
struct aries_cq *aries_queue_create(struct aries_owner *own, const struct aries_queue_args *args);

/**
 * aries_queue_destroy() - stop a queue and release it
 * @cq: queue
 *
 * The handler does not run any more when this returns. So this must not be called by the handler,
 * or with anything held that the handler waits for.
 *
 * Context: sleeps. Return: 0, or -EBUSY if a region or a collective engine uses it.
 */
int aries_queue_destroy(struct aries_cq *cq);

/**
 * aries_queue_poll() - take an entry from a queue
 * @cq: queue
 * @entry: receives the entry: ARIES_CQE_*
 *
 * If the queue is empty and has a handler this arms it.
 *
 * Context: any. Return: 0; -EAGAIN if it is empty; -EIO or -ENODEV if it was revoked.
 */
int aries_queue_poll(struct aries_cq *cq, u64 *entry);

/** aries_queue_nr() - get the number of a queue, for descriptors. Context: any. */
u16 aries_queue_nr(const struct aries_cq *cq);

/** aries_queue_entries() - get the number of entries of a queue. Context: any. */
u32 aries_queue_entries(const struct aries_cq *cq);

/* ---- regions ---- */

/* Peers may only read. */
#define ARIES_REGION_READ_ONLY 0x1u

/**
 * struct aries_segment - a segment of a region
 * @address: kernel address, linear or from vmalloc; or physical address of memory with a struct
 *           page
 * @length: bytes; ignored for a physical segment, which is the page that contains the address
 */
struct aries_segment {
	u64 address;
	u64 length;
};

/**
 * struct aries_region_args - memory to register
 * @segments: segments, each extended to whole pages
 * @count: number of segments
 * @physical: their addresses are physical
 * @by_offset: offsets in the region begin with 0 at its first page, not with the address of that
 *             page; this is always so for more than one segment, and for physical ones
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
 * struct aries_region_info - what peers have to know about a region
 * @mdh: memory domain handle
 * @base: offset of its first byte
 * @bytes: its length in bytes, whole pages
 */
struct aries_region_info {
	u16 mdh;
	u64 base;
	u64 bytes;
};

/**
 * aries_region_register() - let peers access memory of the kernel
 * @own: owner
 * @args: the memory, which must stay allocated until aries_region_deregister() has returned
 * @info: receives what peers have to know
 *
 * Context: may sleep; any number of threads at once. Return: a region, or an error pointer:
 * -EINVAL; -EFAULT if it is not kernel memory; -EFBIG, -ENOSPC, -ENOMEM, -EIO, -ENODEV.
 */
struct aries_region *aries_region_register(struct aries_owner *own,
					   const struct aries_region_args *args,
					   struct aries_region_info *info);

/**
 * aries_region_deregister() - deregister memory and release the region
 * @region: from aries_region_register()
 * @hold_ms: how long its memory domain handle must not be reused, unless aries_region_release() is
 *           called or the owner ends earlier; 0 for not at all
 *
 * When this returns 0 the memory is not accessed any more. That may take long if a peer is stopped
 * in the middle of an access.
 *
 * Context: sleeps. Return: 0; -EBUSY if receives are posted in it; -EIO if the memory may still be
 * accessed, so that it must never be used for anything else.
 */
int aries_region_deregister(struct aries_region *region, unsigned int hold_ms);

/**
 * aries_region_cut() - cut peers off from a region
 * @region: from aries_region_register(), which still has to be released
 *
 * For callers that must not sleep, and that free the memory now and the region later. If a peer is
 * stopped in the middle of an access this gives up, and keeps the pages from being used for
 * anything else until the access has ended and the region is deregistered. That is not possible for
 * memory from kmalloc(), nor for a block of pages that is not compound.
 *
 * Context: any; spins until accesses in flight have ended, for 10 ms at most.
 * Return: 0; -EINPROGRESS if the peer may write once more, but only to pages that nobody else gets;
 * -ETIMEDOUT if it may write to some that others get when the client frees them.
 */
int aries_region_cut(struct aries_region *region);

/**
 * aries_region_release() - release a held memory domain handle
 * @own: owner
 * @mdh: handle of a region that was deregistered with a hold time
 *
 * Context: may sleep. Return: 0, or -ENOENT if it is not held.
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
 * aries_port_create() - create a port: an FMA descriptor for a client
 * @own: owner, whose rights the port has
 *
 * Context: may sleep. Return: a port, or an error pointer: -ENOSPC, -ENOMEM, -EIO, -ENODEV.
 */
struct aries_port *aries_port_create(struct aries_owner *own);

/**
 * aries_port_destroy() - destroy a port
 * @port: port that is not in use any more
 *
 * Queued block transfers end with FLUSHED. This function waits for those that are running.
 *
 * Context: sleeps.
 */
void aries_port_destroy(struct aries_port *port);

/**
 * aries_port_fma() - execute a put, get, atomic or CQ write
 * @port: port
 * @fma: operation
 *
 * The operation has completed when this returns, and its events are written.
 *
 * Context: any; concurrent calls on a port are serialised.
 * Return: ARIES_ST_OK (0); another ARIES_ST_* if it has failed; -EINVAL; -EIO or -ENODEV if the
 * port was revoked; -EAGAIN if its job is suspended.
 */
int aries_port_fma(struct aries_port *port, const struct aries_fma *fma);

/**
 * aries_port_bte() - start a block transfer
 * @port: port
 * @desc: transfer, which is copied
 *
 * Context: any. Return: ARIES_ST_OK (0) if it is queued; ARIES_ST_QUEUE_FULL if it may be tried
 * again later; otherwise as aries_port_fma().
 */
int aries_port_bte(struct aries_port *port, const struct aries_bte_desc *desc);

/**
 * aries_status_name() - get the name of a status
 * @code: ARIES_ST_*; ARIES_ST_LOCAL is ignored
 *
 * Context: any. Return: the name, "?" for an unknown status.
 */
const char *aries_status_name(unsigned int code);

/* ---- datagrams: like the ioctls of these names, with physical node addresses ---- */

/**
 * aries_datagram_post() - KGNI_IOC_DGRAM_POST
 * @own: owner
 * @arg: as there; argsz is ignored
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
