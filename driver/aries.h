/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * aries.ko: functions that its files share.
 *
 * Layers, upper ones call lower ones:
 *   aries_chrdev, aries_sysfs                 what user space sees
 *   aries_debugfs, aries_views
 *   aries_ctx                                 open files
 *   aries_owner, aries_ptag, aries_job        whom objects belong to, communication domains
 *   aries_guess                               who may look for them
 *   aries_dgram, aries_dgmatch                datagrams between processes
 *   aries_peer, aries_chan                    messages between the drivers of two nodes
 *   aries_umem, aries_reserve                 regions of user memory
 *   aries_fmad, aries_cq, aries_region, aries_ce, aries_recv  objects of one NIC block each
 *   aries_charge, aries_ring, aries_pin       memory, and who pays for it
 *   aries_pool, aries_inv, aries_quiet, aries_irq, aries_err, aries_ees, aries_nodes
 *   aries_hw                                  registers
 * aries_pci puts a device together, aries_main the module.
 */
#ifndef ARIES_H
#define ARIES_H

#include "aries_chan.h"
#include "aries_types.h"

struct poll_table_struct;
struct seq_file;

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

/* aries_selftest.c */
int aries_selftest(struct aries_dev *ad);

/* aries_irq.c */
int aries_irq_init(struct aries_dev *ad);
void aries_irq_exit(struct aries_dev *ad);

/* aries_err.c */
void aries_err_drain(struct aries_dev *ad);

/* aries_ees.c: subscriptions to error events */
void aries_ees_post(struct aries_dev *ad, const struct kgni_err_event *event);
int aries_ees_subscribe(struct aries_ctx *ctx, struct kgni_err_subscribe *arg);
int aries_ees_read(struct aries_ctx *ctx, struct kgni_err_read *arg);
int aries_ees_control(struct aries_ctx *ctx, struct kgni_err_control *arg);
__poll_t aries_ees_poll(struct aries_ctx *ctx, struct file *file, struct poll_table_struct *wait);
void aries_ees_stop(struct aries_ctx *ctx);
void aries_ees_free(struct aries_ctx *ctx);
void aries_ees_show(struct seq_file *m, struct aries_ctx *ctx);

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

/* aries_guess.c: how often a user may name cookies of no domain */
int aries_guess_begin(struct aries_guess *guess, u32 cookie);
void aries_guess_end(struct aries_guess *guess, int rc);
void aries_guess_exit(void);

/* aries_job.c: requests about domains and resources */
int aries_job(struct aries_owner *own, struct kgni_job *arg);
int aries_job_ptag(struct aries_owner *own, struct kgni_ptag *arg);
int aries_job_res(struct aries_owner *own, struct kgni_res *arg);

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

/* aries_suspend.c */
int aries_suspend(struct aries_owner *own, struct kgni_suspend *arg);
bool aries_suspend_wait(struct aries_owner *own);

/* aries_fmad.c, aries_share.c: FMA descriptors */
int aries_fmad_take(struct aries_owner *own);
void aries_fmad_enable(struct aries_owner *own, unsigned int nr, u64 rights);
void aries_fmad_wait(struct aries_dev *ad, unsigned int nr);
void aries_fmad_give(struct aries_owner *own, unsigned int nr, u16 owner);
int aries_share_get(struct aries_ctx *ctx);
void aries_share_put(struct aries_ctx *ctx);
void aries_share_stop(struct aries_ctx *ctx);
void aries_share_take(struct aries_ctx *ctx);
bool aries_share_enter(struct aries_ctx *ctx);
void aries_share_exit(struct aries_ctx *ctx);
unsigned int aries_share_users(struct aries_ctx *ctx);
unsigned int aries_share_count(struct aries_dev *ad, const struct aries_domain *dom);
unsigned int aries_fmad_busy(struct aries_dev *ad, unsigned int fmad);
u64 aries_fmad_transfers(struct aries_dev *ad, const struct aries_domain *dom);

