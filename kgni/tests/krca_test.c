// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of krca by a client. Files in krca_test/ in debugfs: "calls" runs tests of all functions
 * when it is read, and says "ok" or what was wrong. "nodes" shows the result of
 * krca_get_sysnodes(). "events" shows the events of a session that the module keeps open. "reading"
 * stops (0) and starts (1) the reader of that session. "unsubscribe" ends one of its subscriptions
 * (0 available, 1 unavailable, 2 failed).
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include "krca_lib.h"

#define RT_SERVICE RCA_MAKE_SERVICE_INDEX(RCA_IO_CLASS, 9)
#define RT_EVENTS 1024
#define RT_WAIT_MS 60000

/* ---- the session that stays open ---- */

static const rs_event_code_t rt_codes[] = { ec_node_available, ec_node_unavailable,
					    ec_node_failed };

static krca_ticket_t rt_ticket;
static rca_ticket_t rt_subs[ARRAY_SIZE(rt_codes)];
static struct task_struct *rt_thread;
static DEFINE_MUTEX(rt_lock); /* protects the following */
static rs_event_t rt_event[RT_EVENTS];
static unsigned int rt_count;
static bool rt_reading = true;

static void rt_take(void)
{
	rs_event_t event;
	int rc;

	mutex_lock(&rt_lock);
	if (rt_reading) {
		rc = krca_get_message(&rt_ticket, &event);
		if (rc)
			pr_err("krca_test: no message where there should be one: %d\n", rc);
		else if (rt_count < RT_EVENTS)
			rt_event[rt_count++] = event;
	}
	mutex_unlock(&rt_lock);
	if (!READ_ONCE(rt_reading))
		msleep(20);
}

static int rt_reader(void *unused)
{
	while (!kthread_should_stop())
		if (krca_wait_event(&rt_ticket) > 0)
			rt_take();
	return 0;
}

static const char *rt_name(rs_event_code_t code)
{
	switch (code) {
	case ec_node_available:
		return "available";
	case ec_node_unavailable:
		return "unavailable";
	case ec_node_failed:
		return "failed";
	default:
		return "?";
	}
}

static int rt_events_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	mutex_lock(&rt_lock);
	for (i = 0; i < rt_count; i++) {
		u64 node = rt_event[i].ev_gen.svid_node.rs_node_flat;

		seq_printf(m, "%s %llu %llu\n", rt_name(rt_event[i].ev_id), RSN_GET_FLD(node, NID),
			   RSN_GET_FLD(node, STATE));
	}
	mutex_unlock(&rt_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rt_events);

