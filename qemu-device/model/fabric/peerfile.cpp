/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/peerfile.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace aries
{

const char *map_cause_text(MapCause cause) noexcept
{
	static constexpr std::array<const char *, size_t(MapCause::COUNT)> texts{
		"reached",
		"it has not published any",
		"it has begun to change its memory map and does not go on: is its process stopped?",
		"its process does not answer: is it stopped, or may it not use sockets in the fabric's folder?",
		"it has not passed a descriptor for all of it",
		"it has passed a descriptor that is not a regular file's",
		"its memfd is not sealed against shrinking: use seal=on",
		"a file of it is shorter than the memory that it is to hold",
		"it has passed a descriptor that may not be written to",
		"the kernel refuses to map a file of it: is there a limit to this process's address space?",
		"this process has no file descriptors left: raise its limit (ulimit -n)",
		"this process has no memory left",
		"a page of it cannot be had: is the file system of its file full, or was the file truncated?",
	};

	return texts[size_t(cause) % texts.size()];
}

namespace
{

bool is_memfd(int fd) noexcept
{
	char link[32], target[16] = {};

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return readlink(link, target, sizeof(target) - 1) > 0 && !strncmp(target, "/memfd:", 7);
}

/** Bytes of a page of a mapping of @fd. */
uint64_t page_of(int fd) noexcept
{
	struct statfs st;

	return fstatfs(fd, &st) == 0 && st.f_type == HUGETLBFS_MAGIC ? uint64_t(st.f_bsize)
								     : uint64_t(sysconf(_SC_PAGESIZE));
}

} // namespace

MapCause check_ram_file(int fd, FileId &id, uint64_t &size) noexcept
{
	struct stat st;
	const int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return MapCause::NOT_A_FILE;
	if ((flags & O_ACCMODE) != O_RDWR || (flags & O_PATH))
		return MapCause::NOT_WRITABLE;
	if (is_memfd(fd) && !(fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK))
		return MapCause::UNSEALED;
	id = {uint64_t(st.st_dev), uint64_t(st.st_ino)};
	size = uint64_t(st.st_size);
	return size ? MapCause::NONE : MapCause::TOO_SHORT;
}

std::shared_ptr<const PeerFile> PeerFile::map(int fd, MapCause &cause) noexcept
{
	FileId id;
	uint64_t size;

	cause = check_ram_file(fd, id, size);
	if (cause != MapCause::NONE)
		return nullptr;
	void *host = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);

	if (host == MAP_FAILED) {
		cause = errno == EPERM || errno == EACCES ? MapCause::NOT_WRITABLE : MapCause::NOT_MAPPED;
		return nullptr;
	}
	try {
		return std::make_shared<const PeerFile>(id, size, static_cast<uint8_t *>(host), page_of(fd));
	} catch (const std::bad_alloc &) {
		munmap(host, size);
		cause = MapCause::NO_ROOM;
		return nullptr;
	}
}

PeerFile::~PeerFile()
{
	guard_.reset();
	munmap(host, size);
}

} // namespace aries
