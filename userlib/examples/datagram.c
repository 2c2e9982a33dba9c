/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Two processes that know of each other's node only meet by datagrams: the server waits for anybody, the client asks
 * for the server by its address. Each gets what the other has to say, here where its memory is, and the client puts.
 * Two ranks; rank 0 is the server.
 */
#include <gni_pub.h>
#include <pmi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE_MS = 60000 };

struct card { /* what goes into a datagram, at most GNI_DATAGRAM_MAXSIZE bytes */
	char name[32];
	uint64_t address;
	gni_mem_handle_t handle;
};

static int rank;
static char memory[64];
static gni_cdm_handle_t cdm;
static gni_nic_handle_t nic;
static gni_cq_handle_t sent, arrived;
static gni_ep_handle_t ep;
static struct card mine, theirs;

#define MUST(call) must(call, #call)
static void must(int rc, const char *call)
{
	if (rc) {
		fprintf(stderr, "datagram: rank %d: %s: code %d\n", rank, call, rc);
		exit(1);
	}
}

static gni_cq_entry_t next_event(gni_cq_handle_t cq)
{
	gni_cq_entry_t event;
	gni_return_t rc;

	while ((rc = GNI_CqGetEvent(cq, &event)) == GNI_RC_NOT_DONE)
		;
	MUST(rc);
	return event;
}

static void attach(void)
{
	const char *cookie = getenv("PMI_GNI_COOKIE");
	uint32_t address;

	must(!cookie, "start it with aprun");
	MUST(GNI_CdmCreate((uint32_t)rank, GNI_FIND_ALLOC_PTAG, (uint32_t)strtoul(cookie, NULL, 0), 0, &cdm));
	MUST(GNI_CdmAttach(cdm, 0, &address, &nic));
	MUST(GNI_CqCreate(nic, 16, 0, GNI_CQ_NOBLOCK, NULL, NULL, &sent));
	MUST(GNI_CqCreate(nic, 16, 0, GNI_CQ_NOBLOCK, NULL, NULL, &arrived));
	mine.address = (uintptr_t)memory;
	MUST(GNI_MemRegister(nic, mine.address, sizeof(memory), arrived, GNI_MEM_READWRITE, UINT32_MAX, &mine.handle));
	MUST(GNI_EpCreate(nic, sent, &ep));
}

/* Exchange cards and learn who the peer is. */
static void meet(uint32_t *address, uint32_t *instance)
{
	gni_post_state_t state;

	MUST(GNI_EpPostData(ep, &mine, sizeof(mine), &theirs, sizeof(theirs)));
	MUST(GNI_EpPostDataWait(ep, PATIENCE_MS, &state, address, instance));
	MUST(state != GNI_POST_COMPLETED);
}

static void server(void)
{
	uint32_t address, instance;

	strcpy(mine.name, "server");
	meet(&address, &instance); /* the endpoint is not bound: anybody of the domain may answer */
	printf("server: instance %u of node %u came, and says it is the %s\n", instance, address, theirs.name);
	must(instance != 1 || strcmp(theirs.name, "client"), "not the one that was expected");
	next_event(arrived);
	must(strcmp(memory, "a line of the client"), "wrong bytes");
	printf("server: got \"%s\"\n", memory);
}

static void client(void)
{
	gni_post_descriptor_t put = {.type = GNI_POST_FMA_PUT}, *done;
	static char line[] = "a line of the client";
	uint32_t address, instance;
	int node;

	strcpy(mine.name, "client");
	MUST(PMI_Get_nid(0, &node));
	MUST(GNI_EpBind(ep, (uint32_t)node, 0));
	meet(&address, &instance);
	printf("client: instance %u of node %u is the %s\n", instance, address, theirs.name);
	put.cq_mode = GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT;
	put.local_addr = (uintptr_t)line;
	put.length = sizeof(line);
	put.remote_addr = theirs.address;
	put.remote_mem_hndl = theirs.handle;
	MUST(GNI_PostFma(ep, &put));
	MUST(GNI_GetCompleted(sent, next_event(sent), &done));
}

int main(void)
{
	int spawned, size;

	MUST(PMI_Init(&spawned) || PMI_Get_rank(&rank) || PMI_Get_size(&size));
	must(size != 2, "two ranks");
	attach();
	if (rank == 0)
		server();
	else
		client();
	MUST(PMI_Barrier());
	MUST(GNI_EpDestroy(ep));
	MUST(GNI_MemDeregister(nic, &mine.handle));
	MUST(GNI_CdmDestroy(cdm));
	return PMI_Finalize();
}
