// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions of krca. For each node a session keeps the events that were not delivered yet, which are
 * at most one of going down and one of coming up. So a slow reader does no harm.
 */
#define pr_fmt(fmt) "krca: " fmt

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "aries_regs.h"
#include "krca.h"

#define KRCA_CODES 3 /* ec_node_available and the following codes */

/**
 * struct krca_said - an event
 * @code: ec_*
 * @state: RS_CS_* of the node
 */
struct krca_said {
	rs_event_code_t code;
	rs_state_t state;
};

/**
 * struct krca_untold - events of a node that a session has not delivered yet
 * @link: in krca_session.untold if there are any
 * @count: number of events
 * @event: one of going down and one of coming up, oldest first
 */
struct krca_untold {
	struct list_head link;
	unsigned int count;
	struct krca_said event[2];
};

/**
 * struct krca_sub - a subscription
 * @link: in krca_session.subs
 * @ticket: names it
 * @code: ec_*
 */
struct krca_sub {
	struct list_head link;
	rca_ticket_t ticket;
	rs_event_code_t code;
};

/**
 * struct krca_session - a session of a client; protected by krca_lock
 * @link: in krca_sessions; empty after the session was closed
 * @ref: one for the list, one for each waiting thread
 * @ticket: names it
 * @service: service that it is for
 * @pid: process that it belongs to
 * @wq: wait queue for krca_wait_event()
 * @woken: the next wait returns at once
 * @subs: its subscriptions
 * @subscribed: number of subscriptions for each event
 * @untold: nodes with undelivered events, oldest first
 * @node: undelivered events, by node id
 */
struct krca_session {
	struct list_head link;
	struct kref ref;
	krca_ticket_t ticket;
	rca_svc_t service;
	pid_t pid;
	wait_queue_head_t wq;
	bool woken;
	struct list_head subs;
	unsigned int subscribed[KRCA_CODES];
	struct list_head untold;
	struct krca_untold node[ARIES_NODES_MAX];
};

static LIST_HEAD(krca_sessions);
static u32 krca_tickets; /* number of the last ticket given out */

static u32 krca_next_ticket(void)
{
	lockdep_assert_held(&krca_lock);
	if (!++krca_tickets)
		krca_tickets = 1;
	return krca_tickets;
}

static bool krca_is_code(rs_event_code_t code)
{
	return code >= ec_node_available && code < ec_node_available + KRCA_CODES;
}

static unsigned int *krca_subscribed(struct krca_session *s, rs_event_code_t code)
{
	return &s->subscribed[code - ec_node_available];
}

static struct krca_session *krca_find(const krca_ticket_t *ticket)
{
	krca_ticket_t nr = ticket ? READ_ONCE(*ticket) : KRCA_NULL_TICKET;
	struct krca_session *s;

	lockdep_assert_held(&krca_lock);
	list_for_each_entry(s, &krca_sessions, link)
		if (s->ticket == nr)
			return s;
	return NULL;
}

static void krca_release(struct kref *ref)
{
	kvfree(container_of(ref, struct krca_session, ref));
}

/* ---- events ---- */

/* Add a node to the list if it has undelivered events, or remove it if it has none. */
static void krca_settle(struct krca_session *s, struct krca_untold *node)
{
	if (!node->count)
		list_del_init(&node->link);
	else if (list_empty(&node->link))
		list_add_tail(&node->link, &s->untold);
}

/*
 * Events of going down and of coming up alternate. A third event replaces both pending ones: it is
 * of the same kind as the first one, and newer. So a client that was woken up always finds an
 * event.
 */
static void krca_add(struct krca_untold *node, const struct krca_said *event)
{
	unsigned int at = node->count;

	if (at == ARRAY_SIZE(node->event))
		at = 0;
	else if (at && (node->event[at - 1].code == ec_node_available) ==
			       (event->code == ec_node_available))
		at--; /* the same kind again: the session does not subscribe to the other kind */
	node->event[at] = *event;
	node->count = at + 1;
}

/**
 * krca_session_tell() - deliver an event of a node to all sessions
 * @nid: node
 * @code: ec_*
 * @state: RS_CS_*
 *
 * Context: krca_lock held.
 */
