// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
/**
 * @file
 * What PCI configuration space and sysfs tell about a NIC.
 */
#ifndef ARIES_INFO_NIC_H
#define ARIES_INFO_NIC_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

struct pci_dev;

namespace info
{

struct Capability {
	unsigned id;
	unsigned position;
	bool extended;
	std::string name;
};

struct Bar {
	unsigned number;
	uint64_t address; /* 0: not assigned */
	uint64_t size;
	bool wide; /* 64 bits */
	bool prefetchable;
	std::string use;
};

struct Link {
	unsigned generation, width; /* negotiated */
	unsigned max_generation, max_width;
};

struct MsiX {
	unsigned vectors;
	bool enabled, masked;
	unsigned table_bar, table_offset, pba_bar, pba_offset;
};

struct Aer {
	uint32_t uncorrectable, uncorrectable_mask;
	uint32_t correctable, correctable_mask;
};

struct Nic {
	std::string slot, sysfs; /* directory of the PCI device */
	unsigned vendor, device, revision;
	std::string driver, gni_name; /* kgniN; empty without driver */
	int irq, numa_node;
	bool memory_enabled, bus_master;
	bool capabilities_readable; /* false: no rights */
	std::vector<Bar> bars;
	std::vector<Capability> capabilities;
	std::optional<Link> link;
	std::optional<MsiX> msix;
	std::optional<Aer> aer;
	std::optional<uint64_t> serial;
};

/**
 * Finds the NICs. An error of the PCI library itself ends the process with exit_access.
 * @param slot only the ones at this slot, as lspci -s takes it; empty for all. Throws UsageError if it is none
 */
std::vector<Nic> find_nics(const std::string &slot);

/** Name of the highest-order set bits of an AER status word; "none" for 0. */
std::string aer_text(uint32_t status, bool correctable);

} // namespace info

#endif // ARIES_INFO_NIC_H
