/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fabric's segment file: creation, checks, addresses of its parts. */
#ifndef ARIES_FABRIC_SEGMENT_HPP
#define ARIES_FABRIC_SEGMENT_HPP

#include <bit>
#include <bitset>
#include <cstddef>
#include <string>

#include "fabric/carry_area.hpp"
#include "fabric/error.hpp"

namespace aries
{

/** CLOCK_MONOTONIC in nanoseconds; the same clock in all members. */
uint64_t now_ns() noexcept;

/** Values that all members of a fabric must agree on. */
struct SegmentShape {
	uint32_t nodes;
	uint32_t routers_per_chassis;
	uint32_t chassis_per_group;
	uint32_t machine_nodes;
	uint64_t network_bytes;
	uint64_t router_bytes; /* the first part of network_bytes, allocated page by page: see reserve_network() */
};

/**
 * One member's mapping of the segment. The constructor locks the member's byte of
 * the file (an OFD lock, which the kernel releases with the process). While any
 * process holds such a lock the file is kept, otherwise it is made anew. No other
 * member can join until let_others_in(), so that values that must be unique can be
 * compared and taken before.
 */
class Segment
{
public:
	/** Throws Error if the file is not usable, or in use with another version or shape, or @node is taken. */
	Segment(const std::string &path, const SegmentShape &shape, uint32_t node);
	/** Releases the lock; the last member removes the file. */
	~Segment();
	Segment(const Segment &) = delete;
	Segment &operator=(const Segment &) = delete;

	uint32_t nodes() const noexcept { return nodes_; }
	const std::string &path() const noexcept { return path_; }

	NodeSlot &node(uint32_t n) const noexcept
	{
		return *reinterpret_cast<NodeSlot *>(base_ + SEGMENT_NODES_OFFSET + n * stride_);
	}

	/** now_ns() at which the global clock reads 0. */
	uint64_t origin_ns() const noexcept { return header().origin_ns; }

	using Flights = Flight[FLIGHT_LANES];

	/** Accesses of @initiator at @target. */
	Flights &flights(uint32_t target, uint32_t initiator) const noexcept
	{
		auto *first =
			reinterpret_cast<Flights *>(base_ + SEGMENT_NODES_OFFSET + target * stride_ + sizeof(NodeSlot));
		return first[initiator];
	}

	/** Allows other members to join. */
	void let_others_in() noexcept;

	/**
	 * Memory of the network model, all zero when the fabric was made. The routers' part must not even be read
	 * before reserve_network().
	 */
	void *network() const noexcept { return base_ + network_offset(); }

	/** Allocates @bytes at @offset of the network's memory in the file system; false without space. Any thread; a
	 * system call.
	 */
	bool reserve_network(uint64_t offset, uint64_t bytes) const noexcept;

	/**
	 * Area for requests of @node to other hosts, at the end of the file. Must not even be read before
	 * reserve_carry(), or before the node has announced that its area has a key.
	 */
	CarryArea &carry(uint32_t node) const noexcept
	{
		return *reinterpret_cast<CarryArea *>(base_ + network_end() + node * sizeof(CarryArea));
	}
	/** Allocates the area of @node in the file system; false without space. A system call. */
	bool reserve_carry(uint32_t node) const noexcept;

	/**
	 * Takes the lock of another address until the segment is closed: this member is the carrier of that node. False
	 * if another member has the lock.
	 */
	bool hold_address(uint32_t node) noexcept
	{
		held_[node] = lock_member(node);
		return held_[node];
	}

	/** Whether a process holds the lock of @node; a system call. */
	bool member_locked(uint32_t node) const noexcept;

	/** Marks our address as used. */
	void mark_joined() noexcept { mark_joined(node_); }
	void mark_joined(uint32_t node) noexcept { header().joined[node / 64].fetch_or(uint64_t(1) << (node % 64)); }
	/** Calls @visit with each node that ever joined, for work that must not grow with the size of the fabric. */
	template <typename Visit> void for_each_joined(Visit &&visit) const
	{
		for (uint32_t word = 0; word < MEMBERS_MAX / 64; word++) {
			for (uint64_t left = header().joined[word].load(); left; left &= left - 1) {
				const uint32_t n = word * 64 + uint32_t(std::countr_zero(left));

				if (n < nodes_)
					visit(n);
			}
		}
	}

private:
	SegmentHeader &header() const noexcept { return *reinterpret_cast<SegmentHeader *>(base_); }
	bool open_file();
	bool named() const noexcept;
	void adopt_or_create(const SegmentShape &shape);
	void check_ours() const;
	void check_header(const SegmentShape &shape) const;
	void allocate(uint64_t hole_bytes);
	int make_room(uint64_t offset, uint64_t bytes) const noexcept;
	uint64_t network_offset() const noexcept { return SEGMENT_NODES_OFFSET + nodes_ * stride_; }
	uint64_t network_end() const noexcept { return total_ - nodes_ * sizeof(CarryArea); }
	void write_header(const SegmentShape &shape);
	void map();
	bool any_member() const;
	bool lock_member(uint32_t node);
	void remove_sockets() const noexcept;
	void remove_files_beside() const noexcept;
	void release() noexcept;

	std::string path_;
	int fd_ = -1;
	uint32_t nodes_ = 0;
	uint32_t node_ = 0;
	std::bitset<MEMBERS_MAX> held_; /* other addresses whose locks this member holds */
	uint64_t stride_ = 0;
	uint64_t total_ = 0;
	uint8_t *base_ = nullptr;
};

} // namespace aries

#endif
