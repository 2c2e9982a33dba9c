/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Fields of a completion queue entry, and the format of the event of a failed message. That event
 * has to carry two things, the message id (GNI_CQ_GET_MSG_ID) and the event data of the endpoint
 * (GNI_CQ_GET_INST_ID). The message id is in the data field as always. The 24 bits of the
 * endpoint's event data take the place of fields that are meaningless in such an entry: transaction
 * id, source, kind of event, remote overrun, and the status bit that marks the initiator's memory.
 * The accessors here and in libugni know this format.
 */
#ifndef KGNI_ENTRY_H
#define KGNI_ENTRY_H

#include <linux/bitfield.h>

#include "aries_hw.h"
#include "gni_pub.h"

#define KGNI_INST_ID_MASK 0xffffffull /* Aries */
#define KGNI_SMSG_STATUS_MASK (0x1full << ARIES_CQE_STATUS_SHIFT)

static inline u16 kgni_entry_tid(u64 e)
{
	return FIELD_GET(ARIES_CQE_TID_MASK, e);
}

static inline u8 kgni_entry_status(u64 e)
{
	return FIELD_GET(ARIES_CQE_STATUS_MASK, e);
}

static inline u8 kgni_entry_info(u64 e)
{
	return FIELD_GET(ARIES_CQE_INFO_MASK, e);
}

static inline u8 kgni_entry_source(u64 e)
{
	return FIELD_GET(ARIES_CQE_SOURCE_MASK, e);
}

static inline u8 kgni_entry_type(u64 e)
{
	return FIELD_GET(ARIES_CQE_TYPE_MASK, e);
}

/** kgni_entry_message() - is @e the event of a message? */
static inline bool kgni_entry_message(u64 e)
{
	return kgni_entry_type(e) == GNI_CQ_EVENT_TYPE_SMSG ||
	       kgni_entry_type(e) == GNI_CQ_EVENT_TYPE_MSGQ;
}

/** kgni_smsg_failed() - is @e, as delivered to a client, the event of a failed message? */
static inline bool kgni_smsg_failed(u64 e)
{
	return !(e & ARIES_CQE_OVERRUN) && kgni_entry_message(e) && (e & KGNI_SMSG_STATUS_MASK);
}

/**
 * kgni_smsg_failed_pack() - make such an entry with the type and data of @e; @status is without
 * ARIES_ST_LOCAL
 */
static inline u64 kgni_smsg_failed_pack(u64 e, u8 status, u32 event)
{
	return (e & (ARIES_CQE_TYPE_MASK | ARIES_CQE_DATA_MASK)) |
	       FIELD_PREP(KGNI_SMSG_STATUS_MASK, status & 0x1full) |
	       FIELD_PREP(ARIES_CQE_TID_MASK, event & 0xffffull) | (event >> 16 & 0x7full) << 53 |
	       (event >> 23 & 1ull) << 62;
}

static inline u32 kgni_smsg_failed_event(u64 e)
{
	return kgni_entry_tid(e) | (e >> 53 & 0x7f) << 16 | (e >> 62 & 1) << 23;
}

/** kgni_smsg_plain() - convert the event of a message to the NIC's format; others are unchanged */
static inline u64 kgni_smsg_plain(u64 e)
{
	if (!kgni_smsg_failed(e))
		return e;
	return (e & (ARIES_CQE_TYPE_MASK | ARIES_CQE_DATA_MASK | KGNI_SMSG_STATUS_MASK)) |
	       FIELD_PREP(ARIES_CQE_INFO_MASK, (u64)ARIES_INFO_LOCAL) |
	       FIELD_PREP(ARIES_CQE_SOURCE_MASK, (u64)ARIES_SRC_FMA);
}

#endif
