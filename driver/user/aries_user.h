/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * aries.ko, folder user: open files and the requests of processes.
 */
#ifndef ARIES_USER_H
#define ARIES_USER_H

#include <linux/mm_types.h>

#include "aries_obj.h"

struct aries_ees;
struct aries_fma_saved;
struct aries_guesser;
struct aries_share;
struct poll_table_struct;
struct vm_fault;

/* Kinds of ghost pages, which replace the mappings of a dead attachment, see aries_ghost.c. */
enum aries_ghost {
	ARIES_GHOST_STORES, /* doorbell, windows, headers of queues: never read */
	ARIES_GHOST_SLOTS, /* slots of all queues */
	ARIES_GHOST_CLOCK,
	ARIES_GHOST_AREA, /* first page of the descriptor area */
	ARIES_GHOST_COUNT = ARIES_GHOST_AREA + ARIES_DESC_STRIDE / 4096
};

/**
 * struct aries_ctx - one open file: an owner with mappings and a process
 * @own: the owner; its lock protects the rest
 * @mapping: address space of the inode, to remove mappings (aries_ctx_zap()); NULL when the file is
 *           being closed
 * @mm: memory of the process that attached, whose pages may be registered; with a reference
 * @leaving: its descriptor accepts no new work
 * @drains: counted in the draining of @share, which waits for its transfers
 * @share: its descriptor, if that may be shared, or NULL
 * @saved: content of the area while another attachment has @share mapped
 * @ees: subscription to error events, or NULL; set once
 * @ghosts: pages that replace its mappings when it is dead, allocated on first access
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

/** aries_ctx_window() - size in bytes of each of put and get window of an attachment */
static inline u32 aries_ctx_window(const struct aries_ctx *ctx)
{
	return ctx->own.modes & ARIES_CDM_SMALL_WINDOW ? ARIES_FMA_SMALL_WINDOW : ARIES_FMA_WINDOW;
}

/**
 * struct aries_range - whole pages of a process
 * @start: virtual address
 * @npages: number of pages
 */
struct aries_range {
	unsigned long start;
	unsigned long npages;
};

/**
 * struct aries_umem - a region of user memory
 * @region: the region; its charge includes the pinned pages
 * @reserved: created with KGNI_MEM_RESERVE; its pages are in @pages
 * @pages: the populated pages of a reserved region, by page number
 * @mm: address space that the pages belong to; they are counted in its pinned_vm
 */
struct aries_umem {
	struct aries_region region;
	bool reserved;
	struct xarray pages;
	struct mm_struct *mm;
};

/**
 * struct aries_guess - one try of a cookie
 * @cookie: the cookie
 * @user: the user who is counted
 * @turn: user whose turn mutex is held until the end of the try, or NULL
 */
struct aries_guess {
	u32 cookie;
	uid_t user;
	struct aries_guesser *turn;
};

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
#define ARIES_MMAP_CQ_SHIFT 24 /* space for one queue */
#define ARIES_MMAP_CQ_N(nr) (ARIES_MMAP_CQ + ((u64)(nr) << ARIES_MMAP_CQ_SHIFT))
/* Each attachment has its own range of offsets, so its mappings can be removed separately. */
#define ARIES_MMAP_PLACE 0x1000000000ull
#define ARIES_MMAP_PLACE_SIZE 0x400000ull
static inline u64 aries_ctx_place(const struct aries_ctx *ctx)
{
	return ARIES_MMAP_PLACE + ctx->own.nr * ARIES_MMAP_PLACE_SIZE;
}

int aries_mmap(struct file *file, struct vm_area_struct *vma);

/* aries_ghost.c: what a process sees once its mappings are gone */
void aries_ctx_zap(struct aries_ctx *ctx, u64 start, u64 size);
vm_fault_t aries_ghost_fault(struct vm_fault *vmf, struct aries_ctx *ctx);
void aries_ghosts_free(struct aries_ctx *ctx);

/* aries_share.c: FMA descriptors that several attachments share */
int aries_share_get(struct aries_ctx *ctx);
void aries_share_put(struct aries_ctx *ctx);
void aries_share_stop(struct aries_ctx *ctx);
void aries_share_take(struct aries_ctx *ctx);
bool aries_share_enter(struct aries_ctx *ctx);
void aries_share_exit(struct aries_ctx *ctx);
unsigned int aries_share_users(struct aries_ctx *ctx);
unsigned int aries_share_count(struct aries_dev *ad, const struct aries_domain *dom);

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

/* aries_reserve.c: regions that are populated by updates */
int aries_mem_update(struct aries_owner *own, struct kgni_mem_update *arg);
void aries_reserve_free(struct aries_dev *ad, struct aries_umem *umem);

/* aries_cqwait.c */
int aries_cq_wait(struct aries_owner *own, struct kgni_cq_wait *arg);

/* aries_job.c: requests about domains and resources */
int aries_job(struct aries_owner *own, struct kgni_job *arg);
int aries_job_ptag(struct aries_owner *own, struct kgni_ptag *arg);
int aries_job_res(struct aries_owner *own, struct kgni_res *arg);

/* aries_guess.c: limits how fast a user may try cookies */
int aries_guess_begin(struct aries_guess *guess, u32 cookie);
void aries_guess_end(struct aries_guess *guess, int rc);
void aries_guess_exit(void);

/* aries_suspend.c */
int aries_suspend(struct aries_owner *own, struct kgni_suspend *arg);
bool aries_suspend_wait(struct aries_owner *own);

/* aries_ees.c: subscriptions to error events */
void aries_ees_post(struct aries_dev *ad, const struct kgni_err_event *event);
int aries_ees_subscribe(struct aries_ctx *ctx, struct kgni_err_subscribe *arg);
int aries_ees_read(struct aries_ctx *ctx, struct kgni_err_read *arg);
int aries_ees_control(struct aries_ctx *ctx, struct kgni_err_control *arg);
__poll_t aries_ees_poll(struct aries_ctx *ctx, struct file *file, struct poll_table_struct *wait);
void aries_ees_stop(struct aries_ctx *ctx);
void aries_ees_free(struct aries_ctx *ctx);
void aries_ees_show(struct seq_file *m, struct aries_ctx *ctx);

/* aries_clock.c: the global clock */
int aries_clock_read(struct aries_dev *ad, u64 *now);
int aries_clock(struct aries_owner *own, struct kgni_clock *arg);
int aries_clock_wait(struct aries_owner *own, struct kgni_clock_wait *arg);
void aries_clock_wake(struct aries_dev *ad);
void aries_clock_irq(struct aries_dev *ad);

/* aries_chrdev.c */
int aries_chrdev_add(struct aries_dev *ad);
void aries_chrdev_del(struct aries_dev *ad);
extern const char aries_build[];

#endif /* ARIES_USER_H */
