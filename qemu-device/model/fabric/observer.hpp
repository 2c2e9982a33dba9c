/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A fabric seen by a process that is not a member: tools, a manager. */
#ifndef ARIES_FABRIC_OBSERVER_HPP
#define ARIES_FABRIC_OBSERVER_HPP

#include "fabric/segment.hpp"

namespace aries
{

/**
 * Maps the segment of a fabric that has members, without a node address or a lock of its own. So an observer that dies
 * leaves no trace, and a running observer does not keep the file in existence.
 */
class Observer
{
public:
	enum class Access : uint8_t { Look, Change };

	/** Throws Error if there is no such file, or it is no fabric, of another version, damaged, without members or
	 * without the permission for @access.
	 */
	Observer(const std::string &path, Access access);
	~Observer();
	Observer(const Observer &) = delete;
	Observer &operator=(const Observer &) = delete;

	/** The shape that the first member chose. */
	const SegmentShape &shape() const noexcept { return shape_; }
	NodeSlot &node(uint32_t n) const noexcept
	{
		return *reinterpret_cast<NodeSlot *>(base_ + SEGMENT_NODES_OFFSET + n * stride_);
	}
	/** Whether a process holds the lock of @node, so that its member lives. A system call. */
	bool member_locked(uint32_t node) const noexcept;
	/** Whether any member is left. A system call. */
	bool any_member() const noexcept;
	/** Roles that one process at a time may have. The kernel releases them when the process ends in any way. */
	enum class Office : uint8_t {
		Manager, ///< manages the network permanently
		Tables,  ///< changes route tables
	};
	/** Takes a role; false if another process has it. Needs Access::Change. */
	bool take(Office office) const noexcept;
	void give_back(Office office) const noexcept;
	/** Whether another process has a role. A system call. */
	bool taken(Office office) const noexcept;

	/** Memory of the network model; read-only with Access::Look. */
	void *network() const noexcept { return base_ + SEGMENT_NODES_OFFSET + shape_.nodes * stride_; }
	/** Allocates @bytes at @offset of the network's memory in the file system; false without space. */
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
