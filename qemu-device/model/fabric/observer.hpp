/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/* A fabric seen by somebody who is no member of it: tools, a manager. */
#ifndef ARIES_FABRIC_OBSERVER_HPP
#define ARIES_FABRIC_OBSERVER_HPP

#include "fabric/segment.hpp"

namespace aries
{

/**
 * Maps the segment of a fabric that has members, and takes nothing in it: no node address, no lock. So an observer
 * that dies leaves no trace, and one that stays does not keep the file.
 */
class Observer
{
public:
	enum class Access : uint8_t { Look, Change };

	/** Throws Error: no such file, no fabric, of another version, damaged, without members; or no right to @access.
	 */
	Observer(const std::string &path, Access access);
	~Observer();
	Observer(const Observer &) = delete;
	Observer &operator=(const Observer &) = delete;

	/** As the first member made it. */
	const SegmentShape &shape() const noexcept { return shape_; }
	NodeSlot &node(uint32_t n) const noexcept
	{
		return *reinterpret_cast<NodeSlot *>(base_ + SEGMENT_NODES_OFFSET + n * stride_);
	}
	/** Whether a process holds the lock of @node: its member lives. A system call. */
	bool member_locked(uint32_t node) const noexcept;
	/** Whether any member is left. A system call. */
	bool any_member() const noexcept;
	/** What only one process may be or do at a time. Given back when the process ends, however it ends. */
	enum class Office : uint8_t {
		Manager, ///< to look after the network all the time
		Tables,  ///< to change the route tables
	};
	/** False if another process has it. Needs Access::Change. */
	bool take(Office office) const noexcept;
	void give_back(Office office) const noexcept;
	/** Whether another process has it. A system call. */
	bool taken(Office office) const noexcept;

	/** Memory of the network model; Access::Look has no right to write to it. */
	void *network() const noexcept { return base_ + SEGMENT_NODES_OFFSET + shape_.nodes * stride_; }
	/** Makes room for @bytes at @offset of the network's memory; false if there is none. */
	bool reserve_network(uint64_t offset, uint64_t bytes) const noexcept;

private:
	bool set_lock(Office office, short type) const noexcept;
	void read_header();
	void release() noexcept;

	std::string path_;
	int fd_ = -1;
	SegmentShape shape_ = {};
	uint64_t stride_ = 0;
	uint64_t total_ = 0;
	uint8_t *base_ = nullptr;
};

} // namespace aries

#endif
