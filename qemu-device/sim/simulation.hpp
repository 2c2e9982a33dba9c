// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * @file
 * One run: machine, tables, network; warm-up, measurement, drain; the result.
 */
#ifndef ARIES_SIM_SIMULATION_HPP
#define ARIES_SIM_SIMULATION_HPP

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <stdexcept>
#include <string>
#include <vector>

#include "network.hpp"
#include "topology/machine.hpp"

namespace aries::sim
{

/** Something that cannot be run; one line that names the broken rule. */
class RunError : public std::runtime_error
{
public:
	using std::runtime_error::runtime_error;
};

struct RunShape {
	Parameters parameters;
	TrafficShape traffic;  ///< of all nodes, if there are no jobs
	std::vector<Job> jobs; ///< if given, instead of it
	routing::Policy policy = default_policy();
	uint64_t seed = 1;
	uint32_t warmup = 10000; ///< cycles
	uint32_t measure = 20000;
	uint32_t drain = 100000;   ///< at most
	uint64_t memory_bytes = 0; ///< that may be used; 0 for no limit
	Workers workers;
	std::vector<Incident> incidents; ///< by cycle

	/** Biases in flits, the unit of loads here. */
	static routing::Policy default_policy();
};

/** Links of one class, or the processor tiles. */
struct ClassResult {
	std::string name;
	uint64_t links = 0; ///< of one direction
	double mean_load = 0;
	double most_load = 0;
	double stalled = 0;        ///< share of the time in which there was something to send, and no room for it
	double row_stalled = 0;    ///< the same of row buses of these tiles as inputs
	double column_stalled = 0; ///< and of column buses to them
	uint64_t replays = 0;      ///< times that LCBs sent again
};

struct LinkResult {
	uint32_t router, tile, far_router;
	std::string name; ///< of its class
	uint64_t flits;
	double load;
	uint32_t stalled; ///< cycles
	uint32_t row_stalled, column_stalled;
	uint64_t replays;
};

/** What a job, or all nodes that have one, sent and got. */
struct Rates {
	uint64_t nodes = 0;
	double offered = 0;              ///< share of what the processor tiles take
	double accepted = 0;             ///< the same of what arrived while it was measured
	double gbyte_per_s_per_node = 0; ///< data
};

/** The allreduces of a job. */
struct CollectiveResult {
	uint32_t depth = 0;    ///< of its tree; 0 for a job without collectives
	uint64_t begun = 0;    ///< operations that a node has begun
	uint64_t ended = 0;    ///< that all have ended
	uint64_t given_up = 0; ///< that cannot end, for packets or nodes were lost
	uint64_t lost = 0;     ///< these
	Histogram latency;     ///< cycles from the last node's begin, while it is measured, to the last one's end
};

struct Result : Rates {
	uint32_t cycles = 0;                       ///< of the whole run
	std::vector<Rates> jobs;                   ///< empty if there is one
	std::vector<CollectiveResult> collectives; ///< by job; empty if none has any
	uint64_t measured = 0;                     ///< requests
	bool drained = false;
	bool stuck = false; ///< nothing moved for a long time
	std::vector<ClassResult> classes;
	std::vector<LinkResult> links;
	Statistics statistics;
	double clock_mhz = 0;
	std::vector<Rebuild> rebuilds;
	uint64_t packets_at_once = 0; ///< in the network, at most, at the ends of 1,000 cycles each
};

struct Progress {
	uint32_t cycle;
	uint32_t until; ///< without the drain
	uint64_t live;  ///< packets in the network
};

/** @throws RunError */
Result run(const topology::Machine &machine, const RunShape &shape,
	   const std::function<void(const Progress &)> &progress = {});

/** Everything but the links, as JSON; the same for the same run, byte by byte. */
void write_json(std::ostream &out, const topology::Machine &machine, const RunShape &shape, const Result &result);

/** Empty if a device can have the loads of this machine, else one line that says why not. */
std::string check_background(const topology::Machine &machine);

/** Loads of links in the form of Documentation/simulator.md, for use as background load. */
void write_background(std::ostream &out, const topology::Machine &machine, const RunShape &shape, const Result &result);

/** A line for each link and direction. */
void write_links_csv(std::ostream &out, const Result &result);

} // namespace aries::sim

#endif
