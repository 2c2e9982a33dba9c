// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocations that fail, one after the other: in calls of kGNI and krca (clients in the kernel do
 * that), and while modules load and the NIC's driver is bound. Only a kernel with fault injection
 * can do it: that of make check-debug.
 */
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "aries_test.h"
#include "kselftest_harness.h"
#include "pci.h"

#define INJECTION "/sys/kernel/debug/fail"
#define NTH "/proc/thread-self/fail-nth"
#define MOST 20000 /* allocations, far more than anything here makes */
/*
 * Of the first and of the last allocations so many fail one after the other. Of those between, most
 * of which are for files in sysfs and tracefs, one in so many fails.
 */
#define EACH 300
#define SPARSE 16

/* Allocations that may sleep fail as well, pages one by one, and nothing is said of it. */
static int inject(void)
{
	return aries_write_file(INJECTION "slab/ignore-gfp-wait", "N") ?:
	       aries_write_file(INJECTION "slab/verbose", "0") ?:
	       aries_write_file(INJECTION "_page_alloc/ignore-gfp-wait", "N") ?:
	       aries_write_file(INJECTION "_page_alloc/ignore-gfp-highmem", "N") ?:
	       aries_write_file(INJECTION "_page_alloc/min-order", "0") ?:
	       aries_write_file(INJECTION "_page_alloc/verbose", "0");
}

/* Runs before main(), and after aries_require(). */
__attribute__((constructor)) static void require_injection(void)
{
	if (access(INJECTION "slab", F_OK) || access(NTH, F_OK))
		aries_skip_all("this kernel has no fault injection");
	if (inject())
		aries_skip_all("fault injection cannot be set up");
}

/* The @n-th allocation of this thread from now on fails. What is returned is for has_failed(). */
static int fail_nth(unsigned int n)
{
	int fd = open(NTH, O_RDWR | O_CLOEXEC);
	char text[16];

	snprintf(text, sizeof(text), "%u", n);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		abort();
	return fd;
}

/* How many more would have come before it did? 0: it has failed. None does from now on. */
static unsigned int left(int fd)
{
	char text[16] = "";

	/* neither makes an allocation */
	if (pread(fd, text, sizeof(text) - 1, 0) <= 0 || write(fd, "0", 1) != 1)
		abort();
	close(fd);
	return strtoul(text, NULL, 10);
}

static int has_failed(int fd)
{
	return left(fd) == 0;
}

/* The allocation that fails after the @n-th, where there are @all. */
static unsigned int next_to_fail(unsigned int n, unsigned int all)
{
	return n < EACH || n + EACH + SPARSE >= all ? n + 1 : n + SPARSE;
}

FIXTURE(calls)
{
	struct aries_use before;
};

FIXTURE_SETUP(calls)
{
	self->before = aries_use();
	ASSERT_EQ(0, system("modprobe kgni check_handles=1"));
	ASSERT_EQ(0, system("modprobe kgni_test && modprobe krca_test"));
}

