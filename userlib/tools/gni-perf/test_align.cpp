// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * All alignments: puts at any, gets at multiples of 4 at the remote side, and what must be refused.
 */
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

struct Kind {
	const char *name;
	gni_post_type_t type;
	bool get;
	std::vector<uint64_t> sizes;
};

/* Batch of 64 transfers, one for each remote alignment, local alignments in another order. */
uint64_t sweep(Context &context, const Kind &kind, uint64_t size, uint64_t seed)
{
	Job &job = context.job;
	Layout local, remote;
	local.size = remote.size = size;
	local.seed = remote.seed = seed;
	local.count = remote.count = kind.get ? align_span / 4 : align_span;
	remote.align_step = kind.get ? 4 : 1;
	local.align_first = seed % align_span;
	local.align_step = 5;
	if (!local.fits(job.data_size()))
		throw Failure("no room for all alignments");

	const Layout &from = kind.get ? remote : local;
	tools::guard_fill(job.data(), local.count * local.stride());
	context.peer.call(Ask::Prepare, remote);
	if (kind.get)
		context.peer.call(Ask::Fill, from);
	else
		for (uint64_t n = 0; n < from.count; n++)
			tools::pattern_fill(job.data() + from.at(n), size, seed + n);

	for (uint64_t n = 0; n < local.count; n++) {
		gni_post_descriptor_t d = job.transfer(kind.type, job.partner(), local.at(n), remote.at(n), size);
		job.execute(job.partner(), d);
	}
	if (!kind.get) {
		context.peer.call(Ask::Check, remote);
		return local.count;
	}
	for (uint64_t n = 0; n < local.count; n++) {
		const uint8_t *data = job.data() + local.at(n);
		tools::Mismatch m = tools::pattern_check(data, size, seed + n);
		if (!m.found)
			m = tools::guard_check(data, size);
		if (m.found)
			throw Failure(format(
				"local alignment %zu, remote %zu, offset %" PRId64 ": expected 0x%02x, got 0x%02x",
				local.at(n) % align_span, remote.at(n) % align_span, m.offset, m.expected, m.got));
	}
	return local.count;
}

void refuse(Context &context, gni_post_type_t type, size_t remote_at, size_t size)
{
	Job &job = context.job;
	gni_post_descriptor_t d = job.transfer(type, job.partner(), 0, remote_at, size);
	gni_ep_handle_t ep = job.endpoint(job.partner());
	gni_return_t rc = type == GNI_POST_RDMA_GET ? GNI_PostRdma(ep, &d) : GNI_PostFma(ep, &d);
	if (rc != GNI_RC_ALIGNMENT_ERROR)
		throw Failure(format("get of %zu bytes at remote offset %zu: %s, expected %s", size, remote_at,
				     tools::rc_name(rc).c_str(), tools::rc_name(GNI_RC_ALIGNMENT_ERROR).c_str()));
}

const std::vector<uint64_t> put_sizes = {1,   2,   3,   4,    5,    7,    8,    9,    11,   12,   15,   16,
					 17,  23,  24,  31,   32,   33,   48,   63,   64,   65,   100,  127,
					 128, 129, 255, 1023, 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192};
const std::vector<uint64_t> get_sizes = {4,   8,   12,  16,   20,   32,   60,   64,   68,   124,
					 128, 132, 252, 1020, 2044, 2048, 2052, 4096, 4100, 8192};
const std::vector<uint64_t> bte_put_sizes = {1, 3, 64, 4095, 4096, 4097, 12289};
const std::vector<uint64_t> bte_get_sizes = {4, 12, 64, 4092, 4096, 4100, 12288};

} // namespace

void test_align(Context &context)
{
	const std::vector<Kind> kinds = {{"align fma-put", GNI_POST_FMA_PUT, false, put_sizes},
					 {"align fma-get", GNI_POST_FMA_GET, true, get_sizes},
					 {"align bte-put", GNI_POST_RDMA_PUT, false, bte_put_sizes},
					 {"align bte-get", GNI_POST_RDMA_GET, true, bte_get_sizes}};
	uint64_t seed = 1000, total = 0;
	for (const Kind &kind : kinds)
		for (uint64_t size : kind.sizes) {
			try {
				total += sweep(context, kind, size, seed);
				seed += align_span + 1;
			} catch (const Failure &failure) {
				throw Failure(format("%s, size %" PRIu64 ": %s", kind.name, size, failure.what()));
			}
		}
	for (gni_post_type_t type : {GNI_POST_FMA_GET, GNI_POST_RDMA_GET}) {
		for (size_t at : {1, 2, 3})
			refuse(context, type, at, 64);
		for (size_t size : {1, 2, 3, 5, 62})
			refuse(context, type, 0, size);
	}
	context.report.passed("align", total, "each remote alignment; misaligned gets refused");
}

} // namespace perf
