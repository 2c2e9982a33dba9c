// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* The side that runs a test: threads that send, put or get, each with a window. */
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "test.h"

/**
 * struct st_slot - one operation in flight
 * @thread: thread that it belongs to
 * @memory: memory of a transfer
 * @seed: seed of its data
 * @busy: it is in flight
 * @status: how it ended
 */
struct st_slot {
	struct st_thread *thread;
	struct st_memory *memory;
	u32 seed;
	bool busy;
	int status;
};

/**
 * struct st_thread - a test thread
 * @task: its task
 * @number: its number
 * @pong: number of the last answer
 * @slots: the window
 * @ok: operations that succeeded
 * @failed: operations that failed
 * @damaged: operations with wrong data
 * @ns: time that the thread took
 * @over: it has ended
 */
struct st_thread {
	struct task_struct *task;
	u32 number;
	u64 pong;
	struct st_slot slots[ST_WINDOW_MAX];
	u64 ok;
	u64 failed;
	u64 damaged;
	u64 ns;
	bool over;
};

enum st_test { ST_LATENCY, ST_RATE, ST_PUT, ST_GET, ST_TESTS };

static const char *const st_tests[] = { "latency", "rate", "put", "get" };

/* Parameters: their names, minima, maxima and defaults. */
enum {
	P_PEER,
	P_BYTES,
	P_COUNT,
	P_THREADS,
	P_WINDOW,
	P_OFFSET,
	P_FAR,
	P_CHECK,
	P_SPOIL,
	P_WAIT,
	P_N,
};

static const struct {
	const char *name;
	u32 least, most, usual;
} st_parameters[] = {
	[P_PEER] = { "peer", 0, U32_MAX, 0 },
	[P_BYTES] = { "bytes", 0, SLND_BULK_MAX, 0 },
	[P_COUNT] = { "count", 1, INT_MAX, 1000 },
	[P_THREADS] = { "threads", 1, ST_THREADS_MAX, 1 },
	[P_WINDOW] = { "window", 1, ST_WINDOW_MAX, 8 },
	[P_OFFSET] = { "offset", 0, PAGE_SIZE - 1, 0 },
	[P_FAR] = { "far_offset", 0, PAGE_SIZE - 1, 0 },
	[P_CHECK] = { "check", 0, 1, 1 },
	[P_SPOIL] = { "spoil", 0, 1, 0 },
	[P_WAIT] = { "wait", 1, 3600, 120 },
};

static struct {
	enum st_test test;
	u32 p[P_N];
	u64 id;
	bool told;
	u64 came;
	bool stop;
	struct st_thread threads[ST_THREADS_MAX];
} st;

DECLARE_WAIT_QUEUE_HEAD(st_wq); /* for all threads and all answers */

/* Everything stored before is visible to a thread that finds the flag set. */
static void st_set(bool *flag, bool value)
{
	smp_store_release(flag, value); /* pairs with st_is_set() */
	wake_up_all(&st_wq);
}

static bool st_is_set(const bool *flag)
{
	return smp_load_acquire(flag); /* pairs with st_set() */
}

/** st_stop() - make the test end soon. Context: any. */
void st_stop(void)
{
	st_set(&st.stop, true);
}

/** st_answer() - the peer has answered. Context: a thread of slnd. */
void st_answer(const struct st_message *message)
{
	if (message->run != READ_ONCE(st.id) || message->thread >= ST_THREADS_MAX)
		return;
	if (message->kind == ST_TOLD) {
		st.came = message->seq;
		st_set(&st.told, true);
	} else {
		WRITE_ONCE(st.threads[message->thread].pong, message->seq);
		wake_up_all(&st_wq);
	}
}

static bool st_wait(struct st_slot *slot)
{
	return wait_event_idle_timeout(st_wq, !st_is_set(&slot->busy), st.p[P_WAIT] * HZ);
}

static void st_done(void *arg, int status)
{
	struct st_slot *slot = arg;

	slot->status = status;
	st_set(&slot->busy, false);
}

