# SPDX-License-Identifier: GPL-2.0-or-later
"""Each header that is installed compiles alone, with what pkg-config says, from every set of parts that can be installed by itself."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from commands import run
from installation import INSTALL, RELEASE
from opengni import host

OBJECTS = Path(f"/lib/modules/{RELEASE}/build")
KERNEL = Path("include/opengni/kernel")


def parts():
    """Those that have headers, by what they put below the prefix."""
    text = (host.TOP / "scripts/install-parts.sh").read_text(encoding="utf-8")
    bodies = re.findall(r"^part_(\w+)\(\) (\{[^\n]*\}$|\{\n.*?^\})", text, re.M | re.S)
    return [name for name, body in bodies if "prefix/include" in body or "/stage/usr" in body]


class Headers(unittest.TestCase):
    def setUp(self):
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="opengni-headers-")))

    def stage(self, *names):
        """Headers of these parts alone, below /usr of a folder of their own."""
        place = self.root / "-".join(names)
        status, output = run(INSTALL, "--stage", place, "/usr", *names)
        self.assertEqual(status, 0, output)
        headers = sorted((place / "usr/include").rglob("*.h"))
        self.assertTrue(headers, names)
        self.assertEqual([path for path in headers if not path.exists()], [], "links that lead nowhere")
        return place / "usr", [path.relative_to(place / "usr") for path in headers]

    def flags(self, prefix, package):
        status, output = run("pkg-config", "--cflags", package, env={**os.environ, "PKG_CONFIG_LIBDIR": str(prefix / "lib/pkgconfig"),
                                                                     "PKG_CONFIG_SYSROOT_DIR": ""})
        self.assertEqual(status, 0, output)
        return output.split()

    def in_programs(self, prefix, headers):
        """C and C++; the flags are those that somebody has who was told the prefix alone."""
        for header in headers:
            name = header.relative_to("include")
            for language in ("c", "c++"):
                compiler = ["gcc", "-std=gnu99"] if language == "c" else ["g++", "-std=c++11"]
                result = subprocess.run([*compiler, "-Wall", "-Werror", "-fsyntax-only", f"-I{prefix}/include", "-x", language, "-"],
                                        input=f"#include <{name}>\n", capture_output=True, text=True, check=False)
                self.assertEqual(result.returncode, 0, f"{name} in {language}: {result.stderr}")

    def in_modules(self, prefix, headers):
        """One object for each header."""
        place = prefix.parent / "module"
        place.mkdir()
        objects = []
        for header in headers:
            objects.append(f"alone_{re.sub(r'[^a-z]', '_', str(header))}.o")
            (place / objects[-1]).with_suffix(".c").write_text(f"#include <{header.relative_to(KERNEL)}>\n", encoding="ascii")
        (place / "Kbuild").write_text(f"obj-m := {' '.join(objects)}\nccflags-y := $(GNICPPFLAGS)\n", encoding="ascii")
        status, output = run("make", "-C", OBJECTS, f"M={place}", f"GNICPPFLAGS={' '.join(self.flags(prefix, 'cray-gni'))}", *objects)
        self.assertEqual(status, 0, output)

    def test_each_part_by_itself(self):
        found = parts()
        self.assertEqual(set(found), {"userlib", "abi", "kernel_headers"}, "another part with headers: say below how they are used")
        for sets in (*((name,) for name in found), ("modules", "kernel_headers", "symbols"), tuple(found)):
            with self.subTest(sets):
                prefix, headers = self.stage(*sets)
                for_modules = [path for path in headers if path.is_relative_to(KERNEL)]
                self.in_programs(prefix, [path for path in headers if path not in for_modules])
                if for_modules:
                    self.in_modules(prefix, for_modules)
