// SPDX-License-Identifier: GPL-2.0-only
/*
 * Subscriptions to error events: who gets which, queues that overflow, waiting, and what is refused.
 */
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

#include "raw.h"
#include "view.h"
#include "kselftest_harness.h"

#define TRANSACTION 0x04

static struct kgni_err_subscribe subscribe_arg(uint32_t cookie)
{
	const struct kgni_err_subscribe arg = { .argsz = sizeof(arg),
						.cookie = cookie,
						.ptag = ARIES_ANY_PTAG,
						.mask = 0xff };

	return arg;
}

static int subscribed(uint32_t cookie, uint32_t entries)
{
	struct kgni_err_subscribe arg = subscribe_arg(cookie);
	int fd = aries_open();

	arg.entries = entries;
	if (fd >= 0 && aries_ioctl(fd, KGNI_IOC_ERR_SUBSCRIBE, &arg)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int take(int fd, struct kgni_err_event *event, uint32_t *count, uint64_t timeout_ms)
{
	struct kgni_err_read arg = { .argsz = sizeof(arg),
				     .events = (uintptr_t)event,
				     .count = *count,
				     .timeout_ms = timeout_ms };
	int rc = aries_ioctl(fd, KGNI_IOC_ERR_READ, &arg);

	*count = arg.count;
	return rc;
}

static int take_one(int fd, struct kgni_err_event *event, uint64_t timeout_ms)
{
	uint32_t one = 1;

	return take(fd, event, &one, timeout_ms);
}

FIXTURE(errors)
{
	struct raw r;
	uint32_t cookie;
	uint8_t *page;
	struct kgni_mem_register mem;
};

FIXTURE_SETUP(errors)
{
	self->cookie = aries_cookie();
	self->page = aries_pages(1);
	ASSERT_NE(NULL, self->page);
	ASSERT_EQ(0, raw_open(&self->r, self->cookie));
	ASSERT_EQ(0, aries_register(self->r.fd, self->page, 8, 0, KGNI_NO_CQ, &self->mem));
}

FIXTURE_TEARDOWN(errors)
{
	raw_close(&self->r);
}

static uint32_t fail(struct raw *r, uint32_t mdh, uint8_t *page)
{
	return raw_put(r, 0, mdh, page + ARIES_PAGE, "abcd", 4, 0);
}

TEST_F(errors, an_event_comes_with_its_cause)
{
	struct kgni_err_event event = {};
	int fd = subscribed(self->cookie, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, poll(&p, 1, 0));
	EXPECT_EQ(EAGAIN, take_one(fd, &event, 0));
	EXPECT_EQ(ETIMEDOUT, take_one(fd, &event, 10));
	EXPECT_EQ(ARIES_ST_BOUNDS, fail(&self->r, self->mem.mdh, self->page));
	EXPECT_EQ(1, poll(&p, 1, 10000));
	EXPECT_EQ(POLLIN, p.revents & (POLLIN | POLLERR));
	ASSERT_EQ(0, take_one(fd, &event, 10000));
	EXPECT_EQ(ARIES_ST_BOUNDS, event.code);
	EXPECT_EQ(TRANSACTION, event.category);
	EXPECT_EQ(self->r.at.ptag, event.ptag);
	EXPECT_EQ(1, event.serial);
	EXPECT_EQ(self->r.at.pe, event.info[0] & 0xffffffff);
	EXPECT_EQ(self->mem.mdh, event.info[0] >> 32);
	/* the other end is this NIC too */
	ASSERT_EQ(0, take_one(fd, &event, 10000));
	EXPECT_EQ(2, event.serial);
	EXPECT_EQ(self->r.at.ptag, event.ptag);
	EXPECT_EQ(EAGAIN, take_one(fd, &event, 0));
	close(fd);
}

TEST_F(errors, nothing_of_another_tag)
{
	struct kgni_err_event event = {};
	struct kgni_err_subscribe all = subscribe_arg(0);
	uint32_t cookie = aries_cookie();
	int other = aries_attached(cookie, NULL), theirs = subscribed(cookie, 0);
	int mine = subscribed(self->cookie, 0), any = aries_open();

	ASSERT_LE(0, other);
	ASSERT_LE(0, theirs);
	ASSERT_LE(0, mine);
	all.flags = KGNI_ERR_ALL;
	all.ptag = 0;
	ASSERT_EQ(0, aries_ioctl(any, KGNI_IOC_ERR_SUBSCRIBE, &all));
	EXPECT_EQ(ARIES_ST_BOUNDS, fail(&self->r, self->mem.mdh, self->page));
	EXPECT_EQ(0, take_one(mine, &event, 10000));
	EXPECT_EQ(0, take_one(any, &event, 10000));
	EXPECT_EQ(ETIMEDOUT, take_one(theirs, &event, 50));
	close(other);
	close(theirs);
	close(mine);
	close(any);
}

TEST_F(errors, a_full_queue_counts_what_it_lost)
{
	struct kgni_err_event events[16];
	struct kgni_err_read arg = { .argsz = sizeof(arg),
				     .events = (uintptr_t)events,
				     .count = 16,
				     .timeout_ms = 10000,
				     .batch_ms = 200 };
	int fd = subscribed(self->cookie, 3), i;

	ASSERT_LE(0, fd);
	for (i = 0; i < 4; i++)
		fail(&self->r, self->mem.mdh, self->page);
	usleep(200000);
	ASSERT_EQ(0, aries_ioctl(fd, KGNI_IOC_ERR_READ, &arg));
	EXPECT_EQ(3, arg.count);
	EXPECT_EQ(5, arg.lost);
	EXPECT_EQ(3, events[2].serial);
	fail(&self->r, self->mem.mdh, self->page);
	ASSERT_EQ(0, take_one(fd, events, 10000));
	EXPECT_EQ(9, events[0].serial);
	close(fd);
}

TEST_F(errors, masks)
{
	struct kgni_err_control arg = { .argsz = sizeof(arg), .flags = KGNI_ERR_SET_MASK, .mask = 0x10 };
	struct kgni_err_event event;
	int fd = subscribed(self->cookie, 0);

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, aries_ioctl(fd, KGNI_IOC_ERR_CONTROL, &arg));
	EXPECT_EQ(0xff, arg.mask);
	fail(&self->r, self->mem.mdh, self->page);
	EXPECT_EQ(ETIMEDOUT, take_one(fd, &event, 50));
	arg = (struct kgni_err_control){ .argsz = sizeof(arg) };
	EXPECT_EQ(0, aries_ioctl(fd, KGNI_IOC_ERR_CONTROL, &arg));
	EXPECT_EQ(0x10, arg.mask);
	EXPECT_EQ(self->r.at.ptag, arg.ptag);
	arg.flags = KGNI_ERR_SET_PTAG;
	arg.ptag = 200;
	EXPECT_EQ(0, aries_ioctl(fd, KGNI_IOC_ERR_CONTROL, &arg));
	EXPECT_EQ(self->r.at.ptag, arg.ptag);
	close(fd);
}

/* Its number must not come to mean another domain while somebody listens to it. */
TEST_F(errors, a_subscription_keeps_the_domain)
{
	uint32_t cookie = aries_cookie();
	struct kgni_ptag tag = { .argsz = sizeof(tag), .cookie = cookie };
	int other = aries_attached(cookie, NULL), fd = subscribed(cookie, 0);

	ASSERT_LE(0, other);
	ASSERT_LE(0, fd);
	close(other);
	EXPECT_EQ(0, aries_ioctl(fd, KGNI_IOC_PTAG, &tag));
	close(fd);
	fd = aries_open();
	EXPECT_EQ(ENOENT, aries_ioctl(fd, KGNI_IOC_PTAG, &tag));
	close(fd);
}

TEST_F(errors, what_is_refused)
{
	struct kgni_err_subscribe arg = subscribe_arg(self->cookie);
	struct kgni_err_control control = { .argsz = sizeof(control) };
	struct kgni_err_read read = { .argsz = sizeof(read), .count = 1 };
	struct kgni_err_event event;
	int fd = aries_open();

	ASSERT_LE(0, fd);
	EXPECT_EQ(ENOTCONN, take_one(fd, &event, 0));
	EXPECT_EQ(ENOTCONN, aries_ioctl(fd, KGNI_IOC_ERR_CONTROL, &control));
	arg.cookie++;
	EXPECT_EQ(ENOENT, aries_ioctl(fd, KGNI_IOC_ERR_SUBSCRIBE, &arg));
	arg.cookie--;
	arg.ptag = 100;
	EXPECT_EQ(EACCES, aries_ioctl(fd, KGNI_IOC_ERR_SUBSCRIBE, &arg));
	arg.ptag = 0;
	EXPECT_EQ(EINVAL, aries_ioctl(fd, KGNI_IOC_ERR_SUBSCRIBE, &arg));
	arg.ptag = ARIES_ANY_PTAG;
	arg.entries = KGNI_ERR_ENTRIES_MAX + 1;
	EXPECT_EQ(EINVAL, aries_ioctl(fd, KGNI_IOC_ERR_SUBSCRIBE, &arg));
	arg.entries = 0;
	arg.flags = 2;
	EXPECT_EQ(EINVAL, aries_ioctl(fd, KGNI_IOC_ERR_SUBSCRIBE, &arg));
	arg.flags = KGNI_ERR_ALL; /* with a cookie */
	EXPECT_EQ(EINVAL, aries_ioctl(fd, KGNI_IOC_ERR_SUBSCRIBE, &arg));
	arg.flags = 0;
	arg.reserved = 1;
	EXPECT_EQ(EINVAL, aries_ioctl(fd, KGNI_IOC_ERR_SUBSCRIBE, &arg));
	arg.reserved = 0;
	arg.argsz--;
	EXPECT_EQ(EINVAL, aries_ioctl(fd, KGNI_IOC_ERR_SUBSCRIBE, &arg));
	arg.argsz++;
	ASSERT_EQ(0, aries_ioctl(fd, KGNI_IOC_ERR_SUBSCRIBE, &arg));
	EXPECT_EQ(64, arg.entries);
	EXPECT_EQ(EBUSY, aries_ioctl(fd, KGNI_IOC_ERR_SUBSCRIBE, &arg));
	read.count = 0;
	EXPECT_EQ(EINVAL, aries_ioctl(fd, KGNI_IOC_ERR_READ, &read));
	read.count = 1;
	read.flags = 1;
	EXPECT_EQ(EINVAL, aries_ioctl(fd, KGNI_IOC_ERR_READ, &read));
	fail(&self->r, self->mem.mdh, self->page);
	read.flags = 0;
	read.timeout_ms = 10000;
	EXPECT_EQ(EFAULT, aries_ioctl(fd, KGNI_IOC_ERR_READ, &read));
	control.flags = 4;
	EXPECT_EQ(EINVAL, aries_ioctl(fd, KGNI_IOC_ERR_CONTROL, &control));
	close(fd);
}

TEST_F(errors, who_is_not_privileged)
{
	struct kgni_err_subscribe all = subscribe_arg(0), own = subscribe_arg(self->cookie);
	struct kgni_err_control control = { .argsz = sizeof(control),
					    .flags = KGNI_ERR_SET_PTAG };
	int fd = aries_open();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, setresuid(ARIES_NOBODY, ARIES_NOBODY, 0));
	all.flags = KGNI_ERR_ALL;
	EXPECT_EQ(EPERM, aries_ioctl(fd, KGNI_IOC_ERR_SUBSCRIBE, &all));
	EXPECT_EQ(0, aries_ioctl(fd, KGNI_IOC_ERR_SUBSCRIBE, &own));
	EXPECT_EQ(EPERM, aries_ioctl(fd, KGNI_IOC_ERR_CONTROL, &control));
	ASSERT_EQ(0, setresuid(0, 0, 0));
	close(fd);
}

