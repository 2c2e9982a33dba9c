/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sockets of members, beside the segment file. */
#ifndef ARIES_FABRIC_MEMBER_SOCKET_HPP
#define ARIES_FABRIC_MEMBER_SOCKET_HPP

#include <climits>
#include <cstdint>
#include <cstdio>
#include <string>

#include <sys/un.h>

#include "fabric/descriptor.hpp"

namespace aries
{

/** Kinds of sockets of a member: to wake its host, and to pass descriptors of guest memory. */
inline constexpr const char *SOCKET_KINDS[] = {"wake", "ram"};
inline constexpr const char *WAKE_SOCKET = SOCKET_KINDS[0];
inline constexpr const char *RAM_SOCKET = SOCKET_KINDS[1];

/** Name of a member's socket. */
struct SocketName {
	SocketName(const std::string &fabric, const char *kind, uint32_t node) noexcept
	{
		snprintf(text, sizeof(text), "%s.%s%u", fabric.c_str(), kind, node);
	}

	char text[PATH_MAX];
};

/** Removes the socket of a member that is gone. A file of another type under that name is left alone. */
void remove_socket(int dir, const char *name) noexcept;

/** A datagram socket with a name. */
class MemberSocket
{
public:
	/** Throws Error if the socket cannot be made. @flags: more for socket() */
	MemberSocket(const std::string &fabric, const char *kind, uint32_t node, int flags);
	~MemberSocket();
	MemberSocket(const MemberSocket &) = delete;
	MemberSocket &operator=(const MemberSocket &) = delete;

	int fd() const noexcept { return fd_.get(); }
	/**
	 * A second socket, connected to the first one, to be passed to peers. A peer that has it needs no permission to
	 * use the name. Permissions may not suffice: this process may have changed its user after it made the name
	 * (-runas).
	 */
	int door() const noexcept { return door_.get(); }
	/** Address of another member's socket of this kind; false if the path is too long for one. */
	bool address(uint32_t node, sockaddr_un &addr) const noexcept;

private:
	bool make(uint32_t node, int flags);

	const char *const kind_;
	const uint32_t node_;
	std::string base_; /* of the fabric's path, without the folder */
	Descriptor dir_;
	Descriptor fd_;
	Descriptor door_;
};

} // namespace aries

#endif
