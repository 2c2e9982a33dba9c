// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Refusals say why on demand. Settings of short messages. */
#include "aries_hw.h"
#include "session.hpp"
#include "stderr_text.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

constexpr size_t kPageBytes = 4096;

TEST(settings_of_short_messages)
{
	Session s;

	assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(s.nic, 16));
	assert_rc(SUCCESS, GNI_SmsgSetDeliveryMode(s.nic, GNI_DLVMODE_IN_ORDER));
	assert_rc(INVALID_PARAM, GNI_SmsgSetDeliveryMode(s.nic, 0x8000));
}

static std::string output_of(const std::function<void()> &call)
{
	return text_of(STDERR_FILENO, call);
}

static std::string line(const char *rest)
{
	return "libugni[" + std::to_string(getpid()) + "]" + rest + "\n";
}

TEST(one_line_on_demand)
{
	Session s;
	gni_cq_handle_t cq = nullptr;
	auto call = [&] {
		assert_rc(INVALID_PARAM, GNI_CqCreate(s.nic, 1, 0, GNI_CQ_EMULATED, nullptr, nullptr, &cq));
	};
	const std::string said = ": GNI_CqCreate: GNI_RC_INVALID_PARAM: mode 0x2 is not available";

	assert_string_equal(output_of(call).c_str(), "");
	{
		const Variable off("UGNI_DEBUG", "0");
		assert_string_equal(output_of(call).c_str(), "");
	}
	const Variable on("UGNI_DEBUG", "1");
	assert_string_equal(output_of(call).c_str(), line(said.c_str()).c_str());
	assert_string_equal(text_of(STDOUT_FILENO, [&] { (void)output_of(call); }).c_str(), "");
	{
		const Variable rank("PMI_RANK", "17");
		assert_string_equal(output_of(call).c_str(), line((" rank 17" + said).c_str()).c_str());
	}
	/* A child says so in its own name. */
	const std::string child = output_of([] {
		const pid_t pid = fork();
		if (pid == 0)
			_exit(GNI_GetVersion(nullptr) == GNI_RC_INVALID_PARAM ? 0 : 1);
		int status = 0;
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	});
	assert_true(child.ends_with(": GNI_GetVersion: GNI_RC_INVALID_PARAM: a pointer that must be there is NULL\n"));
	assert_false(child.starts_with("libugni[" + std::to_string(getpid()) + "]"));
}

/* Each process of a job on each node has a file, if the name says so; if it cannot be written, stderr has the line. */
TEST(a_file_of_its_own)
{
	char directory[] = "/tmp/ugni-test.XXXXXX", host[65] = "";
	const auto call = [] { assert_rc(INVALID_PARAM, GNI_GetVersion(nullptr)); };
	const Variable on("UGNI_DEBUG", "1"), rank("OPENGNI_RANK", "3");

	assert_non_null(mkdtemp(directory));
	assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
	const std::string start = directory;
	{
		const Variable file("UGNI_DEBUG_FILE", (start + "/%h.%p.%r.%x").c_str());
		const std::string name = start + "/" + host + "." + std::to_string(getpid()) + ".3.%x";

		assert_string_equal(output_of([&] { call(), call(); }).c_str(), "");
		std::ifstream in(name);
		const std::string text((std::istreambuf_iterator<char>(in)), {});
		const std::string one =
			line(" rank 3: GNI_GetVersion: GNI_RC_INVALID_PARAM: a pointer that must be there is NULL");
		assert_string_equal(text.c_str(), (one + one).c_str());
		assert_int_equal(unlink(name.c_str()), 0);
	}
	for (const std::string &bad : {start + "/none/%p", start + "/" + std::string(600, 'x')}) {
		const Variable file("UGNI_DEBUG_FILE", bad.c_str());
		assert_int_equal(std::ranges::count(output_of(call), '\n'), 1);
	}
	assert_int_equal(rmdir(directory), 0);
}

/* What shall be tried again is told by those who want to know, from the next domain on; a poll is never told. */
TEST(the_second_level)
{
	for (const bool second : {false, true}) {
		const Variable level("UGNI_DEBUG", second ? "2" : "1");
		Session s;
		gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT);
		gni_cq_entry_t e = 0;

		fake::kernel().on_doorbell = nullptr;
		assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
		const std::string said = output_of([&] { assert_rc(NOT_DONE, GNI_EpUnbind(s.ep)); });
		assert_string_equal(said.c_str(), second ? line(": GNI_EpUnbind: GNI_RC_NOT_DONE: 1 posts, messages or "
								"datagrams of the endpoint are not reaped")
								   .c_str()
							 : "");
		assert_string_equal(output_of([&] {
					    assert_rc(NOT_DONE, GNI_CqGetEvent(s.cq, &e));
					    assert_rc(NOT_DONE, GNI_CqTestEvent(s.cq));
				    }).c_str(),
				    "");
	}
	/* Until another domain is made without it. */
	gni_cdm_handle_t cdm = nullptr;
	assert_rc(SUCCESS, GNI_CdmCreate(1, 255, 1, 0, &cdm));
	assert_rc(SUCCESS, GNI_CdmDestroy(cdm));
}

