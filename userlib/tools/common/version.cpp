// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "version.h"

#include <cstdio>

namespace tools
{

void print_version(const char *program)
{
	printf("%s (OpenGNI) %s\n", program, OPENGNI_VERSION);
}

} // namespace tools
