// SPDX-License-Identifier: GPL-2.0-only
/*
 * Virtual node addresses and balanced injection: what a launcher sets up.
 */
#include <sys/wait.h>

#include "raw.h"
#include "kselftest_harness.h"

FIXTURE(ntt)
{
	int fd;
	struct kgni_ntt_info before;
};

static struct kgni_ntt_info info(int fd)
{
	struct kgni_ntt_info arg = { .argsz = sizeof(arg) };

	if (aries_ioctl(fd, KGNI_IOC_NTT_INFO, &arg))
		arg.entries = 0;
	return arg;
}

FIXTURE_SETUP(ntt)
{
	self->fd = aries_open();
	ASSERT_LE(0, self->fd);
	self->before = info(self->fd);
	ASSERT_EQ(ARIES_NTT_ENTRIES, self->before.entries);
}

FIXTURE_TEARDOWN(ntt)
{
	EXPECT_EQ(self->before.used, info(self->fd).used);
	close(self->fd);
}

static int table(int fd, uint32_t flags, const struct kgni_ntt_entry *entries, uint32_t count,
		 uint32_t granularity, uint32_t *base)
{
	struct kgni_ntt arg = { .argsz = sizeof(arg),
				.flags = flags,
				.count = count,
				.granularity = granularity,
				.base = *base,
				.entries = (uintptr_t)entries };
	int rc = aries_ioctl(fd, KGNI_IOC_NTT, &arg);

	*base = arg.base;
	return rc;
}

static int job(int fd, uint32_t cookie, uint32_t flags)
{
	struct kgni_job arg = { .argsz = sizeof(arg), .flags = flags, .job_id = 5, .cookie = cookie,
				.ptag = ARIES_ANY_PTAG, .limit_mdd = -1, .limit_cq = -1,
				.limit_fma = -1 };

	return aries_ioctl(fd, KGNI_IOC_JOB, &arg);
}

static int tie(int fd, uint32_t cookie, uint32_t base, uint32_t size, uint32_t flags)
{
	struct kgni_job_ntt arg = { .argsz = sizeof(arg), .flags = flags, .cookie = cookie,
				    .base = base, .size = size };

	return aries_ioctl(fd, KGNI_IOC_JOB_NTT, &arg);
}

TEST_F(ntt, entries_come_and_go)
{
	const struct kgni_ntt_entry two[2] = { { .block = 0 }, { .block = 1 } };
	uint32_t a = 99, b = 99, all = UINT32_MAX;

	ASSERT_EQ(0, table(self->fd, 0, two, 2, 1, &a));
	ASSERT_EQ(0, table(self->fd, 0, two, 2, 1, &b));
	EXPECT_EQ(1, info(self->fd).granularity);
	EXPECT_EQ(self->before.used + 4, info(self->fd).used);
	EXPECT_EQ(a + 2, b);
	EXPECT_EQ(EBUSY, table(self->fd, 0, two, 2, 4, &b));
	EXPECT_EQ(0, table(self->fd, KGNI_NTT_CHANGE, two, 1, 1, &b));
	EXPECT_EQ(0, table(self->fd, KGNI_NTT_CLEAR, NULL, 2, 0, &a));
	EXPECT_EQ(ENOENT, table(self->fd, KGNI_NTT_CLEAR, NULL, 2, 0, &a));
	EXPECT_EQ(ENOENT, table(self->fd, KGNI_NTT_CHANGE, two, 1, 1, &a));
	EXPECT_EQ(0, table(self->fd, KGNI_NTT_CLEAR, NULL, UINT32_MAX, 0, &all));
	EXPECT_EQ(0, info(self->fd).used);
	/* Empty: another granularity. */
	ASSERT_EQ(0, table(self->fd, 0, two, 2, 4, &a));
	EXPECT_EQ(4, info(self->fd).granularity);
	EXPECT_EQ(0, table(self->fd, KGNI_NTT_CLEAR, NULL, 2, 0, &a));
	ASSERT_EQ(0, table(self->fd, 0, two, 2, 1, &a));
	EXPECT_EQ(0, table(self->fd, KGNI_NTT_CLEAR, NULL, 2, 0, &a));
}

