// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cookies that belong to no domain: whoever names many of them waits, by whatever call; nobody else
 * does, and who knows a cookie does not either.
 *
 * Times are compared from below only: a slow machine makes no pause shorter.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "aries_test.h"
#include "kselftest_harness.h"

#define FREE 8 /* wrong ones without a pause */
#define WRONG (FREE + 6)
#define LEAST_MS 300 /* of 10 + 20 + ... + 160 ms, with room for timers that are early */

FIXTURE(cookies)
{
	uint32_t cookie;
	int root; /* keeps the domain */
	uid_t user;
};

FIXTURE_SETUP(cookies)
{
	self->cookie = aries_cookie();
	self->root = aries_attached(self->cookie, NULL);
	ASSERT_LE(0, self->root);
	/* wrong ones are remembered for a while: each test has users of its own */
	self->user = 100000 + (uid_t)getpid() * 4;
}

FIXTURE_TEARDOWN(cookies)
{
	close(self->root);
}

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

static int by_ptag(uint32_t cookie)
{
	struct kgni_ptag arg = { .argsz = sizeof(arg), .cookie = cookie };
	int fd = aries_open(), rc = aries_ioctl(fd, KGNI_IOC_PTAG, &arg);

	close(fd);
	return rc;
}

static int by_attach(uint32_t cookie)
{
	int fd = aries_attached(cookie, NULL);

	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}

static int by_subscribe(uint32_t cookie)
{
	struct kgni_err_subscribe arg = { .argsz = sizeof(arg), .cookie = cookie,
					  .ptag = ARIES_ANY_PTAG, .mask = 0xff };
	int fd = aries_open(), rc = aries_ioctl(fd, KGNI_IOC_ERR_SUBSCRIBE, &arg);

	close(fd);
	return rc;
}

typedef int (*attempt)(uint32_t cookie);

struct child {
	uid_t user;
	uint32_t cookie;
	attempt try;
	volatile int *tries; /* shared with the parent */
	int (*body)(struct child *c);
};

static pid_t start(struct child *c)
{
	pid_t pid = fork();

	if (!pid) {
		if (setresgid(c->user, c->user, c->user) || setresuid(c->user, c->user, c->user))
			_exit(250);
		_exit(c->body(c));
	}
	return pid;
}

static int run(struct child *c)
{
	pid_t pid = start(c);
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* 0 if @count wrong ones were refused, and took at least @least_ms. */
static int guess(struct child *c, int count, long long least_ms)
{
	long long begin = now_ms();
	int i, rc;

	for (i = 0; i < count; i++) {
		rc = c->try(c->cookie + 0x10000 + i);
		if (rc != ENOENT && rc != EPERM)
			return 1;
	}
	return now_ms() - begin < least_ms ? 2 : 0;
}

static int many(struct child *c)
{
	return guess(c, WRONG, LEAST_MS);
}

TEST_F_TIMEOUT(cookies, many_take_long_by_every_call, 120)
{
	const attempt calls[] = { by_ptag, by_attach, by_subscribe };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct child c = { .user = self->user + i, .cookie = self->cookie,
				   .try = calls[i], .body = many };

		EXPECT_EQ(0, run(&c)) {
			TH_LOG("call %u", i);
		}
	}
}

/* Each process has made few, their user many. */
static int few(struct child *c)
{
	return guess(c, FREE, 0);
}

static int more(struct child *c)
{
	/* two more: on a slow machine some may have been forgotten since */
	return guess(c, WRONG - FREE + 2, LEAST_MS);
}

TEST_F_TIMEOUT(cookies, all_processes_of_a_user_count, 120)
{
	struct child c = { .user = self->user, .cookie = self->cookie, .try = by_ptag, .body = few };

	EXPECT_EQ(0, run(&c));
	c.body = more;
	EXPECT_EQ(0, run(&c));
}

static int few_as_somebody_else(struct child *c)
{
	/* root of a namespace of its own */
	return unshare(CLONE_NEWUSER) ? 249 : guess(c, FREE, 0);
}

TEST_F_TIMEOUT(cookies, namespaces_are_their_users, 120)
{
	struct child c = { .user = self->user, .cookie = self->cookie, .try = by_ptag,
			   .body = few_as_somebody_else };
	int rc = run(&c);

	if (rc == 249)
		SKIP(return, "no user namespaces");
	EXPECT_EQ(0, rc);
	c.body = more;
	EXPECT_EQ(0, run(&c));
}

