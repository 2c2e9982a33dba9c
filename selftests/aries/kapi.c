// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the driver offers to the kernel, tested by a client in the kernel: each file of
 * aries_kapi_test.ko is a test of its own.
 */
#include <sys/syscall.h>
#include <time.h>

#include "aries_test.h"
#include "kselftest_harness.h"
#include "pci.h"

#define KAPI_DIR "/sys/kernel/debug/aries_kapi_test/"

static int load(void)
{
	return system("modprobe aries_kapi_test 2>/dev/null || insmod /aries_kapi_test.ko");
}

static int unload(void)
{
	return syscall(SYS_delete_module, "aries_kapi_test", O_NONBLOCK) ? errno : 0;
}

/* Content of a file, which stands for the run of a test. */
static int run(const char *name, char *out, size_t size)
{
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), KAPI_DIR "%s", name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return errno;
	n = read(fd, out, size - 1);
	close(fd);
	out[n < 0 ? 0 : n] = '\0';
	return n < 0 ? EIO : 0;
}

static int traffic(int on)
{
	int fd = open(KAPI_DIR "traffic", O_WRONLY), rc = 0;

	if (fd < 0)
		return errno;
	if (write(fd, on ? "1" : "0", 1) != 1)
		rc = errno;
	close(fd);
	return rc;
}

struct counts {
	unsigned long puts, refused, wrong;
};

static struct counts counts(void)
{
	struct counts c = { 0, 0, 0 };
	char text[128] = "";

	run("counts", text, sizeof(text));
	sscanf(text, "puts %lu refused %lu wrong %lu", &c.puts, &c.refused, &c.wrong);
	return c;
}

/* Waits until one of the counts has moved from what it was. */
static int moved(const struct counts *from, int refused)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	struct counts now;
	int i;

	for (i = 0; i < 6000; i++) {
		now = counts();
		if (refused ? now.refused > from->refused : now.puts > from->puts)
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
	EXPECT_EQ(0, unload());
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

#define KAPI_TEST(name)                                                 \
	TEST_F(kapi, name)                                              \
	{                                                               \
		char text[256];                                         \
                                                                        \
		ASSERT_EQ(0, run(#name, text, sizeof(text)));           \
		EXPECT_STREQ("ok\n", text);                             \
	}

KAPI_TEST(process)
KAPI_TEST(spinlock)
KAPI_TEST(softirq)
KAPI_TEST(hardirq)
KAPI_TEST(memory)
KAPI_TEST(hold)
KAPI_TEST(errors)
KAPI_TEST(order)
KAPI_TEST(domains)

/* A timer puts and polls while the NIC is reset: refused from then on, and nothing else happens. */
TEST_F(kapi, reset_under_traffic)
{
	char path[128], pci[64];
	struct counts last = { 0, 0, 0 };
	int i;

	pci_address(pci, sizeof(pci));
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/reset", pci);
	for (i = 0; i < 3; i++) {
		memset(&last, 0, sizeof(last));
		ASSERT_EQ(0, traffic(1));
		EXPECT_TRUE(moved(&last, 0));
		ASSERT_EQ(0, aries_write_file(path, "1"));
		EXPECT_TRUE(moved(&last, 1));
		last = counts();
		EXPECT_EQ(0, last.wrong);
		/* its handles are given back, and new ones work */
		ASSERT_EQ(0, traffic(0));
	}
}

/* The same while the driver leaves the function: handles of a NIC that is gone answer. */
TEST_F(kapi, removal_under_traffic)
{
	struct counts last = { 0, 0, 0 };
	char pci[64];

	pci_address(pci, sizeof(pci));
	ASSERT_EQ(0, traffic(1));
	EXPECT_TRUE(moved(&last, 0));
	ASSERT_EQ(0, aries_write_file(PCI_DRIVER "unbind", pci));
	EXPECT_TRUE(moved(&last, 1));
	EXPECT_EQ(0, counts().wrong);
	EXPECT_EQ(0, traffic(0));
	EXPECT_EQ(ENODEV, traffic(1));
	ASSERT_EQ(0, aries_write_file(PCI_DRIVER "bind", pci));
	ASSERT_EQ(0, pci_wait_for_node(1));
	/* and so does the new one */
	ASSERT_EQ(0, traffic(1));
	memset(&last, 0, sizeof(last));
	EXPECT_TRUE(moved(&last, 0));
	ASSERT_EQ(0, traffic(0));
}

TEST_HARNESS_MAIN
