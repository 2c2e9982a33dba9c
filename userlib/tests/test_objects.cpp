// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Handles: creation, order of destruction, misuse. */
#include "session.hpp"

#include <cerrno>
#include <cstring>
#include <set>
#include <vector>

/* Programs may link against distributed queues; nothing is done and nothing is stored. */
TEST(no_distributed_queues)
{
	Session s;
	auto *const untouched = reinterpret_cast<gni_dqueue_handle_t>(&s);
	gni_dqueue_handle_t queue = untouched;
	uint64_t word = 1;

	assert_rc(ILLEGAL_OP, GNI_DqueueInit(s.nic, nullptr, nullptr, &queue));
	assert_ptr_equal(queue, untouched);
	assert_rc(ILLEGAL_OP, GNI_DqueueConnect(queue, nullptr, 0));
	assert_rc(ILLEGAL_OP, GNI_DqueuePut(queue, &word, sizeof(word), 0, 0));
	assert_rc(ILLEGAL_OP, GNI_DqueueProgress(queue));
	assert_rc(ILLEGAL_OP, GNI_DqueueFini(queue));
}

TEST(null_and_garbage_handles)
{
	Session s;
	auto *garbage_ep = reinterpret_cast<gni_ep_handle_t>(0x1234567);
	auto *garbage_cq = reinterpret_cast<gni_cq_handle_t>(&s);
	auto *inside = reinterpret_cast<gni_ep_handle_t>(reinterpret_cast<char *>(s.ep) + 8);
	gni_cq_entry_t e = 0;
	gni_post_descriptor_t *d = nullptr;

	for (gni_ep_handle_t ep : {gni_ep_handle_t{nullptr}, garbage_ep, inside}) {
		gni_post_descriptor_t p = s.post(GNI_POST_FMA_PUT);
		assert_rc(INVALID_PARAM, GNI_EpBind(ep, 1, 1));
		assert_rc(INVALID_PARAM, GNI_EpUnbind(ep));
		assert_rc(INVALID_PARAM, GNI_EpIdle(ep));
		assert_rc(INVALID_PARAM, GNI_EpSetEventData(ep, 1, 1));
		assert_rc(INVALID_PARAM, GNI_EpDestroy(ep));
		assert_rc(INVALID_PARAM, GNI_PostFma(ep, &p));
		assert_rc(INVALID_PARAM, GNI_PostRdma(ep, &p));
		assert_rc(INVALID_PARAM, GNI_PostCqWrite(ep, &p));
	}
	for (gni_cq_handle_t cq : {gni_cq_handle_t{nullptr}, garbage_cq}) {
		uint32_t which = 0;
		assert_rc(INVALID_PARAM, GNI_CqGetEvent(cq, &e));
		assert_rc(INVALID_PARAM, GNI_CqTestEvent(cq));
		assert_rc(INVALID_PARAM, GNI_CqWaitEvent(cq, 0, &e));
		assert_rc(INVALID_PARAM, GNI_CqVectorMonitor(&cq, 1, 0, &which));
		assert_rc(INVALID_PARAM, GNI_CqVectorWaitEvent(&cq, 1, 0, &e, &which));
		assert_rc(INVALID_PARAM, GNI_CqInterruptMask(cq));
		assert_rc(INVALID_PARAM, GNI_CqInterruptUnmask(cq));
		assert_rc(INVALID_PARAM, GNI_GetCompleted(cq, e, &d));
		assert_rc(INVALID_PARAM, GNI_CqDestroy(cq));
	}
	assert_rc(INVALID_PARAM, GNI_CdmDestroy(nullptr));
	assert_rc(INVALID_PARAM, GNI_EpCreate(nullptr, nullptr, &s.ep));
	assert_rc(INVALID_PARAM, GNI_EpCreate(s.nic, garbage_cq, &s.ep));
}

