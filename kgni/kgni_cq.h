/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests and events of a queue. */
#ifndef KGNI_CQ_H
#define KGNI_CQ_H

#include "kgni.h"

/* kgni_cq.c */
int kgni_cq_free(struct gni_cq *cq);

/* kgni_cq_state.c */
u64 kgni_cq_poll(struct gni_cq *cq);
bool kgni_cq_use(struct gni_cq *cq);
void kgni_cq_unuse(struct gni_cq *cq);
bool kgni_cq_register(struct gni_cq *cq);
void kgni_cq_unregister(struct gni_cq *cq);
void kgni_cq_list(struct gni_cq *cq, u16 id);
void kgni_cq_drop_copy(struct kgni_request *r);
void kgni_cq_end(struct gni_cq *cq, u16 id);

/* kgni_cq_request.c */
u16 kgni_cq_request_post(struct gni_ep *ep, struct gni_cq *cq, gni_post_descriptor_t *descr,
			 enum kgni_request_kind kind);
u16 kgni_cq_request_smsg(struct gni_ep *ep, u32 msg_id);
bool kgni_cq_withdraw(struct gni_cq *cq, u16 id);
bool kgni_cq_unsettled(struct gni_cq *cq, u16 id, bool raised);
void kgni_cq_settle(struct gni_cq *cq, u16 id, u8 status);

/* kgni_cq_smsg.c */
void kgni_cq_decide(struct gni_ep *ep, u16 id);
void kgni_cq_keep(struct gni_ep *ep, struct kgni_message *m);
void kgni_cq_doubt(struct gni_ep *ep, struct kgni_message *m);
void kgni_cq_take_lost(struct gni_ep *ep, struct list_head *to);
bool kgni_cq_put_lost(struct gni_ep *ep, struct list_head *from, unsigned long *due);
bool kgni_cq_await(struct gni_cq *cq, u16 id);
bool kgni_cq_no_event(struct gni_cq *cq, u16 id, const struct kgni_message *m);
void kgni_cq_leave(struct gni_ep *ep);
u64 kgni_cq_message(struct gni_cq *cq, u64 entry);

/* kgni_cq_deliver.c */
u64 kgni_cq_next(struct gni_cq *cq);
void kgni_cq_gone(struct gni_cq *cq);
void kgni_cq_flush(struct gni_cq *cq);
void kgni_cq_drop(struct gni_cq *cq);

#endif
