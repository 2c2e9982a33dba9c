/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * User ABI of /dev/kgniN.
 *
 * One open file is one attachment of a process to a NIC. Every structure starts with @argsz, the
 * size that the caller knows. A structure that is shorter than its first version is refused
 * (EINVAL). A longer one is accepted if the unknown tail is zero (otherwise E2BIG). The kernel
 * writes back no more than @argsz bytes. Reserved fields and unknown flags must be zero (EINVAL).
 *
 * KGNI_ABI_VERSION is incremented by incompatible changes. KGNI_IOC_QUERY may be called with any
 * version and returns the version of the driver.
 */
#ifndef KGNI_ABI_H
#define KGNI_ABI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define KGNI_ABI_VERSION 2
#define KGNI_IOC_MAGIC 'G'

#define KGNI_BUILD_STRING 80

/**
 * struct kgni_query - identify driver and NIC
 * @argsz: in: sizeof of the caller's structure
 * @abi_version: out: KGNI_ABI_VERSION of the driver
 * @driver_version: out: packed as GNI_VERSION_CHECK(major, minor, code)
 * @device_id: out: number N of /dev/kgniN
 * @device_type: out: gni_nic_device_t
 * @pe: out: physical network address of the NIC
 * @nodes: out: node addresses in the fabric
 * @cpu: out: lowest CPU near the NIC
 * @bte_queue: out: block transfers that one attachment may have queued
 * @msix: out: MSI-X vectors in use
 * @caps: out: ID_CAPS register
 * @build: out: NUL-terminated text
 *
 * Allowed before KGNI_IOC_ATTACH.
 */
struct kgni_query {
	__u32 argsz;
	__u32 abi_version;
	__u32 driver_version;
	__u32 device_id;
	__u32 device_type;
	__u32 pe;
	__u32 nodes;
	__u32 cpu;
	__u32 bte_queue;
	__u32 msix;
	__u64 caps;
	char build[KGNI_BUILD_STRING];
};

/**
 * struct kgni_attach - attach to a communication domain
 * @argsz: in
 * @abi_version: in: KGNI_ABI_VERSION of the caller
 * @inst_id: in: instance id, any
 * @cookie: in: cookie of the domain
 * @modes: in: GNI_CDM_MODE_* bits
 * @ptag: in: protection tag or 255 (found by the cookie, allocated if privileged); out: the tag
 * @reserved: must be zero
 * @owner: out: context number, as in FMAD_CTL.OWNER
 * @pe: out: network address
 * @fmad: out: FMA descriptor
 * @put_size: out: bytes of the put window, and of the get window; half of them with
 *            GNI_CDM_MODE_FMA_SMALL_WINDOW
 * @desc_offset: out: for mmap(): descriptor area, 8192 bytes, read and write
 * @doorbell_offset: out: for mmap(): doorbell page, 4096 bytes, write (read gives zeros)
 * @put_offset: out: for mmap(): put window
 * @get_offset: out: for mmap(): get window
 * @poll_offset: out: offset in the descriptor area of the word for polled doorbells; 0: the NIC
 *               does not support them for this attachment
 * @awake_offset: out: offset of the word that tells whether the NIC is polling for them
 *
 * @poll_offset and @awake_offset were added later. A caller whose structure ends before them cannot
 * use polled doorbells.
 *
 * A domain is created by KGNI_IOC_JOB or by the first attach of a process with CAP_SYS_ADMIN.
 * Errors: EPERM the domain does not exist and the caller is not privileged; EACCES the tag belongs
 * to another cookie, or the cookie to another tag; EBUSY the file is attached already; ENOSPC no
 * FMA descriptor or tag is left; EPROTO the ABI version differs; EINVAL bad tag (0, or a kernel tag
 * 1, 2, 254 without CAP_SYS_ADMIN) or unknown mode; EOPNOTSUPP GNI_CDM_MODE_USE_PCI_IOMMU if no
 * IOMMU translates for the NIC; ENXIO the domain has virtual node addresses, but none for this
 * node; ENODEV the NIC is gone or does not answer; EIO the NIC is in reset or was reset since
 * open(). All other calls may return ENODEV and EIO, too.
 */
struct kgni_attach {
	__u32 argsz;
	__u32 abi_version;
	__u32 inst_id;
	__u32 cookie;
	__u32 modes;
	__u8 ptag;
	__u8 reserved[3];
	__u32 owner;
	__u32 pe;
	__u32 fmad;
	__u32 put_size;
	__u64 desc_offset;
	__u64 doorbell_offset;
	__u64 put_offset;
	__u64 get_offset;
	__u32 poll_offset;
	__u32 awake_offset;
};

/**
 * struct kgni_cq_create - create a completion queue
 * @argsz: in
 * @entries: in: entries wanted, at least 1; out: slots, a power of two greater than that
 * @flags: in: KGNI_CQ_BLOCKING
 * @delay: in: entries per interrupt of a blocking queue, 0 for each; at most @entries
 * @cq: out: number of the queue
 * @reserved: must be zero
 * @mmap_offset: out: for mmap(): header page and slots, @mmap_size bytes, read and write
 * @mmap_size: out
 *
 * Errors: EINVAL; ENOTCONN not attached; ENOSPC no queue is left; EFBIG too many entries (2^19 or
 * more); EPERM RLIMIT_MEMLOCK would be exceeded; ENOMEM no contiguous memory.
 */
