// SPDX-License-Identifier: GPL-2.0-only
/* Datagrams between two ranks. */
#include "pair.h"

#define SOON 50u /* ms */
#define FAR (CONF_PATIENCE * 1000u)
#define ID(rank) (0xabcd000000000000ull + (rank))

struct exchange {
	struct side s;
	struct side_name peer;
	gni_ep_handle_t any; /* not bound */
	char out[GNI_DATAGRAM_MAXSIZE], in[GNI_DATAGRAM_MAXSIZE];
	gni_post_state_t state;
	uint32_t pe, id;
};

static void begin(struct __test_metadata *_metadata, struct pair *pair, struct exchange *x)
{
	memset(x, 0, sizeof(*x));
	ASSERT_EQ(0, pair_open(pair, &x->s, &x->peer));
	MUST(GNI_EpCreate(x->s.nic, NULL, &x->any));
	memset(x->out, 'a' + pair->rank, sizeof(x->out));
}

static void end(struct pair *pair, struct exchange *x)
{
	pair_meet(pair);
	GNI_EpDestroy(x->any);
	side_close(&x->s);
}

static void completed(struct __test_metadata *_metadata, struct pair *pair, struct exchange *x)
{
	EXPECT_EQ(GNI_POST_COMPLETED, x->state);
	EXPECT_EQ(x->peer.pe, x->pe);
	EXPECT_EQ(x->peer.id, x->id);
	EXPECT_EQ('a' + !pair->rank, x->in[0]);
	EXPECT_EQ('a' + !pair->rank, x->in[GNI_DATAGRAM_MAXSIZE - 1]);
}

PAIR_TEST(GNI_EpPostData__SUCCESS__both_ranks_directed)
{
	struct exchange x;

	begin(_metadata, pair, &x);
	RC(SUCCESS, GNI_EpPostData(x.s.ep, x.out, 128, x.in, 128));
	MUST(GNI_EpPostDataWait(x.s.ep, FAR, &x.state, &x.pe, &x.id));
	completed(_metadata, pair, &x);
	end(pair, &x);
}

PAIR_TEST(GNI_EpPostDataWId__SUCCESS__directed_meets_wildcard)
{
	gni_ep_handle_t ep;
	struct exchange x;
	uint64_t found = 0;

	begin(_metadata, pair, &x);
	ep = pair->rank ? x.any : x.s.ep;
	RC(SUCCESS, GNI_EpPostDataWId(ep, x.out, 128, x.in, 128, ID(pair->rank)));
	MUST(GNI_PostdataProbeWaitById(x.s.nic, FAR, &found));
	EXPECT_EQ(ID(pair->rank), found);
	MUST(GNI_EpPostDataWaitById(ep, found, FAR, &x.state, &x.pe, &x.id));
	completed(_metadata, pair, &x);
	end(pair, &x);
}

PAIR_TEST(GNI_EpPostDataWaitById__TIMEOUT__until_the_other_rank_posts)
{
	struct exchange x;

	begin(_metadata, pair, &x);
	if (pair->rank == 0) {
		MUST(GNI_EpPostDataWId(x.s.ep, x.out, 128, x.in, 128, ID(0)));
		RC(TIMEOUT, GNI_EpPostDataWaitById(x.s.ep, ID(0), SOON, &x.state, &x.pe, &x.id));
	}
	pair_meet(pair);
	if (pair->rank) {
		MUST(GNI_EpPostDataWId(x.s.ep, x.out, 128, x.in, 128, ID(1)));
	}
	RC(SUCCESS, GNI_EpPostDataWaitById(x.s.ep, ID(pair->rank), FAR, &x.state, &x.pe, &x.id));
	completed(_metadata, pair, &x);
	end(pair, &x);
}

PAIR_TEST(GNI_EpPostDataTest__SUCCESS__polled_until_completed)
{
	time_t until = time(NULL) + CONF_PATIENCE;
	struct exchange x;

	begin(_metadata, pair, &x);
	MUST(GNI_EpPostData(x.s.ep, x.out, 128, x.in, 128));
	do {
		RC(SUCCESS, GNI_EpPostDataTest(x.s.ep, &x.state, &x.pe, &x.id));
	} while ((x.state == GNI_POST_PENDING || x.state == GNI_POST_REMOTE_DATA) && time(NULL) < until);
	completed(_metadata, pair, &x);
	end(pair, &x);
}

PAIR_TEST(GNI_EpPostDataWait__SIZE_ERROR__other_rank_sends_more)
{
	struct exchange x;

	begin(_metadata, pair, &x);
	MUST(GNI_EpPostData(x.s.ep, x.out, 128, x.in, 16));
	RC(SIZE_ERROR, GNI_EpPostDataWait(x.s.ep, FAR, &x.state, &x.pe, &x.id));
	EXPECT_EQ(0, x.in[16]);
	end(pair, &x);
}

PAIR_TEST(GNI_PostDataProbe__SUCCESS__address_of_the_other_rank)
{
	struct exchange x;

	begin(_metadata, pair, &x);
	MUST(GNI_EpPostData(x.s.ep, x.out, 128, x.in, 128));
	RC(SUCCESS, CONF_UNTIL(SUCCESS, GNI_PostDataProbe(x.s.nic, &x.pe, &x.id)));
	EXPECT_EQ(x.peer.pe, x.pe);
	EXPECT_EQ(x.peer.id, x.id);
	end(pair, &x);
}

PAIR_TEST(GNI_EpPostDataCancel__SUCCESS__other_rank_never_meets_it)
{
	struct exchange x;

	begin(_metadata, pair, &x);
	if (pair->rank == 0) {
		MUST(GNI_EpPostData(x.s.ep, x.out, 128, x.in, 128));
		RC(SUCCESS, GNI_EpPostDataCancel(x.s.ep));
		MUST(GNI_EpPostDataWait(x.s.ep, FAR, &x.state, &x.pe, &x.id));
		EXPECT_EQ(GNI_POST_TERMINATED, x.state);
	}
	pair_meet(pair);
	if (pair->rank) {
		MUST(GNI_EpPostData(x.s.ep, x.out, 128, x.in, 128));
		EXPECT_EQ(GNI_RC_TIMEOUT, GNI_EpPostDataWait(x.s.ep, SOON, &x.state, &x.pe, &x.id));
	}
	end(pair, &x);
}

TEST_HARNESS_MAIN
