// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bad arguments of every ioctl, by table: sizes, reserved fields, unknown flags, numbers out of
 * range, pointers to nowhere, names of others and names of what is gone. A request that the driver
 * has and the table has not shows as a failure of unknown_requests.
 */
#include <limits.h>
#include <sys/wait.h>

#include "badargs.h"
#include "kselftest_harness.h"

#define KERNEL_ADDRESS 0xffff888000000000ull
#define TAIL 64

FIXTURE(badargs)
{
	int fd, other;
	union argument arg;
	struct objects own, foreign;
};

FIXTURE_SETUP(badargs)
{
	struct kgni_attach attach;

	memset(&self->own, 0, sizeof(self->own));
	memset(&self->foreign, 0, sizeof(self->foreign));
	self->fd = aries_attached(aries_cookie(), &attach);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, make(self->fd, &attach, &self->own));
	self->other = aries_attached(aries_cookie(), &attach);
	ASSERT_LE(0, self->other);
	ASSERT_EQ(0, make(self->other, &attach, &self->foreign));
}

FIXTURE_TEARDOWN(badargs)
{
	close(self->other);
	close(self->fd);
	munmap(self->own.pages, 4 * ARIES_PAGE);
	munmap(self->foreign.pages, 4 * ARIES_PAGE);
}

/* What the refusals below would be without what is wrong. */
TEST_F(badargs, good_arguments)
{
	size_t i;

	for (i = 0; i < CALLS; i++) {
		fill(&self->arg, &calls[i], &self->own);
		EXPECT_EQ(calls[i].result, aries_ioctl(self->fd, calls[i].request, &self->arg)) {
			TH_LOG("%s", calls[i].name);
		}
	}
}

TEST_F(badargs, longer_with_zero_tail)
{
	size_t i, at;

	for (i = 0; i < CALLS; i++) {
		fill(&self->arg, &calls[i], &self->own);
		self->arg.argsz += TAIL;
		EXPECT_EQ(calls[i].result, aries_ioctl(self->fd, calls[i].request, &self->arg)) {
			TH_LOG("%s", calls[i].name);
		}
		/* no more than the driver knows is written back */
		for (at = calls[i].size; at < calls[i].size + TAIL; at++) {
			EXPECT_EQ(0, self->arg.bytes[at]);
		}
	}
}

TEST_F(badargs, longer_with_something_behind)
{
	size_t i, at;

	for (i = 0; i < CALLS; i++) {
		for (at = 0; at < TAIL; at++) {
			fill(&self->arg, &calls[i], &self->own);
			self->arg.argsz += TAIL;
			self->arg.bytes[calls[i].size + at] = 1;
			EXPECT_EQ(E2BIG, aries_ioctl(self->fd, calls[i].request, &self->arg)) {
				TH_LOG("%s, byte %zu", calls[i].name, at);
			}
		}
		fill(&self->arg, &calls[i], &self->own);
		self->arg.argsz = ARIES_PAGE + 1;
		EXPECT_EQ(E2BIG, aries_ioctl(self->fd, calls[i].request, &self->arg));
		self->arg.argsz = UINT32_MAX;
		EXPECT_EQ(E2BIG, aries_ioctl(self->fd, calls[i].request, &self->arg));
	}
}

TEST_F(badargs, shorter)
{
	uint32_t size;
	size_t i;

	for (i = 0; i < CALLS; i++) {
		for (size = 0; size < calls[i].first; size++) {
			fill(&self->arg, &calls[i], &self->own);
			self->arg.argsz = size;
			EXPECT_EQ(EINVAL, aries_ioctl(self->fd, calls[i].request, &self->arg)) {
				TH_LOG("%s of %u bytes", calls[i].name, size);
			}
		}
	}
}

/* Programs that know less than the driver: what they do not give is zero. */
TEST_F(badargs, earlier_versions)
{
	size_t i;

	for (i = 0; i < CALLS; i++) {
		if (calls[i].first == calls[i].size)
			continue;
		fill(&self->arg, &calls[i], &self->own);
		memset(self->arg.bytes + calls[i].first, 0xff, TAIL);
		self->arg.argsz = (uint32_t)calls[i].first;
		EXPECT_EQ(calls[i].result, aries_ioctl(self->fd, calls[i].request, &self->arg)) {
			TH_LOG("%s", calls[i].name);
		}
		EXPECT_EQ(0xff, self->arg.bytes[calls[i].first]);
	}
}

