// SPDX-License-Identifier: GPL-2.0-or-later
#include "options.hpp"

#include <algorithm>
#include <unistd.h>

#include "elite5_line.hpp"
#include "jobs.hpp"
#include "names.hpp"
#include "switch_records.hpp"
#include "topo/yaml.hpp"

namespace aries::sim
{

namespace
{

topology::Built machine_of(const Options &options)
{
	std::vector<topology::Parameter> parameters;
	const std::string &name = options.machine;

	if (name.ends_with(".yaml") || name.ends_with(".yml")) {
		if (!options.shape.empty())
			throw RunError("a machine from a file has no parameters");
		return topology::read_yaml(name);
	}
	for (const std::string &text : options.shape) {
		const size_t equals = text.find('=');

		if (equals == std::string::npos)
			throw RunError(text + " is not a parameter of a machine: NAME=VALUE");
		parameters.push_back({text.substr(0, equals), text.substr(equals + 1)});
	}
	return topology::build_named(name, parameters);
}

void set_modes(const Options &options, RunShape &run)
{
	TrafficShape &traffic = run.traffic;

	set_traffic(traffic, "traffic", options.traffic);
	set_traffic(traffic, "operation", options.operation);
	set_traffic(traffic, "load", options.load);
	set_traffic(traffic, "mode", options.mode);
	if (!options.response_mode.empty())
		set_traffic(traffic, "response_mode", options.response_mode);
	if (!options.slow.empty())
		set_traffic(traffic, "slow", options.slow);
	run.policy.channels = static_cast<uint8_t>(options.channels);
	if (options.bias.size() > run.policy.local_bias.size())
		throw RunError(std::to_string(options.bias.size()) + " biases: there are " +
			       std::to_string(run.policy.local_bias.size()) + " adaptive modes");
	for (size_t i = 0; i < options.bias.size(); i++)
		run.policy.local_bias[i] = run.policy.global_bias[i] = options.bias[i];
}

void check_channels(uint32_t channels, const topology::Machine &machine)
{
	const uint32_t most =
		&chip_of(machine) == &ELITE5_LINE ? LINK_CHANNELS : routing::MAX_CHANNELS / routing::CLASSES;

	if (channels > most)
		throw RunError(std::to_string(channels) + " channels of a class: at most " + std::to_string(most));
}

void place_jobs(const Options &options, const topology::Machine &machine, RunShape &run)
{
	if (!options.jobs.empty())
		run.jobs = read_jobs(options.jobs, machine, run.traffic);
	if (options.job.empty())
		return;
	if (!options.jobs.empty())
		throw RunError("jobs come from a file or from options, not from both");

	/* One list, so that they know of each other. */
	std::string text;

	for (const std::string &job : options.job)
		text += (job.starts_with('{') ? "- " + job : "- {" + job + "}") + "\n";
	run.jobs = parse_jobs(text, "--job", machine, run.traffic);
}

void plan_incidents(const Options &options, const topology::Machine &machine, RunShape &run)
{
	const std::pair<Change, const std::vector<std::string> *> all[] = {
		{Change::Fail, &options.fail}, {Change::Repair, &options.repair}, {Change::Lanes, &options.lanes}};

	for (const auto &[change, texts] : all) {
		for (const std::string &text : *texts)
			run.incidents.push_back(parse_incident(change, text, machine));
	}
	std::stable_sort(run.incidents.begin(), run.incidents.end());
}

} // namespace

Prepared prepare(const Options &options)
{
	Prepared prepared{.built = {}, .run = options.run};
	RunShape &run = prepared.run;

	set_modes(options, run);
	prepared.built = machine_of(options);
	check_channels(options.channels, prepared.built.machine);
	run.parameters = parameters_of(chip_of(prepared.built.machine));
	/* With fewer channels than the usual threshold none would be above it. */
	if (options.channels)
		run.parameters.threshold = std::min(run.parameters.threshold, options.channels);
	for (const std::string &text : options.set) {
		const std::string broken = set_parameter(run.parameters, text);

		if (!broken.empty())
			throw RunError(broken);
	}
	run.memory_bytes = options.memory_mib << 20;
	if (!run.memory_bytes)
		run.memory_bytes =
			static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
	place_jobs(options, prepared.built.machine, run);
	/* A trace is sent to its end. */
	for (const Job &job : run.jobs) {
		const uint64_t end = job.trace.messages.empty() ? 0 : job.trace.messages.back().cycle + 1;

		if (end > uint64_t{run.warmup} + run.measure)
			run.measure = static_cast<uint32_t>(std::min<uint64_t>(end - run.warmup, UINT32_MAX));
	}
	plan_incidents(options, prepared.built.machine, run);
	return prepared;
}

} // namespace aries::sim
