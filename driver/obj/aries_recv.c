// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receives for channel sends. A process posts parts of its registrations as receives. The NIC uses
 * each for one message of the domain to its channel. Sends need no driver, because they are block
 * transfers.
 *
 * The functions take structures in kernel memory and do not access user memory, so clients in the
 * kernel can use them, too.
 *
 * While a job is suspended its receives are revoked from the NIC, and senders get an error that no
 * receive is posted.
 *
 * A revoked receive keeps its number and its buffer until the buffer is not written any more.
 */
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "aries_obj.h"
#include "aries_trace.h"

#define ARIES_RECV_INTERVAL (HZ / 10) /* between two attempts to post a receive */

/**
 * struct aries_recv - a receive of an attachment, protected by aries_owner.lock
 * @node: in aries_owner.recvs, oldest first
 * @mem: registration that contains the buffer
 * @offset: offset of the buffer in @mem
 * @length: its length in bytes
 * @event: data of its event
 * @channel: channel that senders use
 * @nr: number in the NIC
 * @parked: not posted in the NIC: the job is suspended, or a sender still uses its number
 * @leaving: a thread is cancelling it, and waits for senders
 * @kept: after the end of the attachment, until the NIC has released it
 */
struct aries_recv {
	struct list_head node;
	struct aries_region *mem;
	u64 offset;
	u32 length;
	u32 event;
	u16 channel;
	u8 nr;
	bool parked;
	bool leaving;
	struct aries_kept kept;
};

/** struct aries_arrival - state of a receive in the NIC */
struct aries_arrival {
	u32 state;
	u32 bytes;
	u32 pe;
};

static void aries_recv_give(struct aries_owner *own, struct aries_recv *recv)
	__must_hold(&own->lock)
{
	struct aries_dev *ad = own->ad;
	u64 ctl = FIELD_PREP(ARIES_RMT_CTL_VALID_MASK, 1ull) |
		  FIELD_PREP(ARIES_RMT_CTL_PTAG_MASK, (u64)own->dom->ptag) |
		  FIELD_PREP(ARIES_RMT_CTL_CHANNEL_MASK, (u64)recv->channel) |
		  FIELD_PREP(ARIES_RMT_CTL_MDH_MASK, (u64)recv->mem->mdh);

	lockdep_assert_held(&own->lock);
	aries_wr64(ad, ARIES_RMT_OFFSET_N(recv->nr), recv->offset);
	aries_wr32(ad, ARIES_RMT_LENGTH_N(recv->nr), recv->length);
	aries_wr32(ad, ARIES_RMT_EVENT_N(recv->nr), recv->event);
	aries_wr64(ad, ARIES_RMT_CTL_N(recv->nr), ctl);
	/*
	 * the NIC refuses this while a sender may still use the number; aries_recv_work() tries
	 * again
	 */
	recv->parked = !(aries_rd64(ad, ARIES_RMT_CTL_N(recv->nr)) & ARIES_RMT_CTL_VALID_MASK) &&
		       !aries_rd64(ad, ARIES_RMT_STATUS_N(recv->nr));
	if (recv->parked)
		schedule_delayed_work(&ad->recv_work, ARIES_RECV_INTERVAL);
	else
		trace_aries_recv_post(own, recv->nr, recv->channel);
}

/* Read the state of a receive. Context: state_sem and own->lock held. */
static void aries_recv_look(struct aries_owner *own, const struct aries_recv *recv,
			    struct aries_arrival *arrival)
{
	struct aries_dev *ad = own->ad;
	u64 status = recv->parked ? 0 : aries_rd64(ad, ARIES_RMT_STATUS_N(recv->nr));

