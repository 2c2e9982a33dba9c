// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file Ends: of the library, and of the thread that it has itself. */
#include "symmetric.hpp"

#include <sched.h>

namespace
{

constexpr int kRounds = 100;

int set_size(void **)
{
	setenv("XT_SYMMETRIC_HEAP_SIZE", "2m", 1);
	return 0;
}

} // namespace

/* The helper has just begun, or rings the word, when it is told to end. */
TEST_BETWEEN(end_of_the_helper, set_size, nullptr)
{
	for (int round = 0; round < kRounds; round++) {
		uint64_t value = 1;

		job::start(1);
		assert_dmapp(SUCCESS, dmapp_put_nbi(heap()->addr, heap(), 0, &value, 1, DMAPP_QW));
		for (int n = 0; n < round % 8; n++)
			sched_yield();
		job::stop();
	}
}

TEST_MAIN("ends of DMAPP")
