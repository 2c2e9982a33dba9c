// SPDX-License-Identifier: GPL-2.0-only
/* FMA posts: puts, gets, atomics, chains, queue writes; and getting descriptors back. */
#include "conformance.h"

FIXTURE(fma)
{
	struct side s; /* bound to itself */
	struct side_name to;
	gni_post_descriptor_t d;
	gni_post_descriptor_t *done;
	gni_cq_entry_t entry;
	uint64_t *from; /* local operand of d */
	uint64_t *at;	/* remote operand of d */
};

FIXTURE_SETUP(fma)
{
	self->done = NULL;
	self->entry = 0;
	ASSERT_EQ(0, self_open(&self->s));
	self->to = side_name(&self->s);
	self->d = conf_post(&self->s, self->to, GNI_POST_FMA_PUT, 0, 4096, 8);
	self->from = (uint64_t *)self->s.data;
	self->at = (uint64_t *)(self->s.data + 4096);
}

FIXTURE_TEARDOWN(fma)
{
	side_close(&self->s);
}

#define POST() GNI_PostFma(self->s.ep, &self->d)
#define CHAIN() GNI_CtPostFma(self->s.ep, &self->d)
#define REAPED() EXPECT_EQ(GNI_RC_SUCCESS, conf_reap(self->s.cq, &self->d))

static void set(gni_post_descriptor_t *d, gni_post_type_t type, gni_fma_cmd_type_t command)
{
	d->type = type;
	d->amo_cmd = command;
	d->length = 8;
}

/* ---- GNI_PostFma ---- */

TEST_F(fma, GNI_PostFma__SUCCESS__put)
{
	*self->from = 0x0123456789abcdef;
	RC(SUCCESS, POST());
	REAPED();
	EXPECT_EQ(0x0123456789abcdef, *self->at);
}

TEST_F(fma, GNI_PostFma__SUCCESS__put_of_nothing)
{
	self->d.length = 0;
	RC(SUCCESS, POST());
	REAPED();
	EXPECT_EQ(0, *self->at);
}

TEST_F(fma, GNI_PostFma__SUCCESS__put_from_memory_that_is_not_registered)
{
	uint64_t value = 77;

	self->d.local_addr = (uintptr_t)&value;
	memset(&self->d.local_mem_hndl, 0, sizeof(self->d.local_mem_hndl));
	RC(SUCCESS, POST());
	REAPED();
	EXPECT_EQ(77, *self->at);
}

TEST_F(fma, GNI_PostFma__SUCCESS__put_with_sync_flag)
{
	self->d.type = GNI_POST_FMA_PUT_W_SYNCFLAG;
	self->d.sync_flag_addr = self->to.data + 8192;
	self->d.sync_flag_value = 99;
	*self->from = 98;
	RC(SUCCESS, POST());
	REAPED();
	EXPECT_EQ(98, *self->at);
	EXPECT_EQ(99, *(uint64_t *)(self->s.data + 8192));
}

TEST_F(fma, GNI_PostFma__SUCCESS__get)
{
	set(&self->d, GNI_POST_FMA_GET, 0);
	*self->at = 5;
	RC(SUCCESS, POST());
	REAPED();
	EXPECT_EQ(5, *self->from);
}

TEST_F(fma, GNI_PostFma__SUCCESS__get_with_flag)
{
	set(&self->d, GNI_POST_FMA_GET_W_FLAG, 0);
	*self->at = 5;
	RC(SUCCESS, POST());
	REAPED();
	EXPECT_EQ(5, self->from[0]);
	EXPECT_NE(0, self->from[1] & 0xffffffff);
	EXPECT_EQ(0, self->from[1] >> 32);
}

TEST_F(fma, GNI_PostFma__SUCCESS__atomic_add)
{
	set(&self->d, GNI_POST_AMO, GNI_FMA_ATOMIC_ADD);
	*self->at = 40;
	self->d.first_operand = 2;
	RC(SUCCESS, POST());
	REAPED();
	EXPECT_EQ(42, *self->at);
}

TEST_F(fma, GNI_PostFma__SUCCESS__atomic_fetch_add)
{
	set(&self->d, GNI_POST_AMO, GNI_FMA_ATOMIC_FADD);
	*self->at = 40;
	self->d.first_operand = 2;
	RC(SUCCESS, POST());
	REAPED();
	EXPECT_EQ(42, *self->at);
	EXPECT_EQ(40, *self->from);
}

