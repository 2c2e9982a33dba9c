// SPDX-License-Identifier: GPL-2.0-only
/*
 * Collective engines: what their ioctls take and refuse, that an owner's end is the end of them,
 * and a tree of one node, with the library and without.
 */
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "raw.h"
#include "ugni_test.h"

#define CE_MODES (GNI_CE_MODE_ROUND_NEAR | GNI_CE_MODE_CQE_ONCOMP | GNI_CE_MODE_RC_ADAPT)
#define RESULT_BYTES 32

static int ce_alloc(int fd, uint32_t *ce)
{
	struct kgni_ce_alloc arg = { .argsz = sizeof(arg) };
	int rc = aries_ioctl(fd, KGNI_IOC_CE_ALLOC, &arg);

	*ce = arg.ce;
	return rc;
}

static int ce_free(int fd, uint32_t ce)
{
	struct kgni_ce_free arg = { .argsz = sizeof(arg), .ce = ce };

	return aries_ioctl(fd, KGNI_IOC_CE_FREE, &arg);
}

FIXTURE(ce)
{
	struct raw r;
	uint32_t nr;
	struct kgni_ce_child child[33];
	struct kgni_ce_config config;
};

FIXTURE_SETUP(ce)
{
	int i;

	ASSERT_EQ(0, raw_open(&self->r, aries_cookie()));
	ASSERT_EQ(0, ce_alloc(self->r.fd, &self->nr));
	for (i = 0; i < 33; i++)
		self->child[i] = (struct kgni_ce_child){ .pe = self->r.at.pe,
							 .inst_id = 7,
							 .kind = KGNI_CE_ENDPOINT };
	self->config = (struct kgni_ce_config){ .argsz = sizeof(self->config),
						.ce = self->nr,
						.count = 2,
						.children = (uintptr_t)self->child,
						.cq = KGNI_NO_CQ,
						.round = 2 };
}

FIXTURE_TEARDOWN(ce)
{
	raw_close(&self->r);
}

#define CONFIG() aries_ioctl(self->r.fd, KGNI_IOC_CE_CONFIG, &self->config)
#define REFUSED(error, field, value)                                                        \
	do {                                                                                \
		struct kgni_ce_config keep = self->config;                                  \
		self->config.field = (value);                                               \
		EXPECT_EQ(error, CONFIG()) { TH_LOG("%s = %s", #field, #value); }           \
		self->config = keep;                                                        \
	} while (0)

/* A contribution as child @index; the doorbell's status. */
static uint32_t give(struct raw *r, uint32_t engine, uint32_t index, uint32_t mdh,
		     volatile struct aries_ce_result *result, uint64_t value)
{
	const struct aries_fma_desc desc = {
		.pe = r->at.pe,
		.offset = index | engine << ARIES_CE_ENGINE_SHIFT,
		.local_mdh = (uint16_t)mdh,
		.local_offset = raw_offset(result),
		.operand = { value },
	};

	result->control = 0;
	memcpy((void *)(r->area + ARIES_DESC_FMA), &desc, sizeof(desc));
	__sync_synchronize();
	r->bell[ARIES_DB_FMA / 8] = (uint64_t)ARIES_FMA_CE << ARIES_DB_OP_SHIFT |
				    (uint64_t)GNI_FMA_CE_IADD << ARIES_DB_AMO_SHIFT;
	__sync_synchronize();
	return raw_status(r);
}

TEST_F(ce, wrong_sizes)
{
	struct kgni_ce_alloc alloc = { .argsz = 4 };
	struct kgni_ce_free release = { .argsz = 4, .ce = self->nr };
	struct {
		struct kgni_ce_config config;
		uint64_t more;
	} longer = { .config = self->config };

	EXPECT_EQ(EINVAL, aries_ioctl(self->r.fd, KGNI_IOC_CE_ALLOC, &alloc));
	EXPECT_EQ(EINVAL, aries_ioctl(self->r.fd, KGNI_IOC_CE_FREE, &release));
	REFUSED(EINVAL, argsz, sizeof(self->config) - 1);
	longer.config.argsz = sizeof(longer);
	EXPECT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_CE_CONFIG, &longer));
	longer.more = 1;
	EXPECT_EQ(E2BIG, aries_ioctl(self->r.fd, KGNI_IOC_CE_CONFIG, &longer));
}

