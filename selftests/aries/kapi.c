// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the driver offers to the kernel, tested by a client in the kernel: each file of
 * aries_kapi_test.ko is a test of its own.
 */
#include <time.h>

#include "aries_test.h"
#include "kselftest_harness.h"
#include "pci.h"

#define KAPI_DIR "/sys/kernel/debug/aries_kapi_test/"

static int load(void)
{
	return system("modprobe aries_kapi_test");
}

/* Content of a file, which stands for the run of a test. */
static int run(const char *name, char *out, size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), KAPI_DIR "%s", name);
	return aries_read_file(path, out, size);
}

static int traffic(int on)
{
	return aries_write_file(KAPI_DIR "traffic", on ? "1" : "0");
}

struct counts {
	unsigned long puts, refused, held, wrong;
	unsigned int reset, quiet, up, gone, quiesce, resume;
};

static struct counts counts(void)
{
	struct counts c = {};
	char text[256] = "";

	run("counts", text, sizeof(text));
	if (sscanf(text, "puts %lu refused %lu held %lu wrong %lu reset %u quiet %u up %u gone %u quiesce %u resume %u",
		   &c.puts, &c.refused, &c.held, &c.wrong, &c.reset, &c.quiet, &c.up, &c.gone,
		   &c.quiesce, &c.resume) != 10)
		c.wrong = ~0ul;
	return c;
}

enum which { PUTS, REFUSED, HELD };

static unsigned long count(const struct counts *c, enum which which)
{
	return which == PUTS ? c->puts : which == REFUSED ? c->refused : c->held;
}

/* Waits until one of the counts has moved from what it was. */
static int moved(const struct counts *from, enum which which)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	struct counts now;
	int i;

	for (i = 0; i < 6000; i++) {
		now = counts();
		if (count(&now, which) > count(from, which))
			return 1;
		nanosleep(&pause, NULL);
	}
	return 0;
}

FIXTURE(kapi)
{
	struct aries_use before;
};

FIXTURE_SETUP(kapi)
{
	self->before = aries_use();
	ASSERT_EQ(0, load());
}

