// SPDX-License-Identifier: GPL-2.0-only
/*
 * One side of channel sends between nodes; the cluster's tests run it, alone it is none.
 *
 *   receive_peer take COOKIE CHANNEL COUNT BYTES
 *       posts COUNT receives of BYTES each, waits for their messages and checks them
 *   receive_peer send COOKIE CHANNEL PE COUNT BYTES
 *       COUNT messages of BYTES, each tried for 20 s or more while nobody receives
 *   receive_peer once COOKIE CHANNEL PE BYTES
 *       one try
 *   receive_peer withdraw COOKIE CHANNEL ROUNDS BYTES
 *       posts a receive and takes it back, mostly in the middle of its message
 *   receive_peer job|suspend|resume|destroy COOKIE
 *       of the domain on this node
 *
 * Lines: "posted", "PE BYTES ok|bad" for each message, "status N" for a try, "done N cancelled N".
 * Exit status: 0 fine, 1 wrong data, 2 wrong usage or a call that failed, 3 time is up.
 */
#include "recv.h"

static struct raw r;
static struct raw_cq q;
static struct kgni_mem_register mem;
static uint8_t *data;

static uint32_t number(const char *text)
{
	return (uint32_t)strtoul(text, NULL, 0);
}

static void must(int rc, const char *what)
{
	if (!rc)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(rc < 0 ? -rc : rc));
	exit(2);
}

static void say(const char *line)
{
	puts(line);
	fflush(stdout);
}

static uint8_t pattern(uint32_t n, size_t i)
{
	return (uint8_t)(n * 31 + i * 7 + i / 4096 + 1);
}

static void begin(const char *cookie, size_t bytes)
{
	must(raw_open(&r, number(cookie)), "attach");
	must(raw_cq(&r, &q, 64, 0), "queue");
	data = aries_pages(bytes / ARIES_PAGE + 1);
	must(!data, "memory");
	must(aries_register(r.fd, data, bytes, 0, q.c.cq, &mem), "register");
}

/* The first byte tells which message it is. */
static int intact(const uint8_t *at, size_t bytes)
{
	size_t i;

	for (i = 1; i < bytes; i++)
		if (at[i] != pattern(at[0], i))
			return 0;
	return 1;
}

static int take(uint32_t channel, uint32_t count, uint32_t bytes)
{
	int nr[KGNI_RECV_LIMIT], bad = 0;
	uint32_t n;

	for (n = 0; n < count; n++) {
		nr[n] = recv_post(r.fd, mem.mdh, data + (size_t)n * bytes, bytes, channel, q.c.cq);
		must(nr[n] < 0 ? nr[n] : 0, "post");
	}
	say("posted");
	for (n = 0; n < count; n++) {
		struct kgni_recv_test t;
		int good;

		if (!raw_poll(&q, 60000))
			return 3;
		/* receives are filled in the order of posting, but end in any */
		while (recv_test(r.fd, nr[n], &t) != KGNI_RECV_DONE)
			usleep(1000);
		good = intact(data + (size_t)n * bytes, t.bytes);
		bad |= !good;
		printf("%u %u %s\n", t.pe, t.bytes, good ? "ok" : "bad");
	}
	return bad;
}

static uint32_t try_send(uint32_t channel, uint32_t pe, uint32_t n, uint32_t bytes)
{
	size_t i;

	for (i = 1; i < bytes; i++)
		data[i] = pattern(n, i);
	data[0] = (uint8_t)n;
	return send_to(&r, &q, pe, channel, mem.mdh, data, bytes);
}

static int send_all(uint32_t channel, uint32_t pe, uint32_t count, uint32_t bytes)
{
	uint32_t n, tries, status = 0;

	for (n = 0; n < count; n++) {
		for (tries = 0; tries < 10000; tries++) {
			status = try_send(channel, pe, n, bytes);
			if (status != ARIES_ST_NO_RECEIVE && status != ARIES_ST_FLUSHED)
				break;
			usleep(2000);
		}
		if (status == ARIES_ST_NO_RECEIVE || status == ARIES_ST_FLUSHED)
			return 3;
		if (status) {
			printf("status %u\n", status);
			return 2;
		}
	}
	return 0;
}