/* Count the result of a slot, if it was used. */
static void st_reap(struct st_slot *slot)
{
	struct st_thread *t = slot->thread;

	if (!slot->memory)
		return;
	if (slot->status)
		t->failed++;
	else if (st.test == ST_GET && st.p[P_CHECK] && !st_memory_is(slot->memory, slot->seed))
		t->damaged++;
	else
		t->ok++;
	st_memory_put(slot->memory);
	slot->memory = NULL;
}

/* Start a transfer. */
static int st_transfer(struct st_slot *slot, u64 n)
{
	struct st_memory *memory = st_memory_get(st.p[P_BYTES], st.p[P_OFFSET]);
	u32 seed = (u32)st.id + slot->thread->number * 0x1000193 + n;
	u64 tag = (u64)seed << 32 | (st.p[P_CHECK] ? ST_TAG_CHECK : 0) | st.p[P_FAR];

	if (!memory)
		return -ENOMEM;
	slot->memory = memory;
	slot->seed = seed + st.p[P_SPOIL];
	slot->busy = true;
	if (st.p[P_CHECK] && st.test == ST_PUT)
		st_memory_fill(memory, slot->seed);
	if (st.test == ST_PUT)
		return slnd_put(st.p[P_PEER], tag, &memory->buffer, st_done, slot);
	return slnd_get(st.p[P_PEER], tag, &memory->buffer, st_done, slot);
}

static int st_send(struct st_thread *t, u32 kind, u64 n, void *text, slnd_done_f *done, void *arg)
{
	struct st_message *message = text;

	*message = (struct st_message){ kind, t->number, n, st.id };
	if (st.p[P_CHECK])
		st_fill(message + 1, st.p[P_BYTES] - sizeof(*message), n + st.p[P_SPOIL], 0);
	return slnd_send(st.p[P_PEER], text, st.p[P_BYTES], done, arg);
}

/* Send one message and wait for its answer. */
static void st_ping(struct st_thread *t, u64 n, void *text)
{
	if (!st_send(t, ST_PING, n, text, NULL, NULL) &&
	    wait_event_idle_timeout(st_wq, READ_ONCE(t->pong) == n || READ_ONCE(st.stop),
				    st.p[P_WAIT] * HZ) &&
	    READ_ONCE(t->pong) == n)
		t->ok++;
	else
		t->failed++;
}

static void st_message_done(void *arg, int status)
{
	struct st_slot *slot = arg;

	if (status)
		slot->thread->failed++;
	else
		slot->thread->ok++;
	st_done(arg, status);
}

/* Start the next operation in its slot, once that is free. */
static bool st_next(struct st_thread *t, u64 n, void *text)
{
	struct st_slot *slot = &t->slots[n % st.p[P_WINDOW]];
	int rc;

	if (st.test == ST_LATENCY) {
		st_ping(t, n + 1, text);
		return true;
	}
	if (!st_wait(slot))
		return false;
	st_reap(slot);
	slot->thread = t;
	if (st.test == ST_RATE) {
		slot->busy = true;
		rc = st_send(t, ST_COUNT, n, text, st_message_done, slot);
	} else {
		rc = st_transfer(slot, n);
	}
	if (rc)
		st_done(slot, rc);
	return true;
}

static int st_thread(void *arg)
{
	struct st_thread *t = arg;
	u64 begin = ktime_get_ns(), n;
	void *text = kmalloc(SLND_MESSAGE_MAX, GFP_KERNEL);
	bool going = text;
	u32 i;

	for (n = 0; going && n < st.p[P_COUNT] && !READ_ONCE(st.stop); n++)
		going = st_next(t, n, text);
	/* slnd reports the end of each operation, so these waits end */
	for (i = 0; i < st.p[P_WINDOW] && st.test != ST_LATENCY; i++) {
		wait_event(st_wq, !st_is_set(&t->slots[i].busy));
		st_reap(&t->slots[i]);
	}
	t->ns = ktime_get_ns() - begin;
	kfree(text);
	st_set(&t->over, true);
	while (!kthread_should_stop())
		wait_event_interruptible(st_wq, kthread_should_stop());
	return 0;
}

