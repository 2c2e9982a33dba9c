// SPDX-License-Identifier: GPL-2.0-or-later
/** @file A sample of a fabric in the text format of Prometheus, version 0.0.4. */
#ifndef ARIES_NET_METRICS_HPP
#define ARIES_NET_METRICS_HPP

#include <string>

#include "net/sample.hpp"

namespace aries::net
{

/** What the format is called in HTTP. */
inline constexpr const char *METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/**
 * Names and labels follow the infiniband collector of node_exporter: counters end with _total, times are in seconds,
 * data in bytes. A tile has the labels router (cname), tile and kind; a node has node (address) and cname.
 */
std::string metrics_of(const Sample &sample);

} // namespace aries::net

#endif
