// SPDX-License-Identifier: GPL-2.0-only
/* Error events, and the function that is called when a quiesce has ended. */
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "kgni_err.h"
#include "kgni_handle.h"
#include "kgni_tell.h"
#include "uapi/kgni_abi.h"

/**
 * struct gni_err - a subscription
 * @magic: KGNI_ERR_MAGIC; another value once it is released
 * @nic: NIC handle
 * @mask: GNI_ERRMASK_* of the events that are wanted
 * @entries: size of @ring
 * @first: number of the oldest event there
 * @count: events there
 * @serial: number of matching events so far; a gap shows a reader that events were lost
 * @waiters: number of waiting threads
 * @new_due: number of calls of @new_event that are due
 * @critical_due: the same for @critical
 * @wq: wait queue for the threads, and for the one that destroys the domain
 * @new_event: called for each event that is queued, or NULL
 * @critical: called for events that would kill a user process, or NULL
 * @node: in gni_nic.errs
 * @ring: events
 */
struct gni_err {
	u32 magic;
	struct gni_nic *nic;
	gni_error_mask_t mask;
	u32 entries;
	u32 first;
	u32 count;
	u32 serial;
	u32 waiters;
	u32 new_due;
	u32 critical_due;
	wait_queue_head_t wq;
	void (*new_event)(gni_err_handle_t err);
	void (*critical)(gni_err_handle_t err);
	struct list_head node;
	gni_error_event_t ring[];
};

static bool kgni_err_valid(const struct gni_err *err)
{
	return kgni_handle_valid(err, KGNI_ERR_MAGIC);
}

/* gni_subscribe_errors() - subscribe to error events, see gni_pub.h. Context: sleeps. */
gni_return_t gni_subscribe_errors(gni_nic_handle_t nic_handle, gni_error_mask_t mask,
				  uint32_t EEQ_size, void (*EQ_new_event)(gni_err_handle_t),
				  void (*app_crit_err)(gni_err_handle_t),
				  gni_err_handle_t *err_handle)
{
	unsigned long flags;
	struct gni_err *err;

	might_sleep();
	if (!kgni_nic_valid(nic_handle) || !err_handle ||
	    EEQ_size > KGNI_ERR_ENTRIES_MAX)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)nic_handle, EEQ_size);
	err = kvzalloc(struct_size(err, ring, EEQ_size), GFP_KERNEL);
	if (!err || kgni_handle_add(err)) {
		kvfree(err);
		return kgni_refuse(GNI_RC_ERROR_RESOURCE, ENOMEM, EEQ_size);
	}
	err->nic = nic_handle;
	err->mask = mask;
	err->entries = EEQ_size;
	err->new_event = EQ_new_event;
	err->critical = app_crit_err;
	init_waitqueue_head(&err->wq);
	err->magic = KGNI_ERR_MAGIC;
	spin_lock_irqsave(&nic_handle->lock, flags);
	list_add_tail(&err->node, &nic_handle->errs);
	spin_unlock_irqrestore(&nic_handle->lock, flags);
	*err_handle = err;
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_subscribe_errors);

/* gni_release_errors() - end a subscription, see gni_pub.h. Context: sleeps. */
gni_return_t gni_release_errors(gni_err_handle_t err_handle)
{
	struct gni_nic *nic;
	unsigned long flags;
	bool busy;

	might_sleep();
	if (!kgni_err_valid(err_handle))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)err_handle);
	nic = err_handle->nic;
	spin_lock_irqsave(&nic->lock, flags);
	busy = err_handle->waiters;
	if (!busy) {
		list_del(&err_handle->node);
		err_handle->magic = 0;
	}
	spin_unlock_irqrestore(&nic->lock, flags);
	if (busy)
		return kgni_refuse(GNI_RC_NOT_DONE, EBUSY);
	kgni_handle_del(err_handle);
	kgni_tell_wait(nic, err_handle);
	kvfree(err_handle);
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_release_errors);

/**
 * kgni_err_tell() - the NIC has reported an error
 * @nic: NIC handle
 * @event: the report; its serial number is ignored
 *
 * Context: any; gni_nic.lock held.
 */
