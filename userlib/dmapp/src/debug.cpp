// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "debug.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>

namespace dmapp
{

static bool wanted()
{
	const char *level = getenv("UGNI_DEBUG"); // NOLINT(concurrency-mt-unsafe)

	return level && *level && strcmp(level, "0") != 0;
}

void debug(const char *format, ...)
{
	if (!wanted())
		return;
	char line[512];
	const int head = snprintf(line, sizeof(line), "libdmapp: ");
	va_list args;
	va_start(args, format);
	(void)vsnprintf(line + head, sizeof(line) - static_cast<size_t>(head), format, args);
	va_end(args);
	/* One call, so that lines of several PEs do not mix; and no thread ends here, with a lock. */
	int before = 0;
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	(void)fprintf(stderr, "%s\n", line);
	(void)pthread_setcancelstate(before, nullptr);
}

} // namespace dmapp
