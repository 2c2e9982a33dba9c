// SPDX-License-Identifier: GPL-2.0-or-later
/** @file Which fabric a tool is about. */
#ifndef ARIES_NET_FIND_FABRIC_HPP
#define ARIES_NET_FIND_FABRIC_HPP

#include <string>

namespace aries::net
{

/**
 * Path of a fabric that was given by name, as scripts/cluster prints it, or by path; or of the only one that has
 * members on this host, if nothing was given. Throws Error if there is none, or more than one.
 */
std::string path_of(const std::string &fabric);

} // namespace aries::net

#endif
