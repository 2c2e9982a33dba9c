// SPDX-License-Identifier: GPL-2.0-only
/* Posts between two ranks: that codes mean what they say, at the other end too. */
#include "pair.h"

enum { PATTERN = 0xa5, HALF = CONF_BYTES / 2 };

/* Both ranks are attached; target is the second half of the other one's memory. */
struct meeting {
	struct side s;
	struct side_name peer;
	gni_post_descriptor_t d;
	uint8_t *from, *at;
};

static void meet(struct __test_metadata *_metadata, struct pair *pair, struct meeting *m, gni_post_type_t type,
		 size_t bytes)
{
	ASSERT_EQ(0, pair_open_as(pair, &m->s, &m->peer, (struct side_options){ .cq = GNI_CQ_BLOCKING }));
	m->d = conf_post(&m->s, m->peer, type, 0, HALF, bytes);
	m->from = m->s.data;
	m->at = m->s.data + HALF;
	memset(m->from, PATTERN + pair->rank, bytes);
}

static void part(struct pair *pair, struct meeting *m)
{
	pair_meet(pair);
	side_close(&m->s);
}

/* What the other rank's put has left here. */
static void has_arrived(struct __test_metadata *_metadata, struct pair *pair, struct meeting *m, size_t bytes)
{
	gni_cq_entry_t entry;
	size_t i;

	ASSERT_EQ(GNI_RC_SUCCESS, GNI_CqWaitEvent(m->s.rx, CONF_PATIENCE * 1000, &entry));
	EXPECT_EQ(m->peer.id, GNI_CQ_GET_REM_INST_ID(entry));
	for (i = 0; i < bytes; i++) {
		ASSERT_EQ(PATTERN + !pair->rank, m->at[i]);
	}
}

/* ---- Puts ---- */

static void put(struct __test_metadata *_metadata, struct pair *pair, gni_post_type_t type, size_t bytes)
{
	struct meeting m;

	meet(_metadata, pair, &m, type, bytes);
	m.d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
	RC(SUCCESS, type == GNI_POST_RDMA_PUT ? GNI_PostRdma(m.s.ep, &m.d) : GNI_PostFma(m.s.ep, &m.d));
	EXPECT_EQ(GNI_RC_SUCCESS, conf_reap(m.s.cq, &m.d));
	has_arrived(_metadata, pair, &m, bytes);
	part(pair, &m);
}

PAIR_TEST(GNI_PostFma__SUCCESS__put_reaches_the_other_rank)
{
	put(_metadata, pair, GNI_POST_FMA_PUT, 8);
}

PAIR_TEST(GNI_PostFma__SUCCESS__long_put_reaches_the_other_rank)
{
	put(_metadata, pair, GNI_POST_FMA_PUT, HALF);
}

PAIR_TEST(GNI_PostRdma__SUCCESS__put_reaches_the_other_rank)
{
	put(_metadata, pair, GNI_POST_RDMA_PUT, HALF);
}

PAIR_TEST(GNI_PostFma__SUCCESS__sync_flag_comes_after_the_data)
{
	time_t end = time(NULL) + CONF_PATIENCE;
	volatile uint64_t *flag;
	struct meeting m;

	meet(_metadata, pair, &m, GNI_POST_FMA_PUT_W_SYNCFLAG, 4096);
	flag = (volatile uint64_t *)(m.at + 8192);
	m.d.sync_flag_addr = m.d.remote_addr + 8192;
	m.d.sync_flag_value = 4711;
	RC(SUCCESS, GNI_PostFma(m.s.ep, &m.d));
	while (!*flag && time(NULL) < end)
		;
	EXPECT_EQ(4711, *flag);
	EXPECT_EQ(PATTERN + !pair->rank, m.at[0]);
	EXPECT_EQ(PATTERN + !pair->rank, m.at[4095]);
	EXPECT_EQ(GNI_RC_SUCCESS, conf_reap(m.s.cq, &m.d));
	part(pair, &m);
}

/* ---- Gets ---- */

static void prepare_get(struct __test_metadata *_metadata, struct pair *pair, struct meeting *m,
			gni_post_type_t type)
{
	meet(_metadata, pair, m, type, HALF);
	memset(m->at, PATTERN + pair->rank, HALF);
	pair_meet(pair);
}

static void has_come(struct __test_metadata *_metadata, struct pair *pair, struct meeting *m)
{
	size_t i;

	EXPECT_EQ(GNI_RC_SUCCESS, conf_reap(m->s.cq, &m->d));
	for (i = 0; i < HALF; i++) {
		ASSERT_EQ(PATTERN + !pair->rank, m->from[i]);
	}
}

PAIR_TEST(GNI_PostFma__SUCCESS__get_from_the_other_rank)
{
	struct meeting m;

	prepare_get(_metadata, pair, &m, GNI_POST_FMA_GET);
	RC(SUCCESS, GNI_PostFma(m.s.ep, &m.d));
	has_come(_metadata, pair, &m);
	part(pair, &m);
}

PAIR_TEST(GNI_PostRdma__SUCCESS__get_from_the_other_rank)
{
	struct meeting m;

	prepare_get(_metadata, pair, &m, GNI_POST_RDMA_GET);
	RC(SUCCESS, GNI_PostRdma(m.s.ep, &m.d));
	has_come(_metadata, pair, &m);
	part(pair, &m);
}

