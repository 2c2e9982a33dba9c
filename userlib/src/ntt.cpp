// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Node translation and balanced injection: requests of launchers. */
#include "debug.hpp"
#include "kernel.hpp"

#include <cstdlib>
#include <cstring>

using namespace ugni;

namespace
{

/* gni_ntt_descriptor_t::flags: the entries from *ntt_base on change in place. An addition of this library. */
constexpr uint8_t kChange = 1;

/* Codes that a function documents, for one that the device did not open with. */
using Documented = gni_return_t (*)(gni_return_t rc);

gni_return_t any_code(gni_return_t rc)
{
	return rc;
}

gni_return_t permission_or_parameter(gni_return_t rc)
{
	return rc == GNI_RC_PERMISSION_ERROR ? rc : told(GNI_RC_INVALID_PARAM);
}

gni_return_t parameter(gni_return_t rc)
{
	(void)rc;
	return told(GNI_RC_INVALID_PARAM);
}

/* An open device for one request. */
template <typename F> gni_return_t with_device(int device, const char *call, Documented documented, F request)
{
	int fd = -1;

	if (device < 0)
		return refuse(documented(GNI_RC_NO_MATCH), call, "device %d", device);
	gni_return_t rc = kernel::open_device(static_cast<uint32_t>(device), &fd);
	if (rc != GNI_RC_SUCCESS)
		return kernel::no_device(documented(rc), call, static_cast<uint32_t>(device), fd);
	rc = request(fd);
	sys::close_device(fd);
	return rc == GNI_RC_SUCCESS ? rc : documented(rc);
}

gni_return_t clear_table(int device, uint32_t base, uint32_t count, const char *call)
{
	kgni_ntt arg{};

	arg.flags = KGNI_NTT_CLEAR;
	arg.base = base;
	arg.count = count;
	return with_device(device, call, any_code, [&](int fd) { return kernel::ntt(fd, &arg, call); });
}

gni_return_t write_table(int device, const gni_ntt_descriptor_t *desc, uint32_t *base, const char *call)
{
	auto *entries = static_cast<kgni_ntt_entry *>(calloc(desc->group_size, sizeof(kgni_ntt_entry)));

	if (!entries)
		return refuse(GNI_RC_ERROR_NOMEM, call, "no memory for %u entries", desc->group_size);
	for (uint32_t i = 0; i < desc->group_size; i++) {
		const gni_ntt_entry_t &from = desc->u.table_v2[i];
		entries[i] = {from.blck_addr, from.rplc_addr, from.rplc_size, 0};
	}
	kgni_ntt arg{};
	arg.flags = desc->flags == kChange ? KGNI_NTT_CHANGE : 0;
	arg.base = desc->flags == kChange ? *base : 0;
	arg.count = desc->group_size;
	arg.granularity = desc->granularity;
	arg.entries = reinterpret_cast<uintptr_t>(entries);
	gni_return_t rc = with_device(device, call, any_code, [&](int fd) { return kernel::ntt(fd, &arg, call); });
	free(entries);
	if (rc == GNI_RC_SUCCESS)
		*base = arg.base;
	return rc;
}

constexpr uint32_t kMostEntries = 1U << 18; /* nodes of the network; the driver knows its table */

gni_return_t configure(int device_id, gni_ntt_descriptor_t *ntt_desc, uint32_t *ntt_base, const char *call)
{
	if (!ntt_desc || !ntt_base)
		return refuse(GNI_RC_INVALID_PARAM, call, "%s", kNull);
	if (ntt_desc->group_size == 0)
		return refuse(GNI_RC_INVALID_PARAM, call, "a table of 0 entries");
	if (!ntt_desc->u.table_v2)
		return clear_table(device_id, *ntt_base, ntt_desc->group_size, call);
	if (ntt_desc->group_size > kMostEntries)
		return refuse(GNI_RC_INVALID_PARAM, call, "%u entries, of %u nodes", ntt_desc->group_size,
			      kMostEntries);
	return write_table(device_id, ntt_desc, ntt_base, call);
}

} // namespace

