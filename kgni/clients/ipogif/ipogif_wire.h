/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * What nodes tell each other. Two nodes that want to talk exchange a datagram each (struct
 * ipogif_hello) and have a connection then: a mailbox on either side. All that follows are short
 * messages that begin with struct ipogif_wire:
 *
 *   FRAME   a frame that fits; or the beginning of one, whose rest is in a buffer of the receiver
 *   ASK     the sender has frames that need buffers
 *   OFFER   the sender's buffers (struct ipogif_offer): where frames are put
 *   STATE   nothing but what every message tells: frames received, buffers that are free again
 *   PING    the same, and asks for a STATE
 *   CLOSE   the last message of its sender
 *
 * Nodes of one system are of one byte order; a hello of another one is not understood.
 */
#ifndef IPOGIF_WIRE_H
#define IPOGIF_WIRE_H

#include <linux/build_bug.h>
#include <linux/types.h>
#include <linux/virtio_net.h>

#include "gni_pub.h"

#define IPOGIF_MAGIC 0x49506f47u
#define IPOGIF_VERSION 1u

/* A short message of this length is one doorbell of the NIC. */
#define IPOGIF_MESSAGE 2032u
#define IPOGIF_INLINE (IPOGIF_MESSAGE - sizeof(struct ipogif_wire))

/* What comes before it is in the message in any case: the headers of most protocols. */
#define IPOGIF_HEADERS 128u

#define IPOGIF_BUFFER_ORDER 4
#define IPOGIF_BUFFER (PAGE_SIZE << IPOGIF_BUFFER_ORDER)
#define IPOGIF_BUFFERS_MAX 64u

enum ipogif_type {
	IPOGIF_FRAME = 1,
	IPOGIF_ASK,
	IPOGIF_OFFER,
	IPOGIF_STATE,
	IPOGIF_PING,
	IPOGIF_CLOSE,
};

/**
 * struct ipogif_hello - a datagram: who wants to talk, and its mailbox
 * @magic: IPOGIF_MAGIC
 * @version: IPOGIF_VERSION
 * @incarnation: another one each time that the interface comes up
 * @id: of the connection there; goes with events about its messages
 * @mailbox: where to send
 */
struct ipogif_hello {
	u32 magic;
	u32 version;
	u32 incarnation;
	u32 id;
	gni_smsg_attr_t mailbox;
};

static_assert(sizeof(struct ipogif_hello) <= GNI_DATAGRAM_MAXSIZE);

/**
 * struct ipogif_wire - beginning of each message
 * @type: IPOGIF_*
 * @buffer: with FRAME and @rest, which of the receiver's buffers has it
 * @bytes: that follow here
 * @rest: with FRAME, bytes of it that are in a buffer
 * @received: FRAMEs that the sender has received, modulo 2^16
 * @offload: checksum and segmentation, as virtio-net says it
 * @unused: zero
 * @freed: buffers of the sender, a bit each, that may be filled again
 */
struct ipogif_wire {
	u8 type;
	u8 buffer;
	u16 bytes;
	u32 rest;
	u16 received;
	struct virtio_net_hdr offload;
	u32 unused;
	u64 freed;
};

static_assert(sizeof(struct ipogif_wire) == 32);

/**
 * struct ipogif_offer - buffers of a receiver, one behind the other
 * @handle: their registration
 * @address: where the first one begins, as a put is told it
 * @buffers: how many
 * @bytes: of each
 */
struct ipogif_offer {
	gni_mem_handle_t handle;
	u64 address;
	u32 buffers;
	u32 bytes;
};

#endif
