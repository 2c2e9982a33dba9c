// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * gni-info: the GNI devices of this node, their limits, what is in use, and their counters.
 */
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>

#include "common/command_line.h"
#include "common/failure.h"
#include "common/output.h"
#include "device.h"
#include "report.h"
#include "watch.h"

namespace gniinfo
{

namespace
{

enum Exit { exit_ok = 0, exit_failed = 1, exit_usage = 2 };

constexpr const char *footer = "Exit status: 0 all was told, 1 no device, or one that does not answer, 2 wrong usage.\n"
			       "Cookies of PMI_GNI_COOKIE and OPENGNI_COOKIE name domains, as --cookie does.";

struct Options {
	int device = -1; /* all */
	std::vector<uint32_t> cookies;
	bool json = false;
	bool all = false;
	WatchPlan watch;
};

std::vector<uint32_t> wanted_devices(const Options &options)
{
	std::vector<uint32_t> numbers = device_numbers();
	if (numbers.empty())
		throw tools::Failure(
			"no GNI device in this node: is the NIC there (aries-info), and the driver loaded?");
	if (options.device < 0)
		return numbers;
	const auto wanted = static_cast<uint32_t>(options.device);
	if (std::find(numbers.begin(), numbers.end(), wanted) == numbers.end())
		throw tools::Failure(tools::format("no device kgni%u in this node", wanted));
	return {wanted};
}

std::vector<uint32_t> wanted_cookies(const Options &options)
{
	std::vector<uint32_t> cookies = cookies_of_environment();
	for (const uint32_t cookie : options.cookies)
		if (std::find(cookies.begin(), cookies.end(), cookie) == cookies.end())
			cookies.push_back(cookie);
	return cookies;
}

int show(const Options &options)
{
	const std::vector<uint32_t> cookies = wanted_cookies(options);
	Report report = begin_report();
	int status = exit_ok;
	std::string missing;
	try {
		for (const uint32_t number : wanted_devices(options))
			report.devices.push_back(read_device(number));
	} catch (const tools::Failure &failure) {
		missing = failure.what();
	}
	for (Device &device : report.devices)
		ask_driver(device, cookies);
	if (options.json)
		print_json(report);
	else
		print_text(report, options.all);
	fflush(stdout);
	for (const Device &device : report.devices) {
		if (device.error.empty())
			continue;
		fprintf(stderr, "gni-info: %s\n", device.error.c_str());
		status = exit_failed;
	}
	if (!missing.empty())
		throw tools::Failure(missing);
	return status;
}

void add_options(tools::CommandLine &line, Options &options)
{
	WatchPlan &plan = options.watch;
	line.number({"-d,--device", "N", "N of /dev/kgniN (all)"}, options.device, 1 << 20);
	line.plain({"-c,--cookie", "COOKIE", "a domain to look for, by its cookie"}, options.cookies);
	line.plain({"-a,--all", "", "counters that are 0, and those of the router, too"}, options.all);
	line.plain({"--json", "", "as JSON: everything"}, options.json);
	line.subcommand("env", "environment variables that library and tools read");
	line.plain({"--json", "", "as JSON"}, options.json);
	line.subcommand("watch", "rates of the counters that change, again and again");
	line.plain({"-i,--interval", "SEC", "seconds between two reports (default 1)"}, plan.interval, 0.01, 86400);
	line.plain({"-n,--count", "N", "reports (default 0: until it is interrupted)"}, plan.count);
	line.plain({"-r,--router", "", "counters of the router, too"}, plan.router);
	line.plain({"--json", "", "one JSON object a line"}, plan.json);
}

int run(int argc, char **argv)
{
	tools::CommandLine line("gni-info", "The GNI devices of this node: versions, limits, what is in use, counters.",
				{}, footer);
	Options options;

	add_options(line, options);
	if (!line.parse(argc, argv))
		return exit_ok;
	if (line.chosen() == "env") {
		print_environment(options.json);
		return exit_ok;
	}
	if (line.chosen().empty())
		return show(options);
	options.watch.json |= options.json;
	watch(wanted_devices(options).front(), options.watch);
	return exit_ok;
}

} // namespace

} // namespace gniinfo

int main(int argc, char **argv)
{
	try {
		return tools::finish("gni-info", gniinfo::run(argc, argv));
	} catch (const tools::UsageError &error) {
		fprintf(stderr, "gni-info: %s\n", error.what());
		return gniinfo::exit_usage;
	} catch (const std::exception &error) {
		fprintf(stderr, "gni-info: %s\n", error.what());
	}
	return gniinfo::exit_failed;
}
