// SPDX-License-Identifier: GPL-2.0-only
/* Statements about memory, endpoints and event data: statements.csv, sections 5 and 6. */
#include "mailbox.h"

/* ---- 5: memory ---- */

TEST(S5_2__failure_leaves_the_handle_alone)
{
	struct side s;
	gni_mem_handle_t mem = { 11, 22 };

	ASSERT_EQ(0, self_open(&s));
	RC(INVALID_PARAM, GNI_MemRegister(s.nic, CONF_PAGE, CONF_PAGE, NULL, 0, CONF_NO_VMDH, &mem));
	RC(INVALID_PARAM, GNI_MemRegister(s.nic, (uintptr_t)s.data, 0, NULL, 0, CONF_NO_VMDH, &mem));
	EXPECT_EQ(11, mem.qword1);
	EXPECT_EQ(22, mem.qword2);
	side_close(&s);
}

TEST(S5_6__pieces_are_addressed_by_offset)
{
	struct side s;
	gni_mem_segment_t two[2];
	gni_post_descriptor_t d;
	gni_mem_handle_t mem;
	uint8_t *data = conf_pages(8);

	ASSERT_NE(NULL, data);
	ASSERT_EQ(0, self_open(&s));
	two[0] = (gni_mem_segment_t){ (uintptr_t)data, CONF_PAGE };
	two[1] = (gni_mem_segment_t){ (uintptr_t)data + 4 * CONF_PAGE, CONF_PAGE };
	MUST(GNI_MemRegisterSegments(s.nic, two, 2, NULL, 0, CONF_NO_VMDH, &mem));
	d = conf_post(&s, side_name(&s), GNI_POST_FMA_PUT, 0, 0, 16);
	d.remote_addr = CONF_PAGE - 8;
	d.remote_mem_hndl = mem;
	memset(s.data, 0x33, 16);
	RC(SUCCESS, conf_fma(&s, &d));
	EXPECT_EQ(0, memcmp(data + CONF_PAGE - 8, s.data, 8));
	EXPECT_EQ(0, memcmp(data + 4 * CONF_PAGE, s.data, 8));
	MUST(GNI_MemDeregister(s.nic, &mem));
	side_close(&s);
}

TEST(S5_7__remote_event_goes_to_the_queue_of_the_registration)
{
	struct side s;
	gni_cq_handle_t other;
	gni_mem_handle_t mem;
	gni_cq_entry_t entry;
	gni_post_descriptor_t d;

	ASSERT_EQ(0, self_open(&s));
	MUST(GNI_CqCreate(s.nic, 8, 0, GNI_CQ_NOBLOCK, NULL, NULL, &other));
	MUST(GNI_MemRegister(s.nic, (uintptr_t)s.data, CONF_PAGE, other, 0, CONF_NO_VMDH, &mem));
	d = conf_post(&s, side_name(&s), GNI_POST_FMA_PUT, 0, 64, 8);
	d.remote_mem_hndl = mem;
	d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
	RC(SUCCESS, conf_fma(&s, &d));
	RC(SUCCESS, conf_event(other, &entry));
	RC(NOT_DONE, GNI_CqGetEvent(s.rx, &entry));
	MUST(GNI_MemDeregister(s.nic, &mem));
	MUST(GNI_CqDestroy(other));
	side_close(&s);
}

TEST(S5_8__index_means_nothing_without_its_flag)
{
	struct side s;
	gni_mem_handle_t a, b;

	ASSERT_EQ(0, self_open(&s));
	RC(SUCCESS, GNI_MemRegister(s.nic, (uintptr_t)s.data, 64, NULL, 0, 5, &a));
	RC(SUCCESS, GNI_MemRegister(s.nic, (uintptr_t)s.data, 64, NULL, 0, 5, &b));
	MUST(GNI_MemDeregister(s.nic, &a));
	MUST(GNI_MemDeregister(s.nic, &b));
	side_close(&s);
}

