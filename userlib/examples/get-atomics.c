/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Gets and atomic operations. Every rank draws tickets from a counter of rank 0, one of them wins a lock there, and
 * each reads what its neighbour has drawn. Two to 16 ranks.
 */
#include <gni_pub.h>
#include <pmi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 16, TICKETS = 10 };

struct memory {
	uint64_t counter, lock, answer;
	uint64_t mine[TICKETS], theirs[TICKETS];
};

struct place {
	uint32_t nic;
	uint64_t address;
	gni_mem_handle_t handle;
};

static struct memory memory;
static struct place place[MOST_RANKS];
static int rank, size;
static gni_nic_handle_t nic;
static gni_cq_handle_t cq;

#define MUST(call) must(call, #call)
static void must(int rc, const char *call)
{
	if (rc) {
		fprintf(stderr, "get-atomics: rank %d: %s: code %d\n", rank, call, rc);
		exit(1);
	}
}

/* Post and wait. What comes back is in local_addr then. */
static void run(gni_ep_handle_t ep, gni_post_descriptor_t *post)
{
	gni_post_descriptor_t *done;
	gni_cq_entry_t event;
	gni_return_t rc;

	MUST(GNI_PostFma(ep, post));
	while ((rc = GNI_CqGetEvent(cq, &event)) == GNI_RC_NOT_DONE)
		;
	MUST(rc);
	MUST(GNI_GetCompleted(cq, event, &done));
	MUST(done != post);
}

/* An atomic operation on a word of rank 0; the word's old value. */
static uint64_t atomic(gni_ep_handle_t ep, gni_fma_cmd_type_t command, uint64_t address, uint64_t a, uint64_t b)
{
	gni_post_descriptor_t post = {.type = GNI_POST_AMO, .cq_mode = GNI_CQMODE_GLOBAL_EVENT, .amo_cmd = command};

	post.first_operand = a;
	post.second_operand = b;
	post.length = sizeof(uint64_t);
	post.local_addr = (uintptr_t)&memory.answer;
	post.local_mem_hndl = place[rank].handle;
	post.remote_addr = address;
	post.remote_mem_hndl = place[0].handle;
	run(ep, &post);
	return memory.answer;
}

static void get(gni_ep_handle_t ep, void *to, uint64_t address, int from, uint64_t length)
{
	gni_post_descriptor_t post = {.type = GNI_POST_FMA_GET, .cq_mode = GNI_CQMODE_GLOBAL_EVENT};

	post.local_addr = (uintptr_t)to;
	post.local_mem_hndl = place[rank].handle;
	post.remote_addr = address;
	post.remote_mem_hndl = place[from].handle;
	post.length = length;
	run(ep, &post);
}

static gni_ep_handle_t endpoint(int to)
{
	gni_ep_handle_t ep;

	MUST(GNI_EpCreate(nic, cq, &ep));
	MUST(GNI_EpBind(ep, place[to].nic, (uint32_t)to));
	return ep;
}

static void attach(gni_cdm_handle_t *cdm)
{
	const char *cookie = getenv("PMI_GNI_COOKIE");
	struct place mine = {.address = (uintptr_t)&memory};

	must(!cookie, "start it with aprun");
	MUST(GNI_CdmCreate((uint32_t)rank, GNI_FIND_ALLOC_PTAG, (uint32_t)strtoul(cookie, NULL, 0), 0, cdm));
	MUST(GNI_CdmAttach(*cdm, 0, &mine.nic, &nic));
	MUST(GNI_CqCreate(nic, 64, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
	MUST(GNI_MemRegister(nic, mine.address, sizeof(memory), NULL, GNI_MEM_READWRITE, UINT32_MAX, &mine.handle));
	MUST(PMI_Allgather(&mine, place, sizeof(mine)));
}

/* Each ticket was drawn once, by whomever. The number of ranks that hold the lock. */
static int check(int won)
{
	uint64_t all[MOST_RANKS][TICKETS];
	int seen[MOST_RANKS * TICKETS] = {0}, winners[MOST_RANKS], count = 0, i;

	MUST(PMI_Allgather(memory.mine, all, sizeof(memory.mine)));
	MUST(PMI_Allgather(&won, winners, sizeof(won)));
	for (i = 0; i < size * TICKETS; i++) {
		const uint64_t ticket = all[i / TICKETS][i % TICKETS];

		must(ticket >= (uint64_t)(size * TICKETS) || seen[ticket]++, "a ticket drawn twice");
	}
	for (i = 0; i < size; i++)
		count += winners[i];
	must(count != 1, "a lock that has not one holder");
	must(memcmp(memory.theirs, all[(rank + 1) % size], sizeof(memory.theirs)), "wrong bytes");
	return count;
}

int main(void)
{
	gni_ep_handle_t root, next;
	gni_cdm_handle_t cdm;
	int spawned, won, holders, i;

	MUST(PMI_Init(&spawned) || PMI_Get_rank(&rank) || PMI_Get_size(&size));
	must(size < 2 || size > MOST_RANKS, "two to 16 ranks");
	attach(&cdm);
	root = endpoint(0);
	next = endpoint((rank + 1) % size);
	for (i = 0; i < TICKETS; i++)
		memory.mine[i] = atomic(root, GNI_FMA_ATOMIC_FADD, place[0].address, 1, 0);
	won = atomic(root, GNI_FMA_ATOMIC_CSWAP, place[0].address + sizeof(uint64_t), 0, (uint64_t)rank + 1) == 0;
	MUST(PMI_Barrier());
	get(next, memory.theirs, place[(rank + 1) % size].address + offsetof(struct memory, mine), (rank + 1) % size,
	    sizeof(memory.mine));
	holders = check(won);
	must(rank == 0 && memory.counter != (uint64_t)(size * TICKETS), "wrong count");
	if (rank == 0)
		printf("rank 0: %d tickets drawn, holders of the lock: %d\n", (int)memory.counter, holders);
	printf("rank %d: read the %d tickets of rank %d\n", rank, TICKETS, (rank + 1) % size);
	MUST(PMI_Barrier());
	MUST(GNI_CdmDestroy(cdm));
	return PMI_Finalize();
}
