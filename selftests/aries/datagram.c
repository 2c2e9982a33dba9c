// SPDX-License-Identifier: GPL-2.0-only
/*
 * Datagrams between attachments of one node, by ioctl: who meets whom, states, cancelling,
 * waiting, limits, and the end of a process in the middle of it.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "dgram.h"
#include "kselftest_harness.h"

FIXTURE(datagram)
{
	uint32_t cookie;
	uint32_t pe;
	int a, b; /* instances 1 and 2 */
};

FIXTURE_SETUP(datagram)
{
	struct kgni_attach at = {};

	self->cookie = aries_cookie();
	self->a = dgram_attached(self->cookie, 1, &at);
	self->b = dgram_attached(self->cookie, 2, NULL);
	ASSERT_LE(0, self->a);
	ASSERT_LE(0, self->b);
	self->pe = at.pe;
}

FIXTURE_TEARDOWN(datagram)
{
	close(self->a);
	close(self->b);
}

TEST_F(datagram, directed_meets_directed)
{
	struct kgni_dgram_test t;

	ASSERT_EQ(0, dgram_directed(self->a, 5, self->pe, 2, "from a"));
	ASSERT_EQ(0, dgram_test(self->a, 5, 0, &t));
	EXPECT_EQ(KGNI_DGRAM_PENDING, t.state);
	ASSERT_EQ(0, dgram_directed(self->b, 6, self->pe, 1, "from b, longer"));
	ASSERT_EQ(0, dgram_test(self->a, 5, 0, &t));
	EXPECT_TRUE(dgram_holds(&t, 2, "from b, longer"));
	EXPECT_EQ(self->pe, t.pe);
	ASSERT_EQ(0, dgram_test(self->b, 6, 0, &t));
	EXPECT_TRUE(dgram_holds(&t, 1, "from a"));
	/* a final state is told once */
	EXPECT_EQ(ENOENT, dgram_test(self->a, 5, 0, &t));
}

TEST_F(datagram, directed_meets_wildcard_in_either_order)
{
	struct kgni_dgram_test t;

	ASSERT_EQ(0, dgram_wildcard(self->b, 6, "any"));
	ASSERT_EQ(0, dgram_directed(self->a, 5, self->pe, 2, "first"));
	ASSERT_EQ(0, dgram_test(self->b, 6, 0, &t));
	EXPECT_TRUE(dgram_holds(&t, 1, "first"));
	ASSERT_EQ(0, dgram_test(self->a, 5, 0, &t));
	EXPECT_TRUE(dgram_holds(&t, 2, "any"));

	ASSERT_EQ(0, dgram_directed(self->a, 5, self->pe, 2, "second"));
	ASSERT_EQ(0, dgram_wildcard(self->b, 6, "any"));
	ASSERT_EQ(0, dgram_test(self->b, 6, 0, &t));
	EXPECT_TRUE(dgram_holds(&t, 1, "second"));
	EXPECT_EQ(KGNI_DGRAM_COMPLETED, dgram_state(self->a, 5, 0));
}

TEST_F(datagram, directed_is_preferred_and_oldest_comes_first)
{
	struct kgni_dgram_test t;
	int c = dgram_attached(self->cookie, 3, NULL);

	ASSERT_LE(0, c);
	ASSERT_EQ(0, dgram_wildcard(self->b, 6, "any"));
	ASSERT_EQ(0, dgram_directed(self->b, 7, self->pe, 1, "for a"));
	ASSERT_EQ(0, dgram_directed(self->a, 5, self->pe, 2, "x"));
	ASSERT_EQ(0, dgram_test(self->a, 5, 0, &t));
	EXPECT_TRUE(dgram_holds(&t, 2, "for a"));
	EXPECT_EQ(KGNI_DGRAM_PENDING, dgram_state(self->b, 6, 0));
	EXPECT_EQ(0, dgram_cancel(self->b, 6, 0));

	ASSERT_EQ(0, dgram_directed(c, 8, self->pe, 2, "older"));
	ASSERT_EQ(0, dgram_directed(self->a, 5, self->pe, 2, "younger"));
	ASSERT_EQ(0, dgram_wildcard(self->b, 6, "any"));
	ASSERT_EQ(0, dgram_test(self->b, 6, 0, &t));
	EXPECT_TRUE(dgram_holds(&t, 3, "older"));
	close(c);
}

