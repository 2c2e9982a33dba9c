/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * aries.ko, folder core: the NIC as a device. Registers, the numbers of its resources, memory that
 * it reads, and the structure that represents it.
 */
#ifndef ARIES_CORE_H
#define ARIES_CORE_H

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
#define ARIES_RING_ORDER_MAX 10 /* 4 MiB, the largest block of the page allocator */

struct aries_aux;
struct aries_chan;
struct aries_cq;
struct aries_domain;
struct devlink;
struct user_struct;

/**
 * DOC: locks
 *
 * aries_dev.state_sem   Protects the state of the device. While a caller that found the device up
 *                       holds it for reading, the registers are mapped and nothing is revoked.
 *                       Probe, removal and reset take it for writing, for a moment only.
 *                       A thread that waits for the NIC while holding it for reading gives up
 *                       when another one wants to write.
 * aries_dev.owner_lock  Protects the list of owners. No thread waits for an owner under it; see
 *                       aries_owner_next().
 * aries_owner.lock      Protects the objects of one owner: its FMA descriptors, queues and
 *                       registrations. Taken in the page fault handler, so no user memory may be
 *                       touched and no mmap_lock taken under it. No thread waits for the NIC, and
 *                       nothing large is allocated or freed under it: see aries_kept_take().
 * aries_dev.share_lock  Protects the list of descriptors that may be shared, and their users.
 * aries_share.lock      Protects the content and the mappings of such a descriptor. Taken in
 *                       the page fault handler.
 * aries_dev.client_lock Protects the list of clients in the kernel, and keeps a client from
 *                       leaving while it is told something.
 * aries_dev.node_lock   Protects the state of nodes, and keeps a watcher from leaving while it
 *                       is told something. Taken with no other lock held.
 * aries_dev.qsc_lock    Protects the state of quiesces of the network, and keeps their begins
 *                       and ends in order. Taken with no other lock held, before client_lock.
 * aries_dev.ptag_lock   Protects domains, their limits and counts, the node translation table and
 *                       the limits of injection.
 * aries_dev.kept_lock   Protects the list of objects that the NIC has not released.
 * aries_dev.clock_lock  Protects the sleepers on the global clock and the NIC's timer 0.
 * aries_dev.irq_lock    Protects reading and clearing CQI_PENDING as one step. Taken in interrupt
 *                       handlers. The table of queues by number is under RCU.
 * aries_dev.ees_lock    Protects the list of subscriptions to error events and their queues.
 * aries_cq.lock         Protects the pointer to the queue's memory; while that is not NULL the
 *                       registers are mapped. Also protects what a client in the kernel has taken
 *                       from the queue. Any context.
 * aries_port.lock       Protects the descriptor area of a port; while the port is on, registers are
 *                       mapped. Any context. The data path of clients in the kernel uses it
 *                       in place of state_sem: code that revokes everything switches the port off
 *                       under this lock, and so waits for a caller inside the port.
 * aries_pool.lock       Protects one pool of numbers.
 * aries_chan.lock       Protects datagrams and the messages of the driver, see aries_dgram.h.
 * aries_guesser.turn    Serialises the attempts of a user who has given wrong cookies.
 *
 * Order: turn, state_sem, owner_lock, aries_owner.lock, then share_lock or aries_share.lock, then
 * ptag_lock, clock_lock or client_lock, then the spinlocks, of which irq_lock comes before the
 * others. mmap_lock comes before aries_owner.lock.
 */

/**
 * struct aries_pool - numbers of one kind of NIC resource
 * @lock: protects everything below
 * @map: one bit per number, set while the number is taken
 * @owner: context number of the holder, for each number
 * @first: lowest number given out
 * @size: one more than the highest number
 * @used: how many numbers are taken
 * @held: how many of these have no owner any more, but were not released by the NIC yet
 * @cursor: where the next search starts
 */
