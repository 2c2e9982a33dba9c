/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/tables_store.hpp"

#include <climits>
#include <cstdio>
#include <string_view>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace aries
{

namespace
{

constexpr uint64_t LONGEST = uint64_t(1) << 30; /* tables of the largest machine take 40 MiB */
constexpr const char *MIDDLE = ".tables.";
constexpr const char *UNFINISHED = "new";

} // namespace

std::string TablesStore::path(uint32_t generation) const
{
	return file(generation).path();
}

FileBeside TablesStore::file(uint32_t generation) const
{
	return {segment_, MIDDLE + std::to_string(generation), std::string(MIDDLE) + UNFINISHED, "route tables"};
}

std::vector<std::byte> TablesStore::read(uint32_t generation) const
{
	return file(generation).read(LONGEST);
}

void TablesStore::write(uint32_t generation, std::span<const std::byte> bytes) const
{
	file(generation).write(bytes);
}

/* Allocates no memory, so that a member that leaves can clean up in any state. */
template <typename Keep> void TablesStore::remove_unless(const std::string &path, Keep &&keep) noexcept
{
	const size_t slash = path.rfind('/');
	const std::string_view base = std::string_view(path).substr(slash == std::string::npos ? 0 : slash + 1);
	const std::string_view middle = MIDDLE;
	char folder[PATH_MAX] = ".";

	if (slash != std::string::npos)
		snprintf(folder, sizeof(folder), "%.*s", int(slash + 1), path.c_str());
	DIR *const names = opendir(folder);

	if (!names)
		return;
	while (const dirent *entry = readdir(names)) { // NOLINT(concurrency-mt-unsafe): a stream of our own
		std::string_view rest = entry->d_name;

		if (!rest.starts_with(base) || !rest.substr(base.size()).starts_with(middle))
			continue;
		rest.remove_prefix(base.size() + middle.size());
		const bool number = !rest.empty() && rest.find_first_not_of("0123456789") == std::string_view::npos;

		if ((number || rest == UNFINISHED) && !keep(rest))
			unlinkat(dirfd(names), entry->d_name, 0);
	}
	closedir(names);
}

void TablesStore::keep_only(uint32_t generation, uint32_t other) const noexcept
{
	char first[16], second[16];

	snprintf(first, sizeof(first), "%u", generation);
	snprintf(second, sizeof(second), "%u", other);
	remove_unless(segment_, [&](std::string_view rest) { return rest == first || rest == second; });
}

void TablesStore::remove_all(const std::string &segment) noexcept
{
	remove_unless(segment, [](std::string_view) { return false; });
}

} // namespace aries
