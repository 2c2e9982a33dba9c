// SPDX-License-Identifier: GPL-2.0-only
/*
 * The limit of a memory cgroup holds for the memory of completion queues, whatever their size, and
 * whatever way the driver gets that memory.
 */
#include <sys/mount.h>
#include <sys/stat.h>

#include "aries_test.h"
#include "kselftest_harness.h"

#define MOUNT "/tmp/aries-cgroup"
#define GROUP MOUNT "/aries"
#define MIB 1048576ll
#define SLACK MIB /* the kernel charges ahead for each CPU, and the test needs some itself */
#define LIMIT (32 * MIB)
#define QUEUES 64 /* all of them would take more than the limit, whatever their size here */

FIXTURE(memcg)
{
	int fd;
};

/* Variants are numbers of entries. */
FIXTURE_VARIANT(memcg)
{
	uint32_t entries;
};

/* the page allocator has no block for the largest queue */
FIXTURE_VARIANT_ADD(memcg, largest)
{
	.entries = (1u << ARIES_CQ_LOG2_MAX) - 1,
};

FIXTURE_VARIANT_ADD(memcg, half)
{
	.entries = (1u << (ARIES_CQ_LOG2_MAX - 1)) - 1,
};

static int move_self(const char *group)
{
	char path[128], pid[16];

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	return aries_write_file(path, pid);
}

static long long charged(void)
{
	char text[64] = "";

	return aries_read_file(GROUP "/memory.current", text, sizeof(text)) ? -1 : atoll(text);
}

static int set_limit(long long bytes)
{
	char text[32] = "max";

	if (bytes)
		snprintf(text, sizeof(text), "%lld", bytes);
	return aries_write_file(GROUP "/memory.max", text);
}

FIXTURE_SETUP(memcg)
{
	mkdir(MOUNT, 0700);
	if (mount("none", MOUNT, "cgroup2", 0, NULL) ||
	    aries_write_file(MOUNT "/cgroup.subtree_control", "+memory")) {
		SKIP(return, "no memory cgroups");
	}
	mkdir(GROUP, 0700);
	ASSERT_EQ(0, move_self(GROUP));
	self->fd = aries_attached(aries_cookie(), NULL);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(memcg)
{
	close(self->fd);
	move_self(MOUNT);
	rmdir(GROUP);
	umount(MOUNT);
	rmdir(MOUNT);
}

TEST_F_TIMEOUT(memcg, queues_are_charged, 120)
{
	const long long before = charged();
	struct kgni_cq_destroy end = { .argsz = sizeof(end) };
	struct kgni_cq_create cq;

	ASSERT_LE(0, before);
	ASSERT_EQ(0, aries_cq(self->fd, variant->entries, 0, &cq));
	EXPECT_LE((long long)cq.mmap_size - SLACK, charged() - before);
	EXPECT_GE((long long)cq.mmap_size + SLACK, charged() - before);
	end.cq = cq.cq;
	ASSERT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_CQ_DESTROY, &end));
	EXPECT_GE(SLACK, charged() - before);
}

TEST_F_TIMEOUT(memcg, the_limit_holds, 300)
{
	const long long before = charged();
	struct kgni_cq_create cq;
	long long sum = 0;
	int i, rc = 0;

	ASSERT_LE(0, before);
	ASSERT_EQ(0, set_limit(before + LIMIT));
	for (i = 0; i < QUEUES && !rc; i++) {
		rc = aries_cq(self->fd, variant->entries, 0, &cq);
		if (!rc)
			sum += (long long)cq.mmap_size;
	}
	/* refused, and the process still lives */
	EXPECT_EQ(ENOMEM, rc) {
		TH_LOG("%d queues", i);
	}
	EXPECT_LT(0, sum);
	EXPECT_GE(LIMIT + SLACK, sum);
	EXPECT_EQ(0, set_limit(0));
	/* whatever was charged for the queue that was refused is not charged any more */
	EXPECT_GE(sum + SLACK, charged() - before);
	EXPECT_EQ(0, aries_cq(self->fd, variant->entries, 0, &cq));
}

TEST_HARNESS_MAIN