TEST(S5_9__next_free_slot_of_the_block)
{
	struct side s;
	gni_mem_handle_t at_0, next, full;

	ASSERT_EQ(0, self_open(&s));
	MUST(GNI_SetMddResources(s.nic, 2));
	MUST(GNI_MemRegister(s.nic, (uintptr_t)s.data, 64, NULL, GNI_MEM_USE_VMDH, 0, &at_0));
	RC(SUCCESS, GNI_MemRegister(s.nic, (uintptr_t)s.data, 64, NULL, GNI_MEM_USE_VMDH, CONF_NO_VMDH, &next));
	EXPECT_EQ(1, next.qword1 >> 52);
	RC(ERROR_RESOURCE,
	   GNI_MemRegister(s.nic, (uintptr_t)s.data, 64, NULL, GNI_MEM_USE_VMDH, CONF_NO_VMDH, &full));
	MUST(GNI_MemDeregister(s.nic, &at_0));
	MUST(GNI_MemDeregister(s.nic, &next));
	side_close(&s);
}

TEST(S5_11__ordering_flags_are_taken)
{
	static const uint32_t flags[] = { GNI_MEM_STRICT_PI_ORDERING, GNI_MEM_RELAXED_PI_ORDERING,
					  GNI_MEM_STRICT_PI_ORDERING | GNI_MEM_RELAXED_PI_ORDERING,
					  GNI_MEM_PI_FLUSH };
	struct side s;
	unsigned int i;

	ASSERT_EQ(0, self_open(&s));
	for (i = 0; i < 4; i++) {
		gni_mem_handle_t mem;
		gni_post_descriptor_t d;

		RC(SUCCESS, GNI_MemRegister(s.nic, (uintptr_t)s.data, CONF_PAGE, NULL, flags[i], CONF_NO_VMDH, &mem));
		d = conf_post(&s, side_name(&s), GNI_POST_FMA_PUT, 0, 64, 8);
		d.remote_mem_hndl = mem;
		RC(SUCCESS, conf_fma(&s, &d));
		MUST(GNI_MemDeregister(s.nic, &mem));
	}
	side_close(&s);
}

TEST(S5_14__words_of_a_handle)
{
	struct side s;
	gni_mem_handle_t mem, read_only;
	unsigned int shift;

	ASSERT_EQ(0, self_open(&s));
	MUST(GNI_MemRegister(s.nic, (uintptr_t)s.data + 100, 2 * CONF_PAGE, NULL, 0, CONF_NO_VMDH, &mem));
	MUST(GNI_MemRegister(s.nic, (uintptr_t)s.data, CONF_PAGE, NULL, GNI_MEM_READ_ONLY, CONF_NO_VMDH, &read_only));
	EXPECT_EQ((uintptr_t)s.data >> 12, mem.qword1 & 0xfffffffffffff);
	shift = mem.qword2 >> 28 & 0x3f;
	EXPECT_EQ(3 * CONF_PAGE, (mem.qword2 & 0xfffffff) << shift);
	EXPECT_EQ(0, mem.qword2 >> 34 & 0x83);
	EXPECT_EQ(1, read_only.qword2 >> 34 & 0x83);
	EXPECT_NE(mem.qword1 >> 52, read_only.qword1 >> 52);
	EXPECT_EQ(conf_check_code(&mem), mem.qword2 >> 56);
	EXPECT_EQ(conf_check_code(&read_only), read_only.qword2 >> 56);
	MUST(GNI_MemDeregister(s.nic, &mem));
	MUST(GNI_MemDeregister(s.nic, &read_only));
	side_close(&s);
}

/* A client that packs a handle into 64 bits knows address, MDH and the flag, not the pages, nor always the code. */
/*
 * A handle for place 3 as a scalable provider builds it: place and the flag for it, all ones for the pages, and no address.
 * It reaches the bytes that the handle of the registration reaches by virtual address.
 */