static void nothing(int sig)
{
	(void)sig;
}

struct sleeper {
	int fd, rc;
};

static void *sleep_for_an_event(void *arg)
{
	struct kgni_err_event event;
	struct sleeper *s = arg;

	s->rc = take_one(s->fd, &event, ~0ull);
	return NULL;
}

TEST_F(errors, a_signal_ends_the_wait)
{
	struct sigaction action = { .sa_handler = nothing };
	struct sleeper s = { subscribed(self->cookie, 0), -1 };
	pthread_t thread;

	ASSERT_LE(0, s.fd);
	sigaction(SIGUSR1, &action, NULL);
	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_for_an_event, &s));
	usleep(200000);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	EXPECT_EQ(EINTR, s.rc);
	close(s.fd);
}

#define FLOOD 12000 /* events that are told while more come */

struct flood {
	struct raw *r;
	uint32_t mdh;
	uint8_t *page;
	volatile int over;
	long long errors;
};

static void *cause_errors(void *arg)
{
	struct flood *f = arg;

	for (; !f->over; f->errors++)
		fail(f->r, f->mdh, f->page);
	return NULL;
}

/* Error events that the NIC had no room for. */
static long long lost(void)
{
	FILE *f = fopen(VIEW_DIR "objects", "r");
	long long value = -1;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "errors %*d lost %lld", &value);
	if (f)
		fclose(f);
	return value;
}

