/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The QSC block: tells the driver that the network has been quiesced. */
#ifndef ARIES_NIC_QUIESCE_HPP
#define ARIES_NIC_QUIESCE_HPP

#include "nic/core/core.hpp"

namespace aries
{

/**
 * Whoever quiesces the network changes numbers that all members share (Network::quiesce()); each NIC compares them with
 * what it saw last and asks its driver to look. A driver that is told late, or once for several, finds their number.
 * Under the register file's mutex.
 */
class QuiesceWatch
{
public:
	explicit QuiesceWatch(Core &core) noexcept : core_(core) { reset(); }

	/** Quiesces since the fabric was made. */
	uint32_t count() const noexcept { return view().count; }
	/** Length of the latest as it was asked for, and what is left of one under way; nanoseconds of modelled time.
	 */
	uint64_t length_ns() const noexcept { return view().last_ns; }
	uint64_t left_ns() const noexcept { return view().left_ns; }
	/** One has begun that nobody has acknowledged. */
	bool begun() const noexcept { return begun_; }
	void acknowledge() noexcept { begun_ = false; }
	uint32_t control() const noexcept { return ctl_; }
	/** False, without effect: no such vector. */
	bool set_control(uint32_t value) noexcept;

	/** From time to time. */
	void sweep() noexcept;
	/** What was before is not told. */
	void reset() noexcept;

private:
	Network::QuiesceView view() const noexcept { return core_.network.quiesce_view(core_.at(now_ns())); }
	void ask() const noexcept;

	Core &core_;
	uint32_t seen_ = 0;
	bool begun_ = false;
	uint32_t ctl_ = 0;
};

} // namespace aries

#endif