TEST_F(ntt, refused)
{
	struct kgni_ntt_entry bad[2] = {};
	uint32_t base = 0, far = ARIES_NTT_ENTRIES - 1;
	struct kgni_ntt arg = { .argsz = sizeof(arg), .count = 1, .granularity = 1,
				.entries = (uintptr_t)bad, .reserved = 1 };

	EXPECT_EQ(EINVAL, aries_ioctl(self->fd, KGNI_IOC_NTT, &arg));
	EXPECT_EQ(EINVAL, table(self->fd, 4, bad, 1, 1, &base));
	EXPECT_EQ(EINVAL, table(self->fd, 0, bad, 0, 1, &base));
	EXPECT_EQ(EINVAL, table(self->fd, 0, bad, 1, 0, &base));
	EXPECT_EQ(EINVAL, table(self->fd, 0, bad, 1, 3, &base));
	EXPECT_EQ(EINVAL, table(self->fd, 0, bad, 1, 256, &base));
	EXPECT_EQ(EINVAL, table(self->fd, KGNI_NTT_CLEAR, bad, 1, 1, &base));
	EXPECT_EQ(ENOSPC, table(self->fd, 0, bad, ARIES_NTT_ENTRIES + 1, 1, &base));
	EXPECT_EQ(EFAULT, table(self->fd, 0, NULL, 1, 1, &base));
	EXPECT_EQ(ENOENT, table(self->fd, KGNI_NTT_CLEAR, NULL, 2, 0, &far));
	EXPECT_EQ(ENOENT, table(self->fd, KGNI_NTT_CHANGE, bad, 2, 1, &far));
	bad[1].reserved = 1;
	EXPECT_EQ(EINVAL, table(self->fd, 0, bad, 2, 1, &base));
	bad[1] = (struct kgni_ntt_entry){ .block = 1 << ARIES_PE_BITS };
	EXPECT_EQ(EINVAL, table(self->fd, 0, bad, 2, 1, &base));
	bad[1] = (struct kgni_ntt_entry){ .replacement = 1 << ARIES_PE_BITS };
	EXPECT_EQ(EINVAL, table(self->fd, 0, bad, 2, 1, &base));
	bad[1] = (struct kgni_ntt_entry){ .size = 2 };
	EXPECT_EQ(EINVAL, table(self->fd, 0, bad, 2, 1, &base));
}

/* A job whose virtual node 1 is this node, and the rest of the machine is not there. */
TEST_F(ntt, a_job_sees_its_nodes)
{
	uint32_t cookie = aries_cookie(), base = 0;
	struct kgni_ntt_entry entries[3] = { { .block = 77 }, { .block = 78 }, { .block = 79 } };
	uint8_t *page = aries_pages(1);
	struct kgni_query q = { .argsz = sizeof(q) };
	struct kgni_attach at = aries_attach_arg(cookie);
	struct kgni_mem_register mem;
	uint64_t value = 0x77;
	struct raw r = { .fd = -1 };
	int fd;

	ASSERT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_QUERY, &q));
	ASSERT_EQ(0, table(self->fd, 0, entries, 3, 1, &base));
	EXPECT_EQ(ENOENT, tie(self->fd, cookie, base, 3, 0));
	ASSERT_EQ(0, job(self->fd, cookie, 0));
	EXPECT_EQ(ENOENT, tie(self->fd, cookie, base, 4, 0));
	EXPECT_EQ(EINVAL, tie(self->fd, cookie, base, 0, 0));
	EXPECT_EQ(EINVAL, tie(self->fd, cookie, base, 3, 2));
	ASSERT_EQ(0, tie(self->fd, cookie, base, 3, KGNI_JOB_NTT_CLEANUP));
	EXPECT_EQ(EOPNOTSUPP, tie(self->fd, cookie, base, 2, 0));
	EXPECT_EQ(0, tie(self->fd, cookie, base, 3, KGNI_JOB_NTT_CLEANUP));
	EXPECT_EQ(EBUSY, table(self->fd, KGNI_NTT_CLEAR, NULL, 1, 0, &base));
	/* This node is none of them, then the second one fails and this node takes its place. */
	fd = aries_open();
	EXPECT_EQ(ENXIO, aries_ioctl(fd, KGNI_IOC_ATTACH, &at));
	close(fd);
	entries[1] = (struct kgni_ntt_entry){ .block = 78, .replacement = q.pe, .size = 1 };
	ASSERT_EQ(0, table(self->fd, KGNI_NTT_CHANGE, entries, 3, 1, &base));
	ASSERT_EQ(0, raw_open(&r, cookie));
	EXPECT_EQ(1, r.at.pe);
	ASSERT_EQ(0, aries_register(r.fd, page, ARIES_PAGE, 0, KGNI_NO_CQ, &mem));
	EXPECT_EQ(ARIES_ST_OK, raw_put(&r, 0, mem.mdh, page, &value, 8, 0));
	EXPECT_EQ(0x77, *(uint64_t *)page);
	r.at.pe = 0;
	EXPECT_EQ(ARIES_ST_NO_NODE, raw_put(&r, 0, mem.mdh, page, &value, 8, 0));
	r.at.pe = 3;
	EXPECT_EQ(ARIES_ST_NTT, raw_put(&r, 0, mem.mdh, page, &value, 8, 0));
	raw_close(&r);
	ASSERT_EQ(0, job(self->fd, cookie, KGNI_JOB_DESTROY));
	munmap(page, ARIES_PAGE);
}

