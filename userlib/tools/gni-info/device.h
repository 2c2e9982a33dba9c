// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * What sysfs, driver and library tell about the NICs of this node.
 */
#ifndef GNI_INFO_DEVICE_H
#define GNI_INFO_DEVICE_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gniinfo
{

/** Counters by name, in the order of their names. */
using Counters = std::map<std::string, uint64_t>;

/** A resource of a NIC or of a domain, in units of its kind. */
struct Resource {
	std::string name;
	uint64_t used = 0;
	uint64_t limit = 0; /* all there are, or all that the domain may have */
	uint64_t reserved = 0;
	uint64_t held = 0; /* of numbers that the NIC has not let go */
};

/** A domain that the caller's environment or command line names. */
struct Domain {
	uint32_t cookie = 0;
	std::optional<uint8_t> ptag; /* empty: no such domain on this node */
	std::vector<Resource> resources;
};

/** Answers to questions that need /dev/kgniN. */
struct Driver {
	uint32_t abi = 0;
	uint32_t version = 0; /* packed */
	uint32_t pe = 0;
	uint32_t cpu = 0;
	uint32_t bte_queue = 0;
	uint32_t vectors = 0;
	uint64_t caps = 0;
	std::vector<Resource> resources;
	std::vector<Domain> domains;
};

struct Device {
	uint32_t number = 0;
	std::string name;                              /* kgniN */
	std::string pci;                               /* slot; empty where sysfs does not tell */
	std::map<std::string, std::string> attributes; /* files of the device's folder */
	Counters resources, stats, ras, router;        /* files of its folders */
	std::optional<Driver> driver;
	std::string error; /* why there is no driver's answer */
};

/** Where the kernel shows GNI devices. */
constexpr const char *sysfs_class = "/sys/class/gni";

/** Numbers of the devices below @p root, in order. */
std::vector<uint32_t> device_numbers(const std::string &root = sysfs_class);

/** What sysfs tells about a device. Throws Failure when there is no such device. */
Device read_device(uint32_t number, const std::string &root = sysfs_class);

/** Numbers in the files of a folder; files that hold none, or do not answer, are left out. */
Counters read_counters(const std::string &folder);

/** Adds what /dev/kgniN tells, of the domains of @p cookies, too; on failure, why not. */
void ask_driver(Device &device, const std::vector<uint32_t> &cookies);

/** Cookies that PMI_GNI_COOKIE (words with : between them) and OPENGNI_COOKIE name. */
std::vector<uint32_t> cookies_of_environment();

} // namespace gniinfo

#endif // GNI_INFO_DEVICE_H
