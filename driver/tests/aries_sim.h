/* SPDX-License-Identifier: GPL-2.0-only */
/* Stands for aries.h: of a NIC and of an open file only what datagrams know of them. */
#ifndef ARIES_H
#define ARIES_H

#include "aries_dgrams.h"
#include "aries_hw.h"
#include "kernel.h"

struct aries_chan;

struct aries_dev {
	struct rw_semaphore state_sem;
	struct aries_chan *chan;
	u32 pe;
	u32 nodes;
};

struct aries_domain {
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