TEST_F(fma, GNI_PostFma__INVALID_PARAM__handle_or_descriptor)
{
	RC(INVALID_PARAM, GNI_PostFma(NULL, &self->d));
	RC(INVALID_PARAM, GNI_PostFma(self->s.ep, NULL));
	RC(INVALID_PARAM, GNI_PostFma((gni_ep_handle_t)(void *)self->s.cq, &self->d));
}

TEST_F(fma, GNI_PostFma__INVALID_PARAM__endpoint_is_not_bound)
{
	MUST(GNI_EpUnbind(self->s.ep));
	RC(INVALID_PARAM, POST());
}

TEST_F(fma, GNI_PostFma__INVALID_PARAM__block_transfers_are_for_another_call)
{
	self->d.type = GNI_POST_RDMA_PUT;
	RC(INVALID_PARAM, POST());
	self->d.type = (gni_post_type_t)0;
	RC(INVALID_PARAM, POST());
}

TEST_F(fma, GNI_PostFma__INVALID_PARAM__no_remote_handle)
{
	memset(&self->d.remote_mem_hndl, 0, sizeof(self->d.remote_mem_hndl));
	RC(INVALID_PARAM, POST());
}

TEST_F(fma, GNI_PostFma__INVALID_PARAM__get_of_nothing)
{
	set(&self->d, GNI_POST_FMA_GET, 0);
	self->d.length = 0;
	RC(INVALID_PARAM, POST());
}

TEST_F(fma, GNI_PostFma__INVALID_PARAM__atomic_of_nothing)
{
	set(&self->d, GNI_POST_AMO, GNI_FMA_ATOMIC_ADD);
	self->d.length = 0;
	RC(INVALID_PARAM, POST());
}

/* Providers give the width of a word of theirs, or of two. */
TEST_F(fma, GNI_PostFma__SUCCESS__length_does_not_make_an_atomic_wider)
{
	uint64_t i;

	for (i = 1; i <= 2; i++) {
		*self->at = 0xffffffffffffffff;
		set(&self->d, GNI_POST_AMO, GNI_FMA_ATOMIC2_FIADD_S);
		self->d.first_operand = 1;
		self->d.length = 8 * i;
		RC(SUCCESS, POST());
		REAPED();
		EXPECT_EQ(0xffffffff00000000, *self->at);
		set(&self->d, GNI_POST_AMO, GNI_FMA_ATOMIC_FADD);
		self->d.first_operand = 1;
		self->d.length = 16 / i;
		RC(SUCCESS, POST());
		REAPED();
		EXPECT_EQ(0xffffffff00000001, *self->at);
	}
}

TEST_F(fma, GNI_PostFma__INVALID_PARAM__atomic_without_opcode)
{
	set(&self->d, GNI_POST_AMO, (gni_fma_cmd_type_t)0);
	RC(INVALID_PARAM, POST());
}

TEST_F(fma, GNI_PostFma__INVALID_PARAM__both_events_without_the_mode)
{
	self->d.cq_mode = GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_LOCAL_EVENT;
	RC(INVALID_PARAM, POST());
}

TEST_F(fma, GNI_PostFma__ALIGNMENT_ERROR__get)
{
	set(&self->d, GNI_POST_FMA_GET, 0);
	*self->from = 1;
	*self->at = 2;
	self->d.remote_addr += 2;
	RC(ALIGNMENT_ERROR, POST());
	self->d.remote_addr -= 2;
	self->d.length = 6;
	RC(ALIGNMENT_ERROR, POST());
	/* before any effect */
	EXPECT_EQ(1, *self->from);
	EXPECT_EQ(GNI_RC_NOT_DONE, GNI_CqTestEvent(self->s.cq));
}

TEST_F(fma, GNI_PostFma__ALIGNMENT_ERROR__atomic)
{
	set(&self->d, GNI_POST_AMO, GNI_FMA_ATOMIC_ADD);
	self->d.first_operand = 2;
	self->d.remote_addr += 4;
	RC(ALIGNMENT_ERROR, POST());
	EXPECT_EQ(0, *self->at);
	set(&self->d, GNI_POST_AMO, GNI_FMA_ATOMIC_FADD);
	self->d.remote_addr -= 4;
	self->d.local_addr += 4;
	RC(ALIGNMENT_ERROR, POST());
	EXPECT_EQ(0, *self->at);
}

