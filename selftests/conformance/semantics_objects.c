// SPDX-License-Identifier: GPL-2.0-only
/* Statements about objects, identity, modes and queues: statements.csv, sections 1, 2, 3 and 8. */
#include <pthread.h>
#include <signal.h>

#include "mailbox.h"

/* ---- 1: objects and their order ---- */

TEST(S1_1__order_of_clients)
{
	struct side s;

	ASSERT_EQ(0, self_open(&s));
	MUST(GNI_EpUnbind(s.ep));
	MUST(GNI_EpDestroy(s.ep));
	MUST(GNI_MemDeregister(s.nic, &s.mem));
	MUST(GNI_CqDestroy(s.rx));
	MUST(GNI_CqDestroy(s.cq));
	MUST(GNI_CdmDestroy(s.cdm));
}

TEST(S1_4__unbinding_ends_short_messages)
{
	gni_smsg_attr_t at;
	struct side a, b;
	void *p;

	ASSERT_EQ(0, two_open(&a, &b));
	ASSERT_EQ(0, mailbox_connect(&a, &b));
	MUST(GNI_EpUnbind(a.ep));
	RC(INVALID_PARAM, GNI_SmsgSend(a.ep, &a.id, 4, NULL, 0, 0));
	RC(INVALID_PARAM, GNI_SmsgGetNext(a.ep, &p));
	MUST(GNI_EpBind(a.ep, b.pe, b.id));
	at = mailbox(&a);
	RC(SUCCESS, GNI_SmsgInit(a.ep, &at, &at));
	side_close(&a);
	side_close(&b);
}

TEST(S1_8__domains_share_a_nic)
{
	struct side a, b, c;
	gni_post_descriptor_t d;

	ASSERT_EQ(0, two_open(&a, &b));
	ASSERT_EQ(0, self_open(&c));
	EXPECT_EQ(a.pe, b.pe);
	EXPECT_EQ(a.pe, c.pe);
	d = conf_post(&a, side_name(&b), GNI_POST_FMA_PUT, 0, 64, 8);
	RC(SUCCESS, conf_fma(&a, &d));
	d = conf_post(&c, side_name(&c), GNI_POST_FMA_PUT, 0, 64, 8);
	RC(SUCCESS, conf_fma(&c, &d));
	side_close(&a);
	side_close(&b);
	side_close(&c);
}

struct lockless {
	struct side s;
	gni_cq_handle_t blocking;
	int stop;
	int wrong;
};

static void *three_calls(void *argument)
{
	struct lockless *l = argument;
	uint32_t which;
	uint64_t id;

	while (!__atomic_load_n(&l->stop, __ATOMIC_RELAXED)) {
		gni_return_t rc = GNI_CqTestEvent(l->s.cq);

		l->wrong += rc != GNI_RC_SUCCESS && rc != GNI_RC_NOT_DONE;
		l->wrong += GNI_CqVectorMonitor(&l->blocking, 1, 1, &which) != GNI_RC_TIMEOUT;
		l->wrong += GNI_PostdataProbeWaitById(l->s.nic, 1, &id) != GNI_RC_TIMEOUT;
	}
	return NULL;
}

TEST(S1_10__three_calls_without_lock)
{
	struct lockless l = { .stop = 0 };
	gni_post_descriptor_t d;
	pthread_t thread;
	int i;

	ASSERT_EQ(0, self_open(&l.s));
	MUST(GNI_CqCreate(l.s.nic, 8, 0, GNI_CQ_BLOCKING, NULL, NULL, &l.blocking));
	ASSERT_EQ(0, pthread_create(&thread, NULL, three_calls, &l));
	for (i = 0; i < 300; i++) {
		d = conf_post(&l.s, side_name(&l.s), GNI_POST_FMA_PUT, 0, 64, 8);
		RC(SUCCESS, conf_fma(&l.s, &d));
	}
	__atomic_store_n(&l.stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	EXPECT_EQ(0, l.wrong);
	MUST(GNI_CqDestroy(l.blocking));
	side_close(&l.s);
}

/* ---- 2: identity ---- */

TEST(S2_2__key_in_the_upper_half_of_a_cookie)
{
	uint32_t cookie = GNI_JOB_CREATE_COOKIE(0x1234, 0);

	EXPECT_EQ(0x1234, cookie >> 16);
}

TEST(S2_6__datagrams_name_the_instance)
{
	uint8_t in_a[128], in_b[128];
	gni_post_state_t state;
	uint32_t pe = 0, id = 0;
	struct side a, b;

	ASSERT_EQ(0, two_open(&a, &b));
	MUST(GNI_EpPostData(a.ep, NULL, 0, in_a, 128));
	MUST(GNI_EpPostData(b.ep, NULL, 0, in_b, 128));
	MUST(GNI_EpPostDataWait(a.ep, 10000, &state, &pe, &id));
	EXPECT_EQ(GNI_POST_COMPLETED, state);
	EXPECT_EQ(b.pe, pe);
	EXPECT_EQ(b.id, id);
	side_close(&a);
	side_close(&b);
}

/* ---- 3: modes ---- */

TEST(S3_2__masks_of_clients)
{
	/* libfabric, Open MPI, UCX, LND */
	static const uint32_t common = GNI_CDM_MODE_FAST_DATAGRAM_POLL | GNI_CDM_MODE_FMA_SHARED |
				       GNI_CDM_MODE_ERR_NO_KILL;
	const uint32_t masks[] = {
		common | GNI_CDM_MODE_FMA_SMALL_WINDOW | GNI_CDM_MODE_FORK_PARTCOPY,
		common | GNI_CDM_MODE_FMA_SMALL_WINDOW | GNI_CDM_MODE_FORK_PARTCOPY | GNI_CDM_MODE_MDD_SHARED,
		common | GNI_CDM_MODE_FORK_FULLCOPY | GNI_CDM_MODE_CACHED_AMO_ENABLED,
		0,
	};
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct side s;

		EXPECT_EQ(0, self_open_as(&s, (struct side_options){ .modes = masks[i], .cq = GNI_CQ_NOBLOCK }));
		side_close(&s);
	}
}

