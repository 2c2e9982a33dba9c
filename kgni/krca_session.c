// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Sessions of krca. Of each node a session keeps what it has not said yet, which is at most one
 * departure and one return: so a reader may be as slow as it likes.
 */
#define pr_fmt(fmt) "krca: " fmt

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "aries_regs.h"
#include "krca.h"

#define KRCA_CODES 3 /* ec_node_available and those behind it */

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
 * struct krca_untold - what a session has not said of a node
 * @link: in krca_session.untold if there is something
 * @count: how many events
 * @event: a departure and a return, oldest first
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
 * struct krca_session - somebody who wants to know; protected by krca_lock
 * @link: in krca_sessions; empty: it was closed
 * @ref: one of the list's, one of each caller's
 * @ticket: names it
 * @service: whose it is
 * @pid: the same
 * @wq: who waits
 * @woken: the next wait ends at once
 * @subs: what it wants to know
 * @subscribed: how many of @subs are for each event
 * @untold: nodes of which there is something to say, oldest first
 * @node: by node id
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
static u32 krca_tickets; /* given out, ever */

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

/* Puts a node where it belongs: into the list if there is something to say of it. */
static void krca_settle(struct krca_session *s, struct krca_untold *node)
{
	if (!node->count)
		list_del_init(&node->link);
	else if (list_empty(&node->link))
		list_add_tail(&node->link, &s->untold);
}

/*
 * Departures and returns take turns. A third one replaces both that wait: it is of the first one's
 * kind, and newer. So whoever was told that there is something finds something.
 */
static void krca_add(struct krca_untold *node, const struct krca_said *event)
{
	unsigned int at = node->count;

	if (at == ARRAY_SIZE(node->event))
		at = 0;
	else if (at && (node->event[at - 1].code == ec_node_available) ==
			       (event->code == ec_node_available))
		at--; /* the other kind is not subscribed to */
	node->event[at] = *event;
	node->count = at + 1;
}

/**
 * krca_session_tell() - something has happened to a node
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

/* Removes an event of a node, and says what it was. */
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

/* Whether a waiter has something to do; @rc gets what it is told. */
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

/* Nobody wants to hear of it any more. */
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
 * krca_session_end_all() - clients that have gone have left these behind
 *
 * Context: sleeps; nobody calls anything any more.
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
