/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * pmi-info: what libpmi says about this rank, and whether the ranks of the job reach each other: keys, gathers and
 * barriers with known contents. Started by aprun, or alone as a job of one.
 *
 * Exit status: 0 all as it should be, 1 not, 2 no place in a job.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmi.h>

enum { BLOCK = 1000 };

static int rank, size;

static int bad(const char *what, int rc)
{
	fprintf(stderr, "pmi-info: rank %d: %s: code %d\n", rank, what, rc);
	return 1;
}

static unsigned char mark(int of, int at)
{
	return (unsigned char)(of * 31 + at * 7 + 1);
}

static int check_gather(void)
{
	unsigned char mine[BLOCK], *all = malloc((size_t)size * BLOCK);
	int rc, peer, i, wrong = 0;

	if (!all)
		return bad("memory", PMI_ERR_NOMEM);
	for (i = 0; i < BLOCK; i++)
		mine[i] = mark(rank, i);
	rc = PMI_Allgather(mine, all, BLOCK);
	for (peer = 0; !rc && peer < size; peer++)
		for (i = 0; i < BLOCK; i++)
			wrong += all[peer * BLOCK + i] != mark(peer, i);
	free(all);
	if (rc)
		return bad("PMI_Allgather", rc);
	return wrong ? bad("PMI_Allgather: wrong bytes", wrong) : 0;
}

static int check_keys(void)
{
	char name[256], key[PMI2_MAX_KEYLEN], value[PMI2_MAX_VALLEN], wanted[32];
	int rc = PMI_KVS_Get_my_name(name, sizeof(name));
	int peer = (rank + 1) % size;

	if (rc)
		return bad("PMI_KVS_Get_my_name", rc);
	snprintf(key, sizeof(key), "info %d", rank);
	snprintf(value, sizeof(value), "of rank %d", rank);
	rc = PMI_KVS_Put(name, key, value);
	if (!rc)
		rc = PMI_KVS_Commit(name);
	if (!rc)
		rc = PMI_Barrier();
	if (rc)
		return bad("PMI_KVS_Put to PMI_Barrier", rc);
	snprintf(key, sizeof(key), "info %d", peer);
	snprintf(wanted, sizeof(wanted), "of rank %d", peer);
	rc = PMI_KVS_Get(name, key, value, sizeof(value));
	if (rc)
		return bad("PMI_KVS_Get", rc);
	return strcmp(value, wanted) ? bad("PMI_KVS_Get: wrong value", 0) : 0;
}

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "-";
}

static void show(void)
{
	char mapping[PMI2_MAX_VALLEN] = "-", job[256] = "-";
	int node = -1, clique = 0, found = 0;

	(void)PMI_Get_nid(rank, &node);
	(void)PMI_Get_clique_size(&clique);
	(void)PMI2_Job_GetId(job, sizeof(job));
	(void)PMI2_Info_GetJobAttr("PMI_process_mapping", mapping, sizeof(mapping), &found);
	printf("rank %d of %d, job %s, node %d with %d ranks, mapping %s, ptag %s, cookie %s, device %s, address %s\n",
	       rank, size, job, node, clique, found ? mapping : "-", variable("PMI_GNI_PTAG"),
	       variable("PMI_GNI_COOKIE"), variable("PMI_GNI_DEV_ID"), variable("PMI_GNI_LOC_ADDR"));
}

static const char help_text[] =
	"usage: pmi-info [option]\n"
	"\n"
	"Prints what libpmi says about this rank, and checks whether the ranks of the job reach each other: keys,\n"
	"gathers and barriers with known contents. aprun starts it on the nodes; alone it is a job of one.\n"
	"\n"
	"  -h, --help              this text\n"
	"  -V, --version           prints the version\n"
	"\n"
	"Environment: what aprun sets for programs over libpmi; PMI_DEBUG=1 tells more about failures.\n"
	"\n"
	"Exit status: 0 all as it should be, 1 not, 2 no place in a job, or the command line is wrong.\n";

/* Status to end with, or -1: go on. */
static int parse(int argc, char **argv)
{
	static const struct option table[] = {
		{"help", no_argument, NULL, 'h'}, {"version", no_argument, NULL, 'V'}, {NULL, 0, NULL, 0}};
	int letter;

	opterr = 0;
	letter = getopt_long(argc, argv, "hV", table, NULL);
	if (letter == 'h')
		fputs(help_text, stdout);
	else if (letter == 'V')
		printf("pmi-info (OpenGNI) %s\n", OPENGNI_VERSION);
	else if (letter != -1 || optind < argc) {
		fprintf(stderr, "pmi-info: '%s' is not an option; see --help\n", argv[letter == -1 ? optind : 1]);
		return 2;
	}
	return letter == -1 ? -1 : 0;
}

/* What the program ends with: output that is lost, as on a full disk, is a failure. */
static int finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fputs("pmi-info: the output cannot be written\n", stderr);
	return status ? status : 1;
}

int main(int argc, char **argv)
{
	int spawned, appnum, rc = parse(argc, argv);

	if (rc >= 0)
		return finish(rc);
	rc = PMI2_Init(&spawned, &size, &rank, &appnum);
	if (rc) {
		fprintf(stderr, "pmi-info: PMI2_Init: code %d (PMI_DEBUG=1 says more)\n", rc);
		return 2;
	}
	show();
	if (check_keys() || check_gather())
		return 1;
	rc = PMI_Barrier();
	if (rc)
		return bad("PMI_Barrier", rc);
	rc = PMI2_Finalize();
	return finish(rc ? bad("PMI2_Finalize", rc) : 0);
}
