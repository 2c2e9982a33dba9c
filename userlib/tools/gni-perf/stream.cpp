// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "stream.h"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <exception>
#include <memory>
#include <thread>

#include "common/failure.h"
#include "common/pattern.h"
#include "job.h"

namespace perf
{

using tools::Failure;
using tools::format;

namespace
{

constexpr uint32_t modes = GNI_CDM_MODE_ERR_NO_KILL | GNI_CDM_MODE_FORK_FULLCOPY;
constexpr uint64_t seed = 21;

uint64_t first_place(const StreamPlan &plan, bool measures)
{
	return measures ? 0 : plan.threads * plan.slots;
}

/** Latencies of as many operations as one likes: when there are too many, of every second, fourth, ... */
class Thinned
{
public:
	void add(uint64_t ns)
	{
		if (seen_++ % step_)
			return;
		values_.push_back(ns);
		if (values_.size() < room)
			return;
		for (size_t n = 0; n < room / 2; n++)
			values_[n] = values_[2 * n];
		values_.resize(room / 2);
		step_ *= 2;
	}
	void give(Samples &samples) const
	{
		for (const uint64_t value : values_)
			samples.add(value);
	}

private:
	static constexpr size_t room = 1u << 18;
	std::vector<uint64_t> values_;
	uint64_t seen_ = 0, step_ = 1;
};

/** One thread's attachment, and its operations. */
class Stream
{
public:
	Stream(const Job &job, const StreamPlan &plan, bool measures, unsigned number)
		: job_(job), plan_(plan), domain_(job.info(job.rank()).inst_id + ((number + 1) << 22),
						  job.options().place.cookie, modes, job.options().place.device),
		  source_(domain_.nic(), static_cast<uint32_t>(2 * plan.window)),
		  endpoint_(domain_.nic(), source_.handle(), job.info(job.partner()).pe,
			    job.info(job.partner()).inst_id),
		  registration_(domain_.nic(), job.data(), job.data_size(), nullptr, GNI_MEM_READWRITE),
		  descriptors_(plan.window), begun_(plan.window)
	{
		const Layout layout = stream_layout(plan);
		const uint64_t first = first_place(plan, measures) + number * plan.slots;
		for (uint64_t n = 0; n < plan.window; n++)
			describe(n, layout.at(first + n % plan.slots));
	}

	void run(uint64_t end)
	{
		uint64_t under_way = 0;
		start_ = tools::now_ns();
		/* Each place once, however late it is: they are compared at the end. */
		for (uint64_t n = 0; n < plan_.window && (n < plan_.slots || wanted(end)); n++, under_way++)
			post(n);
		while (under_way) {
			const uint64_t n = reap();
			under_way--;
			if (!wanted(end))
				continue;
			post(n);
			under_way++;
		}
		spent_ = tools::now_ns() - start_;
	}

	uint64_t operations() const { return posted_; }
	uint64_t spent() const { return spent_; }
	const Thinned &latencies() const { return latencies_; }

private:
	void describe(uint64_t n, size_t at)
	{
		static const gni_post_type_t types[] = {GNI_POST_FMA_PUT, GNI_POST_FMA_GET, GNI_POST_RDMA_PUT,
							GNI_POST_RDMA_GET, GNI_POST_AMO};
		gni_post_descriptor_t &d = descriptors_[n];
		d = job_.transfer(types[static_cast<size_t>(plan_.op)], job_.partner(), at, at, plan_.size);
		if (plan_.op == StreamOp::Add)
			d = job_.atomic(job_.partner(), GNI_FMA_ATOMIC_FADD, 1, 0, at);
		d.post_id = n;
		d.local_mem_hndl = registration_.handle();
		d.src_cq_hndl = source_.handle();
	}

	bool wanted(uint64_t end) const { return plan_.count ? posted_ < plan_.count : tools::now_ns() < end; }

	void post(uint64_t n)
	{
		const bool block = plan_.op == StreamOp::BlockPut || plan_.op == StreamOp::BlockGet;
		const auto call = block ? GNI_PostRdma : GNI_PostFma;
		gni_return_t rc = GNI_RC_SUCCESS;
		begun_[n] = tools::now_ns();
		/* A full queue of block transfers empties by itself. */
		auto taken = [&] {
			rc = call(endpoint_.handle(), &descriptors_[n]);
			return rc != GNI_RC_ERROR_RESOURCE && rc != GNI_RC_NOT_DONE;
		};
		tools::poll_until(taken, job_.deadline(), tools::Patience::Fair);
		tools::check(rc, block ? "GNI_PostRdma" : "GNI_PostFma");
		posted_++;
	}

