/* SPDX-License-Identifier: GPL-2.0-only */
/* krca.ko: declarations that its files share. */
#ifndef KRCA_H
#define KRCA_H

#include <linux/spinlock.h>

#include "krca_lib.h"

/* Protects the table of nodes, and the sessions with their events. Taken in any context. */
extern spinlock_t krca_lock;

/* krca_session.c */
void krca_session_tell(rca_nid_t nid, rs_event_code_t code, rs_state_t state);
void krca_session_end_all(void);

/* krca_main.c */
rs_node_t krca_node(rca_nid_t nid, rs_state_t state);

#endif /* KRCA_H */
