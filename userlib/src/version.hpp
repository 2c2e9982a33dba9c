// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#ifndef UGNI_VERSION_HPP
#define UGNI_VERSION_HPP

/* UGNI_RELEASE comes from meson.build. */
#define UGNI_BUILD_STRING "OpenGNI libugni " UGNI_RELEASE

#endif
