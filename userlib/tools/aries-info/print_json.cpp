// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "print.h"

#include <iostream>

#include "common/failure.h"
#include "common/json.h"

namespace info
{

namespace
{

using tools::Json;

Json registers_json(const std::vector<Value> &values)
{
	Json out = Json::array();
	for (const Value &v : values) {
		Json fields = Json::object();
		for (const Field &field : v.reg->fields) {
			uint64_t mask = field.bits == 64 ? ~0ull : (1ull << field.bits) - 1;
			fields.set(field.name, v.value >> field.lsb & mask);
		}
		out.add({{"name", v.reg->name},
			 {"index", v.index},
			 {"offset", v.reg->offset + static_cast<uint64_t>(v.index) * v.reg->stride},
			 {"width", v.reg->width},
			 {"value", v.value},
			 {"fields", fields}});
	}
	return out;
}

void add_capabilities(const Nic &nic, Json &out)
{
	Json capabilities = Json::array();
	for (const Capability &c : nic.capabilities)
		capabilities.add({{"id", c.id}, {"position", c.position}, {"extended", c.extended}, {"name", c.name}});
	out.set("capabilities_readable", nic.capabilities_readable);
	out.set("capabilities", capabilities);
	if (nic.link)
		out.set("link", {{"generation", nic.link->generation},
				 {"width", nic.link->width},
				 {"max_generation", nic.link->max_generation},
				 {"max_width", nic.link->max_width}});
	if (nic.msix)
		out.set("msix", {{"vectors", nic.msix->vectors},
				 {"enabled", nic.msix->enabled},
				 {"masked", nic.msix->masked},
				 {"table_bar", nic.msix->table_bar},
				 {"table_offset", nic.msix->table_offset},
				 {"pba_bar", nic.msix->pba_bar},
				 {"pba_offset", nic.msix->pba_offset}});
	if (nic.aer)
		out.set("aer", {{"uncorrectable", nic.aer->uncorrectable},
				{"uncorrectable_mask", nic.aer->uncorrectable_mask},
				{"correctable", nic.aer->correctable},
				{"correctable_mask", nic.aer->correctable_mask}});
	if (nic.serial)
		out.set("serial", tools::format("%016llx", static_cast<unsigned long long>(*nic.serial)));
}

Json nic_json(const Nic &nic)
{
	Json bars = Json::array();
	for (const Bar &bar : nic.bars)
		bars.add({{"number", bar.number},
			  {"address", bar.address},
			  {"size", bar.size},
			  {"wide", bar.wide},
			  {"prefetchable", bar.prefetchable},
			  {"use", bar.use}});

	Json out = {{"slot", nic.slot},
		    {"vendor", nic.vendor},
		    {"device", nic.device},
		    {"revision", nic.revision},
		    {"driver", nic.driver},
		    {"gni_device", nic.gni_name},
		    {"irq", nic.irq},
		    {"numa_node", nic.numa_node},
		    {"memory_enabled", nic.memory_enabled},
		    {"bus_master", nic.bus_master},
		    {"bars", bars}};
	add_capabilities(nic, out);
	return out;
}

} // namespace

void print_json(const std::vector<Finding> &findings)
{
	Json out = Json::array();
	for (const Finding &finding : findings) {
		Json nic = nic_json(finding.nic);
		if (!finding.registers.empty())
			nic.set("registers", registers_json(finding.registers));
		if (!finding.error.empty())
			nic.set("error", finding.error);
		out.add(nic);
	}
	std::cout << out.text(2) << std::endl;
}

} // namespace info
