/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The NODE block: who of the fabric is there, and whose state has changed. */
#ifndef ARIES_NIC_NODES_HPP
#define ARIES_NIC_NODES_HPP

#include <array>

#include "nic/core/core.hpp"

namespace aries
{

/**
 * States are those of the segment at the moment of the read. A change is what differs between two sweeps, so whatever
 * happens to a node in between is one; its generation tells that it was away. Under the register file's mutex.
 */
class NodeWatch
{
public:
	explicit NodeWatch(Core &core) noexcept : core_(core) {}

	/** As NODE_STATE. */
	uint64_t state(uint32_t node) const noexcept;
	uint64_t changed(uint32_t index) const noexcept { return changed_[index]; }
	void acknowledge(uint32_t index, uint64_t nodes) noexcept { changed_[index] &= ~nodes; }
	uint32_t control() const noexcept { return ctl_; }
	/** False, without effect: no such vector. */
	bool set_control(uint32_t value) noexcept;

	/** From time to time, when deaths have been noticed. */
	void sweep() noexcept;
	/** The reader of the registers knows nothing: every node there is has changed with the next sweep. */
	void reset() noexcept;

private:
	void ask() const noexcept;

	Core &core_;
	std::array<uint64_t, MEMBERS_MAX> seen_{};
	std::array<uint64_t, MEMBERS_MAX / 64> changed_{};
	uint32_t ctl_ = 0;
};

} // namespace aries

#endif
