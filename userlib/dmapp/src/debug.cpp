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

void debug(const char *format, ...)
{
	const char *level = getenv("UGNI_DEBUG"); // NOLINT(concurrency-mt-unsafe)
	char line[512] = "libdmapp: ";
	const size_t head = strlen(line);
	va_list args;

	if (!level || !*level || !strcmp(level, "0"))
		return;
	va_start(args, format);
	(void)vsnprintf(line + head, sizeof(line) - head, format, args);
	va_end(args);
	/* One call, so that lines of several PEs do not mix; and no thread ends here, with a lock. */
	int before = 0;
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	(void)fprintf(stderr, "%s\n", line);
	(void)pthread_setcancelstate(before, nullptr);
}

} // namespace dmapp
