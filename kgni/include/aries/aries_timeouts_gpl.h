/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/* Timeouts that clients share. Clients built with CONFIG_CRAY_XT look for them here. */
#ifndef ARIES_TIMEOUTS_GPL_H
#define ARIES_TIMEOUTS_GPL_H

/* Convert a constant number of milliseconds to whole seconds, rounded. */
#define TIMEOUT_SECS(ms) ((uint64_t)(((ms) + 500.0) / 1000.0))

/* An LND considers its peer dead after this many milliseconds of silence. */
#define TO_GNILND_timeout 60000.0

#endif /* ARIES_TIMEOUTS_GPL_H */
