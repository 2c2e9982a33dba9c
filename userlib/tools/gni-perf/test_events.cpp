// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * Which events a transfer gives: exactly those that were asked for, with the data of the endpoint.
 */
#include <cinttypes>
#include <cstring>

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

struct Kind {
	const char *name;
	gni_post_type_t type;
	bool remote_events;
	uint64_t size;
};

const Kind kinds[] = {{"fma-put", GNI_POST_FMA_PUT, true, 8},      {"fma-put", GNI_POST_FMA_PUT, true, 4096},
		      {"fma-get", GNI_POST_FMA_GET, false, 64},    {"bte-put", GNI_POST_RDMA_PUT, true, 8192},
		      {"bte-get", GNI_POST_RDMA_GET, false, 8192}, {"bte-put", GNI_POST_RDMA_PUT, true, 1u << 19}};

/* Takes the events of one descriptor off the source queue and returns which came. */
uint16_t collect(Context &context, gni_post_descriptor_t &d, unsigned count)
{
	Job &job = context.job;
	uint16_t seen = 0;
	for (unsigned n = 0; n < count; n++) {
		gni_cq_entry_t entry;
		if (job.reap(&entry) != &d)
			throw Failure("an event belongs to another descriptor");
		if (d.status != GNI_RC_SUCCESS || GNI_CQ_GET_TYPE(entry) != GNI_CQ_EVENT_TYPE_POST)
			throw Failure(format("event of type %" PRIu64 ", descriptor status %" PRIu64,
					     static_cast<uint64_t>(GNI_CQ_GET_TYPE(entry)), d.status));
		uint64_t data = GNI_CQ_GET_INST_ID(entry);
		if (data != local_event_of(job.rank()))
			throw Failure(
				format("event carries 0x%" PRIx64 ", expected 0x%x", data, local_event_of(job.rank())));
		if (!(d.cq_mode_complete & ~seen))
			throw Failure(format("cq_mode_complete 0x%x, 0x%x before", d.cq_mode_complete, seen));
		seen = d.cq_mode_complete;
	}
	gni_cq_entry_t more;
	if (GNI_CqGetEvent(job.source().handle(), &more) != GNI_RC_NOT_DONE)
		throw Failure(format("an event too many: %s", tools::event_text(more).c_str()));
	return seen;
}

void check_modes(Context &context, const Kind &kind, uint16_t mode)
{
	Job &job = context.job;
	constexpr size_t at = 4096;
	gni_post_descriptor_t d = job.transfer(kind.type, job.partner(), at, at, kind.size);
	d.cq_mode = mode;
	job.post(job.partner(), d);
	constexpr uint16_t at_source = GNI_CQMODE_LOCAL_EVENT | GNI_CQMODE_GLOBAL_EVENT;
	auto events = static_cast<unsigned>(__builtin_popcount(mode & at_source));
	uint16_t seen = collect(context, d, events);
	if (seen != (mode & at_source))
		throw Failure(format("events 0x%x, expected 0x%x", seen, mode & at_source));
	context.peer.call(Ask::Events, {}, mode & GNI_CQMODE_REMOTE_EVENT ? 1 : 0);
}

} // namespace

void test_events(Context &context)
{
	uint64_t checked = 0;
	for (const Kind &kind : kinds)
		for (uint16_t mode = 1; mode < 8; mode++) {
			bool remote = mode & GNI_CQMODE_REMOTE_EVENT;
			if ((remote && !kind.remote_events) || mode == GNI_CQMODE_REMOTE_EVENT)
				continue;
			if (kind.size + 8192 > context.job.data_size())
				continue;
			try {
				check_modes(context, kind, mode);
			} catch (const Failure &failure) {
				throw Failure(format("%s of %" PRIu64 " bytes, cq_mode 0x%x: %s", kind.name, kind.size,
						     mode, failure.what()));
			}
			checked++;
		}
	context.report.passed("events", checked, "local, global, remote in all combinations");
}

} // namespace perf
