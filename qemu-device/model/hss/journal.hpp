// SPDX-License-Identifier: GPL-2.0-or-later
/** @file What a manager of the network tells: a line for each thing, for people or as JSON. */
#ifndef ARIES_HSS_JOURNAL_HPP
#define ARIES_HSS_JOURNAL_HPP

#include <fstream>
#include <string>

#include "net/watch.hpp"

namespace aries::hss
{

using net::Json;

class Journal
{
public:
	/** @param file lines are added to its end; empty: standard output. Throws Error if it cannot be opened. */
	Journal(const std::string &file, bool json);

	/** Each line is there when the call returns. A journal that cannot be written is told once, on standard error.
	 */
	void tell(const std::string &event, const std::string &text, const Json &details = Json::object());
	/** What has changed of a part of the network. */
	void tell(const net::Event &event);

private:
	void write(const std::string &line);

	std::string name_;
	std::ofstream file_;
	std::ostream &out_;
	bool json_;
	bool complained_ = false;
};

/** "12.345 ms" of nanoseconds. */
std::string ms_text(uint64_t ns);

} // namespace aries::hss

#endif
