// SPDX-License-Identifier: GPL-2.0-or-later
#include "netlink/current_tables.hpp"

#include <new>
#include <utility>

namespace aries
{

namespace
{

std::atomic<uint64_t> objects{0};

} // namespace

CurrentTables::CurrentTables(routing::Tables whole, const std::atomic<uint32_t> &generation)
	: generation_(generation), key_((objects.fetch_add(1, std::memory_order_relaxed) + 1) << 32),
	  slot_(static_cast<uint32_t>(key_ >> 32) % SLOTS),
	  whole_(std::make_shared<const routing::Tables>(std::move(whole))), current_(whole_)
{
}

void CurrentTables::follow(Load load, std::atomic<uint32_t> *taken)
{
	const std::lock_guard guard(mutex_);

	load_ = std::move(load);
	taken_ = taken;
	if (taken_)
		taken_->store(0, std::memory_order_relaxed); /* whoever had the address before */
}

/* The thread's references live as long as it does. */
const routing::Tables &CurrentTables::change() const noexcept
{
	static thread_local std::array<Reference, SLOTS> held;
	Reference before; // freed behind the lock, if it is the last one
	const std::lock_guard guard(mutex_);
	const uint32_t now = generation_.load(std::memory_order_acquire);

	if (now != current_generation_)
		take(now);
	before = std::exchange(held[slot_], current_);
	seen_[slot_] = {key_ | now, current_.get()};
	return *current_;
}

/*
 * While the file of a generation is read, a later generation may replace it and remove the file. A generation that
 * cannot be read is not tried again; the tables in use remain right for links that are not down.
 */
void CurrentTables::take(uint32_t generation) const noexcept
{
	current_generation_ = generation;
	if (!load_)
		return;
	try {
		current_ = generation ? load_(generation) : whole_;
		if (taken_)
			taken_->store(generation, std::memory_order_release);
	} catch (const std::exception &error) {
		if (generation_.load(std::memory_order_acquire) == generation)
			note(error.what());
	}
}

void CurrentTables::note(const char *trouble) const noexcept
try {
	trouble_ = trouble;
} catch (const std::bad_alloc &) {
	trouble_ = "no memory"; /* short enough to need none */
}

std::optional<std::string> CurrentTables::take_trouble() noexcept
{
	const std::lock_guard guard(mutex_);

	return std::exchange(trouble_, std::nullopt);
}

} // namespace aries
