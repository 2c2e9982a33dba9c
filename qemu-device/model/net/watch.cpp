// SPDX-License-Identifier: GPL-2.0-or-later
#include "net/watch.hpp"

#include <cstdio>
#include <ctime>
#include <thread>

namespace aries::net
{

namespace
{

constexpr auto INTERVAL = std::chrono::milliseconds(20);

/* What a part is that states() does not name. */
const char *unnamed(const std::string &part)
{
	return part.starts_with("node") ? "never" : "as new";
}

} // namespace

std::string time_text(std::chrono::system_clock::time_point time)
{
	const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
	const std::time_t seconds = ms / 1000;
	std::tm parts{};
	char text[48];

	gmtime_r(&seconds, &parts);
	const size_t length = std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);

	std::snprintf(text + length, sizeof(text) - length, ".%03dZ", static_cast<int>(ms % 1000));
	return text;
}

Json Event::json() const
{
	return {{"time", time_text(time)}, {"part", part}, {"place", place}, {"was", was}, {"is", is}};
}

std::string Event::text() const
{
	return time_text(time) + " " + part + " (" + place + "): " + was + " -> " + is;
}

std::vector<Event> Watch::look()
{
	const auto time = std::chrono::system_clock::now();
	FabricView::States now = fabric_.states();
	std::vector<Event> events;

	for (const auto &[part, state] : last_) {
		if (!now.contains(part))
			events.push_back({time, part, state.place, state.text, unnamed(part)});
	}
	for (const auto &[part, state] : now) {
		const auto before = last_.find(part);

		if (before == last_.end())
			events.push_back({time, part, state.place, unnamed(part), state.text});
		else if (before->second.text != state.text)
			events.push_back({time, part, state.place, before->second.text, state.text});
	}
	last_ = std::move(now);
	return events;
}

bool watch(const FabricView &fabric, std::chrono::nanoseconds time, const std::function<bool(const Event &)> &tell)
{
	const auto start = std::chrono::steady_clock::now();
	Watch looks(fabric);

	for (;;) {
		/* Before the look, which then shows how the last one went. */
		const bool members = fabric.has_members();

		for (const Event &event : looks.look()) {
			if (!tell(event))
				return true;
		}
		if (!members || std::chrono::steady_clock::now() - start >= time)
			return members;
		std::this_thread::sleep_for(INTERVAL);
	}
}

} // namespace aries::net
