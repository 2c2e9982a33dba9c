/* SPDX-License-Identifier: GPL-2.0-only */
/* Datagram of an endpoint that is destroyed. */
#ifndef KGNI_DGRAM_H
#define KGNI_DGRAM_H

#include "kgni.h"

void kgni_dgram_close(struct gni_ep *ep);

#endif
