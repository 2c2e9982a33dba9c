// SPDX-License-Identifier: GPL-2.0-only
/* What clients rely on: entries of queues, section 19; UCX, Open MPI and libfabric, section 20. */
#include <pthread.h>

#include "mailbox.h"

#define FOREVER ((uint32_t)-1)

/* Two domains of one process, bound to each other. */
FIXTURE(client)
{
	struct side a, b;
	gni_cq_entry_t entry;
	gni_post_state_t state;
	uint32_t pe, id;
	char in_a[128], in_b[128];
};

FIXTURE_SETUP(client)
{
	self->entry = 0;
	ASSERT_EQ(0, two_open(&self->a, &self->b));
}

FIXTURE_TEARDOWN(client)
{
	side_close(&self->a);
	side_close(&self->b);
}

#define STATE &self->state, &self->pe, &self->id

/* ---- 19: entries ---- */

TEST_F(client, S19_3__failed_transfer_has_an_entry)
{
	gni_post_descriptor_t d = conf_post(&self->a, side_name(&self->b), GNI_POST_FMA_PUT, 0, 64, 8);

	d.remote_addr += CONF_BYTES;
	MUST(GNI_PostFma(self->a.ep, &d));
	RC(TRANSACTION_ERROR, conf_event(self->a.cq, &self->entry));
	EXPECT_NE(0, self->entry);
}

TEST(S19_5__bit_48_alone_is_a_failure_with_a_name)
{
	gni_cq_entry_t entry = 1ull << 48;
	uint32_t recoverable = 7;
	char text[256] = "";
	gni_return_t rc;

	EXPECT_FALSE(GNI_CQ_STATUS_OK(entry));
	RC(SUCCESS, GNI_CqErrorStr(entry, text, sizeof(text)));
	EXPECT_NE(0, strlen(text));
	rc = GNI_CqErrorRecoverable(entry, &recoverable);
	EXPECT_TRUE(rc == GNI_RC_SUCCESS || rc == GNI_RC_INVALID_STATE);
	EXPECT_TRUE(rc != GNI_RC_SUCCESS || recoverable <= 1);
}

TEST_F(client, S19_8__failed_send_names_the_connection)
{
	ASSERT_EQ(0, mailbox_connect(&self->a, &self->b));
	MUST(GNI_EpSetEventData(self->a.ep, 0xabcde, 0x54321));
	MUST(GNI_MemDeregister(self->b.nic, &self->b.mem));
	memset(&self->b.mem, 0, sizeof(self->b.mem));
	MUST(GNI_SmsgSend(self->a.ep, "x", 1, NULL, 0, 0x10000077));
	RC(TRANSACTION_ERROR, conf_event(self->a.cq, &self->entry));
	EXPECT_EQ(GNI_CQ_EVENT_TYPE_SMSG, GNI_CQ_GET_TYPE(self->entry));
	EXPECT_EQ(0xabcde, GNI_CQ_GET_INST_ID(self->entry));
}

/* The event of a put and that of a message, by the accessor that one client uses and by that of another. */
TEST_F(client, S19_9__receiver_gets_the_senders_event_by_either_accessor)
{
	gni_post_descriptor_t d = conf_post(&self->a, side_name(&self->b), GNI_POST_FMA_PUT, 0, 0x8000, 8);

	MUST(GNI_EpSetEventData(self->a.ep, 1, 0xfedcba));
	d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
	MUST(conf_fma(&self->a, &d));
	MUST(conf_event(self->b.rx, &self->entry));
	EXPECT_EQ(0xfedcba, GNI_CQ_GET_INST_ID(self->entry));
	EXPECT_EQ(0xfedcba, GNI_CQ_GET_REM_INST_ID(self->entry));
	ASSERT_EQ(0, mailbox_connect(&self->a, &self->b));
	MUST(GNI_SmsgSend(self->a.ep, "x", 1, NULL, 0, 2));
	MUST(conf_event(self->b.rx, &self->entry));
	EXPECT_EQ(0xfedcba, GNI_CQ_GET_INST_ID(self->entry));
	EXPECT_EQ(0xfedcba, GNI_CQ_GET_REM_INST_ID(self->entry));
}