struct aries_pool {
	spinlock_t lock; /* protects the rest */
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

/**
 * struct aries_charge - accounting of locked memory; in the object that holds the memory
 * @user: charged user, with a reference; NULL if the caller had CAP_IPC_LOCK, and after
 *        aries_charge_end()
 * @npages: number of charged pages
 *
 * Protected by the lock of the object.
 */
struct aries_charge {
	struct user_struct *user;
	unsigned long npages;
};

/**
 * struct aries_vector - one MSI-X vector
 * @ad: the device
 * @nr: vector number
 * @count: interrupts taken
 * @name: its name in /proc/interrupts
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
 * Freed with the last reference to @dev. Open files hold references.
 */
struct aries_dev {
	struct device dev;
	struct cdev cdev;
	struct pci_dev *pdev;
	struct pci_saved_state *config; /* saved at probe, see aries_pci_restore() */
	int id;

	struct rw_semaphore state_sem;
	enum aries_state state;
	struct devlink *devlink; /* from aries_devlink_add() to aries_devlink_del() */
	bool amo_lazy; /* value of AMO_CTL.LAZY when the NIC is enabled next */
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

	struct kgni_ntt_entry *ntt; /* the contents of each allocated entry */
	unsigned long *ntt_map; /* allocated entries */
	u32 ntt_log2; /* granularity */
	struct kgni_bi bi; /* current_* and sequence */
	struct mutex share_lock; /* shares */
	struct list_head shares;

	struct mutex owner_lock; /* owner_list, owner_id */
	struct list_head owner_list;
	u64 owner_id;
	wait_queue_head_t resume_wq;

	u64 inv_late; /* a value of INV_DONE that did not change for a second */
	u64 cut_late; /* one that did not change while aries_region_cut() was waiting */
	spinlock_t kept_lock; /* kept */
	struct list_head kept; /* of struct aries_kept */
	struct delayed_work kept_work;
	struct delayed_work recv_work; /* reposts receives */
	bool quiet; /* the NIC cannot access memory, see aries_quiet.c */
	spinlock_t irq_lock; /* CQI_PENDING */
	struct aries_cq __rcu **cq_table;

	struct aries_chan *chan;
	struct aries_aux *aux; /* the device that clients in the kernel are bound to */
	struct aries_aux *nodes_aux; /* the same for clients that only watch nodes */
	struct mutex node_lock; /* nodes_on, node_watches, writing to node_seen */
	bool nodes_on; /* events of nodes are handled */
	struct list_head node_watches; /* of struct aries_node_watch */
	u64 node_seen[ARIES_NODES_MAX]; /* last seen NODE_STATE */
	struct mutex qsc_lock; /* qsc_*, except for reads by sysfs */
	bool qsc_on; /* the NIC reports quiesces */
	bool qsc_quiet; /* a quiesce is in progress */
	u32 qsc_count; /* last seen QSC_COUNT */
	u32 qsc_quiesces; /* number of quiesces that were reported to us */
	unsigned int qsc_ms; /* length of the last one */
	struct delayed_work qsc_work; /* polls for its end */
	struct mutex client_lock; /* clients, net_quiet */
	bool net_quiet; /* clients were told that the network is quiesced */
	struct list_head clients; /* of struct aries_kowner */
	struct mutex clock_lock; /* sleepers, timer 0 */
	struct list_head sleepers;
	atomic_t clock_seq; /* changes when sleepers have to check again */
	wait_queue_head_t clock_wq;
	spinlock_t ees_lock; /* ees */
	struct list_head ees;

	bool testing;
	struct completion test_done;

