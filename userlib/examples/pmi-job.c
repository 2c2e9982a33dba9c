/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * A job of many ranks: where they are, keys that one rank writes and another reads, and a ring in which each rank reads
 * the memory of the next one. Any number of ranks on any number of nodes.
 */
#include <gni_pub.h>
#include <inttypes.h>
#include <pmi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64, CLIQUE = 64 };

static int rank, size;
static char mine[BLOCK], theirs[BLOCK];
static gni_mem_handle_t mine_handle, theirs_handle;
static gni_cdm_handle_t cdm;
static gni_nic_handle_t nic;

/* PMI_Abort() ends the whole job, also ranks that wait for this one. */
#define MUST(call) must(call, #call)
static void must(int rc, const char *call)
{
	if (rc) {
		fprintf(stderr, "pmi-job: rank %d: %s: code %d\n", rank, call, rc);
		PMI_Abort(1, call);
	}
}

static void attach(uint32_t *address)
{
	const char *cookie = getenv("PMI_GNI_COOKIE");

	must(!cookie, "start it with aprun");
	MUST(GNI_CdmCreate((uint32_t)rank, GNI_FIND_ALLOC_PTAG, (uint32_t)strtoul(cookie, NULL, 0), 0, &cdm));
	MUST(GNI_CdmAttach(cdm, 0, address, &nic));
	MUST(GNI_MemRegister(nic, (uintptr_t)mine, BLOCK, NULL, GNI_MEM_READ_ONLY, UINT32_MAX, &mine_handle));
	MUST(GNI_MemRegister(nic, (uintptr_t)theirs, BLOCK, NULL, GNI_MEM_READWRITE, UINT32_MAX, &theirs_handle));
}

/* Ranks on this node; the first of them could do what is to be done once a node. */
static void neighbours(int node)
{
	int ranks[CLIQUE], count;

	MUST(PMI_Get_clique_size(&count));
	MUST(PMI_Get_clique_ranks(ranks, CLIQUE));
	printf("rank %d of %d: on node %d with %d ranks, the first is %d\n", rank, size, node, count, ranks[0]);
}

static void publish(char *space)
{
	char key[32], value[128];

	snprintf(key, sizeof(key), "memory of %d", rank);
	snprintf(value, sizeof(value), "%" PRIxPTR " %" PRIx64 " %" PRIx64, (uintptr_t)mine, mine_handle.qword1,
		 mine_handle.qword2);
	MUST(PMI_KVS_Put(space, key, value));
	MUST(PMI_KVS_Commit(space));
	MUST(PMI_Barrier()); /* only now is a key there for all */
}

static void look_up(char *space, int of, gni_post_descriptor_t *get)
{
	char key[32], value[128];

	snprintf(key, sizeof(key), "memory of %d", of);
	MUST(PMI_KVS_Get(space, key, value, sizeof(value)));
	MUST(sscanf(value, "%" SCNx64 " %" SCNx64 " %" SCNx64, &get->remote_addr, &get->remote_mem_hndl.qword1,
		    &get->remote_mem_hndl.qword2) != 3);
}

static void read_block(int of, int node, gni_post_descriptor_t *get)
{
	gni_post_descriptor_t *done;
	gni_cq_entry_t event;
	gni_cq_handle_t cq;
	gni_ep_handle_t ep;
	gni_return_t rc;

	MUST(GNI_CqCreate(nic, 16, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
	MUST(GNI_EpCreate(nic, cq, &ep));
	MUST(GNI_EpBind(ep, (uint32_t)node, (uint32_t)of));
	get->type = GNI_POST_RDMA_GET;
	get->cq_mode = GNI_CQMODE_GLOBAL_EVENT;
	get->local_addr = (uintptr_t)theirs;
	get->local_mem_hndl = theirs_handle;
	get->length = BLOCK;
	MUST(GNI_PostRdma(ep, get));
	while ((rc = GNI_CqGetEvent(cq, &event)) == GNI_RC_NOT_DONE)
		;
	MUST(rc);
	MUST(GNI_GetCompleted(cq, event, &done));
	MUST(GNI_EpDestroy(ep));
	MUST(GNI_CqDestroy(cq));
}

int main(void)
{
	gni_post_descriptor_t get = {0};
	char space[256], wanted[BLOCK];
	int spawned, next, node;
	uint32_t address;

	MUST(PMI_Init(&spawned) || PMI_Get_rank(&rank) || PMI_Get_size(&size));
	attach(&address);
	neighbours((int)address);
	snprintf(mine, BLOCK, "memory of rank %d", rank);
	MUST(PMI_KVS_Get_my_name(space, sizeof(space)));
	publish(space);
	next = (rank + 1) % size;
	look_up(space, next, &get);
	MUST(PMI_Get_nid(next, &node));
	read_block(next, node, &get);
	snprintf(wanted, BLOCK, "memory of rank %d", next);
	must(strcmp(theirs, wanted), "wrong bytes");
	printf("rank %d of %d: read \"%s\" from node %d\n", rank, size, theirs, node);
	MUST(PMI_Barrier());
	MUST(GNI_MemDeregister(nic, &mine_handle));
	MUST(GNI_MemDeregister(nic, &theirs_handle));
	MUST(GNI_CdmDestroy(cdm));
	return PMI_Finalize();
}
