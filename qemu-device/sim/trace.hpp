// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Messages from a file instead of a pattern (Documentation/simulator.md has the format).
 */
#ifndef ARIES_SIM_TRACE_HPP
#define ARIES_SIM_TRACE_HPP

#include <iosfwd>
#include <string>

#include "traffic.hpp"

namespace aries::sim
{

/** @p name stands for the file in messages. @throws NameError "name:line: rule" */
Trace parse_trace(std::istream &in, const std::string &name, double clock_mhz);

/** The same from a file. @throws NameError */
Trace read_trace(const std::string &path, double clock_mhz);

} // namespace aries::sim

#endif