/* aries_charge.c: locked memory on the account of users */
void aries_charge_begin(struct aries_charge *charge);
void aries_charge_same(struct aries_charge *charge, const struct aries_charge *from);
int aries_charge(struct aries_charge *charge, unsigned long npages);
void aries_uncharge(struct aries_charge *charge, unsigned long npages);
void aries_charge_move(struct aries_charge *to, struct aries_charge *from, unsigned long npages);
void aries_charge_end(struct aries_charge *charge);

/* aries_ring.c: memory in one piece */
void *aries_ring_alloc(unsigned long npages);
void aries_ring_free(void *ring, unsigned long npages);

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

/* aries_cqwait.c */
int aries_cq_wait(struct aries_owner *own, struct kgni_cq_wait *arg);

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

/* aries_pin.c, aries_umem.c: user memory */
struct aries_umem *aries_pin(struct aries_dev *ad, const struct aries_range *ranges,
			     unsigned int count, bool read_only);
struct aries_umem *aries_pin_none(unsigned long start, unsigned long npages, bool read_only);
int aries_pin_range(const struct aries_range *range, bool read_only, struct page **pages);
void aries_pin_account(struct aries_dev *ad, struct mm_struct *mm, unsigned long npages);
void aries_pin_unaccount(struct aries_dev *ad, struct mm_struct *mm, unsigned long npages);
void aries_unpin(struct aries_dev *ad, struct aries_umem *umem);
struct aries_umem *aries_umem_of(struct aries_region *region);
int aries_mem_range(u64 address, u64 length, struct aries_range *range);
int aries_mem_register(struct aries_owner *own, struct kgni_mem_register *arg);
int aries_mem_deregister(struct aries_owner *own, struct kgni_mem_deregister *arg);
int aries_mem_segments(struct aries_owner *own, struct kgni_mem_segments *arg);

/* aries_ce.c: collective engines */
int aries_ce_alloc(struct aries_owner *own, struct kgni_ce_alloc *arg);
int aries_ce_config(struct aries_owner *own, struct kgni_ce_config *arg);
int aries_ce_free(struct aries_owner *own, struct kgni_ce_free *arg);
void aries_ce_teardown(struct aries_owner *own, struct list_head *gone);

/* aries_recv.c: receives for channel sends */
int aries_recv_post(struct aries_owner *own, struct kgni_recv_post *arg);
int aries_recv_test(struct aries_owner *own, struct kgni_recv_test *arg);
int aries_recv_cancel(struct aries_owner *own, struct kgni_recv_cancel *arg);
void aries_recv_park(struct aries_owner *own);
void aries_recv_unpark(struct aries_owner *own);
void aries_recv_work(struct work_struct *work);
void aries_recv_teardown(struct aries_owner *own, struct list_head *gone);

/* aries_ce.c: instances */
void aries_inst_add(struct aries_owner *own);
void aries_inst_del(struct aries_owner *own);

/* aries_reserve.c: regions that are populated piece by piece */
int aries_mem_update(struct aries_owner *own, struct kgni_mem_update *arg);
void aries_reserve_free(struct aries_dev *ad, struct aries_umem *umem);

/* aries_vmdh.c: virtual memory domain handles */
int aries_vmdh_block(struct aries_owner *own, struct kgni_mdd_block *arg);
int aries_vmdh_get(struct aries_owner *own, u32 *place, struct aries_block **block);
void aries_vmdh_put(struct aries_dev *ad, struct aries_block *block, unsigned int mdh);
void aries_vmdh_leave(struct aries_owner *own, struct list_head *gone);
void aries_vmdh_show(struct seq_file *m, struct aries_dev *ad, const struct aries_domain *dom);

/* aries_quiet.c: when memory that the NIC knew may be given back */
bool aries_quiet(struct aries_dev *ad);
bool aries_quiet_begin(struct aries_dev *ad);
void aries_quiet_end(struct aries_dev *ad);
void aries_quiet_take(struct aries_owner *own, struct list_head *gone, struct aries_kept *kept,
		      void (*free)(struct aries_dev *ad, struct aries_kept *kept));
