// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "output.h"

#include <cstdio>
#include <iostream>

namespace tools
{

int finish(const char *program, int status)
{
	if (std::cout.flush() && fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "%s: the output cannot be written\n", program);
	return status ? status : 1;
}

} // namespace tools