TEST_F(badargs, no_memory_there)
{
	uint8_t *pages = aries_pages(2);
	uint32_t *last;
	size_t i;

	ASSERT_NE(NULL, pages);
	ASSERT_EQ(0, munmap(pages + ARIES_PAGE, ARIES_PAGE));
	last = (uint32_t *)(pages + ARIES_PAGE - 4);
	for (i = 0; i < CALLS; i++) {
		EXPECT_EQ(EFAULT, aries_ioctl(self->fd, calls[i].request, NULL));
		EXPECT_EQ(EFAULT, aries_ioctl(self->fd, calls[i].request, (void *)8));
		EXPECT_EQ(EFAULT,
			  aries_ioctl(self->fd, calls[i].request, (void *)KERNEL_ADDRESS));
		*last = (uint32_t)calls[i].size;
		EXPECT_EQ(EFAULT, aries_ioctl(self->fd, calls[i].request, last)) {
			TH_LOG("%s", calls[i].name);
		}
	}
	munmap(pages, ARIES_PAGE);
}

TEST_F(badargs, reserved_fields_and_unknown_flags)
{
	unsigned int bits = 0, bit;
	size_t i, n;

	for (i = 0; i < CALLS; i++) {
		for (n = 0; n < FIELDS_MAX && calls[i].field[n].name; n++) {
			const struct field *f = &calls[i].field[n];

			for (bit = 0; bit < 8u * f->bytes; bit++) {
				if (bit < 64 && f->known >> bit & 1)
					continue;
				bits++;
				fill(&self->arg, &calls[i], &self->own);
				self->arg.bytes[f->at + bit / 8] |= (uint8_t)(1u << bit % 8);
				EXPECT_EQ(EINVAL, aries_ioctl(self->fd, calls[i].request,
							      &self->arg)) {
					TH_LOG("bit %u of %s of %s", bit, f->name, calls[i].name);
				}
			}
		}
	}
	TH_LOG("%u bits", bits);
	EXPECT_LT(1300, bits);
}

/* Reserved fields of what arguments point at. */
TEST_F(badargs, reserved_fields_of_elements)
{
	struct objects *o = &self->own;
	unsigned int bit;

	for (bit = 0; bit < 32; bit++) {
		fill(&self->arg, find(KGNI_IOC_NTT), o);
		self->arg.ntt.flags = 0;
		self->arg.ntt.granularity = 1;
		self->arg.ntt.entries = (uintptr_t)&o->entry;
		o->entry.reserved = 1u << bit;
		EXPECT_EQ(EINVAL, aries_ioctl(self->fd, KGNI_IOC_NTT, &self->arg));
		o->entry.reserved = 0;
		if (bit > 1) {
			fill(&self->arg, find(KGNI_IOC_CE_CONFIG), o);
			o->child.kind ^= 1u << bit;
			EXPECT_EQ(EINVAL, aries_ioctl(self->fd, KGNI_IOC_CE_CONFIG, &self->arg));
			o->child.kind ^= 1u << bit;
		}
		fill(&self->arg, find(KGNI_IOC_CE_CONFIG), o);
		o->child.ce = 1u << bit; /* an endpoint is at no engine */
		EXPECT_EQ(EINVAL, aries_ioctl(self->fd, KGNI_IOC_CE_CONFIG, &self->arg));
		o->child.ce = 0;
	}
}