TEST(S5_17__handle_without_an_address)
{
	gni_mem_handle_t real, built = { 0, 0 };
	gni_post_descriptor_t d;
	struct side s;
	uint64_t *at;

	ASSERT_EQ(0, self_open(&s));
	MUST(GNI_SetMddResources(s.nic, 4));
	MUST(GNI_MemRegister(s.nic, (uintptr_t)s.data + CONF_PAGE, CONF_PAGE, NULL, GNI_MEM_USE_VMDH, 3,
			     &real));
	at = (uint64_t *)(s.data + CONF_PAGE + 64);
	built.qword1 = 3ull << 52;
	built.qword2 = 0x0fffffffull | 12ull << 28 | 2ull << 34;
	d = conf_post(&s, side_name(&s), GNI_POST_FMA_PUT, 0, 0, 8);
	d.remote_mem_hndl = built;
	d.remote_addr = 64;
	*(uint64_t *)s.data = 0x1122334455667788;
	RC(SUCCESS, conf_fma(&s, &d));
	EXPECT_EQ(0x1122334455667788, *at);
	d.type = GNI_POST_AMO;
	d.amo_cmd = GNI_FMA_ATOMIC_ADD;
	d.first_operand = 1;
	RC(SUCCESS, conf_fma(&s, &d));
	EXPECT_EQ(0x1122334455667789, *at);
	/* block transfers want the check code */
	built = conf_coded(built, conf_check_code(&built));
	d = conf_post(&s, side_name(&s), GNI_POST_RDMA_GET, 128, 0, 8);
	d.remote_mem_hndl = built;
	d.remote_addr = 64;
	RC(SUCCESS, conf_rdma(&s, &d));
	EXPECT_EQ(0x1122334455667789, *(uint64_t *)(s.data + 128));
	d.remote_mem_hndl = real;
	d.remote_addr = (uintptr_t)at;
	d.type = GNI_POST_RDMA_PUT;
	d.local_addr = (uintptr_t)s.data;
	RC(SUCCESS, conf_rdma(&s, &d));
	EXPECT_EQ(0x1122334455667788, *at);
	MUST(GNI_MemDeregister(s.nic, &real));
	side_close(&s);
}

TEST(S5_16__rebuilt_handle_needs_its_code_for_block_transfers_only)
{
	struct side s;
	gni_post_descriptor_t d;
	gni_mem_handle_t built;

	ASSERT_EQ(0, self_open(&s));
	built.qword1 = s.mem.qword1;
	built.qword2 = 0xfffffff | 12ull << 28;
	d = conf_post(&s, side_name(&s), GNI_POST_FMA_PUT, 0, 64, 8);
	d.remote_mem_hndl = built;
	*s.data = 0x44;
	RC(SUCCESS, conf_fma(&s, &d));
	EXPECT_EQ(0x44, s.data[64]);
	d = conf_post(&s, side_name(&s), GNI_POST_RDMA_PUT, 0, 128, 8);
	d.remote_mem_hndl = conf_coded(built, ~conf_check_code(&built));
	RC(INVALID_PARAM, GNI_PostRdma(s.ep, &d));
	d.remote_mem_hndl = conf_coded(built, conf_check_code(&built));
	RC(SUCCESS, conf_rdma(&s, &d));
	EXPECT_EQ(0x44, s.data[128]);
	side_close(&s);
}

TEST(S5_18__handle_works_through_every_domain_of_the_tag)
{
	struct side a, b;
	gni_post_descriptor_t d;

	ASSERT_EQ(0, two_open(&a, &b));
	/* local and remote memory are both of the other domain of this process */
	d = conf_post(&b, side_name(&b), GNI_POST_RDMA_PUT, 0, 4096, 64);
	memset(b.data, 0x21, 64);
	d.src_cq_hndl = NULL;
	RC(SUCCESS, conf_rdma(&a, &d));
	EXPECT_EQ(0, memcmp(b.data, b.data + 4096, 64));
	side_close(&a);
	side_close(&b);
}

/* ---- 6: endpoints and event data ---- */

TEST(S6_1__queue_of_the_post_or_of_the_endpoint)
{
	struct side s;
	gni_cq_handle_t other;
	gni_cq_entry_t entry;
	gni_post_descriptor_t d, *done;

	ASSERT_EQ(0, self_open(&s));
	MUST(GNI_CqCreate(s.nic, 8, 0, GNI_CQ_NOBLOCK, NULL, NULL, &other));
	d = conf_post(&s, side_name(&s), GNI_POST_RDMA_PUT, 0, 64, 8);
	d.src_cq_hndl = other;
	MUST(GNI_PostRdma(s.ep, &d));
	RC(SUCCESS, conf_reap(other, &d));
	/* short ones: always the endpoint's */
	d = conf_post(&s, side_name(&s), GNI_POST_FMA_PUT, 0, 64, 8);
	d.src_cq_hndl = other;
	MUST(GNI_PostFma(s.ep, &d));
	RC(SUCCESS, conf_event(s.cq, &entry));
	RC(SUCCESS, GNI_GetCompleted(s.cq, entry, &done));
	RC(NOT_DONE, GNI_CqGetEvent(other, &entry));
	MUST(GNI_CqDestroy(other));
	side_close(&s);
}

