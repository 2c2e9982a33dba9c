# SPDX-License-Identifier: GPL-2.0-or-later
"""gdb at the kernel of a node that runs: symbols of our modules where they are loaded, and of the kernel where there is a vmlinux."""

import asyncio
import contextlib
import os
import shutil
import sys
from pathlib import Path

from . import client, host
from .errors import ConfigError
from .properties import qmp
from .writing import write_text

# What gdb has to know of a module to find its data, too; read in the guest.
_SECTIONS = r"""
echo "release $(uname -r)"
sed -n 's/^\([0-9a-f]*\) T _text$/text \1/p' /proc/kallsyms
for module in /sys/module/*/sections; do
    name=${module%/sections}
    name=${name##*/}
    for section in .text .data .rodata .bss .init.text; do
        [ ! -r "$module/$section" ] || echo "module $name $section $(cat "$module/$section")"
    done
done
"""


def parse(text):
    """(release, address of the kernel, sections by module) of what a guest has said."""
    release, base, modules = "", 0, {}
    for kind, *words in (line.split() for line in text.splitlines() if line):
        if kind == "release":
            release = words[0]
        elif kind == "text":
            base = int(words[0], 16)
        elif kind == "module":
            modules.setdefault(words[0], {})[words[1]] = int(words[2], 16)
    return release, base, modules


def objects(release, modules, folders=()):
    """The file with symbols of each loaded module that was built here: path by name."""
    places = [*map(Path, folders), *(host.BUILD / f"{part}-{release}" for part in ("driver", "kgni"))]
    found = {}
    for place in places:
        for path in sorted(place.rglob("*.ko")) if place.is_dir() else ():
            found.setdefault(path.stem.replace("-", "_"), path)
    return {module: found[module] for module in modules if module in found}


def vmlinux(release, given=""):
    """The kernel's symbols: the file given, the one of the tree that KDIR= named, or Debian's debugging package; None."""
    if given:
        if not os.access(given, os.R_OK):
            raise ConfigError(f"vmlinux {given} cannot be read")
        return Path(given)
    own = host.BUILD / "kernel-own"
    places = [Path("/usr/lib/debug/boot") / f"vmlinux-{release}"]
    with contextlib.suppress(OSError):
        if (own / "release").read_text(encoding="ascii").strip() == release:
            places.insert(0, own / "vmlinux")
    return next((path for path in places if path.exists()), None)


def script(kernel, base, modules, files, socket):
    """Commands for gdb."""
    lines = ["set pagination off", "set confirm off", "set architecture i386:x86-64", f"directory {host.TOP}"]
    if kernel:
        lines += [f"file {kernel}", f"python import os; offset = {base:#x} - int(gdb.parse_and_eval('(unsigned long)&_text'))",
                  f"python gdb.execute('symbol-file {kernel} -o %#x' % (offset % 2**64)) if offset else None"]
    for module, path in files.items():
        sections = dict(modules[module])
        text = sections.pop(".text", 0)
        # that of the initialisation has been given back
        sections.pop(".init.text", None)
        more = "".join(f" -s {section} {address:#x}" for section, address in sections.items())
        lines.append(f"add-symbol-file {path} {text:#x}{more}")
    return "\n".join([*lines, f"target remote {socket}", ""])


def _serve(name, number, socket):
    """Have QEMU listen for a debugger; ConfigError if one is there."""
    ports = asyncio.run(qmp(name, number, "query-chardev"))
    port = next((port["filename"] for port in ports if port["label"] == "gdb"), None)
    if port is None:
        line = f"gdbserver unix:{socket},server=on,wait=off"
        said = asyncio.run(qmp(name, number, "human-monitor-command", {"command-line": line}))
        if not socket.exists():
            raise ConfigError(f"node {number}: QEMU opens no socket for gdb: {said.strip()}")
    elif not port.startswith("disconnected:"):
        raise ConfigError(f"node {number}: a debugger is attached already ({port})")


def session(name, number, given="", folders=(), more=()):
    """Become gdb; the node stands still as long as it is attached and not told to go on."""
    if not shutil.which("gdb"):
        raise ConfigError("gdb is missing: install package gdb")
    where = asyncio.run(client.call(name, {"op": "status"}))["nodes"][number]["host"]
    if where:
        raise ConfigError(f"node {number} runs on host {where}: gdb reaches machines of this host only")
    status, said, complaints = asyncio.run(client.run(name, number, ["/bin/sh", "-c", _SECTIONS]))
    if status:
        raise ConfigError(f"node {number} does not tell where its modules are: {complaints.strip()}")
    release, base, modules = parse(said)
    files = objects(release, modules, folders)
    if not files:
        print(f"no symbols: no module that is loaded on node {number} was built in {host.BUILD}; --modules names another folder", file=sys.stderr)
    folder = host.RUN / name
    socket = folder / f"node{number}.gdb"
    _serve(name, number, socket)
    commands = folder / f"node{number}.gdbinit"
    write_text(commands, script(vmlinux(release, given), base, modules, files, socket))
    os.execvp("gdb", ["gdb", "-q", "-x", str(commands), *more])
