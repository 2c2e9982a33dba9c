// SPDX-License-Identifier: GPL-2.0-only
/* What libfabric's provider relies on: section 20. */
#include <pthread.h>

#include "mailbox.h"

#define FOREVER ((uint32_t)-1)

/* Two domains of one process, with blocking queues, bound to each other. */
FIXTURE(fabric)
{
	struct side a, b;
	gni_cq_entry_t entry;
};

FIXTURE_SETUP(fabric)
{
	self->entry = 0;
	ASSERT_EQ(0, two_open_as(&self->a, &self->b, (struct side_options){ .cq = GNI_CQ_BLOCKING }));
}

FIXTURE_TEARDOWN(fabric)
{
	side_close(&self->a);
	side_close(&self->b);
}

/* A handle made of what its 64-bit key keeps: address, MDH, read-only flag. */
static gni_mem_handle_t rebuilt(const gni_mem_handle_t *from, int second_format)
{
	const uint64_t address = from->qword1 & 0xfffffffffffffull, mdh = from->qword1 >> 52;
	gni_mem_handle_t h = { address | mdh << 52, 0xfffffffull | 12ull << 28 };

	if (second_format) {
		h.qword1 = address | 0x5a5ull << 52;
		h.qword2 |= 0x80ull << 34 | mdh << 42;
	}
	return h;
}

TEST_F(fabric, S20_11__rebuilt_handles_of_either_format)
{
	gni_post_descriptor_t d;
	int second;

	for (second = 0; second < 2; second++) {
		gni_mem_handle_t built = rebuilt(&self->b.mem, second);

		memset(self->a.data, 0x40 + second, 8);
		d = conf_post(&self->a, side_name(&self->b), GNI_POST_FMA_PUT, 0, 64, 8);
		d.remote_mem_hndl = built;
		RC(SUCCESS, conf_fma(&self->a, &d));
		EXPECT_EQ(0x40 + second, self->b.data[64]);
		d.type = GNI_POST_AMO;
		d.amo_cmd = GNI_FMA_ATOMIC2_IADD;
		d.first_operand = 1;
		RC(SUCCESS, conf_fma(&self->a, &d));
		EXPECT_EQ(0x41 + second, self->b.data[64]);
		d = conf_post(&self->a, side_name(&self->b), GNI_POST_RDMA_PUT, 0, 4096, 64);
		d.remote_mem_hndl = conf_coded(built, ~conf_check_code(&built));
		RC(INVALID_PARAM, GNI_PostRdma(self->a.ep, &d));
		d.remote_mem_hndl = conf_coded(built, conf_check_code(&built));
		RC(SUCCESS, conf_rdma(&self->a, &d));
		EXPECT_EQ(0x40 + second, self->b.data[4096]);
	}
}

/* ---- Threads that sleep in the library, cancelled wherever they are ---- */

static void *in_probe(void *argument)
{
	const struct side *s = argument;
	uint64_t number;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		GNI_PostdataProbeWaitById(s->nic, FOREVER, &number);
	return NULL;
}

static void *in_monitor(void *argument)
{
	const struct side *s = argument;
	gni_cq_handle_t queues[2] = { s->cq, s->rx };
	uint32_t which;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		GNI_CqVectorMonitor(queues, 2, (uint64_t)-1, &which);
	return NULL;
}

TEST_F(fabric, S20_12__sleeping_threads_are_cancelled_at_any_time)
{
	void *(*const sleeps[])(void *) = { in_probe, in_monitor };
	gni_post_descriptor_t d = conf_post(&self->a, side_name(&self->b), GNI_POST_FMA_PUT, 0, 64, 8);
	struct timespec end;
	pthread_t thread;
	void *result;
	int i;

	for (i = 0; i < 60; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, sleeps[i % 2], &self->a));
		usleep(i * 40);
		/* something to wake up for, now and then */
		if (i % 3 == 0) {
			EXPECT_EQ(GNI_RC_SUCCESS, conf_fma(&self->a, &d));
		}
		pthread_cancel(thread);
		clock_gettime(CLOCK_REALTIME, &end);
		end.tv_sec += CONF_PATIENCE;
		ASSERT_EQ(0, pthread_timedjoin_np(thread, &result, &end));
		EXPECT_EQ(PTHREAD_CANCELED, result);
		EXPECT_EQ(GNI_RC_SUCCESS, conf_fma(&self->a, &d));
	}
}