TEST_F(ce, wrong_configurations)
{
	EXPECT_EQ(0, CONFIG());
	REFUSED(EINVAL, flags, 4);
	REFUSED(EINVAL, count, 0);
	REFUSED(EINVAL, count, 33);
	REFUSED(EINVAL, round, 4);
	REFUSED(EINVAL, route, 4);
	REFUSED(EINVAL, reserved, 1);
	REFUSED(EINVAL, parent_pe, 1);
	REFUSED(EINVAL, parent_ce, 1);
	REFUSED(EINVAL, parent_index, 1);
	REFUSED(EFAULT, children, 8);
	REFUSED(ENOENT, cq, 3);
	REFUSED(ENOENT, ce, (self->nr + 1) % 4);
	REFUSED(ENOENT, ce, 4);
	self->config.flags = KGNI_CE_PARENT;
	REFUSED(EINVAL, parent_ce, 4);
	REFUSED(EINVAL, parent_index, 32);
	REFUSED(ENXIO, parent_pe, 0x3ffff);
	self->config.flags = 0;
	self->config.count = 32;
	EXPECT_EQ(0, CONFIG());
}

TEST_F(ce, wrong_children)
{
	struct kgni_ce_child good = self->child[1];

	self->child[1].kind = 0;
	EXPECT_EQ(EINVAL, CONFIG());
	self->child[1].kind = 3;
	EXPECT_EQ(EINVAL, CONFIG());
	self->child[1] = good;
	self->child[1].ce = 1; /* an endpoint has no engine */
	EXPECT_EQ(EINVAL, CONFIG());
	self->child[1].kind = KGNI_CE_ENGINE; /* nor an engine an instance */
	EXPECT_EQ(EINVAL, CONFIG());
	self->child[1].inst_id = 0;
	EXPECT_EQ(0, CONFIG());
	self->child[1].ce = 4;
	EXPECT_EQ(EINVAL, CONFIG());
	self->child[1] = good;
	self->child[1].pe = 0x3ffff;
	EXPECT_EQ(ENXIO, CONFIG());
	/* the 33rd is never looked at */
	self->child[1] = good;
	self->child[32].kind = 9;
	self->config.count = 32;
	EXPECT_EQ(0, CONFIG());
}

/* N21: four for all, and they come back however their owner ends. */
TEST_F(ce, four)
{
	uint32_t nr[4];
	int other, i;

	ASSERT_LE(0, other = aries_attached(aries_cookie(), NULL));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, ce_alloc(other, &nr[i]));
	}
	EXPECT_EQ(ENOSPC, ce_alloc(other, &nr[3]));
	EXPECT_EQ(ENOSPC, ce_alloc(self->r.fd, &nr[3]));
	EXPECT_EQ(4, aries_number("resources/ce_used"));
	EXPECT_EQ(4, aries_number("resources/ce_total"));
	/* not one's own */
	EXPECT_EQ(ENOENT, ce_free(other, self->nr));
	EXPECT_EQ(ENOENT, ce_free(self->r.fd, nr[0]));
	REFUSED(ENOENT, ce, nr[0]);
	close(other);
	EXPECT_EQ(1, aries_number("resources/ce_used"));
	EXPECT_EQ(0, ce_free(self->r.fd, self->nr));
	EXPECT_EQ(ENOENT, ce_free(self->r.fd, self->nr));
	EXPECT_EQ(0, aries_number("resources/ce_used"));
}

TEST(not_attached)
{
	struct kgni_ce_child child = { .kind = KGNI_CE_ENDPOINT };
	struct kgni_ce_config config = { .argsz = sizeof(config), .count = 1, .cq = KGNI_NO_CQ,
					 .children = (uintptr_t)&child };
	int fd = aries_open();
	uint32_t nr;

	ASSERT_LE(0, fd);
	EXPECT_EQ(ENOTCONN, ce_alloc(fd, &nr));
	EXPECT_EQ(ENOTCONN, ce_free(fd, 0));
	EXPECT_EQ(ENOTCONN, aries_ioctl(fd, KGNI_IOC_CE_CONFIG, &config));
	close(fd);
}