TEST_F(badargs, unknown_requests)
{
	unsigned int nr;

	memset(&self->arg, 0, sizeof(self->arg));
	for (nr = 0; nr < 256; nr++) {
		const unsigned long request = _IO(KGNI_IOC_MAGIC, nr);

		EXPECT_EQ(find(request) ? EINVAL : ENOTTY,
			  aries_ioctl(self->fd, request, &self->arg)) {
			TH_LOG("request %#x", nr);
		}
		/* the same number in other clothes */
		EXPECT_EQ(ENOTTY, aries_ioctl(self->fd, _IO('H', nr), &self->arg));
		EXPECT_EQ(ENOTTY, aries_ioctl(self->fd, _IOR(KGNI_IOC_MAGIC, nr, int),
					      &self->arg));
		EXPECT_EQ(ENOTTY, aries_ioctl(self->fd, _IOWR(KGNI_IOC_MAGIC, nr, int),
					      &self->arg));
	}
}

TEST_F(badargs, without_an_attachment)
{
	int fd = aries_open();
	size_t i;

	ASSERT_LE(0, fd);
	for (i = 0; i < CALLS; i++) {
		if (!calls[i].attached)
			continue;
		fill(&self->arg, &calls[i], &self->own);
		EXPECT_EQ(ENOTCONN, aries_ioctl(fd, calls[i].request, &self->arg)) {
			TH_LOG("%s", calls[i].name);
		}
	}
	close(fd);
}

/* The index of the first call that did not end with EPERM, plus one; 0: all did. */
static int first_allowed(int fd, union argument *arg, struct objects *o)
{
	size_t i;

	for (i = 0; i < CALLS; i++) {
		fill(arg, &calls[i], o);
		if (calls[i].privileged && aries_ioctl(fd, calls[i].request, arg) != EPERM)
			return (int)i + 1;
	}
	return 0;
}

