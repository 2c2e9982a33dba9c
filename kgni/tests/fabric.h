/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * What stands below kGNI in these tests: aries.ko for a few nodes of one process. Operations happen
 * when they are asked for, and the test decides what becomes of each.
 */
#ifndef KGNI_TEST_FABRIC_H
#define KGNI_TEST_FABRIC_H

#include "aries_kapi.h"
#include "gni_pub.h"

#define FABRIC_NODES 4
#define FABRIC_REGIONS 64
#define FABRIC_QUEUES 16

enum fabric_fate {
	FABRIC_DONE,
	FABRIC_LOST,	/* the request: it has not happened, and times out */
	FABRIC_UNHEARD, /* the response: it has happened, and times out */
	FABRIC_ON_ITS_WAY, /* it happens, and that is known only when the caller has gone on */
	FABRIC_LATE,	/* lost as above, which is known only then */
	FABRIC_LATE_UNHEARD, /* the response as above, the same */
	FABRIC_NO_WAY,	/* the node cannot be reached */
	FABRIC_FULL,	/* the NIC has no room for it, and tells by the event */
	FABRIC_NOT_TAKEN, /* the NIC did not get it: the job is suspended */
};

/* What becomes of the next operation; NULL: it is done. */
extern enum fabric_fate (*fabric_fate)(unsigned int from, const struct aries_fma *fma);
/* What another thread does meanwhile: called when an FMA operation has its events, and its caller not yet the answer. */
extern void (*fabric_meanwhile)(unsigned int from);
/* The ports of the last FMA operation and of the last block transfer, by their numbers; how many there are. */
extern int fabric_fma_port, fabric_bte_port;
extern unsigned int fabric_ports_most;
/* Of how many memory allocations one fails, 0 for none. */
extern unsigned int fabric_nomem;
/* Ticks until the event of what is on its way, at most. */
extern unsigned int fabric_delay;

/* The kernel as it is after a boot, with chance from @seed: sim_kernel.c. */
void sim_begin(u64 seed);
void fabric_begin(u64 seed);
void fabric_end(void);
u32 fabric_random(u32 below);
/* Timers that are due, interrupts, and time goes on by a tick. */
void fabric_run(unsigned int ticks);
/* What happens to the NIC of a node; after a reset everything that there is of it says so. */
void fabric_tell(unsigned int node, enum aries_event event, const struct aries_event_info *info);
/* Objects of the driver that nobody has given back. */
unsigned int fabric_left(void);
/* Pieces of memory that nobody has freed. */
unsigned int fabric_memory(void);

int sim_init(void);
void sim_exit(void);

#endif
