// SPDX-License-Identifier: GPL-2.0-only
/* Posts between two ranks: that SUCCESS means what it says, at the other end. */
#include "pair.h"

enum { PATTERN = 0xa5 };

/* Each rank puts a pattern of its own into the other's page. */
static void each_puts(struct __test_metadata *_metadata, struct pair *pair, gni_post_type_t type,
		      size_t bytes)
{
	struct side_name peer;
	gni_post_descriptor_t d;
	gni_cq_entry_t entry;
	struct side s;
	size_t i;

	ASSERT_EQ(0, pair_open(pair, &s, &peer));
	memset(s.data, PATTERN + pair->rank, bytes);
	d = conf_post(&s, peer, type, 0, CONF_BYTES / 2, bytes);
	d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
	if (type == GNI_POST_RDMA_PUT) {
		RC(SUCCESS, GNI_PostRdma(s.ep, &d));
	} else {
		RC(SUCCESS, GNI_PostFma(s.ep, &d));
	}
	EXPECT_EQ(GNI_RC_SUCCESS, conf_reap(s.cq, &d));
	ASSERT_EQ(GNI_RC_SUCCESS, conf_event(s.rx, &entry));
	EXPECT_EQ(peer.id, GNI_CQ_GET_REM_INST_ID(entry));
	for (i = 0; i < bytes; i++)
		ASSERT_EQ(PATTERN + !pair->rank, s.data[CONF_BYTES / 2 + i]);
	pair_meet(pair);
	side_close(&s);
}

PAIR_TEST(GNI_PostFma__SUCCESS__put_reaches_the_other_rank)
{
	each_puts(_metadata, pair, GNI_POST_FMA_PUT, 8);
}

PAIR_TEST(GNI_PostRdma__SUCCESS__put_reaches_the_other_rank)
{
	each_puts(_metadata, pair, GNI_POST_RDMA_PUT, CONF_BYTES / 2);
}

TEST_HARNESS_MAIN
