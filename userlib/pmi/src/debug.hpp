// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file What a return code cannot say: one line on stderr if PMI_DEBUG or UGNI_DEBUG is set and not "0". */
#pragma once

namespace pmi
{

/** A variable of the environment, or nullptr where it is not set or empty. */
const char *variable(const char *name);

[[gnu::format(printf, 1, 2), gnu::cold]] void debug(const char *format, ...);

} // namespace pmi
