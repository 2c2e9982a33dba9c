// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Names of codes, counters and resources, and error texts. */
#define CRAY_CONFIG_GHAL_ARIES 1 /* all names */
#include "cq_entry.hpp"
#include "debug.hpp"
#include "gni.hpp"
#include "gni_status.h"
#include "smsg_event.hpp"

#include <array>
#include <cstdio>

using namespace ugni;

extern "C" {

/* Callers index these with values they got from the library: one name for each. */
const char *gni_err_str[] = {
	"GNI_RC_SUCCESS",       "GNI_RC_NOT_DONE",         "GNI_RC_INVALID_PARAM",    "GNI_RC_ERROR_RESOURCE",
	"GNI_RC_TIMEOUT",       "GNI_RC_PERMISSION_ERROR", "GNI_RC_DESCRIPTOR_ERROR", "GNI_RC_ALIGNMENT_ERROR",
	"GNI_RC_INVALID_STATE", "GNI_RC_NO_MATCH",         "GNI_RC_SIZE_ERROR",       "GNI_RC_TRANSACTION_ERROR",
	"GNI_RC_ILLEGAL_OP",    "GNI_RC_ERROR_NOMEM",
};

const char *gni_statistic_str[] = {
	"SMSG_BUFF_CREDITS_STALL",    "SMSG_DLA_STALL",         "SMSG_MBOX_CREDITS_STALL", "SMSG_REQ_STALL",
	"SMSG_RETRANS_COUNT",         "SMSG_RETRANS_DLA_COUNT", "SMSG_RETRANS_STALL",      "DLA_ALLOC_STATUS_STALL",
	"DLA_ALLOC_STATUS_TIMEOUT",   "DLA_BLOCK_ORPHANED",     "DLA_BLOCK_RETRANS_COUNT", "DLA_FREE_BLOCKS_STALL",
	"DLA_FREE_FMAD_BLOCKS_STALL", "DLA_HIGH_RETRANS_COUNT", "DLA_OVERFLOW_RESEND",     "DLA_RETRANS_COUNT",
	"DLA_TOTAL_RETRANS_COUNT",    "FLBTE_TXD_CORRUPT",      "FLBTE_TXD_NONE",
};

} // extern "C"

static_assert(std::size(gni_err_str) == GNI_RC_ERROR_NOMEM + 1);
static_assert(std::size(gni_statistic_str) == GNI_NUM_STATS);

namespace
{

struct Status {
	const char *name; /* nullptr: no such status */
	bool recoverable;
};

/* By status code without the bit that marks the initiator's side. */
constexpr std::array<Status, GNI_STATUS_CODES> kStatus = [] {
	std::array<Status, GNI_STATUS_CODES> t{};
#define UGNI_STATUS(name, word, passing) t[ARIES_ST_##name] = {word, passing};
	GNI_STATUSES(UGNI_STATUS)
#undef UGNI_STATUS
	return t;
}();

const char *source_name(uint32_t source)
{
	switch (source) {
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

const Status &status_of(gni_cq_entry_t entry)
{
	return kStatus[entry_status(entry) & ~ARIES_ST_LOCAL];
}

template <size_t N> const char *name_of(const std::array<const char *, N> &names, unsigned index)
{
	return index < N && names[index] ? names[index] : "UNKNOWN";
}

} // namespace

bool ugni::status_recoverable(uint32_t status)
{
	return kStatus[status & (GNI_STATUS_CODES - 1)].recoverable;
}

gni_return_t GNI_CqErrorStr(gni_cq_entry_t entry, void *buffer, uint32_t len)
{
	if (!buffer || len == 0)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", buffer ? "a buffer of 0 bytes" : kNull);
	char text[64];
	int n;
	if (entry & ARIES_CQE_OVERRUN) {
		n = snprintf(text, sizeof(text), "CQ:OVERRUN");
	} else {
		const char *name = status_of(entry).name;
		const char *message = entry_type(entry) == GNI_CQ_EVENT_TYPE_MSGQ ? "MSGQ" : "SMSG";
		const char *source = smsg_failed(entry) ? message : source_name(entry_source(entry));
		bool local = entry_status(smsg_plain(entry)) & ARIES_ST_LOCAL;
		n = snprintf(text, sizeof(text), "%s:%s%s", source, local ? "LOCAL_" : "", name ? name : "UNKNOWN");
	}
	if (static_cast<uint32_t>(n) >= len)
		return refuse(GNI_RC_SIZE_ERROR, __func__, "%d bytes are needed, the buffer has %u", n + 1, len);
	__builtin_memcpy(buffer, text, static_cast<size_t>(n) + 1);
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_CqErrorRecoverable(gni_cq_entry_t entry, uint32_t *recoverable)
{
	if (!recoverable)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);
	const Status &status = status_of(entry);
	if (!status.name)
		return refuse(GNI_RC_INVALID_STATE, __func__, "the NIC has no status %u", entry_status(entry));
	*recoverable = status.recoverable;
	return GNI_RC_SUCCESS;
}

const char *gni_dev_res_to_str(gni_dev_res_t res_type)
{
	static constexpr std::array<const char *, 8> kNames = {
		"GNI_DEV_RES_FIRST", "GNI_DEV_RES_MDD", "GNI_DEV_RES_MRT", "GNI_DEV_RES_CQ",
		"GNI_DEV_RES_FMA",   "GNI_DEV_RES_CE",  "GNI_DEV_RES_DLA", "GNI_DEV_RES_LAST",
	};
	return name_of(kNames, res_type);
}

const char *gni_job_res_to_str(gni_job_res_t res_type)
{
	static constexpr std::array<const char *, 12> kNames = {
		"GNI_JOB_RES_FIRST", "GNI_JOB_RES_MDD", "GNI_JOB_RES_MRT",  "GNI_JOB_RES_IOMMU",
		"GNI_JOB_RES_GART",  "GNI_JOB_RES_CQ",  "GNI_JOB_RES_FMA",  "GNI_JOB_RES_RMDA",
		"GNI_JOB_RES_CE",    "GNI_JOB_RES_DLA", "GNI_JOB_RES_SFMA", "GNI_JOB_RES_LAST",
	};
	return name_of(kNames, res_type);
}