/* Return: 0; -EINVAL, then the result says what is wrong. */
static int st_parse(char *text)
{
	char *word, *value;
	u32 i;

	for (i = 0; i < P_N; i++)
		st.p[i] = st_parameters[i].usual;
	st.test = ST_TESTS;
	while ((word = strsep(&text, "\n "))) {
		if (!*word)
			continue;
		value = strchr(word, '=');
		if (!value)
			goto bad;
		*value++ = '\0';
		if (!strcmp(word, "test")) {
			i = match_string(st_tests, ST_TESTS, value);
			if ((int)i < 0)
				goto bad;
			st.test = i;
			continue;
		}
		for (i = 0; i < P_N && strcmp(word, st_parameters[i].name); i++)
			;
		if (i == P_N || kstrtou32(value, 0, &st.p[i]) || st.p[i] < st_parameters[i].least ||
		    st.p[i] > st_parameters[i].most)
			goto bad;
	}
	if (st.test == ST_TESTS) {
		st_result("not ok: no test given\n");
		return -EINVAL;
	}
	if (st.test == ST_LATENCY || st.test == ST_RATE)
		st.p[P_BYTES] =
			clamp_t(u32, st.p[P_BYTES], sizeof(struct st_message), SLND_MESSAGE_MAX);
	if (st.p[P_BYTES] && st.p[P_BYTES] + max(st.p[P_OFFSET], st.p[P_FAR]) <= SLND_BULK_MAX)
		return 0;
	st_result("not ok: so many bytes do not fit\n");
	return -EINVAL;
bad:
	st_result("not ok: %s is no parameter, or its value none\n", word);
	return -EINVAL;
}

/*
 * Ask the peer how many messages of this run it has received. All of them were sent before this
 * request.
 */
static u64 st_ask(void)
{
	struct st_message message = { ST_ASK, 0, 0, st.id };

	if (!slnd_send(st.p[P_PEER], &message, sizeof(message), NULL, NULL))
		wait_event_idle_timeout(st_wq, st_is_set(&st.told), st.p[P_WAIT] * HZ);
	return st.told ? st.came : 0;
}

static void st_report(u64 ns)
{
	u64 ok = 0, failed = 0, damaged = 0, came = st.test == ST_RATE ? st_ask() : 0;
	u32 i;

	for (i = 0; i < st.p[P_THREADS]; i++) {
		ok += st.threads[i].ok;
		failed += st.threads[i].failed;
		damaged += st.threads[i].damaged;
	}
	st_result("test=%s bytes=%u count=%u threads=%u ", st_tests[st.test], st.p[P_BYTES],
		  st.p[P_COUNT], st.p[P_THREADS]);
	st_result("ok=%llu failed=%llu damaged=%llu came=%llu ", ok, failed, damaged, came);
	st_result("ns=%llu per_second=%llu mib_per_second=%llu\n", ns,
		  div64_u64(ok * NSEC_PER_SEC, ns),
		  div64_u64(ok * st.p[P_BYTES] * 1000, ns) * 1000000 >> 20);
}

/**
 * st_run_text() - run the test that a line of parameters describes
 * @text: the line; it is modified
 *
 * Context: sleeps. Return: 0 or a negative errno. The result is written by st_result().
 */
int st_run_text(char *text)
{
	int rc = st_parse(text);
	u64 begin;
	u32 i;

	if (rc)
		return rc;
	memset(st.threads, 0, sizeof(st.threads));
	st.told = false;
	st.stop = false;
	WRITE_ONCE(st.id, get_random_u64());
	begin = ktime_get_ns();
	for (i = 0; i < st.p[P_THREADS]; i++) {
		st.threads[i].number = i;
		st.threads[i].task = kthread_run(st_thread, &st.threads[i], "slnd_test/%u", i);
		if (IS_ERR(st.threads[i].task)) {
			rc = PTR_ERR(st.threads[i].task);
			st_stop();
			break;
		}
	}
	while (i--) {
		wait_event_idle(st_wq, st_is_set(&st.threads[i].over));
		kthread_stop(st.threads[i].task);
	}
	if (rc)
		st_result("not ok: %d\n", rc);
	else
		st_report(ktime_get_ns() - begin);
	return rc;
}
