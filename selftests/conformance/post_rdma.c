// SPDX-License-Identifier: GPL-2.0-only
/* Block transfers. */
#include "conformance.h"

FIXTURE(rdma)
{
	struct side s; /* bound to itself */
	struct side_name to;
	gni_post_descriptor_t d; /* a put of a page */
	uint8_t *from, *at;
};

FIXTURE_SETUP(rdma)
{
	ASSERT_EQ(0, self_open(&self->s));
	self->to = side_name(&self->s);
	self->d = conf_post(&self->s, self->to, GNI_POST_RDMA_PUT, 0, CONF_BYTES / 2, CONF_PAGE);
	self->from = self->s.data;
	self->at = self->s.data + CONF_BYTES / 2;
}

FIXTURE_TEARDOWN(rdma)
{
	side_close(&self->s);
}

#define POST() GNI_PostRdma(self->s.ep, &self->d)

TEST_F(rdma, GNI_PostRdma__SUCCESS__put)
{
	memset(self->from, 0x33, CONF_PAGE);
	RC(SUCCESS, POST());
	EXPECT_EQ(GNI_RC_SUCCESS, conf_reap(self->s.cq, &self->d));
	EXPECT_EQ(0, memcmp(self->from, self->at, CONF_PAGE));
	EXPECT_EQ(0, self->at[CONF_PAGE]);
}

TEST_F(rdma, GNI_PostRdma__INVALID_PARAM__queue_for_remote_events)
{
	self->d.src_cq_hndl = self->s.rx;
	RC(INVALID_PARAM, POST());
}

TEST_F(rdma, GNI_PostRdma__SUCCESS__put_of_any_alignment)
{
	memset(self->from, 0x33, CONF_PAGE);
	self->d.local_addr += 1;
	self->d.remote_addr += 3;
	self->d.length = 1021;
	RC(SUCCESS, POST());
	EXPECT_EQ(GNI_RC_SUCCESS, conf_reap(self->s.cq, &self->d));
	EXPECT_EQ(0, self->at[2]);
	EXPECT_EQ(0x33, self->at[3]);
	EXPECT_EQ(0x33, self->at[3 + 1020]);
	EXPECT_EQ(0, self->at[3 + 1021]);
}

TEST_F(rdma, GNI_PostRdma__SUCCESS__get)
{
	self->d.type = GNI_POST_RDMA_GET;
	memset(self->at, 0x44, CONF_PAGE);
	RC(SUCCESS, POST());
	EXPECT_EQ(GNI_RC_SUCCESS, conf_reap(self->s.cq, &self->d));
	EXPECT_EQ(0, memcmp(self->from, self->at, CONF_PAGE));
}

TEST_F(rdma, GNI_PostRdma__SUCCESS__queue_of_the_endpoint)
{
	self->d.src_cq_hndl = NULL;
	RC(SUCCESS, POST());
	EXPECT_EQ(GNI_RC_SUCCESS, conf_reap(self->s.cq, &self->d));
}

TEST_F(rdma, GNI_PostRdma__INVALID_PARAM__handle_or_descriptor)
{
	RC(INVALID_PARAM, GNI_PostRdma(NULL, &self->d));
	RC(INVALID_PARAM, GNI_PostRdma(self->s.ep, NULL));
}

TEST_F(rdma, GNI_PostRdma__INVALID_PARAM__endpoint_is_not_bound)
{
	MUST(GNI_EpUnbind(self->s.ep));
	RC(INVALID_PARAM, POST());
}

TEST_F(rdma, GNI_PostRdma__INVALID_PARAM__type_of_another_call)
{
	self->d.type = GNI_POST_FMA_PUT;
	RC(INVALID_PARAM, POST());
}

TEST_F(rdma, GNI_PostRdma__INVALID_PARAM__memory_handles)
{
	gni_mem_handle_t none = { 0, 0 }, good = self->d.local_mem_hndl;

	self->d.local_mem_hndl = none;
	RC(INVALID_PARAM, POST());
	self->d.local_mem_hndl = good;
	self->d.remote_mem_hndl = none;
	RC(INVALID_PARAM, POST());
}

TEST_F(rdma, GNI_PostRdma__INVALID_PARAM__both_events_without_the_mode)
{
	self->d.cq_mode = GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_LOCAL_EVENT;
	RC(INVALID_PARAM, POST());
}

TEST_F(rdma, GNI_PostRdma__ALIGNMENT_ERROR__get)
{
	self->d.type = GNI_POST_RDMA_GET;
	self->d.remote_addr += 2;
	RC(ALIGNMENT_ERROR, POST());
	self->d.remote_addr -= 2;
	self->d.length = 4094;
	RC(ALIGNMENT_ERROR, POST());
	EXPECT_EQ(GNI_RC_NOT_DONE, GNI_CqTestEvent(self->s.cq));
}

TEST_F(rdma, GNI_PostRdma__ERROR_RESOURCE__more_posts_than_the_queue_has_room_for)
{
	gni_post_descriptor_t many[8 * CONF_CQ_ENTRIES];
	gni_return_t rc = GNI_RC_SUCCESS;
	unsigned int n = 0, reaped;

	self->d.length = 64;
	while (rc == GNI_RC_SUCCESS && n < 8 * CONF_CQ_ENTRIES) {
		many[n] = self->d;
		rc = GNI_PostRdma(self->s.ep, &many[n++]);
	}
	EXPECT_EQ(GNI_RC_ERROR_RESOURCE, rc);
	RC(ERROR_RESOURCE, POST());
	for (reaped = 0; reaped < n - 1; reaped++) {
		gni_post_descriptor_t *done;
		gni_cq_entry_t entry;

		ASSERT_EQ(GNI_RC_SUCCESS, conf_event(self->s.cq, &entry));
		ASSERT_EQ(GNI_RC_SUCCESS, GNI_GetCompleted(self->s.cq, entry, &done));
	}
	RC(SUCCESS, POST());
}

/* A handle with the read-only attribute. */
static int read_only(struct side *s, gni_mem_handle_t *mem)
{
	return GNI_MemRegister(s->nic, (uintptr_t)s->data, CONF_BYTES, NULL, GNI_MEM_READ_ONLY, CONF_NO_VMDH,
			       mem);
}

TEST_F(rdma, GNI_PostRdma__PERMISSION_ERROR__put_into_what_may_only_be_read)
{
	gni_mem_handle_t mem;

	ASSERT_EQ(0, read_only(&self->s, &mem));
	self->d.remote_mem_hndl = mem;
	RC(PERMISSION_ERROR, POST());
	/* reading is fine */
	self->d.type = GNI_POST_RDMA_GET;
	RC(SUCCESS, POST());
	EXPECT_EQ(GNI_RC_SUCCESS, conf_reap(self->s.cq, &self->d));
	MUST(GNI_MemDeregister(self->s.nic, &mem));
}

TEST_F(rdma, GNI_PostRdma__PERMISSION_ERROR__get_into_what_may_only_be_read)
{
	gni_mem_handle_t mem;

	ASSERT_EQ(0, read_only(&self->s, &mem));
	self->d.type = GNI_POST_RDMA_GET;
	self->d.local_mem_hndl = mem;
	RC(PERMISSION_ERROR, POST());
	MUST(GNI_MemDeregister(self->s.nic, &mem));
}

TEST_F(rdma, GNI_PostRdma__PERMISSION_ERROR__physical_addresses)
{
	self->d.rdma_mode = GNI_RDMAMODE_PHYS_ADDR;
	RC(PERMISSION_ERROR, POST());
}

TEST_HARNESS_MAIN
