/* SPDX-License-Identifier: GPL-2.0-only */
/* Registrations. */
#ifndef KGNI_HNDL_H
#define KGNI_HNDL_H

#include "kgni.h"

void kgni_mem_close(struct gni_nic *nic);

#endif
