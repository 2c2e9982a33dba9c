/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * A queue to sleep on: rank 1 waits for puts of rank 0 without using its processor. The first wait ends by its time
 * limit, the next ones by events. Two ranks.
 */
#include <gni_pub.h>
#include <pmi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PUTS = 5, BLOCK = 32, SHORT_MS = 100, LONG_MS = 60000 };

struct place {
	uint32_t nic;
	uint64_t address;
	gni_mem_handle_t handle;
};

static int rank;
static char memory[PUTS][BLOCK];
static struct place place[2];
static gni_cdm_handle_t cdm;
static gni_nic_handle_t nic;
static gni_cq_handle_t arrived;

#define MUST(call) must(call, #call)
static void must(int rc, const char *call)
{
	if (rc) {
		fprintf(stderr, "blocking-queue: rank %d: %s: code %d\n", rank, call, rc);
		exit(1);
	}
}

static void attach(void)
{
	const char *cookie = getenv("PMI_GNI_COOKIE");
	struct place mine = {.address = (uintptr_t)memory};

	must(!cookie, "start it with aprun");
	MUST(GNI_CdmCreate((uint32_t)rank, GNI_FIND_ALLOC_PTAG, (uint32_t)strtoul(cookie, NULL, 0), 0, &cdm));
	MUST(GNI_CdmAttach(cdm, 0, &mine.nic, &nic));
	MUST(GNI_CqCreate(nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &arrived));
	MUST(GNI_MemRegister(nic, mine.address, sizeof(memory), arrived, GNI_MEM_READWRITE, UINT32_MAX, &mine.handle));
	MUST(PMI_Allgather(&mine, place, sizeof(mine)));
}

static void waiter(void)
{
	gni_cq_entry_t event;
	char wanted[BLOCK];
	int i;

	must(GNI_CqWaitEvent(arrived, SHORT_MS, &event) != GNI_RC_TIMEOUT, "an event before there was a put");
	printf("rank 1: nothing in %d ms\n", SHORT_MS);
	MUST(PMI_Barrier());
	for (i = 0; i < PUTS; i++) {
		MUST(GNI_CqWaitEvent(arrived, LONG_MS, &event));
		must(GNI_CQ_GET_REM_INST_ID(event) != 700, "the event of somebody else");
	}
	for (i = 0; i < PUTS; i++) {
		snprintf(wanted, sizeof(wanted), "put %d", i);
		must(strcmp(memory[i], wanted), "wrong bytes");
	}
	printf("rank 1: woken by %d puts\n", PUTS);
}

static void sender(void)
{
	gni_post_descriptor_t put, *done;
	gni_cq_entry_t event;
	gni_cq_handle_t sent;
	gni_ep_handle_t ep;
	int i;

	MUST(GNI_CqCreate(nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &sent));
	MUST(GNI_EpCreate(nic, sent, &ep));
	MUST(GNI_EpBind(ep, place[1].nic, 1));
	MUST(GNI_EpSetEventData(ep, 1, 700)); /* what rank 1 finds in its events */
	MUST(PMI_Barrier());
	for (i = 0; i < PUTS; i++) {
		memset(&put, 0, sizeof(put));
		snprintf(memory[i], BLOCK, "put %d", i);
		put.type = GNI_POST_RDMA_PUT;
		put.cq_mode = GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT;
		put.local_addr = (uintptr_t)memory[i];
		put.local_mem_hndl = place[0].handle;
		put.length = BLOCK;
		put.remote_addr = place[1].address + (uint64_t)i * BLOCK;
		put.remote_mem_hndl = place[1].handle;
		MUST(GNI_PostRdma(ep, &put));
		MUST(GNI_CqWaitEvent(sent, LONG_MS, &event));
		MUST(GNI_GetCompleted(sent, event, &done));
	}
	printf("rank 0: %d block transfers done\n", PUTS);
	MUST(GNI_EpDestroy(ep));
	MUST(GNI_CqDestroy(sent));
}

int main(void)
{
	int spawned, size;

	MUST(PMI_Init(&spawned) || PMI_Get_rank(&rank) || PMI_Get_size(&size));
	must(size != 2, "two ranks");
	attach();
	if (rank == 0)
		sender();
	else
		waiter();
	MUST(PMI_Barrier());
	MUST(GNI_MemDeregister(nic, &place[rank].handle));
	MUST(GNI_CqDestroy(arrived));
	MUST(GNI_CdmDestroy(cdm));
	return PMI_Finalize();
}
