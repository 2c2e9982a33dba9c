// SPDX-License-Identifier: GPL-2.0-only
/*
 * The global clock (N25): reading, mapping, waiting.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "aries_test.h"
#include "kselftest_harness.h"

#define MS 1000000ull

static uint64_t global_now(int fd)
{
	struct kgni_clock clock = { .argsz = sizeof(clock) };

	return aries_ioctl(fd, KGNI_IOC_CLOCK, &clock) ? 0 : clock.now;
}

static int wait_until(int fd, uint64_t until, uint64_t *now)
{
	struct kgni_clock_wait arg = { .argsz = sizeof(arg), .until = until };
	int rc = aries_ioctl(fd, KGNI_IOC_CLOCK_WAIT, &arg);

	if (now)
		*now = arg.now;
	return rc;
}

FIXTURE(clock)
{
	int fd;
	struct kgni_clock clock;
};

FIXTURE_SETUP(clock)
{
	self->fd = aries_attached(aries_cookie(), NULL);
	ASSERT_LE(0, self->fd);
	self->clock = (struct kgni_clock){ .argsz = sizeof(self->clock) };
	ASSERT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_CLOCK, &self->clock));
}

FIXTURE_TEARDOWN(clock)
{
	close(self->fd);
}

/* Forward only, and about as fast as the kernel's clock. */
/* Both clocks at one time: the system's was read between the two readings of the NIC's. */
struct both {
	uint64_t before, system, after;
};

static struct both both_clocks(int fd)
{
	struct both b = { .before = global_now(fd) };
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	b.system = (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
	b.after = global_now(fd);
	return b;
}

/* However long a reading waits for a processor, the time between two of them is known from both sides. */
TEST_F(clock, runs)
{
	struct both start = both_clocks(self->fd), end;
	uint64_t last = start.after;
	int i;

	EXPECT_EQ(1000000000, self->clock.rate);
	EXPECT_LT(0, start.before);
	for (i = 0; i < 20; i++) {
		uint64_t now = global_now(self->fd);

		EXPECT_LE(last, now);
		last = now;
		usleep(10000);
	}
	end = both_clocks(self->fd);
	EXPECT_LE(last, end.before);
	EXPECT_LT((end.system - start.system) / 2, end.after - start.before);
	EXPECT_GT((end.system - start.system) * 2, end.before - start.after);
}

TEST_F(clock, page_and_file_agree_with_the_call)
{
	volatile uint64_t *word = mmap(NULL, ARIES_PAGE, PROT_READ, MAP_SHARED, self->fd,
				       (off_t)self->clock.mmap_offset);
	uint64_t a, b, c;
	int i;

	ASSERT_NE(MAP_FAILED, (void *)word);
	EXPECT_EQ(ARIES_PAGE, self->clock.mmap_size);
	for (i = 0; i < 100; i++) {
		a = global_now(self->fd);
		b = *word;
		c = (uint64_t)aries_number("clock");
		EXPECT_LE(a, b);
		EXPECT_LE(b, c);
		EXPECT_GT(a + 10000 * MS, c);
	}
	munmap((void *)word, ARIES_PAGE);
}

/* Nothing else of BAR 0, and nothing to write. */
TEST_F(clock, page_is_read_only)
{
	off_t at = (off_t)self->clock.mmap_offset;
	void *page;

	EXPECT_EQ(MAP_FAILED, mmap(NULL, ARIES_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, self->fd, at));
	EXPECT_EQ(EPERM, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 2 * ARIES_PAGE, PROT_READ, MAP_SHARED, self->fd, at));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, ARIES_PAGE, PROT_READ, MAP_SHARED, self->fd,
				   at + (off_t)ARIES_PAGE));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(MAP_FAILED, mmap(NULL, ARIES_PAGE, PROT_READ, MAP_PRIVATE, self->fd, at));
	EXPECT_EQ(EINVAL, errno);
	page = mmap(NULL, ARIES_PAGE, PROT_READ, MAP_SHARED, self->fd, at);
	ASSERT_NE(MAP_FAILED, page);
	EXPECT_EQ(-1, mprotect(page, ARIES_PAGE, PROT_READ | PROT_WRITE));
	EXPECT_EQ(EACCES, errno);
	munmap(page, ARIES_PAGE);
}

