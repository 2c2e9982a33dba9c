/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests with two ranks. Both run the same body and ask for pair->rank.
 *
 *	PAIR_TEST(GNI_SmsgSend__SUCCESS__peer_reads_it)
 *	{
 *		struct side s;
 *		...pair_open(pair, &s)...
 *		if (pair->rank == 0) ... else ...
 *		pair_meet(pair);
 *	}
 *	TEST_HARNESS_MAIN
 *
 * Alone, a test forks its second rank. Started by a launcher as a job of two (PMI), the ranks are on
 * their nodes and go through the tests together; what they tell each other goes by PMI. A rank that
 * fails leaves its test; the other one notices at the next meeting, fails too, and both meet again at
 * the next test.
 */
#ifndef PAIR_H
#define PAIR_H

#include <limits.h>
#include <pthread.h>
#include <sys/socket.h>

#include <pmi.h>

#include "conformance.h"

/* Bytes of one exchange. */
#define PAIR_BYTES 400

struct pair {
	struct __test_metadata *metadata;
	int rank;
	int fd;	   /* to the other rank, or to the thread that speaks PMI */
	pid_t pid; /* second rank of this machine, in the first one */
	int test;  /* number of the test in the program */
	int step;
	uint32_t cookie;
};

/* One message; both ranks send one and get the other's. */
struct pair_message {
	int serial; /* of the request to the thread */
	int test;
	int step; /* 0: begins the test */
	uint32_t cookie;
	uint8_t bytes[PAIR_BYTES];
};

/* A job of two that a launcher has started: its rank, else -1. */
static int pair_job_rank = -1;
static int pair_job_fd = -1;
static uint32_t pair_job_cookie;

/* ---- The thread that speaks PMI ---- */

static inline void pair_hex(char *text, const uint8_t *bytes, size_t count)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < count; i++) {
		*text++ = digits[bytes[i] >> 4];
		*text++ = digits[bytes[i] & 15];
	}
	*text = '\0';
}

static inline void pair_unhex(uint8_t *bytes, const char *text, size_t count)
{
	unsigned int value;
	size_t i;

	for (i = 0; i < count && sscanf(text + 2 * i, "%2x", &value) == 1; i++)
		bytes[i] = (uint8_t)value;
}

/* Exchanges @m with the other rank; 0 or a PMI code. */
static inline int pair_by_pmi(struct pair_message *m)
{
	static unsigned int count;
	char space[256], key[64], text[2 * sizeof(*m) + 1];
	int rc = PMI_KVS_Get_my_name(space, sizeof(space));

	snprintf(key, sizeof(key), "pair-%u-%d", count, pair_job_rank);
	pair_hex(text, (const uint8_t *)m, sizeof(*m));
	if (!rc)
		rc = PMI_KVS_Put(space, key, text);
	if (!rc)
		rc = PMI_KVS_Commit(space);
	if (!rc)
		rc = PMI_Barrier();
	snprintf(key, sizeof(key), "pair-%u-%d", count++, !pair_job_rank);
	if (!rc)
		rc = PMI_KVS_Get(space, key, text, sizeof(text));
	if (!rc)
		pair_unhex((uint8_t *)m, text, sizeof(*m));
	return rc;
}

static inline void *pair_thread(void *arg)
{
	int fd = (int)(intptr_t)arg, serial, rc;
	struct pair_message m;

	while (recv(fd, &m, sizeof(m), 0) == sizeof(m)) {
		serial = m.serial;
		rc = pair_by_pmi(&m);
		if (rc) {
			fprintf(stderr, "# PMI: code %d\n", rc);
			break;
		}
		m.serial = serial;
		if (send(fd, &m, sizeof(m), MSG_NOSIGNAL) != sizeof(m))
			break;
	}
	close(fd);
	return NULL;
}

/* ---- Exchanges ---- */

/* Gives @m, gets the other rank's; whether that worked. */
static inline int pair_message(int fd, struct pair_message *m)
{
	static int count;
	int serial = (int)(getpid() << 8) + (++count & 0xff);

	m->serial = serial;
	if (send(fd, m, sizeof(*m), MSG_NOSIGNAL) != sizeof(*m))
		return 0;
	do {
		if (recv(fd, m, sizeof(*m), 0) != sizeof(*m))
			return 0;
		/* The thread may still have an answer for a test that was ended. */
	} while (pair_job_rank >= 0 && m->serial != serial);
	return 1;
}

/* Says that test @test begins (INT_MAX: there are no more) until the other rank does; whether it does. */
static inline int pair_meet_at(struct pair *pair, int test)
{
	struct pair_message m;

	do {
		memset(&m, 0, sizeof(m));
		m.test = test;
		m.cookie = pair->cookie;
		if (!pair_message(pair->fd, &m))
			return 0;
	} while (m.test < test || m.step);
	/* The first rank's domain is that of both. */
	if (pair->rank)
		pair->cookie = m.cookie;
	return m.test == test;
}

/* The harness of Linux 6.12 has an exit code in place of a word for "passed". */
#ifdef FIXTURE_TEARDOWN_PARENT
#define pair_passed(metadata) __test_passed(metadata)
#define pair_set_failed(metadata) ((metadata)->exit_code = KSFT_FAIL)
#else
#define pair_passed(metadata) ((metadata)->passed)
#define pair_set_failed(metadata) ((metadata)->passed = 0)
#endif

