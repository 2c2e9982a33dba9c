/* SPDX-License-Identifier: GPL-2.0-only */
/* The NICs of this node, and the NIC handles on each. */
#ifndef KGNI_DEV_H
#define KGNI_DEV_H

#include "kgni.h"

int kgni_dev_init(void);
void kgni_dev_exit(void);
gni_return_t kgni_dev_join(struct gni_nic *nic);
void kgni_dev_leave(struct gni_nic *nic);

#endif