/* The source queue bounds the outstanding posts. */
TEST_F(fma, GNI_PostFma__ERROR_RESOURCE__more_posts_than_the_queue_has_room_for)
{
	gni_post_descriptor_t many[8 * CONF_CQ_ENTRIES];
	gni_return_t rc = GNI_RC_SUCCESS;
	unsigned int n = 0;

	while (rc == GNI_RC_SUCCESS && n < 8 * CONF_CQ_ENTRIES) {
		many[n] = self->d;
		rc = GNI_PostFma(self->s.ep, &many[n++]);
	}
	EXPECT_EQ(GNI_RC_ERROR_RESOURCE, rc);
	EXPECT_LT(CONF_CQ_ENTRIES - 2, n);
	RC(ERROR_RESOURCE, POST());
	EXPECT_EQ(GNI_RC_SUCCESS, conf_reap(self->s.cq, &many[0]));
	RC(SUCCESS, POST());
}

/* ---- GNI_CtPostFma: the codes are those of GNI_PostFma ---- */

TEST_F(fma, GNI_CtPostFma__SUCCESS__three_puts_and_one_event)
{
	gni_ct_put_post_descriptor_t second, third;
	unsigned int i;

	memset(&third, 0, sizeof(third));
	third.ep_hndl = self->s.ep;
	third.local_addr = self->d.local_addr + 16;
	third.remote_addr = self->d.remote_addr + 16;
	third.remote_mem_hndl = self->to.mem;
	third.length = 8;
	second = third;
	second.local_addr -= 8;
	second.remote_addr -= 8;
	second.next_descr = &third;
	self->d.next_descr = &second;
	for (i = 0; i < 3; i++)
		self->from[i] = i + 1;
	RC(SUCCESS, CHAIN());
	REAPED();
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(i + 1, self->at[i]);
	}
	EXPECT_EQ(GNI_RC_NOT_DONE, GNI_CqTestEvent(self->s.cq));
}

TEST_F(fma, GNI_CtPostFma__SUCCESS__two_gets)
{
	gni_ct_get_post_descriptor_t second;

	memset(&second, 0, sizeof(second));
	second.ep_hndl = self->s.ep;
	second.local_addr = self->d.local_addr + 8;
	second.local_mem_hndl = self->s.mem;
	second.remote_addr = self->d.remote_addr + 8;
	second.remote_mem_hndl = self->to.mem;
	second.length = 8;
	self->d.type = GNI_POST_FMA_GET;
	self->d.next_descr = &second;
	self->at[0] = 3;
	self->at[1] = 4;
	RC(SUCCESS, CHAIN());
	REAPED();
	EXPECT_EQ(3, self->from[0]);
	EXPECT_EQ(4, self->from[1]);
}

TEST_F(fma, GNI_CtPostFma__INVALID_PARAM__handles_types_followers)
{
	gni_ct_put_post_descriptor_t second;

	RC(INVALID_PARAM, GNI_CtPostFma(NULL, &self->d));
	RC(INVALID_PARAM, GNI_CtPostFma(self->s.ep, NULL));
	self->d.type = GNI_POST_AMO;
	RC(INVALID_PARAM, CHAIN());
	self->d.type = GNI_POST_FMA_PUT;
	memset(&second, 0, sizeof(second));
	second.remote_mem_hndl = self->to.mem;
	self->d.next_descr = &second;
	RC(INVALID_PARAM, CHAIN());
}

TEST_F(fma, GNI_CtPostFma__ALIGNMENT_ERROR__second_get_before_any_effect)
{
	gni_ct_get_post_descriptor_t second;

	memset(&second, 0, sizeof(second));
	second.ep_hndl = self->s.ep;
	second.local_addr = self->d.local_addr + 8;
	second.local_mem_hndl = self->s.mem;
	second.remote_addr = self->d.remote_addr + 2;
	second.remote_mem_hndl = self->to.mem;
	second.length = 8;
	self->d.type = GNI_POST_FMA_GET;
	self->d.next_descr = &second;
	self->at[0] = 3;
	RC(ALIGNMENT_ERROR, CHAIN());
	EXPECT_EQ(0, self->from[0]);
}

