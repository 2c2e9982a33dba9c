/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * aries.ko: the structures that its files share, and which lock protects what.
 */
#ifndef ARIES_TYPES_H
#define ARIES_TYPES_H

#include <linux/atomic.h>
#include <linux/bitfield.h>
#include <linux/cdev.h>
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/rwsem.h>
#include <linux/scatterlist.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "aries_dgrams.h"
#include "aries_hw.h"
#include "aries_regs.h"
#include "uapi/kgni_abi.h"

/* Packed as GNI_VERSION_CHECK(0, 0x5c, 1). */
#define ARIES_DRIVER_VERSION 0x005c0001u
#define ARIES_DRIVER_VERSION_TEXT "0.5c.0001"
#define ARIES_DEVICE_TYPE 1 /* GNI_DEVICE_ARIES */

#define ARIES_MAX_DEVICES 64
#define ARIES_VECTORS_MAX ARIES_MSIX_VECTORS
#define ARIES_DMA_BITS 52 /* ARIES_PTE_ADDR_MASK */
#define ARIES_OWNERS 65536 /* FMAD_CTL.OWNER has 16 bits */
#define ARIES_PTAG_ANY 255 /* GNI_FIND_ALLOC_PTAG */
#define ARIES_RING_ORDER_MAX 10 /* 4 MiB, what the page allocator gives in one piece */

struct aries_chan;
struct aries_cq;
struct aries_ctx;
struct aries_dev;
struct aries_owner;
struct user_struct;
struct aries_aux;
struct aries_block;
struct aries_ees;
struct aries_fma_saved;
struct aries_guesser;
struct aries_share;

/**
 * DOC: locks
 *
 * aries_dev.state_sem   Protects the state of the device and, held for reading by who found it up,
 *                       promises that the registers are mapped and that nothing is revoked
 *                       meanwhile. Held for writing by probe, removal and reset only, for a moment.
 *                       Who waits for the NIC while holding it for reading gives up when somebody
 *                       wants to write.
 * aries_dev.owner_lock  Protects the list of owners. Nobody waits for one of them under it; see
 *                       aries_owner_next().
 * aries_owner.lock      Protects the objects of one owner: its FMA descriptors, queues and
 *                       registrations. Taken in the page fault handler, so no user memory may be
 *                       touched and no mmap_lock taken under it. Nobody waits for the NIC and
 *                       nothing large is made or freed under it: see aries_quiet_take().
 * aries_dev.share_lock  Protects the list of descriptors that may be shared, and their users.
 * aries_share.lock      Protects the content of such a descriptor and who has it mapped. Taken in
 *                       the page fault handler.
 * aries_dev.client_lock Protects the list of clients in the kernel, and promises that one is there
 *                       while it is told something.
 * aries_dev.node_lock   Protects what is known of nodes, and promises that who watches is there
 *                       while it is told. Taken with nothing else held.
 * aries_dev.ptag_lock   Protects domains, their limits and counts, the node translation table and
 *                       the limits of injection.
 * aries_dev.kept_lock   Protects the list of what the NIC has not let go of.
 * aries_dev.clock_lock  Protects the sleepers on the global clock and the NIC's timer 0.
 * aries_dev.irq_lock    Protects reading and clearing CQI_PENDING as one step. Taken in interrupt
 *                       handlers. The table of queues by number is under RCU.
 * aries_dev.ees_lock    Protects the list of subscriptions to error events and their queues.
 * aries_cq.lock         Protects the pointer to the queue's memory, and promises while that is
 *                       there that registers are mapped; and what a client in the kernel has taken
 *                       from the queue. Any context.
 * aries_port.lock       Protects the descriptor area of a port; while the port is on, registers are
 *                       mapped. Any context. It is what the data path of clients in the kernel has
 *                       in place of state_sem: who takes everything away switches it off under this
 *                       lock, and waits so for who is inside.
 * aries_pool.lock       Protects one pool of numbers.
 * aries_chan.lock       Protects datagrams and the messages of the driver, see aries_dgram.h.
 * aries_guesser.turn    One cookie at a time of a user who has named wrong ones.
 *
 * Order: turn, state_sem, owner_lock, aries_owner.lock, then share_lock or aries_share.lock, then
 * ptag_lock, clock_lock or client_lock, then the spinlocks, of which irq_lock comes before the
 * others. mmap_lock comes before aries_owner.lock.
 */

