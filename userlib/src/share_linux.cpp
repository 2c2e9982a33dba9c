// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* Shared memory of a node: files in a file system of the kernel's memory. */
#include "kernel.hpp"
#include "open_files.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ugni::sys
{

constinit const char *share_directory = "/dev/shm";

namespace
{

struct Path {
	char text[128];

	explicit Path(const char *name) { (void)snprintf(text, sizeof(text), "%s/%s", share_directory, name); }
};

struct flock range(uint64_t byte, short type)
{
	struct flock lock = {};

	lock.l_type = type;
	lock.l_whence = SEEK_SET;
	lock.l_start = static_cast<off_t>(byte);
	lock.l_len = 1;
	return lock;
}

} // namespace

int share_open(const char *name)
{
	const Uncancelled whole;

	/* No link is followed, and nobody else's file is taken: the name is no secret. */
	int fd = ::open(Path(name).text, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
	if (fd < 0)
		return -errno;
	struct stat st = {};
	if (::fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077)) {
		(void)::close(fd);
		return -EPERM;
	}
	open_files_add(fd);
	return fd;
}

int share_lock(int fd, uint64_t byte, bool exclusive)
{
	struct flock lock = range(byte, static_cast<short>(exclusive ? F_WRLCK : F_RDLCK));
	int r;

	do
		r = ::fcntl(fd, F_OFD_SETLKW, &lock) < 0 ? -errno : 0;
	while (r == -EINTR);
	return r;
}

void share_unlock(int fd, uint64_t byte)
{
	struct flock lock = range(byte, F_UNLCK);

	(void)::fcntl(fd, F_OFD_SETLK, &lock);
}

bool share_locked(int fd, uint64_t byte)
{
	struct flock lock = range(byte, F_WRLCK);

	return ::fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool share_named(int fd)
{
	struct stat st = {};

	return ::fstat(fd, &st) == 0 && st.st_nlink > 0;
}

int share_resize(int fd, uint64_t bytes, uint64_t kept)
{
	if (::ftruncate(fd, 0) < 0 || ::ftruncate(fd, static_cast<off_t>(bytes)) < 0)
		return -errno;
	/* An access to a page that cannot be allocated would end the process, so all pages are allocated now. */
	return -::posix_fallocate(fd, 0, static_cast<off_t>(kept));
}

void share_unlink(const char *name)
{
	(void)::unlink(Path(name).text);
}

void share_close(int fd)
{
	const Uncancelled whole;

	open_files_remove(fd);
	(void)::close(fd);
}

} // namespace ugni::sys
