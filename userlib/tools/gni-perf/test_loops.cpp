// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * One operation after the other, from the call to its global event, many to one reading of the clock: that costs as
 * much as a trap.
 */
#include <array>
#include <cinttypes>

#include "channel.h"
#include "common/failure.h"
#include "job.h"
#include "report.h"
#include "tests.h"

namespace perf
{

using tools::Failure;
using tools::format;

namespace
{

constexpr unsigned batch_size = 64; /* operations between two looks at the clock */

using Batch = std::array<gni_post_descriptor_t, batch_size>;
using Post = gni_return_t (*)(gni_ep_handle_t, gni_post_descriptor_t *);

/* An operation from the call until its event is seen; it is there when the call returns, or soon. */
template <Post post>
bool post_and_see(gni_ep_handle_t ep, gni_cq_handle_t cq, gni_post_descriptor_t &d, gni_cq_entry_t &entry)
{
	constexpr unsigned looks = 1u << 26;
	if (post(ep, &d) != GNI_RC_SUCCESS)
		return false;
	gni_return_t rc = GNI_CqGetEvent(cq, &entry);
	for (unsigned look = 0; rc == GNI_RC_NOT_DONE && look < looks; look++)
		rc = GNI_CqGetEvent(cq, &entry);
	return rc == GNI_RC_SUCCESS;
}

/* The descriptors come back after the clock has been stopped. Aligned: translated code is slower where pages meet. */
template <Post post> [[gnu::aligned(1024)]] uint64_t time_batch(const Job &job, Batch &batch, uint64_t &failures)
{
	const gni_ep_handle_t ep = job.endpoint(job.partner());
	const gni_cq_handle_t cq = job.source().handle();
	std::array<gni_cq_entry_t, batch_size> entries{};
	uint64_t start = tools::now_ns();
	for (unsigned n = 0; n < batch_size; n++)
		failures += !post_and_see<post>(ep, cq, batch[n], entries[n]);
	uint64_t spent = tools::now_ns() - start;
	for (unsigned n = 0; n < batch_size; n++) {
		gni_post_descriptor_t *done = nullptr;
		failures += GNI_GetCompleted(cq, entries[n], &done) != GNI_RC_SUCCESS || done != &batch[n];
	}
	return spent;
}

/* One kind of operation, and the times that it took. */
template <Post post> class Loop
{
public:
	Loop(Context &context, const gni_post_descriptor_t &descriptor)
		: job_(context.job), traps_(job_.stats(), "fma_traps")
	{
		batch_.fill(descriptor);
		for (gni_post_descriptor_t &d : batch_)
			d.dlvr_mode = GNI_DLVMODE_PERFORMANCE;
	}

	void run() { samples_.add(time_batch<post>(job_, batch_, failures_) * 1000 / batch_size); }

	/** @p alone: all traps since the construction are of this loop. */
	Row row(const char *name, const char *note, bool alone)
	{
		if (failures_)
			throw Failure(
				format("%s: %" PRIu64 " operations did not end with their event", name, failures_));
		Row row = timed_row(name, samples_, note, 1000);
		row.size = batch_[0].length;
		row.transfers = samples_.count() * batch_size;
		if (alone && traps_.value())
			row.traps = static_cast<double>(*traps_.value()) / static_cast<double>(row.transfers);
		return row;
	}

private:
	const Job &job_;
	Batch batch_{};
	Samples samples_;
	uint64_t failures_ = 0;
	tools::CounterDelta traps_;
};

uint64_t batches(const Context &context)
{
	return uint64_t{32} * context.options.iterations;
}

/* In turns: a get and a fetching add are compared, and what the machine's speed does meanwhile meets them alike. */
void time_fetching(Context &context)
{
	Job &job = context.job;
	Layout layout;
	layout.size = 8;
	layout.count = 1;
	layout.seed = 11;
	context.peer.call(Ask::Fill, layout);
	context.peer.call(Ask::SetWord, {}, 0);
	const size_t at = layout.at(0);
	Loop<GNI_PostFma> gets(context, job.transfer(GNI_POST_FMA_GET, job.partner(), at, at, 8));
	Loop<GNI_PostFma> additions(context, job.atomic(job.partner(), GNI_FMA_ATOMIC_FADD, 1, 0, 256));
	for (uint64_t n = 0; n < batches(context); n++) {
		gets.run();
		additions.run();
	}
	context.report.add(gets.row("get-event", "8-byte get, from GNI_PostFma to its global event", false));
	if (tools::pattern_check(job.data() + at, 8, layout.seed).found)
		throw Failure("the gets brought something else");
	Row row = additions.row("fadd-event", "fetching add, from GNI_PostFma to its global event", false);
	const uint64_t sum = context.peer.call(Ask::GetWord).value;
	if (sum != row.transfers)
		throw Failure(format("%" PRIu64 " additions of 1 made %" PRIu64, row.transfers, sum));
	context.report.add(row);
}

void time_block(Context &context)
{
	Job &job = context.job;
	Layout layout;
	layout.size = 4096;
	layout.count = 1;
	layout.seed = 12;
	context.peer.call(Ask::Prepare, layout);
	const size_t at = layout.at(0);
	tools::pattern_fill(job.data() + at, layout.size, layout.seed);
	Loop<GNI_PostRdma> loop(context, job.transfer(GNI_POST_RDMA_PUT, job.partner(), at, at, layout.size));
	for (uint64_t n = 0; n < batches(context); n++)
		loop.run();
	Row row = loop.row("bte-event", "block put of 4 KiB, from GNI_PostRdma to its global event", true);
	context.peer.call(Ask::Check, layout);
	context.report.add(row);
}

} // namespace

void test_put_event(Context &context)
{
	Job &job = context.job;
	uint64_t value = 0;
	Loop<GNI_PostFma> loop(context, job.control_put(job.partner(), control_amo, &value, sizeof(value)));
	while (value < batches(context)) {
		value++;
		loop.run();
	}
	Row row = loop.row("put-event", "8-byte put, from GNI_PostFma to its global event", true);
	const uint64_t arrived = context.peer.call(Ask::GetWord).value;
	if (arrived != value)
		throw Failure(format("the last put stored %" PRIu64 ", the word is %" PRIu64, value, arrived));
	context.report.add(row);
}

void test_post_event(Context &context)
{
	time_fetching(context);
	time_block(context);
}

} // namespace perf
