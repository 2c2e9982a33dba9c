// SPDX-License-Identifier: GPL-2.0-or-later
/* cmocka.h with what it wants to have been included before it. */
#ifndef ARIES_TESTS_CMOCKA_CPP_HPP
#define ARIES_TESTS_CMOCKA_CPP_HPP

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>

extern "C" {
#include <cmocka.h>
}

/* A macro with the name of a stream's member: use fail_msg(). */
#undef fail

#endif
