// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * The communication domains of this node: limits and use, and, for those who may look, who holds them.
 */
#ifndef GNI_DOMAIN_LIST_H
#define GNI_DOMAIN_LIST_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace domain
{

/** Words of a line of the driver's views: pairs of a name and a value; words in quotation marks are one. */
std::map<std::string, std::string> words_of_line(const std::string &line);

/** Prints the domains of a device. Throws Failure when the device does not answer. */
void list(uint32_t device, bool json);

} // namespace domain

#endif // GNI_DOMAIN_LIST_H
