/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/* The message test: one node runs it, its peer answers. */
#ifndef SLND_TEST_H
#define SLND_TEST_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/wait.h>

#include "slnd.h"

#define ST_THREADS_MAX 16
#define ST_WINDOW_MAX 64
#define ST_TAG_CHECK BIT_ULL(31)

/**
 * enum st_kind - kind of a test message
 * @ST_PING: send it back as ST_PONG
 * @ST_PONG: the answer
 * @ST_COUNT: one of many
 * @ST_ASK: asks how many have arrived
 * @ST_TOLD: answer to ST_ASK: their number is in seq
 */
enum st_kind { ST_PING = 1, ST_PONG, ST_COUNT, ST_ASK, ST_TOLD };

/**
 * struct st_message - beginning of each message; a pattern follows
 * @kind: enum st_kind
 * @thread: number of the thread that sends it
 * @seq: number
 * @run: id of the run that it belongs to
 */
struct st_message {
	u32 kind;
	u32 thread;
	u64 seq;
	u64 run;
};

/**
 * struct st_memory - pages for bulk data
 * @node: in the list of free ones
 * @buffer: with @pages
 * @tag: of the transfer
 * @put: direction
 * @pages: pages for the largest transfer
 */
struct st_memory {
	struct list_head node;
	struct slnd_buffer buffer;
	u64 tag;
	bool put;
	struct page *pages[SLND_BULK_PAGES];
};

/* test_data.c */
void st_fill(void *at, u32 bytes, u32 seed, u32 position);
bool st_is(const void *at, u32 bytes, u32 seed, u32 position);
void st_memory_fill(struct st_memory *memory, u32 seed);
bool st_memory_is(struct st_memory *memory, u32 seed);
struct st_memory *st_memory_get(u32 bytes, u32 offset);
void st_memory_put(struct st_memory *memory);
void st_memory_free(void);

/* test_peer.c */
extern atomic64_t st_received;
extern atomic64_t st_damaged;
int st_expose(const struct slnd_offer *offer, struct slnd_buffer **buffer, void **arg);
void st_exposed(void *arg, int status);
void st_message(u32 from, const void *data, u32 bytes);

/* test_run.c */
struct st_run;

extern wait_queue_head_t st_wq;

void st_answer(const struct st_message *message);
int st_run_text(char *text);
void st_stop(void);

/* test_main.c */
void st_result(const char *format, ...) __printf(1, 2);

#endif
