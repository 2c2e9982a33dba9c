// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * Accessors and modifiers of completion queue entries and collective results, and the names of
 * errors.
 */
#include "gni_entry.h"
#include "gni_status.h"

#define GNI_INST_ID_MASK 0xffffffull /* Aries */

/*
 * Of a channel. The event of a post has transaction id and event data where this has channel and
 * reduction id.
 */
static bool gni_entry_channel(uint64_t entry)
{
	uint64_t e = gni_entry_plain(entry);

	return gni_entry_source(e) == ARIES_SRC_CE && gni_entry_info(e) == ARIES_INFO_REMOTE;
}

static void gni_entry_put(gni_cq_entry_t *entry, uint64_t mask, uint64_t value)
{
	*entry = (*entry & ~mask) | (value & mask);
}

uint64_t gni_cq_get_data(gni_cq_entry_t entry)
{
	uint64_t e = gni_entry_plain(entry);

	return e & (gni_entry_source(e) == ARIES_SRC_CQWRITE ? ARIES_CQE_WRITE_MASK
							      : ARIES_CQE_DATA_MASK);
}
EXPORT_SYMBOL_GPL(gni_cq_get_data);

uint64_t gni_cq_get_source(gni_cq_entry_t entry)
{
	return gni_entry_source(gni_entry_plain(entry));
}
EXPORT_SYMBOL_GPL(gni_cq_get_source);

uint64_t gni_cq_get_status(gni_cq_entry_t entry)
{
	return gni_entry_status(gni_entry_plain(entry));
}
EXPORT_SYMBOL_GPL(gni_cq_get_status);

uint64_t gni_cq_get_info(gni_cq_entry_t entry)
{
	return gni_entry_info(gni_entry_plain(entry));
}
EXPORT_SYMBOL_GPL(gni_cq_get_info);

uint64_t gni_cq_overrun(gni_cq_entry_t entry)
{
	return !!(entry & ARIES_CQE_OVERRUN);
}
EXPORT_SYMBOL_GPL(gni_cq_overrun);

uint64_t gni_cq_rem_overrun(gni_cq_entry_t entry)
{
	return !!(gni_entry_plain(entry) & ARIES_CQE_REM_OVERRUN);
}
EXPORT_SYMBOL_GPL(gni_cq_rem_overrun);

uint64_t gni_cq_get_inst_id(gni_cq_entry_t entry)
{
	return gni_entry_failed(entry) ? gni_entry_failed_event(entry) : entry & GNI_INST_ID_MASK;
}
EXPORT_SYMBOL_GPL(gni_cq_get_inst_id);

uint64_t gni_cq_get_rem_inst_id(gni_cq_entry_t entry)
{
	return entry & ARIES_CQE_DATA_MASK;
}
EXPORT_SYMBOL_GPL(gni_cq_get_rem_inst_id);

uint64_t gni_cq_get_tid(gni_cq_entry_t entry)
{
	return gni_entry_tid(gni_entry_plain(entry));
}
EXPORT_SYMBOL_GPL(gni_cq_get_tid);

uint64_t gni_cq_get_msg_id(gni_cq_entry_t entry)
{
	return entry & ARIES_CQE_DATA_MASK;
}
EXPORT_SYMBOL_GPL(gni_cq_get_msg_id);

uint64_t gni_cq_get_type(gni_cq_entry_t entry)
{
	return gni_entry_type(entry);
}
EXPORT_SYMBOL_GPL(gni_cq_get_type);

/* This NIC has neither DLA nor fast-launch block transfers, so their fields read as 0. */
uint64_t gni_cq_get_block_id(gni_cq_entry_t entry)
{
	(void)entry;
	return 0;
}
EXPORT_SYMBOL_GPL(gni_cq_get_block_id);

uint64_t gni_cq_get_unsuccessful_cnt(gni_cq_entry_t entry)
{
	(void)entry;
	return 0;
}
EXPORT_SYMBOL_GPL(gni_cq_get_unsuccessful_cnt);

uint64_t gni_cq_get_marker_id(gni_cq_entry_t entry)
{
	(void)entry;
	return 0;
}
EXPORT_SYMBOL_GPL(gni_cq_get_marker_id);

uint64_t gni_cq_get_failed_enqueue_cnt(gni_cq_entry_t entry)
{
	(void)entry;
	return 0;
}
EXPORT_SYMBOL_GPL(gni_cq_get_failed_enqueue_cnt);

unsigned int gni_cq_status_dla_overflow(gni_cq_entry_t entry)
{
	(void)entry;
	return 0;
}
EXPORT_SYMBOL_GPL(gni_cq_status_dla_overflow);

unsigned int gni_cq_bte_enq_status(gni_cq_entry_t entry)
{
	(void)entry;
	return 0;
}
EXPORT_SYMBOL_GPL(gni_cq_bte_enq_status);

uint64_t gni_cq_get_ce_id(gni_cq_entry_t entry)
{
	return gni_entry_channel(entry) ? gni_entry_tid(entry) : 0;
}
EXPORT_SYMBOL_GPL(gni_cq_get_ce_id);

uint64_t gni_cq_get_reductn_id(gni_cq_entry_t entry)
{
	return gni_entry_channel(entry) ? entry & ARIES_CQE_DATA_MASK : 0;
}
EXPORT_SYMBOL_GPL(gni_cq_get_reductn_id);

