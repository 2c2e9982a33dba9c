/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls of the functions that clients have set for errors and for the end of a quiesce. */
#ifndef KGNI_TELL_H
#define KGNI_TELL_H

#include "kgni.h"

struct gni_err;

/**
 * struct kgni_call - a call that is due
 * @err: subscription whose function is called, NULL for the end of a quiesce
 * @on_error: function of the subscription
 * @on_resume: function of the NIC handle
 * @ms: argument for @on_resume
 */
struct kgni_call {
	struct gni_err *err;
	void (*on_error)(gni_err_handle_t err);
	void (*on_resume)(gni_nic_handle_t nic, uint64_t ms);
	u64 ms;
};

int kgni_tell_start(void);
void kgni_tell_end(void);
void kgni_tell(struct gni_nic *nic);
bool kgni_tell_inside(const struct gni_nic *nic);
void kgni_tell_wait(struct gni_nic *nic, const struct gni_err *err);

/* kgni_tell_work.c */
void kgni_tell_init(struct gni_nic *nic);
void kgni_tell_stop(struct gni_nic *nic);
void kgni_tell_free(struct gni_nic *nic);

#endif
