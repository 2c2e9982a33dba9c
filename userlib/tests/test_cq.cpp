// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Queues: reading, waiting, overrun, handlers, order of destruction. */
#include "session.hpp"

#include <cerrno>
#include <vector>

TEST(reading)
{
	Session s;
	gni_cq_entry_t e = 0;

	assert_rc(NOT_DONE, GNI_CqTestEvent(s.cq));
	assert_rc(NOT_DONE, GNI_CqGetEvent(s.cq, &e));
	/* More than once around. */
	for (uint32_t i = 0; i < 200; i++) {
		s.queue().put(fake::entry(0, ARIES_INFO_REMOTE, i, 0, ARIES_SRC_REMOTE));
		assert_rc(SUCCESS, GNI_CqTestEvent(s.cq));
		assert_rc(SUCCESS, GNI_CqTestEvent(s.cq));
		assert_rc(SUCCESS, GNI_CqGetEvent(s.cq, &e));
		assert_int_equal(GNI_CQ_GET_INST_ID(e), i);
		assert_int_equal(s.queue().consumed(), i + 1);
		assert_rc(NOT_DONE, GNI_CqGetEvent(s.cq, &e));
	}
	assert_rc(INVALID_PARAM, GNI_CqGetEvent(s.cq, nullptr));
}

TEST(failed_event)
{
	Session s;
	gni_cq_entry_t e = 0;

	s.queue().put(fake::entry(9, ARIES_INFO_GLOBAL, 5, ARIES_ST_PTAG));
	assert_rc(TRANSACTION_ERROR, GNI_CqGetEvent(s.cq, &e));
	assert_int_equal(GNI_CQ_GET_STATUS(e), ARIES_ST_PTAG);
	gni_post_descriptor_t *d = reinterpret_cast<gni_post_descriptor_t *>(&s);
	assert_rc(DESCRIPTOR_ERROR, GNI_GetCompleted(s.cq, e, &d));
	assert_null(d);
}

/* One ERROR_RESOURCE with the mark, then the queue works again. */
TEST(overrun)
{
	Session s;
	gni_cq_entry_t e = 0;

	s.queue().put(fake::entry(0, ARIES_INFO_REMOTE, 1, 0, ARIES_SRC_REMOTE));
	s.queue().put(ARIES_CQE_OVERRUN | static_cast<uint64_t>(ARIES_SRC_CQ) << ARIES_CQE_SOURCE_SHIFT);
	assert_rc(SUCCESS, GNI_CqGetEvent(s.cq, &e));
	assert_rc(ERROR_RESOURCE, GNI_CqTestEvent(s.cq));
	assert_rc(ERROR_RESOURCE, GNI_CqGetEvent(s.cq, &e));
	assert_true(GNI_CQ_OVERRUN(e));
	assert_rc(NOT_DONE, GNI_CqGetEvent(s.cq, &e));
	s.queue().put(fake::entry(0, ARIES_INFO_REMOTE, 2, 0, ARIES_SRC_REMOTE));
	assert_rc(SUCCESS, GNI_CqGetEvent(s.cq, &e));
}

static void count_calls(gni_cq_entry_t *entry, void *context)
{
	static_cast<std::vector<gni_cq_entry_t> *>(context)->push_back(*entry);
}

TEST(handlers)
{
	Session s;
	std::vector<gni_cq_entry_t> seen;
	gni_cq_handle_t cq = nullptr;
	gni_cq_entry_t e = 0;

	assert_rc(SUCCESS, GNI_CqCreate(s.nic, 8, 0, GNI_CQ_BLOCKING, count_calls, &seen, &cq));
	fake::Queue &q = *s.file().queues.rbegin()->second;
	q.put(fake::entry(0, ARIES_INFO_REMOTE, 1, 0, ARIES_SRC_REMOTE));
	q.put(fake::entry(0, ARIES_INFO_REMOTE, 2, ARIES_ST_MDD, ARIES_SRC_REMOTE));
	q.put(fake::entry(0, ARIES_INFO_REMOTE, 3, 0, ARIES_SRC_REMOTE));
	assert_rc(SUCCESS, GNI_CqTestEvent(cq));
	assert_int_equal(seen.size(), 0);
	assert_rc(SUCCESS, GNI_CqGetEvent(cq, &e));
	assert_int_equal(seen.size(), 1);
	assert_rc(TRANSACTION_ERROR, GNI_CqGetEvent(cq, &e));
	assert_int_equal(seen.size(), 2);
	assert_rc(SUCCESS, GNI_CqWaitEvent(cq, 10, &e));
	assert_int_equal(seen.size(), 3);
	assert_true(seen[2] == e);
}

