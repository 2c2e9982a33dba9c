// SPDX-License-Identifier: GPL-2.0-only
/*
 * A rank of a chain of collective engines, one a node: each engine has its own process as a child and
 * the engine of the next node. For the cluster's tests, which stop machines in between:
 *
 *	ce_rank FILE    (aprun, one rank a node)
 *
 * The rank writes "planted" to FILE, waits until FILE.go is there, contributes 1 << rank, writes
 * "posted", and last "sum N" or "error N".
 */
#include <pmi.h>

#include "ugni_test.h"

#define MODES (GNI_CE_MODE_ROUND_NEAR | GNI_CE_MODE_CQE_ONERR | GNI_CE_MODE_RC_ADAPT)
#define MOST_RANKS 16
#define WAIT_S 240
#define INSTANCE 1 /* ugni_begin() */

struct place {
	uint32_t rank, pe, engine;
};

struct chain {
	struct ugni_self self;
	gni_ce_handle_t ce;
	gni_ep_handle_t edge[4];
	int edges, rank, ranks;
	struct place place[MOST_RANKS];
};

static void must(int rc, const char *what)
{
	if (!rc)
		return;
	fprintf(stderr, "ce_rank: %s: %d\n", what, rc);
	exit(1);
}

static void tell(const char *file, const char *word, unsigned long long value)
{
	FILE *f = fopen(file, "a");

	must(!f, file);
	fprintf(f, "%s %llu\n", word, value);
	fclose(f);
}

static gni_ep_handle_t edge(struct chain *c, int rank, uint32_t engine, uint32_t index, gni_ce_child_t kind)
{
	gni_ep_handle_t *ep = &c->edge[c->edges++];

	must(GNI_EpCreate(c->self.nic, c->self.cq, ep), "GNI_EpCreate");
	must(GNI_EpBind(*ep, c->place[rank].pe, INSTANCE), "GNI_EpBind");
	must(GNI_EpSetCeAttr(*ep, engine, index, kind), "GNI_EpSetCeAttr");
	return *ep;
}

static void meet(struct chain *c)
{
	struct place mine = { .rank = (uint32_t)c->rank }, all[MOST_RANKS];
	int i;

	must(ugni_begin(&c->self, (uint32_t)strtoul(getenv("PMI_GNI_COOKIE"), NULL, 0)), "ugni_begin");
	must(GNI_CeCreate(c->self.nic, &c->ce), "GNI_CeCreate");
	must(GNI_CeGetId(c->ce, &mine.engine), "GNI_CeGetId");
	mine.pe = c->self.pe;
	must(PMI_Allgather(&mine, all, sizeof(mine)), "PMI_Allgather");
	for (i = 0; i < c->ranks; i++)
		c->place[all[i].rank] = all[i];
}

/* Return: the endpoint to contribute by. */
static gni_ep_handle_t plant(struct chain *c)
{
	const int r = c->rank, last = c->ranks - 1;
	gni_ep_handle_t children[2], parent = NULL, leaf;

	children[0] = edge(c, r, 0, 0, GNI_CE_CHILD_PE);
	if (r < last)
		children[1] = edge(c, r + 1, c->place[r + 1].engine, 1, GNI_CE_CHILD_VCE);
	if (r)
		parent = edge(c, r - 1, c->place[r - 1].engine, 1, GNI_CE_CHILD_VCE);
	must(GNI_CeConfigure(c->ce, children, r < last ? 2 : 1, parent, NULL, MODES), "GNI_CeConfigure");
	leaf = edge(c, r, c->place[r].engine, 0, GNI_CE_CHILD_PE);
	must(PMI_Barrier(), "PMI_Barrier");
	return leaf;
}

static void contribute(struct chain *c, gni_ep_handle_t leaf)
{
	gni_post_descriptor_t d = { .type = GNI_POST_CE, .cq_mode = GNI_CQMODE_SILENT, .dlvr_mode = 0 };

	d.ce_cmd = GNI_FMA_CE_IADD;
	d.ce_mode = 0;
	d.ce_red_id = 3;
	d.first_operand = 1ull << c->rank;
	d.local_addr = (uintptr_t)c->self.data;
	d.local_mem_hndl = c->self.mem;
	must(GNI_PostFma(leaf, &d), "GNI_PostFma");
}

int main(int argc, char **argv)
{
	const struct timespec moment = { 0, 20000000 };
	gni_return_t rc = GNI_RC_NOT_DONE;
	struct chain c = { .edges = 0 };
	gni_ce_result_t *result;
	gni_ep_handle_t leaf;
	char go[256];
	int spawned;

	must(argc != 2 || !getenv("PMI_GNI_COOKIE"), "usage: aprun ... ce_rank FILE");
	snprintf(go, sizeof(go), "%s.go", argv[1]);
	must(PMI_Init(&spawned) || PMI_Get_rank(&c.rank) || PMI_Get_size(&c.ranks), "PMI");
	must(c.ranks > MOST_RANKS, "too many ranks");
	alarm(WAIT_S);
	meet(&c);
	leaf = plant(&c);
	tell(argv[1], "planted", 1);
	while (access(go, F_OK))
		nanosleep(&moment, NULL);
	contribute(&c, leaf);
	tell(argv[1], "posted", 1);
	result = (gni_ce_result_t *)c.self.data;
	while (rc == GNI_RC_NOT_DONE) {
		rc = GNI_CeCheckResult(result, sizeof(*result));
		nanosleep(&moment, NULL);
	}
	if (rc == GNI_RC_SUCCESS && GNI_CE_RES_STATUS_OK(result))
		tell(argv[1], "sum", result->result1);
	else
		tell(argv[1], "error", rc);
	must(PMI_Barrier(), "PMI_Barrier");
	PMI_Finalize();
	return 0;
}
