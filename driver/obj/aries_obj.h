/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * aries.ko, the folder obj: objects of the NIC, the domains that they are accounted to, and the
 * owners whom they belong to.
 */
#ifndef ARIES_OBJ_H
#define ARIES_OBJ_H

#include "aries_core.h"
#include "aries_dgrams.h"

struct aries_block;
struct aries_cq;
struct aries_owner;
struct seq_file;

enum aries_res {
	ARIES_RES_MDD,
	ARIES_RES_CQ,
	ARIES_RES_FMA,
	ARIES_RES_CE,
	ARIES_RES_PAGES, /* of 4 KiB, registered or reserved */
	ARIES_RES_RECV,
	ARIES_RES_COUNT
};

/**
 * struct aries_domain - one communication domain, protected by aries_dev.ptag_lock
 *
 * It lives as long as somebody has a pointer to it (@ref): aries_dev.domain[] while it has its
 * tag, and each attachment, subscription, shared descriptor and call that keeps one. It has its tag
 * until it was destroyed, its last attachment has left a domain without job, or the NIC was removed
 * (aries_ptag_remove()); who still has a pointer then finds a domain that is in no table.
 *
 * @ref: one for each pointer; aries_domain_get(), aries_domain_put()
 * @ptag: the node's number for it
 * @cookie: what its members know; the key of its packets
 * @job_id: from KGNI_IOC_JOB, 0 if it was made by an attach
 * @job: made by KGNI_IOC_JOB, stays when the last process leaves
 * @suspended: by KGNI_IOC_SUSPEND
 * @changes: how often that changed, so that a call knows whether another one has come after it
 * @attached: attachments, and calls that need it to keep its tag
 * @ntt_base: first entry of the node translation table
 * @ntt_size: entries, 0 for physical node addresses
 * @ntt_cleanup: they go with the domain
 * @block: memory domains for virtual handles, or NULL
 * @fmads: its FMA descriptors; atomic bits
 * @bte_limited: @bte_limit counts
 * @bte_limit: block transfers that they may have under way, enforced by the NIC
 * @dgram_limit: datagrams that they may have
 * @dgrams: datagrams that they have (aries_chan.lock)
 * @limit: units that its processes may hold together
 * @used: units that they hold
 */
struct aries_domain {
	struct kref ref;
	u8 ptag;
	u32 cookie;
	u64 job_id;
	bool job;
	bool suspended;
	unsigned int changes;
	unsigned int attached;
	u32 ntt_base;
	u32 ntt_size;
	bool ntt_cleanup;
	struct aries_block *block;
	DECLARE_BITMAP(fmads, ARIES_FMA_DESCRIPTORS);
	bool bte_limited;
	u32 bte_limit;
	u32 dgram_limit;
	u32 dgrams;
	u32 limit[ARIES_RES_COUNT];
	u32 used[ARIES_RES_COUNT];
};

/**
 * struct aries_owner_ops - what differs between owners; each is called with aries_owner.lock held
 * @revoked: everything is about to be taken by a reset or removal, and @dead is set
 * @leave: its FMA descriptors and what else is its own kind's go now, or when the NIC has let go of
 *         it (aries_kept_take()); @dom may be NULL
 * @queue_gone: a queue was stopped, nobody is to look into its memory any more
 * @suspend: its job was suspended, so that it begins nothing any more, or goes on
 * @release: frees it, with the last reference and without the lock
 */
struct aries_owner_ops {
	void (*revoked)(struct aries_owner *own);
	void (*leave)(struct aries_owner *own, struct list_head *gone);
	void (*queue_gone)(struct aries_owner *own, struct aries_cq *cq);
	void (*suspend)(struct aries_owner *own, bool suspend);
	void (*release)(struct aries_owner *own);
};

/**
 * struct aries_owner - whom objects of the NIC belong to: an open file, or a client in the kernel
 *
 * It is attached once @dom is set. Objects point to their owner; it knows no process and no
 * mapping, those are the open file's (struct aries_ctx).
 *
 * @ref: held by the file or client, and by a walk over all owners
 * @ad: the device, with a reference
 * @ops: what kind of owner it is
 * @node: in aries_dev.owner_list
 * @id: higher than of every owner that was there before
 * @lock: see DOC: locks
 * @dead: everything was revoked by a reset or removal
 * @suspended: its job is: page faults wait
 * @dom: domain with a reference, NULL before it is attached
 * @modes: GNI_CDM_MODE_* bits
 * @inst_id: instance id that it has given itself
 * @nr: context number
 * @fmad: FMA descriptor
 * @pe: node address, as its domain counts
 * @block: shares the domain's block of memory domains
 * @cqs: queues by number
 * @mems: registrations by memory domain handle
 * @inst: its number among the instances that the NIC knows, -1 for none
 * @ces: collective engines by number
 * @recvs: receives for channel sends, oldest first
 * @nrecvs: how many
 * @dg: datagrams
 * @pid: who has made it, for lists; 0 for the kernel
 * @comm: its name
 */
