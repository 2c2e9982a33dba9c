// SPDX-License-Identifier: GPL-2.0-or-later
/** @file aries-net top: links and nodes of a fabric in a terminal, or as lines for a program. */
#ifndef ARIES_NET_TOP_HPP
#define ARIES_NET_TOP_HPP

#include <cstdint>
#include <string>

#include "net/top_table.hpp"

namespace aries::net
{

struct TopOptions {
	double interval_s;
	uint32_t tables; ///< to print, one after the other; 0: a terminal
	TopChoice choice;
};

/**
 * Shows a fabric until the user ends it, or prints its tables.
 * @param fabric path
 * @throws Error if the fabric is not there or ends, or there is no terminal to show it in
 */
void top(const std::string &fabric, const TopOptions &options);

/** The column of a table with a name, in lower case and without what is behind a blank. @throws Error: there is none */
size_t column_of(TopTable table, const std::string &name);

} // namespace aries::net

#endif
