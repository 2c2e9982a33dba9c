// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "report.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "common/failure.h"
#include "common/gni.h"
#include "common/json.h"
#include "gni_pub.h"
#include "src/environment.hpp"
#include "uapi/kgni_abi.h"

namespace gniinfo
{

using tools::format;
using tools::Json;

namespace
{

/* What the interface itself bounds. */
const std::vector<std::pair<const char *, uint64_t>> interface_limits = {
	{"datagram_bytes", GNI_DATAGRAM_MAXSIZE},     {"smsg_bytes", GNI_SMSG_MAX_SIZE},
	{"ptag_first_of_users", GNI_PTAG_USER_START}, {"ptag_last_of_users", GNI_PTAG_USER_END},
	{"ce_children", GNI_CE_MAX_CHILDREN},
};

Json to_json(const std::vector<Resource> &resources, bool of_device)
{
	Json out = Json::object();
	for (const Resource &r : resources) {
		Json one = {{"used", r.used}, {"limit", r.limit}};
		if (of_device) {
			one.set("reserved", r.reserved);
			one.set("held", r.held);
		}
		out.set(r.name, one);
	}
	return out;
}

Json to_json(const Driver &driver)
{
	Json domains = Json::array();
	for (const Domain &d : driver.domains)
		domains.add({{"cookie", d.cookie}, {"ptag", d.ptag}, {"resources", to_json(d.resources, false)}});
	return {{"version", version_text(driver.version)},
		{"abi", driver.abi},
		{"cpu", driver.cpu},
		{"bte_queue", driver.bte_queue},
		{"vectors", driver.vectors},
		{"caps", driver.caps},
		{"resources", to_json(driver.resources, true)},
		{"domains", domains}};
}

Json to_json(const Device &device)
{
	Json out = {{"name", device.name},
		    {"number", device.number},
		    {"pci", device.pci},
		    {"attributes", device.attributes},
		    {"sysfs_resources", device.resources},
		    {"stats", device.stats},
		    {"ras", device.ras},
		    {"counters", device.router}};
	out.set("driver", device.driver ? to_json(*device.driver) : Json());
	if (!device.error.empty())
		out.set("error", device.error);
	return out;
}

std::string attribute(const Device &device, const char *name)
{
	const auto found = device.attributes.find(name);
	return found == device.attributes.end() ? "-" : found->second;
}

void line(const char *name, const std::string &value)
{
	printf("    %-20s %s\n", name, value.c_str());
}

void print_resources(const char *title, const std::vector<Resource> &resources, bool of_device)
{
	printf("    %s\n", title);
	for (const Resource &r : resources) {
		printf("        %-20s %" PRIu64 " of %" PRIu64 " used", r.name.c_str(), r.used, r.limit);
		if (of_device && (r.reserved || r.held))
			printf(", %" PRIu64 " reserved, %" PRIu64 " held", r.reserved, r.held);
		putchar('\n');
	}
}

void print_counters(const char *title, const Counters &counters, bool all)
{
	bool any = false;
	for (const auto &[name, value] : counters) {
		if (!value && !all)
			continue;
		if (!any)
			printf("    %s\n", title);
		any = true;
		printf("        %-46s %" PRIu64 "\n", name.c_str(), value);
	}
}

void print_driver(const Driver &driver)
{
	line("driver", format("%s, ABI %u", version_text(driver.version).c_str(), driver.abi));
	line("nearest CPU", std::to_string(driver.cpu));
	line("MSI-X vectors", std::to_string(driver.vectors));
	line("capabilities", format("0x%" PRIx64, driver.caps));
	line("BTE queue", format("%u transfers of an attachment", driver.bte_queue));
	print_resources("resources", driver.resources, true);
	for (const Domain &d : driver.domains) {
		if (d.ptag)
			print_resources(format("domain of cookie 0x%08x: ptag %u", d.cookie, *d.ptag).c_str(),
					d.resources, false);
		else
			printf("    domain of cookie 0x%08x: not on this node\n", d.cookie);
	}
}

void print_device(const Device &device, bool all)
{
	printf("%s\n", device.name.c_str());
	for (const char *name : {"device_type", "address", "state", "link", "nodes", "nodes_up", "quiesced", "resets",
				 "numa_node", "fma_sm_win_sz"})
		line(name, attribute(device, name));
	line("pci", device.pci.empty() ? "-" : device.pci);
	if (device.driver)
		print_driver(*device.driver);
	else if (!device.error.empty())
		line("driver", "not asked: " + device.error);
	const auto pinned = device.resources.find("pinned_pages");
	if (pinned != device.resources.end())
		line("pinned memory", format("%" PRIu64 " KiB", pinned->second * 4));
	print_counters("counters", device.stats, all);
	print_counters("errors of memories", device.ras, all);
	if (all)
		print_counters("counters of the router", device.router, false);
}

} // namespace

std::string version_text(uint32_t packed)
{
	return format("%u.%u.%u", GNI_GET_MAJOR(packed), GNI_GET_MINOR(packed), GNI_GET_REV(packed));
}

Report begin_report()
{
	gni_version_info_t info = {};
	Report report;
	tools::check(GNI_GetVersionInformation(&info), "GNI_GetVersionInformation");
	info.ugni_build_string[sizeof(info.ugni_build_string) - 1] = '\0';
	info.kgni_build_string[sizeof(info.kgni_build_string) - 1] = '\0';
	report.library_version = info.ugni_version;
	report.library_build = info.ugni_build_string;
	report.driver_build = info.kgni_build_string;
	report.abi = KGNI_ABI_VERSION;
	return report;
}

void print_text(const Report &report, bool all)
{
	printf("libugni %s (%s), driver ABI %u\n", version_text(report.library_version).c_str(),
	       report.library_build.c_str(), report.abi);
	if (!report.driver_build.empty())
		printf("driver: %s\n", report.driver_build.c_str());
	printf("limits of the interface:");
	for (const auto &[name, value] : interface_limits)
		printf(" %s %" PRIu64, name, value);
	putchar('\n');
	for (const Device &device : report.devices)
		print_device(device, all);
}

void print_json(const Report &report)
{
	Json limits = Json::object(), devices = Json::array();
	for (const auto &[name, value] : interface_limits)
		limits.set(name, value);
	for (const Device &device : report.devices)
		devices.add(to_json(device));
	const Json out = {{"program", "gni-info"},
			  {"library", Json{{"version", version_text(report.library_version)},
					   {"build", report.library_build},
					   {"abi", report.abi}}},
			  {"driver_build", report.driver_build},
			  {"limits", limits},
			  {"devices", devices}};
	std::cout << out.text(2) << '\n';
}

void print_environment(bool json)
{
	struct Variable {
		const char *name, *readers, *unset, *meaning;
	};
	static const Variable table[] = {
#define ROW(name, readers, unset, meaning) {#name, readers, unset, meaning},
		UGNI_ENVIRONMENT(ROW)
#undef ROW
	};
	Json out = Json::array();
	for (const Variable &v : table) {
		const char *value = getenv(v.name); // NOLINT(concurrency-mt-unsafe)
		if (json) {
			out.add({{"name", v.name},
				 {"read_by", v.readers},
				 {"default", v.unset},
				 {"meaning", v.meaning},
				 {"value", value ? Json(value) : Json()}});
			continue;
		}
		printf("%-22s %s\n", v.name, v.meaning);
		printf("%-22s read by %s%s%s; %s%s\n", "", v.readers, *v.unset ? ", default " : "", v.unset,
		       value ? "set to " : "not set", value ? value : "");
	}
	if (json)
		std::cout << out.text(2) << '\n';
}

} // namespace gniinfo
