// SPDX-License-Identifier: GPL-2.0-or-later
#include "hss/journal.hpp"

#include <cstdio>
#include <iostream>

namespace aries::hss
{

Journal::Journal(const std::string &file, bool json)
	: name_(file.empty() ? "standard output" : file), out_(file.empty() ? std::cout : file_), json_(json)
{
	if (file.empty())
		return;
	file_.open(file, std::ios::app);
	if (!file_)
		throw Error("cannot write to " + file + ": give --log a file that can be made or added to");
}

void Journal::write(const std::string &line)
{
	out_ << line << std::endl;
	if (out_)
		return;
	out_.clear();
	if (!complained_)
		std::cerr << "aries-hss: cannot write to " << name_ << ": lines are missing there\n";
	complained_ = true;
}

void Journal::tell(const std::string &event, const std::string &text, const Json &details)
{
	const std::string time = net::time_text(std::chrono::system_clock::now());

	if (!json_) {
		write(time + " " + event + ": " + text);
		return;
	}
	Json line{{"time", time}, {"event", event}, {"text", text}};

	line.update(details);
	write(line.dump());
}

void Journal::tell(const net::Event &event)
{
	Json line = event.json();

	line["event"] = "part";
	write(json_ ? line.dump() : event.text());
}

std::string ms_text(uint64_t ns)
{
	char text[32];

	std::snprintf(text, sizeof(text), "%.3f ms", static_cast<double>(ns) / 1e6);
	return text;
}

} // namespace aries::hss