struct kgni_cq_create {
	__u32 argsz;
	__u32 entries;
	__u32 flags;
	__u32 delay;
	__u32 cq;
	__u32 reserved;
	__u64 mmap_offset;
	__u64 mmap_size;
};

#define KGNI_CQ_BLOCKING 0x1

/**
 * struct kgni_cq_destroy - free a completion queue
 * @argsz: in: sizeof of the caller's structure
 * @cq: its number
 *
 * Errors: EINVAL; ENOENT not a queue of this file; EBUSY registrations or collective engines use
 * it, or a thread waits on it.
 */
struct kgni_cq_destroy {
	__u32 argsz;
	__u32 cq;
};

/**
 * struct kgni_cq_wait - sleep until one of several queues has an entry
 * @argsz: in
 * @count: in: elements of @cqs, 1 to 64
 * @cqs: in: pointer to __u32 queue numbers
 * @timeout_ms: in: milliseconds, ~0 for no limit
 * @which: out: index in @cqs of a queue that has an entry
 * @reserved: must be zero
 *
 * Errors: EINVAL, ENOENT, EOPNOTSUPP a queue is not blocking, ETIMEDOUT, EINTR,
 * EIO the NIC was reset.
 */
struct kgni_cq_wait {
	__u32 argsz;
	__u32 count;
	__u64 cqs;
	__u64 timeout_ms;
	__u32 which;
	__u32 reserved;
};

/**
 * struct kgni_mem_register - pin memory and register it as a memory domain
 * @argsz: in
 * @flags: in: KGNI_MEM_*
 * @address: in: virtual address; the region is extended to whole pages
 * @length: in: bytes, not 0
 * @cq: in: queue for remote events, KGNI_NO_CQ for none
 * @mdh: out: memory domain handle
 * @page_shift: out: log2 of the page size used
 * @vmdh: in: with KGNI_MEM_VMDH, the place or ~0 for any; out: the place; else zero
 * @base: out: address of the first page
 * @pages: out: pages of 4096 bytes
 *
 * With KGNI_MEM_VMDH the region takes place @vmdh in the domain's block (see struct
 * kgni_mdd_block). Peers and the process refer to it by that place and ARIES_MDH_VIRTUAL, and
 * offsets in it are relative to @base. Errors: EBUSY the place is taken; ENOENT no block or no such
 * place; ENOSPC no place is left.
 *
 * With KGNI_MEM_RESERVE nothing is pinned. The region gets its number and table. Peers can access
 * it after the first KGNI_IOC_MEM_UPDATE, as far as it is populated.
 *
 * Errors: EINVAL, also for addresses outside of user space; ENOTCONN; ENOENT no such queue; ENOSPC
 * no memory domain is left; ENOMEM; EFAULT not mapped; EACCES mapped read-only, and
 * KGNI_MEM_READ_ONLY is not set; EPERM RLIMIT_MEMLOCK would be exceeded; EBADF another process has
 * attached; EFBIG more than 1 TiB; EINTR killed.
 */
struct kgni_mem_register {
	__u32 argsz;
	__u32 flags;
	__u64 address;
	__u64 length;
	__u32 cq;
	__u32 mdh;
	__u32 page_shift;
	__u32 vmdh;
	__u64 base;
	__u64 pages;
};

#define KGNI_MEM_READ_ONLY 0x1
#define KGNI_MEM_RESERVE 0x2
#define KGNI_MEM_VMDH 0x4
#define KGNI_NO_CQ 0xffffffffU

/**
 * struct kgni_mem_segment - a segment of a region
 * @address: virtual address; the segment is extended to whole pages
 * @length: bytes, not 0
 */
struct kgni_mem_segment {
	__u64 address;
	__u64 length;
};

/**
 * struct kgni_mem_segments - register several segments as one region addressed by offsets
 * @argsz: in
 * @flags: in: KGNI_MEM_READ_ONLY, KGNI_MEM_VMDH
 * @segments: in: pointer to struct kgni_mem_segment
 * @count: in: elements of @segments, 1 to KGNI_SEGMENTS_MAX
 * @cq: in: queue for remote events, KGNI_NO_CQ for none
 * @mdh: out: memory domain handle
 * @page_shift: out: log2 of the page size used
 * @pages: out: pages of 4096 bytes, of all segments together
 * @vmdh: in: with KGNI_MEM_VMDH, as in struct kgni_mem_register; out: the place; else zero
 * @reserved: must be zero
 *
 * The pages of the segments follow each other in the order of the list, so the first page of the
 * first segment has offset 0. Errors: as KGNI_IOC_MEM_REGISTER, for the first segment with an
 * error; EFBIG also for too many segments.
 */
struct kgni_mem_segments {
	__u32 argsz;
	__u32 flags;
	__u64 segments;
	__u32 count;
	__u32 cq;
	__u32 mdh;
	__u32 page_shift;
	__u64 pages;
	__u32 vmdh;
	__u32 reserved;
};

#define KGNI_SEGMENTS_MAX 65536

