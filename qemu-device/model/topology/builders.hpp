// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Builders by name, with parameters as text: what a file in short form and a command line name.
 */
#ifndef ARIES_TOPOLOGY_BUILDERS_HPP
#define ARIES_TOPOLOGY_BUILDERS_HPP

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "topology/machine.hpp"

namespace aries::topology
{

struct Parameter {
	std::string name;
	std::string value;
};

/** A parameter that is not one, or has no value that can be; or a shape that breaks a rule. */
class ParameterError : public std::invalid_argument
{
public:
	static constexpr size_t SHAPE = SIZE_MAX; ///< all of them together

	ParameterError(size_t index, const std::string &text) : std::invalid_argument(text), index_(index) {}

	size_t index() const noexcept { return index_; } ///< of the parameter, or SHAPE

private:
	size_t index_;
};

struct Built {
	Machine machine;
	std::vector<std::string> advice; ///< what can be built, but should not
};

/** @throws ParameterError */
Built build_named(const std::string &builder, const std::vector<Parameter> &parameters);

/** A line for each builder, and for each of its parameters. */
std::string describe_builders();

/** The same of builders whose machines are of a chip that has routes. */
std::string describe_routed();

} // namespace aries::topology

#endif
