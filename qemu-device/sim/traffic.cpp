// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "elite5_line.hpp"
#include "lengths.hpp"

namespace aries::sim
{

namespace
{

constexpr uint32_t LEAST_BYTES = 8;
constexpr uint32_t MOST_BYTES = 256 << 10;
constexpr uint32_t MOST_PROCESSES = 1024;
constexpr uint32_t MOST_COMPUTE_NS = 100'000'000;
constexpr uint64_t PPM = 1'000'000;
constexpr uint64_t LN2 = 45426; // in units of 1/65,536
constexpr uint32_t LOG_BITS = 16;

} // namespace

uint64_t exponential(uint64_t random, uint64_t mean) noexcept
{
	const uint64_t u = random | 1;
	const auto zeros = static_cast<uint32_t>(std::countl_zero(u));
	uint64_t mantissa = u << zeros; // 1.0 to 2.0 with 63 bits behind the point
	uint64_t log = 0;               // of it, to the base of 2

	/* Squaring doubles a logarithm, so each step gives one more bit of the result. */
	for (uint32_t bit = 0; bit < LOG_BITS; bit++) {
		const auto square = static_cast<unsigned __int128>(mantissa) * mantissa >> 63;

		log <<= 1;
		if (square >> 64) {
			log |= 1;
			mantissa = static_cast<uint64_t>(square >> 1);
		} else {
			mantissa = static_cast<uint64_t>(square);
		}
	}

	const uint64_t negative = ((zeros + uint64_t{1}) << LOG_BITS) - log;

	return static_cast<uint64_t>(static_cast<unsigned __int128>(negative * LN2) * mean >> (2 * LOG_BITS));
}

namespace
{

std::string number(uint64_t value)
{
	return std::to_string(value);
}

/* Flits of all packets that carry a message's data: requests of a put, or responses of a get. */
uint64_t flits_of_message(const chip::PacketForm &form, Operation operation, uint32_t bytes, uint32_t packet_bytes)
{
	uint64_t flits = 0;

	if (&form == &ELITE5_LINE.packets)
		return words_of_message(bytes, packet_bytes);
	for (uint32_t left = Traffic::packets(bytes); left-- > 0;) {
		const uint32_t carried = Traffic::bytes_with_left(bytes, left);

		flits += operation == Operation::Get ? response_flits(form, operation, carried)
						     : request_flits(form, operation, carried, 0);
	}
	return flits;
}

std::string check_collective(const Job &job)
{
	const TrafficShape &shape = job.traffic;

	if (shape.radix < LEAST_RADIX || shape.radix > MOST_RADIX)
		return "a tree of radix " + number(shape.radix) + ": an engine has " + number(LEAST_RADIX) + " to " +
		       number(MOST_RADIX) + " children";
	if (!shape.processes || shape.processes > MOST_PROCESSES)
		return number(shape.processes) + " processes of a node: 1 to " + number(MOST_PROCESSES);
	for (const uint32_t ns : {shape.compute_ns, shape.slow_ns}) {
		if (ns > MOST_COMPUTE_NS)
			return "a node that computes for " + number(ns) + " ns: at most " + number(MOST_COMPUTE_NS);
	}
	if (shape.slow_ns && shape.slow_rank >= job.nodes.size())
		return "rank " + number(shape.slow_rank) + " is slow: the job has 0 to " + number(job.nodes.size() - 1);
	return {};
}

std::string check_shape(const TrafficShape &shape, const Layout &layout)
{
	const uint32_t longest = chip::most_units(layout.chip.packets);

	if (shape.load_ppm == 0 || shape.load_ppm > PPM)
		return "a load of " + number(shape.load_ppm) + " millionths: it is above 0 and at most 1";
	if (shape.operation == Operation::Raw && (shape.raw_flits == 0 || shape.raw_flits > longest))
		return "packets of " + number(shape.raw_flits) + " flits: they have 1 to " + number(longest);
	if (shape.operation != Operation::Raw && (shape.bytes < LEAST_BYTES || shape.bytes > MOST_BYTES))
		return "messages of " + number(shape.bytes) + " bytes: they have 8 to 262,144";
	return {};
}

/* Groups in which a job has nodes, in their order. */
std::vector<uint32_t> groups_of(const Job &job, const Layout &layout)
{
	std::vector<uint32_t> groups;

	for (const uint32_t node : job.nodes)
		groups.push_back(layout.group_of[layout.node_router[node]]);
	std::sort(groups.begin(), groups.end());
	groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
	return groups;
}

std::string check_job(const Job &job, const Layout &layout)
{
	std::string broken = check_shape(job.traffic, layout);

	if (!broken.empty())
		return broken;
	if (job.nodes.size() < 2)
		return "traffic needs at least two nodes";
	for (const uint32_t node : job.nodes) {
		if (node >= layout.nodes)
			return "node " + number(node) + " does not exist: the machine has 0 to " +
			       number(layout.nodes - 1);
	}
	if (job.trace.nodes > job.nodes.size())
		return "a trace of " + number(job.trace.nodes) + " nodes, and " + number(job.nodes.size()) +
		       " in the job";
	if (job.traffic.pattern == Pattern::Offset && job.traffic.shift % job.nodes.size() == 0)
		return "an offset of " + number(job.traffic.shift) + " with " + number(job.nodes.size()) +
		       " nodes: each would send to itself";
	if (is_collective(job) || is_group(job))
		return check_collective(job);
	if (job.traffic.pattern == Pattern::Group) {
		const size_t groups = groups_of(job, layout).size();

		if (job.traffic.shift % groups == 0)
			return "a shift by " + number(job.traffic.shift) + " of " + number(groups) +
			       " groups: traffic would stay in its group";
	}
	return {};
}

} // namespace

Workload::Workload(const TrafficShape &traffic, uint32_t nodes) : jobs(1)
{
	jobs[0].name = "all";
	jobs[0].traffic = traffic;
	jobs[0].nodes.resize(nodes);
	std::iota(jobs[0].nodes.begin(), jobs[0].nodes.end(), 0);
}

std::string check_workload(const Workload &workload, const Layout &layout)
{
	const bool several = workload.jobs.size() > 1;
	std::vector<const Job *> job_of(layout.nodes);

	if (workload.jobs.empty())
		return "there is no job";
	for (const Job &job : workload.jobs) {
		const std::string broken = check_job(job, layout);

		if (!broken.empty())
			return several ? "job " + job.name + ": " + broken : broken;
		for (const uint32_t node : job.nodes) {
			if (job_of[node])
				return "node " + number(node) + " is in job " + job_of[node]->name +
				       " and again in job " + job.name + ": a node has one job, once";
			job_of[node] = &job;
		}
	}
	return {};
}

Traffic::Traffic(const Workload &workload, const Layout &layout, uint64_t seed)
	: seed_(mix64(seed + 1)), job_of_(layout.nodes, NO_JOB), rank_of_(layout.nodes)
{
	for (const Job &job : workload.jobs) {
		for (uint32_t rank = 0; rank < job.nodes.size(); rank++) {
			job_of_[job.nodes[rank]] = static_cast<uint32_t>(jobs_.size());
			rank_of_[job.nodes[rank]] = rank;
		}
		jobs_.push_back(place(job, layout));
	}
	if (std::any_of(workload.jobs.begin(), workload.jobs.end(),
			[](const Job &job) { return is_collective(job) || is_group(job); }))
		place_collectives(workload, layout);
}

void Traffic::place_collectives(const Workload &workload, const Layout &layout)
{
	for (size_t i = 0; i < workload.jobs.size(); i++) {
		const Job &job = workload.jobs[i];
		const TrafficShape &shape = job.traffic;
		Collective collective{.tree = {},
				      .compute = layout.cycles_of(shape.compute_ns),
				      .slow_rank = shape.slow_rank,
				      .slow = layout.cycles_of(shape.slow_ns),
				      .processes = shape.processes};

		if (is_collective(job)) {
			collective.tree = Tree(static_cast<uint32_t>(job.nodes.size()), shape.radix);
			jobs_[i].shape.raw_flits = COLLECTIVE_FLITS;
		}
		if (is_group(job))
			collective.tree = Tree(static_cast<uint32_t>(job.nodes.size()), shape.radix);
		collectives_.push_back(std::move(collective));
	}
}

Traffic::Placed Traffic::place(const Job &job, const Layout &layout) const
{
	const TrafficShape &shape = job.traffic;
	const std::vector<uint32_t> groups = groups_of(job, layout);
	Placed placed;
	uint64_t counted = shape.raw_flits;

	placed.shape = shape;
	placed.nodes = job.nodes;
	if (shape.operation == Operation::Raw)
		placed.shape.bytes = 0;
	else
		counted = flits_of_message(layout.chip.packets, shape.operation, shape.bytes, layout.packet_bytes);
	placed.mean_gap = (counted * 100 * PPM << FRACTION) / (shape.load_ppm * layout.inject_flits_per_100_cycles());
	if (!job.trace.messages.empty())
		place_trace(job, placed);
	if (shape.pattern == Pattern::Permutation)
		placed.partner = permute(static_cast<uint32_t>(job.nodes.size()));
	if (shape.pattern == Pattern::AllToAll)
		placed.shifts = shuffle(static_cast<uint32_t>(job.nodes.size() - 1));
	if (shape.pattern != Pattern::Group)
		return placed;

	placed.group_first.resize(groups.size() + 1);
	placed.by_group = job.nodes;
	std::sort(placed.by_group.begin(), placed.by_group.end(), [&layout](uint32_t a, uint32_t b) {
		return std::pair(layout.group_of[layout.node_router[a]], a) <
		       std::pair(layout.group_of[layout.node_router[b]], b);
	});
	for (const uint32_t node : job.nodes) {
		const uint32_t group = layout.group_of[layout.node_router[node]];
		const auto at = std::lower_bound(groups.begin(), groups.end(), group) - groups.begin();

		placed.group_of.push_back(static_cast<uint32_t>(at));
		placed.group_first[static_cast<size_t>(at) + 1]++;
	}
	std::partial_sum(placed.group_first.begin(), placed.group_first.end(), placed.group_first.begin());
	return placed;
}

std::vector<uint32_t> Traffic::shuffle(uint32_t count) const
{
	std::vector<uint32_t> order(count);

	std::iota(order.begin(), order.end(), 0);
	for (uint32_t i = count - 1; i > 0; i--)
		std::swap(order[i], order[random_of(seed_, TARGETS, i) % (i + 1)]);
	return order;
}

/* Messages of each rank behind each other, in the order of time. */
void Traffic::place_trace(const Job &job, Placed &placed)
{
	placed.traced_first.resize(job.nodes.size() + 1);
	placed.traced.resize(job.trace.messages.size());
	for (const TracedMessage &message : job.trace.messages)
		placed.traced_first[message.source + size_t{1}]++;
	std::partial_sum(placed.traced_first.begin(), placed.traced_first.end(), placed.traced_first.begin());

	std::vector<uint32_t> next = placed.traced_first;

	for (const TracedMessage &message : job.trace.messages)
		placed.traced[next[message.source]++] = {message.cycle << FRACTION, job.nodes[message.target],
							 message.bytes, message.operation};
}

/* A random order; each sends to the next in it, so that nobody sends to itself. */
std::vector<uint32_t> Traffic::permute(uint32_t count) const
{
	const std::vector<uint32_t> order = shuffle(count);
	std::vector<uint32_t> partner(count);

	for (uint32_t i = 0; i < count; i++)
		partner[order[i]] = order[(i + 1) % count];
	return partner;
}

uint32_t Traffic::target(uint32_t node, uint32_t number) const noexcept
{
	const auto random = static_cast<uint32_t>(random_of(seed_ + TARGETS, node, number) >> 32);
	const Placed &job = jobs_[job_of_[node]];
	const uint32_t rank = rank_of_[node];
	const auto count = static_cast<uint32_t>(job.nodes.size());

	switch (job.shape.pattern) {
	case Pattern::Uniform: {
		const uint32_t other = pick_of(random, count - 1);

		return job.nodes[other + (other >= rank)];
	}
	case Pattern::Group: {
		const auto groups = static_cast<uint32_t>(job.group_first.size() - 1);
		const uint32_t group = (job.group_of[rank] + job.shape.shift) % groups;
		const uint32_t first = job.group_first[group];

		return job.by_group[first + pick_of(random, job.group_first[group + 1] - first)];
	}
	case Pattern::Permutation:
		return job.nodes[job.partner[rank]];
	case Pattern::Shift:
		return job.nodes[(rank + 1 + number % (count - 1)) % count];
	case Pattern::Offset:
		return job.nodes[(rank + uint64_t{job.shape.shift}) % count];
	case Pattern::AllToAll:
		return job.nodes[(rank + 1 + job.shifts[number % (count - 1)]) % count];
	case Pattern::Broadcast: // adapters know
	case Pattern::Conditional:
	case Pattern::Barrier:
	case Pattern::TreeBarrier:
	case Pattern::Allreduce: // the engines know
		break;
	}
	return node;
}

Message Traffic::message(uint32_t node, uint32_t number, uint64_t clock) const noexcept
{
	if (job_of_[node] == NO_JOB)
		return {NEVER, node, 0, Operation::Put};

	const Placed &job = jobs_[job_of_[node]];

	if (!job.traced.empty()) {
		const size_t at = size_t{job.traced_first[rank_of_[node]]} + number;

		return at < job.traced_first[rank_of_[node] + 1] ? job.traced[at]
								 : Message{NEVER, node, 0, Operation::Put};
	}
	if (is_group(job.shape.pattern))
		return {NEVER, node, 0, Operation::Put};
	return {clock + exponential(random_of(seed_ + GAPS, node, number), job.mean_gap), target(node, number),
		job.shape.bytes, job.shape.operation};
}

} // namespace aries::sim