/* ---- Atomics: both ranks add to one word of the first one ---- */

PAIR_TEST(GNI_PostFma__SUCCESS__atomic_adds_of_both_ranks)
{
	enum { TIMES = 50 };
	struct side_name first;
	struct meeting m;
	int i;

	meet(_metadata, pair, &m, GNI_POST_AMO, 8);
	if (pair->rank == 0) {
		MUST(GNI_EpUnbind(m.s.ep));
		MUST(GNI_EpBind(m.s.ep, m.s.pe, m.s.id));
	}
	first = pair->rank ? m.peer : side_name(&m.s);
	m.d.amo_cmd = GNI_FMA_ATOMIC_ADD;
	m.d.first_operand = 1;
	m.d.remote_addr = first.data + HALF;
	m.d.remote_mem_hndl = first.mem;
	for (i = 0; i < TIMES; i++) {
		RC(SUCCESS, GNI_PostFma(m.s.ep, &m.d));
		ASSERT_EQ(GNI_RC_SUCCESS, conf_reap(m.s.cq, &m.d));
	}
	pair_meet(pair);
	if (pair->rank == 0) {
		EXPECT_EQ(2 * TIMES, *(uint64_t *)m.at);
	}
	part(pair, &m);
}

/* ---- Queue writes ---- */

PAIR_TEST(GNI_PostCqWrite__SUCCESS__wakes_the_other_rank)
{
	gni_cq_entry_t entry = 0;
	struct meeting m;

	meet(_metadata, pair, &m, GNI_POST_CQWRITE, 0);
	m.d.cqwrite_value = 0xabcdef000000 + pair->rank;
	if (pair->rank == 0) {
		usleep(20000);
		RC(SUCCESS, GNI_PostCqWrite(m.s.ep, &m.d));
		EXPECT_EQ(GNI_RC_SUCCESS, conf_reap(m.s.cq, &m.d));
	} else {
		ASSERT_EQ(GNI_RC_SUCCESS, GNI_CqWaitEvent(m.s.rx, CONF_PATIENCE * 1000, &entry));
		EXPECT_EQ(0xabcdef000000, GNI_CQ_GET_DATA(entry));
	}
	part(pair, &m);
}

PAIR_TEST(GNI_CqVectorMonitor__SUCCESS__woken_by_the_other_rank)
{
	gni_cq_entry_t entry = 0;
	uint32_t which = 9;
	struct meeting m;

	meet(_metadata, pair, &m, GNI_POST_CQWRITE, 0);
	if (pair->rank == 0) {
		usleep(20000);
		EXPECT_EQ(GNI_RC_SUCCESS, GNI_PostCqWrite(m.s.ep, &m.d));
		EXPECT_EQ(GNI_RC_SUCCESS, conf_reap(m.s.cq, &m.d));
	}
	if (pair->rank) {
		RC(SUCCESS, GNI_CqVectorMonitor(&m.s.rx, 1, CONF_PATIENCE * 1000, &which));
		EXPECT_EQ(0, which);
		EXPECT_EQ(GNI_RC_SUCCESS, GNI_CqGetEvent(m.s.rx, &entry));
	}
	part(pair, &m);
}

/* ---- Failures that the other end finds ---- */

PAIR_TEST(GNI_GetCompleted__TRANSACTION_ERROR__registration_has_ended)
{
	gni_post_descriptor_t *done = NULL;
	gni_cq_entry_t entry;
	struct meeting m;

	meet(_metadata, pair, &m, GNI_POST_FMA_PUT, 8);
	MUST(GNI_MemDeregister(m.s.nic, &m.s.mem));
	memset(&m.s.mem, 0, sizeof(m.s.mem));
	pair_meet(pair);
	MUST(GNI_PostFma(m.s.ep, &m.d));
	ASSERT_EQ(GNI_RC_TRANSACTION_ERROR, conf_event(m.s.cq, &entry));
	RC(TRANSACTION_ERROR, GNI_GetCompleted(m.s.cq, entry, &done));
	EXPECT_EQ(&m.d, done);
	EXPECT_EQ(0, m.at[0]);
	part(pair, &m);
}

PAIR_TEST(GNI_CqGetEvent__TRANSACTION_ERROR__other_domain)
{
	gni_cq_entry_t entry = 0;
	struct side stranger;
	struct meeting m;

	meet(_metadata, pair, &m, GNI_POST_FMA_PUT, 8);
	ASSERT_EQ(0, side_open(&stranger, conf_cookie() ^ 0x20000000, 9));
	MUST(GNI_EpBind(stranger.ep, m.peer.pe, m.peer.id));
	m.d.local_mem_hndl = stranger.mem;
	MUST(GNI_PostFma(stranger.ep, &m.d));
	ASSERT_EQ(GNI_RC_SUCCESS, CONF_UNTIL(SUCCESS, GNI_CqTestEvent(stranger.cq)));
	RC(TRANSACTION_ERROR, GNI_CqGetEvent(stranger.cq, &entry));
	pair_meet(pair);
	EXPECT_EQ(0, m.at[0]);
	side_close(&stranger);
	part(pair, &m);
}

TEST_HARNESS_MAIN