/**
 * struct kgni_mem_update - let a reserved region follow the process's pages
 * @argsz: in
 * @flags: in: must be zero
 * @mdh: in: registration made with KGNI_MEM_RESERVE
 * @reserved: must be zero
 * @address: in: virtual address; the range is extended to whole pages
 * @length: in: bytes, not 0; the range must be inside the region
 * @pages: out: pages of the whole region that are populated now
 *
 * New pages of the range are pinned and entered. Pages that have been replaced in the process are
 * exchanged, and the call returns when the NIC can no longer access the old ones. After an error
 * the region still has its old pages, and perhaps some of the new ones. Errors: EINVAL also if the
 * range is not in the region, or the region is not a reserved one; ENOENT not a registration of
 * this file; otherwise as KGNI_IOC_MEM_REGISTER.
 */
struct kgni_mem_update {
	__u32 argsz;
	__u32 flags;
	__u32 mdh;
	__u32 reserved;
	__u64 address;
	__u64 length;
	__u64 pages;
};

/**
 * struct kgni_mem_deregister - deregister memory; returns when no access is in flight
 * @argsz: in: sizeof of the caller's structure
 * @mdh: its number
 *
 * Errors: EINVAL, ENOENT not a registration of this file, EBUSY receives are posted in it.
 */
struct kgni_mem_deregister {
	__u32 argsz;
	__u32 mdh;
};

/**
 * struct kgni_job - create or change a communication domain; needs CAP_SYS_ADMIN
 * @argsz: in
 * @flags: in: KGNI_JOB_DESTROY removes the domain instead; KGNI_JOB_LIMITS
 * @job_id: in
 * @cookie: in
 * @ptag: in: protection tag or 255 to allocate one; out: the tag
 * @reserved: must be zero
 * @limit_mdd: in: memory domains, those of a block included, -1 to leave as it is
 * @limit_cq: in: completion queues
 * @limit_fma: in: FMA descriptors
 * @reserved2: must be zero
 * @limit_ce: in: collective engines; this and the following limits only with KGNI_JOB_LIMITS,
 *            otherwise zero
 * @limit_bte: in: block transfers queued or running at once, enforced by the NIC
 * @limit_iommu: in: registered memory, as exponent N of 2^N MiB, 0 to 255
 * @limit_dgram: in: datagrams
 * @limit_recv: in: receives for channel sends
 * @reserved3: must be zero
 *
 * A limit of -1 is left unchanged. Limits apply to all processes of the domain on this node
 * together. They keep what they have beyond a new limit. Limits are ignored when a domain is
 * destroyed.
 *
 * Errors: EPERM; EINVAL; EEXIST tag or cookie belongs to another job; EBUSY processes are attached
 * (destroy); ENOENT (destroy); ENOSPC.
 */
struct kgni_job {
	__u32 argsz;
	__u32 flags;
	__u64 job_id;
	__u32 cookie;
	__u8 ptag;
	__u8 reserved[3];
	__s32 limit_mdd;
	__s32 limit_cq;
	__s32 limit_fma;
	__u32 reserved2;
	__s32 limit_ce;
	__s32 limit_bte;
	__s32 limit_iommu;
	__s32 limit_dgram;
	__s32 limit_recv;
	__u32 reserved3;
};

#define KGNI_JOB_DESTROY 0x1
#define KGNI_JOB_LIMITS 0x2

/**
 * struct kgni_ptag - look up the tag of a cookie
 * @argsz: in: sizeof of the caller's structure
 * @cookie: cookie
 * @ptag: out: tag
 * @reserved: must be 0
 *
 * A user who has given many wrong cookies has to wait, here, in KGNI_IOC_ATTACH and in
 * KGNI_IOC_ERR_SUBSCRIBE. Errors: EINVAL, ENOENT, EINTR killed.
 */
struct kgni_ptag {
	__u32 argsz;
	__u32 cookie;
	__u8 ptag;
	__u8 reserved[7];
};

/**
 * struct kgni_res - usage of a resource
 * @argsz: in
 * @kind: in: gni_dev_res_t, or gni_job_res_t when @ptag is not 0, or KGNI_RES_*
 * @ptag: in: protection tag, or 0 for the device
 * @reserved: must be zero
 * @total: out: all units, including the following ones, or the limit of the tag
 * @used: out: units in use
 * @reserved_units: out: units reserved for the kernel
 * @held: out: units that are not free yet after their release
 *
 * The free units of the device are @total minus the other three. For a tag the last two are 0.
 *
 * Errors: EINVAL; ENOENT no such tag; EOPNOTSUPP the NIC has no such resource.
 */
struct kgni_res {
	__u32 argsz;
	__u32 kind;
	__u8 ptag;
	__u8 reserved[7];
	__u64 total;
	__u64 used;
	__u64 reserved_units;
	__u64 held;
};

#define KGNI_RES_RECV 0x100 /* receives for channel sends */
#define KGNI_RES_DGRAM 0x101 /* datagrams; only for a tag */

/**
 * struct kgni_ce_alloc - allocate a virtual collective engine
 * @argsz: in
 * @ce: out: its number on this node, 0 to 3, by which peers refer to it
 *
 * It accepts no contributions before KGNI_IOC_CE_CONFIG. Closing the file frees it.
 *
 * Errors: EINVAL; ENOTCONN; ENOSPC all are in use; EOPNOTSUPP the NIC has none.
 */
struct kgni_ce_alloc {
	__u32 argsz;
	__u32 ce;
};

