// SPDX-License-Identifier: GPL-2.0-or-later
/** @file A fabric that threads read again and again, and that may end and begin anew meanwhile. */
#ifndef ARIES_NET_SOURCE_HPP
#define ARIES_NET_SOURCE_HPP

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "net/fabric_view.hpp"

namespace aries::net
{

/** Any number of threads may call all functions. */
class Source
{
public:
	/** @throws Error as FabricView's constructor does */
	explicit Source(std::string path) : path_(std::move(path)) { view_.emplace(path_, Observer::Access::Look); }

	const std::string &path() const noexcept { return path_; }

	/**
	 * Calls @p use with the fabric, one thread at a time, and returns what it returns. A fabric that has ended is
	 * looked for again at its path.
	 * @throws Error if there is none now; and what @p use throws
	 */
	template <typename Use> auto with(Use &&use)
	{
		const std::lock_guard guard(mutex_);

		if (view_ && !view_->has_members())
			view_.reset();
		if (!view_)
			view_.emplace(path_, Observer::Access::Look);
		return std::forward<Use>(use)(*view_);
	}

	/** Whether the fabric that was read last has members. */
	bool there()
	{
		const std::lock_guard guard(mutex_);

		return view_ && view_->has_members();
	}

private:
	const std::string path_;
	std::mutex mutex_;
	std::optional<FabricView> view_;
};

} // namespace aries::net

#endif
