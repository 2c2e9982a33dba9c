/* SPDX-License-Identifier: GPL-2.0-only */
/* Datagrams: the interface for owners. */
#ifndef ARIES_DGRAM_API_H
#define ARIES_DGRAM_API_H

#include "aries_obj.h"

struct poll_table_struct;

/* aries_dgram.c: datagrams */
void aries_dgram_init(struct aries_owner *own);
void aries_dgram_attach(struct aries_owner *own);
void aries_dgram_detach(struct aries_owner *own);
int aries_dgram_post(struct aries_owner *own, struct kgni_dgram_post *arg);
int aries_dgram_cancel(struct aries_owner *own, struct kgni_dgram_cancel *arg);
void aries_dgram_show(struct seq_file *m, struct aries_owner *own);

/* aries_dgtest.c: their results */
int aries_dgram_test(struct aries_owner *own, struct kgni_dgram_test *arg);
int aries_dgram_probe(struct aries_owner *own, struct kgni_dgram_probe *arg);
__poll_t aries_dgram_poll(struct aries_owner *own, struct file *file,
			  struct poll_table_struct *wait);

#endif /* ARIES_DGRAM_API_H */
