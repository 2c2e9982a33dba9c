// SPDX-License-Identifier: GPL-2.0-or-later
#include "net/find_fabric.hpp"

#include <filesystem>
#include <vector>

#include "fabric/observer.hpp"

namespace aries::net
{

namespace
{

constexpr const char *SHARED_MEMORY = "/dev/shm", *PREFIX = "aries-";

/* Names of the fabrics that scripts/cluster has made here and that have members. */
std::vector<std::string> fabrics()
{
	std::vector<std::string> names;
	std::error_code unreadable;

	for (const auto &entry : std::filesystem::directory_iterator(SHARED_MEMORY, unreadable)) {
		const std::string name = entry.path().filename();

		if (!name.starts_with(PREFIX) || !entry.is_regular_file(unreadable))
			continue;
		try {
			const Observer observer(entry.path(), Observer::Access::Look);
			names.push_back(name.substr(std::string(PREFIX).size()));
		} catch (const Error &) {
			continue; /* somebody else's file, or what a crash has left */
		}
	}
	return names;
}

} // namespace

std::string path_of(const std::string &fabric)
{
	if (fabric.find('/') != std::string::npos)
		return fabric;
	if (!fabric.empty())
		return std::string(SHARED_MEMORY) + "/" + PREFIX + fabric;
	const std::vector<std::string> names = fabrics();

	if (names.size() == 1)
		return path_of(names[0]);
	std::string list = names.empty() ? "no fabric runs here: start a cluster, or give the path of one with -f"
					 : "several fabrics run here: choose one with -f:";

	for (const std::string &name : names)
		list += " " + name;
	throw Error(list);
}

} // namespace aries::net
