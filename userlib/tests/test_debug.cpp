// SPDX-License-Identifier: BSD-2-Clause
/* Refusals say why on demand. Settings of short messages. */
#include "session.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

static void settings_of_short_messages(void **)
{
	Session s;

	assert_rc(SUCCESS, GNI_SmsgSetMaxRetrans(s.nic, 16));
	assert_rc(SUCCESS, GNI_SmsgSetDeliveryMode(s.nic, GNI_DLVMODE_IN_ORDER));
	assert_rc(INVALID_PARAM, GNI_SmsgSetDeliveryMode(s.nic, 0x8000));
}

/* What @call prints on stderr. */
template <typename F> static std::string output_of(F call)
{
	int keep = dup(2);
	int ends[2];
	char text[256] = "";

	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], 2);
	call();
	dup2(keep, 2);
	close(ends[1]);
	ssize_t n = read(ends[0], text, sizeof(text) - 1);
	close(ends[0]);
	close(keep);
	return {text, static_cast<size_t>(n > 0 ? n : 0)};
}

static void one_line_on_demand(void **)
{
	Session s;
	gni_cq_handle_t cq = nullptr;
	auto call = [&] {
		assert_rc(INVALID_PARAM, GNI_CqCreate(s.nic, 1, 0, GNI_CQ_EMULATED, nullptr, nullptr, &cq));
	};

	// NOLINTBEGIN(concurrency-mt-unsafe)
	unsetenv("UGNI_DEBUG");
	assert_string_equal(output_of(call).c_str(), "");
	setenv("UGNI_DEBUG", "0", 1);
	assert_string_equal(output_of(call).c_str(), "");
	setenv("UGNI_DEBUG", "1", 1);
	assert_string_equal(output_of(call).c_str(), "libugni: GNI_CqCreate: mode 0x2 is not available\n");
	unsetenv("UGNI_DEBUG");
	// NOLINTEND(concurrency-mt-unsafe)
}

/* What tells a domain that is gone from a memory handle that is none: both are INVALID_PARAM. */
static void a_domain_that_is_gone(void **)
{
	Session s;
	char text[128];
	auto deregister = [&](gni_mem_handle_t handle) {
		return output_of([&] { assert_rc(INVALID_PARAM, GNI_MemDeregister(s.nic, &handle)); });
	};

	(void)snprintf(text, sizeof(text),
		       "libugni: GNI_MemDeregister: %p is no NIC handle, or its domain is destroyed\n",
		       static_cast<void *>(s.nic));
	// NOLINTBEGIN(concurrency-mt-unsafe)
	setenv("UGNI_DEBUG", "1", 1);
	assert_string_equal(deregister({}).c_str(), "");
	assert_rc(SUCCESS, GNI_CdmDestroy(s.cdm));
	s.cdm = nullptr;
	assert_string_equal(deregister(s.memory).c_str(), text);
	unsetenv("UGNI_DEBUG");
	// NOLINTEND(concurrency-mt-unsafe)
}

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(settings_of_short_messages),
		cmocka_unit_test(one_line_on_demand),
		cmocka_unit_test(a_domain_that_is_gone),
	};
	return cmocka_run_group_tests_name("what refusals say", tests, nullptr, nullptr);
}
