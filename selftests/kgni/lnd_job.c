// SPDX-License-Identifier: GPL-2.0-only
/* lnd_job suspend|resume: the network is quiesced for kernel clients with the cookie of LNDs, and is there again. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "aries_test.h"

#define LND_COOKIE (1u << 16) /* GNI_JOB_CREATE_COOKIE(GNI_PKEY_LND, 0) */

int main(int argc, char **argv)
{
	struct kgni_suspend arg = { .argsz = sizeof(arg), .cookie = LND_COOKIE,
				    .ptag = ARIES_ANY_PTAG, .timeout_ms = 10000 };
	int rc;

	if (argc != 2 || (strcmp(argv[1], "suspend") && strcmp(argv[1], "resume"))) {
		fprintf(stderr, "usage: lnd_job suspend|resume\n");
		return 2;
	}
	arg.flags = strcmp(argv[1], "resume") ? 0 : KGNI_SUSPEND_RESUME;
	rc = aries_ioctl(aries_open(), KGNI_IOC_SUSPEND, &arg);
	if (rc)
		fprintf(stderr, "%s: %s\n", argv[1], strerror(rc < 0 ? errno : rc));
	return rc ? 1 : 0;
}
