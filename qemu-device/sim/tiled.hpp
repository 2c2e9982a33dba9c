// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * All of the class TiledPart, for the files that compile it for one chip each.
 */
#ifndef ARIES_SIM_TILED_HPP
#define ARIES_SIM_TILED_HPP

#include "tiled_ce.hpp"     // IWYU pragma: export
#include "tiled_faults.hpp" // IWYU pragma: export
#include "tiled_in.hpp"     // IWYU pragma: export
#include "tiled_nic.hpp"    // IWYU pragma: export
#include "tiled_out.hpp"    // IWYU pragma: export
#include "tiled_step.hpp"   // IWYU pragma: export

#endif
