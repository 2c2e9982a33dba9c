// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/*
 * A kernel for tests with threads: it may be called by any number of them, its
 * sleeping requests may be cancelled at any instruction, and it makes no sound.
 */
#ifndef UGNI_TESTS_SLEEPY_KERNEL_HPP
#define UGNI_TESTS_SLEEPY_KERNEL_HPP

#include <cstdint>

namespace sleepy
{

/** Sleeping requests return: with an event, or with what they wait for. */
void wake(bool on);
/** They return -EINTR at once, so many times. */
void interrupt(uint32_t times);
/** Threads that sleep, and those that were cancelled while they did, since the last forget_sleepers(). */
uint32_t sleepers();
void forget_sleepers();
/** Open files. */
uint32_t files();
/** Puts an entry into the next slot of the last queue of 64 entries that was made. Return: false if it is full. */
bool put(uint64_t entry);
/** Entries put so far, and read so far. */
uint64_t produced();
uint64_t consumed();

} // namespace sleepy

#endif
