// SPDX-License-Identifier: BSD-2-Clause
#include "debug.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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

	char line[256];
	int n = snprintf(line, sizeof(line), "libugni: ");
	va_list args;
	va_start(args, format);
	size_t room = sizeof(line) - static_cast<size_t>(n);
	(void)vsnprintf(line + n, room, format, args); // NOLINT(clang-analyzer-valist.Uninitialized)
	va_end(args);
	/* One call, so that lines of several ranks do not mix. */
	(void)fprintf(stderr, "%s\n", line);
}

} // namespace ugni