/**
 * struct aries_pool - numbers of one kind of NIC resource
 * @lock: protects everything below
 * @map: one bit a number, set while it is taken
 * @owner: context number of the holder, one a number
 * @first: lowest number given out
 * @size: one more than the highest
 * @used: numbers taken
 * @held: of these, numbers that nobody has any more and the NIC has not let go of yet
 * @cursor: where the next search starts
 */
struct aries_pool {
	spinlock_t lock; /* the rest */
	unsigned long *map;
	u16 *owner;
	unsigned int first;
	unsigned int size;
	unsigned int used;
	unsigned int held;
	unsigned int cursor;
};

enum aries_state {
	ARIES_STATE_UP,
	ARIES_STATE_RESET, /* between reset_prepare and reset_done, or after a failed reset */
	ARIES_STATE_GONE, /* removed or unplugged */
};

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
 * struct aries_charge - locked memory on the account of a user; in the object that holds the memory
 * @user: whose, with a reference; NULL for who had CAP_IPC_LOCK, and after aries_charge_end()
 * @npages: pages charged
 *
 * Protected by whatever protects the object.
 */
struct aries_charge {
	struct user_struct *user;
	unsigned long npages;
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
 * struct aries_vector - one MSI-X vector
 * @ad: the device
 * @nr: vector number
 * @count: interrupts taken
 * @name: as in /proc/interrupts
 */
struct aries_vector {
	struct aries_dev *ad;
	unsigned int nr;
	unsigned long count;
	char name[24];
};

/**
 * struct aries_dev - one NIC
 *
 * Freed with the last reference to @dev, which open files hold.
 */
struct aries_dev {
	struct device dev;
	struct cdev cdev;
	struct pci_dev *pdev;
	struct pci_saved_state *config; /* as at probe, see aries_pci_restore() */
	int id;

	struct rw_semaphore state_sem;
	enum aries_state state;
	bool hw_ok; /* registers answer; false skips every register access */

	void __iomem *regs;
	void __iomem *desc;
	resource_size_t regs_phys;
	resource_size_t fma_phys;
	resource_size_t desc_phys;

	/* read from the ID block at probe; a reset does not change them */
	bool identified;
	u64 caps;
	u32 pe;
	u32 nodes;
	u32 nfma;
	u32 nmdd;
	u32 ncq;
	u32 bte_queue;
	unsigned int nvec;
	struct aries_vector vec[ARIES_VECTORS_MAX];

	struct aries_pool owners;
	struct aries_pool fmads;
	struct aries_pool mdds;
	struct aries_pool cqs;
	struct aries_pool ces;
	struct aries_pool insts;
	struct aries_pool recvs;

	struct mutex ptag_lock; /* domains, ntt, bi; see DOC: locks */
	struct aries_domain *domain[ARIES_PTAG_ENTRIES];

	struct kgni_ntt_entry *ntt; /* of each entry allocated, what was written */
	unsigned long *ntt_map; /* entries allocated */
	u32 ntt_log2; /* granularity */
	struct kgni_bi bi; /* current_* and sequence */
	struct mutex share_lock; /* shares */
	struct list_head shares;

	struct mutex owner_lock; /* owner_list, owner_id */
	struct list_head owner_list;
	u64 owner_id;
	wait_queue_head_t resume_wq;

	u64 inv_late; /* INV_DONE that did not move for a second */
	spinlock_t kept_lock; /* kept */
	struct list_head kept; /* of struct aries_kept */
	struct delayed_work kept_work;
	struct delayed_work recv_work; /* receives that are to be posted again */
	bool quiet; /* the NIC reaches no memory, see aries_quiet.c */
	spinlock_t irq_lock; /* CQI_PENDING */
	struct aries_cq __rcu **cq_table;

