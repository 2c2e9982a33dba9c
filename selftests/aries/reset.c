// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a function reset, an unbind and a hot removal do to a process that is in the middle of
 * things: mappings read as ones and take stores that lead nowhere, sleepers wake up, calls fail,
 * nothing is left behind, and the device works for the next process.
 */
#include <setjmp.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "kselftest_harness.h"
#include "pci.h"
#include "sleeper.h"

static sigjmp_buf on_fault;

static void fault(int sig)
{
	siglongjmp(on_fault, sig);
}

/* The signal that reading @p raises, 0 if none. */
static int touch(const volatile void *p)
{
	struct sigaction sa = { .sa_handler = fault }, old;
	int sig;

	sigaction(SIGBUS, &sa, &old);
	sig = sigsetjmp(on_fault, 1);
	if (!sig)
		(void)*(const volatile char *)p;
	sigaction(SIGBUS, &old, NULL);
	return sig;
}

/* A process that has one of everything. */
FIXTURE(busy)
{
	int fd;
	struct kgni_attach at;
	struct kgni_cq_create cq;
	struct kgni_mem_register mem;
	void *desc, *doorbell, *queue, *pages;
	struct sleeper sleeper;
	struct aries_use before;
	char pci[64];
};

FIXTURE_SETUP(busy)
{
	struct timespec moment = { .tv_nsec = 200000000 };
	const int rw = PROT_READ | PROT_WRITE;

	self->before = aries_use();
	pci_address(self->pci, sizeof(self->pci));
	self->fd = aries_attached(aries_cookie(), &self->at);
	ASSERT_LE(0, self->fd);
	self->desc = mmap(NULL, 8192, rw, MAP_SHARED, self->fd, self->at.desc_offset);
	self->doorbell = mmap(NULL, 4096, rw, MAP_SHARED, self->fd, self->at.doorbell_offset);
	ASSERT_EQ(0, aries_cq(self->fd, 100, KGNI_CQ_BLOCKING, &self->cq));
	self->queue = mmap(NULL, self->cq.mmap_size, rw, MAP_SHARED, self->fd,
			   self->cq.mmap_offset);
	ASSERT_NE(MAP_FAILED, self->desc);
	ASSERT_NE(MAP_FAILED, self->doorbell);
	ASSERT_NE(MAP_FAILED, self->queue);
	self->pages = aries_pages(4);
	ASSERT_EQ(0, aries_register(self->fd, self->pages, 4 * ARIES_PAGE, 0, self->cq.cq,
				    &self->mem));
	ASSERT_EQ(0, touch(self->desc));
	ASSERT_EQ(0, touch(self->doorbell));
	ASSERT_EQ(0, touch(self->queue));
	ASSERT_EQ(0, sleeper_begin(&self->sleeper, self->fd, self->cq.cq));
	nanosleep(&moment, NULL); /* it should be asleep; if it is not, the test is only easier */
}

FIXTURE_TEARDOWN(busy)
{
}

/* The process is not killed, and finds nothing but ones, whatever it stores elsewhere. */
static int ghosts(FIXTURE_DATA(busy) *self)
{
	volatile uint8_t *area = self->desc;
	volatile uint64_t *bell = self->doorbell, *queue = self->queue;
	volatile struct aries_fma_status *status = (void *)(area + ARIES_DESC_STATUS);
	const size_t last = self->cq.mmap_size / sizeof(*queue) - 1;
	int bad = 0;

	bad += touch(area) || touch(bell) || touch(queue);
	if (bad)
		return bad;
	area[ARIES_DESC_FMA] = 1;
	bell[ARIES_DB_FMA / sizeof(*bell)] = 2;
	queue[0] = 3;
	bad += status->status != ~0u || status->sequence != ~0u;
	bad += queue[ARIES_CQ_HEADER_BYTES / sizeof(*queue)] != ~0ull || queue[last] != ~0ull;
	return bad;
}

/* How much of what was there still answers, or does not fail with @error. */
static int count_survivors(FIXTURE_DATA(busy) *self, int error)
{
	struct kgni_mem_deregister dereg = { .argsz = sizeof(dereg), .mdh = self->mem.mdh };
	struct kgni_attach again = aries_attach_arg(1);
	struct kgni_mem_register mem;
	int bad = 0;

	if (self->sleeper.fd >= 0)
		sleeper_end(&self->sleeper);
	self->sleeper.fd = -1;
	bad += self->sleeper.rc != error;
	bad += ghosts(self);
	bad += aries_ioctl(self->fd, KGNI_IOC_MEM_DEREGISTER, &dereg) != error;
	bad += aries_ioctl(self->fd, KGNI_IOC_ATTACH, &again) != error;
	bad += aries_register(self->fd, self->pages, 1, 0, KGNI_NO_CQ, &mem) != error;
	bad += mmap(NULL, 8192, PROT_READ, MAP_SHARED, self->fd, 0) != MAP_FAILED;
	return bad;
}