TEST_F(client, S19_10__ids_have_24_bits)
{
	gni_post_descriptor_t d = conf_post(&self->a, side_name(&self->b), GNI_POST_FMA_PUT, 0, 64, 8);

	MUST(GNI_EpSetEventData(self->a.ep, 0xffffffff, 0xffffffff));
	d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
	MUST(GNI_PostFma(self->a.ep, &d));
	MUST(conf_event(self->a.cq, &self->entry));
	EXPECT_EQ(0xffffff, GNI_CQ_GET_INST_ID(self->entry));
	MUST(conf_event(self->b.rx, &self->entry));
	EXPECT_EQ(0xffffff, GNI_CQ_GET_INST_ID(self->entry));
}

TEST(S19_13__accessors_are_macros)
{
	int macros = 0;

#if defined(GNI_CQ_GET_REM_INST_ID) && defined(GNI_CQ_GET_INST_ID) && defined(GNI_CQ_GET_DATA) &&            \
	defined(GNI_CQ_GET_MSG_ID) && defined(GNI_CQ_GET_TYPE) && defined(GNI_CQ_OVERRUN) && defined(GNI_CQ_REM_OVERRUN)
	macros = 1;
#endif
	EXPECT_EQ(1, macros);
}

/* ---- 20: UCX ---- */

static int by_value(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

TEST_F(client, S20_2__handles_of_endpoints_differ_in_24_bits)
{
	enum { COUNT = 4000 };
	static gni_ep_handle_t ep[COUNT];
	static uint32_t low[COUNT];
	unsigned int i;

	for (i = 0; i < COUNT; i++) {
		MUST(GNI_EpCreate(self->a.nic, NULL, &ep[i]));
		low[i] = (uintptr_t)ep[i] & 0xffffff;
	}
	qsort(low, COUNT, sizeof(*low), by_value);
	EXPECT_LT(1, low[0]);
	for (i = 1; i < COUNT; i++) {
		ASSERT_NE(low[i - 1], low[i]);
	}
	for (i = 0; i < COUNT; i++)
		MUST(GNI_EpDestroy(ep[i]));
}

/* Another thread that waits for datagrams of @nic and reaps those of @wildcard, until number 1 comes. */
struct mover {
	gni_nic_handle_t nic;
	gni_ep_handle_t wildcard;
	gni_return_t rc;
	int others;
};

static void *move_datagrams(void *argument)
{
	struct mover *m = argument;
	gni_post_state_t state;
	uint32_t pe, id;
	uint64_t number;

	do {
		number = 0;
		m->rc = GNI_PostdataProbeWaitById(m->nic, FOREVER, &number);
		if (number != 1) {
			m->others++;
			GNI_EpPostDataTestById(m->wildcard, number, &state, &pe, &id);
		}
	} while (m->rc == GNI_RC_SUCCESS && number != 1);
	return NULL;
}

static int ends_soon(pthread_t thread)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += CONF_PATIENCE;
	return pthread_timedjoin_np(thread, NULL, &end) == 0;
}

TEST_F(client, S20_3__waiter_ends_by_a_datagram_whose_endpoint_is_gone)
{
	struct mover m = { .nic = self->a.nic };
	gni_ep_handle_t to_self;
	pthread_t thread;

	MUST(GNI_EpCreate(self->a.nic, NULL, &m.wildcard));
	MUST(GNI_EpPostDataWId(m.wildcard, NULL, 0, self->in_a, 128, 2));
	ASSERT_EQ(0, pthread_create(&thread, NULL, move_datagrams, &m));
	usleep(20000);
	MUST(GNI_EpCreate(self->a.nic, NULL, &to_self));
	MUST(GNI_EpBind(to_self, self->a.pe, self->a.id));
	MUST(GNI_EpPostDataWId(to_self, NULL, 0, NULL, 0, 1));
	MUST(GNI_EpDestroy(to_self));
	ASSERT_TRUE(ends_soon(thread));
	EXPECT_EQ(GNI_RC_SUCCESS, m.rc);
	EXPECT_GE(1, m.others);
	MUST(GNI_EpDestroy(m.wildcard));
}

