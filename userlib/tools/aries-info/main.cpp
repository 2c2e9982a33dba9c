// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * aries-info: what PCI tells about Aries NICs, and their registers by name.
 */
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>

#include "aries_regs.h"

#include "common/failure.h"
#include "common/output.h"
#include "nic.h"
#include "options.h"
#include "print.h"
#include "registers.h"

namespace info
{

namespace
{

using tools::Failure;
using tools::format;

/** Memory decoding switched on for a while. */
class Decoding
{
public:
	explicit Decoding(const Nic &nic) : path_(nic.sysfs + "/enable") { write("1"); }
	Decoding(const Decoding &) = delete;
	Decoding &operator=(const Decoding &) = delete;
	~Decoding()
	{
		try {
			write("0");
		} catch (const Failure &failure) {
			fprintf(stderr, "aries-info: %s\n", failure.what());
		}
	}

private:
	void write(const char *value)
	{
		std::ofstream file(path_);
		file << value << std::flush;
		if (!file)
			throw Failure(
				format("cannot write %s to %s: %s", value, path_.c_str(), tools::errno_text(errno)));
	}

	std::string path_;
};

std::unique_ptr<RegisterSource> open_registers(const Nic &nic)
{
	auto bar = [&] {
		return std::make_unique<RegisterBar>(format("%s/resource%u", nic.sysfs.c_str(), ARIES_BAR_REGS),
						     ARIES_BAR_REGS_SIZE);
	};
	if (nic.gni_name.empty())
		return bar();
	/* The driver reads them under its locks, and the kernel may keep others from the BAR. */
	try {
		return std::make_unique<RegisterFile>("/sys/kernel/debug/aries/" + nic.gni_name + "/registers");
	} catch (const Failure &first) {
		try {
			return bar();
		} catch (const Failure &) {
			throw Failure(first.what());
		}
	}
}

std::vector<Value> dump(const Nic &nic, const Options &options)
{
	std::optional<Decoding> decoding;
	if (!nic.memory_enabled && !options.enable)
		throw Failure("memory decoding is off, as no driver is bound; --enable switches it on for the dump");
	if (!nic.memory_enabled)
		decoding.emplace(nic);
	return read_registers(*open_registers(nic), options);
}

int run(const Options &options)
{
	std::vector<Finding> findings;
	for (const Nic &nic : find_nics(options.slot))
		findings.push_back({nic, {}, ""});
	if (findings.empty()) {
		if (options.json)
			print_json(findings);
		fprintf(stderr, "aries-info: no Aries NIC [%04x:%04x]%s%s\n", ARIES_PCI_VENDOR, ARIES_PCI_DEVICE,
			options.slot.empty() ? " in this machine" : " at ", options.slot.c_str());
		return exit_none;
	}
	int status = exit_ok;
	for (Finding &finding : findings) {
		if (!options.registers)
			continue;
		try {
			finding.registers = dump(finding.nic, options);
		} catch (const Failure &failure) {
			finding.error = failure.what();
			status = exit_access;
		}
	}
	if (options.json)
		print_json(findings);
	else
		print_text(findings);
	fflush(stdout);
	for (const Finding &finding : findings)
		if (!finding.error.empty())
			fprintf(stderr, "aries-info: %s: %s\n", finding.nic.slot.c_str(), finding.error.c_str());
	return status;
}

} // namespace

} // namespace info

int main(int argc, char **argv)
{
	try {
		const info::Options options = info::parse_options(argc, argv);
		if (options.list)
			info::list_registers();
		const bool told = options.list || options.done;
		return tools::finish("aries-info", told ? info::exit_ok : info::run(options));
	} catch (const tools::UsageError &error) {
		fprintf(stderr, "aries-info: %s\n", error.what());
		return info::exit_usage;
	} catch (const std::exception &error) {
		fprintf(stderr, "aries-info: %s\n", error.what());
		return info::exit_access;
	}
}
