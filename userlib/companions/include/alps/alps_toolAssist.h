/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 The OpenGNI authors */
/* For tools that attach to applications; there is nothing in it beyond alps.h. */
#ifndef ALPS_ALPS_TOOLASSIST_H
#define ALPS_ALPS_TOOLASSIST_H

#include <alps/alps.h>

#endif