/* Who is attached has been told where it is: too late for another table. A range is one job's. */
TEST_F(ntt, tied_before_anybody_attaches)
{
	struct kgni_ntt_entry *entries = calloc(ARIES_NTT_ENTRIES, sizeof(*entries));
	uint32_t cookie = aries_cookie(), other = aries_cookie(), base = 0, none = 0;
	int fd;

	ASSERT_NE(NULL, entries);
	ASSERT_EQ(0, table(self->fd, 0, entries, 2, 1, &base));
	EXPECT_EQ(ENOSPC, table(self->fd, 0, entries, ARIES_NTT_ENTRIES, 1, &none));
	free(entries);
	ASSERT_EQ(0, job(self->fd, cookie, 0));
	ASSERT_EQ(0, job(self->fd, other, 0));
	fd = aries_attached(cookie, NULL);
	ASSERT_LE(0, fd);
	EXPECT_EQ(EBUSY, tie(self->fd, cookie, base, 1, KGNI_JOB_NTT_CLEANUP));
	close(fd);
	EXPECT_EQ(0, tie(self->fd, cookie, base, 1, KGNI_JOB_NTT_CLEANUP));
	EXPECT_EQ(EOPNOTSUPP, tie(self->fd, cookie, base + 1, 1, KGNI_JOB_NTT_CLEANUP));
	EXPECT_EQ(EBUSY, tie(self->fd, other, base, 2, KGNI_JOB_NTT_CLEANUP));
	EXPECT_EQ(EBUSY, tie(self->fd, other, base, 1, KGNI_JOB_NTT_CLEANUP));
	EXPECT_EQ(0, tie(self->fd, other, base + 1, 1, KGNI_JOB_NTT_CLEANUP));
	EXPECT_EQ(0, job(self->fd, cookie, KGNI_JOB_DESTROY));
	EXPECT_EQ(0, job(self->fd, other, KGNI_JOB_DESTROY));
}

static int bi(int fd, uint16_t modes, uint16_t bw, uint16_t aot_bw, struct kgni_bi *out)
{
	struct kgni_bi arg = { .argsz = sizeof(arg), .flags = KGNI_BI_SET, .modes = modes,
			       .bw = bw, .aot_bw = aot_bw };
	int rc = aries_ioctl(fd, KGNI_IOC_BI, &arg);

	if (out)
		*out = arg;
	return rc;
}

TEST_F(ntt, injection)
{
	struct kgni_bi got = { .argsz = sizeof(got) };
	uint32_t sequence;

	ASSERT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_BI, &got));
	EXPECT_EQ(992, got.current_norbs);
	sequence = got.sequence;
	EXPECT_EQ(EINVAL, bi(self->fd, 0, 101, 0, NULL));
	EXPECT_EQ(EINVAL, bi(self->fd, 0, 0, 101, NULL));
	EXPECT_EQ(EINVAL, bi(self->fd, 8, 993, 0, NULL));
	EXPECT_EQ(EINVAL, bi(self->fd, 16, 1, 1, NULL));
	EXPECT_EQ(0, bi(self->fd, 1, 50, 25, &got));
	EXPECT_EQ(50, got.current_bw);
	EXPECT_EQ(25, got.current_aot_bw);
	EXPECT_EQ(496, got.current_norbs);
	EXPECT_EQ(0, bi(self->fd, 9, 248, 0, &got));
	EXPECT_EQ(25, got.current_bw);
	EXPECT_EQ(248, got.current_norbs);
	EXPECT_EQ(0, bi(self->fd, 4, 0, 0, &got));
	EXPECT_EQ(992, got.current_norbs);
	EXPECT_EQ(sequence + 3, got.sequence);
}

/* Exit status of a child without privileges that tries all of it. */
static int unprivileged(uint32_t cookie)
{
	const struct kgni_ntt_entry entry = {};
	struct kgni_bi got = { .argsz = sizeof(got) };
	uint32_t base = 0;
	int status, fd;
	pid_t pid = fork();

	if (!pid) {
		if (setgid(ARIES_NOBODY) || setuid(ARIES_NOBODY))
			_exit(1);
		fd = aries_open();
		if (fd < 0)
			_exit(2);
		if (table(fd, 0, &entry, 1, 1, &base) != EPERM)
			_exit(3);
		if (tie(fd, cookie, 0, 1, 0) != EPERM)
			_exit(4);
		if (bi(fd, 0, 50, 50, NULL) != EPERM)
			_exit(5);
		if (aries_ioctl(fd, KGNI_IOC_BI, &got) || !info(fd).entries)
			_exit(6);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

TEST_F(ntt, for_launchers_only)
{
	EXPECT_EQ(0, unprivileged(aries_cookie()));
}

TEST_HARNESS_MAIN
