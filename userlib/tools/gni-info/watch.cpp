// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "watch.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "common/failure.h"
#include "common/json.h"
#include "common/wait.h"

namespace gniinfo
{

using tools::Json;

namespace
{

constexpr const char *gauge = "latency_last_ns";

Counters read_all(uint32_t number, bool router)
{
	const std::string folder = tools::format("%s/kgni%u/", sysfs_class, number);
	Counters all = read_counters(folder + "stats");
	if (all.empty())
		throw tools::Failure(
			tools::format("kgni%u: its counters cannot be read: the NIC is gone or in reset", number));
	if (router)
		all.merge(read_counters(folder + "counters"));
	return all;
}

/* Time of day, UTC. */
std::string clock_text()
{
	char text[32];
	const time_t now = time(nullptr);
	tm parts = {};
	gmtime_r(&now, &parts);
	strftime(text, sizeof(text), "%H:%M:%S", &parts);
	return text;
}

void print(uint32_t number, const std::vector<Rate> &all, double seconds, bool json)
{
	if (json) {
		Json rates = Json::object();
		for (const Rate &r : all)
			rates.set(r.name, r.per_second);
		const Json out = {{"device", number}, {"time", clock_text()}, {"seconds", seconds}, {"rates", rates}};
		std::cout << out.text() << '\n';
	} else {
		std::cout << tools::format("%s kgni%u: %zu counters have changed in %.2f s\n", clock_text().c_str(),
					   number, all.size(), seconds);
		for (const Rate &r : all)
			std::cout << (r.per_second ? tools::format("  %-46s %14.1f /s\n", r.name.c_str(), *r.per_second)
						   : tools::format("  %-46s %14s\n", r.name.c_str(), "reset"));
	}
	if (!std::cout.flush())
		throw tools::Failure("the output cannot be written");
}

void sleep_until(uint64_t ns)
{
	const timespec end = {static_cast<time_t>(ns / 1000000000), static_cast<long>(ns % 1000000000)};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) != 0)
		;
}

} // namespace

std::vector<Rate> rates(const Counters &before, const Counters &now, double seconds)
{
	std::vector<Rate> all;
	for (const auto &[name, value] : now) {
		const auto old = before.find(name);
		if (name == gauge || old == before.end() || old->second == value)
			continue;
		if (value < old->second)
			all.push_back({name, std::nullopt});
		else
			all.push_back({name, static_cast<double>(value - old->second) / seconds});
	}
	std::stable_sort(all.begin(), all.end(), [](const Rate &a, const Rate &b) {
		return a.per_second.value_or(HUGE_VAL) > b.per_second.value_or(HUGE_VAL);
	});
	return all;
}

void watch(uint32_t device, const WatchPlan &plan)
{
	Counters before = read_all(device, plan.router);
	uint64_t then = tools::now_ns();
	uint64_t next = then;
	for (uint64_t n = 0; !plan.count || n < plan.count; n++) {
		next += static_cast<uint64_t>(plan.interval * 1e9);
		sleep_until(next);
		Counters now = read_all(device, plan.router);
		const uint64_t at = tools::now_ns();
		const double seconds = static_cast<double>(at - then) / 1e9;
		print(device, rates(before, now, seconds), seconds, plan.json);
		before = std::move(now);
		then = at;
	}
}

} // namespace gniinfo