TEST_F(clock, mapping_needs_an_attachment)
{
	int fd = aries_open();

	ASSERT_LE(0, fd);
	EXPECT_LT(0, global_now(fd));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, ARIES_PAGE, PROT_READ, MAP_SHARED, fd,
				   (off_t)self->clock.mmap_offset));
	EXPECT_EQ(ENOTCONN, errno);
	close(fd);
}

TEST_F(clock, waits)
{
	uint64_t start = global_now(self->fd), now = 0;
	int i;

	EXPECT_EQ(0, wait_until(self->fd, 0, &now));
	EXPECT_LE(start, now);
	for (i = 1; i <= 5; i++) {
		EXPECT_EQ(0, wait_until(self->fd, start + (uint64_t)i * 50 * MS, &now));
		EXPECT_LE(start + (uint64_t)i * 50 * MS, now);
	}
	EXPECT_GT(start + 20000 * MS, now);
}

struct sleeper {
	pthread_t thread;
	int fd, rc;
	uint64_t until, now;
};

static void *sleep_on(void *arg)
{
	struct sleeper *s = arg;

	s->rc = wait_until(s->fd, s->until, &s->now);
	return NULL;
}

/* One timer serves all of them, in whatever order they came. */
TEST_F(clock, many_wait)
{
	struct sleeper s[12];
	uint64_t start = global_now(self->fd);
	unsigned int i;

	for (i = 0; i < 12; i++) {
		s[i].fd = self->fd;
		s[i].until = start + (i * 7 % 12) * 30 * MS;
		ASSERT_EQ(0, pthread_create(&s[i].thread, NULL, sleep_on, &s[i]));
	}
	for (i = 0; i < 12; i++) {
		pthread_join(s[i].thread, NULL);
		EXPECT_EQ(0, s[i].rc);
		EXPECT_LE(s[i].until, s[i].now);
	}
}

static void nothing(int sig)
{
	(void)sig;
}

/* The timer is set for the earliest, not for whoever came first or goes latest. */
TEST_F(clock, a_late_one_holds_up_nobody)
{
	struct sigaction action = { .sa_handler = nothing };
	uint64_t start = global_now(self->fd), now = 0;
	struct sleeper late = { .fd = self->fd, .rc = -1, .until = start + 25000 * MS };

	sigaction(SIGUSR1, &action, NULL);
	ASSERT_EQ(0, pthread_create(&late.thread, NULL, sleep_on, &late));
	usleep(200000);
	EXPECT_EQ(0, wait_until(self->fd, start + 300 * MS, &now));
	EXPECT_GT(start + 20000 * MS, now);
	pthread_kill(late.thread, SIGUSR1);
	pthread_join(late.thread, NULL);
	EXPECT_EQ(EINTR, late.rc);
}

TEST_F(clock, signal_ends_a_wait)
{
	struct sigaction act = { .sa_handler = nothing };
	struct itimerspec in = { .it_value = { .tv_nsec = 100000000 } };
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t timer;

	sigaction(SIGUSR1, &act, NULL);
	ASSERT_EQ(0, timer_create(CLOCK_MONOTONIC, &ev, &timer));
	ASSERT_EQ(0, timer_settime(timer, 0, &in, NULL));
	EXPECT_EQ(EINTR, wait_until(self->fd, UINT64_MAX, NULL));
	timer_delete(timer);
	/* The timer is free again. */
	EXPECT_EQ(0, wait_until(self->fd, global_now(self->fd) + 10 * MS, NULL));
}

/* As clock_nanosleep() to an absolute time: nothing but a handler ends it. */
TEST_F(clock, a_stop_does_not_end_a_wait)
{
	const uint64_t until = global_now(self->fd) + 400 * MS;
	uint64_t now = 0;
	int status;
	pid_t pid;

	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(wait_until(self->fd, until, &now) ?: now < until ? 100 : 0);
	while (global_now(self->fd) < until - 200 * MS)
		usleep(10000);
	EXPECT_EQ(0, kill(pid, SIGSTOP));
	EXPECT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	EXPECT_TRUE(WIFSTOPPED(status));
	EXPECT_EQ(0, kill(pid, SIGCONT));
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status) {
		TH_LOG("errno %d", WEXITSTATUS(status));
	}
}

TEST_HARNESS_MAIN