void kgni_err_tell(struct gni_nic *nic, const gni_error_event_t *event)
{
	struct gni_err *err;

	list_for_each_entry(err, &nic->errs, node) {
		gni_error_event_t *slot;

		if (!(err->mask & event->error_category))
			continue;
		err->serial++;
		if (err->count < err->entries) {
			slot = &err->ring[(err->first + err->count++) % err->entries];
			*slot = *event;
			slot->serial_number = err->serial;
			wake_up_all(&err->wq);
			err->new_due += !!err->new_event;
		}
		if ((event->error_category & GNI_ERRMASK_CRITICAL) && err->critical)
			err->critical_due++;
		if (err->new_due || err->critical_due)
			kgni_tell(nic);
	}
}

/**
 * kgni_err_due() - take the next call of a function that is due for an error
 * @nic: NIC handle
 * @call: receives the subscription and its function
 *
 * Context: any; gni_nic.lock held. Return: whether a call is due.
 */
bool kgni_err_due(struct gni_nic *nic, struct kgni_call *call)
{
	struct gni_err *err;

	list_for_each_entry(err, &nic->errs, node) {
		if (!err->new_due && !err->critical_due)
			continue;
		call->err = err;
		if (err->new_due) {
			err->new_due--;
			call->on_error = err->new_event;
		} else {
			err->critical_due--;
			call->on_error = err->critical;
		}
		return true;
	}
	return false;
}

/** kgni_err_wake() - let waits look whether they are over. Context: any; gni_nic.lock held. */
void kgni_err_wake(struct gni_nic *nic)
{
	struct gni_err *err;

	list_for_each_entry(err, &nic->errs, node)
		wake_up_all(&err->wq);
}

/*
 * kgni_err_gone() - report a reset or removal as critical to all, and end all waits
 *
 * Context: any; gni_nic.lock held, gni_nic.gone set.
 */
void kgni_err_gone(struct gni_nic *nic)
{
	struct gni_err *err;

	list_for_each_entry(err, &nic->errs, node) {
		wake_up_all(&err->wq);
		if (err->critical) {
			err->critical_due++;
			kgni_tell(nic);
		}
	}
}

/* The lock makes sure that a thread which no longer waits has also released it. */
static bool kgni_err_waited(struct gni_err *err)
{
	unsigned long flags;
	bool waited;

	spin_lock_irqsave(&err->nic->lock, flags);
	waited = err->waiters;
	spin_unlock_irqrestore(&err->nic->lock, flags);
	return waited;
}

/*
 * kgni_err_close() - free subscriptions that the client has not released
 *
 * Threads that wait for events of one return first. Context: sleeps; after kgni_tell_stop().
 */
void kgni_err_close(struct gni_nic *nic)
{
	struct gni_err *err, *next;
	unsigned long flags;

	list_for_each_entry_safe(err, next, &nic->errs, node) {
		spin_lock_irqsave(&nic->lock, flags);
		list_del(&err->node);
		err->magic = 0;
		wake_up_all(&err->wq);
		spin_unlock_irqrestore(&nic->lock, flags);
		wait_event(err->wq, !kgni_err_waited(err));
		kgni_handle_del(err);
		kvfree(err);
	}
}

/* gni_get_error_mask() - get the event mask, see gni_pub.h. Context: any. */
gni_return_t gni_get_error_mask(gni_err_handle_t err_handle, gni_error_mask_t *mask)
{
	if (!kgni_err_valid(err_handle) || !mask)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)err_handle);
	*mask = READ_ONCE(err_handle->mask);
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_get_error_mask);

/* gni_set_error_mask() - change the event mask, see gni_pub.h. Context: any. */
gni_return_t gni_set_error_mask(gni_err_handle_t err_handle, gni_error_mask_t mask_in,
				gni_error_mask_t *mask_out)
{
	unsigned long flags;

	if (!kgni_err_valid(err_handle) || !mask_out)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)err_handle);
	spin_lock_irqsave(&err_handle->nic->lock, flags);
	*mask_out = err_handle->mask;
	err_handle->mask = mask_in;
	spin_unlock_irqrestore(&err_handle->nic->lock, flags);
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_set_error_mask);

/*
 * gni_set_error_ptag() - choose the domain whose events are reported, see gni_pub.h
 *
 * A client gets events of its own domain, and events that belong to none. It may not see those of
 * other domains.
 * Context: any.
 */
