// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/** @file What aprun has told a rank about its application. */
#pragma once

#include "alps/alps.h"

#include <optional>
#include <vector>

namespace alps
{

/** Ranks first to first + count - 1 are on a node. */
struct Stretch {
	int node, first, count;
};

/** ALPS_APP_ID; none if it is missing or no number. */
std::optional<uint64_t> application_id();

/** PMI_GNI_PTAG, PMI_GNI_COOKIE, PMI_GNI_DEV_ID, PMI_GNI_LOC_ADDR: lists of the same length; none if they are not. */
std::optional<std::vector<alpsAppGni_t>> domains();

/** OPENGNI_LAYOUT in the order of ranks; none if it is missing or not of its form. */
std::optional<std::vector<Stretch>> layout();

/** A variable as a number up to @p most; none if it is missing or none. */
std::optional<uint64_t> number(const char *name, uint64_t most);

} // namespace alps