	uint64_t reap()
	{
		gni_cq_entry_t entry;
		const auto patience = plan_.size > (1u << 20) ? tools::Patience::Fair : tools::Patience::Hot;
		const gni_return_t rc = source_.poll(entry, job_.deadline(), patience);
		if (rc == GNI_RC_NOT_DONE)
			throw Failure(format("no event within %g s", job_.options().timeout_seconds));
		const uint64_t now = tools::now_ns();
		if (rc != GNI_RC_SUCCESS)
			throw Failure(format("an operation failed: %s", tools::event_text(entry).c_str()));
		gni_post_descriptor_t *done = nullptr;
		tools::check(GNI_GetCompleted(source_.handle(), entry, &done), "GNI_GetCompleted");
		latencies_.add(now - begun_[done->post_id]);
		return done->post_id;
	}

	const Job &job_;
	const StreamPlan &plan_;
	tools::Domain domain_;
	tools::Queue source_;
	tools::Endpoint endpoint_;
	tools::Registration registration_;
	std::vector<gni_post_descriptor_t> descriptors_;
	std::vector<uint64_t> begun_;
	Thinned latencies_;
	uint64_t posted_ = 0, start_ = 0, spent_ = 0;
};

/* Threads begin together. */
void run_all(const std::vector<std::unique_ptr<Stream>> &streams, uint64_t nanoseconds)
{
	std::vector<std::thread> threads;
	std::vector<std::string> errors(streams.size());
	std::atomic<size_t> missing{streams.size()};
	for (size_t n = 0; n < streams.size(); n++)
		threads.emplace_back([&, n] {
			missing--;
			while (missing.load(std::memory_order_acquire))
				sched_yield();
			try {
				streams[n]->run(tools::now_ns() + nanoseconds);
			} catch (const std::exception &error) {
				errors[n] = error.what();
			}
		});
	for (std::thread &thread : threads)
		thread.join();
	for (const std::string &error : errors)
		if (!error.empty())
			throw Failure(error);
}

} // namespace

Layout stream_layout(const StreamPlan &plan)
{
	Layout layout;
	layout.size = plan.size;
	layout.count = plan.threads * plan.slots * (plan.both ? 2 : 1);
	layout.seed = seed;
	return layout;
}

bool stream_fetches(StreamOp op)
{
	return op == StreamOp::Get || op == StreamOp::BlockGet;
}

void check_plan(const Job &job, const StreamPlan &plan)
{
	if (plan.op > StreamOp::Add || !plan.window || plan.window > most_window || !plan.threads ||
	    plan.threads > most_threads || !plan.slots || plan.slots > plan.window || plan.both > 1 || !plan.size)
		throw Failure("a plan came that makes no sense");
	if (!stream_layout(plan).fits(job.data_size()))
		throw Failure("a plan came that does not fit into memory");
}

void stream_prepare(const Job &job, const StreamPlan &plan, bool measures)
{
	const Layout layout = stream_layout(plan);
	const bool fetches = stream_fetches(plan.op);
	tools::guard_fill(job.data(), layout.count * layout.stride());
	for (uint64_t n = 0; n < layout.count && plan.op != StreamOp::Add; n++) {
		const bool own = (n < plan.threads * plan.slots) == measures;
		if (own != fetches)
			tools::pattern_fill(job.data() + layout.at(n), layout.size, layout.seed + n);
	}
}

StreamResult stream_run(const Job &job, const StreamPlan &plan, bool measures)
{
	std::vector<std::unique_ptr<Stream>> streams;
	for (unsigned n = 0; n < plan.threads; n++)
		streams.push_back(std::make_unique<Stream>(job, plan, measures, n));
	run_all(streams, plan.nanoseconds);
	StreamResult result;
	for (const auto &stream : streams) {
		result.operations += stream->operations();
		result.nanoseconds = std::max(result.nanoseconds, stream->spent());
		stream->latencies().give(result.latencies);
	}
	return result;
}

} // namespace perf
