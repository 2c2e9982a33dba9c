// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may sign on to which communication domain.
 */
#include <grp.h>
#include <sys/wait.h>

#include "aries_test.h"
#include "kselftest_harness.h"

#define KERNEL_TAG 254
/* of the driver's datagrams, driver/aries_dgram.h */
#define DRIVER_TAG 253
#define DRIVER_COOKIE 0x007f0000u
/* of another client in the kernel, as the interface has it */
#define CLIENT_TAG 2
#define CLIENT_COOKIE 0x00020000u

static int attach(uint32_t cookie, uint8_t ptag, uint8_t *out)
{
	struct kgni_attach arg = aries_attach_arg(cookie);
	int fd = aries_open(), rc;

	if (fd < 0)
		return errno;
	arg.ptag = ptag;
	rc = aries_ioctl(fd, KGNI_IOC_ATTACH, &arg);
	close(fd);
	if (out)
		*out = arg.ptag;
	return rc;
}

static int job_of(uint64_t id, uint32_t cookie, uint8_t ptag, uint32_t flags)
{
	struct kgni_job arg = { .argsz = sizeof(arg), .job_id = id, .cookie = cookie, .ptag = ptag,
				.flags = flags, .limit_mdd = -1, .limit_cq = -1, .limit_fma = -1 };
	int fd = aries_open(), rc;

	if (fd < 0)
		return errno;
	rc = aries_ioctl(fd, KGNI_IOC_JOB, &arg);
	close(fd);
	return rc;
}

static int job(uint32_t cookie, uint8_t ptag, uint32_t flags)
{
	return job_of(77, cookie, ptag, flags);
}

/* Result of @call in a process of another user, without capabilities. */
static int as_nobody(int (*call)(uint32_t cookie), uint32_t cookie)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (setgroups(0, NULL) || setgid(ARIES_NOBODY) || setuid(ARIES_NOBODY))
			_exit(255);
		_exit(call(cookie));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static int attach_any(uint32_t cookie)
{
	return attach(cookie, ARIES_ANY_PTAG, NULL);
}

static int job_any(uint32_t cookie)
{
	return job(cookie, ARIES_ANY_PTAG, 0);
}

TEST(unknown_cookie_needs_privilege)
{
	EXPECT_EQ(EPERM, as_nobody(attach_any, aries_cookie()));
	EXPECT_EQ(0, attach_any(aries_cookie()));
}

TEST(configured_cookie_needs_none)
{
	uint32_t cookie = aries_cookie();

	ASSERT_EQ(0, job(cookie, ARIES_ANY_PTAG, 0));
	EXPECT_EQ(0, as_nobody(attach_any, cookie));
	EXPECT_EQ(0, job(cookie, ARIES_ANY_PTAG, KGNI_JOB_DESTROY));
	EXPECT_EQ(EPERM, as_nobody(attach_any, cookie));
}

TEST(domain_of_a_running_process_needs_none)
{
	uint32_t cookie = aries_cookie();
	int fd = aries_attached(cookie, NULL);

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, as_nobody(attach_any, cookie));
	close(fd);
}

static int attach_boot(uint32_t cookie)
{
	return attach(cookie, KERNEL_TAG, NULL);
}

/* Not by its number, nor by its cookie; the one of the driver's own messages not even by root. */
TEST(tags_of_the_kernel)
{
	uint32_t cookie = aries_cookie();

	EXPECT_EQ(EINVAL, as_nobody(attach_boot, cookie));
	ASSERT_EQ(0, job(cookie, KERNEL_TAG, 0));
	EXPECT_EQ(EACCES, as_nobody(attach_any, cookie));
	EXPECT_EQ(0, job(cookie, KERNEL_TAG, KGNI_JOB_DESTROY));
	EXPECT_EQ(EACCES, attach(DRIVER_COOKIE, ARIES_ANY_PTAG, NULL));
	EXPECT_EQ(EACCES, attach(cookie, DRIVER_TAG, NULL));
	EXPECT_EQ(EEXIST, job(DRIVER_COOKIE, ARIES_ANY_PTAG, 0));
	EXPECT_EQ(EEXIST, job(cookie, DRIVER_TAG, 0));
	/* the driver is in no other client's way */
	EXPECT_EQ(0, job(CLIENT_COOKIE, CLIENT_TAG, 0));
	EXPECT_EQ(0, attach(CLIENT_COOKIE, CLIENT_TAG, NULL));
	EXPECT_EQ(0, job(CLIENT_COOKIE, CLIENT_TAG, KGNI_JOB_DESTROY));
}

TEST(jobs_are_told_apart)
{
	uint32_t cookie = aries_cookie();

	ASSERT_EQ(0, job(cookie, 200, 0));
	EXPECT_EQ(0, job(cookie, 200, 0));
	EXPECT_EQ(EEXIST, job_of(78, cookie, 200, 0));
	EXPECT_EQ(EEXIST, job(cookie, 201, 0));
	EXPECT_EQ(EEXIST, job(cookie + 1, 200, 0));
	EXPECT_EQ(ENOENT, job_of(78, cookie, 200, KGNI_JOB_DESTROY));
	EXPECT_EQ(ENOENT, job(cookie, 201, KGNI_JOB_DESTROY));
	EXPECT_EQ(0, job(cookie, 200, KGNI_JOB_DESTROY));
	EXPECT_EQ(ENOENT, job(cookie, 200, KGNI_JOB_DESTROY));
}

