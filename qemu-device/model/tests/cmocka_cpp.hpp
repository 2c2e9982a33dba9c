// SPDX-License-Identifier: GPL-2.0-or-later
/* cmocka.h with what it wants to have been included before it. */
#ifndef ARIES_TESTS_CMOCKA_CPP_HPP
#define ARIES_TESTS_CMOCKA_CPP_HPP

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

extern "C" {
#include <cmocka.h>
}

/* A macro with the name of a stream's member: use fail_msg(), which must do without it. */
#undef fail
#undef fail_msg
#define fail_msg(...) (print_error(__VA_ARGS__), print_error("\n"), _fail(__FILE__, __LINE__))

/* Tests of a program, which run in the order in which they stand: TEST(name) { ... }, at the end TEST_MAIN("what they
 * are about"). */
inline std::vector<CMUnitTest> &all_tests()
{
	static std::vector<CMUnitTest> tests;
	return tests;
}

struct KnownTest {
	explicit KnownTest(const CMUnitTest &test) { all_tests().push_back(test); }
};

/* An exception that nobody takes is a failure of the test, and not the end of the program and of what it has told. */
inline void run_body(void (*body)())
{
	std::string thrown;

	try {
		body();
	} catch (const std::exception &error) {
		thrown = std::string("exception: ") + error.what();
	}
	if (!thrown.empty())
		fail_msg("%s", thrown.c_str());
}

/* With a function before it and one behind it, or nullptr. */
#define TEST_BETWEEN(name, start, stop)                                                                                \
	static void body_of_##name();                                                                                  \
	static void name(void **)                                                                                      \
	{                                                                                                              \
		run_body(body_of_##name);                                                                              \
	}                                                                                                              \
	const KnownTest known_##name(cmocka_unit_test_setup_teardown(name, start, stop));                              \
	static void body_of_##name()

#define TEST(name) TEST_BETWEEN(name, nullptr, nullptr)

#define TEST_MAIN(about)                                                                                               \
	int main()                                                                                                     \
	{                                                                                                              \
		return _cmocka_run_group_tests(about, all_tests().data(), all_tests().size(), nullptr, nullptr);       \
	}

#endif
