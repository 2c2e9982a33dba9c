// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* cmocka.h with what it wants to have been included before it. */
#ifndef UGNI_TESTS_CMOCKA_CPP_HPP
#define UGNI_TESTS_CMOCKA_CPP_HPP

#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>

extern "C" {
#include <cmocka.h>
}

/* A macro with the name of a stream's member: use fail_msg(). */
#undef fail

#define assert_rc(expected, call) assert_int_equal(GNI_RC_##expected, call)

#endif
