// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Questions about devices; none needs a domain. */
#include "debug.hpp"
#include "kernel.hpp"
#include "version.hpp"

#include <cstring>

using namespace ugni;

namespace
{

constexpr const char *kNoDevice = "no /dev/kgniN can be opened";

/* An open device that closes itself. */
class Device
{
public:
	explicit Device(uint32_t number) : number_(number), rc_(kernel::open_device(number, &fd_)) {}
	~Device()
	{
		if (rc_ == GNI_RC_SUCCESS)
			sys::close_device(fd_);
	}
	Device(const Device &) = delete;
	Device &operator=(const Device &) = delete;

	bool open() const { return rc_ == GNI_RC_SUCCESS; }
	/* The device is there, though perhaps not for this caller. Other errors say nothing about it. */
	bool present() const { return open() || rc_ == GNI_RC_PERMISSION_ERROR; }
	/* What a question about a device that is not open is answered with: it does not exist, or nothing can be
	 * opened. */
	gni_return_t refusal(const char *call = __builtin_FUNCTION()) const
	{
		return kernel::no_device(rc_ == GNI_RC_NO_MATCH ? told(GNI_RC_INVALID_PARAM)
								: told(GNI_RC_ERROR_RESOURCE),
					 call, number_, fd_);
	}
	/* The file, or -errno. */
	int fd() const { return fd_; }

private:
	uint32_t number_;
	int fd_ = -1;
	gni_return_t rc_;
};

/* Calls @visit with the number of each device that is there, until it returns false. */
template <typename F> void for_each_device(F visit)
{
	for (uint32_t number = 0; number < kernel::kMaxDevices; number++) {
		if (Device(number).present() && !visit(number))
			return;
	}
}

} // namespace

gni_return_t GNI_GetNumLocalDevices(int *num_devices)
{
	if (!num_devices)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);
	int count = 0;
	for_each_device([&count](uint32_t) { return ++count > 0; });
	if (!count)
		return refuse(GNI_RC_ERROR_RESOURCE, __func__, "%s", kNoDevice);
	*num_devices = count;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_GetLocalDeviceIds(int len, int *device_ids)
{
	if (len <= 0 || !device_ids)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "room for %d ids", device_ids ? len : 0);
	int count = 0;
	for_each_device([&count, len, device_ids](uint32_t number) {
		device_ids[count++] = static_cast<int>(number);
		return count < len;
	});
	return count ? GNI_RC_SUCCESS : refuse(GNI_RC_ERROR_RESOURCE, __func__, "%s", kNoDevice);
}

gni_return_t GNI_CdmGetNicAddress(uint32_t device_id, uint32_t *address, uint32_t *cpu_id)
{
	Device device(device_id);
	kgni_query q;

	if (!device.open())
		return kernel::no_device(GNI_RC_NO_MATCH, __func__, device_id, device.fd());
	if (kernel::query(device.fd(), &q) != GNI_RC_SUCCESS)
		return told(GNI_RC_NO_MATCH);
	if (address)
		*address = q.pe;
	if (cpu_id)
		*cpu_id = q.cpu;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_GetDeviceType(gni_nic_device_t *dev_type)
{
	bool found = false;

	if (!dev_type)
		return refuse(GNI_RC_ERROR_RESOURCE, __func__, "%s", kNull);
	for_each_device([&](uint32_t number) {
		Device device(number);
		kgni_query q;
		if (!device.open() || kernel::query(device.fd(), &q, nullptr) != GNI_RC_SUCCESS)
			return true;
		*dev_type = static_cast<gni_nic_device_t>(q.device_type);
		found = true;
		return false;
	});
	return found ? GNI_RC_SUCCESS : refuse(GNI_RC_ERROR_RESOURCE, __func__, "%s", kNoDevice);
}

gni_return_t GNI_GetVersion(uint32_t *version)
{
	if (!version)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);
	*version = GNI_VERSION;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_GetVersionInformation(gni_version_info_t *version_info)
{
	static_assert(KGNI_BUILD_STRING == MAX_BUILD_STRING_LENGTH);
	static_assert(sizeof(UGNI_BUILD_STRING) <= MAX_BUILD_STRING_LENGTH);

	if (!version_info)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);
	*version_info = {};
	version_info->ugni_version = GNI_VERSION;
	memcpy(version_info->ugni_build_string, UGNI_BUILD_STRING, sizeof(UGNI_BUILD_STRING));
	for_each_device([version_info](uint32_t number) {
		Device device(number);
		kgni_query q;
		if (!device.open() || kernel::query(device.fd(), &q, nullptr) != GNI_RC_SUCCESS)
			return true;
		version_info->kgni_version = q.driver_version;
		memcpy(version_info->kgni_build_string, q.build, MAX_BUILD_STRING_LENGTH - 1);
		return false;
	});
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_GetDevResInfo(uint32_t device_id, gni_dev_res_t res_type, gni_dev_res_desc_t *res_desc)
{
	if (!res_desc || res_type <= GNI_DEV_RES_FIRST || res_type >= GNI_DEV_RES_LAST)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "resource %d, or nowhere to tell it", res_type);
	Device device(device_id);
	if (!device.open())
		return device.refusal();
	kgni_res res{};
	res.kind = res_type;
	gni_return_t rc = kernel::resource(device.fd(), &res);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	uint64_t taken = res.used + res.reserved_units + res.held;
	res_desc->total = res.total;
	res_desc->reserved = res.reserved_units;
	res_desc->held = res.held;
	res_desc->available = taken < res.total ? res.total - taken : 0;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_GetJobResInfo(uint32_t device_id, uint8_t ptag, gni_job_res_t res_type, gni_job_res_desc_t *res_desc)
{
	if (!res_desc || ptag == 0 || res_type <= GNI_JOB_RES_FIRST || res_type >= GNI_JOB_RES_LAST)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "resource %d of ptag %u, or nowhere to tell it", res_type,
			      ptag);
	Device device(device_id);
	if (!device.open())
		return device.refusal();
	kgni_res res{};
	res.kind = res_type;
	res.ptag = ptag;
	gni_return_t rc = kernel::resource(device.fd(), &res);
	if (rc != GNI_RC_SUCCESS)
		return rc;
	res_desc->used = res.used;
	res_desc->limit = res.total;
	return GNI_RC_SUCCESS;
}

