/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Short messages: the layout of a mailbox. libugni and kGNI use the same layout, so they can
 * communicate with each other.
 *
 * A mailbox is memory of the receiver, which the peer writes and the receiver polls. It begins at
 * the first 64-byte boundary:
 *
 *   one line        credit word, written by the peer; then words of the owner: identity, number of
 *                   messages released, and a buffer for words read from the peer's mailbox
 *   maxcredit words header words, one per message, used in turn; rounded up to lines
 *   the rest        ring of lines for data: credit word, identity of the sender, header and data
 *
 * Each word has a single writer. A message is sent by one put with sync flag: the data go into the
 * ring, and then the header word into its slot. The NIC guarantees that the flag is stored after
 * the data, in a single store of 8 bytes. So a receiver that sees the header word sees the whole
 * message. The first part of longer messages is put before that, without events.
 *
 * The receiver does not clear slots. It remembers the words that it has read, so a changed word is
 * a new message. So a slot also tells the sender for ever whether a message has arrived. This
 * resolves the doubt when the response to a put is lost: before it sends anything else the sender
 * reads the slot back. A message is written again only if it is known not to have arrived.
 *
 * The sender may reuse a slot and ring space when the peer has released the message. The peer
 * reports that in the credit word that goes with each message, or in a separate credit word. A
 * separate one may be lost, so a sender without space reads the number of released messages from
 * the peer's mailbox.
 *
 * Each connection has a new identity, which is included in the checksum of the header word. So
 * words that are left from an earlier connection of the same mailboxes are not taken for messages
 * of this one.
 *
 * Both sides compute the place of a message from the lengths alone, so nothing but these words is
 * exchanged. What the peer has written is loaded once and checked.
 */
#ifndef GNI_SMSG_H
#define GNI_SMSG_H

#include "gni_env.h"

#define GNI_SMSG_LINE 64u
#define GNI_SMSG_WORD 8u
/* Credit word and identity precede each message, which begins at a multiple of 16. */
#define GNI_SMSG_PREFIX 16u

/* Words of the first line. */
#define GNI_SMSG_CREDIT 0u
#define GNI_SMSG_IDENTITY 1u
#define GNI_SMSG_RELEASED 2u
#define GNI_SMSG_LANDING 3u

/*
 * The smallest mailbox holds this many messages of the largest size. The space at the end of the
 * ring may be too small for one.
 */
#define GNI_SMSG_LARGEST 4u

/* Toggles in the header words each time that the slots are reused. */
#define GNI_SMSG_TURN 0x01000000u
#define GNI_SMSG_ONES 0xfe000000u

/** gni_smsg_lines() - round @bytes up to whole lines */
static GNI_INLINE uint32_t gni_smsg_lines(uint32_t bytes)
{
	return (bytes + GNI_SMSG_LINE - 1) / GNI_SMSG_LINE * GNI_SMSG_LINE;
}

/**
 * gni_smsg_fixed() - size of everything before the ring
 * @credits: messages that may be outstanding
 */
static GNI_INLINE uint32_t gni_smsg_fixed(uint32_t credits)
{
	return GNI_SMSG_LINE + gni_smsg_lines(credits * GNI_SMSG_WORD);
}

/**
 * gni_smsg_needed() - size of a mailbox at any alignment
 * @credits: number of messages
 * @largest: size of the largest message
 *
 * The ring holds a few messages of the largest size, or as many small ones as there are credits.
 */
static GNI_INLINE uint32_t gni_smsg_needed(uint32_t credits, uint32_t largest)
{
	const uint32_t large = GNI_SMSG_LARGEST * gni_smsg_lines(GNI_SMSG_PREFIX + largest);
	const uint32_t small = credits * GNI_SMSG_LINE;

	return GNI_SMSG_LINE + gni_smsg_fixed(credits) + (large > small ? large : small);
}

/** gni_smsg_mix() - hash @v, so that each bit of the result depends on all of its bits */
static GNI_INLINE uint64_t gni_smsg_mix(uint64_t v)
{
	v *= 0x9e3779b97f4a7c15ull;
	v ^= v >> 29;
	v *= 0xbf58476d1ce4e5b9ull;
	return v ^ v >> 32;
}

/**
 * gni_smsg_header() - header word of a message
 * @key: gni_smsg_key() of the sender
 * @number: number of the message in its connection, from 0
 * @length: size of header and data
 * @tag: its tag
 * @turn: 0 or GNI_SMSG_TURN, toggled each time that the slots are reused: two consecutive words of
 *        a slot then always differ, even if their checksums do not, which the receiver and a sender
 *        that reads back rely on
 *
 * Bits 15:0 length, 23:16 tag, 24 turn, 31:25 ones, 63:32 checksum over these, key and number.
 */