static unsigned int posts_that_fit(struct side *s, uint16_t events)
{
	static gni_post_descriptor_t d[4 * CONF_CQ_ENTRIES];
	unsigned int n = 0;

	do {
		d[n] = conf_post(s, side_name(s), GNI_POST_FMA_PUT, 0, 64, 8);
		d[n].cq_mode = events;
	} while (GNI_PostFma(s->ep, &d[n]) == GNI_RC_SUCCESS && ++n < 4 * CONF_CQ_ENTRIES);
	return n;
}

TEST(S3_4__both_events_halve_the_posts)
{
	struct side one, both;
	struct side_options o = { .modes = GNI_CDM_MODE_DUAL_EVENTS, .cq = GNI_CQ_NOBLOCK };
	unsigned int single, half;

	ASSERT_EQ(0, self_open_as(&one, o));
	ASSERT_EQ(0, self_open_as(&both, o));
	single = posts_that_fit(&one, GNI_CQMODE_GLOBAL_EVENT);
	half = posts_that_fit(&both, GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_LOCAL_EVENT);
	EXPECT_LE(CONF_CQ_ENTRIES - 1, single);
	EXPECT_EQ(single / 2, half);
	side_close(&one);
	side_close(&both);
}

TEST(S3_5__cached_atomics_need_their_mode)
{
	struct side plain, cached;
	gni_post_descriptor_t d;

	ASSERT_EQ(0, self_open(&plain));
	ASSERT_EQ(0, self_open_as(&cached, (struct side_options){ .modes = GNI_CDM_MODE_CACHED_AMO_ENABLED,
								  .cq = GNI_CQ_NOBLOCK }));
	d = conf_post(&plain, side_name(&plain), GNI_POST_AMO, 0, 64, 8);
	d.amo_cmd = GNI_FMA_ATOMIC_ADD_C;
	RC(INVALID_PARAM, GNI_PostFma(plain.ep, &d));
	d = conf_post(&cached, side_name(&cached), GNI_POST_AMO, 0, 64, 8);
	d.amo_cmd = GNI_FMA_ATOMIC_ADD_C;
	d.first_operand = 5;
	RC(SUCCESS, conf_fma(&cached, &d));
	EXPECT_EQ(5, *(uint64_t *)(cached.data + 64));
	side_close(&plain);
	side_close(&cached);
}

/* The middle of the region, where all pages belong to it entirely. */
static int child_reads(const uint8_t *page)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		_exit(*(const volatile uint8_t *)page);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(S3_9__pages_that_a_child_gets)
{
	static const struct {
		uint32_t mode;
		int inner, edge; /* 7: a copy */
	} modes[] = { { 0, -SIGSEGV, 7 },
		      { GNI_CDM_MODE_FORK_PARTCOPY, -SIGSEGV, 7 },
		      { GNI_CDM_MODE_FORK_NOCOPY, -SIGSEGV, -SIGSEGV },
		      { GNI_CDM_MODE_FORK_FULLCOPY, 7, 7 } };
	unsigned int i;

	for (i = 0; i < 4; i++) {
		struct side s;
		gni_mem_handle_t mem;
		uint8_t *data = conf_pages(4);

		ASSERT_NE(NULL, data);
		memset(data, 7, 4 * CONF_PAGE);
		ASSERT_EQ(0, self_open_as(&s, (struct side_options){ .modes = modes[i].mode,
								     .cq = GNI_CQ_NOBLOCK }));
		MUST(GNI_MemRegister(s.nic, (uintptr_t)data + 100, 2 * CONF_PAGE, NULL, 0, CONF_NO_VMDH, &mem));
		EXPECT_EQ(modes[i].edge, child_reads(data));
		EXPECT_EQ(modes[i].inner, child_reads(data + CONF_PAGE));
		EXPECT_EQ(7, child_reads(data + 3 * CONF_PAGE));
		MUST(GNI_MemDeregister(s.nic, &mem));
		EXPECT_EQ(7, child_reads(data + CONF_PAGE));
		side_close(&s);
		munmap(data, 4 * CONF_PAGE);
	}
}

