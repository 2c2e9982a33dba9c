/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/member_socket.hpp"
#include "fabric/error.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace aries
{

void remove_socket(int dir, const char *name) noexcept
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(st.st_mode))
		unlinkat(dir, name, 0);
}

/* Names are relative to the folder's descriptor: a socket address holds 107 characters, a path may have more. */
MemberSocket::MemberSocket(const std::string &fabric, const char *kind, uint32_t node, int flags)
	: kind_(kind), node_(node)
{
	const size_t slash = fabric.rfind('/');
	const std::string folder = slash == std::string::npos ? "." : fabric.substr(0, slash + 1);

	base_ = slash == std::string::npos ? fabric : fabric.substr(slash + 1);
	dir_ = Descriptor(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
	if (!dir_ || !make(node, flags))
		throw Error("cannot make the " + std::string(kind) + " socket of fabric " + fabric + ": " +
			    std::generic_category().message(errno) +
			    ": use a folder that can be written, and a file name of at most 64 characters");
}

bool MemberSocket::make(uint32_t node, int flags)
{
	sockaddr_un addr;
	const auto *const generic = reinterpret_cast<const sockaddr *>(&addr);

	fd_ = Descriptor(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | flags, 0));
	door_ = Descriptor(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (!fd_ || !door_ || !address(node, addr))
		return false;
	/* The process that left this name is gone, because we hold the node's lock. */
	remove_socket(dir_.get(), SocketName(base_, kind_, node).text);
	return bind(fd_.get(), generic, sizeof(addr)) == 0 && connect(door_.get(), generic, sizeof(addr)) == 0;
}

MemberSocket::~MemberSocket()
{
	remove_socket(dir_.get(), SocketName(base_, kind_, node_).text);
}

bool MemberSocket::address(uint32_t node, sockaddr_un &addr) const noexcept
{
	addr = {};
	addr.sun_family = AF_UNIX;
	const int len = snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d/%s", dir_.get(),
				 SocketName(base_, kind_, node).text);

	errno = ENAMETOOLONG;
	return len > 0 && size_t(len) < sizeof(addr.sun_path);
}

} // namespace aries