	*arrival = (struct aries_arrival){ .state = KGNI_RECV_PENDING };
	if (status == ~0ull)
		return;
	if (status & ARIES_RMT_STATUS_BUSY_MASK)
		arrival->state = KGNI_RECV_ARRIVING;
	if (!(status & ARIES_RMT_STATUS_DONE_MASK))
		return;
	arrival->state = KGNI_RECV_DONE;
	arrival->bytes = FIELD_GET(ARIES_RMT_STATUS_BYTES_MASK, status);
	if (aries_ntt_virtual(ad, own->dom, FIELD_GET(ARIES_RMT_STATUS_PE_MASK, status),
			      &arrival->pe))
		arrival->pe = KGNI_NO_PE;
}

/*
 * Take a receive back from the NIC, unless its message has arrived; @arrival tells which. A sender
 * that has matched it before may still be writing, until this revocation has ended.
 */
static void aries_recv_take(struct aries_owner *own, struct aries_recv *recv,
			    struct aries_arrival *arrival)
	__must_hold(&own->lock)
{
	lockdep_assert_held(&own->lock);
	if (!recv->parked)
		aries_wr64(own->ad, ARIES_RMT_CTL_N(recv->nr), 0);
	aries_recv_look(own, recv, arrival);
	if (arrival->state != KGNI_RECV_DONE)
		arrival->state = KGNI_RECV_CANCELLED;
}

static void aries_recv_unlink(struct aries_owner *own, struct aries_recv *recv)
	__must_hold(&own->lock)
{
	lockdep_assert_held(&own->lock);
	list_del(&recv->node);
	own->nrecvs--;
	recv->mem->recvs--;
}

/* Free a receive whose buffer is not written any more. */
static void aries_recv_free(struct aries_owner *own, struct aries_recv *recv)
	__must_hold(&own->lock)
{
	aries_recv_unlink(own, recv);
	aries_pool_put(&own->ad->recvs, recv->nr, own->nr);
	aries_domain_uncharge(own->ad, own->dom, ARIES_RES_RECV, 1);
	kfree(recv);
}

static struct aries_recv *aries_recv_find(struct aries_owner *own, u32 nr)
	__must_hold(&own->lock)
{
	struct aries_recv *recv;

	lockdep_assert_held(&own->lock);
	list_for_each_entry(recv, &own->recvs, node)
		if (recv->nr == nr)
			return recv;
	return NULL;
}

/* Find the registration of a receive, and check that queue and range belong to it. */
static struct aries_region *aries_recv_mem(struct aries_owner *own,
					   const struct kgni_recv_post *arg)
	__must_hold(&own->lock)
{
	struct aries_region *mem = xa_load(&own->mems, arg->mdh);
	struct aries_cq *cq = NULL;
	u64 from, size;

	lockdep_assert_held(&own->lock);
	if (!mem)
		return ERR_PTR(-ENOENT);
	if (arg->cq != KGNI_NO_CQ) {
		cq = aries_cq_find(own, arg->cq);
		if (!cq)
			return ERR_PTR(-ENOENT);
	}
	/* the NIC knows one queue of a memory domain */
	if (mem->cq != cq || !mem->live)
		return ERR_PTR(-EINVAL);
	if (mem->read_only)
		return ERR_PTR(-EACCES);
	from = arg->address - mem->start;
	size = (u64)mem->npages << PAGE_SHIFT;
	if (arg->address < mem->start || from >= size || arg->length > size - from)
		return ERR_PTR(-EINVAL);
	return mem;
}

static int aries_recv_number(struct aries_owner *own)
	__must_hold(&own->lock)
{
	struct aries_dev *ad = own->ad;
	int rc, nr;

	if (own->nrecvs >= KGNI_RECV_LIMIT)
		return -ENOSPC;
	rc = aries_domain_charge(ad, own->dom, ARIES_RES_RECV, 1);
	if (rc)
		return rc;
	nr = aries_pool_get(&ad->recvs, own->nr);
	if (nr < 0)
		aries_domain_uncharge(ad, own->dom, ARIES_RES_RECV, 1);
	return nr;
}

