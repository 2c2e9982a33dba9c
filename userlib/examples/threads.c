/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Several threads: calls on one NIC handle must take turns, so each thread has a communication domain of its own and
 * needs no lock. Memory that the main thread has registered serves all of them, as they belong to one protection
 * domain. Two ranks; the threads of each put into the memory of the other.
 */
#include <gni_pub.h>
#include <pmi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, PUTS = 100, BLOCK = 64, INSTANCES = THREADS + 1 };

struct place {
	uint32_t nic;
	uint64_t address;
	gni_mem_handle_t handle;
};

static int rank;
static unsigned char memory[THREADS][PUTS][BLOCK];
static struct place place[2];

#define MUST(call) must(call, #call)
static void must(int rc, const char *call)
{
	if (rc) {
		fprintf(stderr, "threads: rank %d: %s: code %d\n", rank, call, rc);
		exit(1);
	}
}

/* Instance ids differ on a node: that of rank 0 is 0, those of its threads follow, and so on. */
static gni_nic_handle_t attach(int thread, gni_cdm_handle_t *cdm, uint32_t *address)
{
	const uint32_t instance = (uint32_t)(rank * INSTANCES + thread);
	gni_nic_handle_t nic;

	MUST(GNI_CdmCreate(instance, GNI_FIND_ALLOC_PTAG, (uint32_t)strtoul(getenv("PMI_GNI_COOKIE"), NULL, 0),
			   GNI_CDM_MODE_FMA_SHARED, cdm));
	MUST(GNI_CdmAttach(*cdm, 0, address, &nic));
	return nic;
}

static unsigned char mark(int sender, int thread, int put)
{
	return (unsigned char)(sender * 101 + thread * 29 + put + 1);
}

static void put_and_wait(gni_ep_handle_t ep, gni_cq_handle_t cq, int thread, int number)
{
	gni_post_descriptor_t put = {.type = GNI_POST_FMA_PUT, .cq_mode = GNI_CQMODE_GLOBAL_EVENT}, *done;
	unsigned char block[BLOCK];
	gni_cq_entry_t event;
	gni_return_t rc;

	memset(block, mark(rank, thread, number), sizeof(block));
	put.local_addr = (uintptr_t)block;
	put.length = sizeof(block);
	put.remote_addr = place[1 - rank].address + (uint64_t)(thread * PUTS + number) * BLOCK;
	put.remote_mem_hndl = place[1 - rank].handle;
	MUST(GNI_PostFma(ep, &put));
	while ((rc = GNI_CqGetEvent(cq, &event)) == GNI_RC_NOT_DONE)
		;
	MUST(rc);
	MUST(GNI_GetCompleted(cq, event, &done));
	must(done != &put, "the event of another thread");
}

static void *work(void *argument)
{
	const int thread = *(int *)argument;
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_cq_handle_t cq;
	gni_ep_handle_t ep;
	uint32_t address;
	int i;

	nic = attach(thread + 1, &cdm, &address);
	MUST(GNI_CqCreate(nic, 16, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
	MUST(GNI_EpCreate(nic, cq, &ep));
	MUST(GNI_EpBind(ep, place[1 - rank].nic, (uint32_t)((1 - rank) * INSTANCES)));
	for (i = 0; i < PUTS; i++)
		put_and_wait(ep, cq, thread, i);
	MUST(GNI_EpDestroy(ep));
	MUST(GNI_CqDestroy(cq));
	MUST(GNI_CdmDestroy(cdm));
	return NULL;
}

static void check(void)
{
	int thread, put, i;

	for (thread = 0; thread < THREADS; thread++)
		for (put = 0; put < PUTS; put++)
			for (i = 0; i < BLOCK; i++)
				must(memory[thread][put][i] != mark(1 - rank, thread, put), "wrong bytes");
	printf("rank %d: %d blocks of %d threads are right\n", rank, THREADS * PUTS, THREADS);
}

int main(void)
{
	struct place mine = {.address = (uintptr_t)memory};
	int spawned, size, number[THREADS], i;
	pthread_t thread[THREADS];
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;

	MUST(PMI_Init(&spawned) || PMI_Get_rank(&rank) || PMI_Get_size(&size));
	must(size != 2 || !getenv("PMI_GNI_COOKIE"), "start it with aprun -n 2");
	nic = attach(0, &cdm, &mine.nic);
	MUST(GNI_MemRegister(nic, mine.address, sizeof(memory), NULL, GNI_MEM_READWRITE, UINT32_MAX, &mine.handle));
	MUST(PMI_Allgather(&mine, place, sizeof(mine)));
	for (i = 0; i < THREADS; i++) {
		number[i] = i;
		MUST(pthread_create(&thread[i], NULL, work, &number[i]));
	}
	for (i = 0; i < THREADS; i++)
		MUST(pthread_join(thread[i], NULL));
	MUST(PMI_Barrier());
	check();
	MUST(GNI_MemDeregister(nic, &mine.handle));
	MUST(GNI_CdmDestroy(cdm));
	return PMI_Finalize();
}
