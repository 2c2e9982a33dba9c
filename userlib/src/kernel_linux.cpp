// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/* System calls, without any knowledge of their meaning. */
#include "ground.hpp"
#include "guard.hpp"
#include "kernel.hpp"
#include "open_files.hpp"

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ugni::sys
{

int open_device(uint32_t device)
{
	const Uncancelled whole;
	char path[32];

	(void)snprintf(path, sizeof(path), "/dev/kgni%u", device);
	int fd;
	do
		fd = ::open(path, O_RDWR | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		return -errno;
	open_files_add(fd);
	return fd;
}

int call(int fd, unsigned long request, void *argument)
{
	return ::ioctl(fd, request, argument) < 0 ? -errno : 0;
}

void *map(int fd, size_t bytes, bool readable, uint64_t offset)
{
	void *place = ground_take(bytes);
	void *p = ::mmap(place, bytes, PROT_WRITE | (readable ? PROT_READ : 0), MAP_SHARED | (place ? MAP_FIXED : 0),
			 fd, static_cast<off_t>(offset));

	if (p == MAP_FAILED && place)
		ground_keep(place, bytes);
	return p == MAP_FAILED ? nullptr : p;
}

void unmap(void *address, size_t bytes)
{
	ground_keep(address, bytes);
}

void close_device(int fd)
{
	const Uncancelled whole;

	open_files_remove(fd);
	(void)::close(fd);
}

void *share_map(int fd, uint32_t device, size_t bytes)
{
	(void)device;
	void *p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return p == MAP_FAILED ? nullptr : p;
}

void share_unmap(void *address, size_t bytes)
{
	ground_keep(address, bytes);
}

uint64_t now_ms()
{
	timespec ts{};

	(void)::clock_gettime(CLOCK_MONOTONIC, &ts);
	return static_cast<uint64_t>(ts.tv_sec) * 1000 + static_cast<uint64_t>(ts.tv_nsec) / 1000000;
}

} // namespace ugni::sys