/* Reads events until no more come, or there were @enough; how many the subscription has been told. */
static long long read_all(int fd, long long enough)
{
	static long long sum;
	struct kgni_err_event events[64];
	struct kgni_err_read arg = {};

	while (sum + (long long)arg.lost < enough) {
		arg = (struct kgni_err_read){ .argsz = sizeof(arg), .events = (uintptr_t)events,
					      .count = 64, .timeout_ms = 2000, .lost = arg.lost };
		if (aries_ioctl(fd, KGNI_IOC_ERR_READ, &arg))
			break;
		sum += arg.count;
	}
	return sum + (long long)arg.lost;
}

/* However fast a process causes errors, each is told, or counted as lost by the NIC. */
TEST_F(errors, a_flood)
{
	struct flood f = { .r = &self->r, .mdh = self->mem.mdh, .page = self->page };
	const long long before = lost();
	struct kgni_err_event event;
	int fd = subscribed(self->cookie, KGNI_ERR_ENTRIES_MAX), other;
	struct kgni_mem_register mem;
	uint32_t cookie = aries_cookie();
	long long told;
	struct raw foe;
	pthread_t thread;

	ASSERT_LE(0, fd);
	ASSERT_LE(0, before);
	ASSERT_EQ(0, raw_open(&foe, cookie));
	ASSERT_EQ(0, aries_register(foe.fd, self->page, 8, 0, KGNI_NO_CQ, &mem));
	other = subscribed(cookie, 0);
	ASSERT_LE(0, other);
	ASSERT_EQ(0, pthread_create(&thread, NULL, cause_errors, &f));
	EXPECT_LE(FLOOD, read_all(fd, FLOOD));
	f.over = 1;
	pthread_join(thread, NULL);
	told = read_all(fd, LLONG_MAX);
	TH_LOG("%lld told, %lld lost by the NIC", told, lost() - before);
	/* on both sides of each operation */
	EXPECT_EQ(2 * f.errors, told + lost() - before);
	/* nothing is left over, and the next error of somebody else is told */
	EXPECT_EQ(ARIES_ST_BOUNDS, fail(&foe, mem.mdh, self->page));
	EXPECT_EQ(0, take_one(other, &event, 10000));
	raw_close(&foe);
	close(other);
	close(fd);
}

TEST_HARNESS_MAIN
