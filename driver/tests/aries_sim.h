/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for aries.h: of a NIC and of an open file only what the channel and datagrams know. */
#ifndef ARIES_H
#define ARIES_H

#include "aries_chan.h"
#include "aries_dgrams.h"
#include "aries_hw.h"
#include "aries_regs.h"
#include "kernel.h"

struct aries_chan;

enum aries_state {
	ARIES_STATE_UP,
	ARIES_STATE_RESET,
};

struct aries_dev {
	struct device dev;
	struct pci_dev *pdev;
	struct rw_semaphore state_sem;
	enum aries_state state;
	bool hw_ok;
	u8 *regs;
	bool identified;
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
};

struct aries_domain {
	u8 ptag;
	u32 cookie;
	u32 dgram_limit;
	u32 dgrams;
};

struct aries_ctx {
	struct aries_dev *ad;
	u16 owner;
	struct aries_domain *dom;
	struct aries_dgrams dg;
	u32 modes;
	u32 inst_id;
	bool dead;
};

int aries_ctx_status(struct aries_ctx *ctx);
u32 aries_rd32(struct aries_dev *ad, u32 reg);
u64 aries_rd64(struct aries_dev *ad, u32 reg);
void aries_wr32(struct aries_dev *ad, u32 reg, u32 value);
void aries_wr64(struct aries_dev *ad, u32 reg, u64 value);
int aries_hw_identify(struct aries_dev *ad);
int aries_inv_mdd(struct aries_dev *ad, unsigned int mdh);
int aries_inv_drain(struct aries_dev *ad);
bool aries_quiet(struct aries_dev *ad);
bool aries_quiet_begin(struct aries_dev *ad);

/* stands for aries_trace.h */
static inline void aries_sim_trace(const struct aries_ctx *ctx, u64 ep, u32 pe, u32 inst, u32 state)
{
	(void)ctx, (void)ep, (void)pe, (void)inst, (void)state;
}

#define ARIES_TRACE_H
#define trace_aries_dgram_post aries_sim_trace
#define trace_aries_dgram_cancel aries_sim_trace
#define trace_aries_dgram_end aries_sim_trace

#endif /* ARIES_H */
