/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * krca: which nodes a machine has, where their NICs are, and what becomes of them.
 *
 * The names are those that kernel clients of GNI use. Where sources do not tell a value or a
 * layout it is this project's own, so clients are compiled, not linked, against it. "Any
 * context" is any but NMI.
 */
#ifndef KRCA_LIB_H
#define KRCA_LIB_H

#include <linux/types.h>

#include <rsms/rs_sm_states.h>

/* ---- nodes ---- */

typedef uint32_t rca_nid_t;
typedef uint32_t nic_addr_t;

/**
 * krca_nid_to_nicaddrs() - where the NICs of a node are
 * @nid: node id
 * @numnic: addresses that @nicaddrs has room for
 * @nicaddrs: gets them
 *
 * A node has one NIC, whose address is the node's id.
 *
 * Context: any. Return: addresses found, -ENODEV this node has no NIC, -ENOENT there is no such
 * node, -EINVAL.
 */
int krca_nid_to_nicaddrs(rca_nid_t nid, int numnic, nic_addr_t *nicaddrs);

/**
 * krca_nicaddr_to_nid() - whose a NIC is
 * @nicaddr: its address
 * @nid: gets the node id
 *
 * Context: any. Return: 0, or as krca_nid_to_nicaddrs().
 */
int krca_nicaddr_to_nid(nic_addr_t nicaddr, rca_nid_t *nid);

/**
 * union rs_node - a node
 * @rs_node_flat: in one word; RSN_GET_FLD() takes it apart
 * @rsn_intval: the same
 */
typedef union rs_node {
	uint64_t rs_node_flat;
	uint64_t rsn_intval;
} rs_node_t;

#define RSN_NID_SHIFT 0
#define RSN_NID_MASK 0xfffffull
#define RSN_TYPE_SHIFT 20
#define RSN_TYPE_MASK 0xffull
#define RSN_STATE_SHIFT 28
#define RSN_STATE_MASK 0xffull
#define RSN_IS_SVC_SHIFT 36
#define RSN_IS_SVC_MASK 0x1ull

/* Fields of a node's word: NID, TYPE (enum rs_node_type), STATE (RS_CS_*), IS_SVC (serves others). */
#define RSN_GET_FLD(word, field) (((word) >> RSN_##field##_SHIFT) & RSN_##field##_MASK)
#define RSN_PUT_FLD(field, value) (((uint64_t)(value) & RSN_##field##_MASK) << RSN_##field##_SHIFT)

enum rs_node_type {
	rt_node = 1,
	rt_accel = 2, /* a node with an accelerator; there are none */
};

/**
 * struct rs_node_array - nodes
 * @na_len: how many
 * @na_ids: they, to be given back by kfree()
 */
typedef struct rs_node_array {
	int na_len;
	rs_node_t *na_ids;
} rs_node_array_t;

/**
 * krca_get_sysnodes() - all node ids of the machine
 * @list: gets them, whoever is there; STATE is RS_CS_READY for nodes that are
 *
 * Every node may serve others: IS_SVC is set for all.
 *
 * Context: any. Return: 0; -ENODEV, -ENOMEM, -EINVAL, with an empty @list that kfree() takes.
 */
int krca_get_sysnodes(rs_node_array_t *list);

/* ---- events ---- */

typedef int32_t rs_event_code_t;

enum {
	ec_node_available = 0x101, /* it is there, or is there again */
	ec_node_unavailable = 0x102, /* it was shut down, its driver was unloaded, its NIC was reset */
	ec_node_failed = 0x103, /* it ended without a word */
};

/**
 * struct rs_service_id - whom an event is about
 * @svid_node: the node; its STATE is why it is not there any more, or RS_CS_READY
 * @svid_type: service on the node, 0 for the node itself
 */
typedef struct rs_service_id {
	rs_node_t svid_node;
	uint32_t svid_type;
} rs_service_id_t;

/**
 * struct rs_event - an event
 * @ev_id: ec_*
 * @ev_len: bytes that follow: none
 * @ev_gen: whom it is about
 */
