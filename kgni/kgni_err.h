/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/* Delivery of error events to subscribers; gni_nic.lock is held. */
#ifndef KGNI_ERR_H
#define KGNI_ERR_H

#include "kgni.h"

void kgni_err_tell(struct gni_nic *nic, const gni_error_event_t *event);
void kgni_err_gone(struct gni_nic *nic);
void kgni_err_close(struct gni_nic *nic);

#endif
