// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Suspend and resume, checkpoints: what is asked of the driver, and every return code. */
#include "session.hpp"

#include <cerrno>

TEST(suspend_and_resume)
{
	Session s;

	assert_rc(SUCCESS, GNI_SuspendJob(0, 12, 33, 0x1234, 500));
	const kgni_suspend asked = fake::kernel().suspends.back();
	assert_int_equal(asked.flags, 0);
	assert_int_equal(asked.job_id, 12);
	assert_int_equal(asked.ptag, 33);
	assert_int_equal(asked.cookie, 0x1234);
	assert_int_equal(asked.timeout_ms, 500);
	assert_rc(SUCCESS, GNI_ResumeJob(0, 12, 33, 0x1234));
	assert_int_equal(fake::kernel().suspends.back().flags, KGNI_SUSPEND_RESUME);
	assert_rc(INVALID_PARAM, GNI_SuspendJob(0, 12, 0, 0x1234, 500));
	assert_rc(INVALID_PARAM, GNI_ResumeJob(0, 12, 0, 0x1234));
	assert_rc(INVALID_PARAM, GNI_SuspendJob(7, 12, 33, 0x1234, 500));
	assert_rc(INVALID_PARAM, GNI_ResumeJob(7, 12, 33, 0x1234));
}

TEST(every_errno)
{
	static const struct {
		int error;
		gni_return_t suspend, resume;
	} cases[] = {
		{EPERM, GNI_RC_PERMISSION_ERROR, GNI_RC_PERMISSION_ERROR},
		{ENOENT, GNI_RC_INVALID_PARAM, GNI_RC_INVALID_PARAM},
		{EALREADY, GNI_RC_INVALID_STATE, GNI_RC_INVALID_STATE},
		{ETIMEDOUT, GNI_RC_TIMEOUT, GNI_RC_TIMEOUT},
		{EINTR, GNI_RC_NOT_DONE, GNI_RC_NOT_DONE},
		{EIO, GNI_RC_ERROR_RESOURCE, GNI_RC_INVALID_PARAM},
	};
	Session s;
	size_t files = fake::kernel().files.size();

	for (const auto &c : cases) {
		fake::kernel().errors[KGNI_IOC_SUSPEND] = -c.error;
		assert_int_equal(GNI_SuspendJob(0, 1, 33, 0x1234, 0), c.suspend);
		assert_int_equal(GNI_ResumeJob(0, 1, 33, 0x1234), c.resume);
	}
	assert_int_equal(fake::kernel().files.size(), files);
	fake::kernel().open_error = -EACCES;
	assert_rc(PERMISSION_ERROR, GNI_SuspendJob(0, 1, 33, 0x1234, 0));
	assert_rc(PERMISSION_ERROR, GNI_ResumeJob(0, 1, 33, 0x1234));
	fake::kernel().open_error = -ENODEV;
	assert_rc(INVALID_PARAM, GNI_SuspendJob(0, 1, 33, 0x1234, 0));
}

TEST(a_checkpoint_leaves_the_device_alone)
{
	Session s;
	gni_cq_handle_t cq = nullptr;

	assert_rc(SUCCESS, GNI_CqCreate(s.nic, 8, 0, GNI_CQ_BLOCKING, nullptr, nullptr, &cq));
	assert_rc(SUCCESS, GNI_CdmCheckpoint(s.cdm));
	unsigned calls = fake::kernel().calls;
	assert_rc(SUCCESS, GNI_CqDestroy(cq));
	assert_rc(SUCCESS, GNI_MemDeregister(s.nic, &s.memory));
	assert_rc(SUCCESS, GNI_EpUnbind(s.ep));
	assert_rc(SUCCESS, GNI_EpDestroy(s.ep));
	assert_rc(SUCCESS, GNI_CqDestroy(s.cq));
	assert_rc(SUCCESS, GNI_CdmDestroy(s.cdm));
	/* datagrams of the NIC handle are given up, with a descriptor that names nothing */
	assert_in_range(fake::kernel().calls, calls, calls + 1);
	assert_int_equal(fake::kernel().file().queues.size(), 2);
}

TEST(resuming_undoes_it)
{
	Session s;
	gni_cq_handle_t cq = nullptr;

	assert_rc(SUCCESS, GNI_CdmCheckpoint(s.cdm));
	assert_rc(SUCCESS, GNI_CdmCheckpoint(s.cdm));
	assert_rc(ERROR_RESOURCE, GNI_CqCreate(s.nic, 8, 0, 0, nullptr, nullptr, &cq));
	assert_rc(SUCCESS, GNI_CdmResume(s.cdm));
	assert_rc(SUCCESS, GNI_CdmResume(s.cdm));
	assert_rc(SUCCESS, GNI_CqCreate(s.nic, 8, 0, 0, nullptr, nullptr, &cq));
	size_t queues = fake::kernel().file().queues.size();
	assert_rc(SUCCESS, GNI_CqDestroy(cq));
	assert_int_equal(fake::kernel().file().queues.size(), queues - 1);
	assert_rc(INVALID_PARAM, GNI_CdmCheckpoint(nullptr));
	assert_rc(INVALID_PARAM, GNI_CdmResume(nullptr));
}

TEST_MAIN("jobs")
