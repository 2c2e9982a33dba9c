// SPDX-License-Identifier: BSD-2-Clause
#include "options.h"

#include <getopt.h>

#include <cstdio>
#include <sstream>

#include "common/failure.h"
#include "common/place.h"
#include "common/version.h"
#include "registers.h"

namespace info
{

namespace
{

const char help_text[] = R"(usage: aries-info [options]

Lists the Aries NICs of this machine: PCI link, capabilities, BARs, MSI-X, serial
number, error status. Dumps their registers by name. Needs no driver: it reads PCI
configuration space and maps BAR 0; with the driver bound, registers come from its file
in debugfs.

  -s, --slot=SLOT         only the NIC at this slot, as in 0000:00:04.0
  -r, --registers[=LIST]  dumps registers; LIST holds names of registers (CTL_STATUS), of
                          blocks (CQ) or of single elements (CQ_CTL[5]), comma-separated.
                          Elements of arrays are shown when they differ from their reset
                          value. Registers whose reading has a side effect, and those that
                          can only be written, are never read
  -a, --all-elements      shows all elements of arrays
  -e, --enable            switches memory decoding on while registers are read, if it is off
                          (no driver bound); off again afterwards
  -l, --list              prints names and meaning of all registers; reads no device
      --json              prints JSON
  -h, --help              this text
  -V, --version           prints the version

Ordinary users see identity, BARs and driver; link and capabilities need CAP_SYS_ADMIN,
registers need root.

Exit status: 0 done, 1 no Aries NIC (at this slot), 2 the command line is wrong,
3 something could not be read: no rights, memory decoding off, or the NIC is gone.
)";

void split_names(const char *text, std::vector<std::string> &names)
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
	const option long_options[] = {{"slot", required_argument, nullptr, 's'},
				       {"registers", optional_argument, nullptr, 'r'},
				       {"all-elements", no_argument, nullptr, 'a'},
				       {"enable", no_argument, nullptr, 'e'},
				       {"list", no_argument, nullptr, 'l'},
				       {"json", no_argument, nullptr, 'J'},
				       {"help", no_argument, nullptr, 'h'},
				       {"version", no_argument, nullptr, 'V'},
				       {nullptr, 0, nullptr, 0}};
	Options o;
	for (int c; (c = tools::next_option(argc, argv, "s:r::aelhV", long_options)) != -1;) {
		switch (c) {
		case 's':
			o.slot = optarg;
			break;
		case 'r':
			o.registers = true;
			if (optarg)
				split_names(optarg, o.names);
			break;
		case 'a':
			o.all_elements = true;
			break;
		case 'e':
			o.enable = true;
			break;
		case 'J':
			o.json = true;
			break;
		case 'l':
			list_registers();
			o.done = true;
			break;
		case 'V':
			tools::print_version("aries-info");
			o.done = true;
			break;
		default:
			fputs(help_text, stdout);
			o.done = true;
		}
	}
	if (optind < argc)
		throw tools::UsageError(tools::format("'%s' is not an option; see --help", argv[optind]));
	return o;
}

} // namespace info
