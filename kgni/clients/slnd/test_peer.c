// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/* The side that answers. It verifies and counts what arrives. */
#include <linux/bits.h>
#include <linux/errno.h>

#include "test.h"

atomic64_t st_received; /* of the newest run */
atomic64_t st_damaged;	/* since the module was loaded */
static u64 st_newest_run;

static void st_reply(u32 to, struct st_message reply)
{
	/* without memory there is no answer, and the other side will report that */
	slnd_send(to, &reply, sizeof(reply), NULL, NULL);
}

static void st_count(const struct st_message *message, const void *text, u32 bytes)
{
	if (READ_ONCE(st_newest_run) != message->run) {
		WRITE_ONCE(st_newest_run, message->run);
		atomic64_set(&st_received, 0);
	}
	atomic64_inc(&st_received);
	if (!st_is(text, bytes, message->seq, 0))
		atomic64_inc(&st_damaged);
}

/** st_message() - a message has arrived. Context: a thread of slnd. */
void st_message(u32 from, const void *data, u32 bytes)
{
	struct st_message message;

	if (bytes < sizeof(message)) {
		atomic64_inc(&st_damaged);
		return;
	}
	memcpy(&message, data, sizeof(message));
	switch (message.kind) {
	case ST_PING:
		message.kind = ST_PONG;
		st_reply(from, message);
		break;
	case ST_COUNT:
		st_count(&message, data + sizeof(message), bytes - sizeof(message));
		break;
	case ST_ASK:
		message.kind = ST_TOLD;
		message.seq = message.run == READ_ONCE(st_newest_run) ? atomic64_read(&st_received)
								      : 0;
		st_reply(from, message);
		break;
	case ST_PONG:
	case ST_TOLD:
		st_answer(&message);
		break;
	default:
		atomic64_inc(&st_damaged);
	}
}

/** st_expose() - a peer wants to put or to get. The tag selects the data and their offset. */
int st_expose(const struct slnd_offer *offer, struct slnd_buffer **buffer, void **arg)
{
	struct st_memory *memory = st_memory_get(offer->bytes, offer->tag & (PAGE_SIZE - 1));

	if (!memory)
		return -ENOMEM;
	memory->tag = offer->tag;
	memory->put = offer->put;
	if (!offer->put && (offer->tag & ST_TAG_CHECK))
		st_memory_fill(memory, offer->tag >> 32);
	*buffer = &memory->buffer;
	*arg = memory;
	return 0;
}

/** st_exposed() - the transfer has ended */
void st_exposed(void *arg, int status)
{
	struct st_memory *memory = arg;

	if (memory->put && !status && (memory->tag & ST_TAG_CHECK) &&
	    !st_memory_is(memory, memory->tag >> 32))
		atomic64_inc(&st_damaged);
	st_memory_put(memory);
}
