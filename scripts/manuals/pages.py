# SPDX-License-Identifier: GPL-2.0-or-later
"""Manual pages as Markdown: what is written in Documentation/man, with what is known elsewhere in place of comments.

    <!-- help: PROGRAM -->          synopsis, sentences, options, environment and exit status from --help
    <!-- section: PAGE.md: TITLE -->   a section of another page, without its title
    <!-- properties -->             of aries-nic, as QEMU tells them
    <!-- parameters: FOLDER -->     of the modules that are built from a folder
    <!-- counters -->               of a NIC, from the table of driver and device
"""

import re
import subprocess

from opengni import host

from . import usage

DOCUMENTATION = host.TOP / "Documentation"
SOURCE = DOCUMENTATION / "man"
OTHER_NAMES = {"aries-sim-mpi": "aries-sim"}  # programs that have another one's page
QEMU = host.BUILD / "qemu/bin/qemu-system-x86_64"
COMMENT = re.compile(r"^<!-- (help|section|properties|parameters|counters)(?:: (.*?))? -->$", re.M)
COMMON = ("Options", "Arguments", "Arguments and options")
TITLE = re.compile(r"# ([\w.-]+)\((\d)\): (.+)")
OUTSIDE = r"\[([^\]]*)\]\((?:\.\./){%d}[^)]*\)"  # a link from Documentation, or from a folder in it, to another folder
OF_ALL_DEVICES = re.compile(r"acpi-index|addr|failover_pair_id|multifunction|rombar|romfile|romsize|x-.*")


class PageError(Exception):
    """What is wrong with a page; one line."""


def sources():
    """Path of each page by (name, section)."""
    found = {}
    for path in sorted(SOURCE.glob("*.md")):
        name, section = path.stem.rsplit(".", 1)
        found[name, section] = path
    return found


def head(path):
    """Name, section and what it is in a line, from the title of a page."""
    for line in path.read_text(encoding="utf-8").split("\n"):
        found = TITLE.fullmatch(line)
        if found:
            if f"{found[1]}.{found[2]}" != path.stem:
                raise PageError(f"{path.name}: its title names {found[1]}({found[2]})")
            return found.groups()
    raise PageError(f"{path.name}: no title such as '# name(1): what it is'")


def text(path):
    """A page in full."""
    makers = {"help": help_of, "section": section_of, "parameters": parameters, "properties": lambda _: properties(),
              "counters": lambda _: counters()}
    return COMMENT.sub(lambda found: makers[found[1]](found[2]), path.read_text(encoding="utf-8"))


def written():
    """Pages of Documentation that are no manual pages."""
    return sorted([*DOCUMENTATION.glob("*.md"), *DOCUMENTATION.glob("design/*.md")])


def inside(words, depth=0):
    """A page that is @depth folders below Documentation, without links out of that folder, of which Sphinx knows nothing: their words stay."""
    return re.sub(OUTSIDE % (depth + 1), r"\1", words)


def staged():
    """Place below Documentation and text for Sphinx of all of them."""
    for path in written():
        place = path.relative_to(DOCUMENTATION)
        yield place, inside(path.read_text(encoding="utf-8"), len(place.parts) - 1)


def plain(words):
    """Words that mean themselves in Markdown; what stands in backquotes already stays."""
    parts = words.split("`")
    if len(parts) % 2 == 0:
        parts = [words.replace("`", "'")]
    return "`".join(part if number % 2 else re.sub(r"([\\*_\[\]<>|#{}$~])", r"\\\1", part) for number, part in enumerate(parts))


def names(words):
    """Names of an option: itself in bold."""
    return re.sub(r"(?<![\w-])(--?[A-Za-z][\w-]*)", r"**\1**", plain(words)).replace("\\_", "_")


def definitions(entries):
    """Entries as a list of definitions."""
    lines = []
    for entry in entries:
        bold = names(entry.names) if entry.names.startswith("-") else f"**{plain(entry.names)}**"
        lines += [bold, f": {plain(entry.text) or 'See the description.'}", ""]
        lines += [f"  - *{plain(nested.names)}*: {plain(nested.text)}" for nested in entry.nested] + [""] * bool(entry.nested)
    return lines


def _sections(known, level):
    lines, under = [], False
    for section in known.sections:
        if section.title == "Operations" and known.operations:
            continue
        group = any(entry.options() for entry in section.entries) and section.title not in COMMON
        if group and not under:
            lines += [f"{level} Options", ""]
        under = group
        lines += [f"{level}# {section.title}" if group else f"{level} {section.title}", ""]
        if section.verbatim:
            lines += [*(f"    {line}" for line in section.verbatim), ""]
        else:
            lines += definitions(section.entries)
    return lines