void aries_quiet_release(struct aries_dev *ad, struct list_head *gone);
void aries_quiet_free(struct aries_dev *ad);
void aries_quiet_work(struct work_struct *work);
bool aries_quiet_exit(struct aries_dev *ad);

/* aries_inv.c */
u64 aries_inv_seq(struct aries_dev *ad);
int aries_inv_look(struct aries_dev *ad, u64 seq);
int aries_inv_sleep(struct aries_dev *ad, u64 seq);
int aries_inv_wait(struct aries_dev *ad, u64 seq);
int aries_inv_drain(struct aries_dev *ad);
int aries_inv_mdd(struct aries_dev *ad, unsigned int mdh);

/* aries_clock.c: the global clock */
int aries_clock_read(struct aries_dev *ad, u64 *now);
int aries_clock(struct aries_owner *own, struct kgni_clock *arg);
int aries_clock_wait(struct aries_owner *own, struct kgni_clock_wait *arg);
void aries_clock_wake(struct aries_dev *ad);
void aries_clock_irq(struct aries_dev *ad);

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
void aries_owner_revoke_all(struct aries_dev *ad, enum aries_state state);

/* aries_ctx.c: open files */
struct aries_ctx *aries_ctx_of(struct aries_owner *own);
struct aries_ctx *aries_ctx_new(struct aries_dev *ad, struct address_space *mapping);
void aries_ctx_free(struct aries_ctx *ctx);
int aries_ctx_own(struct aries_ctx *ctx);
int aries_ctx_attach(struct aries_ctx *ctx, struct kgni_attach *arg);

/* aries_mmap.c: file offsets and mappings */
#define ARIES_MMAP_DESC 0x00000000ull
#define ARIES_MMAP_DOORBELL 0x00010000ull
#define ARIES_MMAP_PUT 0x00100000ull
#define ARIES_MMAP_GET 0x00200000ull
#define ARIES_MMAP_CLOCK 0x00300000ull
#define ARIES_MMAP_CQ 0x100000000ull
#define ARIES_MMAP_CQ_SHIFT 24 /* room for one queue */
#define ARIES_MMAP_CQ_N(nr) (ARIES_MMAP_CQ + ((u64)(nr) << ARIES_MMAP_CQ_SHIFT))
/* Each attachment has a place of its own, so that its mappings alone can be taken away. */
#define ARIES_MMAP_PLACE 0x1000000000ull
#define ARIES_MMAP_PLACE_SIZE 0x400000ull
static inline u64 aries_ctx_place(const struct aries_ctx *ctx)
{
	return ARIES_MMAP_PLACE + ctx->own.nr * ARIES_MMAP_PLACE_SIZE;
}

int aries_mmap(struct file *file, struct vm_area_struct *vma);
void aries_ghosts_free(struct aries_ctx *ctx);

/* aries_chrdev.c */
int aries_chrdev_init(void);
void aries_chrdev_exit(void);
int aries_chrdev_add(struct aries_dev *ad);
void aries_chrdev_del(struct aries_dev *ad);
struct aries_dev *aries_dev_new(struct pci_dev *pdev);
void aries_dev_drop(struct aries_dev *ad);
extern const char aries_build[];

/* aries_nodes.c: which nodes are there */
void aries_nodes_drain(struct aries_dev *ad);
void aries_nodes_start(struct aries_dev *ad);
void aries_nodes_stop(struct aries_dev *ad);
void aries_nodes_up(struct aries_dev *ad, unsigned long *up);

/* aries_sysfs.c */
extern struct class aries_class;
void aries_sysfs_init(void);

/* aries_views.c: debugfs, one line an object */
void aries_views_add(struct aries_dev *ad, struct dentry *dir);

/* aries_debugfs.c */
void aries_debugfs_init(void);
void aries_debugfs_exit(void);
void aries_debugfs_add(struct aries_dev *ad);
void aries_debugfs_del(struct aries_dev *ad);

/* aries_pci.c */
extern struct pci_driver aries_pci_driver;

#endif /* ARIES_H */
