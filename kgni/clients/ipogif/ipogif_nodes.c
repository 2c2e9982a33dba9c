// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which nodes are up, as reported by krca. This saves attempts and waiting, but nothing depends on
 * it: sending to a node that is down fails anyway.
 */
#include <linux/bitmap.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>

#include <krca_lib.h>

#include "ipogif.h"

#define IPOGIF_SERVICE RCA_MAKE_SERVICE_INDEX(RCA_IO_CLASS, 10)

unsigned int ipogif_nodes;
module_param_named(nodes, ipogif_nodes, uint, 0444);
MODULE_PARM_DESC(nodes, "node addresses are below it; 0: as many as krca knows");

static DECLARE_BITMAP(ipogif_there, IPOGIF_CONNS); /* nodes that are up, by NIC address */
static krca_ticket_t ipogif_ticket = KRCA_NULL_TICKET;
static void (*ipogif_changed)(u32 address, bool up);
static bool ipogif_listening;
static DECLARE_COMPLETION(ipogif_listened);

/** ipogif_node_there() - should a node get broadcasts? Context: any. */
bool ipogif_node_there(u32 address)
{
	return address >= IPOGIF_CONNS || test_bit(address, ipogif_there);
}

static void ipogif_node(const rs_node_t *node, rs_event_code_t what)
{
	nic_addr_t address;

	if (krca_nid_to_nicaddrs(RSN_GET_FLD(node->rs_node_flat, NID), 1, &address) != 1)
		return;
	if (what == ec_node_available) {
		if (address < IPOGIF_CONNS)
			set_bit(address, ipogif_there);
		ipogif_changed(address, true);
	} else if (RSN_GET_FLD(node->rs_node_flat, STATE) != RS_CS_READY) {
		if (address < IPOGIF_CONNS)
			clear_bit(address, ipogif_there);
		ipogif_changed(address, false);
	}
}

static int ipogif_listen(void *unused)
{
	rs_event_t event;

	while (READ_ONCE(ipogif_listening)) {
		if (krca_wait_event(&ipogif_ticket) != 1)
			continue;
		while (!krca_get_message(&ipogif_ticket, &event))
			ipogif_node(&event.ev_gen.svid_node, event.ev_id);
	}
	kthread_complete_and_exit(&ipogif_listened, 0);
}

/* List the nodes that are up now. Events report later changes. */
static int ipogif_nodes_list(void)
{
	rs_node_array_t list;
	int rc = krca_get_sysnodes(&list), i;
	unsigned int most = 0;

	for (i = 0; !rc && i < list.na_len; i++) {
		u64 word = list.na_ids[i].rs_node_flat;

		most = max_t(unsigned int, most, RSN_GET_FLD(word, NID) + 1);
		if (RSN_GET_FLD(word, STATE) == RS_CS_READY)
			ipogif_node(&list.na_ids[i], ec_node_available);
	}
	kfree(list.na_ids);
	if (!ipogif_nodes)
		ipogif_nodes = most;
	return rc;
}

/**
 * ipogif_nodes_start() - subscribe to events of nodes
 * @changed: called for each node that is or comes up, or goes down; not in interrupts
 *
 * Context: sleeps. Return: 0 or a negative errno.
 */
int ipogif_nodes_start(void (*changed)(u32 address, bool up))
{
	static const rs_event_code_t codes[] = { ec_node_available, ec_node_unavailable,
						 ec_node_failed };
	struct task_struct *thread;
	rca_ticket_t subscription;
	unsigned int i;
	int rc;

	ipogif_changed = changed;
	rc = krca_register(&ipogif_ticket, IPOGIF_SERVICE, 0, 0);
	if (rc < 0)
		return rc;
	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		rc = krca_subscribe(&ipogif_ticket, codes[i], RCA_RX_SVC_ANY, &subscription);
		if (rc < 0)
			return rc;
	}
	rc = ipogif_nodes_list();
	if (rc)
		return rc;
	ipogif_listening = true;
	thread = kthread_run(ipogif_listen, NULL, "%s-nodes", IPOGIF_NAME);
	if (IS_ERR(thread)) {
		ipogif_listening = false;
		return PTR_ERR(thread);
	}
	return 0;
}

/** ipogif_nodes_stop() - undo ipogif_nodes_start(), even if it has failed. Context: sleeps. */
void ipogif_nodes_stop(void)
{
	if (ipogif_listening) {
		WRITE_ONCE(ipogif_listening, false);
		/* if the thread is not waiting now, its next wait returns at once */
		krca_wakeup_wait_event(&ipogif_ticket);
		wait_for_completion(&ipogif_listened);
	}
	if (ipogif_ticket != KRCA_NULL_TICKET)
		krca_unregister(&ipogif_ticket);
}
