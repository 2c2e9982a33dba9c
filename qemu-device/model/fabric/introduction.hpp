/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * What members tell each other over their sockets: who they are, how to ring
 * and answer them, and descriptors of their guest memory.
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
	uint32_t answer = 0; /* the receiver is to introduce itself in turn */
	uint32_t files = 0;

	static constexpr uint64_t MAGIC = 0x3152544e49524141ull;
};

/** The descriptors that come with it: two sockets, then the files. */
struct Passed {
	Descriptor bell; /* leads to the sender's wake socket */
	Descriptor door; /* leads to the socket that introductions go to */
	std::array<Descriptor, ARIES_RAM_MAX> files;
	bool lost = false; /* some found no room in this process */
};

/**
 * Sends through @socket, to @to unless that is null. @files: head.files of them
 * Return: false if it cannot be delivered now.
 */
bool send_introduction(int socket, const sockaddr *to, socklen_t to_len, const Introduction &head, int bell, int door,
		       const int *files) noexcept;

/**
 * Waits for one. Return: false if what came is none; then @passed is as it was. What a datagram says and passes may be
 * anything: that the sockets are sockets has been looked at, nothing else.
 */
bool receive_introduction(int socket, Introduction &head, Passed &passed) noexcept;

} // namespace aries

#endif
