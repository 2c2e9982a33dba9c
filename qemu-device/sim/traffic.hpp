// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * What nodes send: to whom, when, how much. Everything is a function of seed, node and number of the message, so it
 * is the same however the work is divided.
 */
#ifndef ARIES_SIM_TRAFFIC_HPP
#define ARIES_SIM_TRAFFIC_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "collective.hpp"
#include "layout.hpp"
#include "router/routing_mode.hpp"

namespace aries::sim
{

enum class Pattern : uint8_t {
	Uniform,     ///< any other node of the job
	Group,       ///< any node of the job in the group that is @p shift further among its groups (R15)
	Permutation, ///< one other node each, at random
	Shift,       ///< the k th message to the node k further on (L26)
	Offset,      ///< the node @p shift further on, always
	AllToAll,    ///< the same with the shifts in a random order, which all nodes share
	Broadcast,   ///< from the first node to all, one after the other (Q26)
	Conditional, ///< of the first node to all others, each repeated until it is true (Q28)
	Barrier,     ///< of all nodes, polled by the first one (Q29), then broadcast
	TreeBarrier, ///< by counters in a tree of nodes (Q30), then broadcast
	Allreduce,   ///< operations on a tree of collective engines, one after the other (N21 to N24)
};

enum class Operation : uint8_t {
	Put, ///< packets of 14 flits at most, responses of one (P03)
	Get, ///< packets of three flits, responses of 12 at most (P04)
	Raw, ///< packets of a given number of flits, without responses: what other simulators send
	/* Only of Pattern::Allreduce, which sends no others. Without responses. */
	Contribute, ///< an operand, up the tree
	Result,     ///< down
};

constexpr bool is_collective(Operation operation) noexcept
{
	return operation >= Operation::Contribute;
}

struct TrafficShape {
	Pattern pattern = Pattern::Uniform;
	Operation operation = Operation::Put;
	uint32_t bytes = 64;        ///< of a message: 8 B to 256 KiB, not of Raw
	uint32_t raw_flits = 1;     ///< of a packet, only of Raw
	uint32_t shift = 1;         ///< groups for Pattern::Group, nodes for Pattern::Offset
	uint32_t load_ppm = 200000; ///< of what the processor tiles take; flits of requests, for gets of responses
	RoutingMode request_mode{Routing::Adaptive, 0};
	RoutingMode response_mode{Routing::Adaptive, 0};

	/* Only of Pattern::Allreduce, and of those of groups: none has an operation or load. */
	uint32_t radix = MOST_RADIX; ///< of the tree: children of an engine
	uint32_t processes = 1;      ///< of a node, whose operands its host adds first
	uint32_t compute_ns = 0;     ///< before each operation of a node
	uint32_t slow_rank = 0;      ///< computes longer than others
	uint32_t slow_ns = 0;        ///< by this
};

/** A message of a trace; nodes are ranks of its job. */
struct TracedMessage {
	uint64_t cycle; ///< when it is ready
	uint32_t source, target;
	uint32_t bytes;
	Operation operation;
};

struct Trace {
	uint32_t nodes = 0;
	std::vector<TracedMessage> messages; ///< in the order of time
};

/** Nodes that do something together. */
struct Job {
	std::string name;
	std::vector<uint32_t> nodes; ///< in the order of their ranks; a node has one job at most
	TrafficShape traffic;
	Trace trace; ///< sent instead of what the traffic says, if it has messages
};

/** What a machine has to do. Nodes without a job send nothing. */
struct Workload {
	Workload(std::vector<Job> of) : jobs(std::move(of)) {} // NOLINT(google-explicit-constructor): jobs are one

	/** One job on every node of a machine. */
	Workload(const TrafficShape &traffic, uint32_t nodes);