TEST(destroyed_handles)
{
	Session s;
	gni_ep_handle_t ep = s.ep, other = nullptr;
	gni_cq_handle_t cq = s.cq;
	gni_cq_entry_t e = 0;

	assert_rc(SUCCESS, GNI_EpDestroy(ep));
	assert_rc(INVALID_PARAM, GNI_EpDestroy(ep));
	/* The next endpoints do not take the old one's place. */
	for (int i = 0; i < 60; i++) {
		assert_rc(SUCCESS, GNI_EpCreate(s.nic, nullptr, &other));
		assert_ptr_not_equal(other, ep);
		assert_rc(SUCCESS, GNI_EpDestroy(other));
	}
	assert_rc(INVALID_PARAM, GNI_EpBind(ep, 1, 1));
	assert_rc(SUCCESS, GNI_CqDestroy(cq));
	assert_rc(INVALID_PARAM, GNI_CqDestroy(cq));
	assert_rc(INVALID_PARAM, GNI_CqGetEvent(cq, &e));
	gni_cdm_handle_t cdm = s.cdm;
	gni_nic_handle_t nic = s.nic;
	assert_rc(SUCCESS, GNI_CdmDestroy(cdm));
	assert_rc(INVALID_PARAM, GNI_CdmDestroy(cdm));
	assert_rc(INVALID_PARAM, GNI_EpCreate(nic, nullptr, &ep));
	assert_int_equal(fake::kernel().files.size(), 0);
}

TEST(slots_are_used_again)
{
	Session s;
	std::set<gni_ep_handle_t> seen;
	gni_ep_handle_t ep = nullptr;

	for (int i = 0; i < 10000; i++) {
		assert_rc(SUCCESS, GNI_EpCreate(s.nic, nullptr, &ep));
		seen.insert(ep);
		assert_rc(SUCCESS, GNI_EpDestroy(ep));
	}
	assert_true(seen.size() < 200);
}

/* Endpoints that end before their posts leave nothing behind when the domain does: more of them than there are slots.
 */
TEST(posts_outlived_their_endpoint)
{
	constexpr uint32_t each = 4096;
	constexpr uint32_t domains = (1U << 18) / each + 2;

	for (uint32_t n = 0; n < domains; n++) {
		Session s(0, each + 64);

		fake::kernel().on_doorbell = nullptr;
		for (uint32_t k = 0; k < each; k++) {
			gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT);
			gni_ep_handle_t ep = nullptr;

			assert_rc(SUCCESS, GNI_EpCreate(s.nic, s.cq, &ep));
			assert_rc(SUCCESS, GNI_EpBind(ep, 6, 88));
			assert_rc(SUCCESS, GNI_PostFma(ep, &d));
			assert_rc(SUCCESS, GNI_EpDestroy(ep));
		}
	}
}

/* Clients use the low 24 bits of an endpoint's handle as its id; 0 and 1 are theirs. */
TEST(endpoint_handles_as_ids)
{
	Session s;
	std::set<uint64_t> ids;
	std::vector<gni_ep_handle_t> eps(20000);

	for (auto &ep : eps) {
		assert_rc(SUCCESS, GNI_EpCreate(s.nic, nullptr, &ep));
		uint64_t id = reinterpret_cast<uintptr_t>(ep) & 0xffffff;
		assert_true(id > 1);
		assert_true(ids.insert(id).second);
	}
}

TEST(everything_open_at_the_end)
{
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT);
	gni_ep_handle_t ep = s.ep;
	gni_cq_handle_t cq = s.cq;
	gni_cq_entry_t e = 0;

	assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
	assert_rc(SUCCESS, GNI_CdmDestroy(s.cdm));
	assert_rc(INVALID_PARAM, GNI_EpDestroy(ep));
	assert_rc(INVALID_PARAM, GNI_CqGetEvent(cq, &e));
	assert_int_equal(fake::kernel().files.size(), 0);
}

