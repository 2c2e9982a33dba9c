// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "device.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/device_file.h"
#include "common/failure.h"
#include "gni_pub.h"
#include "src/environment.hpp"

namespace gniinfo
{

namespace fs = std::filesystem;
using tools::Failure;
using tools::format;

namespace
{

constexpr const char *prefix = "kgni";

std::optional<uint32_t> number_of(const std::string &name)
{
	uint32_t number = 0;
	if (name.rfind(prefix, 0) != 0)
		return std::nullopt;
	const char *begin = name.data() + strlen(prefix), *end = name.data() + name.size();
	const auto [stop, error] = std::from_chars(begin, end, number);
	if (error != std::errc() || stop != end)
		return std::nullopt;
	return number;
}

/* The first line; empty when the file does not answer, as a NIC that is in reset makes it. */
std::optional<std::string> line_of(const fs::path &path)
{
	std::ifstream file(path);
	std::string line;
	if (!std::getline(file, line))
		return std::nullopt;
	return line;
}

std::vector<Resource> resources_of_device(const tools::DeviceFile &file)
{
	std::vector<Resource> all;
	for (int kind = GNI_DEV_RES_FIRST + 1; kind < GNI_DEV_RES_LAST; kind++)
		if (const auto res = file.resource(static_cast<uint32_t>(kind)))
			all.push_back({gni_dev_res_to_str(static_cast<gni_dev_res_t>(kind)), res->used, res->total,
				       res->reserved_units, res->held});
	return all;
}

Domain domain_of(const tools::DeviceFile &file, uint32_t cookie)
{
	Domain domain;
	domain.cookie = cookie;
	domain.ptag = file.tag(cookie);
	for (int kind = GNI_JOB_RES_FIRST + 1; domain.ptag && kind < GNI_JOB_RES_LAST; kind++)
		if (const auto res = file.resource(static_cast<uint32_t>(kind), *domain.ptag))
			domain.resources.push_back(
				{gni_job_res_to_str(static_cast<gni_job_res_t>(kind)), res->used, res->total, 0, 0});
	return domain;
}

} // namespace

std::vector<uint32_t> device_numbers(const std::string &root)
{
	std::vector<uint32_t> numbers;
	std::error_code missing;
	for (const auto &entry : fs::directory_iterator(root, missing))
		if (const auto number = number_of(entry.path().filename()))
			numbers.push_back(*number);
	std::sort(numbers.begin(), numbers.end());
	return numbers;
}

Counters read_counters(const std::string &folder)
{
	Counters counters;
	std::error_code missing;
	for (const auto &entry : fs::directory_iterator(folder, missing)) {
		const auto line = line_of(entry.path());
		uint64_t value = 0;
		if (!line)
			continue;
		const auto [stop, error] = std::from_chars(line->data(), line->data() + line->size(), value);
		if (error == std::errc() && stop == line->data() + line->size())
			counters[entry.path().filename()] = value;
	}
	return counters;
}

Device read_device(uint32_t number, const std::string &root)
{
	Device device;
	device.number = number;
	device.name = prefix + std::to_string(number);
	const fs::path folder = fs::path(root) / device.name;
	std::error_code error;
	if (!fs::is_directory(folder, error))
		throw Failure(format("no device %s", device.name.c_str()));
	for (const auto &entry : fs::directory_iterator(folder, error)) {
		const std::string name = entry.path().filename();
		if (name == "uevent" || !entry.is_regular_file(error))
			continue;
		if (const auto line = line_of(entry.path()))
			device.attributes[name] = *line;
	}
	const fs::path slot = fs::read_symlink(folder / "device", error);
	if (!error)
		device.pci = slot.filename();
	if (const auto node = line_of(folder / "device" / "numa_node"))
		device.attributes["numa_node"] = *node;
	device.resources = read_counters(folder / "resources");
	device.stats = read_counters(folder / "stats");
	device.ras = read_counters(folder / "ras");
	device.router = read_counters(folder / "counters");
	return device;
}

void ask_driver(Device &device, const std::vector<uint32_t> &cookies)
{
	try {
		const tools::DeviceFile file(device.number);
		const kgni_query query = file.query();
		Driver driver;
		driver.abi = query.abi_version;
		driver.version = query.driver_version;
		driver.pe = query.pe;
		driver.cpu = query.cpu;
		driver.bte_queue = query.bte_queue;
		driver.vectors = query.msix;
		driver.caps = query.caps;
		driver.resources = resources_of_device(file);
		for (const uint32_t cookie : cookies)
			driver.domains.push_back(domain_of(file, cookie));
		device.driver = driver;
	} catch (const Failure &failure) {
		device.error = failure.what();
	}
}

std::vector<uint32_t> cookies_of_environment()
{
	std::vector<uint32_t> cookies;
	for (const char *name : {ugni::env::PMI_GNI_COOKIE, ugni::env::OPENGNI_COOKIE}) {
		const char *text = getenv(name); // NOLINT(concurrency-mt-unsafe)
		std::istringstream words(text ? text : "");
		for (std::string word; std::getline(words, word, ':');) {
			char *end = nullptr;
			const unsigned long value = strtoul(word.c_str(), &end, 0);
			if (word.empty() || *end || value == 0 || value > UINT32_MAX)
				throw Failure(format("%s: '%.40s' is no cookie", name, word.c_str()));
			if (std::find(cookies.begin(), cookies.end(), value) == cookies.end())
				cookies.push_back(static_cast<uint32_t>(value));
		}
	}
	return cookies;
}

} // namespace gniinfo