	std::vector<Job> jobs;
};

/** Whether a job's nodes make a tree of collective engines. */
inline bool is_collective(const Job &job) noexcept
{
	return job.traffic.pattern == Pattern::Allreduce && job.trace.messages.empty();
}

/** Patterns of QsNetIII whose packets are for all nodes of a job. */
constexpr bool is_group(Pattern pattern) noexcept
{
	return pattern >= Pattern::Broadcast && pattern <= Pattern::TreeBarrier;
}

inline bool is_group(const Job &job) noexcept
{
	return is_group(job.traffic.pattern) && job.trace.messages.empty();
}

/** Empty if there can be such a workload on the machine, else one line that names the broken rule. */
std::string check_workload(const Workload &workload, const Layout &layout);

/** Random bits for one purpose, @p what. */
inline uint64_t random_of(uint64_t seed, uint64_t what, uint64_t number) noexcept
{
	return mix64(mix64(seed + what * 0x9e3779b97f4a7c15) ^ (number * 0xd1342543de82ef95 + 1));
}

/** @p mean times -ln(u) for a u between 0 and 1 by 64 random bits, in whole numbers; @p mean below 2^40. */
uint64_t exponential(uint64_t random, uint64_t mean) noexcept;

/** A message that a node is to send. */
struct Message {
	uint64_t clock; ///< when it is ready: cycle, with a fraction
	uint32_t target;
	uint32_t bytes; ///< 0 for one packet of Operation::Raw
	Operation operation;
};

class Traffic
{
public:
	static constexpr uint32_t FRACTION = 16; ///< bits of a clock behind the point
	static constexpr uint64_t NEVER = uint64_t{UINT32_MAX} << FRACTION;
	static constexpr uint32_t NO_JOB = UINT32_MAX;

	Traffic(const Workload &workload, const Layout &layout, uint64_t seed);

	/** The message of this number of a node; @p clock is the clock of the message before. */
	Message message(uint32_t node, uint32_t number, uint64_t clock) const noexcept;

	/** Node to which the message of this number goes. The node has a job. */
	uint32_t target(uint32_t node, uint32_t number) const noexcept;

	size_t jobs() const noexcept { return jobs_.size(); }
	uint32_t job_of(uint32_t node) const noexcept { return job_of_[node]; }
	uint32_t rank_of(uint32_t node) const noexcept { return rank_of_[node]; }

	/** The node with a rank in the job of another one. */
	uint32_t node_of(uint32_t node, uint32_t rank) const noexcept { return jobs_[job_of_[node]].nodes[rank]; }

	/** What the nodes of a job with collectives do. */
	struct Collective {
		Tree tree;
		uint32_t compute; ///< cycles before each operation
		uint32_t slow_rank;
		uint32_t slow; ///< cycles that this one computes longer
		uint32_t processes;
	};

	/** Whether a job has collectives. */
	bool collectives() const noexcept { return !collectives_.empty(); }

	/** None if the node has no job, or one without collectives. */
	const Collective *collective_of(uint32_t node) const noexcept
	{
		const uint32_t job = job_of_[node];

		return job == NO_JOB || collectives_.empty() || collectives_[job].tree.empty() ? nullptr
											       : &collectives_[job];
	}

	const TrafficShape &shape_of(uint32_t node) const noexcept { return jobs_[job_of_[node]].shape; }

	static uint32_t packets(uint32_t bytes) noexcept
	{
		return bytes ? (bytes + PACKET_BYTES - 1) / PACKET_BYTES : 1;
	}

	/** Bytes of the packet with so many packets of its message behind it. */
	static uint32_t bytes_with_left(uint32_t bytes, uint32_t left) noexcept
	{
		return left ? PACKET_BYTES : bytes ? (bytes - 1) % PACKET_BYTES + 1 : 0;
	}

private:
	static constexpr uint64_t GAPS = 0x67617073;
	static constexpr uint64_t TARGETS = 0x74617267;

	struct Placed {
		TrafficShape shape;
		std::vector<uint32_t> nodes;
		uint64_t mean_gap = 0;
		std::vector<uint32_t> partner;      // of a permutation, by rank
		std::vector<uint32_t> shifts;       // of AllToAll, less one
		std::vector<uint32_t> by_group;     // nodes
		std::vector<uint32_t> group_first;  // in by_group, only groups with nodes of the job
		std::vector<uint32_t> group_of;     // number among those groups, by rank
		std::vector<Message> traced;        // by source, in the order of time
		std::vector<uint32_t> traced_first; // in traced, by rank
	};

	void place_collectives(const Workload &workload, const Layout &layout);
	static void place_trace(const Job &job, Placed &placed);
	Placed place(const Job &job, const Layout &layout) const;
	std::vector<uint32_t> shuffle(uint32_t count) const;
	std::vector<uint32_t> permute(uint32_t count) const;

	uint64_t seed_;
	std::vector<Placed> jobs_;
	std::vector<Collective> collectives_; // by job; empty if none has any
	std::vector<uint32_t> job_of_;        // by node
	std::vector<uint32_t> rank_of_;
};

} // namespace aries::sim

#endif