/* All that the client had is back. */
FIXTURE_TEARDOWN(kapi)
{
	EXPECT_EQ(0, aries_unload("aries_kapi_test"));
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

/* Runs a test of the module; what it says is in the test's output if it is not "ok". */
static int passes(const char *name)
{
	char text[256];
	int rc = run(name, text, sizeof(text));

	if (!rc && !strcmp(text, "ok\n"))
		return 1;
	printf("# %s: %s %s\n", name, rc ? strerror(rc) : "", text);
	return 0;
}

TEST_F(kapi, process)
{
	EXPECT_TRUE(passes("process"));
}

TEST_F(kapi, spinlock)
{
	EXPECT_TRUE(passes("spinlock"));
}

TEST_F(kapi, softirq)
{
	EXPECT_TRUE(passes("softirq"));
}

TEST_F(kapi, hardirq)
{
	EXPECT_TRUE(passes("hardirq"));
}

TEST_F(kapi, memory)
{
	EXPECT_TRUE(passes("memory"));
}

TEST_F(kapi, hold)
{
	EXPECT_TRUE(passes("hold"));
}

TEST_F(kapi, errors)
{
	EXPECT_TRUE(passes("errors"));
}

TEST_F(kapi, order)
{
	EXPECT_TRUE(passes("order"));
}

TEST_F(kapi, domains)
{
	EXPECT_TRUE(passes("domains"));
}

TEST_F(kapi, datagrams)
{
	EXPECT_TRUE(passes("datagrams"));
}

TEST_F(kapi, told)
{
	EXPECT_TRUE(passes("told"));
}

/* A timer puts and polls while the NIC is reset: refused from then on, and nothing else happens. */
TEST_F(kapi, reset_under_traffic)
{
	char path[128], pci[64];
	struct counts last = {};
	int i;

	pci_address(pci, sizeof(pci));
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/reset", pci);
	for (i = 0; i < 3; i++) {
		memset(&last, 0, sizeof(last));
		ASSERT_EQ(0, traffic(1));
		EXPECT_TRUE(moved(&last, PUTS));
		ASSERT_EQ(0, aries_write_file(path, "1"));
		EXPECT_TRUE(moved(&last, REFUSED));
		last = counts();
		EXPECT_EQ(0, last.wrong);
		EXPECT_EQ(1, last.reset);
		EXPECT_EQ(1, last.quiet);
		EXPECT_EQ(1, last.up);
		EXPECT_EQ(0, last.gone);
		/* its handles are given back, and new ones work */
		ASSERT_EQ(0, traffic(0));
	}
}

/* The same while the driver leaves the function: handles of a NIC that is gone answer. */
TEST_F(kapi, removal_under_traffic)
{
	struct counts last = {};
	char pci[64];

	pci_address(pci, sizeof(pci));
	ASSERT_EQ(0, traffic(1));
	EXPECT_TRUE(moved(&last, PUTS));
	ASSERT_EQ(0, aries_write_file(PCI_DRIVER "unbind", pci));
	EXPECT_TRUE(moved(&last, REFUSED));
	EXPECT_EQ(0, counts().wrong);
	EXPECT_EQ(1, counts().gone);
	EXPECT_EQ(1, counts().quiet);
	EXPECT_EQ(0, traffic(0));
	EXPECT_EQ(ENODEV, traffic(1));
	ASSERT_EQ(0, aries_write_file(PCI_DRIVER "bind", pci));
	ASSERT_EQ(0, pci_wait_for_node(1));
	/* and so does the new one */
	ASSERT_EQ(0, traffic(1));
	memset(&last, 0, sizeof(last));
	EXPECT_TRUE(moved(&last, PUTS));
	ASSERT_EQ(0, traffic(0));
}

#define KAPI_COOKIE 0x6b74e570u /* of the module, KT_COOKIE */

static int suspend(int fd, uint32_t flags)
{
	struct kgni_suspend s = { .argsz = sizeof(s),
				  .flags = flags,
				  .cookie = KAPI_COOKIE,
				  .job_id = 4711,
				  .ptag = 255,
				  .timeout_ms = 60000 };

	return aries_ioctl(fd, KGNI_IOC_SUSPEND, &s);
}

/* A job that the client belongs to is suspended: its calls say so, and go on afterwards. */
TEST_F(kapi, quiesce_under_traffic)
{
	struct kgni_job job = { .argsz = sizeof(job),
				.cookie = KAPI_COOKIE,
				.job_id = 4711,
				.ptag = 255,
				.limit_mdd = -1,
				.limit_cq = -1,
				.limit_fma = -1 };
	struct counts last = {};
	int fd = aries_open();

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, aries_ioctl(fd, KGNI_IOC_JOB, &job));
	ASSERT_EQ(0, traffic(1));
	EXPECT_TRUE(moved(&last, PUTS));
	EXPECT_EQ(0, suspend(fd, 0));
	EXPECT_TRUE(moved(&last, HELD));
	last = counts();
	EXPECT_EQ(1, last.quiesce);
	EXPECT_EQ(0, last.resume);
	EXPECT_EQ(0, suspend(fd, KGNI_SUSPEND_RESUME));
	EXPECT_TRUE(moved(&last, PUTS));
	last = counts();
	EXPECT_EQ(1, last.resume);
	EXPECT_EQ(0, last.refused);
	EXPECT_EQ(0, last.wrong);
	EXPECT_EQ(0, traffic(0));
	job.flags = KGNI_JOB_DESTROY;
	EXPECT_EQ(0, aries_ioctl(fd, KGNI_IOC_JOB, &job));
	close(fd);
}

TEST_HARNESS_MAIN