uint64_t gni_cq_get_trans_type(gni_cq_entry_t entry)
{
	return gni_entry_info(gni_entry_plain(entry));
}
EXPORT_SYMBOL_GPL(gni_cq_get_trans_type);

void gni_cq_set_inst_id(gni_cq_entry_t *entry, uint64_t value)
{
	value &= GNI_INST_ID_MASK;
	if (gni_entry_failed(*entry))
		*entry = gni_entry_failed_pack(*entry, gni_entry_status(*entry), value);
	else
		gni_entry_put(entry, ARIES_CQE_DATA_MASK, value);
}
EXPORT_SYMBOL_GPL(gni_cq_set_inst_id);

void gni_cq_set_rem_inst_id(gni_cq_entry_t *entry, uint64_t value)
{
	gni_entry_put(entry, ARIES_CQE_DATA_MASK, value);
}
EXPORT_SYMBOL_GPL(gni_cq_set_rem_inst_id);

void gni_cq_set_tid(gni_cq_entry_t *entry, uint64_t value)
{
	/* A failed message has no transaction id: its bits name the endpoint. */
	if (!gni_entry_failed(*entry))
		gni_entry_put(entry, ARIES_CQE_TID_MASK, value << ARIES_CQE_TID_SHIFT);
}
EXPORT_SYMBOL_GPL(gni_cq_set_tid);

void gni_cq_set_msg_id(gni_cq_entry_t *entry, uint64_t value)
{
	gni_entry_put(entry, ARIES_CQE_DATA_MASK, value);
}
EXPORT_SYMBOL_GPL(gni_cq_set_msg_id);

void gni_cq_set_type(gni_cq_entry_t *entry, uint64_t value)
{
	if (value != GNI_CQ_EVENT_TYPE_SMSG && value != GNI_CQ_EVENT_TYPE_MSGQ)
		*entry = gni_entry_plain(*entry);
	gni_entry_put(entry, ARIES_CQE_TYPE_MASK, value << ARIES_CQE_TYPE_SHIFT);
}
EXPORT_SYMBOL_GPL(gni_cq_set_type);

void gni_cq_clr_status(gni_cq_entry_t *entry)
{
	*entry = gni_entry_plain(*entry) & ~ARIES_CQE_STATUS_MASK;
}
EXPORT_SYMBOL_GPL(gni_cq_clr_status);

uint64_t gni_ce_res_get_status(gni_ce_result_t *result)
{
	return GNI_FIELD_GET(ARIES_CER_STATUS, gni_load_acquire(&result->control));
}
EXPORT_SYMBOL_GPL(gni_ce_res_get_status);

uint64_t gni_ce_res_status_ok(gni_ce_result_t *result)
{
	return (gni_load_acquire(&result->control) & (ARIES_CER_DONE | ARIES_CER_STATUS_MASK)) ==
	       ARIES_CER_DONE;
}
EXPORT_SYMBOL_GPL(gni_ce_res_status_ok);

uint64_t gni_ce_res_get_fpe(gni_ce_result_t *result)
{
	return GNI_FIELD_GET(ARIES_CER_FPE, gni_load_acquire(&result->control));
}
EXPORT_SYMBOL_GPL(gni_ce_res_get_fpe);

uint64_t gni_ce_res_get_red_id(gni_ce_result_t *result)
{
	return GNI_FIELD_GET(ARIES_CER_RED_ID, gni_load_acquire(&result->control));
}
EXPORT_SYMBOL_GPL(gni_ce_res_get_red_id);

/* By the status without the bit that marks the initiator's side. */
static const struct {
	const char *name; /* NULL: no such status */
	bool recoverable;
} gni_statuses[GNI_STATUS_CODES] = {
#define GNI_STATUS_ROW(name, word, passing) \
	[ARIES_ST_##name] = { word, passing },
	GNI_STATUSES(GNI_STATUS_ROW)
};

const char *gni_status_name(uint32_t status)
{
	return gni_statuses[status & GNI_ENTRY_STATUS].name;
}

bool gni_status_recoverable(uint32_t status)
{
	return gni_statuses[status & GNI_ENTRY_STATUS].recoverable;
}

static const char *gni_source_name(uint64_t entry)
{
	if (gni_entry_failed(entry))
		return gni_entry_type(entry) == GNI_CQ_EVENT_TYPE_MSGQ ? "MSGQ" : "SMSG";
	switch (gni_entry_source(entry)) {
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

static char *gni_text_add(char *at, const char *word)
{
	while (*word)
		*at++ = *word++;
	*at = 0;
	return at;
}

/**
 * gni_entry_text() - say what an entry reports, as source:status
 * @entry: the entry
 * @text: GNI_ENTRY_TEXT bytes
 *
 * Return: bytes of the text, without the 0 at its end
 */
unsigned int gni_entry_text(uint64_t entry, char *text)
{
	const char *name = gni_status_name(gni_entry_status(entry));
	char *at = text;

	if (entry & ARIES_CQE_OVERRUN)
		return (unsigned int)(gni_text_add(at, "CQ:OVERRUN") - text);
	at = gni_text_add(at, gni_source_name(entry));
	at = gni_text_add(at, ":");
	if (gni_entry_status(gni_entry_plain(entry)) & ARIES_ST_LOCAL)
		at = gni_text_add(at, "LOCAL_");
	return (unsigned int)(gni_text_add(at, name ? name : "UNKNOWN") - text);
}
