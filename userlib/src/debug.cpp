// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "debug.hpp"
#include "environment.hpp"
#include "guard.hpp"

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <unistd.h>

namespace ugni
{

namespace
{

/* Calls that are repeated until they succeed read this, and must not search the environment each time. */
std::atomic<bool> chatty;

/* Ignored in a program with more rights than its caller, which could have a file written by it. */
const char *variable(const char *name)
{
	const char *v = secure_getenv(name); // NOLINT(concurrency-mt-unsafe)

	return v && *v ? v : nullptr;
}

/* Read each time: callers come here on errors only. */
int level()
{
	const char *v = variable(env::UGNI_DEBUG);

	if (!v)
		return 0;
	/* A value that is not a number also enables messages. */
	return *v < '0' || *v > '9' ? 1 : atoi(v); // NOLINT(cert-err34-c)
}

/* The rank that a launcher has set, nullptr without one. */
const char *rank()
{
	for (const char *name : {env::PMI_RANK, env::OPENGNI_RANK, env::ALPS_APP_PE, env::OMPI_COMM_WORLD_RANK}) {
		const char *v = variable(name);

		if (v && strlen(v) < 12 && v[strspn(v, "0123456789")] == '\0')
			return v;
	}
	return nullptr;
}

/** Text of bounded length; what does not fit is left out. */
class Text
{
public:
	[[gnu::format(printf, 2, 3)]] void add(const char *format, ...)
	{
		va_list args;

		va_start(args, format);
		add_list(format, args);
		va_end(args);
	}
	void add_list(const char *format, va_list args)
	{
		const int n = vsnprintf(bytes_ + used_, kRoom - used_, format, args);

		if (n > 0)
			used_ += static_cast<size_t>(n);
		if (used_ > kRoom - 1)
			used_ = kRoom - 1;
	}
	/** There is room for it: add() leaves the last byte alone. */
	void end_line() { bytes_[used_++] = '\n'; }
	const char *c_str() const { return bytes_; }
	size_t length() const { return used_; }
	bool full() const { return used_ == kRoom - 1; }

private:
	static constexpr size_t kRoom = 511;
	char bytes_[kRoom + 1] = {};
	size_t used_ = 0;
};

/* %p is the process, %h the host, %r the rank; another % stands for itself. */
void expand(const char *pattern, Text *path)
{
	for (const char *c = pattern; *c; c++) {
		char host[65] = "";

		if (c[0] != '%' || !strchr("phr", c[1]) || !c[1]) {
			path->add("%c", *c);
			continue;
		}
		switch (*++c) {
		case 'p':
			path->add("%d", getpid());
			break;
		case 'h':
			(void)gethostname(host, sizeof(host) - 1);
			path->add("%s", host);
			break;
		default:
			path->add("%s", rank() ? rank() : "none");
		}
	}
}

/* One call, so that lines of several ranks do not mix. Nothing is kept open: a child of fork() has a file of its own.
 */
void put(const Text &line)
{
	const char *pattern = variable(env::UGNI_DEBUG_FILE);
	int fd = -1;

	if (pattern) {
		Text path;

		expand(pattern, &path);
		if (!path.full())
			fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0644);
	}
	(void)!write(fd < 0 ? STDERR_FILENO : fd, line.c_str(), line.length());
	if (fd >= 0)
		(void)close(fd);
}

void tell(const char *call, const char *code, const char *format, va_list args)
{
	/* A thread that waits may be cancelled at any time, but not here; nor may a signal's handler meet a lock. */
	const Uncancelled whole;
	const int before = errno;
	Text line;

	line.add("libugni[%d]", getpid());
	if (rank())
		line.add(" rank %s", rank());
	line.add(": ");
	if (call)
		line.add("%s: %s: ", call, code);
	line.add_list(format, args);
	line.end_line();
	put(line);
	errno = before;
}

} // namespace

gni_return_t refuse(gni_return_t rc, const char *call, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (call && level() >= 1)
		tell(call, gni_err_str[rc], format, args);
	va_end(args);
	return rc;
}

gni_return_t later(gni_return_t rc, const char *call, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (chatty.load(std::memory_order_relaxed))
		tell(call, gni_err_str[rc], format, args);
	va_end(args);
	return rc;
}

void debug(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (level() >= 1)
		tell(nullptr, nullptr, format, args);
	va_end(args);
}

void debug_begin()
{
	chatty.store(level() >= 2, std::memory_order_relaxed);
}

} // namespace ugni