gni_return_t gni_set_error_ptag(gni_err_handle_t err_handle, uint8_t ptag)
{
	if (!kgni_err_valid(err_handle))
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)err_handle);
	if (ptag && ptag != aries_owner_ptag(err_handle->nic->own))
		return kgni_refuse(GNI_RC_PERMISSION_ERROR, EPERM, ptag);
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_set_error_ptag);

static u32 kgni_err_take(struct gni_err *err, gni_error_event_t *events, u32 size)
{
	unsigned long flags;
	u32 n;

	spin_lock_irqsave(&err->nic->lock, flags);
	for (n = 0; n < size && err->count; n++, err->count--)
		events[n] = err->ring[err->first++ % err->entries];
	spin_unlock_irqrestore(&err->nic->lock, flags);
	return n;
}

/* gni_get_error_event() - take the next event, see gni_pub.h. Context: any. */
gni_return_t gni_get_error_event(gni_err_handle_t err_handle, gni_error_event_t *event)
{
	if (!kgni_err_valid(err_handle) || !event)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)err_handle);
	return kgni_err_take(err_handle, event, 1) ? GNI_RC_SUCCESS : GNI_RC_NOT_DONE;
}
EXPORT_SYMBOL_GPL(gni_get_error_event);

/* Add to the number of waiting threads. */
static void kgni_err_wait(struct gni_err *err, int waiters)
{
	unsigned long flags;

	spin_lock_irqsave(&err->nic->lock, flags);
	err->waiters += waiters;
	if (err->nic->closing && !err->waiters)
		wake_up_all(&err->wq);
	spin_unlock_irqrestore(&err->nic->lock, flags);
}

/* No event will come any more. */
static bool kgni_err_over(const struct gni_err *err)
{
	return READ_ONCE(err->nic->closing) || READ_ONCE(err->nic->gone);
}

/*
 * gni_wait_error_events() - wait for events, see gni_pub.h
 *
 * Waits for the first event without a time limit, and for further ones until @timeout. Context:
 * sleeps.
 */
gni_return_t gni_wait_error_events(gni_err_handle_t err_handle, gni_error_event_t *events,
				   uint32_t events_size, uint32_t timeout, uint32_t *num_events)
{
	struct gni_err *err = err_handle;
	u32 n = 0;
	int rc;

	might_sleep();
	if (!kgni_err_valid(err) || !events || !events_size || !num_events ||
	    !err->entries)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)err, events_size);
	kgni_err_wait(err, 1);
	rc = wait_event_interruptible(err->wq, READ_ONCE(err->count) || kgni_err_over(err));
	if (!rc && timeout)
		wait_event_interruptible_timeout(err->wq,
						 READ_ONCE(err->count) >= events_size ||
						 kgni_err_over(err), msecs_to_jiffies(timeout));
	n = kgni_err_take(err, events, events_size);
	kgni_err_wait(err, -1);
	if (!n)
		return GNI_RC_NOT_DONE;
	*num_events = n;
	return timeout && n < events_size ? GNI_RC_TIMEOUT : GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_wait_error_events);

/*
 * gni_set_quiesce_callback() - set a callback for the end of a quiesce, see gni_pub.h. Context:
 * any.
 */
gni_return_t gni_set_quiesce_callback(gni_nic_handle_t nic_hndl,
				      void (*qsce_func)(gni_nic_handle_t, uint64_t))
{
	unsigned long flags;
	bool other;

	if (!kgni_nic_valid(nic_hndl) || !qsce_func)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, (uintptr_t)nic_hndl);
	spin_lock_irqsave(&nic_hndl->lock, flags);
	other = nic_hndl->quiet_end;
	if (!other)
		nic_hndl->quiet_end = qsce_func;
	spin_unlock_irqrestore(&nic_hndl->lock, flags);
	return other ? kgni_refuse(GNI_RC_INVALID_STATE, EEXIST) : GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_set_quiesce_callback);

/* gni_get_quiesce_status() - is the NIC handle quiesced, see gni_pub.h. Context: any. */
uint32_t gni_get_quiesce_status(gni_nic_handle_t nic_hndl)
{
	return kgni_nic_valid(nic_hndl) && READ_ONCE(nic_hndl->quiet);
}
EXPORT_SYMBOL_GPL(gni_get_quiesce_status);