TEST_F(datagram, wildcards_never_meet)
{
	ASSERT_EQ(0, dgram_wildcard(self->a, 5, "a"));
	ASSERT_EQ(0, dgram_wildcard(self->b, 6, "b"));
	EXPECT_EQ(KGNI_DGRAM_PENDING, dgram_state(self->a, 5, 0));
	EXPECT_EQ(KGNI_DGRAM_PENDING, dgram_state(self->b, 6, 0));
}

TEST_F(datagram, instance_and_itself)
{
	struct kgni_dgram_test t;

	/* a directed one does not meet itself, but a wildcard of its own */
	ASSERT_EQ(0, dgram_directed(self->a, 5, self->pe, 1, "me"));
	EXPECT_EQ(KGNI_DGRAM_PENDING, dgram_state(self->a, 5, 0));
	ASSERT_EQ(0, dgram_wildcard(self->a, 6, "any"));
	ASSERT_EQ(0, dgram_test(self->a, 6, 0, &t));
	EXPECT_TRUE(dgram_holds(&t, 1, "me"));
	EXPECT_EQ(KGNI_DGRAM_COMPLETED, dgram_state(self->a, 5, 0));
	/* and another directed one */
	ASSERT_EQ(0, dgram_directed(self->a, 5, self->pe, 1, "one"));
	ASSERT_EQ(0, dgram_directed(self->a, 6, self->pe, 1, "two"));
	ASSERT_EQ(0, dgram_test(self->a, 5, 0, &t));
	EXPECT_TRUE(dgram_holds(&t, 1, "two"));
}

TEST_F(datagram, another_domain_is_out_of_reach)
{
	int c = dgram_attached(aries_cookie(), 2, NULL);

	ASSERT_LE(0, c);
	ASSERT_EQ(0, dgram_wildcard(c, 7, "foreign"));
	ASSERT_EQ(0, dgram_directed(self->a, 5, self->pe, 2, "x"));
	EXPECT_EQ(KGNI_DGRAM_PENDING, dgram_state(self->a, 5, 0));
	EXPECT_EQ(KGNI_DGRAM_PENDING, dgram_state(c, 7, 0));
	close(c);
}

TEST_F(datagram, probe_tells_and_keeps)
{
	struct pollfd p = { .fd = self->b, .events = POLLIN };
	struct kgni_dgram_probe any = { .argsz = sizeof(any) };
	uint64_t id;

	EXPECT_EQ(ENOENT, dgram_probe(self->b, 0, &id));
	EXPECT_EQ(0, poll(&p, 1, 0));
	ASSERT_EQ(0, dgram_post(self->b, KGNI_DGRAM_WILDCARD, 6, 0, 0, 0, "no id"));
	ASSERT_EQ(0, dgram_directed(self->a, 5, self->pe, 2, "x"));
	/* without id it is found by the other probe only */
	EXPECT_EQ(ENOENT, dgram_probe(self->b, 0, &id));
	EXPECT_EQ(1, poll(&p, 1, 0));
	ASSERT_EQ(0, aries_ioctl(self->b, KGNI_IOC_DGRAM_PROBE, &any));
	EXPECT_EQ(1, any.inst_id);
	EXPECT_EQ(self->pe, any.pe);
	EXPECT_EQ(0, dgram_probe(self->a, 0, &id));
	EXPECT_EQ(1005, id);
	EXPECT_EQ(0, dgram_probe(self->a, 1, &id));
	EXPECT_EQ(1005, id);
	EXPECT_EQ(KGNI_DGRAM_COMPLETED, dgram_state(self->a, 5, DGRAM_EVER));
	EXPECT_EQ(ENOENT, dgram_probe(self->a, 0, &id));
}

TEST_F(datagram, cancel)
{
	struct kgni_dgram_test t;
	uint64_t id;

	EXPECT_EQ(ENOENT, dgram_cancel(self->a, 5, KGNI_DGRAM_ID));
	ASSERT_EQ(0, dgram_wildcard(self->a, 5, ""));
	EXPECT_EQ(ENOENT, dgram_cancel(self->a, 4, 0));
	EXPECT_EQ(0, dgram_cancel(self->a, 5, KGNI_DGRAM_ID));
	EXPECT_EQ(ENOENT, dgram_test(self->a, 5, 0, &t));

	ASSERT_EQ(0, dgram_directed(self->a, 5, self->pe, 2, ""));
	EXPECT_EQ(0, dgram_cancel(self->a, 5, 0));
	EXPECT_EQ(ENOENT, dgram_cancel(self->a, 5, 0));
	EXPECT_EQ(0, dgram_probe(self->a, 0, &id));
	EXPECT_EQ(1005, id);
	EXPECT_EQ(KGNI_DGRAM_TERMINATED, dgram_state(self->a, 5, 100));
	/* nobody is there to meet any more */
	ASSERT_EQ(0, dgram_wildcard(self->b, 6, ""));
	EXPECT_EQ(KGNI_DGRAM_PENDING, dgram_state(self->b, 6, 0));
}

