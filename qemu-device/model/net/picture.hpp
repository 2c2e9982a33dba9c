// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The machine of a running fabric as a picture, with its members and what is wrong.
 */
#ifndef ARIES_NET_PICTURE_HPP
#define ARIES_NET_PICTURE_HPP

#include <iosfwd>

#include "net/fabric_view.hpp"

namespace aries::net
{

/** As SVG. Links with bit errors or fewer lanes are degraded; routers with members tell which and how those are. */
void draw(std::ostream &out, const FabricView &view);

} // namespace aries::net

#endif
