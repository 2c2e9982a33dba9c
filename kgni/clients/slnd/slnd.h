/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * slnd: messages and bulk data between nodes, for a module on top of it.
 *
 * Nodes are identified by the address of their NIC. There is one user at a time. All functions here
 * sleep. All callbacks run in threads of slnd and may sleep.
 */
#ifndef SLND_H
#define SLND_H

#include <linux/types.h>

struct page;
struct slnd_mapping;

#define SLND_MESSAGE_MAX 2032
#define SLND_BULK_PAGES 1024
#define SLND_BULK_MAX (SLND_BULK_PAGES * PAGE_SIZE)

/**
 * struct slnd_buffer - memory for bulk data
 * @pages: SLND_BULK_PAGES at most; the owner keeps them until slnd_unmap()
 * @offset: offset of the first byte in the first page
 * @bytes: length, not 0
 * @mapping: NULL at first; between transfers all other members but the pages may change
 */
struct slnd_buffer {
	struct page **pages;
	u32 offset;
	u32 bytes;
	struct slnd_mapping *mapping;
};

/**
 * struct slnd_offer - bulk data that a peer wants to put here, or get from here
 * @from: peer
 * @put: the peer puts; otherwise it gets
 * @bytes: length
 * @tag: the tag that the peer has given it
 */
struct slnd_offer {
	u32 from;
	bool put;
	u32 bytes;
	u64 tag;
};

/**
 * struct slnd_user - callbacks of the module on top of slnd
 * @message: a message has arrived; @data is valid only during the call
 * @expose: returns the memory for an offer of that length, or a negative errno that is passed to
 *          the peer
 * @exposed: that transfer has ended, with 0 or a negative errno, and the user owns the memory again
 */
struct slnd_user {
	void (*message)(u32 from, const void *data, u32 bytes);
	int (*expose)(const struct slnd_offer *offer, struct slnd_buffer **buffer, void **arg);
	void (*exposed)(void *arg, int status);
};

/* Completion callback with 0 or a negative errno. Called once for each accepted operation. */
typedef void slnd_done_f(void *arg, int status);

int slnd_register(const struct slnd_user *user);
void slnd_unregister(void);
u32 slnd_address(void);
int slnd_send(u32 to, const void *data, u32 bytes, slnd_done_f *done, void *arg);
int slnd_put(u32 to, u64 tag, struct slnd_buffer *buffer, slnd_done_f *done, void *arg);
int slnd_get(u32 to, u64 tag, struct slnd_buffer *buffer, slnd_done_f *done, void *arg);
void slnd_unmap(struct slnd_buffer *buffer);

#endif