/* One wrong cookie of a user of this namespace; 0 if it was refused. */
static int one_as(struct child *c, uid_t user, uint32_t cookie)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (setresuid(user, user, user))
			_exit(250);
		status = c->try(cookie);
		_exit(status != ENOENT && status != EPERM);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid ? 251 : WEXITSTATUS(status);
}

/* Root of a container is one user after the other. @ready says when its users are there. */
static int in_container(struct child *c, int ready)
{
	long long begin;
	int i, rc = 0;
	char word;

	if (read(ready, &word, 1) != 1 || setresuid(0, 0, 0))
		return 248;
	begin = now_ms();
	for (i = 0; i < WRONG && !rc; i++)
		rc = one_as(c, (uid_t)i, c->cookie + 0x40000 + (uint32_t)i);
	return rc ?: now_ms() - begin < LEAST_MS ? 2 : 0;
}

static int map_users(pid_t pid, uid_t first)
{
	char path[64], map[64];

	snprintf(path, sizeof(path), "/proc/%d/uid_map", (int)pid);
	snprintf(map, sizeof(map), "0 %u %u\n", first, WRONG);
	return aries_write_file(path, map);
}

/* The host's root makes the namespace, as those who start containers do. */
TEST_F_TIMEOUT(cookies, users_of_a_container_count_as_one, 120)
{
	struct child c = { .cookie = self->cookie, .try = by_ptag };
	int made[2], ready[2], status;
	char word;
	pid_t pid;

	ASSERT_EQ(0, pipe(made));
	ASSERT_EQ(0, pipe(ready));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		if (unshare(CLONE_NEWUSER))
			_exit(249);
		if (write(made[1], "", 1) != 1)
			_exit(248);
		_exit(in_container(&c, ready[0]));
	}
	close(made[1]);
	if (read(made[0], &word, 1) == 1) {
		EXPECT_EQ(0, map_users(pid, self->user));
		EXPECT_EQ(1, write(ready[1], "", 1));
	}
	close(ready[1]);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	if (WEXITSTATUS(status) == 249)
		SKIP(return, "no user namespaces");
	EXPECT_EQ(0, status);
}

static int for_ever(struct child *c)
{
	guess(c, FREE, 0);
	for (;;) {
		c->try(c->cookie + 0x20000 + *c->tries);
		++*c->tries;
	}
	return 0;
}

/* All that a job does to get in, again and again. 0 if nothing of it was refused. */
static int enter(struct child *c)
{
	int i, rc = 0;

	for (i = 0; i < 100 && !rc; i++)
		rc = by_ptag(c->cookie) ?: by_attach(c->cookie) ?: by_subscribe(c->cookie);
	return rc;
}

/* While one guesses, members of a domain enter 300 times: others, and those of the same user. */
TEST_F_TIMEOUT(cookies, who_knows_one_does_not_wait, 300)
{
	struct child bad = { .user = self->user, .cookie = self->cookie, .try = by_ptag,
			     .body = for_ever };
	struct child good = { .user = self->user, .cookie = self->cookie, .body = enter };
	struct child other = { .user = self->user + 1, .cookie = self->cookie, .body = enter };
	int before, status;
	pid_t pid;

	bad.tries = mmap(NULL, ARIES_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)bad.tries);
	pid = start(&bad);
	ASSERT_LT(0, pid);
	while (*bad.tries < 6)
		usleep(1000);
	before = *bad.tries;
	EXPECT_EQ(0, run(&other));
	EXPECT_EQ(0, run(&good));
	/* root may guess */
	for (status = 0; status < 100; status++) {
		EXPECT_EQ(ENOENT, by_ptag(self->cookie + 0x30000 + (uint32_t)status));
	}
	EXPECT_GT(100, *bad.tries - before) {
		TH_LOG("%d guesses meanwhile", *bad.tries - before);
	}
	/* whoever waits can be killed, and leaves nothing locked */
	EXPECT_EQ(0, kill(pid, SIGKILL));
	EXPECT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(0, run(&good));
	munmap((void *)bad.tries, ARIES_PAGE);
}

TEST_HARNESS_MAIN