#define KGNI_CE_CHILDREN 32
#define KGNI_CE_ENGINE 1
#define KGNI_CE_ENDPOINT 2

/**
 * struct kgni_ce_child - one child of a collective engine
 * @pe: node address, in the numbering of the attachment
 * @ce: engine on that node; 0 for an endpoint
 * @inst_id: instance id of the process that contributes as this child; 0 for an engine
 * @kind: KGNI_CE_ENGINE or KGNI_CE_ENDPOINT
 */
struct kgni_ce_child {
	__u32 pe;
	__u32 ce;
	__u32 inst_id;
	__u32 kind;
};

/**
 * struct kgni_ce_config - give a collective engine its place in a tree and start it
 * @argsz: in
 * @ce: in: number of the engine
 * @flags: in: KGNI_CE_*
 * @count: in: number of children, 1 to 32; each is identified by its index in @children
 * @children: in: pointer to @count structures kgni_ce_child
 * @cq: in: queue for the engine's events, KGNI_NO_CQ for none
 * @round: in: rounding of sums: 0 up, 1 down, 2 nearest, 3 to zero
 * @route: in: routing of its packets: 0 adaptive, 1 non-minimal hashed, 2 minimal hashed, 3 minimal
 *         and in order
 * @parent_pe: in: node of the parent
 * @parent_ce: in: engine there
 * @parent_index: in: index of this engine among the children of the parent
 * @reserved: must be zero
 *
 * Contributions are accepted from processes of this attachment's domain only. If a leaf ends, or is
 * not attached within seconds, the whole tree gets an error. An engine that was configured before
 * is stopped first, and then pending operations end with an error for the whole tree. If the call
 * fails with an error other than EIO and ENODEV the engine is unchanged.
 *
 * Errors: EINVAL, ENOTCONN, ENOENT not an engine or not a queue of this file, EFAULT, ENOMEM,
 * ENXIO no such node.
 */
struct kgni_ce_config {
	__u32 argsz;
	__u32 ce;
	__u32 flags;
	__u32 count;
	__u64 children;
	__u32 cq;
	__u32 round;
	__u32 route;
	__u32 parent_pe;
	__u32 parent_ce;
	__u32 parent_index;
	__u64 reserved;
};

#define KGNI_CE_PARENT 0x1 /* there is a parent; otherwise this is the root and parent_* are 0 */
#define KGNI_CE_CQ_ONERR 0x2 /* events for failures and exceptions only */

/**
 * struct kgni_ce_free - stop a collective engine and free it
 * @argsz: in: sizeof of the caller's structure
 * @ce: its number
 *
 * Pending operations end with an error for the whole tree.
 *
 * Errors: EINVAL, ENOTCONN, ENOENT not an engine of this file.
 */
struct kgni_ce_free {
	__u32 argsz;
	__u32 ce;
};

#define KGNI_DGRAM_BYTES 128 /* GNI_DATAGRAM_MAXSIZE */
#define KGNI_DGRAM_LIMIT 4096 /* datagrams that one attachment may have */

/* Flags of the datagram requests. */
#define KGNI_DGRAM_WILDCARD 0x1 /* post: matches any directed datagram to this instance */
#define KGNI_DGRAM_ID 0x2 /* @id is used: post with it, find by it, probe only for such datagrams */
#define KGNI_DGRAM_RELEASE 0x4 /* cancel: the endpoint is destroyed, keep only the result */
#define KGNI_DGRAM_ALL 0x8 /* cancel: all of this file, and end the waits of other threads */

/* States, as gni_post_state_t. */
#define KGNI_DGRAM_PENDING 0
#define KGNI_DGRAM_COMPLETED 1
#define KGNI_DGRAM_ERROR 2
#define KGNI_DGRAM_TIMEOUT 3
#define KGNI_DGRAM_TERMINATED 4
#define KGNI_DGRAM_REMOTE_DATA 5

/**
 * struct kgni_dgram_post - post a datagram for exchange
 * @argsz: in
 * @flags: in: KGNI_DGRAM_WILDCARD, KGNI_DGRAM_ID
 * @ep: in: the caller's name for the endpoint, which has at most one datagram
 * @id: in: with KGNI_DGRAM_ID; not ~0
 * @pe: in: target node of a directed datagram, in the numbering of the attachment
 * @inst_id: in: target instance
 * @length: in: bytes of @data, at most KGNI_DGRAM_BYTES
 * @reserved: must be zero
 * @data: in
 *
 * A directed datagram matches a datagram of the target instance in the same domain: preferably one
 * that is directed at this instance, otherwise a wildcard. Then each side gets the other's data.
 * Errors: EINVAL; ENOTCONN; E2BIG @length is too large; EBUSY the endpoint has a datagram, or there
 * is another directed one to that instance; ENOSPC more than KGNI_DGRAM_LIMIT; ENOMEM.
 */
struct kgni_dgram_post {
	__u32 argsz;
	__u32 flags;
	__u64 ep;
	__u64 id;
	__u32 pe;
	__u32 inst_id;
	__u32 length;
	__u32 reserved;
	__u8 data[KGNI_DGRAM_BYTES];
};

