// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file How operations end: events of block transfers, fences, ids, and the helper that rings what nobody else does.
 */
#include "codes.hpp"
#include "debug.hpp"
#include "instance.hpp"

#include <algorithm>
#include <csignal>
#include <ctime>
#include <sched.h>

namespace dmapp
{

namespace
{

/* Looks in vain before others get the processor. */
constexpr uint32_t kLooks = 256;
constexpr long kNapNs = 1000000;

void yield_at(uint32_t look)
{
	if (look % kLooks == 0)
		(void)sched_yield();
}

} // namespace

void Instance::all_gone()
{
	if (!gone_)
		debug("PE %d: the NIC was reset or removed", job_.pe);
	gone_ = true;
}

void Instance::block_ended(Block *b, uint32_t status)
{
	b->owner->blocks--;
	blocks_out_--;
	if (status != ARIES_ST_OK)
		b->owner->failed(status);
	block_give(b);
}

void Instance::progress()
{
	gni_cq_entry_t event = 0;
	gni_return_t rc;

	while ((rc = GNI_CqGetEvent(cq_, &event)) == GNI_RC_SUCCESS || rc == GNI_RC_TRANSACTION_ERROR) {
		gni_post_descriptor_t *d = nullptr;
		const auto status = static_cast<uint32_t>(GNI_CQ_GET_STATUS(event));

		(void)GNI_GetCompleted(cq_, event, &d);
		if (d == &fence_descriptor_)
			fence_ended(status);
		else if (d)
			block_ended(reinterpret_cast<Block *>(d), status);
	}
	if (rc == GNI_RC_INVALID_STATE || rc == GNI_RC_NO_MATCH)
		all_gone();
}

/* An own place is its target: it is there as long as anybody waits for it. */
void Instance::fence()
{
	if (fence_out_ || gone_)
		return;
	gni_post_descriptor_t &d = fence_descriptor_;
	d = {};
	d.type = GNI_POST_FMA_PUT;
	d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
	d.remote_addr = mine_.own.base;
	d.remote_mem_hndl = mine_.own.handle;
	const gni_return_t rc = ugni_rma_close(endpoint(job_.pe), &d);
	if (rc == GNI_RC_ERROR_RESOURCE)
		return;
	if (rc != GNI_RC_SUCCESS)
		return all_gone();
	fence_out_ = true;
	fence_matters_ = fence_needed_;
	fence_needed_ = false;
	fence_next_++;
}

/*
 * An event also tells failures that the status word has told when the operation was rung. It is news only if something
 * was on its way without an outcome.
 */
void Instance::fence_ended(uint32_t status)
{
	const uint64_t number = fence_next_ - 1;

	fence_out_ = false;
	fences_done_ = number;
	if (status == ARIES_ST_OK || !fence_matters_)
		return;
	for (Pending *p : {&blocking_, &implicit_, &before_flag_}) {
		if (p->told_by(number))
			p->failed(status);
	}
	for (Id &id : ids_) {
		if (id.open && id.pending.told_by(number))
			id.pending.failed(status);
	}
}

/* The next CLOSE would tell a failure again that its call has told, of what comes until then. So it is sent at once. */
void Instance::close_told()
{
	for (uint32_t look = 1; fence_out_ && !gone_; look++) {
		progress();
		yield_at(look);
	}
	const uint64_t number = fence_next_;
	for (uint32_t look = 1; fence_next_ == number && !gone_; look++) {
		progress();
		fence();
		yield_at(look);
	}
}

void Instance::push(const Pending &p)
{
	if (p.fence > fences_done_ && !fence_out_)
		fence();
	progress();
}

void Instance::finish(Pending &p)
{
	if (entry_count_ && batch_owner_ == &p)
		flush();
	for (uint32_t look = 1; !done(p); look++) {
		push(p);
		yield_at(look);
	}
}

/* Not for block transfers, which have no order. What has failed stays with the implicit ones. */
void Instance::words_wait()
{
	if (entry_count_)
		flush();
	for (uint32_t look = 1; implicit_.fence > fences_done_ && !gone_; look++) {
		push(implicit_);
		yield_at(look);
	}
}

dmapp_return_t Instance::outcome_later(Pending &p)
{
	finish(p);
	const uint32_t status = gone_ ? uint32_t{ARIES_ST_DISABLED} : p.status;
	p = {};
	return code_of_status(status);
}

/* ---- Ids ---- */

Instance::Id *Instance::id_take()
{
	if (!ids_free_)
		return nullptr;
	Id *id = &ids_[ids_free_ - 1];
	ids_free_ = id->next;
	id->open = true;
	id->pending = {};
	return id;
}

void Instance::id_give(Id *id)
{
	id->open = false;
	id->generation++;
	id->next = ids_free_;
	ids_free_ = static_cast<uint32_t>(id - ids_.data()) + 1;
}

dmapp_syncid_handle_t Instance::id_handle(const Id *id) const
{
	return uint64_t{id->generation} << 32 | static_cast<uint32_t>(id - ids_.data() + 1);
}

Instance::Id *Instance::find(dmapp_syncid_handle_t handle)
{
	const auto index = static_cast<uint32_t>(handle);

	if (!index || index > ids_.size())
		return nullptr;
	Id *id = &ids_[index - 1];
	return id->open && id->generation == handle >> 32 ? id : nullptr;
}

dmapp_return_t Instance::wait(const dmapp_syncid_handle_t *handle)
{
	Id *id = handle ? find(*handle) : nullptr;

	if (!id)
		return DMAPP_RC_INVALID_PARAM;
	const dmapp_return_t rc = outcome(id->pending);
	id_give(id);
	return rc;
}

dmapp_return_t Instance::test(const dmapp_syncid_handle_t *handle, int *flag)
{
	Id *id = handle && flag ? find(*handle) : nullptr;

	if (!id)
		return DMAPP_RC_INVALID_PARAM;
	/* Who tests again and again leaves the helper no turn. */
	if (entry_count_)
		flush();
	push(id->pending);
	*flag = done(id->pending);
	return *flag ? wait(handle) : DMAPP_RC_SUCCESS;
}

dmapp_return_t Instance::gsync_wait()
{
	return outcome(implicit_);
}

dmapp_return_t Instance::gsync_test(int *flag)
{
	if (!flag)
		return DMAPP_RC_INVALID_PARAM;
	if (entry_count_)
		flush();
	push(implicit_);
	*flag = done(implicit_);
	return *flag ? outcome(implicit_) : DMAPP_RC_SUCCESS;
}

/* ---- Turns, and the helper ---- */

constinit Turn turn;

void Turn::wait()
{
	timespec nap = {0, 1000};
	int before = 0;

	/* No thread ends here: it would go through what lets no exception out. */
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	for (uint32_t look = 1;
	     taken_.load(std::memory_order_relaxed) || taken_.exchange(true, std::memory_order_acquire); look++) {
		if (look < kLooks)
			continue;
		(void)nanosleep(&nap, nullptr);
		nap.tv_nsec = std::min(nap.tv_nsec * 2, kNapNs);
	}
	(void)pthread_setcancelstate(before, nullptr);
}

/*
 * A batch that has begun waits for company; if the program makes no further call, the helper rings it. It sleeps while
 * there is none, and looks once a millisecond while there are.
 */
void Instance::helper_wake()
{
	if (helper_idle_) {
		helper_idle_ = false;
		helper_calls_.fetch_add(1);
		helper_calls_.notify_one();
	} else if (!helper_there_) {
		helper_start();
	}
}

void Instance::helper_start()
{
	sigset_t all, before;

	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	helper_there_ = pthread_create(&helper_, nullptr, helper_main, this) == 0;
	(void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Instance::helper_end()
{
	if (!helper_there_)
		return;
	helper_stop_ = true;
	helper_calls_.fetch_add(1);
	helper_calls_.notify_one();
	(void)pthread_join(helper_, nullptr);
}

void *Instance::helper_main(void *instance)
{
	static_cast<Instance *>(instance)->helper_run();
	return nullptr;
}

void Instance::helper_run()
{
	const timespec nap = {0, kNapNs};
	uint64_t seen = UINT64_MAX;

	for (;;) {
		/* Before the look at the stop: what is called from here on ends the wait below. */
		const uint32_t calls = helper_calls_;

		if (helper_stop_)
			return;
		turn.take();
		if (entry_count_ && seen == batch_number_)
			flush();
		seen = batch_number_;
		const bool idle = !entry_count_;
		helper_idle_ = idle;
		turn.give();
		if (idle)
			helper_calls_.wait(calls);
		else
			(void)nanosleep(&nap, nullptr);
	}
}

} // namespace dmapp
