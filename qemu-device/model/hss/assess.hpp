// SPDX-License-Identifier: GPL-2.0-or-later
/** @file What is out of a network, and whether its route tables still serve (R14). */
#ifndef ARIES_HSS_ASSESS_HPP
#define ARIES_HSS_ASSESS_HPP

#include <set>
#include <string>

#include "netlink/network.hpp"

namespace aries::hss
{

/** Numbers of links, as machine_of() numbers them, that are down now. */
std::set<uint32_t> links_down(const Network &network);

/** These links, and every router that has none left; of a machine that has no link left, the links only. */
routing::Failures failures_of(const Network &network, const std::set<uint32_t> &links);

/** What is out now. */
routing::Failures out_now(const Network &network);

/**
 * Why tables that were made without @p made_without should be made anew when @p now is out: a part has come back, or a
 * router has no output left for a destination, so that packets would need detours. Empty: the tables serve; routers
 * mask what is down and have others.
 */
std::string why_anew(const Network &network, const routing::Tables &tables, const routing::Failures &made_without,
		     const routing::Failures &now);

} // namespace aries::hss

#endif