def help_of(program):
    """What a program tells of itself, as sections."""
    known = usage.read(program)
    lines = ["## Synopsis", "", *(f"    {line}" for line in known.synopsis), ""]
    about = [sentence for paragraph in known.about for sentence in re.split(r" (?=Exit status: )", paragraph)]
    ends = {"Environment": [], "Exit status": []}
    if about:
        lines += ["## Description", ""]
    for paragraph in about:
        title = next((title for title in ends if paragraph.startswith(title)), None)
        if title:
            ends[title].append(re.sub(rf"^{title}(, | ?: )?", "", paragraph).strip())
        else:
            lines += [plain(paragraph), ""]
    lines += _sections(known, "##")
    for entry in known.entries(title="Operations"):
        operation = known.operations.get(entry.names.split()[0])
        if operation:
            lines += _operation(entry, operation)
    for title, paragraphs in ends.items():
        if paragraphs:
            lines += [f"## {title}", "", *(plain(paragraph[0].upper() + paragraph[1:]) + "\n" for paragraph in paragraphs)]
    return "\n".join(lines)


def _operation(entry, known):
    what = plain(entry.text[0].upper() + entry.text[1:] + ".")
    lines = [f"## Operation {entry.names}", "", *(f"    {line}" for line in known.synopsis), "", what, ""]
    entries = [one for one in known.entries() if "--help" not in one.options()]
    return lines + definitions(entries)


def section_of(reference):
    """A section of a page of Documentation; links in it lead there."""
    page, _, title = reference.partition(": ")
    lines, level, fenced = [], 0, False
    for line in (DOCUMENTATION / page).read_text(encoding="utf-8").split("\n"):
        fenced ^= line.startswith("```")
        found = re.match(r"(#+) (.*)", line) if not fenced else None
        if found and level and len(found[1]) <= level:
            break
        if level:
            lines.append(re.sub(r"\]\((?!http)([\w./-]+)", r"](../\1", line))
        elif found and found[2] == title:
            level = len(found[1])
    if not level:
        raise PageError(f"{page} has no section '{title}'")
    return "\n".join(_listed(lines)).strip("\n")


def _listed(lines):
    """Tables as lists of definitions: a terminal is not wide enough for them."""
    heads, listed = [], []
    for line in lines:
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] if line.startswith("|") else []
        if not cells:
            heads = []
            listed.append(line)
        elif not heads:
            heads = cells
        elif not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            rest = [f"{head}: {cell}" if number else cell for number, (head, cell) in enumerate(zip(heads[1:], cells[1:])) if cell]
            listed += [cells[0] if cells[0].startswith("`") else f"**{cells[0]}**", ": " + ("; ".join(rest) or "\\-"), ""]
    return listed


def properties():
    """Properties of the device, as -device aries-nic,help tells them."""
    try:
        told = subprocess.run([QEMU, "-device", "aries-nic,help"], capture_output=True, check=True, text=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise PageError(f"properties of aries-nic: {error} (make qemu builds it)") from None
    lines = []
    for name, kind, what in re.findall(r"^  ([\w-]+)=<(\w+)> *(?:- (.*))?$", told, re.M):
        if not OF_ALL_DEVICES.fullmatch(name):
            lines += [f"**{name}**=*{kind}*", f": {plain(what)}", ""]
    if not lines:
        raise PageError("QEMU names no property of aries-nic")
    return "\n".join(lines)


def parameters(folder):
    """Parameters of modules, as modinfo tells them."""
    lines = []
    for path in sorted((host.TOP / folder).glob("*.c")):
        for name, words in re.findall(r'MODULE_PARM_DESC\((\w+),\s*((?:"[^"]*"\s*)+)\)', path.read_text(encoding="utf-8")):
            lines += [f"**{name}**", ": " + plain("".join(re.findall(r'"([^"]*)"', words))), ""]
    if not lines:
        raise PageError(f"no module in {folder} has parameters")
    return "\n".join(lines)


def counters():
    """Counters of a NIC as properties, from the table that driver and device share."""
    header = (host.TOP / "driver/include/aries_hw.h").read_text(encoding="utf-8")
    table = re.search(r"#define ARIES_COUNTERS\(X\)(.*?)\n\n", header, re.S)
    rows = re.findall(r"X\(\w+,\s*(\w+),\s*((?:\"[^\"]*\"[\s\\]*)+)\)", table[1]) if table else []
    if not rows:
        raise PageError("no table of counters in driver/include/aries_hw.h")
    lines = []
    for name, words in rows:
        lines += [f"**counter-{name.replace('_', '-')}**", ": " + plain("".join(re.findall(r'"([^"]*)"', words))), ""]
    return "\n".join(lines)


def index():
    """The page that lists all manual pages, by section."""
    titles = {"1": "Programs", "4": "Devices", "5": "Files", "7": "Overviews", "8": "For administrators and launchers"}
    lines = ["# Manual pages", "", "Functions are described [here](api/gni.rst).", ""]
    for section, title in titles.items():
        lines += [f"## {title}", ""]
        lines += [f"- [{name}({section})](man/{path.name}): {head(path)[2]}" for (name, of), path in sources().items() if of == section]
        lines.append("")
    return "\n".join([*lines, "```{toctree}", ":hidden:", "", *(f"man/{path.stem}" for path in sources().values()), "```", ""])
