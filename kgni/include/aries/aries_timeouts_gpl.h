/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/* Times that clients agree on; what is built with CONFIG_CRAY_XT looks for them here. */
#ifndef ARIES_TIMEOUTS_GPL_H
#define ARIES_TIMEOUTS_GPL_H

/* Whole seconds of a constant number of milliseconds, rounded. */
#define TIMEOUT_SECS(ms) ((uint64_t)(((ms) + 500.0) / 1000.0))

/* After so many milliseconds of silence an LND takes its peer for gone. */
#define TO_GNILND_timeout 60000.0

#endif /* ARIES_TIMEOUTS_GPL_H */
