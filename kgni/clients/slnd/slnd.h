/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slnd: messages and bulk data between nodes, for one module on top of it, as LNet is on top of
 * gnilnd. Nodes are identified by the address of their NIC. All functions sleep. Callbacks run in
 * threads of slnd; of these functions they may call slnd_send() and slnd_transfer().
 */
#ifndef SLND_H
#define SLND_H

#include <linux/list.h>
#include <linux/types.h>

#include "gni_pub.h"

struct page;

#define SLND_MESSAGE_MAX 2032
#define SLND_BULK_PAGES 1024
#define SLND_BULK_MAX (SLND_BULK_PAGES * PAGE_SIZE)

/**
 * struct slnd_buffer - memory for bulk data, zeroed before its first use
 * @pages: SLND_BULK_PAGES at most; they stay until slnd_unmap()
 * @offset: of the first byte in the first page; may change between transfers, as @bytes may
 * @bytes: length, not 0
 * @done: called once for each transfer, with 0 or a negative errno
 * @mapped: slnd's: number of registered pages
 * @handle: slnd's: their registration
 * @node: slnd's: in the list of registered buffers
 */
struct slnd_buffer {
	struct page **pages;
	u32 offset;
	u32 bytes;
	void (*done)(struct slnd_buffer *buffer, int status);
	u32 mapped;
	gni_mem_handle_t handle;
	struct list_head node;
};

/**
 * struct slnd_user - callbacks of the module on top of slnd
 * @message: a message has arrived; @data is valid only during the call
 * @expose: a peer wants to put or to get; returns memory until slnd_buffer.done, or an ERR_PTR()
 */
struct slnd_user {
	void (*message)(u32 from, const void *data, u32 bytes);
	struct slnd_buffer *(*expose)(bool put, u32 bytes, u64 tag);
};

typedef void slnd_done_f(void *arg, int status);

int slnd_register(const struct slnd_user *user);
void slnd_unregister(void);
u32 slnd_address(void);
int slnd_send(u32 to, const void *data, u32 bytes, slnd_done_f *done, void *arg);
int slnd_transfer(u32 to, bool put, u64 tag, struct slnd_buffer *buffer);
void slnd_unmap(struct slnd_buffer *buffer);

#endif
