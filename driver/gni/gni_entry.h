/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Fields of a completion queue entry, and the format of the event of a failed message. That event
 * has to carry two things, the message id (GNI_CQ_GET_MSG_ID) and the event data of the endpoint
 * (GNI_CQ_GET_INST_ID). The message id is in the data field as always. The 24 bits of the
 * endpoint's event data take the place of fields that are meaningless in such an entry: transaction
 * id, source, kind of event, remote overrun, and the status bit that marks the initiator's memory.
 * The accessors know this format.
 */
#ifndef GNI_ENTRY_H
#define GNI_ENTRY_H

#include "aries_hw.h"
#include "gni_env.h"

/* Bits of a status without ARIES_ST_LOCAL, and these in an entry. */
#define GNI_ENTRY_STATUS 0x1full
#define GNI_ENTRY_FAILED_MASK (GNI_ENTRY_STATUS << ARIES_CQE_STATUS_SHIFT)
/* Room for every text of gni_entry_text(). */
#define GNI_ENTRY_TEXT 64u

static GNI_INLINE uint16_t gni_entry_tid(uint64_t e)
{
	return (uint16_t)GNI_FIELD_GET(ARIES_CQE_TID, e);
}

static GNI_INLINE uint32_t gni_entry_status(uint64_t e)
{
	return (uint32_t)GNI_FIELD_GET(ARIES_CQE_STATUS, e);
}

static GNI_INLINE uint32_t gni_entry_info(uint64_t e)
{
	return (uint32_t)GNI_FIELD_GET(ARIES_CQE_INFO, e);
}

static GNI_INLINE uint32_t gni_entry_source(uint64_t e)
{
	return (uint32_t)GNI_FIELD_GET(ARIES_CQE_SOURCE, e);
}

static GNI_INLINE uint32_t gni_entry_type(uint64_t e)
{
	return (uint32_t)GNI_FIELD_GET(ARIES_CQE_TYPE, e);
}

/** gni_entry_message() - is @e the event of a message, of a mailbox or of the message queue? */
static GNI_INLINE bool gni_entry_message(uint64_t e)
{
	return gni_entry_type(e) == GNI_CQ_EVENT_TYPE_SMSG ||
	       gni_entry_type(e) == GNI_CQ_EVENT_TYPE_MSGQ;
}

/** gni_entry_failed() - is @e, as delivered to a client, the event of a failed message? */
static GNI_INLINE bool gni_entry_failed(uint64_t e)
{
	return !(e & ARIES_CQE_OVERRUN) && gni_entry_message(e) && (e & GNI_ENTRY_FAILED_MASK);
}

/**
 * gni_entry_failed_pack() - make such an entry
 * @e: entry with its type and data
 * @status: ARIES_ST_*; ARIES_ST_LOCAL is left out
 * @event: event data of the endpoint, 24 bits
 */
static GNI_INLINE uint64_t gni_entry_failed_pack(uint64_t e, uint32_t status, uint64_t event)
{
	return (e & (ARIES_CQE_TYPE_MASK | ARIES_CQE_DATA_MASK)) |
	       (status & GNI_ENTRY_STATUS) << ARIES_CQE_STATUS_SHIFT |
	       GNI_FIELD(ARIES_CQE_TID, event) | (event >> 16 & 0x7f) << 53 |
	       (event >> 23 & 1) << 62;
}

/** gni_entry_failed_event() - event data of the endpoint in such an entry */
static GNI_INLINE uint32_t gni_entry_failed_event(uint64_t e)
{
	return (uint32_t)(gni_entry_tid(e) | (e >> 53 & 0x7f) << 16 | (e >> 62 & 1) << 23);
}

/** gni_entry_plain() - convert the event of a message to the NIC's format; others are unchanged */
static GNI_INLINE uint64_t gni_entry_plain(uint64_t e)
{
	if (!gni_entry_failed(e))
		return e;
	return (e & (ARIES_CQE_TYPE_MASK | ARIES_CQE_DATA_MASK | GNI_ENTRY_FAILED_MASK)) |
	       GNI_FIELD(ARIES_CQE_INFO, ARIES_INFO_LOCAL) |
	       GNI_FIELD(ARIES_CQE_SOURCE, ARIES_SRC_FMA);
}

#ifdef __cplusplus
extern "C" {
#endif

/* Name of ARIES_ST_* @status, with or without ARIES_ST_LOCAL; NULL: there is no such status. */
const char *gni_status_name(uint32_t status);
/* May a repetition of what ended with ARIES_ST_* @status succeed? */
bool gni_status_recoverable(uint32_t status);
unsigned int gni_entry_text(uint64_t entry, char *text);

#ifdef __cplusplus
}
#endif

#endif
