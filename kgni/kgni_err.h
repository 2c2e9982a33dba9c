/* SPDX-License-Identifier: GPL-2.0-only */
/* Subscriptions to error events. */
#ifndef KGNI_ERR_H
#define KGNI_ERR_H

#include "kgni.h"

struct kgni_call;

void kgni_err_tell(struct gni_nic *nic, const gni_error_event_t *event);
void kgni_err_gone(struct gni_nic *nic);
void kgni_err_wake(struct gni_nic *nic);
bool kgni_err_due(struct gni_nic *nic, struct kgni_call *call);
void kgni_err_close(struct gni_nic *nic);

#endif
