/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/* The first put: rank 0 writes a line into the memory of rank 1. Two ranks. */
#include <gni_pub.h>
#include <pmi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call) must(call, #call)
static void must(int rc, const char *call)
{
	if (rc) {
		fprintf(stderr, "first-put: %s: code %d\n", call, rc);
		exit(1);
	}
}

int main(void)
{
	static char line[] = "Hello from rank 0", memory[64];
	struct {
		uint32_t nic;
		gni_mem_handle_t handle;
		uint64_t address;
	} mine = {.address = (uintptr_t)memory}, all[2];
	gni_post_descriptor_t put = {.type = GNI_POST_FMA_PUT, .cq_mode = GNI_CQMODE_GLOBAL_EVENT}, *done;
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_cq_handle_t cq;
	gni_ep_handle_t ep;
	gni_cq_entry_t event;
	gni_return_t rc;
	int spawned, rank, size;

	MUST(PMI_Init(&spawned) || PMI_Get_rank(&rank) || PMI_Get_size(&size));
	must(size != 2 || !getenv("PMI_GNI_COOKIE"), "start it with aprun -n 2");
	const uint32_t cookie = (uint32_t)strtoul(getenv("PMI_GNI_COOKIE"), NULL, 0);
	MUST(GNI_CdmCreate((uint32_t)rank, GNI_FIND_ALLOC_PTAG, cookie, 0, &cdm));
	MUST(GNI_CdmAttach(cdm, 0, &mine.nic, &nic));
	MUST(GNI_MemRegister(nic, mine.address, sizeof(memory), NULL, GNI_MEM_READWRITE, UINT32_MAX, &mine.handle));
	MUST(PMI_Allgather(&mine, all, sizeof(mine)));
	if (rank == 0) {
		MUST(GNI_CqCreate(nic, 16, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
		MUST(GNI_EpCreate(nic, cq, &ep));
		MUST(GNI_EpBind(ep, all[1].nic, 1));
		put.local_addr = (uintptr_t)line;
		put.length = sizeof(line);
		put.remote_addr = all[1].address;
		put.remote_mem_hndl = all[1].handle;
		MUST(GNI_PostFma(ep, &put));
		while ((rc = GNI_CqGetEvent(cq, &event)) == GNI_RC_NOT_DONE)
			;
		MUST(rc);
		MUST(GNI_GetCompleted(cq, event, &done));
		MUST(GNI_EpDestroy(ep));
		MUST(GNI_CqDestroy(cq));
	}
	MUST(PMI_Barrier());
	MUST(rank == 1 && strcmp(memory, line));
	printf("rank %d: %s \"%s\"\n", rank, rank ? "got" : "put", rank ? memory : line);
	MUST(GNI_MemDeregister(nic, &mine.handle) || GNI_CdmDestroy(cdm));
	return PMI_Finalize();
}
