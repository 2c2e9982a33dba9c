/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layer below kGNI in these tests: a simulation of aries.ko, for a few nodes in one process.
 * Operations are executed immediately, and the test decides the outcome of each.
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
	FABRIC_LOST,	/* the request is lost: the operation is not executed, and times out */
	FABRIC_UNHEARD, /* the response is lost: the operation is executed, but times out */
	FABRIC_ON_ITS_WAY, /* executed, but only the event reports it */
	FABRIC_LATE,	/* the same for a lost request */
	FABRIC_LATE_UNHEARD, /* the same for a lost response */
	FABRIC_NO_WAY,	/* the node is unreachable */
	FABRIC_FULL,	/* the NIC has no space for it, and says so by the event */
	FABRIC_NOT_TAKEN, /* the NIC does not accept it, because the job is suspended */
};

/* Chooses the outcome of the next operation; NULL: always FABRIC_DONE. */
extern enum fabric_fate (*fabric_fate)(unsigned int from, const struct aries_fma *fma);
/*
 * Plays another thread: called when an FMA operation has raised its events, but has not returned to
 * its caller yet.
 */
extern void (*fabric_meanwhile)(unsigned int from);
/*
 * Numbers of the ports of the last FMA operation and of the last block transfer; largest number of
 * ports.
 */
extern int fabric_fma_port, fabric_bte_port;
extern unsigned int fabric_ports_most;
/* One of this many memory allocations fails, 0: none. */
extern unsigned int fabric_nomem;
/* Largest delay of an event after ARIES_ST_LATER, in ticks. */
extern unsigned int fabric_delay;

/* Reset the simulated kernel (sim_kernel.c), with random numbers from @seed. */
void sim_begin(u64 seed);
void fabric_begin(u64 seed);
void fabric_end(void);
u32 fabric_random(u32 below);
/* Let @ticks pass, and run the timers and interrupts that are due. */
void fabric_run(unsigned int ticks);
/* Report an event of a node's NIC to its owners; after ARIES_EVENT_RESET their operations fail. */
void fabric_tell(unsigned int node, enum aries_event event, const struct aries_event_info *info);
/* Number of driver objects that were not released. */
unsigned int fabric_left(void);
/* Number of memory allocations that were not freed. */
unsigned int fabric_memory(void);

int sim_init(void);
void sim_exit(void);

#endif
