// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What changes in a fabric: links, NICs and members, by looking again and again.
 */
#ifndef ARIES_NET_WATCH_HPP
#define ARIES_NET_WATCH_HPP

#include <chrono>
#include <functional>
#include <vector>

#include "net/fabric_view.hpp"

namespace aries::net
{

/** UTC with milliseconds, as ISO 8601 has it. */
std::string time_text(std::chrono::system_clock::time_point time);

/** One change of one part. */
struct Event {
	std::chrono::system_clock::time_point time;
	std::string part;  ///< "link 12:30", "node 3"
	std::string place; ///< cname
	std::string was;
	std::string is;

	Json json() const;
	/** One line without its end. */
	std::string text() const;
};

class Watch
{
public:
	explicit Watch(const FabricView &fabric) : fabric_(fabric) {}

	/** What has changed since the last call, at first all that is there. Two changes of a part in between are one.
	 */
	std::vector<Event> look();

private:
	const FabricView &fabric_;
	FabricView::States last_;
};

/**
 * Calls @p tell with each event until @p time has passed, the fabric has no members any more (false), or @p tell says
 * no. Looks every 20 ms.
 */
bool watch(const FabricView &fabric, std::chrono::nanoseconds time, const std::function<bool(const Event &)> &tell);

} // namespace aries::net

#endif
