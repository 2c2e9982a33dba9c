// SPDX-License-Identifier: GPL-2.0-only
/*
 * One side of an exchange of datagrams between nodes; the cluster's tests run it, alone it is none.
 *
 *   datagram_peer serve COOKIE INST COUNT MS [WAIT]
 *       wildcards, COUNT exchanges, the first one WAIT ms after attaching
 *   datagram_peer call COOKIE INST PE TO COUNT MS
 *       bound to instance TO on node PE
 *   datagram_peer cancel COOKIE INST PE TO
 *       posts one and cancels it
 *   datagram_peer hang COOKIE INST PE TO
 *       posts one and sleeps for ever
 *   datagram_peer flood COOKIE INST PE COUNT
 *       posts COUNT to instances of node PE that do not exist, and sleeps for ever
 *   datagram_peer map COOKIE JOB NODE NODE
 *       makes a job whose nodes 0 and 1 are those
 *
 * A line for each exchange: the state's number, then node and instance of the partner and its text.
 * Exit status: 0 all COMPLETED, 1 another state, 2 wrong usage or a call that failed, 3 time is up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gni_pub.h"

struct side {
	gni_cdm_handle_t cdm;
	gni_nic_handle_t nic;
	gni_ep_handle_t ep;
	uint32_t inst;
	char in[GNI_DATAGRAM_MAXSIZE];
	char out[GNI_DATAGRAM_MAXSIZE];
};

static uint32_t number(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 0);
}

static void must(gni_return_t rc, const char *what)
{
	if (rc == GNI_RC_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", what, gni_err_str[rc]);
	exit(rc == GNI_RC_TIMEOUT ? 3 : 2);
}

static void begin(struct side *s, const char *cookie, const char *inst)
{
	uint32_t address;

	memset(s, 0, sizeof(*s));
	s->inst = number(inst);
	must(GNI_CdmCreate(s->inst, GNI_FIND_ALLOC_PTAG, number(cookie),
			   GNI_CDM_MODE_FAST_DATAGRAM_POLL, &s->cdm), "create");
	must(GNI_CdmAttach(s->cdm, 0, &address, &s->nic), "attach");
	must(GNI_EpCreate(s->nic, NULL, &s->ep), "endpoint");
}

static void post(struct side *s, uint32_t n)
{
	snprintf(s->in, sizeof(s->in), "%u:%u", s->inst, n);
	must(GNI_EpPostDataWId(s->ep, s->in, sizeof(s->in), s->out, sizeof(s->out), n), "post");
}

/* Return: 0 if it is complete. */
static int reap(struct side *s, uint32_t n, uint32_t ms)
{
	gni_post_state_t state = GNI_POST_ERROR;
	uint32_t address = 0, inst = 0;
	uint64_t id = ~0ull;

	must(GNI_PostdataProbeWaitById(s->nic, ms, &id), "probe");
	if (id != n) {
		fprintf(stderr, "probe tells %llu, not %u\n", (unsigned long long)id, n);
		exit(2);
	}
	must(GNI_EpPostDataWaitById(s->ep, id, ~0u, &state, &address, &inst), "wait");
	printf("%d", state);
	if (state == GNI_POST_COMPLETED)
		printf(" %u %u %.128s", address, inst, s->out);
	printf("\n");
	fflush(stdout);
	return state != GNI_POST_COMPLETED;
}

static int exchange(struct side *s, uint32_t count, uint32_t ms)
{
	int bad = 0;
	uint32_t n;

	for (n = 0; n < count; n++) {
		post(s, n);
		printf("posted\n");
		fflush(stdout);
		bad |= reap(s, n, ms);
	}
	return bad;
}

static int flood(struct side *s, uint32_t pe, uint32_t count)
{
	uint32_t n;

	for (n = 0; n < count; n++) {
		must(GNI_EpCreate(s->nic, NULL, &s->ep), "endpoint");
		must(GNI_EpBind(s->ep, pe, 100000 + n), "bind");
		post(s, n);
	}
	printf("posted %u\n", n);
	fflush(stdout);
	pause();
	return 0;
}

static int map(const char *cookie, const char *job, const char *zero, const char *one)
{
	gni_ntt_entry_t entries[2] = { { .blck_addr = number(zero) }, { .blck_addr = number(one) } };
	gni_ntt_descriptor_t table = { .group_size = 2, .granularity = 1 };
	gni_job_limits_t limits;
	uint32_t base = 0;

	memset(&limits, 0xff, sizeof(limits)); /* GNI_JOB_INVALID_LIMIT */
	limits.ntt_ctrl = GNI_JOB_CTRL_NTT_CLEANUP;
	table.u.table_v2 = entries;
	must(GNI_ConfigureNTTandJob(0, number(job), GNI_FIND_ALLOC_PTAG, number(cookie), &limits,
				    &table, &base), "job");
	return 0;
}

int main(int argc, char **argv)
{
	struct side s;

	if (argc < 6)
		return 2;
	if (!strcmp(argv[1], "map"))
		return map(argv[2], argv[3], argv[4], argv[5]);
	begin(&s, argv[2], argv[3]);
	if (argc == 7 && !strcmp(argv[1], "serve"))
		usleep(1000 * number(argv[6]));
	if (!strcmp(argv[1], "serve"))
		return exchange(&s, number(argv[4]), number(argv[5]));
	if (!strcmp(argv[1], "flood"))
		return flood(&s, number(argv[4]), number(argv[5]));
	must(GNI_EpBind(s.ep, number(argv[4]), number(argv[5])), "bind");
	if (!strcmp(argv[1], "call") && argc == 8)
		return exchange(&s, number(argv[6]), number(argv[7]));
	post(&s, 0);
	usleep(300000);
	if (!strcmp(argv[1], "hang")) {
		printf("posted\n");
		fflush(stdout);
		pause();
	}
	must(GNI_EpPostDataCancelById(s.ep, 0), "cancel");
	return reap(&s, 0, 10000);
}
