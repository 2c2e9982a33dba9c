// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * Processes that simulate a machine together. All call the same functions in the same order. aries-sim is one process,
 * aries-sim-mpi as many as MPI started; the rest of the two programs is the same.
 */
#ifndef ARIES_SIM_RANKS_HPP
#define ARIES_SIM_RANKS_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
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
	virtual uint32_t on_this_host() const noexcept = 0; ///< that share its memory

	/** What is for each process, and what came from each. */
	virtual std::vector<Bytes> exchange(const std::vector<Bytes> &out) = 0;

	/** Numbers of all processes added up, in every one. */
	virtual void sum(std::span<uint64_t> numbers) = 0;

	/** The bytes of all processes, in every one. */
	virtual std::vector<Bytes> gather(const Bytes &mine) = 0;

	/** End all of them, for this one cannot go on. */
	[[noreturn]] virtual void abort() noexcept = 0;

	/** The first text of all processes that is not empty, so that they stop together. */
	std::string first_of(const std::string &mine);
};

/** The processes that were started together, or none if there is but one. */
std::unique_ptr<Ranks> join_ranks(int &argc, char **&argv);

} // namespace aries::sim

#endif