/* A queue stays while an engine has it; another file's is not to be had. */
TEST_F(ce, queue)
{
	struct kgni_cq_destroy destroy = { .argsz = sizeof(destroy) };
	struct kgni_cq_create mine, foreign;
	int other;

	ASSERT_LE(0, other = aries_attached(aries_cookie(), NULL));
	ASSERT_EQ(0, aries_cq(other, 10, 0, &foreign));
	ASSERT_EQ(0, aries_cq(self->r.fd, 10, 0, &mine));
	REFUSED(ENOENT, cq, foreign.cq);
	destroy.cq = mine.cq;
	self->config.cq = mine.cq;
	EXPECT_EQ(0, CONFIG());
	EXPECT_EQ(EBUSY, aries_ioctl(self->r.fd, KGNI_IOC_CQ_DESTROY, &destroy));
	/* a refused change leaves it as it was */
	REFUSED(EINVAL, round, 4);
	self->child[0].pe = 0x3ffff;
	EXPECT_EQ(ENXIO, CONFIG());
	EXPECT_EQ(EBUSY, aries_ioctl(self->r.fd, KGNI_IOC_CQ_DESTROY, &destroy));
	EXPECT_EQ(0, ce_free(self->r.fd, self->nr));
	EXPECT_EQ(0, aries_ioctl(self->r.fd, KGNI_IOC_CQ_DESTROY, &destroy));
	close(other);
}

/* Two children on this node: protection, the result, and what a new configuration does to a waiter. */
TEST_F(ce, operation)
{
	volatile struct aries_ce_result *result = aries_pages(1);
	struct kgni_mem_register mem, theirs;
	struct raw stranger;

	ASSERT_NE(NULL, result);
	ASSERT_EQ(0, aries_register(self->r.fd, (void *)result, ARIES_PAGE, 0, KGNI_NO_CQ, &mem));
	EXPECT_EQ(ARIES_ST_DISABLED, give(&self->r, self->nr, 0, mem.mdh, &result[0], 1));
	ASSERT_EQ(0, CONFIG());
	EXPECT_EQ(0, give(&self->r, self->nr, 0, mem.mdh, &result[0], 40));
	EXPECT_EQ(ARIES_ST_CE_BUSY, give(&self->r, self->nr, 0, mem.mdh, &result[2], 9));
	EXPECT_EQ(ARIES_ST_CE_CHILD, give(&self->r, self->nr, 2, mem.mdh, &result[2], 9));
	EXPECT_EQ(0, result[0].control & ARIES_CER_DONE);
	ASSERT_EQ(0, raw_open(&stranger, aries_cookie()));
	ASSERT_EQ(0, aries_register(stranger.fd, (void *)result, ARIES_PAGE, 0, KGNI_NO_CQ,
				    &theirs));
	EXPECT_EQ(ARIES_ST_PTAG, give(&stranger, self->nr, 1, theirs.mdh, &result[2], 9));
	raw_close(&stranger);
	EXPECT_EQ(0, give(&self->r, self->nr, 1, mem.mdh, &result[1], 2));
	EXPECT_EQ(ARIES_CER_DONE, result[0].control);
	EXPECT_EQ(42, result[0].result[0]);
	EXPECT_EQ(42, result[1].result[0]);

	EXPECT_EQ(0, give(&self->r, self->nr, 1, mem.mdh, &result[1], 2));
	ASSERT_EQ(0, CONFIG());
	EXPECT_EQ(ARIES_CER_DONE | ARIES_ST_FLUSHED << ARIES_CER_STATUS_SHIFT, result[1].control);
}