static inline void pair_fail(struct pair *pair, const char *why)
{
	struct __test_metadata *_metadata = pair->metadata;

	TH_LOG("rank %d: %s", pair->rank, why);
	pair_set_failed(_metadata);
	__bail(1, _metadata);
}

/* Each rank gives @bytes (PAIR_BYTES at most) and gets those of the other; also a barrier. */
static inline void pair_swap(struct pair *pair, const void *mine, void *theirs, size_t bytes)
{
	struct pair_message m;
	int step = ++pair->step;

	memset(&m, 0, sizeof(m));
	m.test = pair->test;
	m.step = step;
	if (bytes > sizeof(m.bytes)) {
		pair_fail(pair, "too many bytes for one exchange");
		return;
	}
	memcpy(m.bytes, mine, bytes);
	if (!pair_message(pair->fd, &m) || m.test != pair->test || m.step != step) {
		pair_fail(pair, "the other rank has left the test");
		return;
	}
	memcpy(theirs, m.bytes, bytes);
}

/* Returns when both ranks have called it. */
static inline void pair_meet(struct pair *pair)
{
	char none = 0;

	pair_swap(pair, &none, &none, sizeof(none));
}

/* ---- A test's beginning and end ---- */

static inline int pair_number(const struct __test_metadata *wanted)
{
	struct __test_metadata *t = wanted->fixture->tests;
	int number = 1;

	for (; t && t != wanted; t = t->next)
		number++;
	return number;
}

static inline void pair_begin(struct __test_metadata *_metadata, struct pair *pair)
{
	int ends[2];

	memset(pair, 0, sizeof(*pair));
	pair->metadata = _metadata;
	pair->test = pair_number(_metadata);
	pair->cookie = conf_cookie();
	if (pair_job_rank >= 0) {
		pair->rank = pair_job_rank;
		pair->fd = pair_job_fd;
		pair->cookie = pair_job_cookie;
	} else {
		ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
		fflush(NULL);
		pair->pid = fork();
		ASSERT_LE(0, pair->pid);
		pair->rank = pair->pid == 0;
		pair->fd = ends[pair->rank];
		close(ends[!pair->rank]);
	}
	ASSERT_NE(0, pair_meet_at(pair, pair->test)) {
		TH_LOG("rank %d: the other rank is in a later test", pair->rank);
	}
}

static inline void pair_end(struct __test_metadata *_metadata, struct pair *pair)
{
	int status = 0;

	if (pair_job_rank >= 0)
		return;
	close(pair->fd);
	if (pair->rank)
		_exit(pair_passed(_metadata) ? 0 : 1);
	waitpid(pair->pid, &status, 0);
	EXPECT_EQ(0, status) {
		TH_LOG("rank 1 failed");
	}
}

#define PAIR_TEST(name)                                                                              \
	static void name##_pair(struct __test_metadata *_metadata, struct pair *pair);               \
	TEST(name)                                                                                   \
	{                                                                                            \
		struct pair pair;                                                                    \
												 \
		pair_begin(_metadata, &pair);                                                        \
		name##_pair(_metadata, &pair);                                                       \
		pair_end(_metadata, &pair);                                                          \
	}                                                                                            \
	static void name##_pair(struct __test_metadata __attribute__((unused)) *_metadata,           \
				struct pair __attribute__((unused)) *pair)

/* Opens this rank's side, tells the other one and binds the endpoint to it. 0, or the step that failed. */
static inline int pair_open_as(struct pair *pair, struct side *s, struct side_name *peer,
			       struct side_options o)
{
	struct side_name mine;
	int step = side_open_as(s, pair->cookie, (uint32_t)pair->rank + 1, o);

	if (step)
		return step;
	mine = side_name(s);
	pair_swap(pair, &mine, peer, sizeof(mine));
	return GNI_EpBind(s->ep, peer->pe, peer->id) ? 8 : 0;
}

static inline int pair_open(struct pair *pair, struct side *s, struct side_name *peer)
{
	return pair_open_as(pair, s, peer, (struct side_options){ .cq = GNI_CQ_NOBLOCK });
}

/* ---- The program's beginning and end ---- */

static inline void pair_no_more(void)
{
	struct pair pair = { .rank = pair_job_rank, .fd = pair_job_fd };

	(void)pair_meet_at(&pair, INT_MAX);
}

/* Finds its place in a job of two; without a launcher there is nothing to do. Before main(). */
__attribute__((constructor)) static void pair_join_job(void)
{
	const char *cookie = getenv("PMI_GNI_COOKIE");
	int spawned, size = 1, rank = 0, ends[2];
	pthread_t thread;

	if (!getenv("PMI_RANK") || !cookie)
		return;
	if (PMI_Init(&spawned) || PMI_Get_size(&size) || PMI_Get_rank(&rank) || size != 2)
		conf_skip_all("needs a job of two ranks, or none");
	pair_job_cookie = (uint32_t)strtoul(cookie, NULL, 0);
	pair_job_rank = rank;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) ||
	    pthread_create(&thread, NULL, pair_thread, (void *)(intptr_t)ends[1]))
		conf_skip_all("no thread for PMI");
	pair_job_fd = ends[0];
	atexit(pair_no_more);
}

#endif /* PAIR_H */
