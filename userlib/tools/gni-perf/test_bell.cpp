// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * What the NIC charges for a short block put, without the library: from the store to the doorbell until the event is
 * in the queue. The slot stays the same.
 */
#include <cinttypes>

#include "aries_hw.h"

#include "channel.h"
#include "common/failure.h"
#include "common/raw.h"
#include "job.h"
#include "report.h"
#include "tests.h"

namespace perf
{

using tools::Failure;
using tools::format;

namespace
{

constexpr uint64_t block = 4096;
constexpr unsigned batch = 64; /* transfers between two looks at the clock */

aries_bte_desc slot_of(const Job &job, tools::RawAttachment &raw, size_t at)
{
	const RankInfo &there = job.info(job.partner());
	aries_bte_desc slot = {};
	slot.pe = there.pe;
	slot.mdh = static_cast<uint16_t>(there.data_handle.qword1 >> 52);
	slot.local_mdh = static_cast<uint16_t>(raw.register_memory(job.data() + at, block));
	slot.offset = (there.data + at) & ((uint64_t{1} << 40) - 1);
	slot.local_offset = reinterpret_cast<uintptr_t>(job.data() + at) & ((uint64_t{1} << 40) - 1);
	slot.length = block;
	slot.cq = static_cast<uint16_t>(raw.create_queue());
	slot.op = ARIES_BTE_PUT;
	slot.mode = ARIES_EV_GLOBAL;
	return slot;
}

/* Transfers that did not end well. */
[[gnu::aligned(1024)]] uint64_t ring(tools::RawAttachment &raw)
{
	constexpr unsigned looks = 1u << 26;
	volatile uint64_t *const bell = raw.bell(ARIES_DB_BTE);
	uint64_t failures = 0;
	for (unsigned n = 0; n < batch; n++) {
		*bell = 0;
		uint64_t entry = raw.take_entry();
		for (unsigned look = 0; !entry && look < looks; look++)
			entry = raw.take_entry();
		failures += !entry || (entry & ARIES_CQE_STATUS_MASK);
	}
	return failures;
}

} // namespace

void test_bell(Context &context)
{
	Job &job = context.job;
	tools::RawAttachment raw(context.options.place.device, context.options.place.cookie);
	Layout layout;
	layout.size = block;
	layout.count = 1;
	layout.seed = 13;
	context.peer.call(Ask::Prepare, layout);
	tools::pattern_fill(job.data() + layout.at(0), block, layout.seed);
	raw.fill_slot(slot_of(job, raw, layout.at(0)));

	Samples samples;
	uint64_t failures = 0;
	const uint64_t batches = uint64_t{context.options.iterations} * 32;
	for (uint64_t n = 0; n < batches; n++) {
		const uint64_t start = tools::now_ns();
		failures += ring(raw);
		samples.add((tools::now_ns() - start) * 1000 / batch);
	}
	context.peer.call(Ask::Check, layout);
	if (failures)
		throw Failure(format("%" PRIu64 " block puts failed", failures));
	Row row = timed_row("bte-bell", samples, "block put of 4 KiB, from the doorbell to its event, without library",
			    1000);
	row.size = block;
	row.transfers = batches * batch;
	context.report.add(row);
}

} // namespace perf
