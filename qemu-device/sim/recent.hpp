// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Numbers that have been seen of late. Older ones are forgotten, so that there are no more of them the longer a run is.
 */
#ifndef ARIES_SIM_RECENT_HPP
#define ARIES_SIM_RECENT_HPP

#include <cstddef>
#include <cstdint>
#include <unordered_set>

namespace aries::sim
{

class Recent
{
public:
	/** Memory of a number, with that of its bucket and of the allocator. */
	static constexpr size_t NUMBER_BYTES = 48;

	/** @param cycles that a number is known, at least; at most it is twice as many until the next one comes */
	explicit Recent(uint32_t cycles) : cycles_(cycles) {}

	/** @return it was not known. @p now never goes back */
	bool insert(uint64_t number, uint32_t now)
	{
		if (now - turned_ >= cycles_) {
			older_.swap(newer_);
			newer_.clear();
			turned_ = now;
		}
		return !older_.contains(number) && newer_.insert(number).second;
	}

	uint32_t cycles() const noexcept { return cycles_; }
	size_t size() const noexcept { return older_.size() + newer_.size(); }

private:
	uint32_t cycles_;
	uint32_t turned_ = 0;
	std::unordered_set<uint64_t> older_, newer_;
};

} // namespace aries::sim

#endif