gni_return_t GNI_ConfigureNTT(int device_id, gni_ntt_descriptor_t *ntt_desc, uint32_t *ntt_base)
{
	return configure(device_id, ntt_desc, ntt_base, __func__);
}

gni_return_t GNI_ConfigureNTTandJob(int device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie,
				    gni_job_limits_t *limits, gni_ntt_descriptor_t *ntt_desc, uint32_t *ntt_base)
{
	const auto device = static_cast<uint32_t>(device_id);

	if (!ntt_desc)
		return configure_job(device, job_id, ptag, cookie, limits, __func__);
	if (!ntt_base || !ntt_desc->u.table_v2 || ntt_desc->flags == kChange)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "a table is installed here, not cleared or changed");
	gni_return_t rc = configure(device_id, ntt_desc, ntt_base, __func__);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	gni_job_limits_t mine;
	if (limits)
		mine = *limits;
	else
		memset(&mine, GNI_JOB_INVALID_LIMIT, sizeof(mine)); /* -1: every byte is the same */
	mine.ntt_base = static_cast<int32_t>(*ntt_base);
	mine.ntt_size = static_cast<int32_t>(ntt_desc->group_size);
	rc = configure_job(device, job_id, ptag, cookie, &mine, __func__);
	if (rc != GNI_RC_SUCCESS)
		(void)clear_table(device_id, *ntt_base, ntt_desc->group_size, nullptr);
	return rc;
}

gni_return_t GNI_GetNttGran(uint32_t device_id, uint32_t *ntt_gran)
{
	kgni_ntt_info info{};

	if (!ntt_gran)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);
	const char *const call = __func__;
	const gni_return_t rc = with_device(static_cast<int>(device_id), call, parameter,
					    [&](int fd) { return kernel::ntt_info(fd, &info, call); });
	if (rc != GNI_RC_SUCCESS)
		return rc;
	*ntt_gran = info.granularity;
	return GNI_RC_SUCCESS;
}

namespace
{

/* @documented: an unprivileged caller who only asks gets no PERMISSION_ERROR */
gni_return_t injection(uint32_t device, kgni_bi *arg, Documented documented, const char *call = __builtin_FUNCTION())
{
	return with_device(static_cast<int>(device), call, documented,
			   [&](int fd) { return kernel::bi(fd, arg, call); });
}

constexpr uint16_t kDefaultPercent = 100;

} // namespace

gni_return_t GNI_SetBIConfig(uint32_t device_id, uint16_t bw, uint16_t aot_bw, uint16_t modes)
{
	kgni_bi arg{};

	arg.flags = KGNI_BI_SET;
	arg.modes = modes;
	arg.bw = bw;
	arg.aot_bw = aot_bw;
	return injection(device_id, &arg, permission_or_parameter);
}

gni_return_t GNI_GetBIConfig(uint32_t device_id, gni_bi_desc_t *desc)
{
	kgni_bi arg{};

	if (!desc)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);
	gni_return_t rc = injection(device_id, &arg, parameter);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	desc->current_bw = arg.current_bw;
	desc->current_aot_bw = arg.current_aot_bw;
	desc->current_norbs = arg.current_norbs;
	desc->flags = arg.current_modes;
	desc->sys_def_bw = kDefaultPercent;
	desc->sys_def_aot_bw = kDefaultPercent;
	desc->cle_seqnum = static_cast<uint16_t>(arg.sequence);
	desc->hss_seqnum = static_cast<uint16_t>(arg.sequence);
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_BISyncWait(uint32_t device_id, uint32_t timeout)
{
	kgni_bi arg{};

	/* A change is in force when SetBIConfig returns. */
	(void)timeout;
	return injection(device_id, &arg, parameter);
}
