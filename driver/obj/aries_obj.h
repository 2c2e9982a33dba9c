/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * aries.ko, folder obj: objects of the NIC, the domains that they are charged to, and their owners.
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
	ARIES_RES_PAGES, /* pages of 4 KiB, registered or reserved */
	ARIES_RES_RECV,
	ARIES_RES_COUNT
};

/**
 * struct aries_domain - one communication domain, protected by aries_dev.ptag_lock
 *
 * It exists as long as there is a reference to it (@ref): from aries_dev.domain[] while it has its
 * tag, and from each attachment, subscription, shared descriptor and call that uses it. It loses
 * its tag when it is destroyed, when it has no job and its last attachment leaves, or when the NIC
 * is removed (aries_ptag_remove()). Remaining references then refer to a domain that is in no
 * table.
 *
 * @ref: reference count; aries_domain_get(), aries_domain_put()
 * @ptag: its number on this node
 * @cookie: the secret of its members, and the key of its packets
 * @job_id: from KGNI_IOC_JOB, 0 if it was created by an attach
 * @job: created by KGNI_IOC_JOB, so it remains when the last process leaves
 * @suspended: suspended by KGNI_IOC_SUSPEND
 * @changes: how often that has changed, so that a call notices later calls
 * @attached: number of attachments, and of calls that need it to keep its tag
 * @ntt_base: first entry of the node translation table
 * @ntt_size: number of entries, 0 for physical node addresses
 * @ntt_cleanup: the entries are freed with the domain
 * @block: memory domains for virtual handles, or NULL
 * @fmads: its FMA descriptors; atomic bits
 * @bte_limited: @bte_limit is valid
 * @bte_limit: limit of outstanding block transfers, enforced by the NIC
 * @dgram_limit: limit of datagrams
 * @dgrams: number of datagrams (aries_chan.lock)
 * @limit: limits for all its processes together
 * @used: units in use
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
 * struct aries_owner_ops - operations of a kind of owner, called with aries_owner.lock held
 * @revoked: all objects are about to be revoked by a reset or removal, and @dead is set
 * @leave: release its FMA descriptors and everything specific to its kind, now or when the NIC has
 *         released it (aries_kept_take()); @dom may be NULL
 * @queue_gone: a queue was stopped, and its memory must not be accessed any more
 * @suspend: its job was suspended, so that it must not start operations, or was resumed
 * @release: frees the owner with the last reference; called without the lock
 */
struct aries_owner_ops {
	void (*revoked)(struct aries_owner *own);
	void (*leave)(struct aries_owner *own, struct list_head *gone);
	void (*queue_gone)(struct aries_owner *own, struct aries_cq *cq);
	void (*suspend)(struct aries_owner *own, bool suspend);
	void (*release)(struct aries_owner *own);
};

/**
 * struct aries_owner - owner of objects of the NIC: an open file, or a client in the kernel
 *
 * It is attached once @dom is set. Objects point to their owner. Processes and mappings belong to
 * the open file (struct aries_ctx), not to the owner.
 *
 * @ref: reference count: one for the file or client, one for a walk over all owners
 * @ad: the device, with a reference
 * @ops: operations of its kind
 * @node: in aries_dev.owner_list
 * @id: higher than that of every owner created before
 * @lock: see DOC: locks
 * @dead: everything was revoked by a reset or removal
 * @suspended: its job is suspended: page faults wait
 * @dom: domain, with a reference; NULL before it is attached
 * @modes: GNI_CDM_MODE_* bits
 * @inst_id: instance id that it has chosen
 * @nr: context number
 * @fmad: FMA descriptor
 * @pe: address of this node in its domain
 * @block: it shares the domain's block of memory domains
 * @cqs: queues by number
 * @mems: registrations by memory domain handle
 * @inst: its number in the NIC's table of instances, -1 for none
 * @ces: collective engines by number
 * @recvs: receives for channel sends, oldest first
 * @nrecvs: number of @recvs
 * @dg: datagrams
 * @pid: process that has created it, for lists; 0 for the kernel
 * @comm: name of that process
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
 * aries_shown_address() - an address of an owner's memory, for lists and traces
 * @own: owner
 * @address: virtual address
 *
 * Return: the address, or 0 if the owner is a client in the kernel: addresses of kernel memory help
 * attackers.
 */
static inline unsigned long aries_shown_address(const struct aries_owner *own,
						unsigned long address)
{
	return own->pid ? address : 0;
}

/**
 * struct aries_kept - a revoked object that the NIC may not have released yet
 * @node: in a list of the caller that has revoked it, or in aries_dev.kept
 * @dom: domain that is charged for it until it is freed, with a reference
 * @seq: in aries_dev.kept: revocation after which it is not accessed any more
 * @free: uncharges and frees the object, including this structure
 * @lose: called if the NIC never releases it, so that it is leaked; NULL if nothing waits for it
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
 * @log2: log2 of the number of entries
 * @flags: KGNI_CQ_*
 * @size: bytes, header page included
 * @mem_refs: number of registrations that use the queue (aries_owner.lock)
 * @ce_refs: number of collective engines that use it (aries_owner.lock)
 * @waiters: number of threads in KGNI_IOC_CQ_WAIT (aries_owner.lock)
 * @lock: protects @mem, @consumed
 * @mem: header page and entries, NULL once they were freed
 * @page: first page of @mem
 * @dma: bus address of @mem
 * @charge: accounting of @mem
 * @wq: woken by the interrupt and by a reset
 * @irqs: number of interrupts for the queue
 * @kept: keeps it until the NIC has released it
 * @rcu: frees it when readers of aries_dev.cq_table are done
 * @own: client in the kernel that it belongs to, with a reference; NULL for a queue of a process
 * @handler: handler of that client, called at each interrupt; NULL for a queue that is polled
 * @data: for @handler
 * @armed: the next entry raises an interrupt, or one is being delivered to @handler
 * @consumed: number of entries that the client has read
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
 * @enabled: it is enabled in the NIC, with its place in a tree
 * @cq: its queue, NULL for none
 * @seq: revocation after which it may be enabled again
 * @kept: keeps it until the NIC has released it
 */
