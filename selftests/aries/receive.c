// SPDX-License-Identifier: GPL-2.0-only
/*
 * Channel sends and the receives that a process posts for them: one node, two processes' worth of
 * files. Two nodes: selftests/cluster/test_sends.py.
 */
#include <signal.h>
#include <sys/wait.h>

#include "recv.h"
#include "kselftest_harness.h"

#define PAGES 16
#define BYTES (PAGES * ARIES_PAGE)
#define CHANNEL 0x1234u
#define JOB 815

/* @s sends to @d. */
FIXTURE(receive)
{
	uint32_t cookie, pe;
	struct raw s, d;
	struct raw_cq sq, dq;
	struct kgni_mem_register smem, dmem;
	uint8_t *from, *to;
	struct aries_use before;
	long long receives;
};

static void close_side(struct raw *r, struct raw_cq *q)
{
	raw_cq_unmap(q);
	raw_close(r);
}

/* The job goes when its processes have gone: the fixture's, too, which come again. */
#define REOPEN()                                                                 \
	do {                                                                     \
		ASSERT_EQ(0, raw_open(&self->s, self->cookie));                  \
		ASSERT_EQ(0, raw_open(&self->d, self->cookie));                  \
		ASSERT_EQ(0, raw_cq(&self->s, &self->sq, 32, 0));                \
		ASSERT_EQ(0, raw_cq(&self->d, &self->dq, 32, 0));                \
	} while (0)

FIXTURE_SETUP(receive)
{
	size_t i;

	self->before = aries_use();
	self->receives = aries_number("resources/recv_used");
	self->cookie = aries_cookie();
	ASSERT_EQ(0, raw_open(&self->s, self->cookie));
	ASSERT_EQ(0, raw_open(&self->d, self->cookie));
	self->pe = self->d.at.pe;
	ASSERT_EQ(0, raw_cq(&self->s, &self->sq, 32, 0));
	ASSERT_EQ(0, raw_cq(&self->d, &self->dq, 32, 0));
	self->from = aries_pages(PAGES);
	self->to = aries_pages(PAGES);
	for (i = 0; i < BYTES; i++)
		self->from[i] = (uint8_t)(i * 7 + i / 251 + 1);
	ASSERT_EQ(0, aries_register(self->s.fd, self->from, BYTES, 0, KGNI_NO_CQ, &self->smem));
	ASSERT_EQ(0, aries_register(self->d.fd, self->to, BYTES, 0, self->dq.c.cq, &self->dmem));
}

FIXTURE_TEARDOWN(receive)
{
	close_side(&self->s, &self->sq);
	close_side(&self->d, &self->dq);
	munmap(self->from, BYTES);
	munmap(self->to, BYTES);
	EXPECT_TRUE(aries_use_equal(self->before, aries_use()));
	EXPECT_EQ(self->receives, aries_number("resources/recv_used"));
}

#define POST(at, length, channel) \
	recv_post(self->d.fd, self->dmem.mdh, at, length, channel, self->dq.c.cq)
#define SEND(channel, length) \
	send_to(&self->s, &self->sq, self->pe, channel, self->smem.mdh, self->from, length)

/* N16: to the byte, with its event, and told once. */
TEST_F(receive, message)
{
	static const uint32_t lengths[] = { 1, 63, 64, 65, 4096, 50000 };
	struct kgni_recv_test t;
	uint64_t entry;
	size_t i;
	int nr;

	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		memset(self->to, 0, BYTES);
		nr = POST(self->to + 5, BYTES - 5, CHANNEL);
		ASSERT_LE(0, nr);
		EXPECT_EQ(KGNI_RECV_PENDING, recv_test(self->d.fd, nr, NULL));
		EXPECT_EQ(ARIES_ST_OK, SEND(CHANNEL, lengths[i]));
		entry = raw_poll(&self->dq, 1000);
		EXPECT_EQ(RECV_EVENT | CHANNEL, (uint32_t)entry);
		EXPECT_EQ(nr, (entry & ARIES_CQE_TID_MASK) >> ARIES_CQE_TID_SHIFT);
		EXPECT_EQ(0, raw_entry_status(entry));
		EXPECT_EQ(KGNI_RECV_DONE, recv_test(self->d.fd, nr, &t));
		EXPECT_EQ(lengths[i], t.bytes);
		EXPECT_EQ(self->pe, t.pe);
		EXPECT_EQ(0, memcmp(self->to + 5, self->from, lengths[i]));
		EXPECT_EQ(0, self->to[4]);
		EXPECT_EQ(0, self->to[5 + lengths[i]]);
		EXPECT_EQ(-ENOENT, recv_test(self->d.fd, nr, NULL));
		EXPECT_EQ(-ENOENT, recv_cancel(self->d.fd, nr, NULL));
	}
}

