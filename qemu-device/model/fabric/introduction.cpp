/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fabric/introduction.hpp"

#include <cstring>

namespace aries
{

namespace
{

constexpr size_t DESCRIPTORS_MAX = 2 + ARIES_RAM_MAX;

/* Room for more descriptors than expected: surplus descriptors of a sender are received and closed. */
union Control {
	cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int) * 256)];
};

/** Whether @fd is a Unix datagram socket; we send() to no other descriptor. */
bool is_door(int fd) noexcept
{
	int domain = 0, type = 0;
	socklen_t len = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 && domain == AF_UNIX &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_DGRAM;
}

/* Each descriptor of the message gets an owner that closes it, also if the message is not valid. */
size_t take_descriptors(msghdr &msg, std::array<Descriptor, DESCRIPTORS_MAX> &taken) noexcept
{
	size_t count = 0;

	for (cmsghdr *part = CMSG_FIRSTHDR(&msg); part; part = CMSG_NXTHDR(&msg, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = CMSG_LEN(0); at + sizeof(int) <= part->cmsg_len; at += sizeof(int)) {
			int fd;

			memcpy(&fd, reinterpret_cast<const char *>(part) + at, sizeof(fd));
			Descriptor owner(fd);

			if (count < taken.size())
				taken[count] = std::move(owner);
			count++;
		}
	}
	return count;
}

} // namespace

bool send_introduction(int socket, const sockaddr *to, socklen_t to_len, const Introduction &head, int bell, int door,
		       const int *files) noexcept
{
	const size_t count = 2 + head.files;
	Control control = {};
	iovec data = {const_cast<Introduction *>(&head), sizeof(head)};
	msghdr msg = {};

	msg.msg_name = const_cast<sockaddr *>(to);
	msg.msg_namelen = to_len;
	msg.msg_iov = &data;
	msg.msg_iovlen = 1;
	msg.msg_control = control.bytes;
	msg.msg_controllen = CMSG_SPACE(sizeof(int) * count);
	cmsghdr *const part = CMSG_FIRSTHDR(&msg);
	const int sockets[2] = {bell, door};

	part->cmsg_level = SOL_SOCKET;
	part->cmsg_type = SCM_RIGHTS;
	part->cmsg_len = CMSG_LEN(sizeof(int) * count);
	memcpy(CMSG_DATA(part), sockets, sizeof(sockets));
	if (head.files)
		memcpy(CMSG_DATA(part) + sizeof(sockets), files, sizeof(int) * head.files);
	return sendmsg(socket, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) == ssize_t(sizeof(head));
}

bool receive_introduction(int socket, Introduction &head, Passed &passed) noexcept
{
	std::array<Descriptor, DESCRIPTORS_MAX> taken;
	Control control;
	iovec data = {&head, sizeof(head)};
	msghdr msg = {};

	msg.msg_iov = &data;
	msg.msg_iovlen = 1;
	msg.msg_control = control.bytes;
	msg.msg_controllen = sizeof(control.bytes);
	const ssize_t got = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);

	if (got < 0)
		return false;
	const size_t count = take_descriptors(msg, taken);

	if (got != ssize_t(sizeof(head)) || (msg.msg_flags & MSG_TRUNC) || head.magic != Introduction::MAGIC ||
	    head.files > ARIES_RAM_MAX)
		return false;
	passed.lost = (msg.msg_flags & MSG_CTRUNC) != 0;
	if (!passed.lost && count != 2 + head.files)
		return false;
	if (taken[0] && is_door(taken[0].get()))
		passed.bell = std::move(taken[0]);
	if (taken[1] && is_door(taken[1].get()))
		passed.door = std::move(taken[1]);
	for (size_t i = 0; i < head.files; i++)
		passed.files[i] = std::move(taken[2 + i]);
	return true;
}

} // namespace aries
