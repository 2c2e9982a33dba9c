/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * A reduction in the network: the collective engines of the NICs form a tree, every rank contributes a number, and
 * every rank finds the sum in its memory. One rank a node, up to 16.
 */
#include <gni_pub.h>
#include <inttypes.h>
#include <pmi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_RANKS = 16, ROUNDS = 3, MODES = GNI_CE_MODE_ROUND_NEAR | GNI_CE_MODE_CQE_ONERR | GNI_CE_MODE_RC_ADAPT };

/* An engine knows its children by index: its own process, then the engines below it in the tree. */
enum { OWN_PROCESS = 0, BELOW = 1 };

struct place {
	uint32_t nic, engine;
};

static int rank, size;
static struct place place[MOST_RANKS];
static gni_ce_result_t result __attribute__((aligned(32)));
static gni_mem_handle_t result_handle;
static gni_cdm_handle_t cdm;
static gni_nic_handle_t nic;
static gni_cq_handle_t cq;
static gni_ce_handle_t engine;

#define MUST(call) must(call, #call)
static void must(int rc, const char *call)
{
	if (rc) {
		fprintf(stderr, "collective: rank %d: %s: code %d\n", rank, call, rc);
		exit(1);
	}
}

static void attach(void)
{
	const char *cookie = getenv("PMI_GNI_COOKIE");
	struct place mine;

	must(!cookie, "start it with aprun");
	MUST(GNI_CdmCreate((uint32_t)rank, GNI_FIND_ALLOC_PTAG, (uint32_t)strtoul(cookie, NULL, 0), 0, &cdm));
	MUST(GNI_CdmAttach(cdm, 0, &mine.nic, &nic));
	MUST(GNI_CqCreate(nic, 64, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
	MUST(GNI_MemRegister(nic, (uintptr_t)&result, sizeof(result), NULL, GNI_MEM_READWRITE, UINT32_MAX,
			     &result_handle));
	MUST(GNI_CeCreate(nic, &engine));
	MUST(GNI_CeGetId(engine, &mine.engine));
	MUST(PMI_Allgather(&mine, place, sizeof(mine)));
}

/* An edge of the tree, from here to a process or an engine at that rank. */
static gni_ep_handle_t edge(int to, int child, gni_ce_child_t kind)
{
	gni_ep_handle_t ep;

	MUST(GNI_EpCreate(nic, cq, &ep));
	MUST(GNI_EpBind(ep, place[to].nic, (uint32_t)to));
	MUST(GNI_EpSetCeAttr(ep, place[to].engine, (uint32_t)child, kind));
	return ep;
}

/* Rank r has the engines of the ranks 2r + 1 and 2r + 2 below it. */
static gni_ep_handle_t plant(void)
{
	gni_ep_handle_t children[3], parent = NULL;
	uint32_t count = 0;
	int below;

	children[count++] = edge(rank, OWN_PROCESS, GNI_CE_CHILD_PE);
	for (below = 2 * rank + 1; below <= 2 * rank + 2 && below < size; below++, count++)
		children[count] = edge(below, (int)count, GNI_CE_CHILD_VCE);
	if (rank)
		parent = edge((rank - 1) / 2, BELOW + (rank - 1) % 2, GNI_CE_CHILD_VCE);
	MUST(GNI_CeConfigure(engine, children, count, parent, NULL, MODES));
	MUST(PMI_Barrier()); /* the whole tree stands before the first contribution */
	return edge(rank, OWN_PROCESS, GNI_CE_CHILD_PE);
}

static uint64_t sum_of_all(gni_ep_handle_t leaf, uint64_t mine, uint64_t id)
{
	gni_post_descriptor_t post = {.type = GNI_POST_CE, .cq_mode = GNI_CQMODE_SILENT, .ce_cmd = GNI_FMA_CE_IADD};
	gni_return_t rc;

	post.first_operand = mine;
	post.ce_red_id = id; /* the same everywhere */
	post.local_addr = (uintptr_t)&result;
	post.local_mem_hndl = result_handle;
	MUST(GNI_PostFma(leaf, &post));
	while ((rc = GNI_CeCheckResult(&result, sizeof(result))) == GNI_RC_NOT_DONE)
		;
	MUST(rc);
	MUST(GNI_CE_RES_GET_RED_ID(&result) != id);
	return result.result1;
}

int main(void)
{
	uint64_t round, sum, ranks;
	gni_ep_handle_t leaf;
	int spawned;

	MUST(PMI_Init(&spawned) || PMI_Get_rank(&rank) || PMI_Get_size(&size));
	must(size > MOST_RANKS, "at most 16 ranks");
	attach();
	leaf = plant();
	ranks = (uint64_t)size;
	for (round = 1; round <= ROUNDS; round++) {
		sum = sum_of_all(leaf, round * ((uint64_t)rank + 1), round);
		must(sum != round * ranks * (ranks + 1) / 2, "wrong sum");
		printf("rank %d: round %" PRIu64 ", sum %" PRIu64 "\n", rank, round, sum);
	}
	MUST(PMI_Barrier());
	MUST(GNI_CeDestroy(engine));
	MUST(GNI_CdmDestroy(cdm));
	return PMI_Finalize();
}
