// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "nic.h"

extern "C" {
#include <pci/pci.h>
}

#include <fcntl.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "aries_regs.h"

#include "common/failure.h"
#include "options.h"

namespace info
{

using tools::format;

namespace
{

/* The library wants this never to return. */
[[noreturn]] void library_error(char *text, ...)
{
	va_list args;
	fputs("aries-info: ", stderr);
	va_start(args, text);
	vfprintf(stderr, text, args); // NOLINT(clang-analyzer-valist.Uninitialized): it is, one line above
	fputc('\n', stderr);
	va_end(args);
	fflush(nullptr);
	_exit(exit_access);
}

void no_output(char *, ...) {}

struct CapabilityName {
	unsigned id;
	const char *name;
};

const CapabilityName normal_names[] = {{PCI_CAP_ID_PM, "Power Management"},
				       {PCI_CAP_ID_MSI, "MSI"},
				       {PCI_CAP_ID_EXP, "PCI Express"},
				       {PCI_CAP_ID_MSIX, "MSI-X"},
				       {PCI_CAP_ID_VNDR, "Vendor Specific"}};
const CapabilityName extended_names[] = {{PCI_EXT_CAP_ID_AER, "Advanced Error Reporting"},
					 {PCI_EXT_CAP_ID_DSN, "Device Serial Number"},
					 {PCI_EXT_CAP_ID_ARI, "Alternative Routing-ID"},
					 {PCI_EXT_CAP_ID_ATS, "Address Translation Service"},
					 {PCI_EXT_CAP_ID_SRIOV, "Single Root I/O Virtualization"}};

std::string capability_name(unsigned id, bool extended)
{
	if (extended) {
		for (const CapabilityName &c : extended_names)
			if (c.id == id)
				return c.name;
	} else {
		for (const CapabilityName &c : normal_names)
			if (c.id == id)
				return c.name;
	}
	return format("capability 0x%02x", id);
}

/* Ordinary users may read the first 64 bytes only. */
bool whole_config_readable(const std::string &sysfs)
{
	int fd = open((sysfs + "/config").c_str(), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	char byte;
	bool ok = pread(fd, &byte, 1, 64) == 1;
	close(fd);
	return ok;
}

std::string gni_device(const std::string &sysfs)
{
	std::error_code error;
	for (const auto &entry : std::filesystem::directory_iterator(sysfs + "/gni", error))
		return entry.path().filename();
	return "";
}

const char *bar_use(unsigned number)
{
	switch (number) {
	case ARIES_BAR_REGS:
		return "registers";
	case ARIES_BAR_FMA:
		return "FMA windows and doorbells";
	case ARIES_BAR_DESC:
		return "descriptor areas";
	}
	return "not known";
}

void read_bars(pci_dev *dev, Nic &nic)
{
	for (unsigned n = 0; n < 6; n++) {
		if (!dev->size[n])
			continue;
		auto flags = static_cast<unsigned>(dev->base_addr[n]) & 0xfu;
		nic.bars.push_back({n, dev->base_addr[n] & PCI_ADDR_MEM_MASK, dev->size[n],
				    (flags & PCI_BASE_ADDRESS_MEM_TYPE_MASK) == PCI_BASE_ADDRESS_MEM_TYPE_64,
				    (flags & PCI_BASE_ADDRESS_MEM_PREFETCH) != 0, bar_use(n)});
	}
}

void read_normal(pci_dev *dev, const pci_cap *cap, Nic &nic)
{
	int at = static_cast<int>(cap->addr);
	if (cap->id == PCI_CAP_ID_EXP) {
		unsigned can = pci_read_long(dev, at + PCI_EXP_LNKCAP), is = pci_read_word(dev, at + PCI_EXP_LNKSTA);
		nic.link = Link{is & PCI_EXP_LNKSTA_SPEED, (is & PCI_EXP_LNKSTA_WIDTH) >> 4, can & PCI_EXP_LNKCAP_SPEED,
				(can & PCI_EXP_LNKCAP_WIDTH) >> 4};
	}
	if (cap->id == PCI_CAP_ID_MSIX) {
		unsigned flags = pci_read_word(dev, at + 2), table = pci_read_long(dev, at + 4);
		unsigned pba = pci_read_long(dev, at + 8);
		nic.msix = MsiX{(flags & 0x7ff) + 1,
				(flags & 0x8000) != 0,
				(flags & 0x4000) != 0,
				table & 7,
				table & ~7u,
				pba & 7,
				pba & ~7u};
	}
}

void read_extended(pci_dev *dev, const pci_cap *cap, Nic &nic)
{
	int at = static_cast<int>(cap->addr);
	if (cap->id == PCI_EXT_CAP_ID_DSN)
		nic.serial = static_cast<uint64_t>(pci_read_long(dev, at + 8)) << 32 | pci_read_long(dev, at + 4);
	if (cap->id == PCI_EXT_CAP_ID_AER)
		nic.aer = Aer{pci_read_long(dev, at + 4), pci_read_long(dev, at + 8), pci_read_long(dev, at + 16),
			      pci_read_long(dev, at + 20)};
}

void read_capabilities(pci_dev *dev, Nic &nic)
{
	for (const pci_cap *cap = dev->first_cap; cap; cap = cap->next) {
		bool extended = cap->type == PCI_CAP_EXTENDED;
		nic.capabilities.push_back({cap->id, cap->addr, extended, capability_name(cap->id, extended)});
		if (extended)
			read_extended(dev, cap, nic);
		else
			read_normal(dev, cap, nic);
	}
}

Nic describe(pci_dev *dev)
{
	Nic nic = {};
	nic.slot = format("%04x:%02x:%02x.%d", static_cast<unsigned>(dev->domain), dev->bus, dev->dev, dev->func);
	nic.sysfs = "/sys/bus/pci/devices/" + nic.slot;
	nic.vendor = dev->vendor_id;
	nic.device = dev->device_id;
	nic.revision = pci_read_byte(dev, PCI_REVISION_ID);
	nic.irq = dev->irq;
	nic.numa_node = dev->numa_node;
	unsigned command = pci_read_word(dev, PCI_COMMAND);
	nic.memory_enabled = command & PCI_COMMAND_MEMORY;
	nic.bus_master = command & PCI_COMMAND_MASTER;
	std::error_code error;
	nic.driver = std::filesystem::read_symlink(nic.sysfs + "/driver", error).filename();
	nic.gni_name = gni_device(nic.sysfs);
	read_bars(dev, nic);
	nic.capabilities_readable = whole_config_readable(nic.sysfs);
	if (nic.capabilities_readable)
		read_capabilities(dev, nic);
	return nic;
}

struct Cleanup {
	void operator()(pci_access *access) const { pci_cleanup(access); }
};

} // namespace

std::vector<Nic> find_nics(const std::string &slot)
{
	std::unique_ptr<pci_access, Cleanup> access(pci_alloc());
	/* The attribute is part of the type for one compiler and not for the other. */
	access->error = reinterpret_cast<decltype(access->error)>(library_error);
	access->warning = no_output;
	pci_init(access.get());
	pci_filter only = {};
	pci_filter_init(access.get(), &only);
	std::string text = slot; /* libpci wants it writable */
	if (const char *problem = slot.empty() ? nullptr : pci_filter_parse_slot(&only, text.data()))
		throw tools::UsageError(format("--slot=%s: %s", slot.c_str(), problem));
	pci_scan_bus(access.get());

	std::vector<Nic> nics;
	for (pci_dev *dev = access->devices; dev; dev = dev->next) {
		pci_fill_info(dev, PCI_FILL_IDENT | PCI_FILL_BASES | PCI_FILL_SIZES | PCI_FILL_IRQ |
					   PCI_FILL_NUMA_NODE | PCI_FILL_CAPS | PCI_FILL_EXT_CAPS);
		if (dev->vendor_id == ARIES_PCI_VENDOR && dev->device_id == ARIES_PCI_DEVICE &&
		    pci_filter_match(&only, dev))
			nics.push_back(describe(dev));
	}
	return nics;
}

std::string aer_text(uint32_t status, bool correctable)
{
	static const CapabilityName uncorrectable_bits[] = {{4, "DataLinkProtocol"},      {5, "SurpriseDown"},
							    {12, "PoisonedTLP"},          {13, "FlowControlProtocol"},
							    {14, "CompletionTimeout"},    {15, "CompleterAbort"},
							    {16, "UnexpectedCompletion"}, {17, "ReceiverOverflow"},
							    {18, "MalformedTLP"},         {19, "ECRC"},
							    {20, "UnsupportedRequest"},   {21, "ACSViolation"},
							    {22, "UncorrectableInternal"}};
	static const CapabilityName correctable_bits[] = {{0, "Receiver"},
							  {6, "BadTLP"},
							  {7, "BadDLLP"},
							  {8, "ReplayNumRollover"},
							  {12, "ReplayTimerTimeout"},
							  {13, "AdvisoryNonFatal"},
							  {14, "CorrectedInternal"}};
	std::string text;
	auto append = [&](const CapabilityName &bit) {
		if (status & 1u << bit.id)
			text += (text.empty() ? "" : " ") + std::string(bit.name);
	};
	if (correctable)
		for (const CapabilityName &bit : correctable_bits)
			append(bit);
	else
		for (const CapabilityName &bit : uncorrectable_bits)
			append(bit);
	return text.empty() ? "none" : text;
}

} // namespace info
