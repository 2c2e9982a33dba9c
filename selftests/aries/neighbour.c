// SPDX-License-Identifier: GPL-2.0-only
/*
 * The BAR of another PCI function comes and goes on one processor while the other one uses the NIC
 * and takes interrupts: no store goes astray, and the machine lives. One that exchanges its map of
 * addresses without care does not.
 */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>

#include "raw.h"
#include "kselftest_harness.h"

#define FUNCTIONS "/sys/bus/pci/devices/"
#define TOGGLES 8000
#define PCI_COMMAND 4
#define PCI_COMMAND_MEMORY 2

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Whether the function @name has no driver and a BAR in memory. */
static int is_idle(const char *name)
{
	unsigned long long start, end, flags;
	char path[512];
	int found = 0;
	FILE *f;

	snprintf(path, sizeof(path), FUNCTIONS "%s/driver", name);
	if (!access(path, F_OK))
		return 0;
	snprintf(path, sizeof(path), FUNCTIONS "%s/resource", name);
	f = fopen(path, "r");
	if (!f)
		return 0;
	while (!found && fscanf(f, "%llx %llx %llx", &start, &end, &flags) == 3)
		found = start && (flags & 0x200);
	fclose(f);
	return found;
}

/* The configuration space of a function that nobody uses, or that NEIGHBOUR names; -1 if there is none. */
static int open_idle(void)
{
	const char *name = getenv("NEIGHBOUR");
	DIR *d = name ? NULL : opendir(FUNCTIONS);
	struct dirent *e;
	char path[512];
	int fd = -1;

	if (name) {
		snprintf(path, sizeof(path), FUNCTIONS "%s/config", name);
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	while (d && fd < 0 && (e = readdir(d))) {
		if (e->d_name[0] == '.' || !is_idle(e->d_name))
			continue;
		snprintf(path, sizeof(path), FUNCTIONS "%s/config", e->d_name);
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	if (d)
		closedir(d);
	return fd;
}

struct toggler {
	int fd, rc;
	volatile int done;
};

static void *toggle(void *argument)
{
	struct toggler *t = argument;
	uint8_t old, command;
	int i;

	pin(0);
	t->rc = pread(t->fd, &old, 1, PCI_COMMAND) == 1 ? 0 : EIO;
	for (i = 0; i < 2 * TOGGLES && !t->rc; i++) {
		command = i & 1 ? old & ~PCI_COMMAND_MEMORY : old | PCI_COMMAND_MEMORY;
		if (pwrite(t->fd, &command, 1, PCI_COMMAND) != 1)
			t->rc = errno;
	}
	pwrite(t->fd, &old, 1, PCI_COMMAND);
	t->done = 1;
	return NULL;
}

FIXTURE(machine)
{
	struct toggler t;
};

FIXTURE_SETUP(machine)
{
	self->t.fd = open_idle();
}

FIXTURE_TEARDOWN(machine)
{
	close(self->t.fd);
}

/* A host that is busy takes its time over thousands of memory maps. */
TEST_F_TIMEOUT(machine, bar_of_another_function_comes_and_goes, 240)
{
	struct kgni_mem_register mem;
	uint64_t *data = aries_pages(1);
	unsigned long puts = 0, bad = 0;
	struct raw_cq cq;
	pthread_t thread;
	struct raw r;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "one processor");
	if (self->t.fd < 0)
		SKIP(return, "no PCI function without a driver");
	ASSERT_EQ(0, raw_open(&r, aries_cookie()));
	ASSERT_EQ(0, raw_cq(&r, &cq, 100, 0));
	ASSERT_EQ(0, aries_register(r.fd, data, ARIES_PAGE, 0, cq.c.cq, &mem));
	ASSERT_EQ(0, pthread_create(&thread, NULL, toggle, &self->t));
	pin(1);
	while (!self->t.done) {
		const struct timespec moment = { 0, 1000 };
		uint64_t value = ++puts;

		bad += raw_put(&r, cq.c.cq, mem.mdh, data, &value, 8, 0) != 0;
		bad += *(volatile uint64_t *)data != value;
		/* programs the timer and takes its interrupt, which are stores to devices, too */
		nanosleep(&moment, NULL);
	}
	pthread_join(thread, NULL);
	EXPECT_EQ(0, self->t.rc);
	EXPECT_EQ(0, bad);
	EXPECT_LT(10, puts);
	raw_close(&r);
}

TEST_HARNESS_MAIN
