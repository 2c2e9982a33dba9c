// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Processes that simulate a machine together. All call the same functions in the same order.
 */
#ifndef ARIES_SIM_RANKS_HPP
#define ARIES_SIM_RANKS_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace aries::sim
{

using Bytes = std::vector<std::byte>;

class Ranks
{
public:
	virtual ~Ranks() = default;

	virtual uint32_t rank() const noexcept = 0;
	virtual uint32_t count() const noexcept = 0;

	/** What is for each process, and what came from each. */
	virtual std::vector<Bytes> exchange(const std::vector<Bytes> &out) = 0;

	/** Numbers of all processes added up, in every one. */
	virtual void sum(std::span<uint64_t> numbers) = 0;

	/** The bytes of all processes, in every one. */
	virtual std::vector<Bytes> gather(const Bytes &mine) = 0;
};

} // namespace aries::sim

#endif
