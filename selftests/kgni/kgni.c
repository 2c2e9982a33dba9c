// SPDX-License-Identifier: GPL-2.0-only
/* kGNI, tested by a client in the kernel: each file of kgni_test.ko in debugfs is a test. */
#include <sys/wait.h>

#include "aries_test.h"
#include "kselftest_harness.h"
#include "pci.h"

/* Content of a file, which stands for the run of a test. */
static int run(const char *name, char *out, size_t size)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/debug/kgni_test/%s", name);
	return aries_read_file(path, out, size);
}

FIXTURE(kgni)
{
	struct aries_use before;
};

FIXTURE_SETUP(kgni)
{
	self->before = aries_use();
	ASSERT_EQ(0, system("modprobe kgni check_handles=1 && modprobe kgni_test"));
}

/* All that the client had is back. */
FIXTURE_TEARDOWN(kgni)
{
	EXPECT_EQ(0, aries_unload("kgni_test"));
	EXPECT_EQ(0, aries_unload("kgni"));
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

#define KGNI_TEST(name)                                                        \
	TEST_F_TIMEOUT(kgni, name, 600)                                        \
	{                                                                      \
		char text[512];                                                \
                                                                               \
		ASSERT_EQ(0, run(#name, text, sizeof(text)));                  \
		EXPECT_STREQ("ok\n", text);                                    \
	}

KGNI_TEST(process)
KGNI_TEST(spinlock)
KGNI_TEST(softirq)
KGNI_TEST(hardirq)
KGNI_TEST(transfers)
KGNI_TEST(segments)
KGNI_TEST(vmalloc)
KGNI_TEST(hold)
KGNI_TEST(later)
KGNI_TEST(messages)
KGNI_TEST(threads)
KGNI_TEST(refusals)
KGNI_TEST(datagrams)
KGNI_TEST(errors)
KGNI_TEST(errors_end)
KGNI_TEST(release)
KGNI_TEST(destroy)

static int pci_reset(void)
{
	char pci[64], path[128];
	int fd, rc;

	pci_address(pci, sizeof(pci));
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/reset", pci);
	fd = open(path, O_WRONLY);
	if (fd < 0)
		return errno;
	rc = write(fd, "1", 1) == 1 ? 0 : errno;
	close(fd);
	return rc;
}

/* The NIC is reset while a client uses it. */
TEST_F_TIMEOUT(kgni, reset, 600)
{
	char text[512];
	pid_t child = fork();

	ASSERT_LE(0, child);
	if (!child) {
		sleep(2); /* the client is told when it asks in time, and waits for a minute */
		_exit(pci_reset() ? 1 : 0);
	}
	EXPECT_EQ(0, run("reset", text, sizeof(text)));
	EXPECT_STREQ("ok\n", text);
	EXPECT_EQ(child, waitpid(child, NULL, 0));
}

TEST_HARNESS_MAIN
