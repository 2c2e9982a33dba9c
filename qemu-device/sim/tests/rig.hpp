// SPDX-License-Identifier: GPL-2.0-or-later
/* A machine with its tables and network, for tests that drive it themselves. */
#ifndef ARIES_SIM_TESTS_RIG_HPP
#define ARIES_SIM_TESTS_RIG_HPP

#include <cstdlib>
#include <sstream>

#include "cmocka_cpp.hpp"
#include "simulation.hpp"
#include "topology/build_aries.hpp"
#include "topology/build_canonical.hpp"

namespace aries::sim
{

/* Sanitizers take their own time and memory. */
constexpr bool sanitized()
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	return true;
#else
	return false;
#endif
}

/* Time for tests of minutes: OPENGNI_SLOW=1, as make check-all has it. Sanitizers would make hours of them. */
inline bool slow_tests()
{
	return !sanitized() && getenv("OPENGNI_SLOW"); // NOLINT(concurrency-mt-unsafe)
}

/* A run is refused with one line that has this part. */
inline void refused(const topology::Machine &machine, const RunShape &shape, const char *part)
{
	std::string said;

	try {
		run(machine, shape);
	} catch (const RunError &error) {
		said = error.what();
	}
	if (said.find(part) == std::string::npos || said.find('\n') != std::string::npos)
		fail_msg("said \"%s\", not \"%s\"", said.c_str(), part);
}

/* All that a run writes, as these workers have it. */
inline std::string result_text(const topology::Machine &machine, RunShape shape, const Workers &workers)
{
	std::ostringstream text;

	shape.workers = workers;

	const Result result = run(machine, shape);

	assert_true(result.measured > 100);
	write_json(text, machine, shape, result);
	write_links_csv(text, result);
	return text.str();
}

struct Rig {
	Rig(topology::Machine of, const TrafficShape &traffic, const Parameters &parameters = {}, uint64_t seed = 1,
	    routing::Policy policy = RunShape::default_policy(), const Workers &workers = {}, FaultPlan faults = {})
		: machine(std::move(of)), routes(machine, policy),
		  network(machine, routes.tables(), Routes::channels(machine, policy), parameters,
			  Workload(traffic, static_cast<uint32_t>(machine.nodes.size())), seed, workers,
			  std::move(faults))
	{
	}

	/* Sends up to a cycle, then waits until all has arrived. */
	void run_and_drain(uint32_t cycles)
	{
		network.stop_traffic(cycles);
		network.run(cycles);
		drain();
	}

	/* Nothing is sent from now on; waits until all has arrived. */
	void drain()
	{
		network.stop_traffic(network.now());
		for (uint32_t i = 0; i < 10000 && !network.idle(); i++)
			network.run(network.now() + 1000);
		assert_true(network.idle());
		/* The last credits. */
		network.run(network.now() + 10000);
	}

	topology::Machine machine;
	Routes routes;
	Network network;
};

} // namespace aries::sim

#endif