/* All that came was read; the next connection in the same memory finds none of it. */
TEST_F(client, S20_4__mailbox_is_used_again_as_it_is)
{
	gni_smsg_attr_t at_a = mailbox(&self->a), at_b = mailbox(&self->b);
	unsigned int round, i;
	void *p;

	for (round = 0; round < 3; round++) {
		MUST(GNI_SmsgInit(self->a.ep, &at_a, &at_b));
		MUST(GNI_SmsgInit(self->b.ep, &at_b, &at_a));
		RC(NOT_DONE, GNI_SmsgGetNext(self->b.ep, &p));
		RC(NOT_DONE, GNI_SmsgGetNext(self->a.ep, &p));
		for (i = 0; i < 7; i++) {
			const uint32_t word = 100 * round + i;

			MUST(GNI_SmsgSend(self->a.ep, NULL, 0, (void *)&word, sizeof(word), i));
			MUST(conf_event(self->a.cq, &self->entry));
			EXPECT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_SmsgGetNext(self->b.ep, &p)));
			EXPECT_EQ(word, *(uint32_t *)p);
			MUST(GNI_SmsgRelease(self->b.ep));
		}
		MUST(GNI_EpUnbind(self->a.ep));
		MUST(GNI_EpUnbind(self->b.ep));
		MUST(GNI_EpBind(self->a.ep, self->b.pe, self->b.id));
		MUST(GNI_EpBind(self->b.ep, self->a.pe, self->a.id));
	}
}

TEST(S20_5__one_device_of_aries)
{
	int count = 0, id = -1;
	gni_nic_device_t type;

	MUST(GNI_GetNumLocalDevices(&count));
	EXPECT_EQ(1, count);
	MUST(GNI_GetLocalDeviceIds(1, &id));
	EXPECT_EQ(0, id);
	MUST(GNI_GetDeviceType(&type));
	EXPECT_EQ(GNI_DEVICE_ARIES, type);
}

/* ---- 20: Open MPI ---- */

TEST_F(client, S20_6__binding_beside_traffic_of_other_endpoints)
{
	gni_post_descriptor_t d = conf_post(&self->a, side_name(&self->b), GNI_POST_FMA_PUT, 0, 64, 8);
	gni_post_descriptor_t own = d, *done;
	gni_ep_handle_t ep;

	MUST(GNI_EpCreate(self->a.nic, self->a.cq, &ep));
	MUST(GNI_PostFma(self->a.ep, &d));
	MUST(GNI_EpBind(ep, self->b.pe, self->b.id));
	RC(SUCCESS, GNI_EpUnbind(ep));
	MUST(GNI_EpBind(ep, self->b.pe, self->b.id));
	MUST(GNI_PostFma(ep, &own));
	MUST(conf_reap(self->a.cq, &d));
	MUST(GNI_PostFma(self->a.ep, &d));
	RC(NOT_DONE, GNI_EpUnbind(ep));
	MUST(conf_reap(self->a.cq, &own));
	/* right after GetCompleted, the other's event still in the queue */
	RC(SUCCESS, GNI_EpUnbind(ep));
	MUST(conf_event(self->a.cq, &self->entry));
	MUST(GNI_GetCompleted(self->a.cq, self->entry, &done));
	EXPECT_EQ(&d, done);
	MUST(GNI_EpDestroy(ep));
}

/* Who was met by a wildcard posts again, directed; a wildcard that waits still is destroyed. */
TEST_F(client, S20_7__directed_after_a_wildcard)
{
	static char zeros[128];
	gni_ep_handle_t any;

	MUST(GNI_EpCreate(self->b.nic, NULL, &any));
	MUST(GNI_EpPostDataWId(any, zeros, 128, self->in_b, 128, 0));
	MUST(GNI_EpPostDataWId(self->a.ep, "a", 1, self->in_a, 128, 1ull << 63));
	MUST(GNI_EpPostDataWaitById(self->a.ep, 1ull << 63, 10000, STATE));
	EXPECT_EQ(GNI_POST_COMPLETED, self->state);
	EXPECT_EQ(0, memcmp(self->in_a, zeros, 128));
	MUST(GNI_EpPostDataWaitById(any, 0, 10000, STATE));
	EXPECT_EQ('a', self->in_b[0]);
	MUST(GNI_EpPostDataWId(any, zeros, 128, self->in_b, 128, 0));
	MUST(GNI_EpPostDataWId(self->b.ep, "b", 1, self->in_b, 128, 1ull << 63 | 1));
	MUST(GNI_EpPostDataWId(self->a.ep, "A", 1, self->in_a, 128, 1ull << 63));
	MUST(GNI_EpPostDataWaitById(self->a.ep, 1ull << 63, 10000, STATE));
	EXPECT_EQ('b', self->in_a[0]);
	RC(NO_MATCH, GNI_EpPostDataCancelById(self->a.ep, 12345));
	MUST(GNI_EpDestroy(any));
}

