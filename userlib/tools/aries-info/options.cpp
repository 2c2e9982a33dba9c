// SPDX-License-Identifier: BSD-2-Clause
// Copyright (c) 2026 The OpenGNI authors
#include "options.h"

#include <sstream>

#include "common/command_line.h"
#include "common/failure.h"
#include "registers.h"

namespace info
{

namespace
{

constexpr const char *about =
	"Lists the Aries NICs of this machine: PCI link, capabilities, BARs, MSI-X, serial\n"
	"number, error status. Dumps their registers by name. Needs no driver: it reads PCI\n"
	"configuration space and maps BAR 0; with the driver bound, registers come from its file\n"
	"in debugfs.";

constexpr const char *footer =
	"Ordinary users see identity, BARs and driver; link and capabilities need CAP_SYS_ADMIN,\n"
	"registers need root.\n"
	"\n"
	"Exit status: 0 done, 1 no Aries NIC (at this slot), 2 the command line is wrong,\n"
	"3 something could not be read: no rights, memory decoding off, or the NIC is gone.";

void split_names(const std::string &text, std::vector<std::string> &names)
{
	std::istringstream stream(text);
	for (std::string word; std::getline(stream, word, ',');) {
		if (!selects_something(word))
			throw tools::UsageError(
				tools::format("no register, block or element '%s'; see --list", word.c_str()));
		names.push_back(word);
	}
}

} // namespace

Options parse_options(int argc, char **argv)
{
	tools::CommandLine line("aries-info", about, {}, footer);
	Options o;

	line.text({"-s,--slot", "SLOT", "only the NIC at this slot, as lspci -s takes it: 0000:00:04.0, 00:04, 4.0"},
		  o.slot);
	line.option_or_none(
		{"-r,--registers", "[LIST]",
		 "dumps registers; LIST holds names of registers (CTL_STATUS), of blocks (CQ) or of single\n"
		 "elements (CQ_CTL[5]), comma-separated. Elements of arrays are shown when they differ from\n"
		 "their reset value. Registers whose reading has a side effect, and those that can only be\n"
		 "written, are never read"},
		[&](const std::string &list) {
			o.registers = true;
			split_names(list, o.names);
		});
	line.flag("-a,--all-elements", "shows all elements of arrays", o.all_elements);
	line.flag("-e,--enable",
		  "switches memory decoding on while registers are read, if it is off (no driver bound);\n"
		  "off again afterwards",
		  o.enable);
	line.flag("-l,--list", "prints names and meaning of all registers; reads no device", o.list);
	line.flag("--json", "prints JSON", o.json);
	o.done = !line.parse(argc, argv);
	return o;
}

} // namespace info
