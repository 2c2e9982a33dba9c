// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * How the tools report that something went wrong.
 */
#ifndef TOOLS_FAILURE_H
#define TOOLS_FAILURE_H

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

namespace tools
{

/** A check did not hold, or a call failed: ends the test with exit status 1. */
class Failure : public std::runtime_error
{
public:
	using std::runtime_error::runtime_error;
};

/** The command line or the environment is not usable: exit status 2. */
class UsageError : public std::runtime_error
{
public:
	using std::runtime_error::runtime_error;
};

/** printf() into a string; texts longer than 1,023 bytes are cut. */
[[gnu::format(printf, 1, 2)]] inline std::string format(const char *text, ...)
{
	char buffer[1024];
	va_list args;
	va_start(args, text);
	vsnprintf(buffer, sizeof(buffer), text, args);
	va_end(args);
	return buffer;
}

/** Text of an errno value. Unlike strerror() it may be called by several threads. */
inline const char *errno_text(int error)
{
	const char *text = strerrordesc_np(error);
	return text ? text : "unknown error";
}

} // namespace tools

#endif // TOOLS_FAILURE_H
