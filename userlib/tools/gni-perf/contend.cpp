// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "contend.h"

#include <cinttypes>
#include <cstring>

#include "common/failure.h"
#include "job.h"

namespace perf
{

void contend(Job &job, int owner, uint64_t count)
{
	if (count > contend_max)
		throw tools::Failure("more additions than there is room for");
	uint64_t last = 0;
	for (uint64_t n = 0; n < count; n++) {
		size_t at = contend_values + n * 8;
		gni_post_descriptor_t add = job.atomic(owner, GNI_FMA_ATOMIC_FADD, 1, 0, at);
		job.execute(owner, add);
		uint64_t value;
		memcpy(&value, job.data() + at, sizeof(value));
		if (n && value <= last)
			throw tools::Failure(tools::format(
				"fetching addition %" PRIu64 " returned %" PRIu64 " after %" PRIu64, n, value, last));
		last = value;
	}
}

} // namespace perf
