// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that dies at any point leaves nothing behind.
 */
#include <signal.h>
#include <sys/wait.h>

#include "ugni_test.h"
#include "kselftest_harness.h"

/* Tells the parent over @pipe that it has begun, then transfers until it is killed. */
static void transfer_for_ever(uint32_t cookie, int pipe, size_t bytes, int block)
{
	struct ugni_self u;
	size_t size = bytes;
	uint8_t *data = aries_pages(2 * size / ARIES_PAGE);
	gni_mem_handle_t mem;
	char go = 1;

	if (!data || ugni_begin(&u, cookie) ||
	    GNI_MemRegister(u.nic, (uintptr_t)data, 2 * size, NULL, GNI_MEM_READWRITE, (uint32_t)-1,
			    &mem))
		_exit(1);
	for (;;) {
		gni_post_descriptor_t d = ugni_desc(&u, block ? GNI_POST_RDMA_PUT : GNI_POST_FMA_PUT, 0,
						    0, size);

		d.local_addr = (uintptr_t)data;
		d.remote_addr = (uintptr_t)data + size;
		d.local_mem_hndl = mem;
		d.remote_mem_hndl = mem;
		if (block ? ugni_rdma(&u, &d) : ugni_fma(&u, &d))
			_exit(2);
		if (go && write(pipe, &go, 1) != 1)
			_exit(3);
		go = 0;
	}
}

static struct aries_use settled(struct aries_use wanted)
{
	struct aries_use now = aries_use();
	int tries;

	for (tries = 0; tries < 100 && !aries_use_equal(wanted, now); tries++) {
		usleep(50000);
		now = aries_use();
	}
	return now;
}

FIXTURE(cleanup)
{
	struct aries_use before;
};

FIXTURE_VARIANT(cleanup)
{
	size_t bytes;
	int block;
};

FIXTURE_VARIANT_ADD(cleanup, fma)
{
	.bytes = 4096, .block = 0,
};

FIXTURE_VARIANT_ADD(cleanup, small_block)
{
	.bytes = 65536, .block = 1,
};

FIXTURE_VARIANT_ADD(cleanup, large_block)
{
	.bytes = 8u << 20, .block = 1,
};

FIXTURE_SETUP(cleanup)
{
	self->before = aries_use();
}

FIXTURE_TEARDOWN(cleanup)
{
}

TEST_F(cleanup, killed_in_the_middle_of_transfers)
{
	int round;

	for (round = 0; round < 8; round++) {
		int ends[2], status;
		struct aries_use now;
		pid_t pid;
		char go;

		ASSERT_EQ(0, pipe(ends));
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			close(ends[0]);
			transfer_for_ever(aries_cookie(), ends[1], variant->bytes, variant->block);
		}
		close(ends[1]);
		ASSERT_EQ(1, read(ends[0], &go, 1));
		usleep((useconds_t)(round * 3331));
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_TRUE(WIFSIGNALED(status)) {
			TH_LOG("exit status %d", WEXITSTATUS(status));
		}
		close(ends[0]);
		now = settled(self->before);
		EXPECT_EQ(self->before.mdd, now.mdd);
		EXPECT_EQ(self->before.cq, now.cq);
		EXPECT_EQ(self->before.fma, now.fma);
		EXPECT_EQ(self->before.pages, now.pages);
	}
}

TEST(exit_without_any_clean_up)
{
	struct aries_use before = aries_use();
	struct aries_use now;
	int status;
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		struct ugni_self u;

		_exit(ugni_begin(&u, aries_cookie()));
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, WEXITSTATUS(status));
	now = settled(before);
	EXPECT_TRUE(aries_use_equal(before, now));
}

/* The last close ends the attachment, not the first one. */
TEST(duplicate_of_the_file_keeps_it)
{
	struct aries_use before = aries_use();
	int fd = aries_attached(aries_cookie(), NULL), copy;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, aries_cq(fd, 1, 0, NULL));
	copy = dup(fd);
	close(fd);
	EXPECT_EQ(before.cq + 1, aries_use().cq);
	EXPECT_EQ(0, aries_cq(copy, 1, 0, NULL));
	close(copy);
	EXPECT_TRUE(aries_use_equal(before, aries_use()));
}

TEST_HARNESS_MAIN