	struct aries_chan *chan;
	struct aries_aux *aux; /* what clients in the kernel are bound to */
	struct aries_aux *nodes_aux; /* and who wants to know of nodes only */
	struct mutex node_lock; /* nodes_on, node_watches, writing to node_seen */
	bool nodes_on; /* what happens to nodes is looked at */
	struct list_head node_watches; /* of struct aries_node_watch */
	u64 node_seen[ARIES_NODES_MAX]; /* NODE_STATE as it was last */
	struct mutex client_lock; /* clients */
	struct list_head clients; /* of struct aries_kowner */
	struct mutex clock_lock; /* sleepers, timer 0 */
	struct list_head sleepers;
	atomic_t clock_seq; /* changes when sleepers are to look again */
	wait_queue_head_t clock_wq;
	spinlock_t ees_lock; /* ees */
	struct list_head ees;

	bool testing;
	struct completion test_done;

	atomic64_t pinned; /* pages */
	atomic64_t errors; /* error events taken from the NIC */
	atomic64_t resets;
	struct dentry *debugfs;
};

/* What stands behind the mappings of an attachment whose NIC is gone, see aries_mmap.c. */
enum aries_ghost {
	ARIES_GHOST_STORES, /* doorbell, windows, headers of queues: nobody reads them */
	ARIES_GHOST_SLOTS, /* of queues, all of them */
	ARIES_GHOST_CLOCK,
	ARIES_GHOST_AREA, /* pages of the descriptor area */
	ARIES_GHOST_COUNT = ARIES_GHOST_AREA + ARIES_DESC_STRIDE / 4096
};

/**
 * struct aries_owner_ops - what differs between owners; each is called with aries_owner.lock held
 * @revoked: everything is about to be taken by a reset or removal, and @dead is set
 * @leave: its FMA descriptors and what else is its own kind's go now, or when the NIC has let go of
 *         it (aries_quiet_take()); @dom may be NULL
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
 * @ref: held by the file or client, and by who looks at one owner after another
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
 * struct aries_ctx - one open file: an owner with mappings, and a process
 * @own: the owner; its lock protects the rest
 * @mapping: of the inode that was opened, to take mappings away
 * @mm: memory of the process that attached, the one whose pages may be registered; with a reference
 * @leaving: its descriptor takes no work any more
 * @drains: @share takes nobody's until what it has is done
 * @share: the same as its descriptor, if it may be shared
 * @saved: content of the area while another has the descriptor; with @share
 * @ees: subscription to error events or NULL; set once
 * @ghosts: what stands behind its mappings once it is dead, as far as they were touched
 */
struct aries_ctx {
	struct aries_owner own;
	struct address_space *mapping;
	struct mm_struct *mm;
	bool leaving;
	bool drains;
	struct aries_share *share;
	struct aries_fma_saved *saved;
	struct aries_ees *ees;
	struct page *ghosts[ARIES_GHOST_COUNT];
};

/* GNI_CDM_MODE_FMA_SMALL_WINDOW */
#define ARIES_CDM_SMALL_WINDOW 0x00200000u

/** aries_ctx_window() - bytes of the put and of the get window that an attachment may map */
static inline u32 aries_ctx_window(const struct aries_ctx *ctx)
{
	return ctx->own.modes & ARIES_CDM_SMALL_WINDOW ? ARIES_FMA_SMALL_WINDOW : ARIES_FMA_WINDOW;
}

/**
 * struct aries_kept - something that was taken from the NIC, which may not have let go of it yet
 * @node: in a list of who has taken it, or in aries_dev.kept
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

/**
 * struct aries_umem - a region of user memory
 * @region: the region; its charge is for what is pinned, too
 * @reserved: made with KGNI_MEM_RESERVE: its pages are in @pages
 * @pages: of a reserved region, those that are there, by their number
 * @mm: whose pages they are; counted in its pinned_vm
 */
struct aries_umem {
	struct aries_region region;
	bool reserved;
	struct xarray pages;
	struct mm_struct *mm;
};

/**
 * struct aries_guess - a cookie that somebody names
 * @cookie: it
 * @free: by who may try as many as it likes
 * @user: who else
 * @turn: whose turn it is, held until the end; NULL if nobody has to wait for it
 */
struct aries_guess {
	u32 cookie;
	bool free;
	uid_t user;
	struct aries_guesser *turn;
};

/**
 * struct aries_range - whole pages of a process
 * @start: virtual address
 * @npages: how many
 */
struct aries_range {
	unsigned long start;
	unsigned long npages;
};

#endif /* ARIES_TYPES_H */
