// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "storm.h"

#include <atomic>
#include <cinttypes>
#include <cstring>

#include "common/failure.h"
#include "job.h"

namespace perf
{

namespace
{

constexpr size_t fetched_at = 4096;

uint64_t fetch_add(Job &job, gni_fma_cmd_type_t command, uint64_t operand)
{
	gni_post_descriptor_t add = job.atomic(0, command, operand, 0, fetched_at);
	uint64_t value;

	job.execute(0, add);
	memcpy(&value, job.data() + fetched_at, sizeof(value));
	return value;
}

} // namespace

Row storm(Job &job, tools::Exchange &kvs)
{
	const uint64_t count = job.options().iterations;

	if (job.rank() == 0)
		std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t *>(job.control() + control_amo)).store(0);
	kvs.barrier();
	const uint64_t start = tools::now_ns();
	uint64_t last = 0;
	for (uint64_t n = 0; n < count; n++) {
		uint64_t value = fetch_add(job, n % 2 ? GNI_FMA_ATOMIC_FADD_C : GNI_FMA_ATOMIC_FADD, 1);
		if (n && value <= last)
			throw tools::Failure(tools::format(
				"fetching addition %" PRIu64 " returned %" PRIu64 " after %" PRIu64, n, value, last));
		last = value;
	}
	const double seconds = static_cast<double>(tools::now_ns() - start) / 1e9;
	kvs.barrier();

	/* Of the NIC: memory may be behind it. */
	const uint64_t sum = fetch_add(job, GNI_FMA_ATOMIC_FADD_C, 0);
	const uint64_t expected = count * static_cast<uint64_t>(job.ranks());
	if (sum != expected)
		throw tools::Failure(
			tools::format("%" PRIu64 " additions gave %" PRIu64 ": updates were lost", expected, sum));
	Row row;
	row.test = "storm";
	row.size = 8;
	row.transfers = expected;
	row.rate = static_cast<double>(count) / seconds;
	row.note = "all ranks on one word, no lost update; rate of this one";
	kvs.barrier();
	return row;
}

} // namespace perf