static int rt_reading_set(void *data, u64 on)
{
	mutex_lock(&rt_lock);
	rt_reading = on;
	mutex_unlock(&rt_lock);
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(rt_reading_fops, NULL, rt_reading_set, "%llu\n");

static int rt_unsubscribe(void *data, u64 which)
{
	return which < ARRAY_SIZE(rt_subs) ? krca_unsubscribe(&rt_ticket, rt_subs[which]) : -EINVAL;
}
DEFINE_DEBUGFS_ATTRIBUTE(rt_unsubscribe_fops, NULL, rt_unsubscribe, "%llu\n");

static int rt_nodes_show(struct seq_file *m, void *unused)
{
	rs_node_array_t list;
	int i, rc = krca_get_sysnodes(&list);

	if (rc)
		seq_printf(m, "error %d\n", rc);
	for (i = 0; i < list.na_len; i++) {
		u64 node = list.na_ids[i].rs_node_flat;

		seq_printf(m, "%llu %llu\n", RSN_GET_FLD(node, NID), RSN_GET_FLD(node, STATE));
	}
	kfree(list.na_ids);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rt_nodes);

/* ---- all functions ---- */

#define RT_IS(m, call, expected)                                                            \
	do {                                                                                \
		long rt_got = (call);                                                       \
											    \
		if (rt_got != (expected)) {                                                 \
			seq_printf(m, "line %d: %s is %ld\n", __LINE__, #call, rt_got);     \
			return -EIO;                                                        \
		}                                                                           \
	} while (0)

static int rt_sessions(struct seq_file *m)
{
	krca_ticket_t ticket = KRCA_NULL_TICKET, none = KRCA_NULL_TICKET, wrong = ~0u;
	rca_ticket_t sub[2];
	rs_event_t event;

	RT_IS(m, krca_register(NULL, RT_SERVICE, 1, 0), -EINVAL);
	RT_IS(m, krca_register(&ticket, RT_SERVICE, 1, 1), -EINVAL);
	RT_IS(m, krca_register(&ticket, 9, 1, 0), -EINVAL);
	RT_IS(m, krca_register(&ticket, RCA_RX_SVC_ANY, 1, 0), -EINVAL);
	RT_IS(m, ticket, KRCA_NULL_TICKET);
	RT_IS(m, krca_register(&ticket, RT_SERVICE, current->pid, 0), 0);
	RT_IS(m, ticket == KRCA_NULL_TICKET || ticket == rt_ticket, false);
	RT_IS(m, krca_register(&ticket, RT_SERVICE, 1, 0), -EINVAL);
	RT_IS(m, krca_subscribe(&ticket, 77, RCA_RX_SVC_ANY, &sub[0]), -EINVAL);
	RT_IS(m, krca_subscribe(&ticket, ec_node_failed, RT_SERVICE, &sub[0]), -EINVAL);
	RT_IS(m, krca_subscribe(&ticket, ec_node_failed, RCA_RX_SVC_ANY, NULL), -EINVAL);
	RT_IS(m, krca_subscribe(&none, ec_node_failed, RCA_RX_SVC_ANY, &sub[0]), -EINVAL);
	RT_IS(m, krca_subscribe(&ticket, ec_node_failed, RCA_RX_SVC_ANY, &sub[0]), 0);
	RT_IS(m, krca_subscribe(&ticket, ec_node_failed, RCA_RX_SVC_ANY, &sub[1]), 0);
	RT_IS(m, sub[0] == sub[1], false);
	RT_IS(m, krca_get_message(&ticket, NULL), -EINVAL);
	RT_IS(m, krca_get_message(&ticket, &event), -EAGAIN);
	RT_IS(m, krca_get_message(&none, &event), -EINVAL);
	RT_IS(m, krca_get_message(NULL, &event), -EINVAL);
	RT_IS(m, krca_unsubscribe(&ticket, sub[0]), 0);
	RT_IS(m, krca_unsubscribe(&ticket, sub[0]), -EINVAL);
	RT_IS(m, krca_unsubscribe(&none, sub[1]), -EINVAL);
	RT_IS(m, krca_wakeup_wait_event(&wrong), -EINVAL);
	RT_IS(m, krca_wait_event(&wrong), -EINVAL);
	RT_IS(m, krca_unregister(&wrong), -EINVAL);
	RT_IS(m, krca_unregister(&ticket), 0);
	RT_IS(m, ticket, KRCA_NULL_TICKET);
	RT_IS(m, krca_unregister(&ticket), -EINVAL);
	return 0;
}

struct rt_waiter {
	krca_ticket_t ticket; /* a copy: the original changes when the session is closed */
	int rc;
	struct completion done;
};

static int rt_wait(void *arg)
{
	struct rt_waiter *w = arg;

	allow_signal(SIGUSR1);
	w->rc = krca_wait_event(&w->ticket);
	complete(&w->done);
	/* its creator stops it */
	while (!kthread_should_stop())
		msleep(20);
	return 0;
}

static int rt_wake(krca_ticket_t *ticket, struct task_struct *thread)
{
	return krca_wakeup_wait_event(ticket);
}

static int rt_signal(krca_ticket_t *ticket, struct task_struct *thread)
{
	return send_sig(SIGUSR1, thread, 1);
}

static int rt_close(krca_ticket_t *ticket, struct task_struct *thread)
{
	return krca_unregister(ticket);
}

/* Let a thread wait, and wake it up by @wake. Return: what its wait has returned. */
static int rt_woken(krca_ticket_t ticket,
		    int (*wake)(krca_ticket_t *ticket, struct task_struct *thread))
{
	struct rt_waiter w = { .ticket = ticket, .rc = -ETIMEDOUT };
	struct task_struct *thread;
	int rc;

	init_completion(&w.done);
	thread = kthread_run(rt_wait, &w, "krca_test_wait");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	/* most likely it sleeps now; if not, the wakeup must not be lost either */
	msleep(100);
	rc = completion_done(&w.done) ? -EALREADY : wake(&ticket, thread);
	if (!rc && !wait_for_completion_timeout(&w.done, msecs_to_jiffies(RT_WAIT_MS)))
		rc = -ETIMEDOUT;
	if (rc)
		krca_unregister(&ticket);
	kthread_stop(thread);
	return rc ?: w.rc;
}

static int rt_waiting(struct seq_file *m)
{
	krca_ticket_t ticket = KRCA_NULL_TICKET;

	RT_IS(m, krca_register(&ticket, RT_SERVICE, current->pid, 0), 0);
	/* a wake-up before the wait is not lost, and counts once */
	RT_IS(m, krca_wakeup_wait_event(&ticket), 0);
	RT_IS(m, krca_wakeup_wait_event(&ticket), 0);
	RT_IS(m, krca_wait_event(&ticket), 0);
	RT_IS(m, rt_woken(ticket, rt_wake), 0);
	RT_IS(m, rt_woken(ticket, rt_signal), -ERESTARTSYS);
	RT_IS(m, rt_woken(ticket, rt_wake), 0);
	RT_IS(m, rt_woken(ticket, rt_close), -EINVAL);
	RT_IS(m, krca_unregister(&ticket), -EINVAL);
	return 0;
}

/* Functions that may be called in any context, called with interrupts disabled. */
static int rt_nodes(struct seq_file *m)
{
	rs_node_array_t list;
	unsigned long flags;
	nic_addr_t nic = ~0u;
	rca_nid_t nid = ~0u;
	int i, rc[4], ready = 0;

	local_irq_save(flags);
	rc[0] = krca_get_sysnodes(&list);
	rc[1] = krca_nid_to_nicaddrs(0, 1, &nic);
	rc[2] = krca_nicaddr_to_nid(0, &nid);
	rc[3] = krca_wakeup_wait_event(&rt_ticket);
	send_hb_2_l0();
	local_irq_restore(flags);
	if (rc[0] || rc[1] != 1 || rc[2] || rc[3] || nic || nid) {
		seq_printf(m, "%d %d %d %d, NIC %u, node %u\n", rc[0], rc[1], rc[2], rc[3], nic,
			   nid);
		return -EIO;
	}
	for (i = 0; i < list.na_len; i++) {
		u64 node = list.na_ids[i].rs_node_flat;

		RT_IS(m, RSN_GET_FLD(node, NID), i);
		RT_IS(m, RSN_GET_FLD(node, TYPE), rt_node);
		RT_IS(m, RSN_GET_FLD(node, IS_SVC), 1);
		ready += RS_GET_CS_STATE(RSN_GET_FLD(node, STATE)) == RS_CS_READY;
		RT_IS(m, krca_nid_to_nicaddrs(i, 4, &nic), 1);
		RT_IS(m, krca_nicaddr_to_nid(nic, &nid), 0);
		RT_IS(m, nid, i);
	}
	kfree(list.na_ids);
	RT_IS(m, ready > 0, true);
	RT_IS(m, krca_nid_to_nicaddrs(i, 1, &nic), -ENOENT);
	RT_IS(m, krca_nicaddr_to_nid(i, &nid), -ENOENT);
	RT_IS(m, krca_nid_to_nicaddrs(0, 0, &nic), -EINVAL);
	RT_IS(m, krca_nid_to_nicaddrs(0, 1, NULL), -EINVAL);
	RT_IS(m, krca_nicaddr_to_nid(0, NULL), -EINVAL);
	RT_IS(m, krca_get_sysnodes(NULL), -EINVAL);
	return 0;
}

static int rt_calls_show(struct seq_file *m, void *unused)
{
	if (!rt_sessions(m) && !rt_waiting(m) && !rt_nodes(m))
		seq_puts(m, "ok\n");
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rt_calls);

#ifdef CONFIG_FAULT_INJECTION

/* Open, use and close a session. A refused call must leave nothing behind. */
static int rt_session(void)
{
	krca_ticket_t ticket = KRCA_NULL_TICKET;
	rca_ticket_t sub;
	rs_node_array_t list;
	int rc = krca_register(&ticket, RT_SERVICE, current->pid, 0);

	if (rc)
		return ticket == KRCA_NULL_TICKET ? rc : -EINVAL;
	rc = krca_subscribe(&ticket, ec_node_failed, RCA_RX_SVC_ANY, &sub);
	if (!rc) {
		rc = krca_get_sysnodes(&list);
		kfree(list.na_ids);
		if (krca_unsubscribe(&ticket, sub))
			rc = -EINVAL;
	}
	return krca_unregister(&ticket) ?: rc;
}

/* Let one allocation after the other fail, until none is left. */
static int rt_failing_show(struct seq_file *m, void *unused)
{
	unsigned int n, failed = 0;
	bool reached = true;
	int rc;

	for (n = 1; reached && n < 1000; n++) {
		current->fail_nth = n;
		rc = rt_session();
		reached = !current->fail_nth;
		current->fail_nth = 0;
		failed += rc == -ENOMEM;
		if (rc && (rc != -ENOMEM || !reached)) {
			seq_printf(m, "allocation %u: %d\n", n, rc);
			return 0;
		}
	}
	/*
	 * two allocations can fail, of a subscription and of the list; a session is allocated in
	 * another way
	 */
	if (reached || failed < 2)
		seq_printf(m, "%u of %u refused\n", failed, n);
	else
		seq_puts(m, "ok\n");
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(rt_failing);

#endif

/* ---- the module ---- */

static struct dentry *rt_dir;

static int rt_begin(void)
{
	unsigned int i;
	int rc = krca_register(&rt_ticket, RT_SERVICE, current->pid, 0);

	for (i = 0; !rc && i < ARRAY_SIZE(rt_codes); i++)
		rc = krca_subscribe(&rt_ticket, rt_codes[i], RCA_RX_SVC_ANY, &rt_subs[i]);
	if (rc)
		return rc;
	rt_thread = kthread_run(rt_reader, NULL, "krca_test");
	return PTR_ERR_OR_ZERO(rt_thread);
}

static int __init rt_init(void)
{
	int rc = rt_begin();

	if (rc) {
		krca_unregister(&rt_ticket);
		return rc;
	}
	rt_dir = debugfs_create_dir("krca_test", NULL);
	debugfs_create_file("calls", 0400, rt_dir, NULL, &rt_calls_fops);
	debugfs_create_file("nodes", 0400, rt_dir, NULL, &rt_nodes_fops);
	debugfs_create_file("events", 0400, rt_dir, NULL, &rt_events_fops);
#ifdef CONFIG_FAULT_INJECTION
	debugfs_create_file("failing", 0400, rt_dir, NULL, &rt_failing_fops);
#endif
	debugfs_create_file("reading", 0200, rt_dir, NULL, &rt_reading_fops);
	debugfs_create_file("unsubscribe", 0200, rt_dir, NULL, &rt_unsubscribe_fops);
	return 0;
}
module_init(rt_init);

/* Exit like an LND: stop the sleeping thread first. */
static void __exit rt_exit(void)
{
	unsigned int i;

	debugfs_remove_recursive(rt_dir);
	WRITE_ONCE(rt_reading, true);
	krca_wakeup_wait_event(&rt_ticket);
	kthread_stop(rt_thread);
	for (i = 0; i < ARRAY_SIZE(rt_subs); i++)
		krca_unsubscribe(&rt_ticket, rt_subs[i]);
	krca_unregister(&rt_ticket);
}
module_exit(rt_exit);

MODULE_DESCRIPTION("Tests of krca");
MODULE_LICENSE("GPL");
