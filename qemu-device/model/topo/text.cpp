// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <vector>

#include "topo/reports.hpp"

namespace aries::topology
{

namespace
{

std::string plain(const Json &value)
{
	return value.is_string() ? value.get<std::string>() : value.dump();
}

/* Columns as wide as what is in them; numbers to the right. All rows have the keys of the first. */
std::string table(const Json &rows)
{
	std::vector<size_t> widths;
	std::string text;

	if (rows.empty())
		return text;
	for (const auto &[key, value] : rows[0].items()) {
		size_t width = key.size();

		for (const Json &row : rows)
			width = std::max(width, plain(row[key]).size());
		widths.push_back(width);
	}

	const auto cell = [](const std::string &content, size_t width, bool right) {
		const std::string space(width - content.size(), ' ');

		return "  " + (right ? space + content : content + space);
	};
	const auto end_line = [&text] {
		text.erase(text.find_last_not_of(' ') + 1);
		text += "\n";
	};
	size_t column = 0;

	for (const auto &[key, value] : rows[0].items())
		text += cell(key, widths[column++], value.is_number());
	end_line();
	for (const Json &row : rows) {
		column = 0;
		for (const auto &[key, value] : row.items())
			text += cell(plain(value), widths[column++], value.is_number());
		end_line();
	}
	return text;
}

} // namespace

std::string text_of(const Json &report)
{
	std::string text;

	for (const auto &[key, value] : report.items())
		text += key + ":" + (value.is_array() ? "\n" + table(value) : " " + plain(value) + "\n");
	return text;
}

} // namespace aries::topology
