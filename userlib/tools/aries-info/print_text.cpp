// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "print.h"

#include <cinttypes>
#include <cstdio>

#include "common/failure.h"

namespace info
{

const char *link_speed(unsigned generation)
{
	static const char *const speeds[] = {"?", "2.5", "5", "8", "16", "32", "64"};
	return generation < std::size(speeds) ? speeds[generation] : "?";
}

namespace
{

std::string size_text(uint64_t size)
{
	if (size >= 1u << 20)
		return tools::format("%" PRIu64 " MiB", size >> 20);
	return tools::format("%" PRIu64 " KiB", size >> 10);
}

void line(const char *label, const std::string &text)
{
	printf("  %-14s %s\n", label, text.c_str());
}

void print_bars(const Nic &nic)
{
	for (const Bar &bar : nic.bars)
		line(tools::format("BAR %u", bar.number).c_str(),
		     tools::format("0x%012" PRIx64 "  %-8s %s-bit%s  %s", bar.address, size_text(bar.size).c_str(),
				   bar.wide ? "64" : "32", bar.prefetchable ? " prefetchable" : "", bar.use.c_str()));
}

void print_capabilities(const Nic &nic)
{
	if (!nic.capabilities_readable) {
		line("capabilities", "need CAP_SYS_ADMIN to be read");
		return;
	}
	if (nic.link)
		line("link", tools::format("%s GT/s x%u (gen %u), capable of %s GT/s x%u (gen %u)",
					   link_speed(nic.link->generation), nic.link->width, nic.link->generation,
					   link_speed(nic.link->max_generation), nic.link->max_width,
					   nic.link->max_generation));
	if (nic.serial)
		line("serial number", tools::format("%016" PRIx64, *nic.serial));
	if (nic.msix)
		line("MSI-X", tools::format("%u vectors, %s%s, table BAR %u + 0x%x, pending bits BAR %u + 0x%x",
					    nic.msix->vectors, nic.msix->enabled ? "enabled" : "disabled",
					    nic.msix->masked ? " (masked)" : "", nic.msix->table_bar,
					    nic.msix->table_offset, nic.msix->pba_bar, nic.msix->pba_offset));
	if (nic.aer) {
		line("AER", "uncorrectable: " + aer_text(nic.aer->uncorrectable, false) +
				    "; correctable: " + aer_text(nic.aer->correctable, true));
	}
	std::string list;
	for (const Capability &c : nic.capabilities)
		list += tools::format("%s%s [%03x]", list.empty() ? "" : ", ", c.name.c_str(), c.position);
	line("capabilities", list);
}

void print_value(const Value &v)
{
	printf("  %-18s 0x%0*" PRIx64, v.name().c_str(), static_cast<int>(v.reg->width / 4), v.value);
	if (*v.meaning())
		printf("  %s", v.meaning());
	for (const Field &field : v.reg->fields) {
		uint64_t mask = field.bits == 64 ? ~0ull : (1ull << field.bits) - 1;
		uint64_t part = v.value >> field.lsb & mask;
		if (field.bits < v.reg->width && part)
			printf(part < 10 ? "  %s=%" PRIu64 : "  %s=0x%" PRIx64, field.name, part);
	}
	printf("\n");
}

} // namespace

void print_text(const std::vector<Finding> &findings)
{
	bool first = true;
	for (const Finding &finding : findings) {
		const Nic &nic = finding.nic;
		if (!first)
			printf("\n");
		first = false;
		printf("%s Aries NIC [%04x:%04x] revision %u\n", nic.slot.c_str(), nic.vendor, nic.device,
		       nic.revision);
		line("driver", nic.driver.empty()     ? "none bound"
			       : nic.gni_name.empty() ? nic.driver
						      : nic.driver + " (" + nic.gni_name + ")");
		line("state", tools::format("memory decoding %s, bus master %s, IRQ %d, NUMA node %d",
					    nic.memory_enabled ? "on" : "off", nic.bus_master ? "on" : "off", nic.irq,
					    nic.numa_node));
		print_bars(nic);
		print_capabilities(nic);
		if (!finding.registers.empty())
			printf("  registers\n");
		for (const Value &value : finding.registers)
			print_value(value);
	}
}

} // namespace info