TEST(cdm_modes)
{
	gni_cdm_handle_t cdm = nullptr;

	fake::reset();
	assert_rc(INVALID_PARAM, GNI_CdmCreate(1, 0, 1, 0, &cdm));
	assert_rc(INVALID_PARAM, GNI_CdmCreate(1, 255, 1, 0, nullptr));
	assert_rc(INVALID_PARAM, GNI_CdmCreate(1, 255, 1, GNI_CDM_MODE_FORK_NOCOPY | GNI_CDM_MODE_FORK_FULLCOPY, &cdm));
	assert_rc(INVALID_PARAM, GNI_CdmCreate(1, 255, 1, GNI_CDM_MODE_ERR_NO_KILL | GNI_CDM_MODE_ERR_ALL_KILL, &cdm));
	assert_rc(INVALID_PARAM, GNI_CdmCreate(1, 255, 1, GNI_CDM_MODE_PRIV_RESERVED_1, &cdm));
	/* What Open MPI, UCX and libfabric pass. */
	for (uint32_t modes : {0x22022cU, 0x6002aU, 0x22002cU}) {
		assert_rc(SUCCESS, GNI_CdmCreate(1, 255, 1, modes, &cdm));
		assert_rc(SUCCESS, GNI_CdmDestroy(cdm));
	}
}

/* The variable undoes one mode, and only with the value 0. */
TEST(sharing_by_environment)
{
	constexpr uint32_t kRest = GNI_CDM_MODE_FORK_FULLCOPY | GNI_CDM_MODE_DLA_ENABLE_FORWARDING;
	const struct {
		const char *value;
		uint32_t asked, passed;
	} table[] = {
		{nullptr, GNI_CDM_MODE_FMA_SHARED, GNI_CDM_MODE_FMA_SHARED},
		{"1", GNI_CDM_MODE_FMA_SHARED, GNI_CDM_MODE_FMA_SHARED},
		{"", GNI_CDM_MODE_FMA_SHARED, GNI_CDM_MODE_FMA_SHARED},
		{"0", GNI_CDM_MODE_FMA_SHARED, GNI_CDM_MODE_FMA_DEDICATED},
		{"0", GNI_CDM_MODE_FMA_DEDICATED, GNI_CDM_MODE_FMA_DEDICATED},
		{"0", 0, 0},
	};

	for (auto &t : table) {
		if (t.value)
			setenv("UGNI_FMA_SHARED", t.value, 1);
		Session s(kRest | t.asked);
		unsetenv("UGNI_FMA_SHARED");
		assert_int_equal(s.file().attach.modes, kRest | t.passed);
	}
}