void krca_session_tell(rca_nid_t nid, rs_event_code_t code, rs_state_t state)
{
	const struct krca_said event = { .code = code, .state = state };
	struct krca_session *s;

	lockdep_assert_held(&krca_lock);
	list_for_each_entry(s, &krca_sessions, link) {
		if (!*krca_subscribed(s, code))
			continue;
		krca_add(&s->node[nid], &event);
		krca_settle(s, &s->node[nid]);
		wake_up(&s->wq);
	}
}

/* Remove an event of a node. Return: that event. */
static struct krca_said krca_remove(struct krca_session *s, struct krca_untold *node,
				    unsigned int at)
{
	struct krca_said event = node->event[at];

	node->event[at] = node->event[1];
	node->count--;
	krca_settle(s, node);
	return event;
}

static void krca_take(struct krca_session *s, rs_event_t *event)
{
	struct krca_untold *node = list_first_entry(&s->untold, struct krca_untold, link);
	struct krca_said said = krca_remove(s, node, 0);

	event->ev_id = said.code;
	event->ev_gen.svid_node = krca_node(node - s->node, said.state);
}

int krca_get_message(krca_ticket_t *ticket, rs_event_t *event)
{
	struct krca_session *s;
	unsigned long flags;
	int rc = -EINVAL;

	if (!event)
		return -EINVAL;
	*event = (rs_event_t){};
	spin_lock_irqsave(&krca_lock, flags);
	s = krca_find(ticket);
	if (s)
		rc = list_empty(&s->untold) ? -EAGAIN : 0;
	if (!rc)
		krca_take(s, event);
	spin_unlock_irqrestore(&krca_lock, flags);
	return rc;
}
EXPORT_SYMBOL_GPL(krca_get_message);

/* Has a waiting thread a reason to return? @rc receives its return value. */
static bool krca_waited(struct krca_session *s, int *rc)
{
	unsigned long flags;
	bool ready = true;

	spin_lock_irqsave(&krca_lock, flags);
	if (list_empty(&s->link))
		*rc = -EINVAL;
	else if (s->woken)
		*rc = 0;
	else if (!list_empty(&s->untold))
		*rc = 1;
	else
		ready = false;
	if (ready)
		s->woken = false;
	spin_unlock_irqrestore(&krca_lock, flags);
	return ready;
}

int krca_wait_event(krca_ticket_t *ticket)
{
	struct krca_session *s;
	unsigned long flags;
	int rc = 0, interrupted;

	might_sleep();
	spin_lock_irqsave(&krca_lock, flags);
	s = krca_find(ticket);
	if (s)
		kref_get(&s->ref);
	spin_unlock_irqrestore(&krca_lock, flags);
	if (!s)
		return -EINVAL;
	interrupted = wait_event_interruptible(s->wq, krca_waited(s, &rc));
	kref_put(&s->ref, krca_release);
	return interrupted ?: rc;
}
EXPORT_SYMBOL_GPL(krca_wait_event);

int krca_wakeup_wait_event(krca_ticket_t *ticket)
{
	struct krca_session *s;
	unsigned long flags;

	spin_lock_irqsave(&krca_lock, flags);
	s = krca_find(ticket);
	if (s) {
		s->woken = true;
		wake_up(&s->wq);
	}
	spin_unlock_irqrestore(&krca_lock, flags);
	return s ? 0 : -EINVAL;
}
EXPORT_SYMBOL_GPL(krca_wakeup_wait_event);

/* ---- subscriptions ---- */

int krca_subscribe(krca_ticket_t *ticket, rs_event_code_t code, rca_svc_t service,
		   rca_ticket_t *subscription)
{
	struct krca_session *s;
	struct krca_sub *sub;
	unsigned long flags;

	if (!krca_is_code(code) || service != RCA_RX_SVC_ANY || !subscription)
		return -EINVAL;
	sub = kzalloc(sizeof(*sub), GFP_KERNEL);
	if (!sub)
		return -ENOMEM;
	sub->code = code;
	spin_lock_irqsave(&krca_lock, flags);
	s = krca_find(ticket);
	if (s) {
		sub->ticket = krca_next_ticket();
		*subscription = sub->ticket;
		list_add_tail(&sub->link, &s->subs);
		++*krca_subscribed(s, code);
	}
	spin_unlock_irqrestore(&krca_lock, flags);
	if (s)
		return 0;
	kfree(sub);
	return -EINVAL;
}
EXPORT_SYMBOL_GPL(krca_subscribe);