static int aries_recv_add(struct aries_owner *own, struct kgni_recv_post *arg,
			  struct aries_recv *recv)
	__must_hold(&own->lock)
{
	struct aries_region *mem;
	int nr;

	lockdep_assert_held(&own->lock);
	if (!FIELD_GET(ARIES_ID_CAPS_SEND_MASK, own->ad->caps))
		return -EOPNOTSUPP;
	mem = aries_recv_mem(own, arg);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	nr = aries_recv_number(own);
	if (nr < 0)
		return nr;
	recv->mem = mem;
	recv->offset = arg->address & (BIT_ULL(ARIES_OFFSET_BITS) - 1);
	recv->length = arg->length;
	recv->event = arg->event;
	recv->channel = arg->channel;
	recv->nr = nr;
	recv->parked = true;
	mem->recvs++;
	own->nrecvs++;
	list_add_tail(&recv->node, &own->recvs);
	if (!own->suspended)
		aries_recv_give(own, recv);
	arg->receive = nr;
	return 0;
}

/** aries_recv_post() - KGNI_IOC_RECV_POST. Context: sleeps. */
int aries_recv_post(struct aries_owner *own, struct kgni_recv_post *arg)
{
	struct aries_recv *recv;
	int rc;

	if (arg->flags || arg->reserved || !arg->length || arg->channel > U16_MAX)
		return -EINVAL;
	recv = kzalloc(sizeof(*recv), GFP_KERNEL_ACCOUNT);
	if (!recv)
		return -ENOMEM;
	rc = aries_owner_enter(own, true);
	if (!rc) {
		rc = aries_recv_add(own, arg, recv);
		aries_owner_exit(own);
	}
	if (rc)
		kfree(recv);
	return rc;
}

/** aries_recv_test() - KGNI_IOC_RECV_TEST. Context: sleeps. */
int aries_recv_test(struct aries_owner *own, struct kgni_recv_test *arg)
{
	struct aries_arrival arrival;
	struct aries_recv *recv;
	int rc;

	if (arg->flags || arg->reserved)
		return -EINVAL;
	rc = aries_owner_enter(own, true);
	if (rc)
		return rc;
	recv = aries_recv_find(own, arg->receive);
	if (recv && !recv->leaving) {
		aries_recv_look(own, recv, &arrival);
		arg->state = arrival.state;
		arg->bytes = arrival.bytes;
		arg->pe = arrival.pe;
		if (arrival.state == KGNI_RECV_DONE) {
			trace_aries_recv_done(own, recv->nr, recv->channel);
			aries_recv_free(own, recv);
		}
	} else {
		rc = -ENOENT;
	}
	aries_owner_exit(own);
	return rc;
}

/*
 * Return: the invalidation sequence number to wait for, 0 if no sender was writing, or all ones if
 * there is no such receive.
 */
static u64 aries_recv_cancel_begin(struct aries_owner *own, struct kgni_recv_cancel *arg)
	__must_hold(&own->lock)
{
	struct aries_recv *recv = aries_recv_find(own, arg->receive);
	struct aries_arrival arrival;
	u64 seq;

	if (!recv || recv->leaving)
		return ~0ull;
	aries_recv_take(own, recv, &arrival);
	seq = recv->parked || arrival.state == KGNI_RECV_DONE ? 0 : aries_inv_seq(own->ad);
	trace_aries_recv_cancel(own, recv->nr, recv->channel);
	arg->state = arrival.state;
	arg->bytes = arrival.bytes;
	arg->pe = arrival.pe;
	recv->leaving = true;
	return seq;
}

/**
 * aries_recv_cancel() - KGNI_IOC_RECV_CANCEL
 * @own: attachment
 * @arg: request of the caller
 *
 * When this returns 0 the caller owns the buffer again. Until then a sender may still write to it,
 * however long that takes.
 *
 * Context: sleeps, killably. Return: 0, -EINVAL, -ENOENT, -EINTR, or from aries_owner_enter().
 */
