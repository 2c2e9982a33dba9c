# SPDX-License-Identifier: GPL-2.0-or-later
"""What a program's --help says, as data: of argparse, of CLI11, and of the texts of shell scripts and of gni-agent."""

import dataclasses
import os
import re
import subprocess

from opengni import host

SCRIPTS = host.TOP / "scripts"
STAGE = host.BUILD / "stage" / "usr"
WIDE = "2000"  # argparse breaks no line that is shorter

# Where programs are that people call; the names of the manual pages.
PROGRAMS = {
    "cluster": SCRIPTS / "cluster",
    "aprun": SCRIPTS / "aprun",
    "gni-perf": STAGE / "bin/gni-perf",
    "gni-chaos": STAGE / "bin/gni-chaos",
    "gni-isolation": STAGE / "bin/gni-isolation",
    "gni-domain": STAGE / "bin/gni-domain",
    "gni-info": STAGE / "bin/gni-info",
    "gni-trace": STAGE / "bin/gni-trace",
    "pmi-info": STAGE / "bin/pmi-info",
    "rca-helper": STAGE / "bin/rca-helper",
    "aries-info": STAGE / "bin/aries-info",
    "aries-topo": host.BUILD / "model/topo/aries-topo",
    "aries-net": host.BUILD / "model/net/aries-net",
    "aries-hss": host.BUILD / "model/hss/aries-hss",
    "aries-gateway": host.BUILD / "model/gateway/aries-gateway",
    "aries-sim": host.BUILD / "sim/aries-sim",
    "gni-agent": host.BUILD / "agent/gni-agent",
    "gni-kvs": host.BUILD / "agent/gni-agent",
}
CALLED = {"gni-kvs": ["kvs"]}  # a program under a name that it does not have here
TITLES = {"options": "Options", "positional arguments": "Arguments", "positionals": "Arguments", "subcommands": "Operations",
          "examples": "Examples"}
OPTION = re.compile(r"--?[A-Za-z][\w-]*")
NAMES_FOR = re.compile(r"Names for (--[\w-]+)")
ENTRY = re.compile(r"( +)(\S.*?)(?: {2,}(\S.*))?$")


class UsageError(Exception):
    """A program is not there or does not tell; one line."""


@dataclasses.dataclass
class Entry:
    """An option, an argument or an operation: its names as written, what it is, and what may be said in its place."""

    names: str
    text: str = ""
    nested: list = dataclasses.field(default_factory=list)

    def options(self):
        """The options among the names."""
        return OPTION.findall(self.names.split("  ")[0]) if self.names.startswith("-") else []


@dataclasses.dataclass
class Section:
    """Entries under a title, and sentences among them; verbatim: lines that keep their form."""

    title: str
    entries: list = dataclasses.field(default_factory=list)
    verbatim: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Usage:
    """The whole of a help text."""

    synopsis: list = dataclasses.field(default_factory=list)
    about: list = dataclasses.field(default_factory=list)
    sections: list = dataclasses.field(default_factory=list)
    operations: dict = dataclasses.field(default_factory=dict)

    def entries(self, *, title=""):
        """Entries of all sections, or of those with a title."""
        return [entry for section in self.sections for entry in section.entries if title in ("", section.title)]

    def options(self):
        """All options, sorted."""
        return sorted({option for entry in self.entries() for option in entry.options()})


def help_text(program, *operation):
    """What a program prints for --help."""
    path = PROGRAMS[program]
    environment = {**os.environ, "LD_LIBRARY_PATH": str(STAGE / "lib"), "COLUMNS": WIDE, "LC_ALL": "C.UTF-8"}
    for name in [name for name in environment if name.startswith("OPENGNI_") and name != "OPENGNI_BUILD"] + ["KERNEL", "QEMU"]:
        environment.pop(name, None)
    try:
        return subprocess.run([path, *CALLED.get(program, ()), *operation, "--help"], capture_output=True, check=True, text=True,
                              env=environment, stdin=subprocess.DEVNULL, timeout=60).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(f"{program} --help: {error} (make all builds it)") from None


def read(program):
    """Usage of a program with that of its operations."""
    usage = parse(help_text(program))
    for entry in usage.entries(title="Operations"):
        name = entry.names.split()[0]
        usage.operations[name] = parse(help_text(program, name))
    return usage


def parse(text):
    """Usage from a help text."""
    usage = Usage()
    section = None
    for block in _blocks(text):
        section = _take(usage, section, block)
    _nest(usage)
    usage.sections = [section for section in usage.sections if section.entries or section.verbatim]
    return usage


def _nest(usage):
    """Sections such as "Names for --tests" go to their option."""
    for section in list(usage.sections):
        found = NAMES_FOR.fullmatch(section.title)
        for entry in usage.entries() if found else ():
            if found[1] in entry.options():
                entry.nested = section.entries
                usage.sections.remove(section)


def _blocks(text):
    """Groups of lines between empty ones; CLI11 puts the usage below the first sentence, argparse some titles alone."""
    block = []
    for line in text.rstrip().expandtabs().split("\n"):
        head = line and not line.startswith(" ") and (line.lower().startswith("usage:") or line.rstrip().endswith(":"))
        if block and (not line.strip() or head):
            yield block
            block = []
        if line.strip():
            block.append(line.rstrip())
    if block:
        yield block


def _take(usage, section, block):
    """Adds a block to the usage; the section that is open afterwards."""
    first = block[0]
    if first.lower().startswith("usage:"):
        usage.synopsis += [_called(line) for line in [first[6:], *block[1:]]]
        return section
    if not first.startswith(" ") and first.endswith(":") and len(block) > 1 and block[1].startswith(" "):
        title = first[:-1]
        section = Section(TITLES.get(title.lower(), title[0].upper() + title[1:]))
        usage.sections.append(section)
        block = block[1:]
    elif not first.startswith(" ") and not ENTRY.match("  " + first)[3]:
        usage.about.append(" ".join(line.strip() for line in block))
        return None
    if section is None:
        section = Section("Options" if block[0].lstrip().startswith("-") else "Arguments and options")
        usage.sections.append(section)
    if section.title == "Examples":
        section.verbatim += [line.strip() for line in block]
    else:
        _entries(section, block)
    return section


def _entries(section, block):
    """Entries of a block: what is indented less, with what is indented more behind it."""
    for line in block:
        found = ENTRY.match("  " + line if not line.startswith(" ") else line)
        indent, names, text = len(found[1]), found[2], found[3]
        is_option = names.startswith("-")
        if section.entries and not is_option and indent >= 6:
            last = section.entries[-1]
            if text and indent < 12:
                last.nested.append(Entry(names, text))
            else:
                last.text = f"{last.text} {line.strip()}".strip()
        elif names == "OPERATION":
            section.title = "Operations"
        else:
            section.entries.append(Entry(names.replace(",--", ", --"), text or ""))


def _called(line):
    """A line of a synopsis with the program's name alone, and without a list of all options."""
    line = re.sub(r"^\s*(?:\S*/)?([\w.-]+)", r"\1", line.strip())
    line = re.sub(r"(?: \[-[^\[\]]*(?:\[[^\]]*\][^\[\]]*)?\])+", " [OPTION...]", line)
    return line.replace("[OPTIONS]", "[OPTION...]").replace("[options]", "[OPTION...]").replace("SUBCOMMAND", "OPERATION")
