// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * A library older than the driver, or newer: a documented code, and one line on stderr that tells why, if UGNI_DEBUG is
 * set. The same when the system has no more of something.
 */
#include "session.hpp"
#include "stderr_text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

namespace
{

std::string output_of(const std::function<void()> &call)
{
	return text_of(STDERR_FILENO, call);
}

void expect_one_line(const std::string &text, const char *part)
{
	assert_int_equal(text.rfind("libugni[", 0), 0);
	assert_int_equal(std::count(text.begin(), text.end(), '\n'), 1);
	assert_int_equal(text.back(), '\n');
	assert_non_null(strstr(text.c_str(), part));
}

int speak(void **)
{
	return setenv("UGNI_DEBUG", "1", 1); // NOLINT(concurrency-mt-unsafe)
}

int fall_silent(void **)
{
	return unsetenv("UGNI_DEBUG"); // NOLINT(concurrency-mt-unsafe)
}

TEST_BETWEEN(other_version, speak, fall_silent)
{
	for (uint32_t version : {KGNI_ABI_VERSION + 1U, KGNI_ABI_VERSION - 1U, ~0U}) {
		gni_cdm_handle_t cdm = nullptr;
		gni_nic_handle_t nic = nullptr;
		uint32_t address = 0;
		char expected[128];

		fake::reset();
		fake::kernel().abi_version = version;
		assert_rc(SUCCESS, GNI_CdmCreate(1, GNI_FIND_ALLOC_PTAG, 0x1234, 0, &cdm));
		auto attach = [&] { assert_rc(ERROR_RESOURCE, GNI_CdmAttach(cdm, 0, &address, &nic)); };
		(void)snprintf(expected, sizeof(expected), "the driver has ABI version %u, this library %u\n", version,
			       KGNI_ABI_VERSION);
		expect_one_line(output_of(attach), expected);
		(void)fall_silent(nullptr);
		assert_string_equal(output_of(attach).c_str(), "");
		(void)speak(nullptr);
		/* Nothing is left of it. */
		assert_int_equal(fake::kernel().files.size(), 0);
		assert_rc(SUCCESS, GNI_CdmDestroy(cdm));
	}
}

struct Refusal {
	unsigned long request;
	const char *name;
	gni_return_t expected[2]; /* by an older driver, which does not know the request; without resources */
	std::function<gni_return_t()> call;
};

/* A driver that does not know a request (ENOTTY) or what is in it (E2BIG), and one that has no more. */
void expect_refusals(const std::vector<Refusal> &refusals)
{
	const struct {
		int error;
		size_t which;
		const char *line;
	} cases[] = {{-ENOTTY, 0, "(errno 25)"}, {-E2BIG, 0, "(errno 7)"}, {-EMFILE, 1, "(errno 24)"}};

	for (const Refusal &r : refusals) {
		for (const auto &c : cases) {
			/* Of a datagram it tells a length; only a NIC without the unit makes channels an illegal
			 * operation. */
			if (c.error == -E2BIG && (r.request == KGNI_IOC_DGRAM_POST || r.request == KGNI_IOC_CE_ALLOC))
				continue;
			fake::kernel().errors = {{r.request, c.error}};
			gni_return_t got = GNI_RC_SUCCESS;
			const std::string text = output_of([&] { got = r.call(); });
			if (got != r.expected[c.which])
				print_error("%s, errno %d: %d\n", r.name, -c.error, got);
			assert_int_equal(got, r.expected[c.which]);
			expect_one_line(text, c.line);
			expect_one_line(text, r.name);
		}
	}
	fake::kernel().errors.clear();
}

constexpr gni_return_t kParam = GNI_RC_INVALID_PARAM, kResource = GNI_RC_ERROR_RESOURCE, kNone = GNI_RC_NO_MATCH;

TEST_BETWEEN(requests_of_a_domain, speak, fall_silent)
{
	Session s;
	gni_cq_handle_t cq = nullptr, more = nullptr;
	gni_ep_handle_t ep = nullptr;
	gni_ce_handle_t ce = nullptr;
	gni_err_handle_t errors = nullptr;
	gni_mem_handle_t m = {};
	gni_post_state_t state = GNI_POST_ERROR;
	gni_cq_entry_t e = 0;
	uint32_t a = 0, b = 0;

	assert_rc(SUCCESS, GNI_CqCreate(s.nic, 8, 0, GNI_CQ_BLOCKING, nullptr, nullptr, &cq));
	assert_rc(SUCCESS, GNI_EpCreate(s.nic, nullptr, &ep));
	assert_rc(SUCCESS, GNI_EpBind(ep, 6, 90));
	assert_rc(SUCCESS, GNI_EpPostData(s.ep, nullptr, 0, nullptr, 0));
	expect_refusals({
		{KGNI_IOC_CQ_CREATE,
		 "CQ_CREATE",
		 {kResource, kResource},
		 [&] { return GNI_CqCreate(s.nic, 8, 0, GNI_CQ_NOBLOCK, nullptr, nullptr, &more); }},
		{KGNI_IOC_CQ_WAIT, "CQ_WAIT", {kResource, kResource}, [&] { return GNI_CqWaitEvent(cq, 10, &e); }},
		{KGNI_IOC_CQ_DESTROY, "CQ_DESTROY", {kParam, kParam}, [&] { return GNI_CqDestroy(cq); }},
		{KGNI_IOC_MEM_REGISTER,
		 "MEM_REGISTER",
		 {kResource, kResource},
		 [&] { return GNI_MemRegister(s.nic, 4096, 4096, nullptr, 0, ~0U, &m); }},
		{KGNI_IOC_CE_ALLOC,
		 "CE_ALLOC",
		 {GNI_RC_ILLEGAL_OP, kResource},
		 [&] { return GNI_CeCreate(s.nic, &ce); }},
		{KGNI_IOC_DGRAM_POST,
		 "DGRAM_POST",
		 {kResource, kResource},
		 [&] { return GNI_EpPostData(ep, nullptr, 0, nullptr, 0); }},
		{KGNI_IOC_DGRAM_TEST,
		 "DGRAM_TEST",
		 {kNone, kNone},
		 [&] { return GNI_EpPostDataTest(s.ep, &state, &a, &b); }},
		{KGNI_IOC_DGRAM_CANCEL, "DGRAM_CANCEL", {kNone, kNone}, [&] { return GNI_EpPostDataCancel(s.ep); }},
		{KGNI_IOC_ERR_SUBSCRIBE,
		 "ERR_SUBSCRIBE",
		 {kResource, kResource},
		 [&] { return GNI_SubscribeErrors(s.nic, 0, 1, 0, &errors); }},
	});
	/* Whatever was refused before works now, and the handles are still good. */
	assert_rc(SUCCESS, GNI_EpPostData(ep, nullptr, 0, nullptr, 0));
	assert_rc(SUCCESS, GNI_CqDestroy(cq));
	assert_rc(SUCCESS, GNI_CqCreate(s.nic, 8, 0, GNI_CQ_NOBLOCK, nullptr, nullptr, &more));
	assert_rc(SUCCESS, GNI_CeCreate(s.nic, &ce));
}

TEST_BETWEEN(requests_of_a_launcher, speak, fall_silent)
{
	Session s;
	gni_job_limits_t limits = {};
	gni_dev_res_desc_t device = {};
	gni_job_res_desc_t job = {};
	uint8_t ptag = 0;

	memset(&limits, 0xff, sizeof(limits));
	expect_refusals({
		{KGNI_IOC_JOB, "JOB", {kParam, kParam}, [&] { return GNI_ConfigureJob(0, 1, 33, 0x1234, &limits); }},
		{KGNI_IOC_PTAG, "PTAG", {kResource, kResource}, [&] { return GNI_GetPtag(0, 0x1234, &ptag); }},
		{KGNI_IOC_RES, "RES", {kParam, kParam}, [&] { return GNI_GetDevResInfo(0, GNI_DEV_RES_MDD, &device); }},
		{KGNI_IOC_RES, "RES", {kParam, kParam}, [&] { return GNI_GetJobResInfo(0, 33, GNI_JOB_RES_CQ, &job); }},
		{KGNI_IOC_SUSPEND,
		 "SUSPEND",
		 {kResource, kResource},
		 [&] { return GNI_SuspendJob(0, 1, 33, 0x1234, 10); }},
		{KGNI_IOC_SUSPEND, "SUSPEND", {kParam, kParam}, [&] { return GNI_ResumeJob(0, 1, 33, 0x1234); }},
		{KGNI_IOC_BI, "BI", {kParam, kParam}, [&] { return GNI_SetBIConfig(0, 50, 50, 0); }},
	});
	/* Each had a file of its own, which is closed. */
	assert_int_equal(fake::kernel().files.size(), 1);
}

/* No file, no memory for the attachment. */
TEST_BETWEEN(attachments, speak, fall_silent)
{
	Session s;
	gni_cdm_handle_t cdm = nullptr;
	gni_nic_handle_t nic = nullptr;
	uint32_t address = 0;
	gni_return_t got = GNI_RC_SUCCESS;

	assert_rc(SUCCESS, GNI_CdmCreate(9, GNI_FIND_ALLOC_PTAG, 0x1234, 0, &cdm));
	auto attach = [&] { got = GNI_CdmAttach(cdm, 0, &address, &nic); };
	fake::kernel().open_error = -EMFILE;
	expect_one_line(output_of(attach), "/dev/kgni0: Too many open files");
	assert_rc(ERROR_RESOURCE, got);
	fake::kernel().open_error = 0;
	for (int error : {-ENOSPC, -ENOTTY, -E2BIG}) {
		fake::kernel().errors = {{KGNI_IOC_ATTACH, error}};
		expect_one_line(output_of(attach), "ATTACH: ");
		assert_rc(ERROR_RESOURCE, got);
	}
	assert_int_equal(fake::kernel().files.size(), 1);
	fake::kernel().errors.clear();
	assert_string_equal(output_of(attach).c_str(), "");
	assert_rc(SUCCESS, got);
	assert_rc(SUCCESS, GNI_CdmDestroy(cdm));
}

} // namespace

TEST_MAIN("other versions, and nothing left")
