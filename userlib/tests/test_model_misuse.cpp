// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Two threads at once on one endpoint, which callers must not do: transfers may
 * go wrong, the library may not. When one thread is left, all works.
 */
#include "objects.hpp"
#include "talk.hpp"

#include <atomic>
#include <pthread.h>
#include <unistd.h>

namespace
{

constexpr unsigned kThreads = 3;
constexpr unsigned kPosts = 3000;

struct Both {
	Rank *from;
	Rank *to;
	gni_post_type_t type;
	std::atomic<unsigned> number{0};
	std::atomic<unsigned> unknown{0};
	std::atomic<bool> stop{false};
};

bool documented(gni_return_t rc)
{
	return rc == GNI_RC_SUCCESS || rc == GNI_RC_ERROR_RESOURCE || rc == GNI_RC_INVALID_PARAM ||
	       rc == GNI_RC_ALIGNMENT_ERROR || rc == GNI_RC_PERMISSION_ERROR;
}

void *post_and_reap(void *argument)
{
	auto *b = static_cast<Both *>(argument);
	const unsigned me = b->number++;
	gni_post_descriptor_t posts[16];

	for (unsigned n = 0; n < kPosts; n++) {
		gni_post_descriptor_t &d = posts[n % 16], *back = nullptr;
		gni_cq_entry_t e = 0;

		d = b->from->post(*b->to, b->type, n % 5 ? 8 : 3000, me * 4096, me * 4096);
		gni_return_t rc =
			b->type == GNI_POST_FMA_PUT ? GNI_PostFma(b->from->ep, &d) : GNI_PostRdma(b->from->ep, &d);
		b->unknown += !documented(rc);
		for (unsigned i = 0; i < 3; i++) {
			rc = GNI_CqGetEvent(b->from->source, &e);
			if (rc == GNI_RC_SUCCESS || rc == GNI_RC_TRANSACTION_ERROR)
				(void)GNI_GetCompleted(b->from->source, e, &back);
			else
				b->unknown += rc != GNI_RC_NOT_DONE && rc != GNI_RC_ERROR_RESOURCE;
		}
	}
	return nullptr;
}

void run(Both &b, void *(*body)(void *))
{
	pthread_t threads[kThreads];

	for (auto &t : threads)
		assert_int_equal(pthread_create(&t, nullptr, body, &b), 0);
	for (auto &t : threads)
		assert_int_equal(pthread_join(t, nullptr), 0);
	assert_int_equal(b.unknown, 0);
}

/* Reads what is left, until the endpoint is idle and nothing comes any more. */
void settle(Rank &r)
{
	gni_return_t rc = GNI_RC_NOT_DONE;
	gni_post_descriptor_t *back = nullptr;
	gni_cq_entry_t e = 0;

	for (unsigned i = 0; i < 200000; i++) {
		gni_return_t got = GNI_CqGetEvent(r.source, &e);
		if (got == GNI_RC_SUCCESS || got == GNI_RC_TRANSACTION_ERROR)
			(void)GNI_GetCompleted(r.source, e, &back);
	}
	/* A transfer whose event two readers have lost between them stays open; the endpoint can still be left. */
	for (unsigned i = 0; i < 2000 && rc == GNI_RC_NOT_DONE; i++)
		rc = GNI_EpUnbind(r.ep);
	assert_true(rc == GNI_RC_SUCCESS || rc == GNI_RC_NOT_DONE);
	if (rc == GNI_RC_NOT_DONE) {
		assert_rc(SUCCESS, GNI_EpDestroy(r.ep));
		assert_rc(SUCCESS, GNI_EpCreate(r.nic, r.source, &r.ep));
	}
}

/*
 * A count that threads have spoilt between them is put right when it has refused some posts. Transfers whose events
 * they have lost stay open, and with enough of them the NIC handle posts no more. Return: whether it does.
 */
bool mended(const Rank &from, const Rank &to, gni_post_type_t type)
{
	gni_post_descriptor_t d = from.post(to, type, 64, 0, 32768), *back = nullptr;
	gni_cq_entry_t e = 0;
	gni_return_t rc = GNI_RC_ERROR_RESOURCE;

	for (unsigned i = 0; i < 1000 && rc == GNI_RC_ERROR_RESOURCE; i++)
		rc = type == GNI_POST_FMA_PUT ? GNI_PostFma(from.ep, &d) : GNI_PostRdma(from.ep, &d);
	if (rc == GNI_RC_ERROR_RESOURCE)
		return false;
	assert_rc(SUCCESS, rc);
	assert_rc(SUCCESS, GNI_CqWaitEvent(from.source, 60000, &e));
	assert_rc(SUCCESS, GNI_GetCompleted(from.source, e, &back));
	return true;
}

void all_is_well(const Pair &p, gni_post_type_t type)
{
	for (unsigned i = 0; i < 300; i++) {
		gni_post_descriptor_t d = p.a.post(p.b, type, 64, 128 * (i % 8), 32768 + 128 * (i % 8));

		p.a.bytes[d.local_addr - p.a.at(0)] = static_cast<unsigned char>(i);
		assert_int_equal(p.a.run(&d), 0);
		assert_int_equal(p.b.bytes[d.remote_addr - p.b.at(0)], static_cast<unsigned char>(i));
	}
}

void posts(gni_post_type_t type)
{
	for (int round = 0; round < 3; round++) {
		Pair p(65536);
		Both b{&p.a, &p.b, type};

		run(b, post_and_reap);
		settle(p.a);
		p.a.bind(p.b, 1001);
		if (mended(p.a, p.b, type))
			all_is_well(p, type);
	}
	/* Whatever they did to their handle, another one has nothing of it. */
	all_is_well(Pair(65536), type);
}

void block_transfers(void **)
{
	posts(GNI_POST_RDMA_PUT);
}

void short_transfers(void **)
{
	posts(GNI_POST_FMA_PUT);
}

struct Chat {
	Talk *talk;
	std::atomic<unsigned> unknown{0};
};

void *send_and_receive(void *argument)
{
	auto *c = static_cast<Chat *>(argument);

	for (unsigned n = 0; n < kPosts; n++) {
		char text[300] = "x";
		void *p = nullptr;
		gni_cq_entry_t e = 0;
		gni_return_t rc = GNI_SmsgSend(c->talk->a.ep, text, n % 300, nullptr, 0, n);
		c->unknown += rc != GNI_RC_SUCCESS && rc != GNI_RC_NOT_DONE && rc != GNI_RC_INVALID_PARAM;
		(void)GNI_CqGetEvent(c->talk->a.source, &e);
		rc = GNI_SmsgGetNext(c->talk->b.ep, &p);
		c->unknown += rc != GNI_RC_SUCCESS && rc != GNI_RC_NOT_DONE && rc != GNI_RC_INVALID_STATE;
		if (rc == GNI_RC_SUCCESS)
			(void)GNI_SmsgRelease(c->talk->b.ep);
		(void)GNI_CqGetEvent(c->talk->b.remote, &e);
	}
	return nullptr;
}

/* A connection that several threads have used may be spoilt for good; a new one is not. */
void short_messages(void **)
{
	for (int round = 0; round < 3; round++) {
		Talk t;
		Chat c{&t};
		pthread_t threads[kThreads];

		for (auto &thread : threads)
			assert_int_equal(pthread_create(&thread, nullptr, send_and_receive, &c), 0);
		for (auto &thread : threads)
			assert_int_equal(pthread_join(thread, nullptr), 0);
		assert_int_equal(c.unknown, 0);
		settle(t.a);
		settle(t.b);
		/* The queues of what never came, too. */
		for (Side *s : {&t.a, &t.b})
			memset(s->bytes + s->attr.mbox_offset, 0, s->attr.buff_size);
		(void)GNI_EpUnbind(t.a.ep);
		(void)GNI_EpUnbind(t.b.ep);
		t.a.bind(t.b, 1001);
		t.b.bind(t.a, 1000);
		t.a.init(t.b);
		t.b.init(t.a);
		t.a.drain();
		t.b.drain();
		for (uint32_t i = 0; i < 100; i++) {
			assert_rc(SUCCESS, t.a.send("hello", "world", i));
			t.a.expect_sent(i);
			t.b.expect("helloworld");
			assert_rc(SUCCESS, t.b.send("back"));
			t.b.expect_sent(0);
			t.a.expect("back");
		}
	}
}

/* What guest programs do: FMA and block transfers together on one endpoint of the own node, a short queue. */
struct Mixed {
	Rank rank{0, 1, 65536};
	gni_cq_handle_t queue = nullptr;
	gni_ep_handle_t ep = nullptr;
	std::atomic<unsigned> unknown{0};

