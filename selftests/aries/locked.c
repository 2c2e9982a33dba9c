// SPDX-License-Identifier: GPL-2.0-only
/*
 * RLIMIT_MEMLOCK: what a user may have in all its processes together, pages, translation tables and
 * queues; and who may register memory through a file at all.
 */
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "aries_test.h"
#include "kselftest_harness.h"

#define LIMIT 64 /* pages */

FIXTURE(locked)
{
	uint32_t cookie;
	int root; /* keeps the domain */
	struct aries_use before;
};

FIXTURE_SETUP(locked)
{
	self->before = aries_use();
	self->cookie = aries_cookie();
	self->root = aries_attached(self->cookie, NULL);
	ASSERT_LE(0, self->root);
}

FIXTURE_TEARDOWN(locked)
{
	close(self->root);
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

/* Without privileges, and with at most LIMIT pages. */
static int become_nobody(void)
{
	struct rlimit limit = { LIMIT * ARIES_PAGE, LIMIT * ARIES_PAGE };

	return setrlimit(RLIMIT_MEMLOCK, &limit) || setresgid(ARIES_NOBODY, ARIES_NOBODY, ARIES_NOBODY) ||
	       setresuid(ARIES_NOBODY, ARIES_NOBODY, ARIES_NOBODY);
}

/* Exit status of @body in a child of its own. */
static int in_child(int (*body)(void *arg), void *arg)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(body(arg));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

/* How many registrations of a page a user has room for, each with its table; all end with the file. */
static int room(uint32_t cookie)
{
	uint8_t *page = aries_pages(1);
	int fd = aries_attached(cookie, NULL), n = 0, rc;

	if (fd < 0)
		return 200;
	do
		rc = aries_register(fd, page, 8, 0, KGNI_NO_CQ, NULL);
	while (!rc && ++n < 2 * LIMIT);
	close(fd);
	return rc == EPERM ? n : 201;
}

static int room_of_nobody(void *arg)
{
	return become_nobody() ? 250 : room(*(uint32_t *)arg);
}

/* A page and a page of its table each. */
TEST_F(locked, tables_count)
{
	EXPECT_EQ(LIMIT / 2, in_child(room_of_nobody, &self->cookie));
	EXPECT_EQ(LIMIT / 2, in_child(room_of_nobody, &self->cookie));
}

static int queues(void *arg)
{
	int fd, n = 0, rc;

	if (become_nobody())
		return 250;
	fd = aries_attached(*(uint32_t *)arg, NULL);
	/* 2 pages each: header and slots */
	do
		rc = aries_cq(fd, 100, 0, NULL);
	while (!rc && ++n < LIMIT);
	if (rc != EPERM)
		return 251;
	/* refused, whatever its size, and nothing is left of it */
	if (aries_cq(fd, 4000, 0, NULL) != EPERM)
		return 252;
	if (aries_register(fd, aries_pages(1), 8, 0, KGNI_NO_CQ, NULL) != EPERM)
		return 253;
	close(fd);
	return room(*(uint32_t *)arg) == LIMIT / 2 ? n : 254;
}

TEST_F(locked, queues_count)
{
	EXPECT_EQ(LIMIT / 2, in_child(queues, &self->cookie));
	EXPECT_EQ(LIMIT / 2, in_child(room_of_nobody, &self->cookie));
}

/* The pages that a region gets by and by, and those of its table. */
static int updates(void *arg)
{
	const size_t pages = 2 * LIMIT;
	uint8_t *p = aries_pages(pages);
	struct kgni_mem_register mem;
	struct kgni_mem_update up = { .argsz = sizeof(up), .address = (uintptr_t)p,
				      .length = ARIES_PAGE };
	int fd, n = 0, rc;

	if (become_nobody())
		return 250;
	fd = aries_attached(*(uint32_t *)arg, NULL);
	if (aries_register(fd, p, pages * ARIES_PAGE, KGNI_MEM_RESERVE, KGNI_NO_CQ, &mem))
		return 251;
	up.mdh = mem.mdh;
	for (;; up.address += ARIES_PAGE, n++) {
		rc = aries_ioctl(fd, KGNI_IOC_MEM_UPDATE, &up);
		if (rc)
			break;
	}
	if (rc != EPERM)
		return 252;
	close(fd);
	return room(*(uint32_t *)arg) == LIMIT / 2 ? n : 254;
}

TEST_F(locked, reserved_regions)
{
	/* directory and one page of entries */
	EXPECT_EQ(LIMIT - 2, in_child(updates, &self->cookie));
	EXPECT_EQ(LIMIT / 2, in_child(room_of_nobody, &self->cookie));
}

/* Whatever fails takes nothing off the account. */
static int failures(void *arg)
{
	uint32_t cookie = *(uint32_t *)arg;
	uint8_t *hole = aries_pages(8), *read_only = mmap(NULL, 4 * ARIES_PAGE, PROT_READ,
							  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct kgni_mem_segment bad[2] = { { (uintptr_t)hole, ARIES_PAGE },
					   { (uintptr_t)hole + 3 * ARIES_PAGE, ARIES_PAGE } };
	struct kgni_mem_segments segments = { .argsz = sizeof(segments), .count = 2,
					      .segments = (uintptr_t)bad, .cq = KGNI_NO_CQ };
	int fd, i;

	munmap(hole + 2 * ARIES_PAGE, 4 * ARIES_PAGE);
	if (become_nobody())
		return 250;
	fd = aries_attached(cookie, NULL);
	for (i = 0; i < LIMIT; i++) {
		if (aries_register(fd, hole, 8 * ARIES_PAGE, 0, KGNI_NO_CQ, NULL) != EFAULT)
			return 101;
		if (aries_register(fd, read_only, 4 * ARIES_PAGE, 0, KGNI_NO_CQ, NULL) != EACCES)
			return 102;
		if (aries_register(fd, hole, ARIES_PAGE, 0, 77, NULL) != ENOENT)
			return 103;
		if (aries_register(fd, hole, ARIES_PAGE, KGNI_MEM_VMDH, KGNI_NO_CQ, NULL) != ENOENT)
			return 104;
		if (aries_ioctl(fd, KGNI_IOC_MEM_SEGMENTS, &segments) != EFAULT)
			return 105;
		if (aries_register(fd, hole, 2 * LIMIT * ARIES_PAGE, 0, KGNI_NO_CQ, NULL) != EPERM)
			return 106;
	}
	close(fd);
	return room(cookie);
}

TEST_F(locked, failures_cost_nothing)
{
	EXPECT_EQ(LIMIT / 2, in_child(failures, &self->cookie));
}

/* Ends with all that it has, by a signal. */
static int killed(void *arg)
{
	uint8_t *page = aries_pages(16);
	int fd;

	if (become_nobody())
		return 250;
	fd = aries_attached(*(uint32_t *)arg, NULL);
	aries_cq(fd, 100, 0, NULL);
	while (!aries_register(fd, page, 16 * ARIES_PAGE, 0, KGNI_NO_CQ, NULL))
		;
	return raise(SIGKILL);
}

TEST_F(locked, who_is_killed)
{
	EXPECT_EQ(256 + SIGKILL, in_child(killed, &self->cookie));
	EXPECT_EQ(LIMIT / 2, in_child(room_of_nobody, &self->cookie));
}

static int register_one(void *arg)
{
	return aries_register(*(int *)arg, aries_pages(1), 8, 0, KGNI_NO_CQ, NULL);
}

/* A child has the file of its parent, and registers nothing through it; it may have one of its own. */
TEST_F(locked, not_through_the_file_of_another_process)
{
	struct kgni_mem_segment one = { (uintptr_t)aries_pages(1), 8 };
	struct kgni_mem_segments segments = { .argsz = sizeof(segments), .count = 1,
					      .segments = (uintptr_t)&one, .cq = KGNI_NO_CQ };
	pid_t pid;
	int status;

	EXPECT_EQ(EBADF, in_child(register_one, &self->root));
	pid = fork();
	if (!pid) {
		if (aries_ioctl(self->root, KGNI_IOC_MEM_SEGMENTS, &segments) != EBADF)
			_exit(1);
		if (aries_attached(self->cookie, NULL) < 0)
			_exit(2);
		_exit(0);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, register_one(&self->root));
}

static int send_file(int to, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = "", byte = 0;
	struct iovec io = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(to, &msg, 0) == 1 ? 0 : errno;
}

/*
 * Children that register in files of their own, leave these to somebody else and end: the memory
 * stays pinned, and stays on the account of the user.
 */
static int evade(void *arg)
{
	uint32_t cookie = *(uint32_t *)arg;
	int pair[2], children, status, sum = 0;

	if (become_nobody() || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return 250;
	for (children = 0; children < 8; children++) {
		pid_t pid = fork();

		if (!pid) {
			int fd = aries_attached(cookie, NULL), n = 0;

			while (n < LIMIT && !aries_register(fd, aries_pages(1), 8, 0, KGNI_NO_CQ, NULL))
				n++;
			/* in flight in the socket: nobody has taken it yet */
			_exit(send_file(pair[0], fd) ? 200 : n);
		}
		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) > LIMIT)
			return 251;
		sum += WEXITSTATUS(status);
	}
	if (aries_number("resources/pinned_pages") < sum)
		return 252;
	close(pair[0]);
	close(pair[1]);
	/* the last reference to files in flight goes with the socket, not always at once */
	for (status = 0; status < 3000 && room(cookie) != LIMIT / 2; status++)
		usleep(10000);
	return room(cookie) == LIMIT / 2 ? sum : 253;
}

TEST_F_TIMEOUT(locked, all_processes_of_a_user_together, 120)
{
	EXPECT_EQ(LIMIT / 2, in_child(evade, &self->cookie));
}

/* Who has CAP_IPC_LOCK has no limit, and takes nothing from the others of its user. */
TEST_F(locked, not_the_privileged)
{
	struct rlimit limit = { 0, 0 };
	struct kgni_mem_register mem;

	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	EXPECT_EQ(0, aries_register(self->root, aries_pages(512), 512 * ARIES_PAGE, 0, KGNI_NO_CQ,
				    &mem));
	EXPECT_EQ(0, aries_cq(self->root, 10000, 0, NULL));
}

TEST_HARNESS_MAIN