	atomic64_t pinned; /* pinned pages */
	atomic64_t errors; /* error events taken from the NIC */
	atomic64_t resets;
	u16 ecc_limit; /* this many errors stop the NIC */
	u16 ecc_window_ms; /* if they occur within this time */
	u32 ecc_signal; /* memories whose double-bit errors stop the NIC */
	bool ecc_captured; /* the errors that have stopped it were logged */
	bool partial_told; /* it was logged that the NIC does not reach all memory */
	struct dentry *debugfs;
};

/**
 * struct aries_ecc_row - a memory of the NIC with ECC
 * @name: its name in sysfs
 * @row: its row in Documentation/device-spec.md
 * @text: its description in the log
 */
struct aries_ecc_row {
	const char *name;
	const char *row;
	const char *text;
};

/* aries_ecc.c; by default a thousand errors in ten seconds stop the NIC */
#define ARIES_ECC_LIMIT 1024
#define ARIES_ECC_WINDOW_MS 10000
extern const struct aries_ecc_row aries_ecc_rows[ARIES_RAS_MEMORY_COUNT];
void aries_ecc_program(struct aries_dev *ad);
int aries_ecc_set_limit(struct aries_dev *ad, const char *text);
int aries_ecc_set_signal(struct aries_dev *ad, const char *text);
int aries_ecc_show_signal(struct aries_dev *ad, char *buf);

/* aries_hw.c: registers */
u32 aries_rd32(struct aries_dev *ad, u32 reg);
u64 aries_rd64(struct aries_dev *ad, u32 reg);
void aries_wr32(struct aries_dev *ad, u32 reg, u32 value);
void aries_wr64(struct aries_dev *ad, u32 reg, u64 value);
bool aries_hw_alive(struct aries_dev *ad);
int aries_hw_identify(struct aries_dev *ad);
int aries_hw_settle(struct aries_dev *ad, unsigned int timeout_ms);
int aries_hw_reset(struct aries_dev *ad);
void aries_hw_enable(struct aries_dev *ad, bool on);
int aries_hw_poll64(struct aries_dev *ad, u32 reg, u64 mask, unsigned int timeout_ms);

/* aries_status.c */
const char *aries_status_name(unsigned int code);

/* aries_selftest.c */
int aries_selftest(struct aries_dev *ad);

/* aries_pool.c: numbers */
int aries_pool_init(struct aries_pool *pool, unsigned int first, unsigned int size);
void aries_pool_exit(struct aries_pool *pool);
int aries_pool_get(struct aries_pool *pool, u16 owner);
int aries_pool_get_row(struct aries_pool *pool, unsigned int count);
void aries_pool_put(struct aries_pool *pool, unsigned int nr, u16 owner);
void aries_pool_hold(struct aries_pool *pool, unsigned int nr, u16 owner);
void aries_pool_put_held(struct aries_pool *pool, unsigned int nr);
void aries_pool_release_held(struct aries_pool *pool);
unsigned int aries_pool_used(struct aries_pool *pool);
unsigned int aries_pool_total(const struct aries_pool *pool);

/* aries_charge.c: locked memory on the account of users */
void aries_charge_begin(struct aries_charge *charge);
void aries_charge_same(struct aries_charge *charge, const struct aries_charge *from);
int aries_charge(struct aries_charge *charge, unsigned long npages);
void aries_uncharge(struct aries_charge *charge, unsigned long npages);
void aries_charge_move(struct aries_charge *to, struct aries_charge *from, unsigned long npages);
void aries_charge_end(struct aries_charge *charge);

/* aries_ring.c: contiguous memory */
void *aries_ring_alloc(unsigned long npages);
void aries_ring_free(void *ring, unsigned long npages);

/* aries_quiet.c: can the NIC access memory? */
bool aries_quiet(struct aries_dev *ad);
bool aries_quiet_reached(struct aries_dev *ad, unsigned int timeout_ms);
bool aries_quiet_begin(struct aries_dev *ad);
void aries_quiet_end(struct aries_dev *ad);

/* aries_inv.c: revocation */
u64 aries_inv_seq(struct aries_dev *ad);
int aries_inv_look(struct aries_dev *ad, u64 seq);
int aries_inv_sleep(struct aries_dev *ad, u64 seq);
int aries_inv_wait(struct aries_dev *ad, u64 seq);
int aries_inv_drain(struct aries_dev *ad);
int aries_inv_mdd(struct aries_dev *ad, unsigned int mdh);

#endif /* ARIES_CORE_H */
