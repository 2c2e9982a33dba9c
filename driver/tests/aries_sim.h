/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replaces aries_core.h and aries_obj.h. It has only those parts of a NIC and of an open file that
 * the tested files use.
 */
#ifndef ARIES_SIM_H
#define ARIES_SIM_H

#define ARIES_CORE_H
#define ARIES_OBJ_H

#include "aries_chan.h"
#include "aries_dgrams.h"
#include "aries_hw.h"
#include "aries_regs.h"
#include "kernel.h"
#include "kgni_abi.h"

struct aries_chan;
struct aries_owner;
struct aries_domain;

enum aries_res {
	ARIES_RES_MDD,
	ARIES_RES_PAGES,
	ARIES_RES_RECV,
};

struct aries_pool {
	unsigned int used;
};

enum aries_state {
	ARIES_STATE_UP,
	ARIES_STATE_RESET,
	ARIES_STATE_GONE,
};

struct aries_dev {
	struct device dev;
	struct pci_dev *pdev;
	struct rw_semaphore state_sem;
	enum aries_state state;
	unsigned int id;
	struct mutex ptag_lock;
	wait_queue_head_t resume_wq;
	bool hw_ok;
	u8 *regs;
	bool identified;
	bool amo_lazy;
	u64 caps;
	u32 nfma;
	u32 nmdd;
	u32 ncq;
	u32 bte_queue;
	u8 *desc;
	phys_addr_t fma_phys;
	unsigned int nvec;
	struct aries_chan *chan;
	u32 pe;
	u32 nodes;
	struct aries_pool fmads;
	struct aries_pool mdds;
	struct aries_pool cqs;
	struct aries_pool ces;
	struct aries_pool recvs;
	struct delayed_work recv_work;
	spinlock_t kept_lock;
	struct list_head kept;
	struct delayed_work kept_work;
	u16 ecc_limit;
	u16 ecc_window_ms;
	u32 ecc_signal;
};

struct aries_ecc_row {
	const char *name;
	const char *row;
	const char *text;
};

extern const struct aries_ecc_row aries_ecc_rows[ARIES_RAS_MEMORY_COUNT];
void aries_ecc_program(struct aries_dev *ad);
int aries_ecc_set_limit(struct aries_dev *ad, const char *text);
int aries_ecc_set_signal(struct aries_dev *ad, const char *text);
int aries_ecc_show_signal(struct aries_dev *ad, char *buf);
char *kstrdup(const char *text, int flags);
int sysfs_emit_at(char *buf, int at, const char *format, ...);

struct aries_kept {
	struct list_head node;
	struct aries_domain *dom;
	u64 seq;
	void (*free)(struct aries_dev *ad, struct aries_kept *kept);
	void (*lose)(struct aries_dev *ad, struct aries_kept *kept);
};

struct aries_cq {
	u32 nr;
	unsigned int mem_refs;
};

struct aries_block;

struct aries_region {
	u32 mdh;
	bool read_only;
	bool live;
	bool leaving;
	struct aries_block *block;
	struct aries_cq *cq;
	unsigned int recvs;
	unsigned long start;
	unsigned long npages;
	unsigned int page_shift;
	dma_addr_t table_dma;
	__le64 **leaf;
	struct aries_kept kept;
	bool (*keep)(struct aries_dev *ad, struct aries_region *region);
	void (*release)(struct aries_dev *ad, struct aries_region *region);
};

#define ARIES_REGION_MAX BIT_ULL(ARIES_OFFSET_BITS)

struct aries_domain {
	u8 ptag;
	u32 cookie;
	u32 dgram_limit;
	u32 dgrams;
	u64 job_id;
	bool suspended;
	unsigned int changes;
};

struct aries_owner_ops {
	void (*suspend)(struct aries_owner *own, bool suspend);
};

struct aries_owner {
	struct aries_dev *ad;
	const struct aries_owner_ops *ops;
	int pid;
	u16 nr;
	struct aries_domain *dom;
	struct aries_dgrams dg;
	u32 modes;
	u32 inst_id;
	bool dead;
	bool suspended;
	struct mutex lock;
	struct xarray mems;
	struct list_head recvs;
	unsigned int nrecvs;
};

int aries_owner_why(const struct aries_owner *own);
u32 aries_rd32(struct aries_dev *ad, u32 reg);
u64 aries_rd64(struct aries_dev *ad, u32 reg);
void aries_wr32(struct aries_dev *ad, u32 reg, u32 value);
void aries_wr64(struct aries_dev *ad, u32 reg, u64 value);
int aries_hw_identify(struct aries_dev *ad);
int aries_inv_mdd(struct aries_dev *ad, unsigned int mdh);
int aries_inv_drain(struct aries_dev *ad);
int aries_inv_look(struct aries_dev *ad, u64 seq);
int aries_inv_wait(struct aries_dev *ad, u64 seq);
bool aries_quiet(struct aries_dev *ad);
bool aries_quiet_reached(struct aries_dev *ad, unsigned int timeout_ms);
bool aries_quiet_begin(struct aries_dev *ad);

