/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Short messages: what a mailbox looks like. libugni and kGNI read and write the same mailboxes, of
 * each other as well.
 *
 * A mailbox is memory of the receiver that the peer writes and the receiver polls. From the first
 * 64-byte boundary in it:
 *
 *   one line        credit word, which the peer writes; then words of the owner: identity, messages
 *                   released, and a place for what it reads from the peer's mailbox
 *   maxcredit words header words, one a message, used in turn; rounded to lines
 *   the rest        ring of data in lines: credit word, identity of the sender, then header and
 * data
 *
 * Each word has one writer. One put with sync flag carries a message: data into the ring, then the
 * header word into its slot. The NIC promises that the flag is one store of 8 bytes after the data,
 * so who sees the header word sees the message. Longer messages put their first part before that,
 * without events.
 *
 * The receiver leaves a slot as it is and remembers what it has read there, so a slot with another
 * word has news, and the slot tells the sender for ever whether a message has arrived. That settles
 * what became of a put whose response was lost: before anything else is sent the sender reads the
 * slot back. A message is written again only when it is known not to be there.
 *
 * A slot and ring space are the sender's again when the peer has released the message. The peer
 * tells so in the credit word that goes with each message, or in one of its own. That one may get
 * lost: a sender without room reads how much is released from the peer's mailbox.
 *
 * The identity is another one for each connection. The header's check covers it, so what an earlier
 * connection of the same mailboxes has left is no message of this one.
 *
 * Both sides compute places from the lengths alone; nothing but these words is exchanged. What a
 * peer wrote is loaded once and checked.
 */
#ifndef GNI_SMSG_H
#define GNI_SMSG_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#ifdef __cplusplus
#define GNI_SMSG_FN constexpr
#else
#define GNI_SMSG_FN static inline
#endif

#define GNI_SMSG_LINE 64u
#define GNI_SMSG_WORD 8u
/* Credit word and identity, in front of each message: it begins at a multiple of 16. */
#define GNI_SMSG_PREFIX 16u

/* Words of the first line. */
#define GNI_SMSG_CREDIT 0u
#define GNI_SMSG_IDENTITY 1u
#define GNI_SMSG_RELEASED 2u
#define GNI_SMSG_LANDING 3u

/*
 * Messages of the largest size for which the smallest mailbox has room; a release may split the
 * ring at its end.
 */
#define GNI_SMSG_LARGEST 4u

/* Set in a header word each second time that the slots are used. */
#define GNI_SMSG_TURN (1u << 24)
#define GNI_SMSG_ONES 0xfe000000u

/** gni_smsg_lines() - bytes of the lines that hold @bytes */
GNI_SMSG_FN uint32_t gni_smsg_lines(uint32_t bytes)
{
	return (bytes + GNI_SMSG_LINE - 1) / GNI_SMSG_LINE * GNI_SMSG_LINE;
}

/**
 * gni_smsg_fixed() - bytes of credit word, header words and whatever else is in front of the ring
 * @credits: messages that may be outstanding
 */
GNI_SMSG_FN uint32_t gni_smsg_fixed(uint32_t credits)
{
	return GNI_SMSG_LINE + gni_smsg_lines(credits * GNI_SMSG_WORD);
}

/**
 * gni_smsg_needed() - bytes of a mailbox that may begin anywhere
 * @credits: messages
 * @largest: bytes of the largest one
 *
 * The ring holds some messages of the largest size, and all that the credits allow if they are
 * small.
 */
GNI_SMSG_FN uint32_t gni_smsg_needed(uint32_t credits, uint32_t largest)
{
	const uint32_t large = GNI_SMSG_LARGEST * gni_smsg_lines(GNI_SMSG_PREFIX + largest);
	const uint32_t small = credits * GNI_SMSG_LINE;

	return GNI_SMSG_LINE + gni_smsg_fixed(credits) + (large > small ? large : small);
}

/** gni_smsg_mix() - 64 bits of which each depends on all of @v */
GNI_SMSG_FN uint64_t gni_smsg_mix(uint64_t v)
{
	v *= 0x9e3779b97f4a7c15ull;
	v ^= v >> 29;
	v *= 0xbf58476d1ce4e5b9ull;
	return v ^ v >> 32;
}

/**
 * gni_smsg_header() - header word of a message
 * @key: gni_smsg_key() of the sender
 * @number: of the message in its connection, from 0
 * @length: bytes of header and data
 * @tag: its tag
 * @turn: 0 or GNI_SMSG_TURN, the other one each time that the slots begin again: two words in a row
 * of one slot differ whatever the check is, and with them what the receiver remembers and what the
 * sender reads back
 *
 * Length 15:0, tag 23:16, turn 24, ones 31:25, check over these, key and number 63:32.
 */