/* ---- Loopback ---- */

/* A put of both kinds and an atomic from @from to @to, whose memory holds the outcome. */
static int transfers(const struct side *from, const struct side *to, uint8_t value)
{
	gni_post_descriptor_t d = conf_post(from, side_name(to), GNI_POST_FMA_PUT, 0, 0x8000, 8);

	memset(from->data, value, 64);
	memset(to->data + 0x8000, 0, 0x2000);
	if (conf_fma(from, &d) || to->data[0x8000] != value)
		return 1;
	d = conf_post(from, side_name(to), GNI_POST_RDMA_PUT, 0, 0x9000, 64);
	if (conf_rdma(from, &d) || to->data[0x903f] != value)
		return 2;
	d = conf_post(from, side_name(to), GNI_POST_AMO, 128, 0x8000, 8);
	d.amo_cmd = GNI_FMA_ATOMIC2_FIADD;
	d.first_operand = 1;
	return conf_fma(from, &d) || to->data[0x8000] != value + 1 || from->data[128] != value ? 3 : 0;
}

/* A domain and itself by two endpoints, each with a mailbox of its own. */
static int messages_to_itself(struct side *s)
{
	gni_smsg_attr_t at_one = mailbox(s), at_two = at_one;
	gni_ep_handle_t other;
	void *p;
	int wrong;

	at_two.mbox_offset = at_one.buff_size;
	if (GNI_EpCreate(s->nic, s->cq, &other) || GNI_EpBind(other, s->pe, s->id) ||
	    GNI_SmsgInit(s->ep, &at_one, &at_two) || GNI_SmsgInit(other, &at_two, &at_one))
		return 1;
	wrong = GNI_SmsgSend(s->ep, "self", 5, NULL, 0, 1) ||
		CONF_UNTIL(SUCCESS, GNI_SmsgGetNext(other, &p)) || memcmp(p, "self", 5);
	return GNI_EpDestroy(other) || wrong ? 2 : 0;
}

TEST_F(fabric, S20_13__domains_of_one_process_and_each_with_itself)
{
	struct side polled;

	EXPECT_EQ(0, transfers(&self->a, &self->b, 1));
	EXPECT_EQ(0, transfers(&self->b, &self->a, 2));
	MUST(GNI_EpUnbind(self->a.ep));
	MUST(GNI_EpBind(self->a.ep, self->a.pe, self->a.id));
	EXPECT_EQ(0, transfers(&self->a, &self->a, 3));
	EXPECT_EQ(0, messages_to_itself(&self->a));
	/* beside them one whose queues are polled */
	ASSERT_EQ(0, self_open(&polled));
	EXPECT_EQ(0, transfers(&polled, &polled, 4));
	EXPECT_EQ(0, messages_to_itself(&polled));
	side_close(&polled);
}

/* ---- Ends ---- */

TEST_F(fabric, S20_15__last_events_of_an_endpoint_that_is_gone)
{
	gni_post_descriptor_t d = conf_post(&self->a, side_name(&self->b), GNI_POST_FMA_PUT, 0, 64, 8), *done = NULL;
	gni_post_state_t state;
	uint32_t pe, id;
	uint64_t number = 0;
	char in[128];
	void *p;

	ASSERT_EQ(0, mailbox_connect(&self->a, &self->b));
	MUST(GNI_SmsgSend(self->b.ep, "x", 1, NULL, 0, 1));
	MUST(GNI_EpPostDataWId(self->a.ep, NULL, 0, in, 128, 77));
	MUST(GNI_EpPostDataCancelById(self->a.ep, 77));
	MUST(GNI_PostFma(self->a.ep, &d));
	MUST(GNI_EpDestroy(self->a.ep));
	MUST(conf_event(self->a.cq, &self->entry));
	RC(SUCCESS, GNI_GetCompleted(self->a.cq, self->entry, &done));
	EXPECT_EQ(&d, done);
	MUST(conf_event(self->a.rx, &self->entry));
	RC(INVALID_PARAM, GNI_SmsgGetNext(self->a.ep, &p));
	GNI_PostDataProbeById(self->a.nic, &number);
	RC(INVALID_PARAM, GNI_EpPostDataTestById(self->a.ep, 77, &state, &pe, &id));
	self->a.ep = NULL;
}

TEST_HARNESS_MAIN
