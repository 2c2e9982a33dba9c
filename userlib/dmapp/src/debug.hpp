// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file What a return code cannot say: one line on stderr if UGNI_DEBUG is set and not "0". */
#pragma once

namespace dmapp
{

[[gnu::format(printf, 1, 2), gnu::cold]] void debug(const char *format, ...);

} // namespace dmapp