/* ---- 8: queues ---- */

TEST(S8_1__no_fewer_entries_than_asked)
{
	struct side s;
	gni_cq_handle_t small;
	gni_mem_handle_t mem;
	gni_cq_entry_t entry;
	int i;

	ASSERT_EQ(0, self_open(&s));
	MUST(GNI_CqCreate(s.nic, 5, 0, GNI_CQ_NOBLOCK, NULL, NULL, &small));
	MUST(GNI_MemRegister(s.nic, (uintptr_t)s.data, CONF_PAGE, small, 0, CONF_NO_VMDH, &mem));
	for (i = 0; i < 5; i++) {
		gni_post_descriptor_t d = conf_post(&s, side_name(&s), GNI_POST_FMA_PUT, 0, 64, 8);

		d.remote_mem_hndl = mem;
		d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
		RC(SUCCESS, conf_fma(&s, &d));
	}
	for (i = 0; i < 5; i++)
		RC(SUCCESS, GNI_CqGetEvent(small, &entry));
	RC(NOT_DONE, GNI_CqGetEvent(small, &entry));
	MUST(GNI_MemDeregister(s.nic, &mem));
	MUST(GNI_CqDestroy(small));
	side_close(&s);
}

static void count_event(gni_cq_entry_t *entry, void *context)
{
	*(unsigned int *)context += entry && *entry;
}

TEST(S8_6__handler_once_for_each_event)
{
	struct side s;
	gni_cq_handle_t cq;
	gni_ep_handle_t ep;
	gni_cq_entry_t entry;
	unsigned int calls = 0;
	gni_post_descriptor_t d, *done;

	ASSERT_EQ(0, self_open(&s));
	MUST(GNI_CqCreate(s.nic, 8, 0, GNI_CQ_NOBLOCK, count_event, &calls, &cq));
	MUST(GNI_EpCreate(s.nic, cq, &ep));
	MUST(GNI_EpBind(ep, s.pe, s.id));
	d = conf_post(&s, side_name(&s), GNI_POST_FMA_PUT, 0, 64, 8);
	MUST(GNI_PostFma(ep, &d));
	MUST(conf_event(cq, &entry));
	EXPECT_EQ(1, calls);
	RC(NOT_DONE, GNI_CqGetEvent(cq, &entry));
	EXPECT_EQ(1, calls);
	/* a failed post has one, too */
	d.remote_addr += 1ull << 30;
	(void)GNI_GetCompleted(cq, entry, &done);
	MUST(GNI_PostFma(ep, &d));
	RC(TRANSACTION_ERROR, conf_event(cq, &entry));
	EXPECT_EQ(2, calls);
	GNI_EpDestroy(ep);
	GNI_CqDestroy(cq);
	side_close(&s);
}

TEST(S8_10__unmanaged_queue_is_never_read)
{
	struct side s;
	gni_cq_handle_t sink;
	gni_mem_handle_t mem;
	int i;

	ASSERT_EQ(0, self_open(&s));
	MUST(GNI_CqCreate(s.nic, 4, 0, GNI_CQ_UNMANAGED, NULL, NULL, &sink));
	MUST(GNI_MemRegister(s.nic, (uintptr_t)s.data, CONF_PAGE, sink, 0, CONF_NO_VMDH, &mem));
	for (i = 0; i < 40; i++) {
		gni_post_descriptor_t d = conf_post(&s, side_name(&s), GNI_POST_FMA_PUT, 0, 64, 8);

		d.remote_mem_hndl = mem;
		d.cq_mode |= GNI_CQMODE_REMOTE_EVENT;
		RC(SUCCESS, conf_fma(&s, &d));
	}
	MUST(GNI_MemDeregister(s.nic, &mem));
	MUST(GNI_CqDestroy(sink));
	side_close(&s);
}

TEST(S8_11__emulated_and_blocking_exclude_each_other)
{
	struct side s;
	gni_cq_handle_t cq;

	ASSERT_EQ(0, self_open(&s));
	RC(INVALID_PARAM, GNI_CqCreate(s.nic, 8, 0, (gni_cq_mode_t)(GNI_CQ_EMULATED | GNI_CQ_BLOCKING), NULL, NULL, &cq));
	RC(SUCCESS, GNI_CqCreate(s.nic, 8, 0, GNI_CQ_PHYS_PAGES, NULL, NULL, &cq));
	MUST(GNI_CqDestroy(cq));
	side_close(&s);
}

TEST_HARNESS_MAIN