/* The partner was faster: no error, and it is told what came. */
TEST_F(datagram, cancelled_too_late)
{
	struct kgni_dgram_test t;
	uint64_t id;

	ASSERT_EQ(0, dgram_wildcard(self->b, 6, "any"));
	ASSERT_EQ(0, dgram_directed(self->a, 5, self->pe, 2, "x"));
	EXPECT_EQ(0, dgram_cancel(self->b, 6, KGNI_DGRAM_ID));
	EXPECT_EQ(0, dgram_cancel(self->a, 5, 0));
	EXPECT_EQ(0, dgram_probe(self->a, 0, &id));
	EXPECT_EQ(1005, id);
	EXPECT_EQ(KGNI_DGRAM_COMPLETED, dgram_state(self->a, 5, 0));
	ASSERT_EQ(0, dgram_test(self->b, 6, 0, &t));
	EXPECT_TRUE(dgram_holds(&t, 1, "x"));
	EXPECT_EQ(ENOENT, dgram_cancel(self->a, 5, 0));
	EXPECT_EQ(ENOENT, dgram_cancel(self->b, 6, 0));
	EXPECT_EQ(ENOENT, dgram_probe(self->a, 0, &id));
}

TEST_F(datagram, news_outlive_the_endpoint_once)
{
	struct kgni_dgram_test t;
	uint64_t id;

	ASSERT_EQ(0, dgram_wildcard(self->a, 5, ""));
	EXPECT_EQ(0, dgram_cancel(self->a, 5, KGNI_DGRAM_RELEASE));
	EXPECT_EQ(ENOENT, dgram_probe(self->a, 0, &id));
	ASSERT_EQ(0, dgram_directed(self->a, 5, self->pe, 2, ""));
	EXPECT_EQ(0, dgram_cancel(self->a, 5, KGNI_DGRAM_RELEASE));
	EXPECT_EQ(ENOENT, dgram_test(self->a, 5, 0, &t));
	EXPECT_EQ(0, dgram_probe(self->a, 0, &id));
	EXPECT_EQ(1005, id);
	EXPECT_EQ(ENOENT, dgram_probe(self->a, 0, &id));
}

TEST_F(datagram, arguments)
{
	struct kgni_dgram_post post = { .argsz = sizeof(post), .ep = 5, .pe = self->pe,
					.inst_id = 2 };
	struct kgni_dgram_test test = { .argsz = sizeof(test), .flags = 0x10 };
	struct kgni_dgram_probe probe = { .argsz = sizeof(probe), .flags = 0x10 };
	struct kgni_dgram_cancel cancel = { .argsz = sizeof(cancel), .flags = 0x10 };

	EXPECT_EQ(EINVAL, aries_ioctl(self->a, KGNI_IOC_DGRAM_TEST, &test));
	EXPECT_EQ(EINVAL, aries_ioctl(self->a, KGNI_IOC_DGRAM_PROBE, &probe));
	EXPECT_EQ(EINVAL, aries_ioctl(self->a, KGNI_IOC_DGRAM_CANCEL, &cancel));
	cancel.flags = KGNI_DGRAM_ALL | KGNI_DGRAM_ID;
	EXPECT_EQ(EINVAL, aries_ioctl(self->a, KGNI_IOC_DGRAM_CANCEL, &cancel));
	probe.flags = 0;
	probe.reserved = 1;
	EXPECT_EQ(EINVAL, aries_ioctl(self->a, KGNI_IOC_DGRAM_PROBE, &probe));
	post.length = KGNI_DGRAM_BYTES + 1;
	EXPECT_EQ(E2BIG, aries_ioctl(self->a, KGNI_IOC_DGRAM_POST, &post));
	post.length = KGNI_DGRAM_BYTES;
	post.flags = KGNI_DGRAM_ALL;
	EXPECT_EQ(EINVAL, aries_ioctl(self->a, KGNI_IOC_DGRAM_POST, &post));
	post.flags = KGNI_DGRAM_WILDCARD; /* goes nowhere */
	EXPECT_EQ(EINVAL, aries_ioctl(self->a, KGNI_IOC_DGRAM_POST, &post));
	post.flags = KGNI_DGRAM_ID;
	post.id = ~0ull;
	EXPECT_EQ(EINVAL, aries_ioctl(self->a, KGNI_IOC_DGRAM_POST, &post));
	post.id = 0;
	post.pe = 1u << 18;
	EXPECT_EQ(EINVAL, aries_ioctl(self->a, KGNI_IOC_DGRAM_POST, &post));
	post.pe = self->pe;
	post.reserved = 1;
	EXPECT_EQ(EINVAL, aries_ioctl(self->a, KGNI_IOC_DGRAM_POST, &post));
	post.reserved = 0;
	EXPECT_EQ(0, aries_ioctl(self->a, KGNI_IOC_DGRAM_POST, &post));
	/* one an endpoint, one an instance */
	EXPECT_EQ(EBUSY, aries_ioctl(self->a, KGNI_IOC_DGRAM_POST, &post));
	post.inst_id += 100;
	EXPECT_EQ(EBUSY, aries_ioctl(self->a, KGNI_IOC_DGRAM_POST, &post));
	post.inst_id -= 100;
	post.ep = 6;
	EXPECT_EQ(EBUSY, aries_ioctl(self->a, KGNI_IOC_DGRAM_POST, &post));
	post.inst_id = 3;
	EXPECT_EQ(0, aries_ioctl(self->a, KGNI_IOC_DGRAM_POST, &post));
}

