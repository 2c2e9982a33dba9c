// SPDX-License-Identifier: GPL-2.0-only
/* kGNI, tested by a client in the kernel: each file of kgni_test.ko in debugfs is a test. */
#include <sys/syscall.h>

#include "aries_test.h"
#include "kselftest_harness.h"

static int unload(const char *module)
{
	return syscall(SYS_delete_module, module, O_NONBLOCK) ? errno : 0;
}

/* Content of a file, which stands for the run of a test. */
static int run(const char *name, char *out, size_t size)
{
	char path[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/debug/kgni_test/%s", name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return errno;
	n = read(fd, out, size - 1);
	close(fd);
	out[n < 0 ? 0 : n] = '\0';
	return n < 0 ? EIO : 0;
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
	EXPECT_EQ(0, unload("kgni_test"));
	EXPECT_EQ(0, unload("kgni"));
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
KGNI_TEST(messages)
KGNI_TEST(threads)
KGNI_TEST(refusals)

TEST_HARNESS_MAIN
