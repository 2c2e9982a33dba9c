// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* The exported accessors and modifiers of entries. */
#include "cq_entry.hpp"
#include "gni.hpp"
#include "smsg_event.hpp"

using namespace ugni;

namespace
{

constexpr uint64_t kInstIdMask = 0xffffff; /* Aries */

void put(gni_cq_entry_t *entry, uint64_t mask, unsigned shift, uint64_t value)
{
	*entry = (*entry & ~mask) | (value << shift & mask);
}

/* Of a channel. The event of a post has transaction id and event data where this has channel and reduction id. */
bool channel_event(gni_cq_entry_t entry)
{
	uint64_t e = smsg_plain(entry);

	return entry_source(e) == ARIES_SRC_CE && entry_info(e) == ARIES_INFO_REMOTE;
}

} // namespace

uint64_t gni_cq_get_data(gni_cq_entry_t entry)
{
	uint64_t e = smsg_plain(entry);

	return e & (entry_source(e) == ARIES_SRC_CQWRITE ? ARIES_CQE_WRITE_MASK : ARIES_CQE_DATA_MASK);
}

uint64_t gni_cq_get_source(gni_cq_entry_t entry)
{
	return entry_source(smsg_plain(entry));
}

uint64_t gni_cq_get_status(gni_cq_entry_t entry)
{
	return entry_status(smsg_plain(entry));
}

uint64_t gni_cq_get_info(gni_cq_entry_t entry)
{
	return entry_info(smsg_plain(entry));
}

uint64_t gni_cq_overrun(gni_cq_entry_t entry)
{
	return (entry & ARIES_CQE_OVERRUN) != 0;
}

uint64_t gni_cq_rem_overrun(gni_cq_entry_t entry)
{
	return (smsg_plain(entry) & ARIES_CQE_REM_OVERRUN) != 0;
}

uint64_t gni_cq_get_inst_id(gni_cq_entry_t entry)
{
	return smsg_failed(entry) ? smsg_failed_event(entry) : entry & kInstIdMask;
}

uint64_t gni_cq_get_rem_inst_id(gni_cq_entry_t entry)
{
	return entry & ARIES_CQE_DATA_MASK;
}

uint64_t gni_cq_get_tid(gni_cq_entry_t entry)
{
	return entry_tid(smsg_plain(entry));
}

uint64_t gni_cq_get_msg_id(gni_cq_entry_t entry)
{
	return entry & ARIES_CQE_DATA_MASK;
}

uint64_t gni_cq_get_type(gni_cq_entry_t entry)
{
	return entry_type(entry);
}

/* This NIC has no DLA: its fields read 0. */
uint64_t gni_cq_get_block_id(gni_cq_entry_t entry)
{
	(void)entry;
	return 0;
}

uint64_t gni_cq_get_unsuccessful_cnt(gni_cq_entry_t entry)
{
	(void)entry;
	return 0;
}

uint64_t gni_cq_get_marker_id(gni_cq_entry_t entry)
{
	(void)entry;
	return 0;
}

/* Nor fast-launch block transfers. */
uint64_t gni_cq_get_failed_enqueue_cnt(gni_cq_entry_t entry)
{
	(void)entry;
	return 0;
}

uint64_t gni_cq_get_ce_id(gni_cq_entry_t entry)
{
	return channel_event(entry) ? entry_tid(entry) : 0;
}

uint64_t gni_cq_get_reductn_id(gni_cq_entry_t entry)
{
	return channel_event(entry) ? entry & ARIES_CQE_DATA_MASK : 0;
}

uint64_t gni_cq_get_trans_type(gni_cq_entry_t entry)
{
	return entry_info(smsg_plain(entry));
}

void gni_cq_set_inst_id(gni_cq_entry_t *entry, uint64_t value)
{
	if (smsg_failed(*entry))
		*entry = smsg_failed_pack(*entry, smsg_failed_status(*entry),
					  static_cast<uint32_t>(value & kInstIdMask));
	else
		put(entry, ARIES_CQE_DATA_MASK, 0, value & kInstIdMask);
}

void gni_cq_set_rem_inst_id(gni_cq_entry_t *entry, uint64_t value)
{
	put(entry, ARIES_CQE_DATA_MASK, 0, value);
}

void gni_cq_set_tid(gni_cq_entry_t *entry, uint64_t value)
{
	/* A failed send has no transaction id: its bits name the endpoint. */
	if (!smsg_failed(*entry))
		put(entry, ARIES_CQE_TID_MASK, ARIES_CQE_TID_SHIFT, value);
}

void gni_cq_set_msg_id(gni_cq_entry_t *entry, uint64_t value)
{
	put(entry, ARIES_CQE_DATA_MASK, 0, value);
}

void gni_cq_set_type(gni_cq_entry_t *entry, uint64_t value)
{
	if (value != GNI_CQ_EVENT_TYPE_SMSG && value != GNI_CQ_EVENT_TYPE_MSGQ)
		*entry = smsg_plain(*entry);
	put(entry, ARIES_CQE_TYPE_MASK, ARIES_CQE_TYPE_SHIFT, value);
}

void gni_cq_clr_status(gni_cq_entry_t *entry)
{
	*entry = smsg_plain(*entry);
	put(entry, ARIES_CQE_STATUS_MASK, ARIES_CQE_STATUS_SHIFT, 0);
}

unsigned gni_cq_status_dla_overflow(gni_cq_entry_t entry)
{
	(void)entry;
	return 0;
}

unsigned gni_cq_bte_enq_status(gni_cq_entry_t entry)
{
	(void)entry;
	return 0;
}
