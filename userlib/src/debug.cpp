// SPDX-License-Identifier: BSD-2-Clause
#include "debug.hpp"
#include "guard.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace ugni
{

static bool enabled()
{
	/* Read each time: callers come here on errors only, and tests change it. */
	const char *v = getenv("UGNI_DEBUG"); // NOLINT(concurrency-mt-unsafe)
	return v && *v && strcmp(v, "0") != 0;
}

void debug(const char *format, ...)
{
	if (!enabled())
		return;

	/* A thread that waits may be cancelled at any time, but not here; nor may a signal's handler meet a lock. */
	const Uncancelled whole;
	char line[256];
	int n = snprintf(line, sizeof(line), "libugni: ");
	va_list args;
	va_start(args, format);
	size_t room = sizeof(line) - static_cast<size_t>(n) - 1;
	(void)vsnprintf(line + n, room, format, args); // NOLINT(clang-analyzer-valist.Uninitialized)
	va_end(args);
	const size_t length = strlen(line);
	line[length] = '\n';
	/* One call, so that lines of several ranks do not mix. */
	const int before = errno;
	(void)!write(STDERR_FILENO, line, length + 1);
	errno = before;
}

} // namespace ugni