TEST(attach_codes)
{
	gni_cdm_handle_t cdm = nullptr;
	gni_nic_handle_t nic = nullptr, before = nullptr;
	uint32_t address = 0;

	fake::reset();
	assert_rc(SUCCESS, GNI_CdmCreate(1, 255, 0x1234, 0, &cdm));
	assert_rc(NO_MATCH, GNI_CdmAttach(cdm, 1, &address, &nic));
	struct {
		int error;
		gni_return_t rc;
	} table[] = {{-EPERM, GNI_RC_PERMISSION_ERROR}, {-EACCES, GNI_RC_PERMISSION_ERROR},
		     {-EBUSY, GNI_RC_INVALID_STATE},    {-ENOSPC, GNI_RC_ERROR_RESOURCE},
		     {-EPROTO, GNI_RC_ERROR_RESOURCE},  {-EINVAL, GNI_RC_INVALID_PARAM},
		     {-ENODEV, GNI_RC_NO_MATCH},        {-EIO, GNI_RC_ERROR_RESOURCE},
		     {-EINTR, GNI_RC_NOT_DONE},         {-ENOMEM, GNI_RC_ERROR_NOMEM}};
	for (auto &t : table) {
		fake::kernel().errors[KGNI_IOC_ATTACH] = t.error;
		assert_int_equal(t.rc, GNI_CdmAttach(cdm, 0, &address, &nic));
		assert_ptr_equal(nic, before);
		assert_int_equal(fake::kernel().files.size(), 0);
	}
	fake::kernel().errors.clear();
	fake::kernel().open_error = -EACCES;
	assert_rc(PERMISSION_ERROR, GNI_CdmAttach(cdm, 0, &address, &nic));
	fake::kernel().open_error = 0;
	assert_rc(SUCCESS, GNI_CdmAttach(cdm, 0, &address, &nic));
	assert_int_equal(address, 5);
	assert_int_equal(fake::kernel().file().attach.cookie, 0x1234);
	assert_rc(INVALID_STATE, GNI_CdmAttach(cdm, 0, &address, &nic));
	assert_rc(INVALID_STATE, GNI_CdmAttach(cdm, ~0U, &address, &nic));
	fake::kernel().devices = 2;
	assert_rc(SUCCESS, GNI_CdmAttach(cdm, ~0U, &address, &before));
	assert_ptr_not_equal(nic, before);
	/* One that does not take the domain is passed over; what the first has said counts if none does. */
	fake::kernel().devices = 4;
	fake::kernel().once[KGNI_IOC_ATTACH] = -ENOSPC;
	assert_rc(SUCCESS, GNI_CdmAttach(cdm, ~0U, &address, &nic));
	fake::kernel().errors[KGNI_IOC_ATTACH] = -EPERM;
	fake::kernel().once[KGNI_IOC_ATTACH] = -ENOSPC;
	assert_rc(ERROR_RESOURCE, GNI_CdmAttach(cdm, ~0U, &address, &nic));
	fake::kernel().errors.clear();
	assert_rc(INVALID_PARAM, GNI_CdmAttach(cdm, 0, nullptr, &nic));
	assert_rc(INVALID_PARAM, GNI_CdmAttach(nullptr, 0, &address, &nic));
	assert_rc(SUCCESS, GNI_CdmDestroy(cdm));
}

TEST(nearest_without_devices)
{
	gni_cdm_handle_t cdm = nullptr;
	gni_nic_handle_t nic = nullptr;
	uint32_t address = 0;
	int count = 0, ids[2] = {-1, -1};
	gni_nic_device_t type = GNI_DEVICE_LAST;

	fake::reset();
	fake::kernel().devices = 0;
	assert_rc(SUCCESS, GNI_CdmCreate(1, 255, 1, 0, &cdm));
	assert_rc(NO_MATCH, GNI_CdmAttach(cdm, ~0U, &address, &nic));
	assert_rc(ERROR_RESOURCE, GNI_GetNumLocalDevices(&count));
	assert_rc(ERROR_RESOURCE, GNI_GetLocalDeviceIds(2, ids));
	assert_rc(ERROR_RESOURCE, GNI_GetDeviceType(&type));
	assert_rc(NO_MATCH, GNI_CdmGetNicAddress(0, &address, &address));
	/* Devices that may be there or not are not counted; one of somebody else is. */
	fake::kernel().open_error = -EMFILE;
	assert_rc(ERROR_RESOURCE, GNI_GetNumLocalDevices(&count));
	assert_rc(ERROR_RESOURCE, GNI_GetLocalDeviceIds(2, ids));
	fake::kernel().open_error = -EACCES;
	assert_rc(SUCCESS, GNI_GetLocalDeviceIds(1, ids));
	fake::kernel().open_error = 0;
	gni_version_info_t v;
	assert_rc(SUCCESS, GNI_GetVersionInformation(&v));
	assert_int_equal(v.kgni_version, 0);
	assert_int_equal(v.ugni_version, GNI_VERSION);
	assert_rc(SUCCESS, GNI_CdmDestroy(cdm));
}