TEST(waiting)
{
	Session s;
	gni_cq_entry_t e = 0;

	/* An event that is there needs no request. */
	s.queue().put(fake::entry(0, ARIES_INFO_REMOTE, 1, 0, ARIES_SRC_REMOTE));
	assert_rc(SUCCESS, GNI_CqWaitEvent(s.cq, 100, &e));
	assert_int_equal(fake::kernel().waits.size(), 0);
	assert_rc(TIMEOUT, GNI_CqWaitEvent(s.cq, 0, &e));
	assert_int_equal(fake::kernel().waits.size(), 0);

	/* Two signals, then the event: the wait goes on with the time that is left. */
	fake::kernel().on_wait = [&s](kgni_cq_wait &w) {
		fake::kernel().clock_ms += 30;
		assert_int_equal(w.count, 1);
		if (fake::kernel().waits.size() < 3)
			return -EINTR;
		s.queue().put(fake::entry(0, ARIES_INFO_REMOTE, 2, 0, ARIES_SRC_REMOTE));
		return 0;
	};
	assert_rc(SUCCESS, GNI_CqWaitEvent(s.cq, 100, &e));
	assert_int_equal(GNI_CQ_GET_INST_ID(e), 2);
	assert_int_equal(fake::kernel().waits.size(), 3);
	assert_int_equal(fake::kernel().waits[0].timeout_ms, 100);
	assert_int_equal(fake::kernel().waits[2].timeout_ms, 40);

	fake::kernel().on_wait = [](kgni_cq_wait &w) {
		fake::kernel().clock_ms += w.timeout_ms;
		return -ETIMEDOUT;
	};
	assert_rc(TIMEOUT, GNI_CqWaitEvent(s.cq, 50, &e));
	fake::kernel().on_wait = [](kgni_cq_wait &) { return -EIO; };
	assert_rc(ERROR_RESOURCE, GNI_CqWaitEvent(s.cq, ~0ULL, &e));
	/* Without end: in pieces, between which the library looks whether the queue is still there. */
	assert_in_range(fake::kernel().waits.back().timeout_ms, 1, 1000);
	assert_rc(INVALID_PARAM, GNI_CqWaitEvent(s.cq, 50, nullptr));
}

TEST(waiting_needs_a_blocking_queue)
{
	Session s;
	gni_cq_handle_t cq = nullptr;
	gni_cq_entry_t e = 0;
	uint32_t which = 0;

	assert_rc(SUCCESS, GNI_CqCreate(s.nic, 8, 0, GNI_CQ_NOBLOCK, nullptr, nullptr, &cq));
	assert_rc(ERROR_RESOURCE, GNI_CqWaitEvent(cq, 10, &e));
	gni_cq_handle_t both[] = {s.cq, cq};
	assert_rc(ERROR_RESOURCE, GNI_CqVectorMonitor(both, 2, 10, &which));
	assert_rc(INVALID_PARAM, GNI_CqInterruptMask(cq));
	assert_rc(INVALID_PARAM, GNI_CqInterruptUnmask(cq));
}

TEST(vectors)
{
	Session s;
	gni_cq_handle_t cqs[2] = {s.cq, nullptr};
	gni_cq_entry_t e = 0;
	uint32_t which = 9;

	assert_rc(SUCCESS, GNI_CqCreate(s.nic, 8, 0, GNI_CQ_BLOCKING, nullptr, nullptr, &cqs[1]));
	fake::Queue &second = *s.file().queues.rbegin()->second;
	fake::kernel().on_wait = [&second](kgni_cq_wait &w) {
		assert_int_equal(w.count, 2);
		second.put(fake::entry(0, ARIES_INFO_REMOTE, 4, 0, ARIES_SRC_REMOTE));
		return 0;
	};
	assert_rc(SUCCESS, GNI_CqVectorMonitor(cqs, 2, 100, &which));
	assert_int_equal(which, 1);
	assert_rc(SUCCESS, GNI_CqTestEvent(cqs[1])); /* still there */
	assert_rc(SUCCESS, GNI_CqVectorWaitEvent(cqs, 2, 100, &e, &which));
	assert_int_equal(which, 1);
	assert_int_equal(GNI_CQ_GET_INST_ID(e), 4);
	assert_rc(NOT_DONE, GNI_CqTestEvent(cqs[1]));

	fake::kernel().on_wait = [](kgni_cq_wait &w) {
		fake::kernel().clock_ms += w.timeout_ms;
		return -ETIMEDOUT;
	};
	assert_rc(TIMEOUT, GNI_CqVectorMonitor(cqs, 2, 20, &which));
	assert_rc(SUCCESS, GNI_CqInterruptMask(s.cq));
	assert_rc(SUCCESS, GNI_CqInterruptMask(s.cq));
	assert_rc(NOT_DONE, GNI_CqVectorMonitor(cqs, 2, 20, &which));
	assert_rc(SUCCESS, GNI_CqInterruptUnmask(s.cq));
	assert_rc(NOT_DONE, GNI_CqVectorMonitor(cqs, 2, 20, &which));
	assert_rc(SUCCESS, GNI_CqInterruptUnmask(s.cq));
	assert_rc(NOT_DONE, GNI_CqInterruptUnmask(s.cq));
	assert_rc(TIMEOUT, GNI_CqVectorMonitor(cqs, 2, 20, &which));
	assert_rc(INVALID_PARAM, GNI_CqVectorMonitor(cqs, 0, 20, &which));
	assert_rc(INVALID_PARAM, GNI_CqVectorMonitor(nullptr, 2, 20, &which));
	assert_rc(INVALID_PARAM, GNI_CqVectorMonitor(cqs, 2, 20, nullptr));
}

