// SPDX-License-Identifier: GPL-2.0-only
// Copyright (c) 2026 The OpenGNI authors
/*
 * Accessors and modifiers of completion queue entries and collective results, and the names of
 * errors.
 */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "gni_status.h"
#include "kgni_entry.h"
#include "kgni.h"

static bool kgni_entry_channel(u64 entry)
{
	u64 e = kgni_smsg_plain(entry);

	return kgni_entry_source(e) == ARIES_SRC_CE && kgni_entry_info(e) == ARIES_INFO_REMOTE;
}

static void kgni_entry_put(gni_cq_entry_t *entry, u64 mask, u64 value)
{
	*entry = (*entry & ~mask) | (value & mask);
}

uint64_t gni_cq_get_data(gni_cq_entry_t entry)
{
	u64 e = kgni_smsg_plain(entry);

	return e & (kgni_entry_source(e) == ARIES_SRC_CQWRITE ? ARIES_CQE_WRITE_MASK
							      : ARIES_CQE_DATA_MASK);
}
EXPORT_SYMBOL_GPL(gni_cq_get_data);

uint64_t gni_cq_get_source(gni_cq_entry_t entry)
{
	return kgni_entry_source(kgni_smsg_plain(entry));
}
EXPORT_SYMBOL_GPL(gni_cq_get_source);

uint64_t gni_cq_get_status(gni_cq_entry_t entry)
{
	return kgni_entry_status(kgni_smsg_plain(entry));
}
EXPORT_SYMBOL_GPL(gni_cq_get_status);

uint64_t gni_cq_get_info(gni_cq_entry_t entry)
{
	return kgni_entry_info(kgni_smsg_plain(entry));
}
EXPORT_SYMBOL_GPL(gni_cq_get_info);

uint64_t gni_cq_overrun(gni_cq_entry_t entry)
{
	return !!(entry & ARIES_CQE_OVERRUN);
}
EXPORT_SYMBOL_GPL(gni_cq_overrun);

uint64_t gni_cq_rem_overrun(gni_cq_entry_t entry)
{
	return !!(kgni_smsg_plain(entry) & ARIES_CQE_REM_OVERRUN);
}
EXPORT_SYMBOL_GPL(gni_cq_rem_overrun);

uint64_t gni_cq_get_inst_id(gni_cq_entry_t entry)
{
	return kgni_smsg_failed(entry) ? kgni_smsg_failed_event(entry) : entry & KGNI_INST_ID_MASK;
}
EXPORT_SYMBOL_GPL(gni_cq_get_inst_id);

uint64_t gni_cq_get_rem_inst_id(gni_cq_entry_t entry)
{
	return entry & ARIES_CQE_DATA_MASK;
}
EXPORT_SYMBOL_GPL(gni_cq_get_rem_inst_id);

uint64_t gni_cq_get_tid(gni_cq_entry_t entry)
{
	return kgni_entry_tid(kgni_smsg_plain(entry));
}
EXPORT_SYMBOL_GPL(gni_cq_get_tid);

uint64_t gni_cq_get_msg_id(gni_cq_entry_t entry)
{
	return entry & ARIES_CQE_DATA_MASK;
}
EXPORT_SYMBOL_GPL(gni_cq_get_msg_id);

uint64_t gni_cq_get_type(gni_cq_entry_t entry)
{
	return kgni_entry_type(entry);
}
EXPORT_SYMBOL_GPL(gni_cq_get_type);

/* This NIC has neither DLA nor fast-launch block transfers, so their fields read as 0. */
uint64_t gni_cq_get_block_id(gni_cq_entry_t entry)
{
	return 0;
}
EXPORT_SYMBOL_GPL(gni_cq_get_block_id);

uint64_t gni_cq_get_unsuccessful_cnt(gni_cq_entry_t entry)
{
	return 0;
}
EXPORT_SYMBOL_GPL(gni_cq_get_unsuccessful_cnt);

