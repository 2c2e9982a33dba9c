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

/** Seconds after which a connection that hears nothing is left, unless --silence says otherwise. */
constexpr uint64_t silence_s = 5;

/** Traffic with all others until SIGTERM. @p silence_ns: of a connection, until it is left. @return Status */
int live(const tools::Place &place, uint64_t life, uint64_t silence_ns);

} // namespace chaos

#endif // CHAOS_WORKER_H
