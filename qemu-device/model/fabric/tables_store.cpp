/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
#include "fabric/tables_store.hpp"
#include "fabric/descriptor.hpp"
#include "fabric/segment.hpp"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <string_view>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aries
{

namespace
{

constexpr uint64_t LONGEST = uint64_t(1) << 30; /* tables of the largest machine take 40 MiB */
constexpr const char *MIDDLE = ".tables.";
constexpr const char *UNFINISHED = "new";

[[noreturn]] void failed(const std::string &what, int why)
{
	throw Error(what + ": " + std::generic_category().message(why));
}

bool write_all(int fd, std::span<const std::byte> bytes) noexcept
{
	while (!bytes.empty()) {
		const ssize_t done = write(fd, bytes.data(), bytes.size());

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		bytes = bytes.subspan(size_t(done));
	}
	return true;
}

bool read_all(int fd, std::span<std::byte> bytes) noexcept
{
	while (!bytes.empty()) {
		const ssize_t done = read(fd, bytes.data(), bytes.size());

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		bytes = bytes.subspan(size_t(done));
	}
	return true;
}

/* Members may run as other users than the manager: root, for example. */
bool give_to_owner(int fd, const struct stat &owner) noexcept
{
	struct stat mine;

	return fchmod(fd, owner.st_mode & 0666) == 0 && fstat(fd, &mine) == 0 &&
	       ((mine.st_uid == owner.st_uid && mine.st_gid == owner.st_gid) ||
		fchown(fd, owner.st_uid, owner.st_gid) == 0);
}

} // namespace

std::string TablesStore::path(uint32_t generation) const
{
	return segment_ + MIDDLE + std::to_string(generation);
}

std::vector<std::byte> TablesStore::read(uint32_t generation) const
{
	const std::string name = path(generation);
	const Descriptor fd(open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
	struct stat file, segment;

	if (!fd)
		failed("cannot open route tables " + name, errno);
	if (fstat(fd.get(), &file) < 0 || stat(segment_.c_str(), &segment) < 0)
		failed("cannot examine route tables " + name, errno);
	/* Folders of shared memory can be written by everybody. */
	if (!S_ISREG(file.st_mode) || (file.st_uid != segment.st_uid && file.st_uid != 0))
		throw Error("route tables " + name + " are not of the owner of the fabric");
	if (uint64_t(file.st_size) > LONGEST)
		throw Error("route tables " + name + " are too long to be any");
	std::vector<std::byte> bytes(size_t(file.st_size));

	if (!read_all(fd.get(), bytes))
		failed("cannot read route tables " + name, errno);
	return bytes;
}

void TablesStore::write(uint32_t generation, std::span<const std::byte> bytes) const
{
	const std::string name = path(generation), unfinished = segment_ + MIDDLE + UNFINISHED;
	struct stat segment;

	unlink(unfinished.c_str());
	const Descriptor fd(open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));

	if (!fd)
		failed("cannot make route tables " + unfinished, errno);
	if (stat(segment_.c_str(), &segment) < 0 || !give_to_owner(fd.get(), segment) || !write_all(fd.get(), bytes) ||
	    rename(unfinished.c_str(), name.c_str()) < 0) {
		const int why = errno;

		unlink(unfinished.c_str());
		failed("cannot write route tables " + name, why);
	}
	/* The last member may have gone meanwhile, and have removed what there was. */
	if (stat(segment_.c_str(), &segment) < 0) {
		unlink(name.c_str());
		throw Error("fabric " + segment_ + " is gone");
	}
}

/* Without memory of its own: whoever leaves a fabric cleans up, whatever has happened to it. */
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
	while (const dirent *entry = readdir(names)) {
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