GNI_SMSG_FN uint64_t gni_smsg_header(uint32_t key, uint64_t number, uint32_t length, uint8_t tag,
				     uint32_t turn)
{
	const uint64_t low = length | (uint32_t)tag << 16 | turn | GNI_SMSG_ONES;

	return low |
	       gni_smsg_mix((low | (uint64_t)key << 32) ^ gni_smsg_mix(number + 1)) >> 32 << 32;
}

GNI_SMSG_FN uint32_t gni_smsg_header_length(uint64_t word)
{
	return (uint32_t)(word & 0xffff);
}

GNI_SMSG_FN uint8_t gni_smsg_header_tag(uint64_t word)
{
	return (uint8_t)(word >> 16);
}

/** gni_smsg_header_is() - is @word the header of message @number of the connection with @key? */
GNI_SMSG_FN bool gni_smsg_header_is(uint64_t word, uint32_t key, uint64_t number)
{
	return word == gni_smsg_header(key, number, gni_smsg_header_length(word),
				       gni_smsg_header_tag(word), (uint32_t)word & GNI_SMSG_TURN);
}

/** gni_smsg_credit() - credit word: messages released modulo 2^32 63:32, check 31:0 (never 0) */
GNI_SMSG_FN uint64_t gni_smsg_credit(uint32_t key, uint64_t released)
{
	return released << 32 |
	       (gni_smsg_mix((released & 0xffffffffu) ^ (uint64_t)key << 32) >> 32 | 1);
}

/**
 * gni_smsg_identity() - identity word of a sender
 * @key: of the two mailboxes, gni_smsg_direction()
 * @nonce: the sender's number of this connection
 *
 * Nonce 63:32, check 31:0.
 */
GNI_SMSG_FN uint64_t gni_smsg_identity(uint32_t key, uint32_t nonce)
{
	return (uint64_t)nonce << 32 | (gni_smsg_mix(nonce ^ (uint64_t)key << 32) >> 32 | 1);
}

/** gni_smsg_key() - key of a connection: that of the two mailboxes, and of the sender */
GNI_SMSG_FN uint32_t gni_smsg_key(uint32_t key, uint32_t nonce)
{
	return (uint32_t)(gni_smsg_mix((uint64_t)key << 32 | nonce) >> 32);
}

/**
 * gni_smsg_end() - one end of a connection as gni_smsg_direction() takes it: where, 40 bits, and
 * memory domain
 * @control: offset of the mailbox in its memory domain, bytes
 * @mdh: the memory domain
 */
GNI_SMSG_FN uint64_t gni_smsg_end(uint64_t control, uint16_t mdh)
{
	return (control & 0xffffffffffull) | (uint64_t)mdh << 40;
}

/** gni_smsg_direction() - key of the mailbox @to that is written from the owner of mailbox @from */
GNI_SMSG_FN uint32_t gni_smsg_direction(uint64_t to, uint64_t from)
{
	return (uint32_t)gni_smsg_mix(gni_smsg_mix(to) ^ from);
}

/**
 * struct gni_smsg_place - where the data of a message goes in the ring
 * @at: offset in the ring
 * @taken: bytes, the unused end of the ring included
 * @next: where the next message may begin
 */
struct gni_smsg_place {
	uint32_t at;
	uint32_t taken;
	uint32_t next;
};

/**
 * gni_smsg_place() - the place of a message of @length bytes that comes at @position or behind it
 * @position: offset in the ring, bytes
 * @ring_bytes: bytes of the ring
 * @length: bytes of the message, without its prefix
 */
GNI_SMSG_FN struct gni_smsg_place gni_smsg_place(uint32_t position, uint32_t ring_bytes,
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
 * gni_smsg_most_tagged() - longest message with a tag
 * @ring_bytes: bytes of the ring
 *
 * It may be longer than msg_maxsize: its documented limit is GNI_SMSG_MAX_SIZE, and UCX, whose
 * header is not in its msg_maxsize, counts on it. A part of the ring each, so that the rule for
 * credit words holds; who uses this cuts it to GNI_SMSG_MAX_SIZE.
 */
GNI_SMSG_FN uint32_t gni_smsg_most_tagged(uint32_t ring_bytes)
{
	return ring_bytes / GNI_SMSG_LARGEST / GNI_SMSG_LINE * GNI_SMSG_LINE - GNI_SMSG_PREFIX;
}

#endif
