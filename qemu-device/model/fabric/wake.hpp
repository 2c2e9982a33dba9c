/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/* Attention of another member's host: a datagram to its socket beside the segment file. */
#ifndef ARIES_FABRIC_WAKE_HPP
#define ARIES_FABRIC_WAKE_HPP

#include <memory>

#include "fabric/member_socket.hpp"
#include "fabric/segment.hpp"

namespace aries
{

class Wake
{
public:
	/** Throws Error if the socket cannot be made. */
	Wake(Segment &segment, uint32_t node);
	~Wake();
	Wake(const Wake &) = delete;
	Wake &operator=(const Wake &) = delete;

	int fd() const noexcept { return socket_.fd(); }
	/** What peers ring. */
	int bell() const noexcept { return socket_.door(); }
	/** How @node is to be rung from now on: as its introduction says. */
	void learn(uint32_t node, Descriptor bell) noexcept;

	/**
	 * Asks @node to take @vectors; a system call only if nobody has asked yet. Never blocks. A member that has not
	 * introduced itself finds the vectors with its next tick.
	 */
	void raise(uint32_t node, uint32_t vectors) noexcept;
	/** Empties the socket; returns the vectors that were asked for. */
	uint32_t take() noexcept;

private:
	Segment &segment_;
	const uint32_t node_;
	MemberSocket socket_;
	std::unique_ptr<std::atomic<int>[]> bells_; /* -1: not known. A number once known stays that of a bell */
};

} // namespace aries

#endif