TEST_F(fma, GNI_CtPostFma__ERROR_RESOURCE__more_posts_than_the_queue_has_room_for)
{
	gni_post_descriptor_t many[8 * CONF_CQ_ENTRIES];
	gni_return_t rc = GNI_RC_SUCCESS;
	unsigned int n = 0;

	while (rc == GNI_RC_SUCCESS && n < 8 * CONF_CQ_ENTRIES) {
		many[n] = self->d;
		rc = GNI_CtPostFma(self->s.ep, &many[n++]);
	}
	RC(ERROR_RESOURCE, CHAIN());
}

/* ---- GNI_PostCqWrite ---- */

static void cq_write(gni_post_descriptor_t *d, uint64_t value)
{
	d->type = GNI_POST_CQWRITE;
	d->cqwrite_value = value;
}

TEST_F(fma, GNI_PostCqWrite__SUCCESS__value_in_the_queue_of_the_handle)
{
	cq_write(&self->d, 0xfedcba987654);
	RC(SUCCESS, GNI_PostCqWrite(self->s.ep, &self->d));
	REAPED();
	ASSERT_EQ(GNI_RC_SUCCESS, conf_event(self->s.rx, &self->entry));
	EXPECT_EQ(0xfedcba987654, GNI_CQ_GET_DATA(self->entry));
}

TEST_F(fma, GNI_PostCqWrite__INVALID_PARAM__handle_type_memory)
{
	cq_write(&self->d, 1);
	RC(INVALID_PARAM, GNI_PostCqWrite(NULL, &self->d));
	RC(INVALID_PARAM, GNI_PostCqWrite(self->s.ep, NULL));
	self->d.type = GNI_POST_FMA_PUT;
	RC(INVALID_PARAM, GNI_PostCqWrite(self->s.ep, &self->d));
	cq_write(&self->d, 1);
	memset(&self->d.remote_mem_hndl, 0, sizeof(self->d.remote_mem_hndl));
	RC(INVALID_PARAM, GNI_PostCqWrite(self->s.ep, &self->d));
}

/* Posts copies of a write, as many as there is room for, or 8 * CONF_CQ_ENTRIES. */
static void cq_writes(gni_ep_handle_t ep, const gni_post_descriptor_t *write, gni_post_descriptor_t *many,
		      gni_return_t (*post)(gni_ep_handle_t, gni_post_descriptor_t *))
{
	unsigned int n;

	for (n = 0; n < 8 * CONF_CQ_ENTRIES; n++) {
		many[n] = *write;
		if (post(ep, &many[n]) != GNI_RC_SUCCESS)
			return;
	}
}

TEST_F(fma, GNI_PostCqWrite__ERROR_RESOURCE__more_posts_than_the_queue_has_room_for)
{
	gni_post_descriptor_t many[8 * CONF_CQ_ENTRIES];

	cq_write(&self->d, 1);
	cq_writes(self->s.ep, &self->d, many, GNI_PostCqWrite);
	RC(ERROR_RESOURCE, GNI_PostCqWrite(self->s.ep, &self->d));
}

/* ---- GNI_CtPostCqWrite: the codes are those of GNI_PostCqWrite ---- */

TEST_F(fma, GNI_CtPostCqWrite__SUCCESS__three_values_in_order_and_one_event)
{
	gni_ct_cqw_post_descriptor_t second, third;
	unsigned int i;

	memset(&third, 0, sizeof(third));
	third.ep_hndl = self->s.ep;
	third.remote_mem_hndl = self->d.remote_mem_hndl;
	third.cqwrite_value = 0x30;
	second = third;
	second.cqwrite_value = 0x20;
	second.next_descr = &third;
	cq_write(&self->d, 0x10);
	self->d.next_descr = &second;
	RC(SUCCESS, GNI_CtPostCqWrite(self->s.ep, &self->d));
	REAPED();
	EXPECT_EQ(GNI_RC_NOT_DONE, GNI_CqGetEvent(self->s.cq, &self->entry));
	for (i = 1; i <= 3; i++) {
		ASSERT_EQ(GNI_RC_SUCCESS, conf_event(self->s.rx, &self->entry));
		EXPECT_EQ(i * 0x10, GNI_CQ_GET_DATA(self->entry));
	}
	EXPECT_EQ(GNI_RC_NOT_DONE, GNI_CqGetEvent(self->s.rx, &self->entry));
}

