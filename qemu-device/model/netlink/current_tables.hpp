// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * The route tables that a process uses: those of the whole machine, or of a later generation that a manager of the
 * network has made (R14). Which generation it is stands in memory that all members share.
 *
 * Every thread has a reference of its own to the tables that it used last, so a thread that decides needs no lock and
 * writes nothing: it compares the generation, which is in a cache line that a packet loads anyway, with a word of its
 * own. Only a thread that finds a new generation takes the mutex, and releases its old reference. Tables are freed with
 * their last reference: when the last thread has moved on or ended, never while a thread decides.
 */
#ifndef ARIES_NETLINK_CURRENT_TABLES_HPP
#define ARIES_NETLINK_CURRENT_TABLES_HPP

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "router/tables.hpp"

namespace aries
{

/** Threads: everything from any number of threads at once; one that finds a new generation may sleep and allocate. */
class CurrentTables
{
public:
	using Reference = std::shared_ptr<const routing::Tables>;
	/** Tables of a generation. Throws std::exception with one line if they cannot be had. */
	using Load = std::function<Reference(uint32_t generation)>;

	/** @param generation shared; 0: that of the whole machine */
	CurrentTables(routing::Tables whole, const std::atomic<uint32_t> &generation);

	CurrentTables(const CurrentTables &) = delete;
	CurrentTables &operator=(const CurrentTables &) = delete;

	/**
	 * Sets how later generations are loaded; without @p load they are ignored. To be called before other threads
	 * decide.
	 * @param taken gets the number of each generation that is in use from then on; may be null
	 */
	void follow(Load load, std::atomic<uint32_t> *taken);

	/** The tables to decide with, valid until this thread calls get() again, of this or another object. */
	const routing::Tables &get() const noexcept
	{
		const uint32_t now = generation_.load(std::memory_order_relaxed);
		const Seen &last = seen_[slot_];

		if (last.key == (key_ | now)) [[likely]]
			return *last.tables;
		return change();
	}

	/** Why the present generation could not be had, once for each time; then the tables before stay in use. */
	std::optional<std::string> take_trouble() noexcept;

private:
	/* Which tables a thread uses of which object. */
	struct Seen {
		uint64_t key; // number of the object, generation
		const routing::Tables *tables;
	};
	/* Threads that use more objects than this by turns take the mutex more often. */
	static constexpr uint32_t SLOTS = 4;

	const routing::Tables &change() const noexcept;
	void take(uint32_t generation) const noexcept;
	void note(const char *trouble) const noexcept;

	inline static constinit thread_local std::array<Seen, SLOTS> seen_{};

	const std::atomic<uint32_t> &generation_;
	const uint64_t key_;  // in the upper half; no two objects have the same one
	const uint32_t slot_; // of this object in seen_
	const Reference whole_;
	Load load_;
	std::atomic<uint32_t> *taken_ = nullptr;
	mutable std::mutex mutex_; // for what follows
	mutable Reference current_;
	mutable uint32_t current_generation_ = 0; // whether it could be had or not
	mutable std::optional<std::string> trouble_;
};

} // namespace aries

#endif
