/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages between members over their sockets: identity, sockets for waking and
 * answering, and descriptors of guest memory.
 */
#ifndef ARIES_FABRIC_INTRODUCTION_HPP
#define ARIES_FABRIC_INTRODUCTION_HPP

#include <array>
#include <cstdint>

#include <sys/socket.h>

#include "aries_model.h"
#include "fabric/descriptor.hpp"

namespace aries
{

struct Introduction {
	uint64_t magic = MAGIC;
	uint32_t node = 0;
	uint32_t incarnation = 0;
	uint32_t answer = 0; /* asks the receiver for its own introduction */
	uint32_t files = 0;

	static constexpr uint64_t MAGIC = 0x3152544e49524141ull;
};

/** Descriptors of an introduction: two sockets, then the files. */
struct Passed {
	Descriptor bell; /* leads to the sender's wake socket */
	Descriptor door; /* leads to the socket that introductions go to */
	std::array<Descriptor, ARIES_RAM_MAX> files;
	bool lost = false; /* this process had no room for some descriptors */
};

/**
 * Sends through @socket, to @to unless that is null. @files: head.files of them
 * Return: false if it cannot be delivered now.
 */
bool send_introduction(int socket, const sockaddr *to, socklen_t to_len, const Introduction &head, int bell, int door,
		       const int *files) noexcept;

/**
 * Waits for an introduction. Return: false if the datagram is none; then @passed is unchanged. The sender is not
 * trusted: it has been checked that the sockets are sockets, and nothing else.
 */
bool receive_introduction(int socket, Introduction &head, Passed &passed) noexcept;

} // namespace aries

#endif
