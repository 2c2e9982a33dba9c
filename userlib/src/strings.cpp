// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Names of codes, counters and resources, and error texts. */
#define CRAY_CONFIG_GHAL_ARIES 1 /* all names */
#include "debug.hpp"
#include "gni.hpp"
#include "gni_entry.h"

#include <array>

using namespace ugni;

extern "C" {

/* Callers index these arrays with values from the library: one name for each value. */
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

template <size_t N> const char *name_of(const std::array<const char *, N> &names, unsigned index)
{
	return index < N && names[index] ? names[index] : "UNKNOWN";
}

} // namespace

gni_return_t GNI_CqErrorStr(gni_cq_entry_t entry, void *buffer, uint32_t len)
{
	if (!buffer || len == 0)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", buffer ? "a buffer of 0 bytes" : kNull);
	char text[GNI_ENTRY_TEXT];
	const uint32_t n = gni_entry_text(entry, text);
	if (n >= len)
		return refuse(GNI_RC_SIZE_ERROR, __func__, "%u bytes are needed, the buffer has %u", n + 1, len);
	__builtin_memcpy(buffer, text, n + 1);
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_CqErrorRecoverable(gni_cq_entry_t entry, uint32_t *recoverable)
{
	if (!recoverable)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);
	const uint32_t status = gni_entry_status(entry);
	if (!gni_status_name(status))
		return refuse(GNI_RC_INVALID_STATE, __func__, "the NIC has no status %u", status);
	*recoverable = gni_status_recoverable(status);
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