/**
 * struct kgni_dgram_test - get the state of a datagram, and free it if the state is final
 * @argsz: in
 * @flags: in: KGNI_DGRAM_ID
 * @ep: in
 * @id: in: with KGNI_DGRAM_ID
 * @timeout_ms: in: how long to wait for a final state; 0 do not wait, ~0 for ever
 * @state: out
 * @pe: out: if COMPLETED, the partner's node in the numbering of the attachment; KGNI_NO_PE if it
 *      is not in that numbering
 * @inst_id: out: the partner's instance
 * @length: out: bytes of @data
 * @reserved: must be zero
 * @data: out: data that the partner has sent
 *
 * Errors: EINVAL; ENOTCONN; ENOENT no such datagram on the endpoint; ETIMEDOUT; EINTR; ECANCELED by
 * KGNI_DGRAM_ALL.
 */
struct kgni_dgram_test {
	__u32 argsz;
	__u32 flags;
	__u64 ep;
	__u64 id;
	__u64 timeout_ms;
	__u32 state;
	__u32 pe;
	__u32 inst_id;
	__u32 length;
	__u64 reserved;
	__u8 data[KGNI_DGRAM_BYTES];
};

/**
 * struct kgni_dgram_probe - find the first datagram of the file that has a final state
 * @argsz: in
 * @flags: in: KGNI_DGRAM_ID
 * @timeout_ms: in: 0 do not wait, ~0 for ever
 * @id: out
 * @pe: out
 * @inst_id: out
 * @state: out
 * @reserved: must be zero
 *
 * The datagram remains for KGNI_IOC_DGRAM_TEST, unless its endpoint was released. poll() on the
 * file reports POLLIN while there is one. Errors: EINVAL; ENOTCONN; ENOENT there is none (without
 * waiting); ETIMEDOUT; EINTR; ECANCELED by KGNI_DGRAM_ALL.
 */
struct kgni_dgram_probe {
	__u32 argsz;
	__u32 flags;
	__u64 timeout_ms;
	__u64 id;
	__u32 pe;
	__u32 inst_id;
	__u32 state;
	__u32 reserved;
};

/**
 * struct kgni_dgram_cancel - cancel a datagram
 * @argsz: in
 * @flags: in: KGNI_DGRAM_ID, KGNI_DGRAM_RELEASE, or KGNI_DGRAM_ALL alone
 * @ep: in
 * @id: in: with KGNI_DGRAM_ID
 * @gone: out: 1 if there is nothing left to test on the endpoint
 * @reserved: must be zero
 *
 * A directed datagram becomes TERMINATED. A wildcard is freed at once. A datagram that is matched
 * already becomes TERMINATED when its partner answers. A datagram with another final state keeps
 * it, and reports it as usual. Errors: EINVAL; ENOTCONN; ENOENT there is none on the endpoint, or
 * it was cancelled before.
 */
struct kgni_dgram_cancel {
	__u32 argsz;
	__u32 flags;
	__u64 ep;
	__u64 id;
	__u32 gone;
	__u32 reserved;
};

/**
 * struct kgni_clock - the global clock of the fabric
 * @argsz: in
 * @flags: must be zero
 * @now: out: nanoseconds since the fabric was created, the same on all nodes
 * @rate: out: ticks of @now per second
 * @mmap_offset: out: for mmap(), read only: a page whose first 8 bytes read as @now
 * @mmap_size: out: bytes of that page
 * @reserved: must be zero
 *
 * Allowed before KGNI_IOC_ATTACH, but the mapping is not. Read the word with one aligned load of 8
 * bytes; each load is a read over the bus.
 *
 * Errors: EINVAL, EOPNOTSUPP the NIC has no clock.
 */
struct kgni_clock {
	__u32 argsz;
	__u32 flags;
	__u64 now;
	__u64 rate;
	__u64 mmap_offset;
	__u32 mmap_size;
	__u32 reserved;
};

/**
 * struct kgni_clock_wait - sleep until the global clock reaches a time
 * @argsz: in
 * @flags: must be zero
 * @until: in: global time; the call returns at once if it has passed
 * @now: out: the clock at the end of the call, @until or later
 *
 * Allowed before KGNI_IOC_ATTACH. Processes on several nodes that wait for the same time continue
 * together, as precisely as their kernels schedule them.
 *
 * Errors: EINVAL, EOPNOTSUPP the NIC has no clock, EINTR a signal handler has run.
 */
struct kgni_clock_wait {
	__u32 argsz;
	__u32 flags;
	__u64 until;
	__u64 now;
};

/**
 * struct kgni_ntt_entry - physical nodes of a block of virtual nodes
 * @block: physical address of the first node
 * @replacement: physical address of the first node that replaces the last nodes of the block
 * @size: number of replaced nodes, 0 to the granularity
 * @reserved: must be zero
 */
struct kgni_ntt_entry {
	__u32 block;
	__u32 replacement;
	__u32 size;
	__u32 reserved;
};

