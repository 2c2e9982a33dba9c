// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Counts and places as threads leave them that use one NIC handle at once: the library goes on. */
#include "objects.hpp"
#include "session.hpp"

#include <atomic>
#include <pthread.h>
#include <vector>

namespace
{

/* What lost updates of two threads leave behind: too many references, or one too few. */
TEST(references_out_of_count)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT), *back = nullptr;
	gni_cq_entry_t e = 0;
	gni_return_t rc = GNI_RC_NOT_DONE;

	s.ep->references += 3;
	for (int i = 0; i < 1000 && rc == GNI_RC_NOT_DONE; i++)
		rc = GNI_EpUnbind(s.ep);
	assert_rc(SUCCESS, rc);
	assert_rc(SUCCESS, GNI_EpBind(s.ep, 6, 88));
	/* Too few: the end of a post would end the endpoint. */
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	s.ep->references = 1;
	assert_rc(SUCCESS, GNI_CqGetEvent(s.cq, &e));
	assert_rc(SUCCESS, GNI_GetCompleted(s.cq, e, &back));
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_rc(SUCCESS, GNI_CqGetEvent(s.cq, &e));
	assert_rc(SUCCESS, GNI_GetCompleted(s.cq, e, &back));
	assert_rc(SUCCESS, GNI_EpUnbind(s.ep));
}

TEST(room_out_of_count)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT), *back = nullptr;
	gni_cq_entry_t e = 0;
	gni_return_t rc = GNI_RC_ERROR_RESOURCE;

	s.cq->room = 0;
	for (int i = 0; i < 1000 && rc == GNI_RC_ERROR_RESOURCE; i++)
		rc = GNI_PostFma(s.ep, &d);
	assert_rc(SUCCESS, rc);
	assert_rc(SUCCESS, GNI_CqGetEvent(s.cq, &e));
	assert_rc(SUCCESS, GNI_GetCompleted(s.cq, e, &back));
	/* Room that is right stays as it is. */
	std::vector<gni_post_descriptor_t> many(s.cq->mask, d);
	for (auto &post : many)
		assert_rc(SUCCESS, GNI_PostFma(s.ep, &post));
	for (int i = 0; i < 1000; i++)
		assert_rc(ERROR_RESOURCE, GNI_PostFma(s.ep, &d));
	/* Block transfers. */
	for (size_t i = 0; i < many.size(); i++) {
		assert_rc(SUCCESS, GNI_CqGetEvent(s.cq, &e));
		assert_rc(SUCCESS, GNI_GetCompleted(s.cq, e, &back));
	}
	s.nic->bte_in_flight = s.nic->bte_limit;
	d.type = GNI_POST_RDMA_PUT;
	rc = GNI_RC_ERROR_RESOURCE;
	for (int i = 0; i < 1000 && rc == GNI_RC_ERROR_RESOURCE; i++)
		rc = GNI_PostRdma(s.ep, &d);
	assert_rc(SUCCESS, rc);
}

/* Two threads may take the last place of a queue, or more than there are: nothing is accepted without room. */
TEST(less_room_than_none)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT), *back = nullptr;
	gni_cq_entry_t e = 0;

	fake::kernel().on_doorbell = nullptr;
	s.cq->room = ~0U;
	assert_rc(ERROR_RESOURCE, GNI_PostFma(s.ep, &d));
	d.length = 64;
	assert_rc(ERROR_RESOURCE, GNI_PostFma(s.ep, &d));
	d.type = GNI_POST_RDMA_PUT;
	assert_rc(ERROR_RESOURCE, GNI_PostRdma(s.ep, &d));
	/* More events outstanding than the queue has slots: still none when that is put right. */
	d.type = GNI_POST_FMA_PUT;
	const auto slots = static_cast<uint32_t>(s.cq->mask);
	s.cq->room = slots + 5;
	for (uint32_t i = 0; i < slots + 5; i++)
		assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	for (int i = 0; i < 1000; i++)
		assert_rc(ERROR_RESOURCE, GNI_PostFma(s.ep, &d));
	assert_int_equal(s.cq->room, 0);
	for (uint32_t i = 0; i < slots; i++) {
		s.queue().put(fake::entry(i + 1, ARIES_INFO_GLOBAL, 0));
		assert_rc(SUCCESS, GNI_CqGetEvent(s.cq, &e));
		assert_rc(SUCCESS, GNI_GetCompleted(s.cq, e, &back));
	}
	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
}

