/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Wakes another member's host by a datagram to its socket beside the segment file. */
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
	/** Socket for peers to wake this member. */
	int bell() const noexcept { return socket_.door(); }
	/** Sets the socket that wakes @node, from its introduction. */
	void learn(uint32_t node, Descriptor bell) noexcept;

	/**
	 * Asks @node to raise @vectors; a system call only for the first request since it took them. Never blocks. A
	 * member that has not introduced itself finds the vectors at its next tick.
	 */
	void raise(uint32_t node, uint32_t vectors) noexcept;
	/** Empties the socket; returns the requested vectors. */
	uint32_t take() noexcept;

private:
	Segment &segment_;
	const uint32_t node_;
	MemberSocket socket_;
	std::unique_ptr<std::atomic<int>[]> bells_; /* -1: not known; a known number stays the number of a bell */
};

} // namespace aries

#endif