/**
 * struct kgni_ntt - write entries of the node translation table; needs CAP_SYS_ADMIN
 * @argsz: in
 * @flags: in: KGNI_NTT_*
 * @count: in: entries
 * @granularity: in: nodes per entry, a power of two from 1 to 128; it applies to the whole table,
 *               and can only be changed while the table is empty
 * @base: in: first entry, with KGNI_NTT_CLEAR and KGNI_NTT_CHANGE; out: first entry that the driver
 *        has allocated
 * @reserved: must be zero
 * @entries: in: pointer to struct kgni_ntt_entry, 0 with KGNI_NTT_CLEAR
 *
 * Without flags the driver allocates @count consecutive entries. KGNI_NTT_CHANGE overwrites
 * allocated entries, for example to replace a failed node while its job runs. KGNI_NTT_CLEAR frees
 * entries that no domain uses; with @count and @base ~0 it frees all of those. Errors: EPERM;
 * EINVAL; ENOENT not allocated (CHANGE, CLEAR); EBUSY a domain uses them (CLEAR), or the table has
 * another granularity; ENOSPC no space; EFAULT; ENOMEM.
 */
struct kgni_ntt {
	__u32 argsz;
	__u32 flags;
	__u32 count;
	__u32 granularity;
	__u32 base;
	__u32 reserved;
	__u64 entries;
};

#define KGNI_NTT_CHANGE 0x1
#define KGNI_NTT_CLEAR 0x2

/**
 * struct kgni_ntt_info - the node translation table
 * @argsz: in
 * @granularity: out: nodes per entry
 * @entries: out: entries in the NIC
 * @used: out: allocated entries
 */
struct kgni_ntt_info {
	__u32 argsz;
	__u32 granularity;
	__u32 entries;
	__u32 used;
};

/**
 * struct kgni_job_ntt - assign a part of the table to a domain; needs CAP_SYS_ADMIN
 * @argsz: in
 * @flags: in: KGNI_JOB_NTT_CLEANUP frees the entries with the domain
 * @cookie: in: cookie of a domain created by KGNI_IOC_JOB
 * @base: in: first entry
 * @size: in: entries, at least 1
 * @reserved: must be zero
 *
 * Processes that attach to the domain afterwards use virtual node addresses. Errors: EPERM; EINVAL;
 * ENOENT no such domain, or entries not allocated; EBUSY processes are attached, or another domain
 * uses the entries; EOPNOTSUPP the domain has other entries already.
 */
struct kgni_job_ntt {
	__u32 argsz;
	__u32 flags;
	__u32 cookie;
	__u32 base;
	__u32 size;
	__u32 reserved;
};

#define KGNI_JOB_NTT_CLEANUP 0x1

/**
 * struct kgni_mdd_block - reserve consecutive memory domains for virtual handles
 * @argsz: in
 * @entries: in: how many memory domains, at least 1
 *
 * The block belongs to the domain on this node. The first process that calls this creates it. The
 * others share it, and must not ask for more entries. It is freed with the last of them. Errors:
 * EINVAL; ENOTCONN; EBUSY called already; ENOSPC not enough consecutive memory domains, over the
 * domain's limit, too many domains with blocks, or more than the block has.
 */
struct kgni_mdd_block {
	__u32 argsz;
	__u32 entries;
};

/**
 * struct kgni_bi - balanced injection: get or limit the NIC's outstanding requests
 * @argsz: in
 * @flags: in: KGNI_BI_SET, which needs CAP_SYS_ADMIN
 * @modes: in: GNI_BI_FLAG_* bits for a change
 * @bw: in: percent, or ORB entries with GNI_BI_FLAG_VALUE_IS_NUM_ORB_ENTRIES
 * @aot_bw: in: the same, while the network is throttled
 * @reserved: must be zero
 * @current_bw: out: percent in effect
 * @current_aot_bw: out: percent for throttling
 * @current_norbs: out: ORB entries in effect
 * @current_modes: out: GNI_BI_FLAG_* bits of the last change
 * @sequence: out: number of changes so far, all of them in effect
 *
 * A value of 0 allows one packet at a time. The network of this NIC is never throttled, so a change
 * is in effect when the call returns, whatever the bits say about the time. Errors: EPERM; EINVAL
 * value or bits out of range.
 */
struct kgni_bi {
	__u32 argsz;
	__u32 flags;
	__u16 modes;
	__u16 bw;
	__u16 aot_bw;
	__u16 reserved;
	__u16 current_bw;
	__u16 current_aot_bw;
	__u16 current_norbs;
	__u16 current_modes;
	__u32 sequence;
};

#define KGNI_BI_SET 0x1

/**
 * struct kgni_err_event - one error event of the NIC
 * @code: ARIES_ST_* status, 0x100 and up for RAS events
 * @category: one GNI_ERRMASK_* bit
 * @ptag: protection tag of the domain concerned, 0 if it is not known
 * @serial: running number within the subscription; a gap shows that events were lost
 * @time_ns: time of the NIC's clock
 * @info: ERR_INFO registers
 *
 * The same layout as gni_error_event_t.
 */
struct kgni_err_event {
	__u16 code;
	__u8 category;
	__u8 ptag;
	__u32 serial;
	__u64 time_ns;
	__u64 info[4];
};

/**
 * struct kgni_err_subscribe - subscribe this file to error events
 * @argsz: in
 * @flags: in: KGNI_ERR_ALL
 * @cookie: in: domain whose events are wanted; 0 with KGNI_ERR_ALL
 * @ptag: in: its tag or 255; with KGNI_ERR_ALL a tag, or 0 for all domains and for events of none;
 *        out: the tag
 * @mask: in: GNI_ERRMASK_* categories wanted
 * @reserved: must be zero
 * @entries: in: events that the queue holds, 0 for 64, at most KGNI_ERR_ENTRIES_MAX; out: the same
 * @reserved2: must be zero
 *
 * The file need not be attached. poll() reports it as readable while it has events. The domain
 * exists as long as there are subscriptions to it. KGNI_ERR_ALL needs CAP_SYS_ADMIN.
 *
 * Errors: EINVAL; EPERM; EACCES tag and cookie do not belong together; ENOENT no such domain; EBUSY
 * the file has a subscription; ENOMEM.
 */