/* GNI_CDM_MODE_USE_PCI_IOMMU, where nothing translates. */
TEST(no_iommu)
{
	struct kgni_attach arg = aries_attach_arg(aries_cookie());
	int fd = aries_open();

	if (!access(ARIES_SYSFS "device/iommu_group", F_OK))
		SKIP(close(fd); return, "there is an IOMMU");
	arg.modes = 0x80;
	EXPECT_EQ(EOPNOTSUPP, aries_ioctl(fd, KGNI_IOC_ATTACH, &arg));
	close(fd);
}

TEST(configuring_needs_privilege)
{
	EXPECT_EQ(EPERM, as_nobody(job_any, aries_cookie()));
}

TEST(one_tag_for_one_cookie)
{
	uint32_t cookie = aries_cookie(), other = aries_cookie();
	struct kgni_attach first;
	struct kgni_ptag find = { .argsz = sizeof(find), .cookie = cookie };
	uint8_t ptag;
	int fd = aries_attached(cookie, &first);

	ASSERT_LE(0, fd);
	EXPECT_EQ(0, attach(cookie, ARIES_ANY_PTAG, &ptag));
	EXPECT_EQ(first.ptag, ptag);
	EXPECT_EQ(0, attach(cookie, first.ptag, NULL));
	EXPECT_EQ(EACCES, attach(other, first.ptag, NULL));
	EXPECT_EQ(EACCES, attach(cookie, first.ptag == 200 ? 201 : 200, NULL));
	EXPECT_EQ(0, aries_ioctl(fd, KGNI_IOC_PTAG, &find));
	EXPECT_EQ(first.ptag, find.ptag);
	find.cookie = other;
	EXPECT_EQ(ENOENT, aries_ioctl(fd, KGNI_IOC_PTAG, &find));
	close(fd);
}

TEST(bad_tags)
{
	EXPECT_EQ(EINVAL, attach(aries_cookie(), 0, NULL));
}

static int attach_lnd_tag(uint32_t cookie)
{
	return attach(cookie, 1, NULL);
}

TEST(kernel_tags_need_privilege)
{
	EXPECT_EQ(EINVAL, as_nobody(attach_lnd_tag, aries_cookie()));
}

TEST(twice)
{
	struct kgni_attach arg = aries_attach_arg(aries_cookie());
	int fd = aries_attached(aries_cookie(), NULL);

	ASSERT_LE(0, fd);
	EXPECT_EQ(EBUSY, aries_ioctl(fd, KGNI_IOC_ATTACH, &arg));
	close(fd);
}

TEST(other_version)
{
	struct kgni_attach arg = aries_attach_arg(aries_cookie());
	int fd = aries_open();

	ASSERT_LE(0, fd);
	arg.abi_version = KGNI_ABI_VERSION + 1;
	EXPECT_EQ(EPROTO, aries_ioctl(fd, KGNI_IOC_ATTACH, &arg));
	arg.abi_version = 0;
	EXPECT_EQ(EPROTO, aries_ioctl(fd, KGNI_IOC_ATTACH, &arg));
	close(fd);
}

TEST(two_files_are_two_owners)
{
	uint32_t cookie = aries_cookie();
	struct kgni_attach a = { 0 }, b = { 0 };
	int fd1 = aries_attached(cookie, &a), fd2 = aries_attached(cookie, &b);

	ASSERT_LE(0, fd1);
	ASSERT_LE(0, fd2);
	EXPECT_EQ(a.ptag, b.ptag);
	EXPECT_NE(a.owner, b.owner);
	EXPECT_NE(a.fmad, b.fmad);
	EXPECT_NE(0, a.fmad);
	EXPECT_NE(0, b.fmad);
	close(fd1);
	close(fd2);
}

TEST(jobs)
{
	uint32_t cookie = aries_cookie(), other = aries_cookie();
	int fd;

	ASSERT_EQ(0, job(cookie, 222, 0));
	EXPECT_EQ(EEXIST, job(other, 222, 0));
	EXPECT_EQ(EEXIST, job(cookie, 223, 0));
	EXPECT_EQ(0, job(cookie, 222, 0));
	fd = aries_attached(cookie, NULL);
	ASSERT_LE(0, fd);
	EXPECT_EQ(EBUSY, job(cookie, 222, KGNI_JOB_DESTROY));
	close(fd);
	EXPECT_EQ(0, job(cookie, 222, KGNI_JOB_DESTROY));
	EXPECT_EQ(ENOENT, job(cookie, 222, KGNI_JOB_DESTROY));
}

TEST(nothing_works_without_attachment)
{
	struct kgni_cq_destroy destroy = { .argsz = sizeof(destroy) };
	struct kgni_mem_deregister dereg = { .argsz = sizeof(dereg) };
	int fd = aries_open();
	uint64_t word;

	ASSERT_LE(0, fd);
	EXPECT_EQ(ENOTCONN, aries_cq(fd, 1, 0, NULL));
	EXPECT_EQ(ENOTCONN, aries_register(fd, &word, 8, 0, KGNI_NO_CQ, NULL));
	EXPECT_EQ(ENOTCONN, aries_ioctl(fd, KGNI_IOC_CQ_DESTROY, &destroy));
	EXPECT_EQ(ENOTCONN, aries_ioctl(fd, KGNI_IOC_MEM_DEREGISTER, &dereg));
	close(fd);
}

TEST_HARNESS_MAIN