TEST(queries)
{
	int count = 0, ids[2] = {-1, -1};
	uint32_t address = 0, cpu = 0, version = 0, granularity = 0;
	gni_nic_device_t type = GNI_DEVICE_LAST;
	gni_version_info_t v;
	gni_dev_res_desc_t dev;
	gni_job_res_desc_t job;
	uint8_t ptag = 0;

	fake::reset();
	assert_rc(SUCCESS, GNI_GetNumLocalDevices(&count));
	assert_int_equal(count, 1);
	assert_rc(SUCCESS, GNI_GetLocalDeviceIds(2, ids));
	assert_true(ids[0] == 0 && ids[1] == -1);
	assert_rc(SUCCESS, GNI_CdmGetNicAddress(0, &address, &cpu));
	assert_true(address == 5 && cpu == 2);
	assert_rc(SUCCESS, GNI_GetDeviceType(&type));
	assert_int_equal(type, GNI_DEVICE_ARIES);
	assert_rc(SUCCESS, GNI_GetVersion(&version));
	assert_int_equal(version, GNI_VERSION);
	assert_rc(SUCCESS, GNI_GetVersionInformation(&v));
	assert_int_equal(v.kgni_version, 0x5c0001);
	assert_string_equal(v.kgni_build_string, "fake driver");
	assert_true(strlen(v.ugni_build_string) > 0);
	assert_rc(SUCCESS, GNI_GetDevResInfo(0, GNI_DEV_RES_FMA, &dev));
	assert_true(dev.total == 100 && dev.available == 85 && dev.reserved == 3 && dev.held == 2);
	assert_rc(INVALID_PARAM, GNI_GetDevResInfo(0, GNI_DEV_RES_LAST, &dev));
	assert_rc(INVALID_PARAM, GNI_GetDevResInfo(7, GNI_DEV_RES_FMA, &dev));
	assert_rc(SUCCESS, GNI_GetJobResInfo(0, 33, GNI_JOB_RES_MDD, &job));
	assert_true(job.used == 10 && job.limit == 100);
	assert_rc(INVALID_PARAM, GNI_GetJobResInfo(0, 0, GNI_JOB_RES_MDD, &job));
	assert_rc(INVALID_PARAM, GNI_GetJobResInfo(0, 33, GNI_JOB_RES_FIRST, &job));
	fake::kernel().errors[KGNI_IOC_RES] = -EOPNOTSUPP;
	assert_rc(ERROR_RESOURCE, GNI_GetJobResInfo(0, 33, GNI_JOB_RES_GART, &job));
	assert_rc(SUCCESS, GNI_GetPtag(0, 0x1234, &ptag));
	assert_int_equal(ptag, 33);
	fake::kernel().errors[KGNI_IOC_PTAG] = -ENOENT;
	assert_rc(NO_MATCH, GNI_GetPtag(0, 0x1234, &ptag));
	assert_rc(SUCCESS, GNI_GetNttGran(0, &granularity));
	assert_int_equal(granularity, 4);
	assert_int_equal(fake::kernel().files.size(), 0);
}