TEST_F(receive, nobody_receives)
{
	struct raw foe;
	struct raw_cq q;
	struct kgni_mem_register mem;
	int nr;

	EXPECT_EQ(ARIES_ST_NO_RECEIVE, SEND(CHANNEL, 8));
	nr = POST(self->to, 64, CHANNEL);
	ASSERT_LE(0, nr);
	EXPECT_EQ(ARIES_ST_NO_RECEIVE, SEND(CHANNEL + 1, 8));
	/* another domain */
	ASSERT_EQ(0, raw_open(&foe, aries_cookie()));
	ASSERT_EQ(0, raw_cq(&foe, &q, 8, 0));
	ASSERT_EQ(0, aries_register(foe.fd, self->from, 64, 0, KGNI_NO_CQ, &mem));
	EXPECT_EQ(ARIES_ST_NO_RECEIVE,
		  send_to(&foe, &q, self->pe, CHANNEL, mem.mdh, self->from, 8));
	close_side(&foe, &q);
	/* too long: it stays */
	EXPECT_EQ(ARIES_ST_RECEIVE_LENGTH, SEND(CHANNEL, 65));
	EXPECT_EQ(KGNI_RECV_PENDING, recv_test(self->d.fd, nr, NULL));
	EXPECT_EQ(0, self->to[0]);
	EXPECT_EQ(ARIES_ST_OK, SEND(CHANNEL, 64));
	/* used up, even if nobody asked yet */
	EXPECT_EQ(ARIES_ST_NO_RECEIVE, SEND(CHANNEL, 8));
	EXPECT_EQ(KGNI_RECV_DONE, recv_test(self->d.fd, nr, NULL));
	nr = POST(self->to, 64, CHANNEL);
	EXPECT_EQ(KGNI_RECV_CANCELLED, recv_cancel(self->d.fd, nr, NULL));
	EXPECT_EQ(ARIES_ST_NO_RECEIVE, SEND(CHANNEL, 8));
}

TEST_F(receive, order_of_posting)
{
	struct kgni_recv_cancel c;
	int nr[3], i;

	for (i = 0; i < 3; i++) {
		nr[i] = POST(self->to + i * ARIES_PAGE, 64, CHANNEL);
		ASSERT_LE(0, nr[i]);
	}
	EXPECT_EQ(KGNI_RECV_CANCELLED, recv_cancel(self->d.fd, nr[0], NULL));
	EXPECT_EQ(ARIES_ST_OK, SEND(CHANNEL, 8));
	EXPECT_EQ(KGNI_RECV_DONE, recv_test(self->d.fd, nr[1], NULL));
	EXPECT_EQ(KGNI_RECV_PENDING, recv_test(self->d.fd, nr[2], NULL));
	EXPECT_EQ(self->from[0], self->to[ARIES_PAGE]);
	EXPECT_EQ(0, self->to[0]);
	/* the message was faster than the cancel */
	EXPECT_EQ(ARIES_ST_OK, SEND(CHANNEL, 33));
	EXPECT_EQ(KGNI_RECV_DONE, recv_cancel(self->d.fd, nr[2], &c));
	EXPECT_EQ(33, c.bytes);
	EXPECT_EQ(self->pe, c.pe);
}