/* The next process gets everything that this one had. */
static int works_again(void)
{
	struct kgni_mem_register mem;
	struct kgni_attach at = {};
	void *page = aries_pages(1), *desc;
	int fd = aries_attached(aries_cookie(), &at), rc;

	if (fd < 0)
		return -fd;
	desc = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at.desc_offset);
	rc = desc == MAP_FAILED ? errno : touch(desc);
	if (!rc)
		rc = aries_register(fd, page, 1, 0, KGNI_NO_CQ, &mem);
	munmap(desc, 8192);
	close(fd);
	return rc;
}

TEST_F(busy, function_reset)
{
	long long resets = aries_number("resets");

	ASSERT_EQ(0, aries_write_file(ARIES_SYSFS "device/reset", "1"));
	EXPECT_EQ(resets + 1, aries_number("resets"));
	EXPECT_EQ(0, count_survivors(self, EIO));
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
	EXPECT_EQ(0, works_again());
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
}

TEST_F(busy, unbind_and_bind)
{
	ASSERT_EQ(0, aries_write_file(PCI_DRIVER "unbind", self->pci));
	EXPECT_EQ(0, pci_wait_for_node(0));
	EXPECT_EQ(0, count_survivors(self, ENODEV));
	/* the old file is still open and stays dead; the number 0 is free for the new device */
	ASSERT_EQ(0, aries_write_file(PCI_DRIVER "bind", self->pci));
	ASSERT_EQ(0, pci_wait_for_node(1));
	EXPECT_EQ(0, works_again());
	EXPECT_EQ(0, count_survivors(self, ENODEV));
	munmap(self->desc, 8192);
	munmap(self->doorbell, 4096);
	munmap(self->queue, self->cq.mmap_size);
	close(self->fd);
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
	EXPECT_EQ(0, works_again());
}

TEST_F(busy, remove_and_rescan)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/remove", self->pci);
	ASSERT_EQ(0, aries_write_file(path, "1"));
	EXPECT_EQ(0, pci_wait_for_node(0));
	EXPECT_EQ(0, count_survivors(self, ENODEV));
	munmap(self->desc, 8192);
	munmap(self->doorbell, 4096);
	munmap(self->queue, self->cq.mmap_size);
	close(self->fd);
	ASSERT_EQ(0, aries_write_file("/sys/bus/pci/rescan", "1"));
	ASSERT_EQ(0, pci_wait_for_node(1));
	EXPECT_EQ(0, works_again());
}

/* Opens a device node that nobody else has, maps what it gives, and lets the node go with its file. */
static int open_and_vanish(dev_t rdev, uint32_t cookie)
{
	struct kgni_attach at = aries_attach_arg(cookie);
	int fd, rc;
	void *desc;

	if (mount("none", "/mnt", "tmpfs", 0, NULL))
		return errno;
	rc = mknod("/mnt/nic", S_IFCHR | 0600, rdev) ? errno : 0;
	fd = rc ? -1 : open("/mnt/nic", O_RDWR);
	if (!rc && fd < 0)
		rc = errno;
	if (fd >= 0 && !aries_ioctl(fd, KGNI_IOC_ATTACH, &at)) {
		desc = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, (off_t)at.desc_offset);
		if (desc != MAP_FAILED) {
			touch(desc);
			munmap(desc, 8192);
		}
	}
	usleep(30000); /* most of the time it is open */
	unlink("/mnt/nic");
	if (fd >= 0)
		close(fd);
	return umount("/mnt") ? errno : rc;
}

/*
 * Files are closed while resets look for their mappings, and their inodes go with them. What a
 * reset would do with a freed inode, KASAN or the kernel's log tells.
 */
TEST(files_vanish_during_resets)
{
	struct stat node;
	int i, status;
	pid_t pid;

	ASSERT_EQ(0, stat(ARIES_NODE, &node));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		do
			i = open_and_vanish(node.st_rdev, aries_cookie());
		while (!i);
		_exit(i);
	}
	for (i = 0; i < 8; i++) {
		EXPECT_EQ(0, aries_write_file(ARIES_SYSFS "device/reset", "1"));
		usleep(50000);
	}
	EXPECT_EQ(0, waitpid(pid, &status, WNOHANG)) {
		TH_LOG("status %#x", status);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	umount("/mnt");
	EXPECT_EQ(0, works_again());
}

TEST_HARNESS_MAIN
