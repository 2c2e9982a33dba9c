// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "barrier.h"

#include <bit>
#include <cinttypes>
#include <vector>

#include "common/failure.h"
#include "common/tree.h"
#include "job.h"
#include "samples.h"

namespace perf
{

namespace
{

using tools::check;
using tools::Failure;
using tools::format;

/** The tree of this job. */
class Collectives
{
public:
	Collectives(Job &job, tools::Exchange &kvs)
		: job_(job), tree_(job.nic(), job.source().handle(), job.rank(), job.ranks())
	{
		std::vector<tools::Member> members;
		members.reserve(static_cast<size_t>(job.ranks()));
		for (int rank = 0; rank < job.ranks(); rank++)
			members.push_back({job.info(rank).pe, job.info(rank).inst_id});
		const auto ids = kvs.gather(tree_.has_engine(job.rank()) ? tree_.engine_id() : 0);
		const auto half = static_cast<size_t>(tree_.half());
		const uint32_t upper = ids[0], lower = half < ids.size() ? ids[half] : 0;
		tree_.configure(members, upper, lower);
		tree_.join(members, upper, lower);
		kvs.barrier();
	}

	/** One collective; returns when its result is there. Throws Failure. */
	const gni_ce_result_t &run(gni_ce_cmd_type_t command, uint64_t first, uint64_t second, uint32_t id) const
	{
		gni_post_descriptor_t d = job_.transfer(GNI_POST_CE, 0, 0, 0, 0);
		auto *result = reinterpret_cast<gni_ce_result_t *>(job_.data());
		d.cq_mode = GNI_CQMODE_SILENT;
		d.ce_cmd = command;
		d.ce_red_id = id;
		d.first_operand = first;
		d.second_operand = second;
		check(GNI_PostFma(tree_.leaf(), &d), "GNI_PostFma of a collective");
		gni_return_t rc = GNI_RC_NOT_DONE;
		auto ready = [&] { return (rc = GNI_CeCheckResult(result, sizeof(*result))) != GNI_RC_NOT_DONE; };
		if (!tools::poll_until(ready, job_.deadline(), tools::Patience::Fair))
			throw Failure(
				format("collective %u has no result within %g s", id, job_.options().timeout_seconds));
		if (!GNI_CE_RES_STATUS_OK(result))
			throw Failure(format("collective %u: status 0x%02" PRIx64, id, GNI_CE_RES_GET_STATUS(result)));
		if (GNI_CE_RES_GET_RED_ID(result) != id)
			throw Failure(
				format("collective %u has the result of %" PRIu64, id, GNI_CE_RES_GET_RED_ID(result)));
		return *result;
	}

private:
	Job &job_;
	tools::Tree tree_;
};

/* A sum of 64 bits, and a minimum that two ranks have: the one with the greater index wins. */
void verify(const Job &job, const Collectives &tree, uint32_t id)
{
	const auto rank = static_cast<uint64_t>(job.rank()), ranks = static_cast<uint64_t>(job.ranks());
	const uint64_t big = uint64_t{1} << 40;
	const gni_ce_result_t &sum = tree.run(GNI_FMA_CE_IADD, big + rank + id, 0, id);
	const uint64_t expected = ranks * (big + id) + ranks * (ranks - 1) / 2;
	if (sum.result1 != expected)
		throw Failure(format("sum %u is %" PRIu64 ", expected %" PRIu64, id, sum.result1, expected));
	const double own = rank % 2 ? -1.5 * id : 3.25 * static_cast<double>(rank);
	const gni_ce_result_t &least =
		tree.run(GNI_FMA_CE_FPMIN_GIDX, std::bit_cast<uint64_t>(own), 1000 + rank, id + 1);
	const uint64_t last_odd = ranks % 2 ? ranks - 2 : ranks - 1;
	if (std::bit_cast<double>(least.result1) != -1.5 * id || least.result2 != 1000 + last_odd)
		throw Failure(format("minimum %u is %g of %" PRIu64 ", expected %g of %" PRIu64, id,
				     std::bit_cast<double>(least.result1), least.result2, -1.5 * id, 1000 + last_odd));
}

/* What each node's NIC has counted, added up by all; a node counts once, however many of its processes take part. */
double total(const Job &job, tools::Exchange &kvs, const tools::CounterDelta &counter)
{
	const std::vector<uint64_t> all = kvs.gather(counter.value().value_or(0));
	double sum = 0;
	for (int rank = 0; rank < job.ranks(); rank++) {
		bool first = true;
		for (int other = 0; other < rank; other++)
			first = first && job.info(other).pe != job.info(rank).pe;
		if (first)
			sum += static_cast<double>(all[static_cast<size_t>(rank)]);
	}
	return sum;
}

} // namespace

Row barrier(Job &job, tools::Exchange &kvs)
{
	constexpr uint32_t warm = 10;
	const Collectives tree(job, kvs);
	uint32_t id = 1;
	for (unsigned n = 0; n < 5; n++, id += 2)
		verify(job, tree, id);
	for (uint32_t n = 0; n < warm; n++)
		tree.run(GNI_FMA_CE_AND, 0, 0, id++);

	Samples samples;
	kvs.barrier();
	const tools::CounterDelta traps(job.stats(), "fma_traps"), irqs(job.stats(), "irqs");
	kvs.barrier();
	const uint32_t rounds = job.options().iterations;
	for (uint32_t n = 0; n < rounds; n++) {
		const uint64_t start = tools::now_ns();
		tree.run(GNI_FMA_CE_AND, 0, 0, id++);
		samples.add(tools::now_ns() - start);
	}
	kvs.barrier();

	Row row;
	row.test = "barrier";
	row.size = static_cast<uint64_t>(job.ranks());
	row.transfers = rounds + warm + 10;
	row.p50_ns = samples.percentile(50);
	row.p99_ns = samples.percentile(99);
	row.min_ns = samples.percentile(0);
	row.traps = total(job, kvs, traps) / rounds;
	row.irqs = total(job, kvs, irqs) / rounds;
	row.note = "all ranks (size); traps and interrupts of all nodes";
	/* Nobody takes the tree down while another rank is in it. */
	kvs.barrier();
	return row;
}

} // namespace perf