int aries_owner_enter(struct aries_owner *own, bool attached);
void aries_owner_exit(struct aries_owner *own);
struct aries_owner *aries_owner_next(struct aries_dev *ad, struct aries_owner *last);
u64 aries_inv_seq(struct aries_dev *ad);
int aries_inv_sleep(struct aries_dev *ad, u64 seq);
int aries_ntt_virtual(struct aries_dev *ad, const struct aries_domain *dom, u32 node, u32 *pe);
struct aries_cq *aries_cq_find(struct aries_owner *own, u32 nr);
int aries_pool_get(struct aries_pool *pool, u16 owner);
void aries_pool_put(struct aries_pool *pool, unsigned int nr, u16 owner);
void aries_pool_hold(struct aries_pool *pool, unsigned int nr, u16 owner);
void aries_pool_put_held(struct aries_pool *pool, unsigned int nr);
void aries_pool_release_held(struct aries_pool *pool);
struct aries_domain *aries_domain_get(struct aries_domain *dom);
void aries_domain_put(struct aries_domain *dom);
int aries_domain_charge(struct aries_dev *ad, struct aries_domain *dom, enum aries_res res,
			unsigned int count);
void aries_domain_uncharge(struct aries_dev *ad, struct aries_domain *dom, enum aries_res res,
			   unsigned int count);
void aries_kept_take(struct aries_owner *own, struct list_head *gone, struct aries_kept *kept,
		     void (*free)(struct aries_dev *ad, struct aries_kept *kept));
void aries_kept_release(struct aries_dev *ad, struct list_head *gone);
void aries_kept_free(struct aries_dev *ad);
void aries_kept_reset(struct aries_dev *ad);
void aries_kept_work(struct work_struct *work);
bool aries_kept_exit(struct aries_dev *ad);
int aries_vmdh_get(struct aries_owner *own, u32 *place, struct aries_block **block);
void aries_vmdh_put(struct aries_dev *ad, struct aries_block *block, unsigned int mdh);
void aries_region_program(struct aries_owner *own, struct aries_region *region);
int aries_region_publish(struct aries_owner *own, struct aries_region *region, u32 *vmdh,
			 bool later);
u64 aries_region_take_away(struct aries_dev *ad, const struct aries_region *region);
u64 aries_region_revoke(struct aries_dev *ad, struct aries_region *region);
void aries_region_del(struct aries_owner *own, struct aries_region *region,
		      struct list_head *gone);
void aries_region_teardown(struct aries_owner *own, struct list_head *gone);
int aries_recv_post(struct aries_owner *own, struct kgni_recv_post *arg);
int aries_recv_cancel(struct aries_owner *own, struct kgni_recv_cancel *arg);
void aries_recv_park(struct aries_owner *own);
void aries_recv_unpark(struct aries_owner *own);
void aries_recv_work(struct work_struct *work);

/* replaces aries_compat.h */
#define ARIES_COMPAT_H
#define EXPORT_SYMBOL_ARIES(symbol) _Static_assert(1, #symbol)

/* replaces aries_trace.h */
static inline void aries_sim_trace(const struct aries_owner *own, u64 ep, u32 pe, u32 inst, u32 state)
{
	(void)own, (void)ep, (void)pe, (void)inst, (void)state;
}

static inline void aries_sim_trace_recv(const struct aries_owner *own, u32 nr, u32 channel)
{
	(void)own, (void)nr, (void)channel;
}

static inline void aries_sim_trace_region(const struct aries_owner *own,
					  const struct aries_region *region)
{
	(void)own, (void)region;
}

#define ARIES_TRACE_H
#define trace_aries_mem_register aries_sim_trace_region
#define trace_aries_mem_deregister aries_sim_trace_region
#define trace_aries_job_suspend(id, dom) ((void)(id), (void)(dom))
#define trace_aries_job_resume(id, dom) ((void)(id), (void)(dom))
#define trace_aries_recv_post aries_sim_trace_recv
#define trace_aries_recv_done aries_sim_trace_recv
#define trace_aries_recv_cancel aries_sim_trace_recv
#define trace_aries_recv_suspend aries_sim_trace_recv
#define trace_aries_dgram_post aries_sim_trace
#define trace_aries_dgram_cancel aries_sim_trace
#define trace_aries_dgram_end aries_sim_trace

#endif /* ARIES_SIM_H */
