#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Turn device and patches into a series for QEMU's mailing list, as git format-patch makes it.

The source is the one that 'make qemu QEMU=10' has fetched. Result: .build/series, with the tree in .build/series/tree.
The author is git's, as for any commit. Exit status: 0 the patches are there and QEMU's checkpatch.pl finds no error in
them, 1 not.
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

from opengni import host
from opengni.arguments import Parser
from opengni.output import program
from opengni.writing import write_text

TOP = host.TOP
DEVICE = TOP / "qemu-device/qemu"
SERIES = TOP / "qemu-device/series"
PATCHES = TOP / "qemu-device/patches/10.0"
SOURCES = sorted(path.name for path in (*DEVICE.glob("aries-*.[ch]"), DEVICE / "trace-events") if path.name != "aries-compat.h")
PLACE = "hw/net/aries"

# What aries-compat.h stands for, in this one version of QEMU.
HEADERS = """#include "exec/address-spaces.h"
#include "exec/memory.h"
#include "exec/ramblock.h"
#include "hw/pci/pci_device.h"
#include "migration/blocker.h"
#include "system/hostmem.h"
#include "system/reset.h"
#include "system/runstate.h"
#include "system/system.h"
"""
MEANINGS = (
    ('#include "aries-compat.h"\n', HEADERS),
    ("aries_block_migration(&s->blocker, errp)", "migrate_add_blocker(&s->blocker, errp) == 0"),
    ("aries_unblock_migration(", "migrate_del_blocker("),
    ("AriesClassData *data", "void *data"),
    ("iothread lock", "BQL"),
    ("Iothread lock", "BQL"),
)

DEVICE_MESSAGE = """hw/net: Aries NIC of Cray XC machines

The NIC with its slice of the router as a PCI Express function. What it does is
in the library aries-model, which pkg-config finds; without it the device is
not built. These files connect it to PCI, guest memory, interrupts, AER, QOM
properties and tracing.

Accesses to the register space and to the FMA windows run without the BQL: the
library does its own locking and never waits for the BQL. An interrupt is marked
by the library and delivered when it has returned.
"""
EXTRAS_MESSAGE = """hw/net: documentation and a smoke test of aries-nic

The library has tests of its own for what the NIC does.
"""


class SeriesError(Exception):
    """Why there is no series."""


