# SPDX-License-Identifier: GPL-2.0-or-later
"""The memories with ECC: one list in the code, one table in the device's specification."""

import re
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


class RasTable(unittest.TestCase):
    def test_every_memory_has_its_row(self):
        header = (TOP / "driver/include/aries_hw.h").read_text()
        spec = (TOP / "Documentation/device-spec.md").read_text()
        names = header.split("#define ARIES_RAS_MEMORIES(X)")[1].split("\n\n")[0]
        code = re.findall(r'^\tX\([A-Z]+, (\w+), (\d+), "(\w+)", ".*"\)', names, re.M)
        table = re.findall(r"^\| (\d+) \| (\w+) \| (\d+) \| (\w+) \|", spec.split("### ECC of the memories")[1].split("### ")[0], re.M)
        self.assertTrue(code)
        self.assertEqual([(str(i), *row) for i, row in enumerate(code)], table)
