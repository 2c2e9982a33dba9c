/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * The protocol. All numbers are little-endian, like every node of an Aries network.
 */
#ifndef SLND_WIRE_H
#define SLND_WIRE_H

#include <linux/types.h>

#include "gni_pub.h"

#define SLND_MAGIC 0x534c4e44
#define SLND_VERSION 2

/**
 * enum slnd_hail_type - type of a datagram
 * @SLND_OFFER: a wildcard with a mailbox for any node
 * @SLND_REQUEST: a mailbox for a certain node; sent to the node with the higher address, or to
 *                oneself
 * @SLND_ASK: asks the node with the lower address to send a request
 *
 * Only one side of a pair sends requests. So connections between the same two nodes have an order,
 * and only the newest is valid.
 */
enum slnd_hail_type {
	SLND_OFFER = 1,
	SLND_REQUEST = 2,
	SLND_ASK = 3,
};

/**
 * struct slnd_hail - datagram
 * @magic: SLND_MAGIC
 * @version: SLND_VERSION
 * @type: enum slnd_hail_type
 * @address: address of the sender
 * @id: id of the connection at the sender, to be used as event data of messages to it
 * @incarnation: incarnation of the sender; a new one after each start
 * @stamp: number of a request; in SLND_ASK, the number of the newest request received
 * @smsg: mailbox of the sender
 */
struct slnd_hail {
	u32 magic;
	u16 version;
	u16 type;
	u32 address;
	u32 id;
	u64 incarnation;
	u64 stamp;
	gni_smsg_attr_t smsg;
} __packed;

/**
 * enum slnd_type - type of a message
 * @SLND_HELLO: nothing of earlier connections is in flight any more
 * @SLND_ALIVE: keepalive
 * @SLND_CLOSE: the last message of a connection
 * @SLND_DATA: message for the user
 * @SLND_BULK_ASK: asks the receiver to move bulk data, and tells where they are
 * @SLND_BULK_DONE: the data were moved, or there was an error
 */
enum slnd_type {
	SLND_HELLO = 1,
	SLND_ALIVE,
	SLND_CLOSE,
	SLND_DATA,
	SLND_BULK_ASK,
	SLND_BULK_DONE,
};

/**
 * struct slnd_head - header of each message
 * @type: enum slnd_type
 * @reserved: 0
 * @bytes: bytes that follow
 */
struct slnd_head {
	u16 type;
	u16 reserved;
	u32 bytes;
};

/**
 * struct slnd_bulk_words - contents of messages about bulk data
 * @id: number of the transfer, chosen by the side that asks
 * @status: of SLND_BULK_DONE: 0 or a negative errno; the rest is of SLND_BULK_ASK
 * @put: direction
 * @bytes: length
 * @tag: tag given by the user
 * @address: offset of the first byte in the registration
 * @handle: registration
 */
struct slnd_bulk_words {
	u32 id;
	s32 status;
	u32 put;
	u32 bytes;
	u64 tag;
	u64 address;
	gni_mem_handle_t handle;
};

#endif
