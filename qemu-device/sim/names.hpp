// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The words for traffic in options, files and results.
 */
#ifndef ARIES_SIM_NAMES_HPP
#define ARIES_SIM_NAMES_HPP

#include <stdexcept>
#include <string>

#include "traffic.hpp"

namespace aries::sim
{

/** A word or number that cannot be; one line. */
class NameError : public std::runtime_error
{
public:
	using std::runtime_error::runtime_error;
};

/* @throws NameError */
Pattern pattern_of(const std::string &name);
Operation operation_of(const std::string &name);
RoutingMode mode_of(const std::string &name);

/** Millionths. @throws NameError */
uint32_t load_of(const std::string &text);

/** A whole number with nothing behind it; @p what begins the message. @throws NameError */
uint32_t whole_of(const std::string &what, const std::string &text);

const char *name_of(Pattern pattern);
const char *name_of(Operation operation);
std::string name_of(RoutingMode mode);

/**
 * Sets what is called traffic, operation, mode, response_mode, load, bytes, flits, shift, radix, processes, compute
 * or slow.
 * @return whether there is something of this name
 * @throws NameError
 */
bool set_traffic(TrafficShape &shape, const std::string &name, const std::string &value);

} // namespace aries::sim

#endif
