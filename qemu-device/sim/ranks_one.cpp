// SPDX-License-Identifier: GPL-2.0-or-later
// Copyright (c) 2026 The OpenGNI authors
/* aries-sim: one process. */
#include "ranks.hpp"

namespace aries::sim
{

std::unique_ptr<Ranks> join_ranks(int & /*argc*/, char **& /*argv*/)
{
	return nullptr;
}

} // namespace aries::sim
