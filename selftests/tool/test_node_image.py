# SPDX-License-Identifier: GPL-2.0-or-later
"""The file system of nodes: what each boot reads and unpacks is what a node needs."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from opengni import host

KERNEL = os.environ.get("KERNEL", "6.1")
IMAGE = host.BUILD / f"initramfs-{KERNEL}.cpio"


@unittest.skipUnless(IMAGE.exists(), f"{IMAGE} is missing: run 'make initramfs'")
class NodeImage(unittest.TestCase):
    """What is in the archive."""

    @classmethod
    def setUpClass(cls):
        """Unpack what the tests look at."""
        cls.root = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        with IMAGE.open("rb") as image:
            subprocess.run(["cpio", "-idmu", "--quiet", "--no-absolute-filenames", "etc/*", "lib/modules/*"], cwd=cls.root, stdin=image, check=True)

    def test_modules_have_no_debug_information(self):
        """Our modules have symbols, as traces of the kernel need them, and nothing for a debugger, which is five sixths of a module."""
        modules = list(self.root.glob("lib/modules/*/extra/*.ko"))
        self.assertIn("aries.ko", [module.name for module in modules])
        for module in modules:
            with self.subTest(module=module.name):
                sections = subprocess.run(["readelf", "-SW", module], stdout=subprocess.PIPE, text=True, check=True).stdout
                self.assertNotIn(".debug_", sections)
                self.assertIn(".symtab", sections)
