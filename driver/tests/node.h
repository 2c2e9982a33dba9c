/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/* Simulated nodes: of the NIC of each what the channel uses, and what can go wrong. */
#ifndef SIM_NODE_H
#define SIM_NODE_H

#include "aries_dgram.h"

#define SIM_NODES 3
#define SIM_INSTANCES 2 /* 0 and 1, of each domain on each node */
#define SIM_DOMAINS 2
#define SIM_FILES (SIM_DOMAINS * SIM_INSTANCES)

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
 * @pdev: the same
 * @desc: area of FMA descriptor 0
 * @bell: its doorbell page
 * @cq: the driver's queue, NULL for none
 * @log2: of its entries
 * @produced: entries so far
 * @owed: some were lost
 * @armed: the next entry raises the interrupt
 * @key: of the channel's domain
 * @area: receive area, NULL for none
 * @area_bytes: its size
 * @up: the driver runs
 * @sent: messages that it has put, by domain
 * @own: attachments, instance by instance of the first domain, then of the second
 */
struct sim_node {
	struct aries_dev ad;
	struct pci_dev pdev;
	u8 desc[ARIES_DESC_STRIDE];
	u8 bell[PAGE_SIZE];
	u64 *cq;
	unsigned int log2;
	u64 produced;
	bool owed;
	bool armed;
	u64 key;
	u8 *area;
	u64 area_bytes;
	bool up;
	unsigned long sent[SIM_DOMAINS];
	struct aries_owner *own[SIM_FILES];
};

extern struct sim_node sim_node[SIM_NODES];
extern unsigned int sim_trouble; /* SIM_* */

void sim_seed(u64 seed);
unsigned int sim_pick(unsigned int below);
void sim_prepare(u32 pe);
void sim_begin(u32 pe);
void sim_up(u32 pe);
void sim_down(u32 pe);
void sim_attach(u32 pe, unsigned int file);
void sim_detach(u32 pe, unsigned int file);
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