TEST(configure_job)
{
	gni_job_limits_t limits;

	fake::reset();
	memset(&limits, 0xff, sizeof(limits));
	limits.mdd_limit = 100;
	assert_rc(SUCCESS, GNI_ConfigureJob(0, 42, 33, 0x1234, &limits));
	const kgni_job &j = fake::kernel().jobs.back();
	assert_true(j.job_id == 42 && j.ptag == 33 && j.cookie == 0x1234 && j.limit_mdd == 100 && j.limit_cq == -1);
	assert_true(j.flags == KGNI_JOB_LIMITS && j.limit_fma == -1 && j.limit_ce == -1 && j.limit_bte == -1 &&
		    j.limit_iommu == -1 && j.limit_dgram == -1 && j.limit_recv == -1 && j.reserved3 == 0);
	limits.cq_limit = 1;
	limits.fma_limit = 2;
	limits.bte_limit = 3;
	limits.a.m.ce_limit = 0;
	limits.a.m.iommu_limit = 5;
	limits.b.dla_limit = 9;
	assert_rc(SUCCESS, GNI_ConfigureJob(0, 42, 33, 0x1234, &limits));
	const kgni_job &all = fake::kernel().jobs.back();
	assert_true(all.limit_mdd == 100 && all.limit_cq == 1 && all.limit_fma == 2 && all.limit_bte == 3 &&
		    all.limit_ce == 0 && all.limit_iommu == 5);
	assert_rc(SUCCESS, GNI_ConfigureJob(0, 42, 33, 0x1234, nullptr));
	const kgni_job &none = fake::kernel().jobs.back();
	assert_true(none.flags == 0 && none.limit_mdd == -1 && none.limit_cq == -1 && none.limit_fma == -1 &&
		    none.limit_ce == 0 && none.limit_bte == 0);
	assert_rc(SUCCESS, GNI_ConfigureNTTandJob(0, 42, 33, 0x1234, nullptr, nullptr, nullptr));
	assert_int_equal(fake::kernel().jobs.size(), 4);
	assert_true(fake::kernel().ranges.empty());
	limits.ntt_size = 4;
	assert_rc(INVALID_PARAM, GNI_ConfigureJob(0, 42, 33, 0x1234, &limits));
	limits.ntt_base = 8;
	assert_rc(SUCCESS, GNI_ConfigureJob(0, 42, 33, 0x1234, &limits));
	const kgni_job_ntt &r = fake::kernel().ranges.back();
	assert_true(r.base == 8 && r.size == 4 && r.cookie == 0x1234 && r.flags == 0);
	limits.ntt_ctrl = GNI_JOB_CTRL_NTT_CLEANUP;
	assert_rc(SUCCESS, GNI_ConfigureJob(0, 42, 33, 0x1234, &limits));
	assert_int_equal(fake::kernel().ranges.back().flags, KGNI_JOB_NTT_CLEANUP);
	fake::kernel().errors[KGNI_IOC_JOB_NTT] = -EOPNOTSUPP;
	assert_rc(ILLEGAL_OP, GNI_ConfigureJob(0, 42, 33, 0x1234, &limits));
	fake::kernel().errors[KGNI_IOC_JOB] = -EPERM;
	assert_rc(PERMISSION_ERROR, GNI_ConfigureJob(0, 42, 33, 0x1234, nullptr));
	fake::kernel().errors[KGNI_IOC_JOB] = -EEXIST;
	assert_rc(INVALID_STATE, GNI_ConfigureJob(0, 42, 33, 0x1234, nullptr));
	assert_rc(NO_MATCH, GNI_ConfigureJob(3, 42, 33, 0x1234, nullptr));
}

