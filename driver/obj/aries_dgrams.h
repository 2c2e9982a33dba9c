/* SPDX-License-Identifier: GPL-2.0-only */
/* The datagrams of an owner. */
#ifndef ARIES_DGRAMS_H
#define ARIES_DGRAMS_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/wait.h>

/**
 * struct aries_dgrams - datagrams of one attachment, protected by aries_chan.lock
 * @hash: in aries_chan.by_inst
 * @on: the owner is attached
 * @fast: intermediate states are not reported (GNI_CDM_MODE_FAST_DATAGRAM_POLL)
 * @cookie: cookie of the domain
 * @inst_id: instance id of the attachment
 * @pending: datagrams without a final state
 * @wild: wildcards among these that are not matched
 * @done: datagrams with a final state, in the order in which they reached it; without and with an
 *        id
 * @orphans: the same, of endpoints that were destroyed
 * @ended: number of datagrams that have reached a final state so far
 * @early: requests of other nodes that nothing matched yet
 * @count: number of datagrams
 * @nearly: number of elements of @early
 * @norphans: number of datagrams in @orphans
 * @probers: number of threads that wait in KGNI_IOC_DGRAM_PROBE
 * @round: counts KGNI_DGRAM_ALL
 * @wq: woken at each final state
 * @ready: called at each final state, with the lock held and interrupts disabled, or NULL
 * @ready_data: for @ready
 */
struct aries_dgrams {
	struct hlist_node hash;
	bool on;
	bool fast;
	u32 cookie;
	u32 inst_id;
	struct list_head pending;
	struct list_head wild;
	struct list_head done[2];
	struct list_head orphans;
	u64 ended;
	struct list_head early;
	unsigned int count;
	unsigned int nearly;
	unsigned int norphans;
	unsigned int probers;
	unsigned int round;
	wait_queue_head_t wq;
	void (*ready)(void *data);
	void *ready_data;
};

#endif /* ARIES_DGRAMS_H */
