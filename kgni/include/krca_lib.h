/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * krca: the nodes of a machine, the addresses of their NICs, and events when nodes come or go.
 *
 * The names are those that kernel clients of GNI use. Values and layouts that public sources do not
 * tell are this project's own, so clients must be compiled against this header; binaries built
 * elsewhere do not work. "Any context" means any context but NMI.
 */
#ifndef KRCA_LIB_H
#define KRCA_LIB_H

#include <linux/types.h>

#include <rsms/rs_sm_states.h>

/* ---- nodes ---- */

typedef uint32_t rca_nid_t;
typedef uint32_t nic_addr_t;

/**
 * krca_nid_to_nicaddrs() - look up the addresses of a node's NICs
 * @nid: node id
 * @numnic: number of addresses that @nicaddrs has space for
 * @nicaddrs: receives the addresses
 *
 * A node has one NIC, whose address is the node's id.
 *
 * Context: any. Return: number of addresses found; -ENODEV if this node has no NIC, -ENOENT if
 * there is no such node, -EINVAL.
 */
int krca_nid_to_nicaddrs(rca_nid_t nid, int numnic, nic_addr_t *nicaddrs);

/**
 * krca_nicaddr_to_nid() - look up the node of a NIC
 * @nicaddr: its address
 * @nid: receives the node id
 *
 * Context: any. Return: 0, or as krca_nid_to_nicaddrs().
 */
int krca_nicaddr_to_nid(nic_addr_t nicaddr, rca_nid_t *nid);

/**
 * union rs_node - a node
 * @rs_node_flat: all fields in one word, to be read by RSN_GET_FLD()
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

/*
 * Fields of a node's word: NID, TYPE (enum rs_node_type), STATE (RS_CS_*), IS_SVC (the node
 * provides services).
 */
#define RSN_GET_FLD(word, field) (((word) >> RSN_##field##_SHIFT) & RSN_##field##_MASK)
#define RSN_PUT_FLD(field, value) (((uint64_t)(value) & RSN_##field##_MASK) << RSN_##field##_SHIFT)

enum rs_node_type {
	rt_node = 1,
	rt_accel = 2, /* a node with an accelerator; never used */
};

/**
 * struct rs_node_array - nodes
 * @na_len: number of nodes
 * @na_ids: the nodes; the caller frees them by kfree()
 */
typedef struct rs_node_array {
	int na_len;
	rs_node_t *na_ids;
} rs_node_array_t;

/**
 * krca_get_sysnodes() - list all nodes of the machine
 * @list: receives all nodes, present or not; STATE is RS_CS_READY for those that are present
 *
 * Every node may provide services, so IS_SVC is set for all.
 *
 * Context: any. Return: 0; -ENODEV, -ENOMEM, -EINVAL, each with an empty @list that may be passed
 * to kfree() as well.
 */
int krca_get_sysnodes(rs_node_array_t *list);

/* ---- events ---- */

typedef int32_t rs_event_code_t;

enum {
	ec_node_available = 0x101, /* the node has come up, perhaps again */
	ec_node_unavailable = 0x102, /* shut down, driver unloaded, or NIC reset */
	ec_node_failed = 0x103, /* it died without shutting down */
};

/**
 * struct rs_service_id - the subject of an event
 * @svid_node: the node; its STATE is RS_CS_READY, or tells why the node is down
 * @svid_type: service on the node, 0 for the node itself
 */
typedef struct rs_service_id {
	rs_node_t svid_node;
	uint32_t svid_type;
} rs_service_id_t;

/**
 * struct rs_event - an event
 * @ev_id: ec_*
 * @ev_len: bytes that follow: always 0
 * @ev_gen: the subject of the event
 */
typedef struct rs_event {
	rs_event_code_t ev_id;
	int32_t ev_len;
	rs_service_id_t ev_gen;
} rs_event_t;

/* ---- sessions ---- */

typedef uint32_t krca_ticket_t; /* a session */
typedef uint32_t rca_ticket_t; /* a subscription of a session */
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
 * @ticket: must be KRCA_NULL_TICKET; receives the ticket of the session
 * @service: service that the session is for, with a class
 * @pid: process that it belongs to, for debugging only
 * @flags: 0
 *
 * Context: may sleep. Return: 0, -EINVAL, -ENOMEM, -ENOSPC.
 */
int krca_register(krca_ticket_t *ticket, rca_svc_t service, pid_t pid, int flags);

/**
 * krca_unregister() - close a session
 * @ticket: ticket of the session; KRCA_NULL_TICKET afterwards
 *
 * Threads that wait on the session return. Its subscriptions end.
 *
 * Context: may sleep. Return: 0, -EINVAL no such session.
 */
int krca_unregister(krca_ticket_t *ticket);

/**
 * krca_subscribe() - subscribe to one kind of event
 * @ticket: session
 * @code: ec_*
 * @service: must be RCA_RX_SVC_ANY, because services have no events of their own
 * @subscription: receives the ticket of the subscription, for krca_unsubscribe()
 *
 * There are no events about the own node.
 *
 * Context: may sleep. Return: 0, -EINVAL no such session, event or service, -ENOMEM.
 */
int krca_subscribe(krca_ticket_t *ticket, rs_event_code_t code, rca_svc_t service,
		   rca_ticket_t *subscription);

/**
 * krca_unsubscribe() - end a subscription
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
 * Context: sleeps. Return: 1 if there is an event, 0 if krca_wakeup_wait_event() was called,
 * -ERESTARTSYS if a signal arrived, -EINVAL if there is no such session or it was closed in the
 * meantime.
 */
int krca_wait_event(krca_ticket_t *ticket);

/**
 * krca_wakeup_wait_event() - wake up a waiting thread, or make the next wait return at once
 * @ticket: session
 *
 * Context: any. Return: 0, -EINVAL no such session.
 */
int krca_wakeup_wait_event(krca_ticket_t *ticket);

/**
 * krca_get_message() - take the next event
 * @ticket: session
 * @event: receives it
 *
 * Events do not pile up, however late a client asks. A session keeps at most two events of each
 * node, one of going down and one of coming up. A third event replaces both. So the last event that
 * is delivered about a node always tells its current state.
 *
 * Context: any. Return: 0, -EAGAIN there is none, -EINVAL no such session.
 */
int krca_get_message(krca_ticket_t *ticket, rs_event_t *event);

/* ---- the blade's controller ---- */

/**
 * send_hb_2_l0() - send a heartbeat of this node to the blade controller
 *
 * This does nothing, because there is no controller: other nodes learn from the NIC that this node
 * is alive. It exists because busy threads of clients call it.
 *
 * Context: any.
 */
void send_hb_2_l0(void);

#endif /* KRCA_LIB_H */