/* A queue whose room is counted wrong takes its posts with it when it goes: their ids are free again. */
TEST(queue_gone_with_its_posts)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT);

	fake::kernel().on_doorbell = nullptr;
	for (uint32_t room : {0U, static_cast<uint32_t>(s.cq->mask), static_cast<uint32_t>(s.cq->mask) + 9, ~0U - 9}) {
		gni_cq_handle_t cq = nullptr;
		gni_ep_handle_t ep = nullptr;

		assert_rc(SUCCESS, GNI_CqCreate(s.nic, 32, 0, GNI_CQ_NOBLOCK, nullptr, nullptr, &cq));
		assert_rc(SUCCESS, GNI_EpCreate(s.nic, cq, &ep));
		assert_rc(SUCCESS, GNI_EpBind(ep, 6, 88));
		for (int i = 0; i < 10; i++)
			assert_rc(SUCCESS, GNI_PostFma(ep, &d));
		cq->room = room;
		assert_rc(SUCCESS, GNI_EpDestroy(ep));
		assert_rc(SUCCESS, GNI_CqDestroy(cq));
		for (uint32_t id = 1; id < s.nic->requests.used(); id++)
			assert_int_equal(s.nic->requests[static_cast<uint16_t>(id)].state, 0);
	}
}

/* Two readers may put a queue back to entries that have been read: it goes on where the next one is. */
TEST(queue_out_of_step)
{
	Session s;
	gni_cq_entry_t e = 0;
	gni_return_t rc = GNI_RC_NOT_DONE;

	for (uint64_t back = 1; back <= 3; back++) {
		for (int i = 0; i < 5; i++) {
			s.queue().put(fake::entry(0, 3, 7));
			assert_rc(SUCCESS, GNI_CqGetEvent(s.cq, &e));
		}
		s.cq->read -= back;
		s.queue().memory[0] -= back;
		s.queue().put(fake::entry(0, 3, 1000 + static_cast<uint32_t>(back)));
		rc = GNI_RC_NOT_DONE;
		for (int i = 0; i < 100000 && rc == GNI_RC_NOT_DONE; i++)
			rc = GNI_CqGetEvent(s.cq, &e);
		assert_rc(SUCCESS, rc);
		assert_int_equal(GNI_CQ_GET_DATA(e), 1000 + back);
		assert_int_equal(s.queue().consumed(), s.queue().produced);
		assert_rc(NOT_DONE, GNI_CqGetEvent(s.cq, &e));
	}
	/* Readers that look at once may count their looks past 0. */
	for (uint32_t looks : {0U, ~0U - 9}) {
		s.cq->looks = looks;
		s.cq->read -= 2;
		s.queue().put(fake::entry(0, 3, 9));
		rc = GNI_RC_NOT_DONE;
		for (int i = 0; i < 100000 && rc == GNI_RC_NOT_DONE; i++)
			rc = GNI_CqGetEvent(s.cq, &e);
		assert_rc(SUCCESS, rc);
	}
	/* The same for a waiter: the kernel sees entries, the reader does not. */
	fake::kernel().on_wait = [](kgni_cq_wait &) { return 0; };
	s.cq->read -= 2;
	s.queue().put(fake::entry(0, 3, 9));
	assert_rc(SUCCESS, GNI_CqWaitEvent(s.cq, ~uint64_t{0}, &e));
	assert_int_equal(GNI_CQ_GET_DATA(e), 9);
	uint32_t which = 9;
	s.cq->read -= 2;
	assert_rc(SUCCESS, GNI_CqVectorMonitor(&s.cq, 1, ~uint64_t{0}, &which));
	assert_int_equal(which, 0);
}

struct Writer {
	fake::Queue *queue;
	std::atomic<bool> stop{false};
	std::atomic<uint64_t> allowed{0};
};

/* Entries come while the reader of a queue that is out of step looks for the next one. */
void *write_entries(void *argument)
{
	auto *w = static_cast<Writer *>(argument);
	uint64_t *const slots = w->queue->memory.data() + 512;

	for (uint64_t n = 0; !w->stop;) {
		if (n == w->allowed)
			continue;
		__atomic_store_n(&slots[n % w->queue->slots], fake::entry(0, 3, static_cast<uint32_t>(n + 1)),
				 __ATOMIC_RELEASE);
		n++;
	}
	return nullptr;
}

TEST(entries_while_out_of_step)
{
	Session s(0, 500);
	Writer w{&s.queue()};
	pthread_t thread;
	gni_cq_entry_t e = 0;

	assert_int_equal(pthread_create(&thread, nullptr, write_entries, &w), 0);
	for (uint64_t round = 0, next = 0; round < 3000; round++) {
		/* The place of the next entry is looked at now sooner, now later than the entry comes. */
		s.cq->read -= 1 + round % 450;
		s.cq->looks = 1;
		w.allowed = next + 20;
		for (const uint64_t end = next + 20; next < end;) {
			if (GNI_CqGetEvent(s.cq, &e) != GNI_RC_SUCCESS)
				continue;
			next++;
			assert_int_equal(GNI_CQ_GET_DATA(e), static_cast<uint32_t>(next));
		}
	}
	w.stop = true;
	assert_int_equal(pthread_join(thread, nullptr), 0);
}

} // namespace

TEST_MAIN("counts that are wrong")