TEST_F(receive, refused)
{
	struct kgni_recv_post good = recv_arg(self->dmem.mdh, self->to, 64, CHANNEL, self->dq.c.cq);
	struct kgni_mem_register ro, none, reserved;
	struct kgni_recv_post bad;
	struct raw_cq other;
	int nr, fd;

#define REFUSED(error, field, value)                                                  \
	do {                                                                          \
		bad = good;                                                           \
		bad.field = value;                                                    \
		EXPECT_EQ(error, aries_ioctl(self->d.fd, KGNI_IOC_RECV_POST, &bad)) { \
			TH_LOG(#field " " #value);                                    \
		}                                                                     \
	} while (0)
	REFUSED(EINVAL, flags, 1);
	REFUSED(EINVAL, reserved, 1);
	REFUSED(EINVAL, length, 0);
	REFUSED(EINVAL, length, (uint32_t)BYTES + 1);
	REFUSED(EINVAL, length, UINT32_MAX);
	REFUSED(EINVAL, address, (uintptr_t)self->to - 1);
	REFUSED(EINVAL, address, (uintptr_t)self->to + BYTES - 63);
	REFUSED(EINVAL, address, (uintptr_t)self->to + BYTES);
	REFUSED(EINVAL, address, UINT64_MAX);
	REFUSED(EINVAL, address, (uintptr_t)self->to & 0xffffffffff);
	REFUSED(EINVAL, channel, 0x10000);
	REFUSED(ENOENT, mdh, self->smem.mdh); /* another file's, of the same domain */
	REFUSED(ENOENT, mdh, 0);
	REFUSED(ENOENT, mdh, UINT32_MAX);
	REFUSED(ENOENT, cq, self->sq.c.cq); /* another file's */
	REFUSED(ENOENT, cq, 0);
	REFUSED(EINVAL, cq, KGNI_NO_CQ); /* the region has one */
	ASSERT_EQ(0, raw_cq(&self->d, &other, 8, 0));
	REFUSED(EINVAL, cq, other.c.cq); /* not the region's */
	ASSERT_EQ(0, aries_register(self->d.fd, self->to, 64, KGNI_MEM_READ_ONLY, self->dq.c.cq,
				    &ro));
	REFUSED(EACCES, mdh, ro.mdh);
	ASSERT_EQ(0, aries_register(self->d.fd, self->to, 64, KGNI_MEM_RESERVE, self->dq.c.cq,
				    &reserved));
	REFUSED(EINVAL, mdh, reserved.mdh); /* not populated */
	ASSERT_EQ(0, aries_register(self->d.fd, self->to, 64, 0, KGNI_NO_CQ, &none));
	REFUSED(EINVAL, mdh, none.mdh); /* it has no queue */
	/* numbers: nobody's, and another file's */
	raw_cq_unmap(&other);
	nr = POST(self->to, 64, CHANNEL);
	ASSERT_LE(0, nr);
	EXPECT_EQ(-ENOENT, recv_test(self->d.fd, ARIES_RMT_ENTRIES, NULL));
	EXPECT_EQ(-ENOENT, recv_test(self->d.fd, -1, NULL));
	EXPECT_EQ(-ENOENT, recv_test(self->s.fd, nr, NULL));
	EXPECT_EQ(-ENOENT, recv_cancel(self->s.fd, nr, NULL));
	EXPECT_EQ(KGNI_RECV_PENDING, recv_test(self->d.fd, nr, NULL));
	fd = aries_open();
	EXPECT_EQ(ENOTCONN, aries_ioctl(fd, KGNI_IOC_RECV_POST, &good));
	EXPECT_EQ(-ENOTCONN, recv_test(fd, nr, NULL));
	EXPECT_EQ(-ENOTCONN, recv_cancel(fd, nr, NULL));
	close(fd);
}

/* What the sender's slot must not say; the rights are those of its descriptor. */
TEST_F(receive, bad_sends)
{
	const int nr = POST(self->to, 64, CHANNEL);
	const uint32_t gone = self->smem.mdh;
	struct kgni_mem_deregister arg = { .argsz = sizeof(arg), .mdh = gone };

	ASSERT_LE(0, nr);
	EXPECT_EQ(ARIES_ST_RESERVED, SEND(CHANNEL + 0x10000, 8));
	EXPECT_EQ(ARIES_ST_LENGTH, SEND(CHANNEL, 0));
	/* a queue of the other file: no event, in the status word only */
	EXPECT_EQ(ARIES_ST_CQ_OWNER,
		  send_start(&self->s, self->dq.c.cq, self->pe, CHANNEL, self->smem.mdh, self->from,
			     8, ARIES_EV_GLOBAL));
	EXPECT_EQ(ARIES_ST_LOCAL_BOUNDS, send_to(&self->s, &self->sq, self->pe, CHANNEL,
						 self->smem.mdh, self->from + BYTES, 8));
	/* a registration that has ended */
	ASSERT_EQ(0, aries_ioctl(self->s.fd, KGNI_IOC_MEM_DEREGISTER, &arg));
	EXPECT_EQ(ARIES_ST_LOCAL_MDD,
		  send_to(&self->s, &self->sq, self->pe, CHANNEL, gone, self->from, 8));
	EXPECT_EQ(KGNI_RECV_PENDING, recv_test(self->d.fd, nr, NULL));
	EXPECT_EQ(0, self->to[0]);
}

TEST_F(receive, registration_stays_while_it_is_used)
{
	struct kgni_mem_deregister arg = { .argsz = sizeof(arg), .mdh = self->dmem.mdh };
	int a = POST(self->to, 64, CHANNEL), b = POST(self->to + 64, 64, CHANNEL);

	ASSERT_LE(0, a);
	ASSERT_LE(0, b);
	EXPECT_EQ(EBUSY, aries_ioctl(self->d.fd, KGNI_IOC_MEM_DEREGISTER, &arg));
	EXPECT_EQ(ARIES_ST_OK, SEND(CHANNEL, 8));
	EXPECT_EQ(KGNI_RECV_DONE, recv_test(self->d.fd, a, NULL));
	EXPECT_EQ(EBUSY, aries_ioctl(self->d.fd, KGNI_IOC_MEM_DEREGISTER, &arg));
	EXPECT_EQ(KGNI_RECV_CANCELLED, recv_cancel(self->d.fd, b, NULL));
	EXPECT_EQ(0, aries_ioctl(self->d.fd, KGNI_IOC_MEM_DEREGISTER, &arg));
	EXPECT_EQ(ARIES_ST_NO_RECEIVE, SEND(CHANNEL, 8));
}

/* A region of pieces is addressed by offset; one of a virtual handle like any other. */
TEST_F(receive, pieces)
{
	const struct kgni_mem_segment list[2] = {
		{ (uintptr_t)self->to + 4 * ARIES_PAGE, ARIES_PAGE },
		{ (uintptr_t)self->to, ARIES_PAGE },
	};
	struct kgni_mdd_block block = { .argsz = sizeof(block), .entries = 2 };
	struct kgni_mem_segments arg = { .argsz = sizeof(arg), .segments = (uintptr_t)list,
					 .count = 2, .cq = self->dq.c.cq, .flags = KGNI_MEM_VMDH,
					 .vmdh = 1 };
	int nr;

	ASSERT_EQ(0, aries_ioctl(self->d.fd, KGNI_IOC_MDD_BLOCK, &block));
	ASSERT_EQ(0, aries_ioctl(self->d.fd, KGNI_IOC_MEM_SEGMENTS, &arg));
	EXPECT_EQ(1, arg.vmdh);
	nr = recv_post(self->d.fd, arg.mdh, (void *)(ARIES_PAGE - 8), 16, CHANNEL, self->dq.c.cq);
	ASSERT_LE(0, nr);
	EXPECT_EQ(ARIES_ST_OK, SEND(CHANNEL, 16));
	EXPECT_EQ(0, memcmp(self->to + 5 * ARIES_PAGE - 8, self->from, 8));
	EXPECT_EQ(0, memcmp(self->to, self->from + 8, 8));
	EXPECT_EQ(KGNI_RECV_DONE, recv_test(self->d.fd, nr, NULL));
	EXPECT_EQ(-EINVAL, recv_post(self->d.fd, arg.mdh, (void *)(2 * ARIES_PAGE - 8), 16, CHANNEL,
				     self->dq.c.cq));
}

/* 16 of a file, half of the NIC's of a domain unless its job says more, all of them together. */
TEST_F(receive, limits)
{
	struct kgni_res res = { .argsz = sizeof(res), .kind = KGNI_RES_RECV,
				.ptag = self->d.at.ptag };
	struct kgni_job job = { .argsz = sizeof(job), .job_id = JOB, .cookie = self->cookie,
				.ptag = ARIES_ANY_PTAG, .limit_mdd = -1, .limit_cq = -1,
				.limit_fma = -1, .flags = KGNI_JOB_LIMITS, .limit_ce = -1,
				.limit_bte = -1, .limit_iommu = -1, .limit_dgram = -1,
				.limit_recv = ARIES_RMT_ENTRIES };
	struct kgni_mem_register mem;
	struct raw third;
	int i, nr[KGNI_RECV_LIMIT];

	for (i = 0; i < KGNI_RECV_LIMIT; i++) {
		nr[i] = POST(self->to + i, 1, i);
		ASSERT_LE(0, nr[i]);
	}
	EXPECT_EQ(-ENOSPC, POST(self->to, 1, 0));
	ASSERT_EQ(0, aries_ioctl(self->d.fd, KGNI_IOC_RES, &res));
	EXPECT_EQ(KGNI_RECV_LIMIT, res.used);
	EXPECT_EQ(ARIES_RMT_ENTRIES / 2, res.total);
	/* the domain's share is used up by the other file */
	EXPECT_EQ(-ENOSPC, recv_post(self->s.fd, self->smem.mdh, self->from, 1, 0, KGNI_NO_CQ));
	ASSERT_EQ(0, aries_ioctl(self->d.fd, KGNI_IOC_JOB, &job));
	EXPECT_EQ(-ENOSPC, POST(self->to, 1, 0));
	for (i = 0; i < KGNI_RECV_LIMIT; i++) {
		ASSERT_LE(0, recv_post(self->s.fd, self->smem.mdh, self->from, 1, 0, KGNI_NO_CQ));
	}
	ASSERT_EQ(0, raw_open(&third, self->cookie));
	ASSERT_EQ(0, aries_register(third.fd, self->to, 8, 0, KGNI_NO_CQ, &mem));
	EXPECT_EQ(-ENOSPC, recv_post(third.fd, mem.mdh, self->to, 1, 0, KGNI_NO_CQ));
	/* each that ends makes room, whoever had it */
	EXPECT_EQ(KGNI_RECV_CANCELLED, recv_cancel(self->d.fd, nr[3], NULL));
	EXPECT_LE(0, recv_post(third.fd, mem.mdh, self->to, 1, 0, KGNI_NO_CQ));
	raw_close(&third);
	res.ptag = 0;
	ASSERT_EQ(0, aries_ioctl(self->d.fd, KGNI_IOC_RES, &res));
	EXPECT_EQ(ARIES_RMT_ENTRIES - 1, res.used);
	EXPECT_EQ(ARIES_RMT_ENTRIES, res.total);
	job.limit_recv = 0;
	ASSERT_EQ(0, aries_ioctl(self->d.fd, KGNI_IOC_JOB, &job));
	EXPECT_EQ(-ENOSPC, POST(self->to, 1, 0));
	close_side(&self->s, &self->sq);
	close_side(&self->d, &self->dq);
	job.flags = KGNI_JOB_DESTROY;
	job.limit_ce = job.limit_bte = job.limit_iommu = job.limit_dgram = job.limit_recv = 0;
	i = aries_open();
	EXPECT_EQ(0, aries_ioctl(i, KGNI_IOC_JOB, &job));
	close(i);
	REOPEN();
}

/* Killed with receives posted, some with a message in them: the numbers come back, senders are told. */
TEST_F(receive, process_killed)
{
	long long used = aries_number("resources/recv_used");
	int round, status;

	for (round = 0; round < 5; round++) {
		int ends[2], i;
		char go;
		pid_t pid;

		ASSERT_EQ(0, pipe(ends));
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			struct kgni_mem_register mem;
			uint8_t *page = aries_pages(1);
			int fd = aries_attached(self->cookie, NULL);

			if (fd < 0 || aries_register(fd, page, ARIES_PAGE, 0, KGNI_NO_CQ, &mem))
				_exit(1);
			for (i = 0; i < 8; i++)
				if (recv_post(fd, mem.mdh, page + 64 * i, 64, CHANNEL, KGNI_NO_CQ) < 0)
					_exit(2);
			if (write(ends[1], "g", 1) != 1)
				_exit(3);
			pause();
		}
		ASSERT_EQ(1, read(ends[0], &go, 1));
		close(ends[0]);
		close(ends[1]);
		EXPECT_EQ(used + 8, aries_number("resources/recv_used"));
		for (i = 0; i < round; i++) {
			EXPECT_EQ(ARIES_ST_OK, SEND(CHANNEL, 8));
		}
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, &status, 0));
		ASSERT_TRUE(WIFSIGNALED(status));
		for (i = 0; i < 100 && aries_number("resources/recv_used") != used; i++)
			usleep(20000);
		EXPECT_EQ(used, aries_number("resources/recv_used"));
		EXPECT_EQ(ARIES_ST_NO_RECEIVE, SEND(CHANNEL, 8));
	}
}