struct aries_owner {
	struct kref ref;
	struct aries_dev *ad;
	const struct aries_owner_ops *ops;
	struct list_head node;
	u64 id;
	struct mutex lock; /* see DOC: locks */
	bool dead;
	bool suspended;
	struct aries_domain *dom;
	u32 modes;
	u32 inst_id;
	u16 nr;
	u16 fmad;
	u32 pe;
	bool block;
	struct xarray cqs;
	struct xarray mems;
	int inst;
	struct aries_ce *ces[ARIES_CE_CHANNELS];
	struct list_head recvs;
	unsigned int nrecvs;
	struct aries_dgrams dg;
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

/**
 * struct aries_kept - something that was taken from the NIC, which may not have let go of it yet
 * @node: in a list of the caller that has taken it, or in aries_dev.kept
 * @dom: on whose account it is until it is free, with a reference
 * @seq: in aries_dev.kept: revocation after which nobody reaches it
 * @free: takes it off the account and frees it, this included
 * @lose: the NIC never lets go of it, and it stays for ever; NULL if nobody waits
 */
struct aries_kept {
	struct list_head node;
	struct aries_domain *dom;
	u64 seq;
	void (*free)(struct aries_dev *ad, struct aries_kept *kept);
	void (*lose)(struct aries_dev *ad, struct aries_kept *kept);
};

/**
 * struct aries_cq - one completion queue
 * @ref: held by the attachment and by each waiter
 * @nr: number in the NIC
 * @log2: log2 of the slots
 * @flags: KGNI_CQ_*
 * @size: bytes, header page included
 * @mem_refs: registrations that name the queue (aries_owner.lock)
 * @ce_refs: collective engines that name it (aries_owner.lock)
 * @waiters: threads in KGNI_IOC_CQ_WAIT (aries_owner.lock)
 * @lock: protects @mem, @consumed
 * @mem: header page and slots, NULL once they were freed
 * @page: the same
 * @dma: bus address of @mem
 * @charge: who pays for @mem
 * @wq: woken by the interrupt and by a reset
 * @irqs: interrupts that woke the queue
 * @kept: until the NIC has let go of it
 * @rcu: until nobody who has found it in aries_dev.cq_table looks at it
 * @own: client in the kernel that it belongs to, with a reference; NULL for a process's
 * @handler: of that client, called with each interrupt; NULL for a queue that is polled
 * @data: for @handler
 * @armed: the next entry raises an interrupt, or one is on its way to @handler
 * @consumed: entries that the client has taken
 */
struct aries_cq {
	struct kref ref;
	u16 nr;
	u8 log2;
	u32 flags;
	size_t size;
	unsigned int mem_refs;
	unsigned int ce_refs;
	unsigned int waiters;
	spinlock_t lock; /* see DOC: locks */
	void *mem;
	struct page *page;
	dma_addr_t dma;
	struct aries_charge charge;
	wait_queue_head_t wq;
	unsigned long irqs;
	struct aries_kept kept;
	struct rcu_head rcu;
	struct aries_owner *own;
	void (*handler)(void *data);
	void *data;
	bool armed;
	u64 consumed;
};

/**
 * struct aries_ce - one collective engine of an attachment, protected by aries_owner.lock
 * @nr: number in the NIC
 * @enabled: the NIC knows its place in a tree
 * @cq: its queue, NULL for none
 * @seq: revocation after which its number may be enabled
 * @kept: until the NIC has let go of it
 */
struct aries_ce {
	unsigned int nr;
	bool enabled;
	struct aries_cq *cq;
	u64 seq;
	struct aries_kept kept;
};

/**
 * struct aries_region - memory that the NIC knows as a memory domain, whatever it is made of
 * @mdh: memory domain handle
 * @read_only: peers may only read
 * @live: the NIC has its descriptor
 * @leaving: it was taken from the NIC, which may not have let go of it yet
 * @block: @mdh is a place in there; NULL if it is a number of its own
 * @cq: queue of remote events or NULL
 * @recvs: receives posted in it
 * @start: virtual address of the first page, 0 for a list of segments
 * @npages: pages of 4 KiB
 * @accounted: pages of a process that are pinned for it: in the counts of its mm and of the device
 * @charge: who pays for them, for @table and @leaf
 * @page_shift: log2 of the page size in the NIC's table
 * @sgt: the pages, and their bus addresses once @mapped; empty if they come later
 * @mapped: @sgt has bus addresses
 * @table: directory (two levels) or entries (one level)
 * @table_dma: its bus address
 * @table_size: bytes
 * @leaf: pages of entries, NULL for one level; where pages come later, as needed
 * @leaf_dma: their bus addresses
 * @nleaf: how many
 * @kept: until the NIC has let go of it
 * @keep: asked before that if its number is to be kept for somebody; NULL: never
 * @release: the NIC has let go of it: frees it; says what kind of region it is
 */
struct aries_region {
	u16 mdh;
	bool read_only;
	bool live;
	bool leaving;
	struct aries_block *block;
	struct aries_cq *cq;
	unsigned int recvs;
	unsigned long start;
	unsigned long npages;
	unsigned long accounted;
	struct aries_charge charge;
	unsigned int page_shift;
	struct sg_table sgt;
	bool mapped;
	__le64 *table;
	dma_addr_t table_dma;
	size_t table_size;
	__le64 **leaf;
	dma_addr_t *leaf_dma;
	unsigned int nleaf;
	struct aries_kept kept;
	bool (*keep)(struct aries_dev *ad, struct aries_region *region);
	void (*release)(struct aries_dev *ad, struct aries_region *region);
};

/* What a region reaches at most: offsets have so many bits. */
#define ARIES_REGION_MAX BIT_ULL(ARIES_OFFSET_BITS)

/* aries_owner.c: whom objects belong to */
int aries_owner_init(struct aries_owner *own, struct aries_dev *ad,
		     const struct aries_owner_ops *ops);
void aries_owner_put(struct aries_owner *own);
struct aries_owner *aries_owner_next(struct aries_dev *ad, struct aries_owner *last);
int aries_owner_join(struct aries_owner *own, u8 ptag, u32 cookie, bool trusted);
void aries_owner_start(struct aries_owner *own);
void aries_owner_leave(struct aries_owner *own);
void aries_owner_unlist(struct aries_owner *own);
void aries_owner_end(struct aries_owner *own);
int aries_owner_status(struct aries_owner *own);
int aries_owner_why(const struct aries_owner *own);
int aries_owner_enter(struct aries_owner *own, bool attached);
void aries_owner_exit(struct aries_owner *own);
void aries_owner_exit_free(struct aries_owner *own, struct list_head *gone);
int aries_owner_node(struct aries_owner *own, u32 pe, u32 *node);
u32 aries_owner_pe(struct aries_owner *own, u32 node);
void aries_owner_revoke(struct aries_owner *own, struct list_head *gone);

/* aries_ptag.c: communication domains */
struct aries_domain *aries_domain_join(struct aries_dev *ad, u8 ptag, u32 cookie, bool trusted);
struct aries_domain *aries_domain_enter(struct aries_dev *ad, u8 ptag, u32 cookie);
void aries_domain_leave(struct aries_dev *ad, struct aries_domain *dom);
struct aries_domain *aries_domain_get(struct aries_domain *dom);
void aries_domain_put(struct aries_domain *dom);
int aries_domain_charge(struct aries_dev *ad, struct aries_domain *dom, enum aries_res res,
			unsigned int count);
void aries_domain_uncharge(struct aries_dev *ad, struct aries_domain *dom, enum aries_res res,
			   unsigned int count);
void aries_domain_restore(struct aries_dev *ad);
void aries_domain_free_all(struct aries_dev *ad);

/* aries_ntt.c: node translation */
int aries_ntt_init(struct aries_dev *ad);
void aries_ntt_exit(struct aries_dev *ad);
void aries_ntt_restore(struct aries_dev *ad);
void aries_ntt_release(struct aries_dev *ad, const struct aries_domain *dom);
void aries_ntt_entries_show(struct seq_file *m, struct aries_dev *ad);
int aries_ntt_virtual(struct aries_dev *ad, const struct aries_domain *dom, u32 node, u32 *pe);
int aries_ntt_physical(struct aries_dev *ad, const struct aries_domain *dom, u32 pe, u32 *node);
int aries_ntt(struct aries_owner *own, struct kgni_ntt *arg);
int aries_ntt_info(struct aries_owner *own, struct kgni_ntt_info *arg);
int aries_ntt_job(struct aries_owner *own, struct kgni_job_ntt *arg);

/* aries_bi.c: balanced injection */
void aries_bi_reset(struct aries_dev *ad);
int aries_bi(struct aries_owner *own, struct kgni_bi *arg);

/* aries_fmad.c: FMA descriptors */
int aries_fmad_take(struct aries_owner *own);
void aries_fmad_enable(struct aries_owner *own, unsigned int nr, u64 rights);
void aries_fmad_wait(struct aries_dev *ad, unsigned int nr);
void aries_fmad_give(struct aries_owner *own, unsigned int nr, u16 owner);
unsigned int aries_fmad_busy(struct aries_dev *ad, unsigned int fmad);
u64 aries_fmad_transfers(struct aries_dev *ad, const struct aries_domain *dom);

/* aries_cq.c: completion queues */
int aries_cq_create(struct aries_owner *own, struct kgni_cq_create *arg);
int aries_cq_destroy(struct aries_owner *own, struct kgni_cq_destroy *arg);
struct aries_cq *aries_cq_find(struct aries_owner *own, u32 nr);
struct aries_cq *aries_cq_new(u32 entries, u32 flags, bool kernel);
int aries_cq_add(struct aries_owner *own, struct aries_cq *cq, u32 delay);
void aries_cq_stop(struct aries_owner *own, struct aries_cq *cq, struct list_head *gone);
void aries_cq_free_mem(struct aries_cq *cq);
void aries_cq_put(struct aries_cq *cq);
void aries_cq_teardown(struct aries_owner *own, struct list_head *gone);
void aries_cq_wake(struct aries_dev *ad, unsigned int nr);

/* aries_pte.c: translation tables */
int aries_pte_build(struct aries_dev *ad, struct aries_region *region);
void aries_pte_free(struct aries_dev *ad, struct aries_region *region);
int aries_pte_reserve(struct aries_dev *ad, struct aries_region *region);
__le64 *aries_pte_leaf(struct aries_dev *ad, struct aries_region *region, unsigned long n);

/* aries_region.c: memory domains */
int aries_region_publish(struct aries_owner *own, struct aries_region *region, u32 *vmdh,
			 bool later);
void aries_region_program(struct aries_owner *own, struct aries_region *region);
u64 aries_region_take_away(struct aries_dev *ad, const struct aries_region *region);
u64 aries_region_revoke(struct aries_dev *ad, struct aries_region *region);
void aries_region_del(struct aries_owner *own, struct aries_region *region,
		      struct list_head *gone);
void aries_region_teardown(struct aries_owner *own, struct list_head *gone);

/* aries_vmdh.c: virtual memory domain handles */
int aries_vmdh_block(struct aries_owner *own, struct kgni_mdd_block *arg);
int aries_vmdh_get(struct aries_owner *own, u32 *place, struct aries_block **block);
void aries_vmdh_put(struct aries_dev *ad, struct aries_block *block, unsigned int mdh);
void aries_vmdh_leave(struct aries_owner *own, struct list_head *gone);
void aries_vmdh_show(struct seq_file *m, struct aries_dev *ad, const struct aries_domain *dom);

/* aries_ce.c: collective engines */
int aries_ce_alloc(struct aries_owner *own, struct kgni_ce_alloc *arg);
int aries_ce_config(struct aries_owner *own, struct kgni_ce_config *arg);
int aries_ce_free(struct aries_owner *own, struct kgni_ce_free *arg);
void aries_ce_teardown(struct aries_owner *own, struct list_head *gone);

/* aries_ce.c: instances */
void aries_inst_add(struct aries_owner *own);
void aries_inst_del(struct aries_owner *own);

/* aries_recv.c: receives for channel sends */
int aries_recv_post(struct aries_owner *own, struct kgni_recv_post *arg);
int aries_recv_test(struct aries_owner *own, struct kgni_recv_test *arg);
int aries_recv_cancel(struct aries_owner *own, struct kgni_recv_cancel *arg);
void aries_recv_park(struct aries_owner *own);
void aries_recv_unpark(struct aries_owner *own);
void aries_recv_work(struct work_struct *work);
void aries_recv_teardown(struct aries_owner *own, struct list_head *gone);

/* aries_kept.c: memory that the NIC may still reach */
void aries_kept_take(struct aries_owner *own, struct list_head *gone, struct aries_kept *kept,
		     void (*free)(struct aries_dev *ad, struct aries_kept *kept));
void aries_kept_release(struct aries_dev *ad, struct list_head *gone);
void aries_kept_free(struct aries_dev *ad);
void aries_kept_work(struct work_struct *work);
bool aries_kept_exit(struct aries_dev *ad);

/* aries_nodes.c: which nodes are there */
void aries_nodes_drain(struct aries_dev *ad);
void aries_nodes_start(struct aries_dev *ad);
void aries_nodes_stop(struct aries_dev *ad);
void aries_nodes_up(struct aries_dev *ad, unsigned long *up);

#endif /* ARIES_OBJ_H */