/* A killed owner: nothing of its engine is left for the next one. */
TEST(killed_owner)
{
	struct aries_use before = aries_use();
	const uint32_t cookie = aries_cookie();
	int ready[2], i;

	ASSERT_EQ(0, pipe(ready));
	for (i = 0; i < 3; i++) {
		pid_t pid = fork();
		char byte;

		if (!pid) {
			struct kgni_ce_child child = { .kind = KGNI_CE_ENDPOINT };
			struct kgni_ce_config config = { .argsz = sizeof(config), .count = 1,
							 .cq = KGNI_NO_CQ,
							 .children = (uintptr_t)&child };
			struct raw r;

			if (raw_open(&r, cookie) || ce_alloc(r.fd, &config.ce))
				_exit(1);
			child.pe = r.at.pe;
			if (i && aries_ioctl(r.fd, KGNI_IOC_CE_CONFIG, &config))
				_exit(1);
			if (write(ready[1], "x", 1) != 1)
				_exit(1);
			for (;;)
				pause();
		}
		ASSERT_EQ(1, read(ready[0], &byte, 1));
		EXPECT_EQ(1 + before.ce, aries_number("resources/ce_used"));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		EXPECT_TRUE(aries_use_equal(before, aries_use()));
	}
	close(ready[0]);
	close(ready[1]);
}

FIXTURE(ce_tree)
{
	struct ugni_self u;
	gni_ce_handle_t ce[2];
	gni_cq_handle_t cq;
	gni_ep_handle_t leaf[3];
};

static gni_ep_handle_t ce_edge(struct ugni_self *u, uint32_t id, uint32_t index, gni_ce_child_t kind)
{
	gni_ep_handle_t ep = NULL;

	if (GNI_EpCreate(u->nic, u->cq, &ep) || GNI_EpBind(ep, u->pe, 1) ||
	    GNI_EpSetCeAttr(ep, id, index, kind))
		return NULL;
	return ep;
}

/* Two engines of this node: leaf 0 and the second engine below the first, leaves 1 and 2 below that. */
FIXTURE_SETUP(ce_tree)
{
	gni_ep_handle_t top[2], inner[2], up;
	uint32_t id[2];
	int i;

	ASSERT_EQ(0, ugni_begin(&self->u, aries_cookie()));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(GNI_RC_SUCCESS, GNI_CeCreate(self->u.nic, &self->ce[i]));
		ASSERT_EQ(GNI_RC_SUCCESS, GNI_CeGetId(self->ce[i], &id[i]));
	}
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_CqCreate(self->u.nic, 64, 0, GNI_CQ_NOBLOCK, NULL, NULL,
					       &self->cq));
	top[0] = ce_edge(&self->u, 0, 0, GNI_CE_CHILD_PE);
	top[1] = ce_edge(&self->u, id[1], 1, GNI_CE_CHILD_VCE);
	inner[0] = ce_edge(&self->u, 0, 0, GNI_CE_CHILD_PE);
	inner[1] = ce_edge(&self->u, 0, 1, GNI_CE_CHILD_PE);
	up = ce_edge(&self->u, id[0], 1, GNI_CE_CHILD_VCE);
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_CeConfigure(self->ce[0], top, 2, NULL, self->cq, CE_MODES));
	ASSERT_EQ(GNI_RC_SUCCESS, GNI_CeConfigure(self->ce[1], inner, 2, up, NULL, CE_MODES));
	self->leaf[0] = ce_edge(&self->u, id[0], 0, GNI_CE_CHILD_PE);
	self->leaf[1] = ce_edge(&self->u, id[1], 0, GNI_CE_CHILD_PE);
	self->leaf[2] = ce_edge(&self->u, id[1], 1, GNI_CE_CHILD_PE);
	ASSERT_NE(NULL, self->leaf[2]);
}

FIXTURE_TEARDOWN(ce_tree)
{
	GNI_CdmDestroy(self->u.cdm);
	munmap(self->u.data, UGNI_PAGES * ARIES_PAGE);
}

static gni_ce_result_t *ce_result(struct ugni_self *u, int block)
{
	return (gni_ce_result_t *)(void *)(u->data + block * RESULT_BYTES);
}