struct kgni_err_subscribe {
	__u32 argsz;
	__u32 flags;
	__u32 cookie;
	__u8 ptag;
	__u8 mask;
	__u16 reserved;
	__u32 entries;
	__u32 reserved2;
};

#define KGNI_ERR_ALL 0x1
#define KGNI_ERR_ENTRIES_MAX 4096

/**
 * struct kgni_err_read - read error events from the file's queue, oldest first
 * @argsz: in
 * @flags: in: must be zero
 * @events: in: pointer to an array of struct kgni_err_event
 * @count: in: its number of elements, 1 to KGNI_ERR_ENTRIES_MAX; out: events stored, at least 1
 * @batch_ms: in: with @timeout_ms, how long to wait for more events after the first
 * @timeout_ms: in: milliseconds to wait for the first event, 0 not at all, ~0 without limit
 * @lost: out: events lost so far because the queue was full
 *
 * Errors: EINVAL; ENOTCONN no subscription; EAGAIN there are no events (@timeout_ms is 0);
 * ETIMEDOUT; EINTR; EFAULT (the events are lost); ENOMEM.
 */
struct kgni_err_read {
	__u32 argsz;
	__u32 flags;
	__u64 events;
	__u32 count;
	__u32 batch_ms;
	__u64 timeout_ms;
	__u64 lost;
};

/**
 * struct kgni_err_control - get or change the parameters of a subscription
 * @argsz: in
 * @flags: in: KGNI_ERR_SET_MASK, KGNI_ERR_SET_PTAG (CAP_SYS_ADMIN)
 * @mask: in: new categories; out: the previous ones
 * @ptag: in: new tag, 0 for all; out: the previous one
 * @reserved: must be zero
 *
 * Errors: EINVAL, EPERM, ENOTCONN no subscription.
 */
struct kgni_err_control {
	__u32 argsz;
	__u32 flags;
	__u8 mask;
	__u8 ptag;
	__u16 reserved;
};

#define KGNI_ERR_SET_MASK 0x1
#define KGNI_ERR_SET_PTAG 0x2

/**
 * struct kgni_suspend - suspend or resume a job on this node; needs CAP_SYS_ADMIN
 * @argsz: in
 * @flags: in: KGNI_SUSPEND_RESUME
 * @job_id: in
 * @cookie: in
 * @ptag: in: protection tag or 255
 * @reserved: must be zero
 * @timeout_ms: in: how long to wait for block transfers to end
 *
 * The processes of a suspended job lose the mappings of descriptor area, doorbell and windows. An
 * access to them sleeps until the job is resumed. Operations that they have started end before the
 * call returns. If they do not end in time the job is not suspended. Peers can still use
 * registrations and queues.
 *
 * Errors: EPERM; EINVAL; ENOENT no such job; EALREADY it is suspended already, or (resume) it is
 * not suspended; ETIMEDOUT; EINTR; ECANCELED another call has resumed the job meanwhile.
 */
struct kgni_suspend {
	__u32 argsz;
	__u32 flags;
	__u64 job_id;
	__u32 cookie;
	__u8 ptag;
	__u8 reserved[3];
	__u64 timeout_ms;
};

#define KGNI_SUSPEND_RESUME 0x1

#define KGNI_RECV_LIMIT 16 /* receives that one attachment may have */
#define KGNI_NO_PE 0xffffffffU

/* States of a receive. */
#define KGNI_RECV_PENDING 0 /* waiting, or the job is suspended */
#define KGNI_RECV_ARRIVING 1
#define KGNI_RECV_DONE 2
#define KGNI_RECV_CANCELLED 3

/**
 * struct kgni_recv_post - post a receive for a channel send
 * @argsz: in
 * @flags: must be zero
 * @address: in: start of the buffer, in the form in which peers address the registration: its
 *           virtual address, or the offset in a list of segments
 * @length: in: bytes, not 0
 * @mdh: in: registration of this file that contains the buffer; it must be populated and not
 *       read-only
 * @channel: in: 0 to 65535, the channel that senders use
 * @cq: in: queue for the event, which must be the one of the registration, KGNI_NO_CQ for none
 * @event: in: data of the event
 * @receive: out: number of the receive, which is the transaction id of the event
 * @reserved: must be zero
 *
 * The receive takes one message of the domain to this node and channel. If several are posted the
 * oldest takes it. A registration cannot be ended until each of its receives was completed by
 * KGNI_IOC_RECV_TEST or cancelled. The NIC has 32 receives in total.
 *
 * Errors: EINVAL, also if the buffer is not in the region, the queue is not the region's, or the
 * region is not populated; ENOTCONN; ENOENT no such registration or queue of this file; EACCES
 * read-only; ENOSPC the file, the domain or the NIC has no more receives; ENOMEM; EOPNOTSUPP the
 * NIC does not support sends.
 */