TEST_F(client, S20_8__narrow_compare_and_swap_tells_the_old_value)
{
	static const gni_fma_cmd_type_t opcodes[] = { GNI_FMA_ATOMIC2_FCSWAP_S, GNI_FMA_ATOMIC2_CSWAP_S };
	gni_post_descriptor_t d = conf_post(&self->a, side_name(&self->b), GNI_POST_AMO, 0, 64, 4);
	uint32_t *here = (uint32_t *)self->a.data, *there = (uint32_t *)(self->b.data + 64);
	unsigned int i;

	for (i = 0; i < 2; i++) {
		here[0] = here[1] = 0x55;
		*there = 8;
		d.amo_cmd = opcodes[i];
		d.first_operand = 8;
		d.second_operand = 9;
		RC(SUCCESS, conf_fma(&self->a, &d));
		EXPECT_EQ(8, here[0]);
		EXPECT_EQ(9, *there);
		RC(SUCCESS, conf_fma(&self->a, &d));
		EXPECT_EQ(9, here[0]);
		EXPECT_EQ(9, *there);
		EXPECT_EQ(0x55, here[1]);
	}
}

TEST_F(client, S20_9__events_come_before_the_connection)
{
	gni_smsg_attr_t at_a = mailbox(&self->a), at_b = mailbox(&self->b);
	void *p;

	MUST(GNI_EpSetEventData(self->a.ep, 1, 0x4321));
	MUST(GNI_SmsgInit(self->a.ep, &at_a, &at_b));
	MUST(GNI_SmsgSend(self->a.ep, "early", 6, NULL, 0, 1));
	MUST(conf_event(self->b.rx, &self->entry));
	EXPECT_EQ(GNI_CQ_EVENT_TYPE_SMSG, GNI_CQ_GET_TYPE(self->entry));
	EXPECT_EQ(0x4321, GNI_CQ_GET_INST_ID(self->entry));
	/* nobody swept it: the event is gone, the message is not */
	MUST(GNI_SmsgInit(self->b.ep, &at_b, &at_a));
	EXPECT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_SmsgGetNext(self->b.ep, &p)));
	EXPECT_EQ(0, memcmp(p, "early", 6));
}

TEST(S20_10__thousands_of_registrations)
{
	const uint32_t cookie = conf_cookie();
	gni_job_res_desc_t res;
	struct side s;
	uint8_t ptag;

	ASSERT_EQ(0, side_open(&s, cookie, 1));
	MUST(GNI_GetPtag(CONF_DEVICE, cookie, &ptag));
	MUST(GNI_GetJobResInfo(CONF_DEVICE, ptag, GNI_JOB_RES_MDD, &res));
	EXPECT_LE(2000, res.limit);
	EXPECT_LE(1, res.used);
	side_close(&s);
}

TEST_F(client, S20_10__queue_ends_before_its_registrations)
{
	gni_post_descriptor_t d = conf_post(&self->a, side_name(&self->b), GNI_POST_FMA_PUT, 0, 64, 8);
	gni_cq_handle_t rx;
	gni_mem_handle_t mem;

	MUST(GNI_CqCreate(self->b.nic, 64, 0, GNI_CQ_NOBLOCK, NULL, NULL, &rx));
	MUST(GNI_MemRegister(self->b.nic, (uintptr_t)self->b.data, CONF_PAGE, rx, 0, CONF_NO_VMDH, &mem));
	RC(SUCCESS, GNI_CqDestroy(rx));
	/* somebody writes there still */
	d.remote_mem_hndl = mem;
	d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
	conf_fma(&self->a, &d);
	RC(SUCCESS, GNI_MemDeregister(self->b.nic, &mem));
}

TEST_HARNESS_MAIN
