/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Attention of another member's host: a datagram to its socket beside the segment file. */
#ifndef ARIES_FABRIC_WAKE_HPP
#define ARIES_FABRIC_WAKE_HPP

#include <climits>
#include <cstdio>

#include <sys/un.h>

#include "fabric/segment.hpp"

namespace aries
{

/** Name of a member's socket. */
struct SocketName {
	SocketName(const std::string &fabric, uint32_t node) noexcept
	{
		snprintf(text, sizeof(text), "%s.wake%u", fabric.c_str(), node);
	}

	char text[PATH_MAX];
};

/** Removes what a member that is gone has left; a file of another kind under that name is somebody else's. */
void remove_socket(int dir, const char *name) noexcept;

class Wake
{
public:
	/** Throws Error if the socket cannot be made. */
	Wake(Segment &segment, uint32_t node);
	~Wake();
	Wake(const Wake &) = delete;
	Wake &operator=(const Wake &) = delete;

	int fd() const noexcept { return fd_; }

	/** Asks @node to take @vectors; a system call only if nobody has asked yet. Never blocks. */
	void raise(uint32_t node, uint32_t vectors) noexcept;
	/** Empties the socket; returns the vectors that were asked for. */
	uint32_t take() noexcept;

private:
	bool address(uint32_t node, sockaddr_un &addr) const noexcept;

	Segment &segment_;
	const uint32_t node_;
	int dir_ = -1;
	int fd_ = -1;
	std::string base_;
};

} // namespace aries

#endif
