# SPDX-License-Identifier: GPL-2.0-or-later
"""Documentation/port-a-client.md, done: programs are built in each way that the page shows, against an installation."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from opengni import host

PAGE = (host.TOP / "Documentation/port-a-client.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?:^`(\w+)`:\n\n)?^```sh\n(.*?)^```$", re.M | re.S)
NODES = host.TOP / "selftests/node/nodes.c"
FIRST_PUT = host.TOP / "userlib/examples/first-put.c"
PREFIX = "/usr/local"  # that of the other tests that install: another one would be built anew
INSTALL = "P=/opt/opengni\nmake install prefix=$P\n"
# The program runs, with our libraries, and finds that it is no job of two
REFUSED = "start it with aprun -n 2"


class PortAClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="opengni-port-"))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        subprocess.run([host.TOP / "scripts/install.sh", cls.root, PREFIX], check=True, stdout=subprocess.DEVNULL)
        (cls.root / "bin").mkdir()
        cls.commands = ""
        for name, text in BLOCK.findall(PAGE):
            if name:
                (cls.root / "bin" / name).write_text(text, encoding="utf-8")
                (cls.root / "bin" / name).chmod(0o755)
            else:
                cls.commands += text
        if INSTALL not in cls.commands:
            raise AssertionError(f"the page does not say: {INSTALL}")
        # it is installed already, and not into the root of this machine
        cls.commands = cls.commands.replace(INSTALL, f"P={cls.root}{PREFIX}\n")

    def sh(self, command):
        """A command after those of the page, in the folder of the wrappers."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("CRAY", "PMI_", "OPENGNI_", "PKG_CONFIG"))}
        environment |= {"PKG_CONFIG_SYSROOT_DIR": str(self.root), "PATH": f"{self.root}/bin:{os.environ['PATH']}",
                        "LD_LIBRARY_PATH": f"{self.root}{PREFIX}/lib"}
        result = subprocess.run(["bash", "-c", f"set -e\n{self.commands}{command}"], cwd=self.root, env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout)
        return result.stdout

    def runs(self, program):
        self.assertIn(REFUSED, self.sh(f"./{program} || [ $? = 1 ]"))
        self.assertIn(f"{self.root}{PREFIX}/lib/libugni.so.0", self.sh(f"ldd ./{program}"))

    def test_by_pkg_config(self):
        self.sh(f"gcc -Werror -o by-pkg-config {FIRST_PUT} $(pkg-config --cflags --libs cray-ugni cray-pmi)")
        self.runs("by-pkg-config")

    def test_every_module_of_the_table(self):
        names = [name.strip() for row in re.findall(r"^\| ((?:cray|lsb)-[^|]*)\|", PAGE, re.M) for name in row.split(",")]
        self.assertGreater(len(names), 8)
        for name in names:
            with self.subTest(name):
                self.sh(f"pkg-config --cflags --libs {name}")

    def test_by_variables(self):
        self.sh(f"[ $CRAYPE_NETWORK_TARGET = aries ] && [ -e $PMI_HOME/include/pmi.h ]\n"
                f"gcc -Werror -o by-variables {FIRST_PUT} $CRAY_UGNI_INCLUDE_OPTS $CRAY_PMI_INCLUDE_OPTS "
                "$CRAY_UGNI_POST_LINK_OPTS -lugni $CRAY_PMI_POST_LINK_OPTS -lpmi")
        self.runs("by-variables")

    def test_librca_by_variables(self):
        """It is built and runs, and finds that this machine is no node."""
        self.sh(f"gcc -std=c99 -Wall -Wextra -Werror -o by-rca {NODES} $CRAY_RCA_INCLUDE_OPTS $CRAY_RCA_POST_LINK_OPTS -lrca\n"
                "./by-rca || [ $? = 1 ]")
        self.assertIn(f"{self.root}{PREFIX}/lib/librca.so.0", self.sh("ldd ./by-rca"))

    def test_by_the_flags_of_configure_scripts(self):
        self.sh(f"${{CPP:-cpp}} $CPPFLAGS {FIRST_PUT} >/dev/null\n"
                f"gcc -Werror $CPPFLAGS $LDFLAGS -o by-configure {FIRST_PUT} -lugni -lpmi")
        self.runs("by-configure")

    def test_by_wrappers(self):
        self.sh(f"cc -Werror -o by-cc {FIRST_PUT}")
        self.runs("by-cc")
        (self.root / "main.cpp").write_text('#include <gni_pub.h>\n#include <pmi.h>\n#include <iostream>\nint main() '
                                            '{ int yes; PMI_Initialized(&yes); std::cout << gni_err_str[GNI_RC_NOT_DONE] << yes; }\n', encoding="ascii")
        self.sh("CC -Werror -o by-CC main.cpp")
        self.assertIn("NOT_DONE0", self.sh("./by-CC"))
