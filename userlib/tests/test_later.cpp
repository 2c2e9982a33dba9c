// SPDX-License-Identifier: BSD-2-Clause
/* What is not there yet answers with the code that Documentation/libugni.md names, and says so on demand. */
#include "session.hpp"

#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

static void documented_codes(void **)
{
	fake::reset();

	assert_rc(INVALID_STATE, GNI_MsgqInit(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
	assert_rc(INVALID_PARAM, GNI_MsgqRelease(nullptr));
	assert_rc(INVALID_PARAM, GNI_MsgqIdle(nullptr));
	assert_rc(INVALID_PARAM, GNI_MsgqGetConnAttrs(nullptr, 0, nullptr, nullptr));
	assert_rc(INVALID_PARAM, GNI_MsgqConnect(nullptr, 0, nullptr));
	assert_rc(INVALID_PARAM, GNI_MsgqConnRelease(nullptr, 0));
	assert_rc(INVALID_PARAM, GNI_MsgqSend(nullptr, nullptr, nullptr, 0, nullptr, 0, 0, 0));
	assert_rc(INVALID_PARAM, GNI_MsgqProgress(nullptr, 0));
	assert_rc(INVALID_PARAM, GNI_MsgqSize(nullptr, nullptr));
}

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
	auto call = [] { (void)GNI_MsgqIdle(nullptr); };

	// NOLINTBEGIN(concurrency-mt-unsafe)
	unsetenv("UGNI_DEBUG");
	assert_string_equal(output_of(call).c_str(), "");
	setenv("UGNI_DEBUG", "0", 1);
	assert_string_equal(output_of(call).c_str(), "");
	setenv("UGNI_DEBUG", "1", 1);
	assert_string_equal(output_of(call).c_str(), "libugni: GNI_MsgqIdle is not available in this version\n");
	unsetenv("UGNI_DEBUG");
	// NOLINTEND(concurrency-mt-unsafe)
}

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(documented_codes),
		cmocka_unit_test(settings_of_short_messages),
		cmocka_unit_test(one_line_on_demand),
	};
	return cmocka_run_group_tests_name("not available yet", tests, nullptr, nullptr);
}