TEST(node_translation)
{
	gni_ntt_entry_t entries[2] = {{100, 0, 0}, {200, 300, 2}};
	gni_ntt_descriptor_t table = {};
	uint32_t base = 7;

	fake::reset();
	table.group_size = 2;
	table.granularity = 4;
	table.u.table_v2 = entries;
	assert_rc(INVALID_PARAM, GNI_ConfigureNTT(0, nullptr, &base));
	assert_rc(INVALID_PARAM, GNI_ConfigureNTT(0, &table, nullptr));
	/* More entries than there can be nodes: nothing is read of them. */
	table.group_size = (1U << 18) + 1;
	assert_rc(INVALID_PARAM, GNI_ConfigureNTT(0, &table, &base));
	table.group_size = 2;
	assert_rc(NO_MATCH, GNI_ConfigureNTT(3, &table, &base));
	assert_rc(NO_MATCH, GNI_ConfigureNTT(-1, &table, &base));
	assert_rc(SUCCESS, GNI_ConfigureNTT(0, &table, &base));
	assert_int_equal(base, 64);
	assert_true(fake::kernel().tables.back().granularity == 4 && fake::kernel().tables.back().count == 2);
	const kgni_ntt_entry &second = fake::kernel().entries[1];
	assert_true(second.block == 200 && second.replacement == 300 && second.size == 2 && second.reserved == 0);
	/* In place. */
	table.flags = 1;
	base = 65;
	table.group_size = 1;
	assert_rc(SUCCESS, GNI_ConfigureNTT(0, &table, &base));
	assert_true(fake::kernel().tables.back().flags == KGNI_NTT_CHANGE && fake::kernel().tables.back().base == 65);
	/* Clearing. */
	table.u.table_v2 = nullptr;
	assert_rc(SUCCESS, GNI_ConfigureNTT(0, &table, &base));
	assert_true(fake::kernel().tables.back().flags == KGNI_NTT_CLEAR && fake::kernel().tables.back().base == 65 &&
		    fake::kernel().tables.back().entries == 0);
	assert_rc(INVALID_PARAM, GNI_ConfigureNTTandJob(0, 1, 33, 5, nullptr, &table, &base));
	table.u.table_v2 = entries;
	table.flags = 0;
	assert_rc(SUCCESS, GNI_ConfigureNTTandJob(0, 1, 33, 5, nullptr, &table, &base));
	assert_true(fake::kernel().ranges.back().base == 64 && fake::kernel().ranges.back().size == 1);
	/* Without the job the entries go, too. */
	fake::kernel().errors[KGNI_IOC_JOB] = -EEXIST;
	assert_rc(INVALID_STATE, GNI_ConfigureNTTandJob(0, 1, 33, 5, nullptr, &table, &base));
	assert_int_equal(fake::kernel().tables.back().flags, KGNI_NTT_CLEAR);
	fake::kernel().errors[KGNI_IOC_NTT] = -EPERM;
	assert_rc(PERMISSION_ERROR, GNI_ConfigureNTT(0, &table, &base));
	fake::kernel().errors[KGNI_IOC_NTT] = -EBUSY;
	assert_rc(ERROR_RESOURCE, GNI_ConfigureNTT(0, &table, &base));
	assert_int_equal(fake::kernel().files.size(), 0);
}

TEST(injection)
{
	gni_bi_desc_t d = {};

	fake::reset();
	assert_rc(SUCCESS, GNI_SetBIConfig(0, 50, 25, GNI_BI_FLAG_APPLY_NOW));
	assert_rc(SUCCESS, GNI_GetBIConfig(0, &d));
	assert_true(d.current_bw == 50 && d.current_aot_bw == 25 && d.current_norbs == 7 &&
		    d.flags == GNI_BI_FLAG_APPLY_NOW && d.sys_def_bw == 100 && d.cle_seqnum == 1 && d.hss_seqnum == 1);
	assert_rc(SUCCESS, GNI_BISyncWait(0, 1000));
	assert_rc(INVALID_PARAM, GNI_GetBIConfig(0, nullptr));
	assert_rc(INVALID_PARAM, GNI_BISyncWait(9, 0));
	fake::kernel().errors[KGNI_IOC_BI] = -EPERM;
	assert_rc(PERMISSION_ERROR, GNI_SetBIConfig(0, 50, 25, 0));
	fake::kernel().errors[KGNI_IOC_BI] = -EINVAL;
	assert_rc(INVALID_PARAM, GNI_SetBIConfig(0, 101, 25, 0));
}

TEST(statistics)
{
	Session s;
	uint32_t value = 7;

	for (int i = 0; i < GNI_NUM_STATS; i++) {
		assert_rc(SUCCESS, GNI_GetNicStat(s.nic, static_cast<gni_statistic_t>(i), &value));
		assert_int_equal(value, 0);
		assert_rc(SUCCESS, GNI_ResetNicStat(s.nic, static_cast<gni_statistic_t>(i)));
	}
	assert_rc(INVALID_PARAM, GNI_GetNicStat(s.nic, static_cast<gni_statistic_t>(19), &value));
	assert_rc(INVALID_PARAM, GNI_GetNicStat(nullptr, GNI_STAT_SMSG_DLA_STALL, &value));
}

TEST_MAIN("handles and queries")