/* Until the message of a receive has begun to come; its state then. */
static int await_message(int nr)
{
	int state, tries;

	for (tries = 0; tries < 20000; tries++) {
		state = recv_test(r.fd, nr, NULL);
		if (state != KGNI_RECV_PENDING)
			return state;
		usleep(100);
	}
	return KGNI_RECV_PENDING;
}

static int withdraw(uint32_t channel, uint32_t rounds, uint32_t bytes)
{
	uint32_t n, done = 0, cancelled = 0;
	size_t i;

	say("posted");
	for (n = 0; n < rounds; n++) {
		int nr = recv_post(r.fd, mem.mdh, data, bytes, channel, q.c.cq), state = -1;
		struct kgni_recv_cancel c;
		uint64_t entry;

		must(nr < 0 ? nr : 0, "post");
		if (n % 4)
			state = await_message(nr); /* a piece of it is being written now */
		else
			usleep(n * 500);
		if (state != KGNI_RECV_DONE)
			state = recv_cancel(r.fd, nr, &c);
		must(state < 0 ? state : 0, "cancel");
		done += state == KGNI_RECV_DONE;
		cancelled += state == KGNI_RECV_CANCELLED;
		/* nobody writes any more: a mark in each page stays */
		for (i = 0; i < bytes; i += ARIES_PAGE)
			data[i] = (uint8_t)~pattern(0, i);
		usleep(3000);
		for (i = 0; i < bytes; i += ARIES_PAGE)
			if (data[i] != (uint8_t)~pattern(0, i))
				return 1;
		entry = raw_poll(&q, state == KGNI_RECV_DONE ? 1000 : 0);
		if (!entry != (state != KGNI_RECV_DONE))
			return 1;
	}
	printf("done %u cancelled %u\n", done, cancelled);
	return 0;
}

#define JOB 4712

static int of_job(const char *what, uint32_t cookie)
{
	struct kgni_job job = { .argsz = sizeof(job), .job_id = JOB, .cookie = cookie,
				.ptag = ARIES_ANY_PTAG, .limit_mdd = -1, .limit_cq = -1,
				.limit_fma = -1 };
	struct kgni_suspend arg = { .argsz = sizeof(arg), .job_id = JOB, .cookie = cookie,
				    .ptag = ARIES_ANY_PTAG, .timeout_ms = 1000 };
	int fd = aries_open();

	if (!strcmp(what, "destroy"))
		job.flags = KGNI_JOB_DESTROY;
	if (!strcmp(what, "resume"))
		arg.flags = KGNI_SUSPEND_RESUME;
	if (!strcmp(what, "job") || !strcmp(what, "destroy"))
		must(aries_ioctl(fd, KGNI_IOC_JOB, &job), what);
	else
		must(aries_ioctl(fd, KGNI_IOC_SUSPEND, &arg), what);
	return 0;
}

int main(int argc, char **argv)
{
	const uint32_t channel = argc > 3 ? number(argv[3]) : 0;

	if (argc == 3)
		return of_job(argv[1], number(argv[2]));
	if (argc == 6 && !strcmp(argv[1], "take") && number(argv[4]) <= KGNI_RECV_LIMIT) {
		begin(argv[2], (size_t)number(argv[4]) * number(argv[5]));
		return take(channel, number(argv[4]), number(argv[5]));
	}
	if (argc == 6 && !strcmp(argv[1], "once")) {
		begin(argv[2], number(argv[5]));
		printf("status %u\n", try_send(channel, number(argv[4]), 1, number(argv[5])));
		return 0;
	}
	if (argc == 6 && !strcmp(argv[1], "withdraw")) {
		begin(argv[2], number(argv[5]));
		return withdraw(channel, number(argv[4]), number(argv[5]));
	}
	if (argc == 7 && !strcmp(argv[1], "send")) {
		begin(argv[2], number(argv[6]));
		return send_all(channel, number(argv[4]), number(argv[5]), number(argv[6]));
	}
	return 2;
}
