/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The protocol. Two nodes that want to communicate exchange one datagram each (struct
 * ipogif_hello). After that they have a connection, with a mailbox on either side. Everything else
 * is sent as short messages that begin with struct ipogif_wire:
 *
 *   FRAME   a frame that fits; or the beginning of one, whose rest is in a buffer of the receiver
 *   ASK     the sender has frames that need buffers
 *   OFFER   the sender's buffers (struct ipogif_offer): where frames are put
 *   STATE   only what every message has: number of frames received, buffers that are free again
 *   PING    the same, and asks for a STATE
 *   CLOSE   the last message of its sender
 *
 * All nodes of a system have the same byte order. A hello in the other byte order is rejected.
 */
#ifndef IPOGIF_WIRE_H
#define IPOGIF_WIRE_H

#include <linux/build_bug.h>
#include <linux/if_ether.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/virtio_net.h>

#include "gni_pub.h"

#define IPOGIF_MAGIC 0x49506f47u
#define IPOGIF_VERSION 1u

/* The longest short message that takes a single doorbell of the NIC. */
#define IPOGIF_MESSAGE 2032u
#define IPOGIF_INLINE (IPOGIF_MESSAGE - sizeof(struct ipogif_wire))

/* This much of a frame is in the message in any case: the headers of most protocols. */
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
 * struct ipogif_hello - a datagram: its sender, and the sender's mailbox
 * @magic: IPOGIF_MAGIC
 * @version: IPOGIF_VERSION
 * @incarnation: a new number each time that the interface comes up
 * @id: id of the connection on the sender's node; part of the events of messages to it
 * @mailbox: mailbox of the sender
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
 * @buffer: of a FRAME with @rest: number of the receiver's buffer that holds the rest
 * @bytes: bytes that follow in this message
 * @rest: of a FRAME: bytes of it that are in a buffer
 * @received: FRAMEs that the sender has received, modulo 2^16
 * @offload: checksum and segmentation, in the format of virtio-net
 * @unused: zero
 * @freed: bitmap of the sender's buffers that may be filled again
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
 * struct ipogif_offer - buffers of a receiver, contiguous in its registration
 * @handle: their registration
 * @address: start of the first one, in the form of a remote address
 * @buffers: how many
 * @bytes: size of each
 */
struct ipogif_offer {
	gni_mem_handle_t handle;
	u64 address;
	u32 buffers;
	u32 bytes;
};

/**
 * ipogif_wire_read() - read the beginning of a received message, and check what it claims
 * @wire: receives it; read only once, because the peer can still write to the mailbox
 * @message: message in the mailbox
 * @end: end of the mailbox. A message does not have its length, so a peer can claim any.
 * @buffers: how many buffers the peer may have filled
 *
 * Context: any. Return: false if the message makes no sense. Otherwise all of its data is within
 * the mailbox, and the buffer that it names is one of @buffers.
 */
static inline bool ipogif_wire_read(struct ipogif_wire *wire, const void *message, const void *end,
				    unsigned int buffers)
{
	size_t room = end - message;

	if (room < sizeof(*wire))
		return false;
	memcpy(wire, message, sizeof(*wire));
	if (wire->bytes > IPOGIF_INLINE || wire->bytes > room - sizeof(*wire))
		return false;
	switch (wire->type) {
	case IPOGIF_FRAME:
		return wire->bytes >= ETH_HLEN &&
		       (!wire->rest || (wire->buffer < buffers && wire->rest <= IPOGIF_BUFFER));
	case IPOGIF_OFFER:
		return wire->bytes == sizeof(struct ipogif_offer);
	default:
		return !wire->bytes;
	}
}

#endif
