// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module and the PCI function come and go while processes use the device: they see the errors
 * that are documented, never a hang, and the device works when it is back.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

#include "dgram.h"
#include "pci.h"
#include "raw.h"
#include "kselftest_harness.h"

#define USERS 3
#define ROUNDS 5

/* What one attachment does until the device goes. Return: 0 or what is not as documented. */
static int use(struct raw *r, uint8_t *page)
{
	struct kgni_mem_register mem;
	struct kgni_cq_wait wait = { .argsz = sizeof(wait), .count = 1, .timeout_ms = 5 };
	struct kgni_dgram_probe probe = { .argsz = sizeof(probe), .timeout_ms = 5 };
	struct raw_cq q;
	uint32_t cq;
	int rc;

	rc = raw_cq(r, &q, 100, KGNI_CQ_BLOCKING);
	if (rc)
		return rc;
	cq = q.c.cq;
	wait.cqs = (uintptr_t)&cq;
	rc = aries_register(r->fd, page, 4 * ARIES_PAGE, 0, cq, &mem);
	if (!rc) {
		raw_put(r, cq, mem.mdh, page, "abcd", 4, ARIES_EV_GLOBAL);
		raw_block(r, cq, ARIES_BTE_PUT, mem.mdh, page, page + ARIES_PAGE, ARIES_PAGE);
		dgram_wildcard(r->fd, 1, "x");
		rc = aries_ioctl(r->fd, KGNI_IOC_CQ_WAIT, &wait);
	}
	if (!rc || rc == ETIMEDOUT)
		rc = aries_ioctl(r->fd, KGNI_IOC_DGRAM_PROBE, &probe);
	munmap((void *)q.header, q.c.mmap_size);
	return rc == ETIMEDOUT ? 0 : rc;
}

static int documented(int rc)
{
	return !rc || rc == ENODEV || rc == EIO || rc == ENXIO || rc == ENOENT;
}

static long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000l + now.tv_nsec / 1000;
}

/*
 * One after another opens, uses and closes, whatever happens to the device, until *@stop. Who rests
 * does so for as long as he has worked, so that now and then all do, however slow the machine.
 */
static void user(uint32_t cookie, const volatile int *stop, bool rests)
{
	uint8_t *page = aries_pages(4);

	while (!*stop) {
		struct raw r = { .fd = -1 };
		long begun = now_us();
		int rc = raw_open(&r, cookie);

		if (!rc)
			rc = use(&r, page);
		if (r.area && (void *)r.area != MAP_FAILED)
			munmap((void *)r.area, ARIES_DESC_STRIDE);
		if (r.bell && (void *)r.bell != MAP_FAILED)
			munmap((void *)r.bell, ARIES_PAGE);
		if (r.fd >= 0)
			close(r.fd);
		if (!documented(rc))
			_exit(rc);
		if (rests)
			usleep(now_us() - begun);
	}
	_exit(0);
}

FIXTURE(hotplug)
{
	volatile int *stop;
	pid_t pid[USERS];
	char pci[64];
	int warnings;
};

/* Complaints of the kernel about itself: the bits "died" and "warned" of its taint. */
static int warnings(void)
{
	unsigned long taint = 0;
	FILE *f = fopen("/proc/sys/kernel/tainted", "r");

	if (!f || fscanf(f, "%lu", &taint) != 1)
		taint = ~0ul;
	if (f)
		fclose(f);
	return !!(taint & (1 << 7 | 1 << 9));
}

FIXTURE_SETUP(hotplug)
{
	self->warnings = warnings();
	pci_address(self->pci, sizeof(self->pci));
	ASSERT_NE('\0', self->pci[0]);
	self->stop = mmap(NULL, ARIES_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->stop);
}

/* Everything works for the next process. */
FIXTURE_TEARDOWN(hotplug)
{
	struct kgni_mem_register mem;
	uint8_t *page = aries_pages(1);
	struct aries_use use;
	struct raw r;

	ASSERT_EQ(0, raw_open(&r, aries_cookie()));
	ASSERT_EQ(0, aries_register(r.fd, page, 8, 0, KGNI_NO_CQ, &mem));
	EXPECT_EQ(0, raw_put(&r, 0, mem.mdh, page, "abcd", 4, 0));
	EXPECT_EQ(0, memcmp(page, "abcd", 4));
	raw_close(&r);
	use = aries_use();
	EXPECT_EQ(0, use.mdd + use.cq + use.fma + use.ce + use.pages);
}

static void start(pid_t *pid, const volatile int *stop, bool rest)
{
	const uint32_t cookie[2] = { aries_cookie(), aries_cookie() };
	int i;

	for (i = 0; i < USERS; i++) {
		pid[i] = fork();
		if (!pid[i])
			user(cookie[i % 2], stop, rest);
	}
}

/* How many did not end as they should; none may hang. */
static int finish(const pid_t *pid, volatile int *stop)
{
	int i, n, status, bad = 0;

	*stop = 1;
	for (i = 0; i < USERS; i++) {
		for (n = 0; n < 6000 && waitpid(pid[i], &status, WNOHANG) != pid[i]; n++)
			usleep(10000);
		if (n == 6000)
			kill(pid[i], SIGKILL);
		if (n == 6000 || status) {
			fprintf(stderr, "# user %d: %s %#x\n", i, n == 6000 ? "hangs" : "status", status);
			bad++;
		}
	}
	return bad;
}

