// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "debug.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace pmi
{

const char *variable(const char *name)
{
	const char *value = getenv(name); // NOLINT(concurrency-mt-unsafe)
	return value && *value ? value : nullptr;
}

static bool enabled(const char *name)
{
	const char *value = variable(name);
	return value && strcmp(value, "0") != 0;
}

void debug(const char *format, ...)
{
	if (!enabled("PMI_DEBUG") && !enabled("UGNI_DEBUG"))
		return;
	char line[512];
	const int n = snprintf(line, sizeof(line), "libpmi: ");
	va_list args;
	va_start(args, format);
	(void)vsnprintf(line + n, sizeof(line) - static_cast<size_t>(n), format, args);
	va_end(args);
	/* One call, so that lines of several ranks do not mix. */
	(void)fprintf(stderr, "%s\n", line);
}

} // namespace pmi
