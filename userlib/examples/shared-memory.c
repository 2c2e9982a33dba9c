/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * DMAPP: memory that all PEs of a job share without a handle sent. Each PE puts a line into the symmetric heap of the
 * next one, and gets what the one before it has as static data. Any number of PEs on any number of nodes.
 */
#include <dmapp.h>
#include <pmi.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 64 };

static char self[LINE]; /* at the same place in all PEs */
static dmapp_jobinfo_t job;

#define MUST(call) must(call, #call)
static void must(int rc, const char *call)
{
	const char *text = "";

	if (!rc)
		return;
	dmapp_explain_error((dmapp_return_t)rc, &text);
	fprintf(stderr, "shared-memory: PE %d: %s: code %d, %s\n", job.pe, call, rc, text);
	PMI_Abort(1, call);
}

int main(void)
{
	char line[LINE], got[LINE], wanted[LINE];
	dmapp_pe_t next, before;
	dmapp_syncid_handle_t id;
	char *mailbox;

	MUST(dmapp_init(NULL, NULL));
	MUST(dmapp_get_jobinfo(&job));
	next = (job.pe + 1) % job.npes;
	before = (job.pe + job.npes - 1) % job.npes;
	snprintf(self, LINE, "I am PE %d", job.pe);
	mailbox = dmapp_sheap_malloc(LINE);
	must(!mailbox, "no room in the symmetric heap");
	MUST(PMI_Barrier()); /* all have their memory ready */

	snprintf(line, LINE, "PE %d was here", job.pe);
	MUST(dmapp_put_nb(mailbox, &job.sheap_seg, next, line, LINE / 8, DMAPP_QW, &id));
	MUST(dmapp_get(got, self, &job.data_seg, before, LINE / 8, DMAPP_QW));
	MUST(dmapp_syncid_wait(&id));
	MUST(PMI_Barrier()); /* all puts are complete */

	snprintf(wanted, LINE, "I am PE %d", before);
	must(strcmp(got, wanted), "wrong bytes from static data");
	snprintf(wanted, LINE, "PE %d was here", before);
	must(strcmp(mailbox, wanted), "wrong bytes in the mailbox");
	printf("PE %d of %d: \"%s\", \"%s\"\n", job.pe, job.npes, mailbox, got);
	MUST(PMI_Barrier()); /* nobody needs this PE's memory any more */
	dmapp_sheap_free(mailbox);
	MUST(dmapp_finalize());
	return 0;
}
