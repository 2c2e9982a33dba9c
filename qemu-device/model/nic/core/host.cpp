/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "nic/core/host.hpp"

#include <cstdarg>
#include <cstdio>

#include "fabric/membership.hpp"

namespace aries
{

namespace
{

constexpr uint32_t GUEST_LINES = 16; /* a second */
constexpr uint64_t SECOND_NS = 1'000'000'000;

} // namespace

bool Host::admit() noexcept
{
	const uint64_t second = now_ns() / SECOND_NS;

	if (window_.exchange(second, std::memory_order_relaxed) != second)
		lines_.store(0, std::memory_order_relaxed);
	return lines_.fetch_add(1, std::memory_order_relaxed) < GUEST_LINES;
}

void Host::log(aries_log_level level, const char *format, ...) noexcept
{
	char line[256];
	va_list args;

	if (!ops_.log || (level == ARIES_LOG_GUEST_ERROR && !admit()))
		return;
	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is, one line above */
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	ops_.log(opaque_, level, line);
}

} // namespace aries
