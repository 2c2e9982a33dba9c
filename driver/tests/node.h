/* SPDX-License-Identifier: GPL-2.0-only */
/* Simulated nodes: the receive area of each, puts between them, and what can go wrong. */
#ifndef SIM_NODE_H
#define SIM_NODE_H

#include "aries_dgram.h"

#define SIM_NODES 3
#define SIM_INSTANCES 2 /* 0 and 1, of each domain on each node */
#define SIM_DOMAINS 2
#define SIM_FILES (SIM_DOMAINS * SIM_INSTANCES)
#define SIM_EVENTS 1024

/* What goes wrong. */
#define SIM_LOSE 0x01 /* puts fail, events get lost */
#define SIM_NOMEM 0x02 /* allocations fail */
#define SIM_RESTART 0x04 /* nodes go down and come up again */
#define SIM_EXIT 0x08 /* processes end */
#define SIM_CANCEL 0x10 /* datagrams are cancelled */
#define SIM_HOSTILE 0x20 /* somebody writes into the receive areas */

/**
 * struct sim_node - one node
 * @ad: its NIC
 * @ch: its channel
 * @area: receive area
 * @event: events not yet seen
 * @nevents: how many
 * @overrun: some were lost
 * @up: the driver runs
 * @next: when the work item runs
 * @ctx: attachments, instance by instance of the first domain, then of the second
 */
struct sim_node {
	struct aries_dev ad;
	struct aries_chan ch;
	u8 area[ARIES_SLOTS_MIN * ARIES_SLOT_BYTES];
	u32 event[SIM_EVENTS];
	unsigned int nevents;
	bool overrun;
	bool up;
	unsigned long next;
	struct aries_ctx *ctx[SIM_FILES];
};

extern struct sim_node sim_node[SIM_NODES];
extern unsigned int sim_trouble; /* SIM_* */
extern unsigned long sim_puts;

void sim_seed(u64 seed);
unsigned int sim_pick(unsigned int below);
void sim_up(u32 pe);
void sim_down(u32 pe);
void sim_attach(u32 pe, unsigned int file);
void sim_detach(u32 pe, unsigned int file);
void sim_event(struct sim_node *n, u32 event);
void sim_work(struct sim_node *n);
void sim_tamper(struct sim_node *n);

static inline u32 sim_cookie(unsigned int file)
{
	return 0x1000 + file / SIM_INSTANCES;
}

static inline u32 sim_instance(unsigned int file)
{
	return file % SIM_INSTANCES;
}

#endif /* SIM_NODE_H */