FIXTURE_TEARDOWN(calls)
{
	EXPECT_EQ(0, aries_unload("krca_test"));
	EXPECT_EQ(0, aries_unload("krca"));
	EXPECT_EQ(0, aries_unload("kgni_test"));
	EXPECT_EQ(0, aries_unload("kgni"));
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

#define CALLS(name, file)                                                         \
	TEST_F_TIMEOUT(calls, name, 600)                                          \
	{                                                                         \
		char text[512];                                                   \
										  \
		ASSERT_EQ(0, aries_read_file("/sys/kernel/debug/" file, text, sizeof(text))); \
		EXPECT_STREQ("ok\n", text);                                       \
	}

CALLS(attach, "kgni_test/fail_attach")
CALLS(queue, "kgni_test/fail_queue")
CALLS(endpoint, "kgni_test/fail_endpoint")
CALLS(registration, "kgni_test/fail_registration")
CALLS(segments, "kgni_test/fail_segments")
CALLS(mailbox, "kgni_test/fail_mailbox")
CALLS(datagram, "kgni_test/fail_datagram")
CALLS(posts, "kgni_test/fail_posts")
CALLS(messages, "kgni_test/fail_messages")
CALLS(subscribe_errors, "kgni_test/fail_errors")
CALLS(krca_session, "krca_test/failing")

/* A module's file, opened. */
static int module_open(const char *module)
{
	struct utsname name;
	char path[256];

	if (uname(&name))
		return -1;
	snprintf(path, sizeof(path), "/lib/modules/%s/extra/%s.ko", name.release, module);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* How many allocations there are where all succeed; 0 if the module does not load or unload. */
static unsigned int allocations_of(const char *module, int fd)
{
	int nth = fail_nth(MOST);
	long rc = syscall(SYS_finit_module, fd, "", 0);
	unsigned int all = MOST - left(nth);

	return rc || aries_unload(module) ? 0 : all;
}

/* Loads a module until no allocation of that is left to fail; the line that was wrong, or 0. */
static int load_failing(const char *module)
{
	int fd = module_open(module), nth, rc, failed = 1;
	unsigned int n, all, tried = 0, refused = 0;

	if (fd < 0)
		return __LINE__;
	all = allocations_of(module, fd);
	if (!all || all >= MOST)
		return __LINE__;
	for (n = 1; failed && n < MOST; n = next_to_fail(n, all)) {
		nth = fail_nth(n);
		rc = syscall(SYS_finit_module, fd, "", 0) ? errno : 0;
		failed = has_failed(nth);
		tried++;
		refused += !!rc;
		if (rc && (rc != ENOMEM || !failed)) {
			printf("# %s, allocation %u: %s\n", module, n, strerror(rc));
			fflush(stdout);
			return __LINE__;
		}
		if (!rc && aries_unload(module)) {
			printf("# %s, allocation %u: it is loaded and stays\n", module, n);
			fflush(stdout);
			return __LINE__;
		}
	}
	close(fd);
	printf("# %s: %u allocations; of %u that failed, it does not load without %u\n", module,
	       all, tried - 1, refused);
	fflush(stdout);
	return refused && !failed ? 0 : __LINE__;
}

FIXTURE(module)
{
	struct aries_use before;
	char pci[64];
};

FIXTURE_SETUP(module)
{
	self->before = aries_use();
	pci_address(self->pci, sizeof(self->pci));
}

FIXTURE_TEARDOWN(module)
{
}

/* Afterwards it loads, and works. */
TEST_F_TIMEOUT(module, clients_drivers, 1200)
{
	char text[512];

	ASSERT_EQ(0, load_failing("kgni"));
	ASSERT_EQ(0, load_failing("krca"));
	ASSERT_EQ(0, system("modprobe kgni_test"));
	EXPECT_EQ(0, aries_read_file("/sys/kernel/debug/kgni_test/transfers", text, sizeof(text)));
	EXPECT_STREQ("ok\n", text);
	EXPECT_EQ(0, aries_unload("kgni_test"));
	EXPECT_EQ(0, aries_unload("kgni"));
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

/* The driver of the NIC is bound to it, or is not: in between there is nothing. */
TEST_F_TIMEOUT(module, bind, 1200)
{
	unsigned int n, all, tried = 0, refused = 0;
	int fd, nth, rc, failed = 1;

	ASSERT_EQ(0, aries_write_file(PCI_DRIVER "unbind", self->pci));
	fd = open(PCI_DRIVER "bind", O_WRONLY);
	ASSERT_LE(0, fd);
	nth = fail_nth(MOST);
	ASSERT_LT(0, write(fd, self->pci, strlen(self->pci)));
	all = MOST - left(nth);
	ASSERT_GT(MOST, all);
	ASSERT_EQ(0, pci_wait_for_node(1));
	ASSERT_EQ(0, aries_write_file(PCI_DRIVER "unbind", self->pci));
	for (n = 1; failed && n < MOST; n = next_to_fail(n, all)) {
		nth = fail_nth(n);
		rc = write(fd, self->pci, strlen(self->pci)) < 0 ? errno : 0;
		failed = has_failed(nth);
		tried++;
		refused += !!rc;
		/* PCI's core calls a region and a vector without memory so */
		ASSERT_TRUE(!rc || (failed && (rc == ENOMEM || rc == EBUSY || rc == ENOSPC)))
		{
			TH_LOG("allocation %u: %s", n, strerror(rc));
		}
		if (rc)
			continue;
		ASSERT_EQ(0, pci_wait_for_node(1));
		if (failed) {
			ASSERT_EQ(0, aries_write_file(PCI_DRIVER "unbind", self->pci));
		}
	}
	close(fd);
	printf("# %u allocations; of %u that failed, it is not bound without %u\n", all, tried - 1, refused);
	fflush(stdout);
	EXPECT_NE(0, refused);
	ASSERT_FALSE(failed);
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

/* The same of the module itself, which finds no NIC that it may take. */
TEST_F_TIMEOUT(module, driver, 1200)
{
	ASSERT_EQ(0, aries_write_file("/sys/bus/pci/drivers_autoprobe", "0"));
	ASSERT_EQ(0, aries_unload("aries"));
	EXPECT_EQ(0, load_failing("aries"));
	ASSERT_EQ(0, aries_write_file("/sys/bus/pci/drivers_autoprobe", "1"));
	ASSERT_EQ(0, system("modprobe aries"));
	ASSERT_EQ(0, pci_wait_for_node(1));
}

TEST_HARNESS_MAIN