typedef struct rs_event {
	rs_event_code_t ev_id;
	int32_t ev_len;
	rs_service_id_t ev_gen;
} rs_event_t;

/* ---- sessions ---- */

typedef uint32_t krca_ticket_t; /* a session */
typedef uint32_t rca_ticket_t; /* a subscription of it */
typedef uint32_t rca_svc_t; /* a service, by class and number */

#define KRCA_NULL_TICKET 0u

#define RCA_SVC_CLASS_SHIFT 24
#define RCA_MAKE_SERVICE_INDEX(class, number) \
	((rca_svc_t)(((class) << RCA_SVC_CLASS_SHIFT) | (number)))

enum rca_svc_class {
	RCA_SYS_CLASS = 1,
	RCA_IO_CLASS = 2,
	RCA_ADMIN_CLASS = 3,
	RCA_USER_CLASS = 4,
};

#define RCA_SVCTYPE_GNILND RCA_MAKE_SERVICE_INDEX(RCA_IO_CLASS, 9)
#define RCA_RX_SVC_ANY ((rca_svc_t)~0u)

/**
 * krca_register() - open a session
 * @ticket: KRCA_NULL_TICKET; gets the session's
 * @service: for whom, with a class
 * @pid: whose; for whoever debugs this
 * @flags: 0
 *
 * Context: may sleep. Return: 0, -EINVAL, -ENOMEM, -ENOSPC.
 */
int krca_register(krca_ticket_t *ticket, rca_svc_t service, pid_t pid, int flags);

/**
 * krca_unregister() - close a session
 * @ticket: the session's; KRCA_NULL_TICKET afterwards
 *
 * Who waits for it returns; its subscriptions end.
 *
 * Context: may sleep. Return: 0, -EINVAL no such session.
 */
int krca_unregister(krca_ticket_t *ticket);

/**
 * krca_subscribe() - be told of one kind of event from now on
 * @ticket: session
 * @code: ec_*
 * @service: RCA_RX_SVC_ANY: there are events of the machine only
 * @subscription: gets what ends it
 *
 * Nobody is told of the node that he is on.
 *
 * Context: may sleep. Return: 0, -EINVAL no such session, event or service, -ENOMEM.
 */
int krca_subscribe(krca_ticket_t *ticket, rs_event_code_t code, rca_svc_t service,
		   rca_ticket_t *subscription);

/**
 * krca_unsubscribe() - no longer
 * @ticket: session
 * @subscription: from krca_subscribe()
 *
 * Context: may sleep. Return: 0, -EINVAL no such session or subscription.
 */
int krca_unsubscribe(krca_ticket_t *ticket, rca_ticket_t subscription);

/**
 * krca_wait_event() - sleep until there is an event
 * @ticket: session
 *
 * Context: sleeps. Return: 1 there is one, 0 somebody called krca_wakeup_wait_event(),
 * -ERESTARTSYS a signal came, -EINVAL no such session, or it was closed meanwhile.
 */
int krca_wait_event(krca_ticket_t *ticket);

/**
 * krca_wakeup_wait_event() - wake who waits, or lets the next one not wait
 * @ticket: session
 *
 * Context: any. Return: 0, -EINVAL no such session.
 */
int krca_wakeup_wait_event(krca_ticket_t *ticket);

/**
 * krca_get_message() - take an event
 * @ticket: session
 * @event: gets it
 *
 * Nothing piles up however late somebody asks: of each node a session keeps at most two events,
 * a departure and a return. When there is a third one it takes the place of both. So the last
 * event that is told of a node is always true.
 *
 * Context: any. Return: 0, -EAGAIN there is none, -EINVAL no such session.
 */
int krca_get_message(krca_ticket_t *ticket, rs_event_t *event);

/* ---- the blade's controller ---- */

/**
 * send_hb_2_l0() - say that this node lives
 *
 * There is no controller to hear it: others know it from the NIC. Busy threads call it all the
 * same.
 *
 * Context: any.
 */
void send_hb_2_l0(void);

#endif /* KRCA_LIB_H */