gni_return_t GNI_GetPtag(uint32_t device_id, uint32_t cookie, uint8_t *ptag)
{
	if (!ptag)
		return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);
	Device device(device_id);
	if (!device.open())
		return device.refusal();
	return kernel::ptag(device.fd(), cookie, ptag);
}

namespace
{

/* The Aries reading of the limits: a byte of the union that has all bits set leaves its limit alone. */
constexpr uint8_t kSameLimit = 0xff;

int32_t small_limit(uint8_t value)
{
	return value == kSameLimit ? GNI_JOB_INVALID_LIMIT : value;
}

/* DLA entries are not limited: this NIC has none. */
void set_limits(kgni_job *job, const gni_job_limits_t &limits)
{
	job->flags = KGNI_JOB_LIMITS;
	job->limit_mdd = limits.mdd_limit;
	job->limit_cq = limits.cq_limit;
	job->limit_fma = limits.fma_limit;
	job->limit_ce = small_limit(limits.a.m.ce_limit);
	job->limit_bte = limits.bte_limit;
	job->limit_iommu = small_limit(limits.a.m.iommu_limit);
	job->limit_dgram = GNI_JOB_INVALID_LIMIT;
	job->limit_recv = GNI_JOB_INVALID_LIMIT;
}

/* Assigns a range of the node translation table to a new job, if the limits name a range. */
gni_return_t tie_range(int fd, uint32_t cookie, const gni_job_limits_t *limits, const char *call)
{
	if (!limits || limits->ntt_size == GNI_JOB_INVALID_LIMIT || limits->ntt_size == 0)
		return GNI_RC_SUCCESS;
	if (limits->ntt_size < 0 || limits->ntt_base < 0)
		return refuse(GNI_RC_INVALID_PARAM, call, "ntt_base %d, ntt_size %d", limits->ntt_base,
			      limits->ntt_size);
	kgni_job_ntt tie{};
	tie.cookie = cookie;
	tie.base = static_cast<uint32_t>(limits->ntt_base);
	tie.size = static_cast<uint32_t>(limits->ntt_size);
	if (limits->ntt_ctrl != GNI_JOB_INVALID_LIMIT && (limits->ntt_ctrl & GNI_JOB_CTRL_NTT_CLEANUP))
		tie.flags = KGNI_JOB_NTT_CLEANUP;
	return kernel::job_ntt(fd, &tie, call);
}

} // namespace

gni_return_t ugni::configure_job(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie,
				 const gni_job_limits_t *limits, const char *call)
{
	if (ptag == 0)
		return refuse(GNI_RC_INVALID_PARAM, call, "ptag is 0");
	int fd = -1;
	gni_return_t rc = kernel::open_device(device_id, &fd);
	if (rc != GNI_RC_SUCCESS)
		return kernel::no_device(rc, call, device_id, fd);
	kgni_job job{};
	job.job_id = job_id;
	job.cookie = cookie;
	job.ptag = ptag;
	job.limit_mdd = GNI_JOB_INVALID_LIMIT;
	job.limit_cq = GNI_JOB_INVALID_LIMIT;
	job.limit_fma = GNI_JOB_INVALID_LIMIT;
	if (limits)
		set_limits(&job, *limits);
	rc = kernel::job(fd, &job, call);
	if (rc == GNI_RC_SUCCESS)
		rc = tie_range(fd, cookie, limits, call);
	sys::close_device(fd);
	return rc;
}

gni_return_t GNI_ConfigureJob(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie,
			      gni_job_limits_t *limits)
{
	return configure_job(device_id, job_id, ptag, cookie, limits, __func__);
}
