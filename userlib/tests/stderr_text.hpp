// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* What a call writes to stderr, which is where the library says why it refuses. */
#ifndef UGNI_TESTS_STDERR_TEXT_HPP
#define UGNI_TESTS_STDERR_TEXT_HPP

#include "cmocka_cpp.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

/** A variable of the environment while it lives. */
class Variable
{
public:
	// NOLINTBEGIN(concurrency-mt-unsafe)
	Variable(const char *name, const char *value) : name_(name) { (void)setenv(name, value, 1); }
	~Variable() { (void)unsetenv(name_); }
	// NOLINTEND(concurrency-mt-unsafe)
	Variable(const Variable &) = delete;
	Variable &operator=(const Variable &) = delete;

private:
	const char *name_;
};

/** All that file @fd gets while @call runs, however much it is. */
template <typename F> std::string text_of(int fd, F &&call)
{
	char name[] = "/tmp/ugni-test.XXXXXX";
	const int file = mkstemp(name);
	const int keep = dup(fd);

	assert_true(file >= 0 && keep >= 0);
	(void)unlink(name);
	(void)dup2(file, fd);
	call();
	(void)dup2(keep, fd);
	(void)close(keep);
	std::string text(static_cast<size_t>(lseek(file, 0, SEEK_END)), '\0');
	assert_int_equal(pread(file, text.data(), text.size(), 0), text.size());
	(void)close(file);
	return text;
}

#endif