def run(*command, cwd=None, text=""):
    """Output of a command that has to succeed."""
    try:
        done = subprocess.run(command, cwd=cwd, input=text, capture_output=True, text=True, check=False)
    except OSError as error:
        raise SeriesError(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        raise SeriesError(f"{' '.join(map(str, command[:3]))} failed: {(done.stderr or done.stdout).strip()[-400:]}")
    return done.stdout


def replace(path, old, new):
    """Exchange a piece of text that is there once."""
    text = path.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise SeriesError(f"{path} is not as expected: it has {old.strip()!r} {text.count(old)} times")
    write_text(path, text.replace(old, new))


class Series:
    """A git tree of QEMU's source, and the commits on top of it."""

    def __init__(self, out):
        self.out = out
        self.tree = out / "tree"
        self.base = ""

    def git(self, *arguments, text=""):
        """Output of a git command in the tree."""
        return run("git", *arguments, cwd=self.tree, text=text)

    def author(self):
        """Name and address, as git has them."""
        return re.sub(r" \d+ [+-]\d+$", "", run("git", "var", "GIT_AUTHOR_IDENT", cwd=TOP).strip())

    def unpack(self):
        """The source as Debian has it, in its first commit."""
        found = sorted((host.BUILD / "qemu-10/download").glob("qemu_10.0*.dsc"))
        if not found:
            raise SeriesError("QEMU 10's source is missing: run 'make qemu QEMU=10'")
        if self.restored(found[-1]):
            return
        shutil.rmtree(self.out, ignore_errors=True)
        self.out.mkdir(parents=True)
        run("dpkg-source", "--no-copy", "-x", str(found[-1]), str(self.tree))
        self.base = "QEMU " + (self.tree / "VERSION").read_text(encoding="ascii").strip()
        self.git("init", "--quiet")
        for name in ("user.name", "user.email"):
            self.git("config", name, run("git", "config", name, cwd=TOP).strip())
        self.commit(f"{self.base}\n")
        self.git("tag", "base")
        write_text(self.out / "source", str(found[-1]))

    def restored(self, source):
        """Whether the tree of an earlier call is as it was unpacked again."""
        stamp = self.out / "source"
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != str(source):
            return False
        for path in self.out.glob("*.patch"):
            path.unlink()
        self.git("reset", "--quiet", "--hard", "base")
        self.git("clean", "--quiet", "-dfx")
        self.base = "QEMU " + (self.tree / "VERSION").read_text(encoding="ascii").strip()
        return True

    def commit(self, message):
        """All changes as one commit, signed off."""
        self.git("add", "--all", "--force")
        self.git("commit", "--quiet", "--signoff", "--file=-", text=message)

    def core(self):
        """A commit for each of our patches."""
        for path in sorted(PATCHES.glob("*.patch")):
            head = path.read_text(encoding="utf-8").split("\n---\n")[0]
            subject = re.search(r"^Subject: \[PATCH\] (.*)$", head, re.M)
            if not subject:
                raise SeriesError(f"{path} has no subject")
            body = head.split("\n\n", 1)[1].split("\n\nThe SPDX tag of ")[0]
            self.git("apply", str(path))
            self.commit(f"{subject[1]}\n\n{body}\n")

    def device(self):
        """The device as a part of QEMU."""
        place = self.tree / PLACE
        place.mkdir()
        for name in SOURCES:
            text = (DEVICE / name).read_text(encoding="utf-8")
            for old, new in MEANINGS:
                text = text.replace(old, new)
            if re.search(r"aries-compat|QEMU_VERSION", text):
                raise SeriesError(f"{DEVICE / name} has something of aries-compat.h that this script does not know")
            write_text(place / name, re.sub(r"^/\*\*$", "/*", re.sub(r"/\*\* (.*\*/)$", r"/* \1", text, flags=re.M), flags=re.M))
        shutil.copy(SERIES / "trace.h", place / "trace.h")
        files = ",\n".join(f"    '{name}'" for name in SOURCES if name.endswith(".c"))
        write_text(place / "meson.build", (SERIES / "meson.build").read_text(encoding="utf-8").replace("@FILES@", files))
        self.form(place)
        self.hooks()
        self.commit(DEVICE_MESSAGE)

    def form(self, place):
        """QEMU's form: lines of 80 columns, comments of more than one line that begin and end with lines of their own."""
        shutil.copy(SERIES / ".clang-format", place / ".clang-format")
        for path in sorted(place.glob("*.[ch]")):
            run("clang-format", "-i", str(path))
            lines = path.read_text(encoding="utf-8")
            lines = re.sub(r"^( *)/\* ((?:(?!\*/)[\s\S])*?) \*/$", self._comment, lines, flags=re.M)
            lines = re.sub(r" =\n( +)\{\"", r' = {\n\1"', lines)
            write_text(path, lines)
        (place / ".clang-format").unlink()

    @staticmethod
    def _comment(match):
        if "\n" not in match[2]:
            return match[0]
        body = [line.strip().lstrip("*").strip() for line in match[2].split("\n")]
        return "\n".join([f"{match[1]}/*", *(f"{match[1]} * {line}".rstrip() for line in body), f"{match[1]} */"])

    def hooks(self):
        """Lines in QEMU's own files."""
        tree = self.tree
        with open(tree / "hw/net/meson.build", "a", encoding="utf-8") as file:
            file.write("subdir('aries')\n")
        with open(tree / "hw/net/Kconfig", "a", encoding="utf-8") as file:
            file.write("\nconfig ARIES_NIC\n    bool\n    default y if PCI_DEVICES\n    depends on PCI_EXPRESS && MSI_NONBROKEN && LINUX\n")
        replace(tree / "meson.build", "    'hw/net',\n", "    'hw/net',\n    'hw/net/aries',\n")
        replace(tree / "meson.build", "usbredir = not_found\n",
                "aries_model = not_found\nif not get_option('aries_model').auto() or have_system\n"
                "  aries_model = dependency('aries-model', required: get_option('aries_model'),\n"
                "                           method: 'pkg-config')\nendif\nusbredir = not_found\n")
        replace(tree / "meson.build", "summary_info += {'libcbor support':   libcbor}\n",
                "summary_info += {'libcbor support':   libcbor}\nsummary_info += {'Aries NIC support': aries_model}\n")
        replace(tree / "meson_options.txt", "option('usb_redir', type",
                "option('aries_model', type : 'feature', value : 'auto',\n       description: 'Aries NIC (libaries-model)')\noption('usb_redir', type")
        options = tree / "scripts/meson-buildoptions.sh"
        line = "  printf \"%s\\n\" '  alsa            ALSA sound support'\n"
        replace(options, line, line + "  printf \"%s\\n\" '  aries-model     Aries NIC (libaries-model)'\n")
        line = '    --disable-alsa) printf "%s" -Dalsa=disabled ;;\n'
        replace(options, line, line + '    --enable-aries-model) printf "%s" -Daries_model=enabled ;;\n'
                '    --disable-aries-model) printf "%s" -Daries_model=disabled ;;\n')
        entry = (SERIES / "MAINTAINERS").read_text(encoding="utf-8").replace("@AUTHOR@", self.author())
        replace(tree / "MAINTAINERS", "\ne1000x\n", f"\n{entry}e1000x\n")

    def extras(self):
        """Documentation and test."""
        tree = self.tree
        shutil.copy(SERIES / "aries-nic.rst", tree / "docs/system/devices/aries-nic.rst")
        replace(tree / "docs/system/device-emulation.rst", "   devices/can.rst\n", "   devices/aries-nic.rst\n   devices/can.rst\n")
        shutil.copy(SERIES / "aries-nic-test.c", tree / "tests/qtest/aries-nic-test.c")
        entry = f"F: {PLACE}/\n"
        replace(tree / "MAINTAINERS", entry, entry + "F: docs/system/devices/aries-nic.rst\nF: tests/qtest/aries-nic-test.c\n")
        line = "  (config_all_devices.has_key('CONFIG_RTL8139_PCI') ? ['rtl8139-test'] : []) +              \\\n"
        path = tree / "tests/qtest/meson.build"
        first = path.read_text(encoding="utf-8").index(line, path.read_text(encoding="utf-8").index("qtests_i386"))
        text = path.read_text(encoding="utf-8")
        write_text(path, text[:first] + "  (aries_model.found() and                                                                  \\\n"
                   "   config_all_devices.has_key('CONFIG_ARIES_NIC') ? ['aries-nic-test'] : []) +              \\\n" + text[first:], encoding="utf-8")
        self.commit(EXTRAS_MESSAGE)

    def write(self):
        """The patches, with a cover letter; their paths."""
        cover = (SERIES / "cover-letter.txt").read_text(encoding="utf-8").replace("@BASE@", self.base)
        subject, body = cover.split("\n\n", 1)
        names = self.git("format-patch", "--rfc", "--cover-letter", "--base=base", "--output-directory", str(self.out), "base").split()
        paths = [Path(name) for name in names]
        text = paths[0].read_text(encoding="utf-8")
        text = text.replace("*** SUBJECT HERE ***", subject.removeprefix("[RFC] ")).replace("*** BLURB HERE ***", body.rstrip())
        write_text(paths[0], text)
        return paths

    def check(self, paths):
        """What QEMU's checkpatch.pl says: (errors, warnings, its words)."""
        done = subprocess.run(["perl", "scripts/checkpatch.pl", "--no-color", *map(str, paths[1:])], cwd=self.tree, capture_output=True, text=True,
                              check=False)
        write_text(self.out / "checkpatch.log", done.stdout + done.stderr)
        counts = re.findall(r"^total: (\d+) errors?, (\d+) warnings?", done.stdout, re.M)
        if len(counts) != len(paths) - 1:
            raise SeriesError(f"checkpatch.pl did not get through: {(done.stderr or done.stdout).strip()[-300:]}")
        return sum(int(errors) for errors, _ in counts), sum(int(warnings) for _, warnings in counts)


def main():
    """Make it, say what it is."""
    Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    series = Series(host.BUILD / "series")
    try:
        series.unpack()
        series.core()
        series.device()
        series.extras()
        paths = series.write()
        errors, warnings = series.check(paths)
    except (SeriesError, OSError) as error:
        print(f"qemu-series.py: {error}", file=sys.stderr)
        return 1
    print("\n".join(str(path) for path in paths))
    print(f"checkpatch.pl: {errors} errors, {warnings} warnings ({series.out / 'checkpatch.log'})")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(program(main))
