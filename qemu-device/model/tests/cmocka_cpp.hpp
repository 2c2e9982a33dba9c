// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
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

/* A macro with the name of a stream's member: use fail_msg(), which must do without it. */
#undef fail
#undef fail_msg
#define fail_msg(...) (print_error(__VA_ARGS__), print_error("\n"), _fail(__FILE__, __LINE__))

#endif