	Mixed() { begin(); }
	void begin()
	{
		assert_rc(SUCCESS, GNI_CqCreate(rank.nic, 64, 0, GNI_CQ_NOBLOCK, nullptr, nullptr, &queue));
		assert_rc(SUCCESS, GNI_EpCreate(rank.nic, queue, &ep));
		assert_rc(SUCCESS, GNI_EpBind(ep, rank.address, 1));
	}
	gni_return_t post(gni_post_descriptor_t *d, gni_post_type_t type, size_t to) const
	{
		*d = rank.post(rank, type, 8, 0, to);
		return type == GNI_POST_FMA_PUT ? GNI_PostFma(ep, d) : GNI_PostRdma(ep, d);
	}
	gni_return_t reap() const
	{
		gni_post_descriptor_t *back = nullptr;
		gni_cq_entry_t e = 0;
		gni_return_t rc = GNI_CqGetEvent(queue, &e);

		if (rc == GNI_RC_SUCCESS || rc == GNI_RC_TRANSACTION_ERROR)
			(void)GNI_GetCompleted(queue, e, &back);
		return rc;
	}
};

void *post_mixed(void *argument)
{
	auto *m = static_cast<Mixed *>(argument);
	gni_post_descriptor_t d[8];

	for (unsigned n = 0; n < kPosts; n++) {
		const gni_return_t rc = m->post(&d[n % 8], n % 4 ? GNI_POST_FMA_PUT : GNI_POST_RDMA_PUT, 4096);

		m->unknown += rc != GNI_RC_SUCCESS && rc != GNI_RC_ERROR_RESOURCE;
		(void)m->reap();
		(void)m->reap();
	}
	return nullptr;
}

/*
 * An endpoint that several threads have used may be spoilt for good, but every call returns; a new one with a new queue
 * on the same NIC handle is not spoilt.
 */
void spoilt_endpoint(void **)
{
	for (int round = 0; round < 20; round++) {
		Mixed m;
		pthread_t threads[kThreads];
		gni_post_descriptor_t d;

		for (auto &t : threads)
			assert_int_equal(pthread_create(&t, nullptr, post_mixed, &m), 0);
		for (auto &t : threads)
			assert_int_equal(pthread_join(t, nullptr), 0);
		assert_int_equal(m.unknown, 0);
		for (unsigned i = 0; i < 10000; i++)
			(void)m.reap();
		for (unsigned i = 0; i < 1000; i++) {
			(void)m.post(&d, GNI_POST_FMA_PUT, 64);
			(void)m.reap();
		}
		(void)GNI_EpUnbind(m.ep);
		assert_rc(SUCCESS, GNI_EpDestroy(m.ep));
		assert_rc(SUCCESS, GNI_CqDestroy(m.queue));
		m.begin();
		for (unsigned i = 0; i < 300; i++) {
			assert_rc(SUCCESS, m.post(&d, i % 2 ? GNI_POST_FMA_PUT : GNI_POST_RDMA_PUT, 64));
			assert_rc(SUCCESS, m.reap());
		}
	}
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		model_test(short_transfers),
		model_test(block_transfers),
		model_test(short_messages),
		model_test(spoilt_endpoint),
	};
	alarm(110);
	return cmocka_run_group_tests_name("several threads on one endpoint", tests, nullptr, nullptr);
}