/* The last subscription to @code has ended: drop its undelivered events. */
static void krca_forget(struct krca_session *s, rs_event_code_t code)
{
	unsigned int nid;

	for (nid = 0; nid < ARRAY_SIZE(s->node); nid++) {
		struct krca_untold *node = &s->node[nid];
		unsigned int at = 0;

		while (at < node->count) {
			if (node->event[at].code == code)
				krca_remove(s, node, at);
			else
				at++;
		}
	}
}

static struct krca_sub *krca_sub_take(struct krca_session *s, rca_ticket_t subscription)
{
	struct krca_sub *sub;

	list_for_each_entry(sub, &s->subs, link) {
		if (sub->ticket != subscription)
			continue;
		list_del(&sub->link);
		if (!--*krca_subscribed(s, sub->code))
			krca_forget(s, sub->code);
		return sub;
	}
	return NULL;
}

int krca_unsubscribe(krca_ticket_t *ticket, rca_ticket_t subscription)
{
	struct krca_sub *sub = NULL;
	struct krca_session *s;
	unsigned long flags;

	spin_lock_irqsave(&krca_lock, flags);
	s = krca_find(ticket);
	if (s)
		sub = krca_sub_take(s, subscription);
	spin_unlock_irqrestore(&krca_lock, flags);
	kfree(sub);
	return sub ? 0 : -EINVAL;
}
EXPORT_SYMBOL_GPL(krca_unsubscribe);

/* ---- sessions ---- */

int krca_register(krca_ticket_t *ticket, rca_svc_t service, pid_t pid, int flags)
{
	struct krca_session *s;
	unsigned long irq;
	unsigned int nid;

	if (!ticket || *ticket != KRCA_NULL_TICKET || flags)
		return -EINVAL;
	if (!(service >> RCA_SVC_CLASS_SHIFT) || service == RCA_RX_SVC_ANY)
		return -EINVAL;
	s = kvzalloc(sizeof(*s), GFP_KERNEL);
	if (!s)
		return -ENOMEM;
	kref_init(&s->ref);
	s->service = service;
	s->pid = pid;
	init_waitqueue_head(&s->wq);
	INIT_LIST_HEAD(&s->subs);
	INIT_LIST_HEAD(&s->untold);
	for (nid = 0; nid < ARRAY_SIZE(s->node); nid++)
		INIT_LIST_HEAD(&s->node[nid].link);
	spin_lock_irqsave(&krca_lock, irq);
	s->ticket = krca_next_ticket();
	list_add_tail(&s->link, &krca_sessions);
	WRITE_ONCE(*ticket, s->ticket);
	spin_unlock_irqrestore(&krca_lock, irq);
	return 0;
}
EXPORT_SYMBOL_GPL(krca_register);

static void krca_end(struct krca_session *s)
{
	struct krca_sub *sub, *next;

	list_for_each_entry_safe(sub, next, &s->subs, link)
		kfree(sub);
	wake_up(&s->wq);
	kref_put(&s->ref, krca_release);
}

int krca_unregister(krca_ticket_t *ticket)
{
	struct krca_session *s;
	unsigned long flags;

	spin_lock_irqsave(&krca_lock, flags);
	s = krca_find(ticket);
	if (s) {
		list_del_init(&s->link);
		WRITE_ONCE(*ticket, KRCA_NULL_TICKET);
	}
	spin_unlock_irqrestore(&krca_lock, flags);
	if (!s)
		return -EINVAL;
	krca_end(s);
	return 0;
}
EXPORT_SYMBOL_GPL(krca_unregister);

/**
 * krca_session_end_all() - free sessions that unloaded clients have left behind
 *
 * Context: sleeps; no client is left that could call krca.
 */
void krca_session_end_all(void)
{
	struct krca_session *s, *next;

	list_for_each_entry_safe(s, next, &krca_sessions, link) {
		pr_warn("session %u of service %#x, process %d, was not closed\n", s->ticket,
			s->service, s->pid);
		list_del_init(&s->link);
		krca_end(s);
	}
}