struct aries_ce {
	unsigned int nr;
	bool enabled;
	struct aries_cq *cq;
	u64 seq;
	struct aries_kept kept;
};

/**
 * struct aries_region - memory that is registered as a memory domain, of any kind
 * @mdh: memory domain handle
 * @read_only: peers may only read
 * @live: its descriptor is valid in the NIC
 * @leaving: it was revoked, but the NIC may not have released it yet
 * @block: block that @mdh is in; NULL if @mdh is a number of its own
 * @cq: queue for remote events or NULL
 * @recvs: number of receives posted in it
 * @start: virtual address of the first page, 0 for a list of segments
 * @npages: number of pages of 4 KiB
 * @accounted: number of pinned pages of a process, which are included in the counts of its mm and
 *             of the device
 * @charge: accounting of these pages, of @table and of @leaf
 * @page_shift: log2 of the page size in the NIC's table
 * @sgt: the pages, and their bus addresses once @mapped is set; empty if pages are added later
 * @mapped: @sgt has bus addresses
 * @table: directory (if there are two levels) or entries (one level)
 * @table_dma: its bus address
 * @table_size: its size in bytes
 * @leaf: pages of entries, NULL for one level; allocated as needed if pages are added later
 * @leaf_dma: their bus addresses
 * @nleaf: number of pages of entries
 * @kept: keeps it until the NIC has released it
 * @keep: called before that to ask whether its number should be held; NULL: never
 * @release: frees it after the NIC has released it; also identifies the kind of region
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

/* Largest size of a region, which follows from the number of bits of an offset. */
#define ARIES_REGION_MAX BIT_ULL(ARIES_OFFSET_BITS)

/* aries_domain.c: communication domains */
struct aries_domain *aries_domain_get(struct aries_domain *dom);
void aries_domain_put(struct aries_domain *dom);
int aries_domain_charge(struct aries_dev *ad, struct aries_domain *dom, enum aries_res res,
			unsigned int count);
void aries_domain_uncharge(struct aries_dev *ad, struct aries_domain *dom, enum aries_res res,
			   unsigned int count);

/* aries_owner.c: owners of objects */
int aries_owner_init(struct aries_owner *own, struct aries_dev *ad,
		     const struct aries_owner_ops *ops);
void aries_owner_put(struct aries_owner *own);
struct aries_owner *aries_owner_next(struct aries_dev *ad, struct aries_owner *last);
void aries_owner_unlist(struct aries_owner *own);
int aries_owner_status(struct aries_owner *own);
int aries_owner_why(const struct aries_owner *own);
int aries_owner_enter(struct aries_owner *own, bool attached);
void aries_owner_exit(struct aries_owner *own);
void aries_owner_exit_free(struct aries_owner *own, struct list_head *gone);

/* aries_attach.c: owners that join a domain, leave it, and lose all objects */
int aries_owner_join(struct aries_owner *own, u8 ptag, u32 cookie, bool trusted);
void aries_owner_start(struct aries_owner *own);
void aries_owner_leave(struct aries_owner *own);
void aries_owner_end(struct aries_owner *own);
void aries_owner_revoke(struct aries_owner *own, struct list_head *gone);

/* aries_ptag.c: tags of domains */
struct aries_domain *aries_domain_join(struct aries_dev *ad, u8 ptag, u32 cookie, bool trusted);
struct aries_domain *aries_domain_enter(struct aries_dev *ad, u8 ptag, u32 cookie);
void aries_domain_leave(struct aries_dev *ad, struct aries_domain *dom);
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
int aries_owner_node(struct aries_owner *own, u32 pe, u32 *node);
u32 aries_owner_pe(struct aries_owner *own, u32 node);

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

/* aries_kept.c: memory that the NIC may still access */
void aries_kept_take(struct aries_owner *own, struct list_head *gone, struct aries_kept *kept,
		     void (*free)(struct aries_dev *ad, struct aries_kept *kept));
void aries_kept_release(struct aries_dev *ad, struct list_head *gone);
void aries_kept_free(struct aries_dev *ad);
void aries_kept_reset(struct aries_dev *ad);
void aries_kept_work(struct work_struct *work);
bool aries_kept_exit(struct aries_dev *ad);

/* aries_nodes.c: state of nodes */
void aries_nodes_drain(struct aries_dev *ad);
void aries_nodes_start(struct aries_dev *ad);
void aries_nodes_stop(struct aries_dev *ad);
void aries_nodes_up(struct aries_dev *ad, unsigned long *up);

#endif /* ARIES_OBJ_H */
