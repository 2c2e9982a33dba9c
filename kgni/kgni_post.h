/* SPDX-License-Identifier: GPL-2.0-only */
/* What block transfers and FMA posts share. */
#ifndef KGNI_POST_H
#define KGNI_POST_H

#include "kgni.h"

#define KGNI_EVENT_MODES (GNI_CQMODE_LOCAL_EVENT | GNI_CQMODE_GLOBAL_EVENT)
#define KGNI_CQ_MODES (KGNI_EVENT_MODES | GNI_CQMODE_REMOTE_EVENT)

gni_return_t kgni_post_check(const struct gni_ep *ep, const gni_post_descriptor_t *d);
gni_return_t kgni_post_begin(struct gni_ep *ep, struct gni_cq *cq, gni_post_descriptor_t *d,
			     enum kgni_request_kind kind, u16 *id);

#endif