/* While its job is suspended nobody receives; then all as before, in the same order. */
TEST_F(receive, suspended)
{
	struct kgni_suspend arg = { .argsz = sizeof(arg), .job_id = JOB, .ptag = ARIES_ANY_PTAG,
				    .timeout_ms = 1000 };
	struct kgni_job job = { .argsz = sizeof(job), .job_id = JOB, .ptag = ARIES_ANY_PTAG,
				.limit_mdd = -1, .limit_cq = -1, .limit_fma = -1 };
	struct kgni_mem_register mem;
	struct raw other;
	int nr[4], i, fd = aries_open();

	job.cookie = arg.cookie = self->cookie;
	ASSERT_EQ(0, aries_ioctl(fd, KGNI_IOC_JOB, &job));
	for (i = 0; i < 3; i++)
		nr[i] = POST(self->to + i * ARIES_PAGE, 64, CHANNEL);
	EXPECT_EQ(ARIES_ST_OK, SEND(CHANNEL, 8));
	ASSERT_EQ(0, aries_ioctl(fd, KGNI_IOC_SUSPEND, &arg));
	/* told what had come, another one posted and one taken back meanwhile */
	EXPECT_EQ(KGNI_RECV_DONE, recv_test(self->d.fd, nr[0], NULL));
	EXPECT_EQ(KGNI_RECV_PENDING, recv_test(self->d.fd, nr[1], NULL));
	nr[3] = POST(self->to + 3 * ARIES_PAGE, 64, CHANNEL);
	ASSERT_LE(0, nr[3]);
	EXPECT_EQ(KGNI_RECV_CANCELLED, recv_cancel(self->d.fd, nr[1], NULL));
	/* another domain's go on */
	ASSERT_EQ(0, raw_open(&other, aries_cookie()));
	ASSERT_EQ(0, aries_register(other.fd, self->to, BYTES, 0, KGNI_NO_CQ, &mem));
	i = recv_post(other.fd, mem.mdh, self->to + 8 * ARIES_PAGE, 8, CHANNEL, KGNI_NO_CQ);
	ASSERT_LE(0, i);
	send_start(&other, 0, self->pe, CHANNEL, mem.mdh, self->to, 8, 0);
	EXPECT_EQ(KGNI_RECV_DONE, recv_test(other.fd, i, NULL));
	raw_close(&other);
	/* the NIC has none of ours: the table says so */
	EXPECT_EQ(0, self->to[2 * ARIES_PAGE]);
	arg.flags = KGNI_SUSPEND_RESUME;
	ASSERT_EQ(0, aries_ioctl(fd, KGNI_IOC_SUSPEND, &arg));
	EXPECT_EQ(ARIES_ST_OK, SEND(CHANNEL, 8));
	EXPECT_EQ(KGNI_RECV_DONE, recv_test(self->d.fd, nr[2], NULL));
	EXPECT_EQ(KGNI_RECV_PENDING, recv_test(self->d.fd, nr[3], NULL));
	EXPECT_EQ(ARIES_ST_OK, SEND(CHANNEL, 8));
	EXPECT_EQ(KGNI_RECV_DONE, recv_test(self->d.fd, nr[3], NULL));
	EXPECT_EQ(ARIES_ST_NO_RECEIVE, SEND(CHANNEL, 8));
	close_side(&self->s, &self->sq);
	close_side(&self->d, &self->dq);
	job.flags = KGNI_JOB_DESTROY;
	EXPECT_EQ(0, aries_ioctl(fd, KGNI_IOC_JOB, &job));
	close(fd);
	REOPEN();
}

TEST_HARNESS_MAIN