static GNI_INLINE uint64_t gni_smsg_header(uint32_t key, uint64_t number, uint32_t length,
					   uint8_t tag, uint32_t turn)
{
	const uint64_t low = length | (uint32_t)tag << 16 | turn | GNI_SMSG_ONES;

	return low |
	       gni_smsg_mix((low | (uint64_t)key << 32) ^ gni_smsg_mix(number + 1)) >> 32 << 32;
}

static GNI_INLINE uint32_t gni_smsg_header_length(uint64_t word)
{
	return (uint32_t)(word & 0xffff);
}

static GNI_INLINE uint8_t gni_smsg_header_tag(uint64_t word)
{
	return (uint8_t)(word >> 16);
}

/**
 * gni_smsg_header_is() - check whose header word a word is
 * @word: what is in a slot
 * @key: key of the connection
 * @number: number of the message
 *
 * Return: whether it is the header word of that message
 */
static GNI_INLINE bool gni_smsg_header_is(uint64_t word, uint32_t key, uint64_t number)
{
	return word == gni_smsg_header(key, number, gni_smsg_header_length(word),
				       gni_smsg_header_tag(word), (uint32_t)word & GNI_SMSG_TURN);
}

/**
 * gni_smsg_credit() - credit word
 * @key: key of the connection
 * @released: messages released so far
 *
 * Return: bits 63:32 @released modulo 2^32, 31:0 a checksum, never 0
 */
static GNI_INLINE uint64_t gni_smsg_credit(uint32_t key, uint64_t released)
{
	return released << 32 |
	       (gni_smsg_mix((released & 0xffffffffu) ^ (uint64_t)key << 32) >> 32 | 1);
}

/**
 * gni_smsg_identity() - identity word of a sender
 * @key: key of the two mailboxes, gni_smsg_direction()
 * @nonce: random number of this connection, chosen by the sender
 *
 * Bits 63:32 nonce, 31:0 checksum.
 */
static GNI_INLINE uint64_t gni_smsg_identity(uint32_t key, uint32_t nonce)
{
	return (uint64_t)nonce << 32 | (gni_smsg_mix(nonce ^ (uint64_t)key << 32) >> 32 | 1);
}

/** gni_smsg_key() - key of a connection, from the key of the mailboxes and the sender's nonce */
static GNI_INLINE uint32_t gni_smsg_key(uint32_t key, uint32_t nonce)
{
	return (uint32_t)(gni_smsg_mix((uint64_t)key << 32 | nonce) >> 32);
}

/**
 * gni_smsg_end() - encode one end of a connection for gni_smsg_direction(): 40-bit offset and
 * memory domain
 * @control: offset of the mailbox in its memory domain, bytes
 * @mdh: the memory domain
 */
static GNI_INLINE uint64_t gni_smsg_end(uint64_t control, uint16_t mdh)
{
	return (control & 0xffffffffffull) | (uint64_t)mdh << 40;
}

/** gni_smsg_direction() - key of mailbox @to, which is written by the owner of mailbox @from */
static GNI_INLINE uint32_t gni_smsg_direction(uint64_t to, uint64_t from)
{
	return (uint32_t)gni_smsg_mix(gni_smsg_mix(to) ^ from);
}

/**
 * struct gni_smsg_place - where the data of a message goes in the ring
 * @at: offset in the ring
 * @taken: bytes that it takes, including an unused end of the ring
 * @next: where the next message may begin
 */
struct gni_smsg_place {
	uint32_t at;
	uint32_t taken;
	uint32_t next;
};

/**
 * gni_smsg_place() - find the place of a message in the ring, at or after @position
 * @position: offset in the ring, bytes
 * @ring_bytes: bytes of the ring
 * @length: size of the message without its prefix
 */
static GNI_INLINE struct gni_smsg_place gni_smsg_place(uint32_t position, uint32_t ring_bytes,
						       uint32_t length)
{
	const uint32_t bytes = gni_smsg_lines(GNI_SMSG_PREFIX + length);
	const uint32_t left = ring_bytes - position;
	struct gni_smsg_place place = { position, bytes, 0 };

	if (bytes > left) {
		place.at = 0;
		place.taken = left + bytes;
	}
	place.next = place.at + bytes == ring_bytes ? 0 : place.at + bytes;
	return place;
}

/**
 * gni_smsg_most_tagged() - length of the longest message with a tag
 * @ring_bytes: bytes of the ring
 *
 * Such a message may be longer than msg_maxsize: its documented limit is GNI_SMSG_MAX_SIZE, and UCX
 * relies on that, because it does not include its header in msg_maxsize. The limit here is a
 * fraction of the ring, which the rule for sending credit words requires. The caller also has to
 * limit it to GNI_SMSG_MAX_SIZE.
 */
static GNI_INLINE uint32_t gni_smsg_most_tagged(uint32_t ring_bytes)
{
	return ring_bytes / GNI_SMSG_LARGEST / GNI_SMSG_LINE * GNI_SMSG_LINE - GNI_SMSG_PREFIX;
}

#endif
