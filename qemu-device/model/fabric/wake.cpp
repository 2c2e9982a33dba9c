/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/wake.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace aries
{

namespace
{

constexpr int DRAIN_MAX = 256; /* datagrams at once; what is left wakes us again */

} // namespace

void remove_socket(int dir, const char *name) noexcept
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(st.st_mode))
		unlinkat(dir, name, 0);
}

/* Names go through the folder's descriptor: a socket address holds 107 characters, a path more. */
Wake::Wake(Segment &segment, uint32_t node) : segment_(segment), node_(node)
{
	const std::string &path = segment.path();
	const size_t slash = path.rfind('/');
	const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
	sockaddr_un addr;

	base_ = slash == std::string::npos ? path : path.substr(slash + 1);
	dir_ = open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	bool made = dir_ >= 0 && fd_ >= 0 && address(node, addr);

	if (made) {
		/* Whoever left this name is gone: the node's lock is ours. */
		remove_socket(dir_, SocketName(base_, node).text);
		made = bind(fd_, reinterpret_cast<sockaddr *>(&addr), sizeof(addr)) == 0;
	}
	if (!made) {
		const std::string why = std::generic_category().message(errno);

		if (fd_ >= 0)
			close(fd_);
		if (dir_ >= 0)
			close(dir_);
		throw Error("cannot make the wake socket of fabric " + path + ": " + why +
			    ": use a folder that can be written, and a file name of at most 64 characters");
	}
}

Wake::~Wake()
{
	remove_socket(dir_, SocketName(base_, node_).text);
	close(fd_);
	close(dir_);
}

bool Wake::address(uint32_t node, sockaddr_un &addr) const noexcept
{
	addr = {};
	addr.sun_family = AF_UNIX;
	const int len = snprintf(addr.sun_path, sizeof(addr.sun_path), "/proc/self/fd/%d/%s", dir_,
				 SocketName(base_, node).text);

	errno = ENAMETOOLONG;
	return len > 0 && size_t(len) < sizeof(addr.sun_path);
}

void Wake::raise(uint32_t node, uint32_t vectors) noexcept
{
	NodeSlot &slot = segment_.node(node);
	sockaddr_un addr;

	slot.irq_vectors.fetch_or(vectors);
	if (slot.wake_sent.exchange(1))
		return;
	/* A full socket means that it will wake anyway; a missing one that nobody listens. */
	if (address(node, addr))
		sendto(fd_, "w", 1, MSG_DONTWAIT | MSG_NOSIGNAL, reinterpret_cast<sockaddr *>(&addr), sizeof(addr));
}

uint32_t Wake::take() noexcept
{
	char drain[16];

	for (int i = 0; i < DRAIN_MAX && recv(fd_, drain, sizeof(drain), MSG_DONTWAIT) >= 0; i++)
		;
	NodeSlot &slot = segment_.node(node_);

	slot.wake_sent.store(0);
	return slot.irq_vectors.exchange(0);
}

} // namespace aries
