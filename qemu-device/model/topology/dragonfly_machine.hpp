// SPDX-License-Identifier: GPL-2.0-or-later
/** @file A dragonfly as data, for what works on any machine: route tables, wiring, files. */
#ifndef ARIES_TOPOLOGY_DRAGONFLY_MACHINE_HPP
#define ARIES_TOPOLOGY_DRAGONFLY_MACHINE_HPP

#include "topology/dragonfly.hpp"
#include "topology/machine.hpp"

namespace aries::topology
{

/** Routers, nodes and tiles have the numbers that they have in @p dragonfly. Links come by router, then by tile. */
Machine machine_of(const Dragonfly &dragonfly);

} // namespace aries::topology

#endif