TEST_F(badargs, without_privilege)
{
	pid_t child = fork();
	int status;

	ASSERT_LE(0, child);
	if (!child) {
		if (setgid(ARIES_NOBODY) || setuid(ARIES_NOBODY))
			_exit(255);
		_exit(first_allowed(self->fd, &self->arg, &self->own));
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
}

/* One field of an argument with a value that it must not have. */
struct value {
	unsigned long request;
	const char *name;
	uint16_t at, bytes;
	uint64_t value;
	int error;
};

#define VALUE(NAME, type, member, value, error)                                                 \
	{ KGNI_IOC_##NAME, #type "." #member, offsetof(struct kgni_##type, member),             \
	  sizeof(((struct kgni_##type *)0)->member), value, error }
#define BAD_POINTER(NAME, type, member)                                                         \
	VALUE(NAME, type, member, 0, EFAULT), VALUE(NAME, type, member, 8, EFAULT),             \
		VALUE(NAME, type, member, KERNEL_ADDRESS, EFAULT)

static const struct value values[] = {
	VALUE(ATTACH, attach, abi_version, KGNI_ABI_VERSION + 1, EPROTO),
	VALUE(ATTACH, attach, abi_version, 0, EPROTO),
	VALUE(ATTACH, attach, modes, 0x80000000, EINVAL),
	VALUE(CQ_CREATE, cq_create, entries, 0, EINVAL),
	VALUE(CQ_CREATE, cq_create, entries, 1u << 19, EFBIG),
	VALUE(CQ_CREATE, cq_create, entries, UINT32_MAX, EFBIG),
	VALUE(CQ_CREATE, cq_create, delay, 2, EINVAL), /* more than entries */
	VALUE(CQ_WAIT, cq_wait, count, 0, EINVAL),
	VALUE(CQ_WAIT, cq_wait, count, 65, EINVAL),
	VALUE(CQ_WAIT, cq_wait, count, UINT32_MAX, EINVAL),
	BAD_POINTER(CQ_WAIT, cq_wait, cqs),
	VALUE(MEM_REGISTER, mem_register, length, 0, EINVAL),
	VALUE(MEM_REGISTER, mem_register, length, UINT64_MAX, EFBIG),
	VALUE(MEM_REGISTER, mem_register, length, 1ull << 41, EFBIG),
	VALUE(MEM_REGISTER, mem_register, address, 8, EFAULT),
	VALUE(MEM_REGISTER, mem_register, address, KERNEL_ADDRESS, EINVAL),
	VALUE(MEM_SEGMENTS, mem_segments, count, 0, EINVAL),
	VALUE(MEM_SEGMENTS, mem_segments, count, KGNI_SEGMENTS_MAX + 1, EFBIG),
	VALUE(MEM_SEGMENTS, mem_segments, count, UINT32_MAX, EFBIG),
	BAD_POINTER(MEM_SEGMENTS, mem_segments, segments),
	VALUE(MEM_UPDATE, mem_update, length, 0, EINVAL),
	VALUE(MEM_UPDATE, mem_update, length, ARIES_PAGE + 1, EINVAL),
	VALUE(MEM_UPDATE, mem_update, length, UINT64_MAX, EFBIG),
	VALUE(MEM_UPDATE, mem_update, address, 8, EINVAL),
	VALUE(MEM_UPDATE, mem_update, address, UINT64_MAX, EINVAL),
	VALUE(RECV_POST, recv_post, length, 0, EINVAL),
	VALUE(RECV_POST, recv_post, length, ARIES_PAGE + 1, EINVAL),
	VALUE(RECV_POST, recv_post, length, UINT32_MAX, EINVAL),
	VALUE(RECV_POST, recv_post, address, 8, EINVAL),
	VALUE(RECV_POST, recv_post, address, UINT64_MAX, EINVAL),
	VALUE(JOB, job, limit_mdd, (uint32_t)-2, EINVAL),
	VALUE(JOB, job, limit_iommu, 256, EINVAL),
	VALUE(RES, res, kind, 0, EINVAL),
	VALUE(RES, res, kind, UINT32_MAX, EINVAL),
	VALUE(RES, res, ptag, 200, ENOENT),
	VALUE(CE_CONFIG, ce_config, count, 0, EINVAL),
	VALUE(CE_CONFIG, ce_config, count, 33, EINVAL),
	VALUE(CE_CONFIG, ce_config, count, UINT32_MAX, EINVAL),
	VALUE(CE_CONFIG, ce_config, parent_pe, 1, EINVAL), /* the root's */
	VALUE(CE_CONFIG, ce_config, parent_ce, 1, EINVAL),
	VALUE(CE_CONFIG, ce_config, parent_index, 1, EINVAL),
	BAD_POINTER(CE_CONFIG, ce_config, children),
	VALUE(DGRAM_POST, dgram_post, length, KGNI_DGRAM_BYTES + 1, E2BIG),
	VALUE(DGRAM_POST, dgram_post, length, UINT32_MAX, E2BIG),
	VALUE(DGRAM_POST, dgram_post, pe, 1, EINVAL), /* a wildcard's */
	VALUE(DGRAM_POST, dgram_post, inst_id, 1, EINVAL),
	VALUE(NTT, ntt, count, 0, EINVAL),
	VALUE(NTT, ntt, entries, 8, EINVAL), /* of entries to be cleared */
	VALUE(NTT, ntt, base, ARIES_NTT_ENTRIES, ENOENT),
	VALUE(JOB_NTT, job_ntt, size, 0, EINVAL),
	VALUE(BI, bi, modes, 0x8000, EINVAL),
	VALUE(MDD_BLOCK, mdd_block, entries, 0, EINVAL),
	VALUE(MDD_BLOCK, mdd_block, entries, ARIES_MDD_ENTRIES + 1, ENOSPC),
	VALUE(MDD_BLOCK, mdd_block, entries, UINT32_MAX, ENOSPC),
	VALUE(ERR_SUBSCRIBE, err_subscribe, entries, KGNI_ERR_ENTRIES_MAX + 1, EINVAL),
	VALUE(ERR_SUBSCRIBE, err_subscribe, entries, UINT32_MAX, EINVAL),
	VALUE(ERR_READ, err_read, count, 0, EINVAL),
	VALUE(ERR_READ, err_read, count, KGNI_ERR_ENTRIES_MAX + 1, EINVAL),
};

TEST_F(badargs, values)
{
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const struct value *v = &values[i];

		fill(&self->arg, find(v->request), &self->own);
		if (v->request == KGNI_IOC_BI)
			((struct kgni_bi *)&self->arg)->flags = KGNI_BI_SET;
		memcpy(self->arg.bytes + v->at, &v->value, v->bytes);
		EXPECT_EQ(v->error, aries_ioctl(self->fd, v->request, &self->arg)) {
			TH_LOG("%s = %#llx", v->name, (unsigned long long)v->value);
		}
	}
}

/* Arguments that name a queue, a registration, an engine or a receive, where the name stands. */
static const struct name {
	unsigned long request;
	uint16_t at;
	char kind;
} names[] = {
	{ KGNI_IOC_CQ_DESTROY, offsetof(struct kgni_cq_destroy, cq), 'q' },
	{ KGNI_IOC_CQ_WAIT, 0, 'q' }, /* in an array */
	{ KGNI_IOC_MEM_REGISTER, offsetof(struct kgni_mem_register, cq), 'q' },
	{ KGNI_IOC_MEM_SEGMENTS, offsetof(struct kgni_mem_segments, cq), 'q' },
	{ KGNI_IOC_CE_CONFIG, offsetof(struct kgni_ce_config, cq), 'q' },
	{ KGNI_IOC_MEM_DEREGISTER, offsetof(struct kgni_mem_deregister, mdh), 'm' },
	{ KGNI_IOC_MEM_UPDATE, offsetof(struct kgni_mem_update, mdh), 'm' },
	{ KGNI_IOC_CE_FREE, offsetof(struct kgni_ce_free, ce), 'e' },
	{ KGNI_IOC_CE_CONFIG, offsetof(struct kgni_ce_config, ce), 'e' },
	{ KGNI_IOC_RECV_POST, offsetof(struct kgni_recv_post, cq), 'q' },
	{ KGNI_IOC_RECV_POST, offsetof(struct kgni_recv_post, mdh), 'm' },
	{ KGNI_IOC_RECV_TEST, offsetof(struct kgni_recv_test, receive), 'r' },
	{ KGNI_IOC_RECV_CANCEL, offsetof(struct kgni_recv_cancel, receive), 'r' },
};

/* How a request ends that names @id. */
static int named(int fd, union argument *arg, struct objects *o, const struct name *name,
		 uint32_t id)
{
	struct objects changed = *o;

	fill(arg, find(name->request), &changed);
	if (name->request == KGNI_IOC_CQ_WAIT)
		changed.cq = id;
	else
		memcpy(arg->bytes + name->at, &id, sizeof(id));
	return aries_ioctl(fd, name->request, arg);
}

/* A receive of @fd, which its owner has to take back. */
static uint32_t receive(int fd, union argument *arg, struct objects *o)
{
	fill(arg, find(KGNI_IOC_RECV_POST), o);
	return aries_ioctl(fd, KGNI_IOC_RECV_POST, arg) ? UINT32_MAX : arg->recv_post.receive;
}

#define IDS 5

TEST_F(badargs, names_of_others_and_of_nobody)
{
	struct objects *foreign = &self->foreign;
	const uint32_t queues[IDS] = { foreign->cq, 0, ARIES_CQ_ENTRIES, UINT32_MAX - 1, INT32_MAX };
	const uint32_t domains[IDS] = { foreign->reserved_mdh, foreign->mdh, 0, ARIES_MDD_ENTRIES,
					UINT32_MAX };
	const uint32_t engines[IDS] = { foreign->ce, ARIES_CE_CHANNELS, UINT32_MAX, INT32_MAX,
					ARIES_CE_CHANNELS + 1 };
	const uint32_t receives[IDS] = { receive(self->other, &self->arg, foreign),
					 ARIES_RMT_ENTRIES, UINT32_MAX, INT32_MAX,
					 ARIES_RMT_ENTRIES - 1 };
	size_t i, n;

	ASSERT_NE(UINT32_MAX, receives[0]);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct name *name = &names[i];
		const uint32_t *ids = name->kind == 'q' ? queues :
				      name->kind == 'm' ? domains :
				      name->kind == 'r' ? receives : engines;

		for (n = 0; n < IDS; n++) {
			EXPECT_EQ(ENOENT, named(self->fd, &self->arg, &self->own, name, ids[n])) {
				TH_LOG("%s, %c %u", find(name->request)->name, name->kind, ids[n]);
			}
		}
	}
	/* and nothing has happened to what they name */
	EXPECT_EQ(ETIMEDOUT, named(self->other, &self->arg, foreign, &names[1], foreign->cq));
	EXPECT_EQ(0, named(self->other, &self->arg, foreign, &names[8], foreign->ce));
	EXPECT_EQ(0, named(self->other, &self->arg, foreign, &names[6], foreign->reserved_mdh));
	EXPECT_EQ(0, named(self->other, &self->arg, foreign, &names[12], receives[0]));
}

TEST_F(badargs, names_of_what_is_gone)
{
	struct kgni_cq_destroy cq = { .argsz = sizeof(cq), .cq = self->own.cq };
	struct kgni_mem_deregister mem = { .argsz = sizeof(mem), .mdh = self->own.reserved_mdh };
	struct kgni_ce_free ce = { .argsz = sizeof(ce), .ce = self->own.ce };
	struct kgni_recv_cancel recv = { .argsz = sizeof(recv) };
	size_t i;

	recv.receive = receive(self->fd, &self->arg, &self->own);
	ASSERT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_RECV_CANCEL, &recv));
	ASSERT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_CQ_DESTROY, &cq));
	ASSERT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_MEM_DEREGISTER, &mem));
	ASSERT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_CE_FREE, &ce));
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const uint32_t id = names[i].kind == 'q' ? cq.cq :
				    names[i].kind == 'm' ? mem.mdh :
				    names[i].kind == 'r' ? recv.receive : ce.ce;

		EXPECT_EQ(ENOENT, named(self->fd, &self->arg, &self->own, &names[i], id)) {
			TH_LOG("%s, %c", find(names[i].request)->name, names[i].kind);
		}
	}
}