TEST(not_attached)
{
	struct kgni_dgram_test t;
	int fd = aries_open();
	uint64_t id;

	ASSERT_LE(0, fd);
	EXPECT_EQ(ENOTCONN, dgram_wildcard(fd, 1, ""));
	EXPECT_EQ(ENOTCONN, dgram_test(fd, 1, 0, &t));
	EXPECT_EQ(ENOTCONN, dgram_test(fd, 1, DGRAM_EVER, &t));
	EXPECT_EQ(ENOTCONN, dgram_probe(fd, 0, &id));
	EXPECT_EQ(ENOTCONN, dgram_cancel(fd, 1, KGNI_DGRAM_ALL));
	close(fd);
}

TEST(drivers_own_domain_is_closed)
{
	struct kgni_attach arg = aries_attach_arg(0x007f0000u);
	struct kgni_job job = { .argsz = sizeof(job), .job_id = 5, .cookie = aries_cookie(),
				.ptag = 253, .limit_mdd = -1, .limit_cq = -1, .limit_fma = -1 };
	int fd = aries_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(EACCES, aries_ioctl(fd, KGNI_IOC_ATTACH, &arg));
	arg = aries_attach_arg(aries_cookie());
	arg.ptag = 253;
	EXPECT_EQ(EACCES, aries_ioctl(fd, KGNI_IOC_ATTACH, &arg));
	EXPECT_EQ(EEXIST, aries_ioctl(fd, KGNI_IOC_JOB, &job));
	job.ptag = ARIES_ANY_PTAG;
	job.cookie = 0x007f0000u;
	EXPECT_EQ(EEXIST, aries_ioctl(fd, KGNI_IOC_JOB, &job));
	close(fd);
}

struct waiter {
	int fd;
	int probe; /* else test of endpoint 5 */
	int rc;
	uint64_t id;
};

static void *wait_for_ever(void *arg)
{
	struct waiter *w = arg;
	struct kgni_dgram_test t;

	if (w->probe)
		w->rc = dgram_probe(w->fd, DGRAM_EVER, &w->id);
	else
		w->rc = dgram_test(w->fd, 5, DGRAM_EVER, &t);
	return NULL;
}

static void nothing(int sig)
{
	(void)sig;
}

TEST_F(datagram, wait_and_time_out)
{
	struct kgni_dgram_test t;
	uint64_t id;

	EXPECT_EQ(ENOENT, dgram_test(self->a, 5, 50, &t));
	EXPECT_EQ(ETIMEDOUT, dgram_probe(self->a, 50, &id));
	ASSERT_EQ(0, dgram_wildcard(self->a, 5, ""));
	EXPECT_EQ(ETIMEDOUT, dgram_test(self->a, 5, 50, &t));
}