int aries_recv_cancel(struct aries_owner *own, struct kgni_recv_cancel *arg)
{
	struct aries_recv *recv;
	u64 seq;
	int rc;

	if (arg->flags || arg->reserved)
		return -EINVAL;
	rc = aries_owner_enter(own, true);
	if (rc)
		return rc;
	seq = aries_recv_cancel_begin(own, arg);
	aries_owner_exit(own);
	if (seq == ~0ull)
		return -ENOENT;
	rc = aries_inv_sleep(own->ad, seq);
	if (rc || aries_owner_enter(own, true))
		return rc;
	/* the number was not reused in the meantime */
	recv = aries_recv_find(own, arg->receive);
	if (recv && recv->leaving)
		aries_recv_free(own, recv);
	aries_owner_exit(own);
	return 0;
}

/**
 * aries_recv_park() - revoke the receives of an attachment until aries_recv_unpark()
 * @own: attachment
 *
 * Receives whose message has arrived stay as they are. A message that was being written has ended
 * when the NIC reports so for the value that aries_inv_seq() returns afterwards.
 *
 * Context: state_sem and own->lock held.
 */
void aries_recv_park(struct aries_owner *own)
	__must_hold(&own->lock)
{
	struct aries_arrival arrival;
	struct aries_recv *recv;

	lockdep_assert_held(&own->lock);
	list_for_each_entry(recv, &own->recvs, node) {
		if (recv->leaving || recv->parked)
			continue;
		aries_recv_take(own, recv, &arrival);
		if (arrival.state == KGNI_RECV_DONE)
			continue;
		recv->parked = true;
		trace_aries_recv_suspend(own, recv->nr, recv->channel);
	}
}

/**
 * aries_recv_unpark() - post the receives that aries_recv_park() revoked or the NIC refused
 * @own: attachment
 *
 * The receives of one file keep their order. Context: state_sem and own->lock held.
 */
void aries_recv_unpark(struct aries_owner *own)
	__must_hold(&own->lock)
{
	struct aries_recv *recv;

	lockdep_assert_held(&own->lock);
	list_for_each_entry(recv, &own->recvs, node)
		if (recv->parked && !recv->leaving)
			aries_recv_give(own, recv);
}

/**
 * aries_recv_work() - post receives that the NIC refused because a sender was still writing
 * @work: aries_dev.recv_work
 *
 * This does not depend on a request of the process: it may be waiting for the event of its receive
 * and nothing else.
 *
 * Context: sleeps.
 */
void aries_recv_work(struct work_struct *work)
{
	struct aries_dev *ad = container_of(work, struct aries_dev, recv_work.work);
	struct aries_owner *own = NULL;

	while ((own = aries_owner_next(ad, own))) {
		if (aries_owner_enter(own, true))
			continue;
		if (!own->suspended)
			aries_recv_unpark(own);
		aries_owner_exit(own);
	}
}

static void aries_recv_free_kept(struct aries_dev *ad, struct aries_kept *kept)
{
	struct aries_recv *recv = container_of(kept, struct aries_recv, kept);

	aries_pool_put_held(&ad->recvs, recv->nr);
	aries_domain_uncharge(ad, kept->dom, ARIES_RES_RECV, 1);
	kfree(recv);
}

/**
 * aries_recv_teardown() - revoke all receives of an attachment
 * @own: attachment; its registrations still exist and are torn down after this
 * @gone: list from aries_kept_take()
 *
 * Context: own->lock held.
 */
void aries_recv_teardown(struct aries_owner *own, struct list_head *gone)
	__must_hold(&own->lock)
{
	struct aries_recv *recv, *next;
	struct aries_arrival arrival;

	lockdep_assert_held(&own->lock);
	list_for_each_entry_safe(recv, next, &own->recvs, node) {
		aries_recv_take(own, recv, &arrival);
		aries_recv_unlink(own, recv);
		aries_pool_hold(&own->ad->recvs, recv->nr, own->nr);
		aries_kept_take(own, gone, &recv->kept, aries_recv_free_kept);
	}
}