/* Queues of two NIC handles: each is asked in turn, for a short time. */
TEST(vector_over_two_nics)
{
	Session s;
	gni_cdm_handle_t cdm = nullptr;
	gni_nic_handle_t nic = nullptr;
	gni_cq_handle_t cqs[2] = {s.cq, nullptr};
	uint32_t address = 0, which = 9;

	assert_rc(SUCCESS, GNI_CdmCreate(78, 255, 1, 0, &cdm));
	assert_rc(SUCCESS, GNI_CdmAttach(cdm, 0, &address, &nic));
	assert_rc(SUCCESS, GNI_CqCreate(nic, 8, 0, GNI_CQ_BLOCKING, nullptr, nullptr, &cqs[1]));
	fake::Queue &second = *fake::kernel().file().queues.begin()->second;
	fake::kernel().on_wait = [&second](kgni_cq_wait &w) {
		assert_int_equal(w.count, 1);
		assert_true(w.timeout_ms <= 10);
		fake::kernel().clock_ms += w.timeout_ms;
		if (fake::kernel().waits.size() == 5)
			second.put(fake::entry(0, ARIES_INFO_REMOTE, 4, 0, ARIES_SRC_REMOTE));
		return -ETIMEDOUT;
	};
	assert_rc(SUCCESS, GNI_CqVectorMonitor(cqs, 2, 1000, &which));
	assert_int_equal(which, 1);
	assert_rc(SUCCESS, GNI_CdmDestroy(cdm));
}

TEST(creation)
{
	Session s;
	gni_cq_handle_t cq = nullptr;

	assert_rc(INVALID_PARAM, GNI_CqCreate(s.nic, 0, 0, 0, nullptr, nullptr, &cq));
	assert_rc(INVALID_PARAM, GNI_CqCreate(s.nic, 8, 0, GNI_CQ_EMULATED, nullptr, nullptr, &cq));
	assert_rc(INVALID_PARAM, GNI_CqCreate(s.nic, 8, 0, GNI_CQ_EMULATED_INVALID, nullptr, nullptr, &cq));
	assert_rc(INVALID_PARAM, GNI_CqCreate(s.nic, 8, 0, 0, nullptr, nullptr, nullptr));
	assert_rc(INVALID_PARAM, GNI_CqCreate(nullptr, 8, 0, 0, nullptr, nullptr, &cq));
	struct {
		int error;
		gni_return_t rc;
	} table[] = {{-ENOSPC, GNI_RC_ERROR_RESOURCE}, {-ENOMEM, GNI_RC_ERROR_NOMEM}, {-EFBIG, GNI_RC_INVALID_PARAM}};
	for (auto &t : table) {
		fake::kernel().errors[KGNI_IOC_CQ_CREATE] = t.error;
		assert_int_equal(t.rc, GNI_CqCreate(s.nic, 8, 0, 0, nullptr, nullptr, &cq));
	}
	assert_null(cq);
	fake::kernel().errors.clear();
	assert_rc(SUCCESS, GNI_CqCreate(s.nic, 8, 0, GNI_CQ_PHYS_PAGES | GNI_CQ_UNMANAGED, nullptr, nullptr, &cq));
	/* For remote events only: nobody would end the posts. */
	gni_ep_handle_t ep = nullptr;
	assert_rc(INVALID_PARAM, GNI_EpCreate(s.nic, cq, &ep));
	assert_rc(SUCCESS, GNI_CqDestroy(cq));
}