/* The event of a post that failed is told with all that one needs to find it; once. */
TEST(a_failed_transfer)
{
	const Variable on("UGNI_DEBUG", "1");
	Session s;
	gni_post_descriptor_t d = s.post(GNI_POST_FMA_PUT, 24), *back = nullptr;
	gni_cq_entry_t e = 0;

	fake::kernel().on_doorbell = [](fake::File &f, const fake::Doorbell &b) {
		fake::complete(f, b, ARIES_ST_BOUNDS);
	};
	d.local_addr = reinterpret_cast<uint64_t>(s.bytes);
	const std::string said = output_of([&] {
		assert_rc(SUCCESS, GNI_PostFma(s.ep, &d));
		assert_rc(TRANSACTION_ERROR, GNI_CqGetEvent(s.cq, &e));
		assert_rc(TRANSACTION_ERROR, GNI_GetCompleted(s.cq, e, &back));
	});
	assert_true(said.find(": GNI_CqGetEvent: GNI_RC_TRANSACTION_ERROR: FMA:OUT_OF_BOUNDS: post of type ") !=
		    std::string::npos);
	assert_true(said.find(", 24 bytes, node 6, remote_addr 0x7f0000001000, local_addr 0x") != std::string::npos);
	assert_int_equal(std::ranges::count(said, '\n'), 1);
}

/* What tells a domain that is gone from a memory handle that is none: both are INVALID_PARAM. */
TEST(a_domain_that_is_gone)
{
	const Variable on("UGNI_DEBUG", "1");
	Session s;
	char text[128];
	auto deregister = [&](gni_mem_handle_t handle) {
		return output_of([&] { assert_rc(INVALID_PARAM, GNI_MemDeregister(s.nic, &handle)); });
	};

	(void)snprintf(text, sizeof(text),
		       ": GNI_MemDeregister: GNI_RC_INVALID_PARAM: %p is no NIC handle, or its domain is destroyed",
		       static_cast<void *>(s.nic));
	assert_string_equal(
		deregister({}).c_str(),
		line(": GNI_MemDeregister: GNI_RC_INVALID_PARAM: no memory is registered under this handle").c_str());
	assert_rc(SUCCESS, GNI_CdmDestroy(s.cdm));
	s.cdm = nullptr;
	assert_string_equal(deregister(s.memory).c_str(), line(text).c_str());
}

/* U9: the NIC gets 40 bits of an address. A program under test learns of the others. */
TEST(addresses_that_are_wrong_above_40_bits)
{
	for (const bool checked : {false, true}) {
		const Variable check("UGNI_CHECK", checked ? "1" : "0");
		Session s;
		s.post_a_while();
		const gni_return_t rc = checked ? GNI_RC_INVALID_PARAM : GNI_RC_SUCCESS;

		for (gni_post_type_t type :
		     {GNI_POST_FMA_PUT, GNI_POST_FMA_GET, GNI_POST_AMO, GNI_POST_RDMA_PUT, GNI_POST_RDMA_GET}) {
			const bool block = type == GNI_POST_RDMA_PUT || type == GNI_POST_RDMA_GET;
			const auto post = block ? GNI_PostRdma : GNI_PostFma;
			gni_post_descriptor_t d = s.post(type), *back = nullptr;
			gni_cq_entry_t e = 0;
			d.amo_cmd = GNI_FMA_ATOMIC_FADD;
			d.remote_addr = d.local_addr;
			assert_rc(SUCCESS, post(s.ep, &d));
			assert_rc(SUCCESS, GNI_CqGetEvent(s.cq, &e));
			assert_rc(SUCCESS, GNI_GetCompleted(s.cq, e, &back));
			d.remote_addr ^= uint64_t{1} << 45;
			assert_int_equal(post(s.ep, &d), rc);
			/* Where the NIC finds it out of bounds, that is the event's to tell. */
			d.remote_addr += sizeof(s.bytes) + kPageBytes;
			assert_rc(SUCCESS, post(s.ep, &d));
			if (type == GNI_POST_FMA_PUT) /* the processor reads what is sent */
				continue;
			d.remote_addr = d.local_addr;
			d.local_addr ^= uint64_t{1} << 63;
			assert_int_equal(post(s.ep, &d), rc);
		}
		/* What the processor reads need not be in the region that is named. */
		gni_post_descriptor_t put = s.post(GNI_POST_FMA_PUT);
		assert_rc(SUCCESS, GNI_MemRegister(s.nic, put.local_addr ^ uint64_t{1} << 45, sizeof(s.bytes), nullptr,
						   0, ~0U, &put.local_mem_hndl));
		put.remote_addr = put.local_addr;
		assert_rc(SUCCESS, GNI_PostFma(s.ep, &put));
		/* A queue write has no addresses: what is in their place does not matter. */
		gni_post_descriptor_t d = s.post(GNI_POST_CQWRITE);
		d.local_addr ^= uint64_t{1} << 63;
		d.remote_addr = d.local_addr;
		assert_rc(SUCCESS, GNI_PostCqWrite(s.ep, &d));
	}
}

TEST_MAIN("what refusals say")