/* Datagrams are named by endpoint and file; domains by tag and cookie, which belong together. */
TEST_F(badargs, datagrams_and_domains_of_others)
{
	struct objects *own = &self->own, *foreign = &self->foreign;
	struct kgni_ptag tag = { .argsz = sizeof(tag), .cookie = foreign->cookie };
	int fd = aries_open();

	ASSERT_LE(0, fd);
	fill(&self->arg, find(KGNI_IOC_DGRAM_POST), foreign);
	self->arg.dgram_post.ep = 6;
	ASSERT_EQ(0, aries_ioctl(self->other, KGNI_IOC_DGRAM_POST, &self->arg));
	fill(&self->arg, find(KGNI_IOC_DGRAM_TEST), own);
	EXPECT_EQ(ENOENT, aries_ioctl(self->fd, KGNI_IOC_DGRAM_TEST, &self->arg));
	fill(&self->arg, find(KGNI_IOC_DGRAM_CANCEL), own);
	EXPECT_EQ(ENOENT, aries_ioctl(self->fd, KGNI_IOC_DGRAM_CANCEL, &self->arg));
	fill(&self->arg, find(KGNI_IOC_DGRAM_CANCEL), foreign);
	EXPECT_EQ(0, aries_ioctl(self->other, KGNI_IOC_DGRAM_CANCEL, &self->arg));

	ASSERT_EQ(0, aries_ioctl(self->fd, KGNI_IOC_PTAG, &tag));
	fill(&self->arg, find(KGNI_IOC_ATTACH), own);
	self->arg.attach.ptag = tag.ptag;
	EXPECT_EQ(EACCES, aries_ioctl(fd, KGNI_IOC_ATTACH, &self->arg));
	fill(&self->arg, find(KGNI_IOC_ERR_SUBSCRIBE), own);
	self->arg.err_subscribe.ptag = tag.ptag;
	EXPECT_EQ(EACCES, aries_ioctl(fd, KGNI_IOC_ERR_SUBSCRIBE, &self->arg));
	fill(&self->arg, find(KGNI_IOC_PTAG), own);
	self->arg.ptag.cookie ^= 0x80000000;
	EXPECT_EQ(ENOENT, aries_ioctl(fd, KGNI_IOC_PTAG, &self->arg));
	close(fd);
}

TEST_HARNESS_MAIN
