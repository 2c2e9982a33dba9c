// SPDX-License-Identifier: GPL-2.0-or-later
/** @file What aries-net top shows: tables of links and nodes, from two samples of a fabric. */
#ifndef ARIES_NET_TOP_TABLE_HPP
#define ARIES_NET_TOP_TABLE_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "net/sample.hpp"

namespace aries::net
{

enum class TopTable : uint8_t { Links, Nodes };

/** What a user has chosen. */
struct TopChoice {
	TopTable table = TopTable::Links;
	size_t column = 0; ///< by which rows are sorted: numbers from the highest, words in the order of letters
	bool reversed = false;
	std::string filter; ///< rows have it in one of their words; upper and lower case are the same
};

struct TopColumn {
	const char *name;
	uint32_t width;
	bool number; ///< on the right, and sorted from the highest
};

/** A row's texts, column by column. */
using TopRow = std::vector<std::string>;

struct TopView {
	std::vector<std::string> head; ///< lines above the table: machine, time, how many of what
	std::vector<TopColumn> columns;
	std::vector<TopRow> rows; ///< sorted, without those that the filter leaves out
	std::vector<bool> wrong;  ///< of each row: a link that is down or degraded, a member that is gone or cut off
};

const std::vector<TopColumn> &columns_of(TopTable table);

/**
 * What has happened between two samples.
 * @param seconds of the host's clock between them, more than 0
 * @param name of the fabric
 */
TopView top_view(const Sample &before, const Sample &now, double seconds, const std::string &name,
		 const TopChoice &choice);

/** A row, or names of columns, as a line. */
std::string top_line(const std::vector<TopColumn> &columns, const TopRow &row);

} // namespace aries::net

#endif
