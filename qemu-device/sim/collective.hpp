// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Trees of collective engines (N21 to N24), and what is counted of the operations on them.
 */
#ifndef ARIES_SIM_COLLECTIVE_HPP
#define ARIES_SIM_COLLECTIVE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "packet/flits.hpp"

namespace aries::sim
{

inline constexpr uint32_t LEAST_RADIX = 2;
inline constexpr uint32_t MOST_RADIX = 32; ///< children of an engine (N22)

/** A contribution or a result carries two operands of 64 bits, as one of the device does. */
inline constexpr uint32_t COLLECTIVE_BYTES = 16;
inline constexpr uint32_t COLLECTIVE_FLITS = request_flits(PacketKind::Amo, COLLECTIVE_BYTES);

/**
 * A tree over ranks. A subtree is a run of ranks, and its first rank is its root; the others are cut into as many runs
 * as an engine may have children, as equal in size as can be. No tree of the same radix has fewer levels.
 */
class Tree
{
public:
	static constexpr uint32_t NO_PARENT = UINT32_MAX;

	Tree() = default;

	/** @param radix children of a rank, at most: LEAST_RADIX to MOST_RADIX */
	Tree(uint32_t ranks, uint32_t radix);

	/** No ranks. */
	bool empty() const noexcept { return parent_.empty(); }

	uint32_t parent(uint32_t rank) const noexcept { return parent_[rank]; }

	std::span<const uint32_t> children(uint32_t rank) const noexcept
	{
		return {children_.data() + first_child_[rank], first_child_[rank + 1] - first_child_[rank]};
	}

	/** Links from the root to the furthest rank. */
	uint32_t depth() const noexcept { return depth_; }

private:
	std::vector<uint32_t> parent_;
	std::vector<uint32_t> first_child_; // in children_, by rank, and one behind the last
	std::vector<uint32_t> children_;
	uint32_t depth_ = 0;
};

/** How far one operation of a job has come at the job's nodes in some parts of a machine. Times are cycles. */
struct OperationCount {
	uint32_t begun = 0; ///< nodes
	uint32_t ended = 0;
	uint32_t last_begin = 0;
	uint32_t last_end = 0;
};

/** Of a job. */
struct CollectiveCounts {
	uint64_t lost = 0; ///< packets and nodes without which an operation cannot end
	std::vector<OperationCount> operations;

	OperationCount &of(uint32_t operation)
	{
		if (operation >= operations.size())
			operations.resize(operation + size_t{1});
		return operations[operation];
	}

	void begin(uint32_t operation, uint32_t cycle)
	{
		OperationCount &count = of(operation);

		count.begun++;
		count.last_begin = std::max(count.last_begin, cycle);
	}

	void end(uint32_t operation, uint32_t cycle)
	{
		OperationCount &count = of(operation);

		count.ended++;
		count.last_end = std::max(count.last_end, cycle);
	}

	/** Those of other nodes of the job. */
	void add(const CollectiveCounts &other);

	/** As words, and from them. */
	void save(std::vector<uint64_t> &words) const;
	void load(const uint64_t *&word);
};

} // namespace aries::sim

#endif