uint64_t gni_cq_get_marker_id(gni_cq_entry_t entry)
{
	return 0;
}
EXPORT_SYMBOL_GPL(gni_cq_get_marker_id);

uint64_t gni_cq_get_failed_enqueue_cnt(gni_cq_entry_t entry)
{
	return 0;
}
EXPORT_SYMBOL_GPL(gni_cq_get_failed_enqueue_cnt);

unsigned int gni_cq_status_dla_overflow(gni_cq_entry_t entry)
{
	return 0;
}
EXPORT_SYMBOL_GPL(gni_cq_status_dla_overflow);

unsigned int gni_cq_bte_enq_status(gni_cq_entry_t entry)
{
	return 0;
}
EXPORT_SYMBOL_GPL(gni_cq_bte_enq_status);

uint64_t gni_cq_get_ce_id(gni_cq_entry_t entry)
{
	return kgni_entry_channel(entry) ? kgni_entry_tid(entry) : 0;
}
EXPORT_SYMBOL_GPL(gni_cq_get_ce_id);

uint64_t gni_cq_get_reductn_id(gni_cq_entry_t entry)
{
	return kgni_entry_channel(entry) ? entry & ARIES_CQE_DATA_MASK : 0;
}
EXPORT_SYMBOL_GPL(gni_cq_get_reductn_id);

uint64_t gni_cq_get_trans_type(gni_cq_entry_t entry)
{
	return kgni_entry_info(kgni_smsg_plain(entry));
}
EXPORT_SYMBOL_GPL(gni_cq_get_trans_type);

void gni_cq_set_inst_id(gni_cq_entry_t *entry, uint64_t value)
{
	value &= KGNI_INST_ID_MASK;
	if (kgni_smsg_failed(*entry))
		*entry = kgni_smsg_failed_pack(*entry, kgni_entry_status(*entry), value);
	else
		kgni_entry_put(entry, ARIES_CQE_DATA_MASK, value);
}
EXPORT_SYMBOL_GPL(gni_cq_set_inst_id);

void gni_cq_set_rem_inst_id(gni_cq_entry_t *entry, uint64_t value)
{
	kgni_entry_put(entry, ARIES_CQE_DATA_MASK, value);
}
EXPORT_SYMBOL_GPL(gni_cq_set_rem_inst_id);

void gni_cq_set_tid(gni_cq_entry_t *entry, uint64_t value)
{
	/* A failed message has no transaction id: its bits name the endpoint. */
	if (!kgni_smsg_failed(*entry))
		kgni_entry_put(entry, ARIES_CQE_TID_MASK, value << ARIES_CQE_TID_SHIFT);
}
EXPORT_SYMBOL_GPL(gni_cq_set_tid);

void gni_cq_set_msg_id(gni_cq_entry_t *entry, uint64_t value)
{
	kgni_entry_put(entry, ARIES_CQE_DATA_MASK, value);
}
EXPORT_SYMBOL_GPL(gni_cq_set_msg_id);

void gni_cq_set_type(gni_cq_entry_t *entry, uint64_t value)
{
	if (value != GNI_CQ_EVENT_TYPE_SMSG && value != GNI_CQ_EVENT_TYPE_MSGQ)
		*entry = kgni_smsg_plain(*entry);
	kgni_entry_put(entry, ARIES_CQE_TYPE_MASK, value << ARIES_CQE_TYPE_SHIFT);
}
EXPORT_SYMBOL_GPL(gni_cq_set_type);

void gni_cq_clr_status(gni_cq_entry_t *entry)
{
	*entry = kgni_smsg_plain(*entry) & ~ARIES_CQE_STATUS_MASK;
}
EXPORT_SYMBOL_GPL(gni_cq_clr_status);

uint64_t gni_ce_res_get_status(gni_ce_result_t *result)
{
	return FIELD_GET(ARIES_CER_STATUS_MASK, result->control);
}
EXPORT_SYMBOL_GPL(gni_ce_res_get_status);

