// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * What a worker does in one life.
 */
#ifndef CHAOS_WORKER_H
#define CHAOS_WORKER_H

#include <csignal>
#include <cstdint>

#include "common/place.h"

namespace chaos
{

/** Set by signals. */
extern volatile sig_atomic_t stop_asked;  /* SIGTERM */
extern volatile sig_atomic_t laps_asked;  /* SIGUSR1: how many */
extern volatile sig_atomic_t state_asked; /* SIGUSR2 */

/** Exit status of a life. */
enum Status { status_done = 0, status_failed = 1, status_usage = 2, status_lost = 3 };

/** Traffic with all others until SIGTERM. @return Status */
int live(const tools::Place &place, uint64_t life);

} // namespace chaos

#endif // CHAOS_WORKER_H
