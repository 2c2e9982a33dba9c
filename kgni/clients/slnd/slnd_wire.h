/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/* What nodes tell each other. All numbers are little-endian, as every node of an Aries network is.
 */
#ifndef SLND_WIRE_H
#define SLND_WIRE_H

#include <linux/types.h>

#include "gni_pub.h"

#define SLND_MAGIC 0x534c4e44
#define SLND_VERSION 2

/**
 * enum slnd_hail_type - what a datagram is
 * @SLND_OFFER: a mailbox for whoever comes; a wildcard
 * @SLND_REQUEST: a mailbox for a certain node, whose address is not the lower one of the two
 * @SLND_ASK: a mailbox for a certain node, which shall send a request: its address is the lower one
 *
 * Only one side of a pair requests, so connections of the same two nodes come one after the other:
 * the newest is the one that counts.
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
 * @address: who says this
 * @id: of the connection there: event data that its messages shall have
 * @incarnation: of the sender; another one after each start
 * @stamp: of a request: its number; of SLND_ASK: the newest request that came
 * @smsg: mailbox
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
 * enum slnd_type - what a message is
 * @SLND_HELLO: nothing of an earlier connection is under way any more
 * @SLND_ALIVE: nothing else has been said for a while
 * @SLND_CLOSE: the last one
 * @SLND_DATA: for the user
 * @SLND_BULK_ASK: bulk data is to be put or got, and where it is
 * @SLND_BULK_DONE: who was asked has moved it, or says why not
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
 * struct slnd_head - before each message
 * @type: enum slnd_type
 * @reserved: 0
 * @bytes: what follows
 */
struct slnd_head {
	u16 type;
	u16 reserved;
	u32 bytes;
};

/**
 * struct slnd_bulk_words - what follows in messages about bulk data
 * @id: number of the transfer, chosen by the side that asks
 * @status: of SLND_BULK_DONE: 0 or a negative errno; the rest is of SLND_BULK_ASK
 * @put: direction
 * @bytes: length
 * @tag: the user's name for it
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
