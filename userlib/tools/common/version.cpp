// SPDX-License-Identifier: BSD-2-Clause
#include "version.h"

#include <cstdio>

namespace tools
{

void print_version(const char *program)
{
	printf("%s (OpenGNI) %s\n", program, OPENGNI_VERSION);
}

} // namespace tools
