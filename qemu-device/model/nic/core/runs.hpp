/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contiguous parts of host memory that make up a range. */
#ifndef ARIES_NIC_RUNS_HPP
#define ARIES_NIC_RUNS_HPP

#include <cstddef>
#include <cstdint>

namespace aries
{

/** Contiguous memory in this process. */
struct Run {
	uint8_t *host;
	uint64_t bytes;
};

/** Runs that make up one range, adjacent ones merged. */
template <size_t N> struct RunList {
	size_t count = 0;
	Run run[N];

	static constexpr size_t capacity() { return N; }
	bool add(uint8_t *host, uint64_t bytes) noexcept
	{
		if (count && run[count - 1].host + run[count - 1].bytes == host) {
			run[count - 1].bytes += bytes;
			return true;
		}
		if (count == N)
			return false;
		run[count++] = {host, bytes};
		return true;
	}
};

/** A range of at most 64 KiB, or of one chunk of a block transfer, at any alignment. */
using FmaRuns = RunList<20>;
inline constexpr uint64_t BTE_CHUNK = 1 << 20;
using BteRuns = RunList<BTE_CHUNK / 4096 + 4>;

} // namespace aries

#endif
