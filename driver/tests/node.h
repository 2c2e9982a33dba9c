/* SPDX-License-Identifier: GPL-2.0-only */
/* Simulated nodes. Each has the part of the NIC that the channel uses, and can inject failures. */
#ifndef SIM_NODE_H
#define SIM_NODE_H

#include "aries_dgram.h"

#define SIM_NODES 3
#define SIM_INSTANCES 2 /* instances 0 and 1 of each domain on each node */
#define SIM_DOMAINS 2
#define SIM_FILES (SIM_DOMAINS * SIM_INSTANCES)

/* Failures to inject. */
#define SIM_LOSE 0x01 /* puts fail, events get lost */
#define SIM_NOMEM 0x02 /* allocations fail */
#define SIM_RESTART 0x04 /* nodes go down and come up again */
#define SIM_EXIT 0x08 /* processes end */
#define SIM_CANCEL 0x10 /* datagrams are cancelled */
#define SIM_HOSTILE 0x20 /* a malicious driver writes to the receive areas */

/**
 * struct sim_node - one node
 * @ad: its NIC
 * @pdev: PCI device of the NIC
 * @desc: descriptor area of FMA descriptor 0
 * @bell: doorbell page of FMA descriptor 0
 * @cq: completion queue of the driver, NULL for none
 * @log2: log2 of the number of its entries
 * @produced: entries written so far
 * @owed: entries were lost and not marked yet
 * @armed: the next entry raises the interrupt
 * @key: key of the channel's domain
 * @area: receive area, NULL for none
 * @area_bytes: size of @area
 * @up: the driver is running
 * @sent: number of messages sent, per domain
 * @own: attachments: the instances of the first domain, then those of the second
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
