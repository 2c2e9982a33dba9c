// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Machines in YAML (Documentation/topology.md has the format): a builder with parameters, or everything in full.
 * A library of its own, which the device does not need.
 */
#ifndef ARIES_TOPO_YAML_HPP
#define ARIES_TOPO_YAML_HPP

#include <iosfwd>
#include <stdexcept>
#include <string>

#include "topology/builders.hpp"

namespace aries::topology
{

/** Something in a file that cannot be: "file:line: rule". */
class FileError : public std::runtime_error
{
public:
	using std::runtime_error::runtime_error;
};

/** A machine from text; @p name stands for the file in messages. The machine passes validate(). @throws FileError */
Built parse_yaml(const std::string &text, const std::string &name);

/** The same from a file. @throws FileError */
Built read_yaml(const std::string &path);

/** In place of a cable's number, of a link that is in none. */
inline constexpr const char *NO_CABLE_WORD = "none";

/** "backplane", "copper" or "optical". */
const char *medium_name(Medium medium);

/** Writes a machine in full. */
void write_yaml(std::ostream &out, const Machine &machine);

} // namespace aries::topology

#endif