struct kgni_recv_post {
	__u32 argsz;
	__u32 flags;
	__u64 address;
	__u32 length;
	__u32 mdh;
	__u32 channel;
	__u32 cq;
	__u32 event;
	__u32 receive;
	__u64 reserved;
};

/**
 * struct kgni_recv_test - get the state of a receive, and free it if the message has arrived
 * @argsz: in
 * @flags: must be zero
 * @receive: in: number
 * @state: out: KGNI_RECV_*
 * @bytes: out: length of the message that has arrived
 * @pe: out: node that has sent it, in the numbering of the attachment; KGNI_NO_PE if it is not in
 *      that numbering
 * @reserved: must be zero
 *
 * Errors: EINVAL, ENOTCONN, ENOENT not a receive of this file.
 */
struct kgni_recv_test {
	__u32 argsz;
	__u32 flags;
	__u32 receive;
	__u32 state;
	__u32 bytes;
	__u32 pe;
	__u64 reserved;
};

/**
 * struct kgni_recv_cancel - cancel a receive
 * @argsz: in
 * @flags: must be zero
 * @receive: in: number
 * @state: out: KGNI_RECV_CANCELLED, or KGNI_RECV_DONE if the message was faster
 * @bytes: out: as in kgni_recv_test
 * @pe: out
 * @reserved: must be zero
 *
 * A message that was arriving ends with an error at its sender, and may have left a part in the
 * buffer. The buffer is not written any more when the call returns. Errors: as KGNI_IOC_RECV_TEST.
 */
struct kgni_recv_cancel {
	__u32 argsz;
	__u32 flags;
	__u32 receive;
	__u32 state;
	__u32 bytes;
	__u32 pe;
	__u64 reserved;
};

#define KGNI_IOC_QUERY _IO(KGNI_IOC_MAGIC, 0x00)
#define KGNI_IOC_ATTACH _IO(KGNI_IOC_MAGIC, 0x01)
#define KGNI_IOC_CQ_CREATE _IO(KGNI_IOC_MAGIC, 0x02)
#define KGNI_IOC_CQ_DESTROY _IO(KGNI_IOC_MAGIC, 0x03)
#define KGNI_IOC_CQ_WAIT _IO(KGNI_IOC_MAGIC, 0x04)
#define KGNI_IOC_MEM_REGISTER _IO(KGNI_IOC_MAGIC, 0x05)
#define KGNI_IOC_MEM_DEREGISTER _IO(KGNI_IOC_MAGIC, 0x06)
#define KGNI_IOC_JOB _IO(KGNI_IOC_MAGIC, 0x07)
#define KGNI_IOC_PTAG _IO(KGNI_IOC_MAGIC, 0x08)
#define KGNI_IOC_RES _IO(KGNI_IOC_MAGIC, 0x09)
#define KGNI_IOC_CE_ALLOC _IO(KGNI_IOC_MAGIC, 0x10)
#define KGNI_IOC_CE_CONFIG _IO(KGNI_IOC_MAGIC, 0x11)
#define KGNI_IOC_CE_FREE _IO(KGNI_IOC_MAGIC, 0x12)
#define KGNI_IOC_MEM_SEGMENTS _IO(KGNI_IOC_MAGIC, 0x20)
#define KGNI_IOC_MEM_UPDATE _IO(KGNI_IOC_MAGIC, 0x21)
#define KGNI_IOC_NTT _IO(KGNI_IOC_MAGIC, 0x22)
#define KGNI_IOC_NTT_INFO _IO(KGNI_IOC_MAGIC, 0x23)
#define KGNI_IOC_JOB_NTT _IO(KGNI_IOC_MAGIC, 0x24)
#define KGNI_IOC_BI _IO(KGNI_IOC_MAGIC, 0x25)
#define KGNI_IOC_MDD_BLOCK _IO(KGNI_IOC_MAGIC, 0x26)
#define KGNI_IOC_DGRAM_POST _IO(KGNI_IOC_MAGIC, 0x28)
#define KGNI_IOC_DGRAM_TEST _IO(KGNI_IOC_MAGIC, 0x29)
#define KGNI_IOC_DGRAM_PROBE _IO(KGNI_IOC_MAGIC, 0x2a)
#define KGNI_IOC_DGRAM_CANCEL _IO(KGNI_IOC_MAGIC, 0x2b)
#define KGNI_IOC_CLOCK _IO(KGNI_IOC_MAGIC, 0x30)
#define KGNI_IOC_CLOCK_WAIT _IO(KGNI_IOC_MAGIC, 0x31)
#define KGNI_IOC_ERR_SUBSCRIBE _IO(KGNI_IOC_MAGIC, 0x38)
#define KGNI_IOC_ERR_READ _IO(KGNI_IOC_MAGIC, 0x39)
#define KGNI_IOC_ERR_CONTROL _IO(KGNI_IOC_MAGIC, 0x3a)
#define KGNI_IOC_SUSPEND _IO(KGNI_IOC_MAGIC, 0x3b)
#define KGNI_IOC_RECV_POST _IO(KGNI_IOC_MAGIC, 0x40)
#define KGNI_IOC_RECV_TEST _IO(KGNI_IOC_MAGIC, 0x41)
#define KGNI_IOC_RECV_CANCEL _IO(KGNI_IOC_MAGIC, 0x42)

#endif /* KGNI_ABI_H */