uint64_t gni_ce_res_status_ok(gni_ce_result_t *result)
{
	return (result->control & ARIES_CER_DONE) && !(result->control & ARIES_CER_STATUS_MASK);
}
EXPORT_SYMBOL_GPL(gni_ce_res_status_ok);

uint64_t gni_ce_res_get_fpe(gni_ce_result_t *result)
{
	return FIELD_GET(ARIES_CER_FPE_MASK, result->control);
}
EXPORT_SYMBOL_GPL(gni_ce_res_get_fpe);

uint64_t gni_ce_res_get_red_id(gni_ce_result_t *result)
{
	return FIELD_GET(ARIES_CER_RED_ID_MASK, result->control);
}
EXPORT_SYMBOL_GPL(gni_ce_res_get_red_id);

/* Indexed by the status without the bit that marks the initiator's side. */
static const struct {
	const char *name; /* NULL: no such status */
	bool recoverable;
} kgni_status[GNI_STATUS_CODES] = {
#define KGNI_STATUS(name, word, passing) \
	[ARIES_ST_##name] = { word, passing },
	GNI_STATUSES(KGNI_STATUS)
};

static const char *kgni_source_name(u64 entry)
{
	if (kgni_smsg_failed(entry))
		return kgni_entry_type(entry) == GNI_CQ_EVENT_TYPE_MSGQ ? "MSGQ" : "SMSG";
	switch (kgni_entry_source(entry)) {
	case ARIES_SRC_FMA:
		return "FMA";
	case ARIES_SRC_BTE:
		return "BTE";
	case ARIES_SRC_REMOTE:
		return "REMOTE";
	case ARIES_SRC_CQWRITE:
		return "CQWRITE";
	case ARIES_SRC_CE:
		return "CE";
	case ARIES_SRC_CQ:
		return "CQ";
	default:
		return "UNKNOWN";
	}
}

/**
 * kgni_status_recoverable() - check whether a retry of the operation may succeed
 * @status: ARIES_ST_*
 *
 * Context: any.
 */
bool kgni_status_recoverable(u8 status)
{
	return kgni_status[status & (GNI_STATUS_CODES - 1)].recoverable;
}

/* gni_cq_error_str() - describe the status of an entry, see gni_pub.h. Context: any. */
gni_return_t gni_cq_error_str(gni_cq_entry_t entry, void *buffer, uint32_t len)
{
	const char *name = kgni_status[kgni_entry_status(entry) & (GNI_STATUS_CODES - 1)].name;
	bool local = kgni_entry_status(kgni_smsg_plain(entry)) & ARIES_ST_LOCAL;
	char text[64];
	u32 n;

	if (!buffer || !len)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL, len);
	if (entry & ARIES_CQE_OVERRUN)
		n = scnprintf(text, sizeof(text), "CQ:OVERRUN");
	else
		n = scnprintf(text, sizeof(text), "%s:%s%s", kgni_source_name(entry),
			      local ? "LOCAL_" : "", name ? name : "UNKNOWN");
	if (n >= len)
		return kgni_refuse(GNI_RC_SIZE_ERROR, ENOSPC, len, n + 1);
	memcpy(buffer, text, n + 1);
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_cq_error_str);

/* gni_cq_error_recoverable() - check whether a retry may succeed, see gni_pub.h. Context: any. */
gni_return_t gni_cq_error_recoverable(gni_cq_entry_t entry, uint32_t *recoverable)
{
	u8 status = kgni_entry_status(entry) & (GNI_STATUS_CODES - 1);

	if (!recoverable)
		return kgni_refuse(GNI_RC_INVALID_PARAM, EINVAL);
	if (!kgni_status[status].name)
		return kgni_refuse(GNI_RC_INVALID_STATE, ENOENT, status);
	*recoverable = kgni_status[status].recoverable;
	return GNI_RC_SUCCESS;
}
EXPORT_SYMBOL_GPL(gni_cq_error_recoverable);
