// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "device_file.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "failure.h"

namespace tools
{

DeviceFile::DeviceFile(uint32_t device) : path_(format("/dev/kgni%u", device))
{
	fd_ = open(path_.c_str(), O_RDWR | O_CLOEXEC);
	if (fd_ < 0)
		throw Failure(format("%s: %s%s", path_.c_str(), errno_text(errno),
				     errno == ENOENT ? " (no such NIC, or the driver is not loaded)" : ""));
}

DeviceFile::~DeviceFile()
{
	close(fd_);
}

kgni_query DeviceFile::query() const
{
	kgni_query query = {};
	query.argsz = sizeof(query);
	if (ioctl(fd_, KGNI_IOC_QUERY, &query) != 0)
		throw Failure(format("%s: cannot ask what it is: %s", path_.c_str(), errno_text(errno)));
	query.build[sizeof(query.build) - 1] = '\0';
	return query;
}

std::optional<kgni_res> DeviceFile::resource(uint32_t kind, uint8_t ptag) const
{
	kgni_res res = {};
	res.argsz = sizeof(res);
	res.kind = kind;
	res.ptag = ptag;
	if (ioctl(fd_, KGNI_IOC_RES, &res) == 0)
		return res;
	if (errno == ENOENT || errno == EOPNOTSUPP)
		return std::nullopt;
	throw Failure(
		format("%s: cannot ask for resource %u of tag %u: %s", path_.c_str(), kind, ptag, errno_text(errno)));
}

std::optional<uint8_t> DeviceFile::tag(uint32_t cookie) const
{
	kgni_ptag asked = {};
	asked.argsz = sizeof(asked);
	asked.cookie = cookie;
	if (ioctl(fd_, KGNI_IOC_PTAG, &asked) == 0)
		return asked.ptag;
	if (errno == ENOENT)
		return std::nullopt;
	throw Failure(
		format("%s: cannot ask for the tag of cookie 0x%08x: %s", path_.c_str(), cookie, errno_text(errno)));
}

} // namespace tools