/* Between two rounds the users are without a device for a moment, then find it again. */
TEST_F_TIMEOUT(hotplug, function_removed_under_load, 300)
{
	char path[128];
	int i;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/remove", self->pci);
	start(self->pid, self->stop, false);
	for (i = 0; i < ROUNDS; i++) {
		usleep(200000 + 37000 * i);
		EXPECT_EQ(0, aries_write_file(path, "1"));
		EXPECT_NE(0, access(path, F_OK));
		EXPECT_EQ(0, aries_write_file("/sys/bus/pci/rescan", "1"));
		EXPECT_EQ(0, pci_wait_for_node(1));
	}
	EXPECT_EQ(0, finish(self->pid, self->stop));
	EXPECT_EQ(0, pci_wait_for_node(1));
}

#define SUSPEND_JOB 4712
#define HALF (16ul << 20)

struct draining {
	uint32_t cookie;
	volatile int rc, removed;
};

static void on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *suspend_job(void *arg)
{
	struct draining *d = arg;
	struct kgni_suspend s = { .argsz = sizeof(s), .job_id = SUSPEND_JOB, .cookie = d->cookie,
				  .ptag = ARIES_ANY_PTAG, .timeout_ms = 600000 };
	int fd = aries_open();

	on_cpu(1);
	d->rc = aries_ioctl(fd, KGNI_IOC_SUSPEND, &s);
	close(fd);
	return NULL;
}

/*
 * Work of a higher priority keeps the call off its processor until the device is gone; on a machine
 * that takes long for that not so long that the kernel complains of it.
 */
static void *hog(void *arg)
{
	struct sched_param param = { .sched_priority = 50 };
	struct draining *d = arg;
	time_t end = time(NULL) + 10;

	on_cpu(1);
	if (!sched_setscheduler(0, SCHED_FIFO, &param))
		while (!d->removed && time(NULL) < end)
			;
	return NULL;
}

/* The domain is gone from the device's tables while a call that suspends it still has a pointer. */
TEST_F_TIMEOUT(hotplug, function_removed_while_a_job_is_suspended, 300)
{
	struct draining d = { .cookie = aries_cookie(), .rc = -1 };
	struct kgni_job job = { .argsz = sizeof(job), .job_id = SUSPEND_JOB, .cookie = d.cookie,
				.ptag = ARIES_ANY_PTAG, .limit_mdd = -1, .limit_cq = -1,
				.limit_fma = -1 };
	uint8_t *pages = aries_pages(2 * HALF / ARIES_PAGE);
	pthread_t suspender, hogger;
	struct kgni_mem_register mem;
	char path[128];
	struct raw r;
	int fd = aries_open();

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "takes two processors");
	aries_write_file("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	on_cpu(0);
	ASSERT_EQ(0, aries_ioctl(fd, KGNI_IOC_JOB, &job));
	close(fd);
	ASSERT_EQ(0, raw_open(&r, d.cookie));
	ASSERT_EQ(0, aries_register(r.fd, pages, 2 * HALF, 0, KGNI_NO_CQ, &mem));
	ASSERT_LT(100, raw_keep_busy(&r, mem.mdh, pages, HALF, 200));
	ASSERT_EQ(0, pthread_create(&suspender, NULL, suspend_job, &d));
	usleep(50000);
	EXPECT_EQ(-1, d.rc);
	ASSERT_EQ(0, pthread_create(&hogger, NULL, hog, &d));
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/remove", self->pci);
	EXPECT_EQ(0, aries_write_file(path, "1"));
	d.removed = 1;
	pthread_join(hogger, NULL);
	pthread_join(suspender, NULL);
	EXPECT_EQ(ENODEV, d.rc);
	raw_close(&r);
	munmap(pages, 2 * HALF);
	aries_write_file("/proc/sys/kernel/sched_rt_runtime_us", "950000");
	EXPECT_EQ(0, aries_write_file("/sys/bus/pci/rescan", "1"));
	EXPECT_EQ(0, pci_wait_for_node(1));
	EXPECT_EQ(self->warnings, warnings());
}

TEST_F_TIMEOUT(hotplug, reset_under_load, 300)
{
	long long resets = aries_number("resets");
	int i;

	start(self->pid, self->stop, false);
	for (i = 0; i < 2 * ROUNDS; i++) {
		usleep(100000 + 17000 * i);
		EXPECT_EQ(0, aries_write_file(ARIES_SYSFS "device/reset", "1"));
	}
	EXPECT_EQ(0, finish(self->pid, self->stop));
	EXPECT_EQ(resets + i, aries_number("resets"));
}

static int open_module(void)
{
	struct utsname uts;
	char path[512];
	int fd;

	uname(&uts);
	snprintf(path, sizeof(path), "/lib/modules/%s/extra/aries.ko", uts.release);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? open("/aries.ko", O_RDONLY | O_CLOEXEC) : fd;
}

/* Refused while a file is open, done in a gap between two, and back at once. */
TEST_F_TIMEOUT(hotplug, module_under_load, 300)
{
	int fd = open_module(), i, n, rc = EBUSY;

	if (fd < 0)
		SKIP(return, "no aries.ko");
	start(self->pid, self->stop, true);
	for (i = 0; i < ROUNDS; i++) {
		usleep(100000);
		for (n = 0; n < 20000; n++) {
			rc = aries_unload("aries");
			if (rc != EWOULDBLOCK && rc != EBUSY)
				break;
			usleep(1000);
		}
		EXPECT_EQ(0, rc);
		EXPECT_NE(0, access("/sys/module/aries", F_OK));
		ASSERT_EQ(0, syscall(SYS_finit_module, fd, "", 0));
		EXPECT_EQ(0, pci_wait_for_node(1));
	}
	EXPECT_EQ(0, finish(self->pid, self->stop));
	close(fd);
}

TEST_HARNESS_MAIN
