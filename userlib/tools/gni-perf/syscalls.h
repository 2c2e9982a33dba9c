// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * System calls of a piece of code, counted from outside as strace does.
 */
#ifndef GNI_PERF_SYSCALLS_H
#define GNI_PERF_SYSCALLS_H

#include <functional>

namespace perf
{

/**
 * Runs @p body in a child process and counts its system calls.
 * @param body called with two functions: what it does between calls of the first and the second is counted; it may
 *             throw Failure
 * Throws Failure when the child fails, or cannot be traced.
 */
unsigned count_syscalls(const std::function<void(void (*begin)(), void (*end)())> &body);

} // namespace perf

#endif // GNI_PERF_SYSCALLS_H