TEST(destruction)
{
	Session s;

	assert_rc(ERROR_RESOURCE, GNI_CqDestroy(s.cq));
	assert_int_equal(s.file().queues.size(), 1);
	assert_rc(SUCCESS, GNI_EpDestroy(s.ep));
	fake::kernel().errors[KGNI_IOC_CQ_DESTROY] = -EBUSY;
	assert_rc(ERROR_RESOURCE, GNI_CqDestroy(s.cq));
	fake::kernel().errors.clear();
	assert_rc(SUCCESS, GNI_CqDestroy(s.cq));
	assert_int_equal(s.file().queues.size(), 0);
}

/* Clients destroy a queue before the registrations that name it. */
TEST(destruction_before_registrations)
{
	Session s;
	gni_cq_handle_t cq = nullptr;
	gni_mem_handle_t a = {}, b = {};
	gni_cq_entry_t e = 0;

	assert_rc(SUCCESS, GNI_CqCreate(s.nic, 8, 0, 0, nullptr, nullptr, &cq));
	assert_rc(SUCCESS, GNI_MemRegister(s.nic, 0x1000, 1, cq, 0, ~0U, &a));
	assert_rc(SUCCESS, GNI_MemRegister(s.nic, 0x3000, 1, cq, 0, ~0U, &b));
	assert_rc(SUCCESS, GNI_CqDestroy(cq));
	assert_rc(INVALID_PARAM, GNI_CqGetEvent(cq, &e));
	assert_rc(INVALID_PARAM, GNI_MemRegister(s.nic, 0x5000, 1, cq, 0, ~0U, &a));
	assert_int_equal(s.file().queues.size(), 2); /* the NIC may still write there */
	assert_rc(SUCCESS, GNI_MemDeregister(s.nic, &a));
	assert_int_equal(s.file().queues.size(), 2);
	assert_rc(SUCCESS, GNI_MemDeregister(s.nic, &b));
	assert_int_equal(s.file().queues.size(), 1);
}

/* A queue is for remote events or for those of posts: as long as registrations name it, nothing else may. */
TEST(remote_events_only)
{
	Session s;
	gni_cq_handle_t cq = nullptr;
	gni_mem_handle_t h = {};
	gni_ce_handle_t ce = nullptr;
	gni_post_descriptor_t block = s.post(GNI_POST_RDMA_PUT), word = s.post(GNI_POST_CQWRITE);

	assert_rc(SUCCESS, GNI_CqCreate(s.nic, 8, 0, 0, nullptr, nullptr, &cq));
	assert_rc(SUCCESS, GNI_CeCreate(s.nic, &ce));
	assert_rc(SUCCESS, GNI_EpSetCeAttr(s.ep, 0, 0, GNI_CE_CHILD_PE));
	for (const bool named : {true, false}) {
		const gni_return_t rc = named ? GNI_RC_INVALID_PARAM : GNI_RC_SUCCESS;
		gni_ep_handle_t ep = nullptr;

		if (named)
			assert_rc(SUCCESS, GNI_MemRegister(s.nic, 0x1000, 1, cq, 0, ~0U, &h));
		else
			assert_rc(SUCCESS, GNI_MemDeregister(s.nic, &h));
		block.src_cq_hndl = word.src_cq_hndl = cq;
		assert_int_equal(rc, GNI_PostRdma(s.ep, &block));
		assert_int_equal(rc, GNI_PostCqWrite(s.ep, &word));
		assert_int_equal(rc, GNI_CeConfigure(ce, &s.ep, 1, nullptr, cq, 0));
		assert_int_equal(rc, GNI_EpCreate(s.nic, cq, &ep));
	}
}

/* A queue destroyed with posts in flight forgets them: ids and the endpoint are free again. */
TEST(destruction_with_posts_in_flight)
{
	Session s;
	gni_cq_handle_t cq = nullptr;
	gni_post_descriptor_t d = s.post(GNI_POST_RDMA_PUT);

	assert_rc(SUCCESS, GNI_CqCreate(s.nic, 8, 0, 0, nullptr, nullptr, &cq));
	d.src_cq_hndl = cq;
	assert_rc(SUCCESS, GNI_PostRdma(s.ep, &d));
	assert_rc(NOT_DONE, GNI_EpUnbind(s.ep));
	assert_rc(SUCCESS, GNI_CqDestroy(cq));
	assert_rc(SUCCESS, GNI_EpUnbind(s.ep));
}

TEST_MAIN("completion queues")