static gni_return_t ce_post(struct ugni_self *u, gni_ep_handle_t ep, gni_post_descriptor_t *d,
			    gni_ce_cmd_type_t command, int block, uint64_t first, uint64_t second)
{
	memset(d, 0, sizeof(*d));
	d->type = GNI_POST_CE;
	d->local_addr = (uintptr_t)ce_result(u, block);
	d->local_mem_hndl = u->mem;
	d->ce_cmd = command;
	d->ce_red_id = 5;
	d->first_operand = first;
	d->second_operand = second;
	return GNI_PostFma(ep, d);
}

TEST_F(ce_tree, one_node)
{
	const double value[3] = { 1.5, -3.0, -3.0 };
	gni_post_descriptor_t d[3];
	gni_cq_entry_t entry = 0;
	uint64_t bits;
	int i;

	for (i = 0; i < 3; i++) {
		EXPECT_EQ(GNI_RC_SUCCESS, ce_post(&self->u, self->leaf[i], &d[i], GNI_FMA_CE_IADD,
						  i, 1ull << (20 * i), 0));
	}
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(GNI_RC_SUCCESS, GNI_CeCheckResult(ce_result(&self->u, i), 24));
		EXPECT_EQ(1ull | 1ull << 20 | 1ull << 40, ce_result(&self->u, i)->result1);
	}
	EXPECT_EQ(GNI_RC_SUCCESS, GNI_CqGetEvent(self->cq, &entry));
	EXPECT_EQ(5, GNI_CQ_GET_REDUCTN_ID(entry));
	for (i = 0; i < 3; i++) {
		memcpy(&bits, &value[i], 8);
		EXPECT_EQ(GNI_RC_SUCCESS, ce_post(&self->u, self->leaf[i], &d[i],
						  GNI_FMA_CE_FPMIN_GIDX, i, bits, 10 + i));
	}
	memcpy(&bits, &value[2], 8);
	EXPECT_EQ(GNI_RC_SUCCESS, GNI_CeCheckResult(ce_result(&self->u, 0), 24));
	EXPECT_EQ(bits, ce_result(&self->u, 0)->result1);
	EXPECT_EQ(12, ce_result(&self->u, 0)->result2);
}

/* Two at once of each: the library keeps the second until the first has its result. */
TEST_F(ce_tree, back_to_back)
{
	gni_post_descriptor_t d[6];
	int i, n, looks = 0;

	for (i = 0; i < 3; i++)
		for (n = 0; n < 2; n++) {
			EXPECT_EQ(GNI_RC_SUCCESS,
				  ce_post(&self->u, self->leaf[i], &d[2 * i + n], GNI_FMA_CE_IADD,
					  2 * i + n, n ? 100 : 1, 0));
		}
	for (i = 0; i < 6; i++) {
		while (GNI_CeCheckResult(ce_result(&self->u, i), 24) == GNI_RC_NOT_DONE &&
		       looks++ < 100000)
			sched_yield();
		EXPECT_TRUE(GNI_CE_RES_STATUS_OK(ce_result(&self->u, i)));
		EXPECT_EQ(i % 2 ? 300 : 3, ce_result(&self->u, i)->result1);
	}
}

/* An engine that goes: who waits has an error. */
TEST_F(ce_tree, destroyed_meanwhile)
{
	gni_post_descriptor_t d[2];
	const struct timespec pause = { .tv_nsec = 10000000 };
	int i, looks = 0;

	for (i = 0; i < 2; i++) {
		EXPECT_EQ(GNI_RC_SUCCESS, ce_post(&self->u, self->leaf[i], &d[i], GNI_FMA_CE_IADD,
						  i, 1, 0));
	}
	EXPECT_EQ(GNI_RC_SUCCESS, GNI_CeDestroy(self->ce[1]));
	for (i = 0; i < 2; i++) {
		while (GNI_CeCheckResult(ce_result(&self->u, i), 24) == GNI_RC_NOT_DONE &&
		       looks++ < 1000)
			nanosleep(&pause, NULL);
		EXPECT_EQ(GNI_RC_TRANSACTION_ERROR, GNI_CeCheckResult(ce_result(&self->u, i), 24));
		EXPECT_FALSE(GNI_CE_RES_STATUS_OK(ce_result(&self->u, i)));
	}
}

TEST_HARNESS_MAIN