TEST_F(fma, GNI_CtPostCqWrite__INVALID_PARAM__handles_type_followers)
{
	gni_ct_cqw_post_descriptor_t second;

	cq_write(&self->d, 1);
	RC(INVALID_PARAM, GNI_CtPostCqWrite(NULL, &self->d));
	RC(INVALID_PARAM, GNI_CtPostCqWrite(self->s.ep, NULL));
	self->d.type = GNI_POST_FMA_PUT;
	RC(INVALID_PARAM, GNI_CtPostCqWrite(self->s.ep, &self->d));
	cq_write(&self->d, 1);
	memset(&second, 0, sizeof(second));
	second.ep_hndl = self->s.ep;
	self->d.next_descr = &second;
	RC(INVALID_PARAM, GNI_CtPostCqWrite(self->s.ep, &self->d));
	second.remote_mem_hndl = self->d.remote_mem_hndl;
	second.ep_hndl = NULL;
	RC(INVALID_PARAM, GNI_CtPostCqWrite(self->s.ep, &self->d));
	EXPECT_EQ(GNI_RC_NOT_DONE, GNI_CqGetEvent(self->s.rx, &self->entry));
}

TEST_F(fma, GNI_CtPostCqWrite__ERROR_RESOURCE__more_posts_than_the_queue_has_room_for)
{
	gni_post_descriptor_t many[8 * CONF_CQ_ENTRIES];

	cq_write(&self->d, 1);
	cq_writes(self->s.ep, &self->d, many, GNI_CtPostCqWrite);
	RC(ERROR_RESOURCE, GNI_CtPostCqWrite(self->s.ep, &self->d));
}

/* ---- GNI_GetCompleted ---- */

TEST_F(fma, GNI_GetCompleted__SUCCESS__the_pointer_that_was_posted)
{
	self->d.post_id = 0x1122334455667788;
	MUST(POST());
	MUST(conf_event(self->s.cq, &self->entry));
	RC(SUCCESS, GNI_GetCompleted(self->s.cq, self->entry, &self->done));
	EXPECT_EQ(&self->d, self->done);
	EXPECT_EQ(0x1122334455667788, self->d.post_id);
	EXPECT_EQ(GNI_RC_SUCCESS, self->d.status);
	EXPECT_EQ(GNI_CQMODE_GLOBAL_EVENT, self->d.cq_mode_complete);
}

TEST_F(fma, GNI_GetCompleted__DESCRIPTOR_ERROR__second_time)
{
	MUST(POST());
	MUST(conf_event(self->s.cq, &self->entry));
	MUST(GNI_GetCompleted(self->s.cq, self->entry, &self->done));
	RC(DESCRIPTOR_ERROR, GNI_GetCompleted(self->s.cq, self->entry, &self->done));
	EXPECT_EQ(NULL, self->done);
}

TEST_F(fma, GNI_GetCompleted__INVALID_PARAM__queue_or_pointer)
{
	MUST(POST());
	MUST(conf_event(self->s.cq, &self->entry));
	RC(INVALID_PARAM, GNI_GetCompleted(NULL, self->entry, &self->done));
	RC(INVALID_PARAM, GNI_GetCompleted(self->s.cq, self->entry, NULL));
	RC(SUCCESS, GNI_GetCompleted(self->s.cq, self->entry, &self->done));
}

TEST_F(fma, GNI_GetCompleted__TRANSACTION_ERROR__with_the_descriptor)
{
	self->d.remote_addr += CONF_BYTES;
	MUST(POST());
	ASSERT_EQ(GNI_RC_TRANSACTION_ERROR, conf_event(self->s.cq, &self->entry));
	RC(TRANSACTION_ERROR, GNI_GetCompleted(self->s.cq, self->entry, &self->done));
	EXPECT_EQ(&self->d, self->done);
	EXPECT_EQ(GNI_RC_TRANSACTION_ERROR, self->d.status);
}

TEST_HARNESS_MAIN
