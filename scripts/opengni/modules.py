# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of kernel modules: what they say of themselves, and the order in which they are loaded."""

import os
import struct
from dataclasses import dataclass
from pathlib import Path

from .errors import ConfigError

_HEADER = struct.Struct("<4sBB10xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_RELOCATABLE, _X86_64 = 1, 62
_NOTE_HEAD = 16  # three lengths and "GNU\0"


def in_kernel(name):
    """A module's name as the kernel has it: files may have a dash in place of an underscore."""
    return name.replace("-", "_")


@dataclass(frozen=True)
class Module:
    """A file of a module. depends: the modules that must be loaded before it; release: the kernel that it was built for; build: its
    build ID, which the kernel shows of a module that is loaded, too."""

    path: Path
    name: str
    depends: tuple
    release: str
    build: str


def _sections(data):
    """Contents of the sections of an object file by their names; struct.error, IndexError or ValueError if it is none for amd64."""
    magic, bits, order, kind, machine, _, _, _, table, _, _, _, _, size, count, names = _HEADER.unpack_from(data)
    if (magic, bits, order, kind, machine, size) != (b"\x7fELF", 2, 1, _RELOCATABLE, _X86_64, _SECTION.size):
        raise ValueError("no object file for amd64")
    heads = [_SECTION.unpack_from(data, table + number * size) for number in range(count)]
    texts = data[heads[names][4]:heads[names][4] + heads[names][5]]
    return {texts[head[0]:].split(b"\0", 1)[0].decode(): data[head[4]:head[4] + head[5]] for head in heads}


def read(path):
    """The Module in a file. ConfigError if it cannot be read or is none."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ConfigError(f"module {path}: {error.strerror}") from None
    try:
        sections = _sections(data)
        pairs = [line.partition("=")[::2] for line in sections[".modinfo"].decode("utf-8", "replace").split("\0")]
    except (struct.error, IndexError, KeyError, ValueError, OverflowError):
        raise ConfigError(f"{path} is no kernel module for amd64") from None
    said = dict(pairs)
    depends = tuple(in_kernel(name) for name in said.get("depends", "").split(",") if name)
    return Module(Path(path), in_kernel(said.get("name") or Path(path).stem), depends, (said.get("vermagic", "").split() or [""])[0],
                  sections.get(".note.gnu.build-id", b"")[_NOTE_HEAD:].hex())


def below(*folders):
    """Modules in these folders and those below them, by name; of two of one name the newer file counts."""
    paths = [path for folder in folders for path in Path(folder).rglob("*.ko")]
    return {module.name: module for module in map(read, sorted(paths, key=os.path.getmtime))}


def in_order(wanted, known):
    """Names so that each comes behind those that it needs, as far as they are wanted, too. known: Modules by name."""
    order = []

    def add(name, above=()):
        if name in above:
            raise ConfigError(f"modules need each other: {' '.join((*above, name))}")
        for needed in sorted(known[name].depends) if name in known else ():
            add(needed, (*above, name))
        if name in wanted and name not in order:
            order.append(name)

    for name in sorted(wanted):
        add(name)
    return order


def needing(names, known):
    """The names, and all known modules that need one of them, directly or not."""
    found, new = set(), set(names)
    while new:
        found |= new
        new = {module.name for module in known.values() if found & set(module.depends)} - found
    return found


def needed_by(names, known):
    """The known modules that these need, directly or not."""
    found, new = set(), set(names)
    while new:
        found |= new
        new = {needed for name in new if name in known for needed in known[name].depends if needed in known} - found
    return found - set(names)