TEST_F(datagram, wait_ends_by_news_signal_and_all)
{
	struct sigaction sa = { .sa_handler = nothing };
	struct waiter w = { .fd = self->a, .probe = 1 }, v = { .fd = self->a };
	pthread_t thread, other;

	sigaction(SIGUSR1, &sa, NULL);
	/* a zero-length one to oneself whose endpoint is gone at once */
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_ever, &w));
	usleep(50000);
	ASSERT_EQ(0, dgram_directed(self->a, 1, self->pe, 1, ""));
	ASSERT_EQ(0, dgram_cancel(self->a, 1, KGNI_DGRAM_RELEASE));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, w.rc);
	EXPECT_EQ(1001, w.id);

	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_ever, &w));
	usleep(50000);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	EXPECT_EQ(EINTR, w.rc);

	ASSERT_EQ(0, dgram_wildcard(self->a, 5, ""));
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_ever, &w));
	ASSERT_EQ(0, pthread_create(&other, NULL, wait_for_ever, &v));
	usleep(50000);
	EXPECT_EQ(0, dgram_cancel(self->a, 0, KGNI_DGRAM_ALL));
	pthread_join(thread, NULL);
	pthread_join(other, NULL);
	EXPECT_EQ(ECANCELED, w.rc);
	EXPECT_TRUE(v.rc == ECANCELED || v.rc == ENOENT);
}

/* Runs @instance's side in a process that is killed while a datagram of it is pending. */
TEST_F(datagram, process_dies)
{
	int ends[2];
	char ready;
	pid_t child;

	ASSERT_EQ(0, pipe(ends));
	child = fork();
	if (!child) {
		int fd = dgram_attached(self->cookie, 9, NULL);

		if (dgram_directed(fd, 1, self->pe, 2, "from the dead") ||
		    dgram_wildcard(fd, 2, "") || write(ends[1], "r", 1) != 1)
			_exit(1);
		pause();
	}
	ASSERT_EQ(1, read(ends[0], &ready, 1));
	kill(child, SIGKILL);
	ASSERT_EQ(child, waitpid(child, NULL, 0));
	ASSERT_EQ(0, dgram_wildcard(self->b, 6, ""));
	EXPECT_EQ(KGNI_DGRAM_PENDING, dgram_state(self->b, 6, 0));
	ASSERT_EQ(0, dgram_directed(self->a, 5, self->pe, 9, ""));
	EXPECT_EQ(KGNI_DGRAM_PENDING, dgram_state(self->a, 5, 0));
	/* the instance returns */
	child = dgram_attached(self->cookie, 9, NULL);
	ASSERT_LE(0, child);
	ASSERT_EQ(0, dgram_wildcard(child, 2, "again"));
	EXPECT_EQ(KGNI_DGRAM_COMPLETED, dgram_state(self->a, 5, 0));
	close(child);
}

TEST_F(datagram, limit)
{
	uint64_t n;

	for (n = 0; n < KGNI_DGRAM_LIMIT; n++) {
		ASSERT_EQ(0, dgram_wildcard(self->a, n, "x"));
	}
	EXPECT_EQ(ENOSPC, dgram_wildcard(self->a, n, "x"));
	/* all of them meet somebody */
	for (n = 0; n < 500; n++) {
		ASSERT_EQ(0, dgram_directed(self->b, 1, self->pe, 1, "y"));
		ASSERT_EQ(KGNI_DGRAM_COMPLETED, dgram_state(self->b, 1, 0));
	}
	for (n = 0; n < 500; n++) {
		ASSERT_EQ(KGNI_DGRAM_COMPLETED, dgram_state(self->a, n, 0));
	}
	EXPECT_EQ(0, dgram_wildcard(self->a, 1, "x"));
}

/* Another node that is not there: the datagram waits for a while and then gives up. */
TEST_F(datagram, absent_node)
{
	uint32_t absent = self->pe + 1;
	struct kgni_query q = { .argsz = sizeof(q) };
	struct kgni_dgram_test t;

	ASSERT_EQ(0, aries_ioctl(self->a, KGNI_IOC_QUERY, &q));
	if (absent >= q.nodes)
		SKIP(return, "the fabric has one node");
	ASSERT_EQ(0, dgram_directed(self->a, 5, absent, 2, "x"));
	EXPECT_EQ(ETIMEDOUT, dgram_test(self->a, 5, 1000, &t));
	ASSERT_EQ(0, dgram_test(self->a, 5, 2 * DGRAM_LONG, &t));
	EXPECT_EQ(KGNI_DGRAM_TIMEOUT, t.state);
	/* and the node is not written off */
	ASSERT_EQ(0, dgram_directed(self->a, 5, absent, 2, "x"));
	EXPECT_EQ(0, dgram_cancel(self->a, 5, 0));
	EXPECT_EQ(KGNI_DGRAM_TERMINATED, dgram_state(self->a, 5, 100));
}

TEST_HARNESS_MAIN
