// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* A folder for the shared memory of this process's tests: others run at the same time. */
#ifndef UGNI_TESTS_SHARE_PLACE_HPP
#define UGNI_TESTS_SHARE_PLACE_HPP

/** Makes the library put its files there; empty at each call. Removed at exit. */
void own_share_place();

#endif
