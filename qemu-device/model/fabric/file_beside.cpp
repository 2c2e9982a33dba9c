/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/file_beside.hpp"
#include "fabric/descriptor.hpp"
#include "fabric/error.hpp"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aries
{

namespace
{

[[noreturn]] void failed(const std::string &what, int why)
{
	throw Error(what + ": " + std::generic_category().message(why));
}

/* @call: read() or write(), which may transfer a part only */
template <typename Byte, typename Call> bool all_of(std::span<Byte> bytes, int fd, Call &&call) noexcept
{
	while (!bytes.empty()) {
		const ssize_t done = call(fd, bytes.data(), bytes.size());

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		bytes = bytes.subspan(size_t(done));
	}
	return true;
}

/* Members may run as other users than the writer, which may be root. */
bool give_to_owner(int fd, const struct stat &owner) noexcept
{
	struct stat mine;

	return fchmod(fd, owner.st_mode & 0666) == 0 && fstat(fd, &mine) == 0 &&
	       ((mine.st_uid == owner.st_uid && mine.st_gid == owner.st_gid) ||
		fchown(fd, owner.st_uid, owner.st_gid) == 0);
}

} // namespace

bool FileBeside::there() const noexcept
{
	struct stat file;

	return lstat(path().c_str(), &file) == 0;
}

std::vector<std::byte> FileBeside::read(uint64_t longest) const
{
	const std::string named = path();
	const Descriptor fd(open(named.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
	struct stat file, owner;

	if (!fd)
		failed("cannot open " + what + " " + named, errno);
	if (fstat(fd.get(), &file) < 0 || stat(segment.c_str(), &owner) < 0)
		failed("cannot examine " + what + " " + named, errno);
	/* Any user can make files in folders of shared memory. */
	if (!S_ISREG(file.st_mode) || (file.st_uid != owner.st_uid && file.st_uid != 0))
		throw Error(what + " " + named + " are not of the owner of the fabric");
	if (uint64_t(file.st_size) > longest)
		throw Error(what + " " + named + " are too long to be any");
	std::vector<std::byte> bytes(size_t(file.st_size));

	if (!all_of(std::span(bytes), fd.get(), ::read))
		failed("cannot read " + what + " " + named, errno);
	return bytes;
}

void FileBeside::write(std::span<const std::byte> bytes) const
{
	const std::string named = path(), begun = segment + unfinished;
	struct stat owner;

	unlink(begun.c_str());
	const Descriptor fd(open(begun.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));

	if (!fd)
		failed("cannot make " + what + " " + begun, errno);
	if (stat(segment.c_str(), &owner) < 0 || !give_to_owner(fd.get(), owner) || !all_of(bytes, fd.get(), ::write) ||
	    rename(begun.c_str(), named.c_str()) < 0) {
		const int why = errno;

		unlink(begun.c_str());
		failed("cannot write " + what + " " + named, why);
	}
	/* The last member may have left meanwhile and have removed all files. */
	if (stat(segment.c_str(), &owner) < 0) {
		unlink(named.c_str());
		throw Error("fabric " + segment + " is gone");
	}
}

void remove_beside(const std::string &segment, const char *name) noexcept
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s%s", segment.c_str(), name) < int(sizeof(path)))
		unlink(path);
}

} // namespace aries
