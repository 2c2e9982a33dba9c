// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * The entry of a send that failed has to name two things, the message
 * (GNI_CQ_GET_MSG_ID) and the endpoint (GNI_CQ_GET_INST_ID). The message has
 * the data field as always; the 24 bits of local_event go where such an entry
 * has nothing to say: transaction id, source, kind of event, remote overrun,
 * and the status bit that marks the initiator's memory, which a put from the
 * line does not use. The accessors know.
 */
#ifndef UGNI_SMSG_EVENT_HPP
#define UGNI_SMSG_EVENT_HPP

#include "cq_entry.hpp"
#include "gni.hpp"

namespace ugni
{

constexpr uint64_t kSmsgFailedStatus = uint64_t{0x1f} << ARIES_CQE_STATUS_SHIFT;

/** @e tells of a message, of a mailbox or of the message queue. */
constexpr bool message_type(uint64_t e)
{
	return entry_type(e) == GNI_CQ_EVENT_TYPE_SMSG || entry_type(e) == GNI_CQ_EVENT_TYPE_MSGQ;
}

/** @e, an entry that a caller got, is the event of a send that failed. */
constexpr bool smsg_failed(uint64_t e)
{
	return !(e & ARIES_CQE_OVERRUN) && message_type(e) && (e & kSmsgFailedStatus);
}

/** Entry with the type and data of @e. @status: ARIES_ST_* without ARIES_ST_LOCAL. */
constexpr uint64_t smsg_failed_pack(uint64_t e, uint32_t status, uint32_t local_event)
{
	uint64_t event = local_event;

	return (e & (ARIES_CQE_TYPE_MASK | ARIES_CQE_DATA_MASK)) | uint64_t{status & 0x1f} << ARIES_CQE_STATUS_SHIFT |
	       (event & 0xffff) << ARIES_CQE_TID_SHIFT | (event >> 16 & 0x7f) << 53 | (event >> 23 & 1) << 62;
}

constexpr uint32_t smsg_failed_event(uint64_t e)
{
	return static_cast<uint32_t>(entry_tid(e) | (e >> 53 & 0x7f) << 16 | (e >> 62 & 1) << 23);
}

constexpr uint32_t smsg_failed_status(uint64_t e)
{
	return entry_status(e) & 0x1f;
}

/** The event of a send as the NIC would have written it; other entries unchanged. */
constexpr uint64_t smsg_plain(uint64_t e)
{
	if (!smsg_failed(e))
		return e;
	return (e & (ARIES_CQE_TYPE_MASK | ARIES_CQE_DATA_MASK | kSmsgFailedStatus)) |
	       uint64_t{ARIES_INFO_LOCAL} << ARIES_CQE_INFO_SHIFT | uint64_t{ARIES_SRC_FMA} << ARIES_CQE_SOURCE_SHIFT;
}

/**
 * Ends the send that @entry of @cq tells of and makes the entry that the caller gets; 0 if the send is not settled and
 * its event is kept back. Entries of receivers stay as they are.
 */
gni_cq_entry_t smsg_event(gni_cq *cq, gni_cq_entry_t entry);

} // namespace ugni

#endif