/* Event data of the local, the global and the remote event of one put. */
static int event_data(struct side *s, uint32_t *data)
{
	gni_post_descriptor_t d = conf_post(s, side_name(s), GNI_POST_FMA_PUT, 0, 64, 8), *done;
	gni_cq_entry_t entry;
	int i;

	d.cq_mode = GNI_CQMODE_LOCAL_EVENT | GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT;
	if (GNI_PostFma(s->ep, &d))
		return 1;
	for (i = 0; i < 2; i++) {
		uint16_t before = i ? d.cq_mode_complete : 0;

		if (conf_event(s->cq, &entry) || GNI_GetCompleted(s->cq, entry, &done) || done != &d)
			return 2;
		data[(d.cq_mode_complete & ~before) == GNI_CQMODE_LOCAL_EVENT ? 0 : 1] = GNI_CQ_GET_INST_ID(entry);
	}
	if (conf_event(s->rx, &entry))
		return 3;
	data[2] = GNI_CQ_GET_INST_ID(entry);
	return d.cq_mode_complete == (GNI_CQMODE_LOCAL_EVENT | GNI_CQMODE_GLOBAL_EVENT) ? 0 : 4;
}

TEST(S6_2__default_event_data)
{
	struct side s;
	uint32_t data[3];

	ASSERT_EQ(0, side_open_as(&s, conf_cookie(), 77,
				  (struct side_options){ .modes = GNI_CDM_MODE_DUAL_EVENTS, .cq = GNI_CQ_NOBLOCK }));
	MUST(GNI_EpBind(s.ep, s.pe, 1234));
	ASSERT_EQ(0, event_data(&s, data));
	EXPECT_EQ(1234, data[0]);
	EXPECT_EQ(1234, data[1]);
	EXPECT_EQ(77, data[2]);
	side_close(&s);
}

TEST(S6_3__set_event_data)
{
	struct side s;
	uint32_t data[3];

	ASSERT_EQ(0, self_open_as(&s, (struct side_options){ .modes = GNI_CDM_MODE_DUAL_EVENTS,
							     .cq = GNI_CQ_NOBLOCK }));
	MUST(GNI_EpSetEventData(s.ep, 0x111, 0x222));
	ASSERT_EQ(0, event_data(&s, data));
	EXPECT_EQ(0x111, data[0]);
	EXPECT_EQ(0x111, data[1]);
	EXPECT_EQ(0x222, data[2]);
	side_close(&s);
}

static gni_return_t post(const struct side *s, gni_post_descriptor_t *d)
{
	switch (d->type) {
	case GNI_POST_CQWRITE:
		return GNI_PostCqWrite(s->ep, d);
	case GNI_POST_RDMA_PUT:
	case GNI_POST_RDMA_GET:
		return GNI_PostRdma(s->ep, d);
	default:
		return GNI_PostFma(s->ep, d);
	}
}

TEST(S6_3__of_every_kind_of_post)
{
	static const gni_post_type_t types[] = { GNI_POST_FMA_PUT,  GNI_POST_FMA_GET,  GNI_POST_AMO,
						 GNI_POST_RDMA_PUT, GNI_POST_RDMA_GET, GNI_POST_CQWRITE };
	gni_post_descriptor_t d, *done;
	gni_cq_entry_t entry;
	struct side s;
	size_t i;

	ASSERT_EQ(0, self_open(&s));
	MUST(GNI_EpSetEventData(s.ep, 0x111, 0x222));
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		d = conf_post(&s, side_name(&s), types[i], 0, 64, 8);
		d.amo_cmd = GNI_FMA_ATOMIC_FADD;
		MUST(post(&s, &d));
		MUST(conf_event(s.cq, &entry));
		EXPECT_EQ(0x111, GNI_CQ_GET_INST_ID(entry));
		MUST(GNI_GetCompleted(s.cq, entry, &done));
	}
	side_close(&s);
}

TEST(S6_5__idle_changes_nothing)
{
	struct side a, b;
	void *p;

	ASSERT_EQ(0, two_open(&a, &b));
	ASSERT_EQ(0, mailbox_connect(&a, &b));
	RC(SUCCESS, GNI_EpIdle(a.ep));
	RC(NOT_DONE, GNI_SmsgGetNext(a.ep, &p));
	RC(INVALID_PARAM, GNI_EpBind(a.ep, b.pe, b.id));
	side_close(&a);
	side_close(&b);
}

TEST_HARNESS_MAIN
