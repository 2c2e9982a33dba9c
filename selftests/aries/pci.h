/* SPDX-License-Identifier: GPL-2.0-only */
/* The NIC's PCI function, as root takes it away and gives it back. */
#ifndef PCI_H
#define PCI_H

#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>

#include "aries_test.h"

#define PCI_DRIVER "/sys/bus/pci/drivers/aries/"

/* PCI address of the NIC, like 0000:01:00.0; empty if there is none. */
static inline void pci_address(char *out, size_t size)
{
	char path[PATH_MAX] = "";

	if (!realpath(ARIES_SYSFS "device", path))
		path[0] = '\0';
	snprintf(out, size, "%s", basename(path));
}

/* Waits until the device node is there, or is not. */
static inline int pci_wait_for_node(int there)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	int i;

	for (i = 0; i < 6000; i++) {
		if ((access(ARIES_NODE, F_OK) == 0) == there)
			return 0;
		nanosleep(&pause, NULL);
	}
	return ETIMEDOUT;
}

#endif /* PCI_H */
