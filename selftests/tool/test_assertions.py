# SPDX-License-Identifier: GPL-2.0-or-later
"""Assertions of the kernel's test harness stand in braces: without them a failure does not end the loop around it."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from opengni import host

CHECK = host.TOP / "scripts" / "check-assertions.py"
BARE = {
    "for (i = 0; i < 3; i++)\n\t\tASSERT_EQ(0, i);": 2,
    "if (a &&\n\t    b)\n\t\tEXPECT_TRUE(c);": 3,
    "if (a) {\n\t\tb();\n\t} else\n\t\tASSERT_NE(a,\n\t\t\t  b);": 4,
}
GOOD = ("for (i = 0; i < 3; i++) {\n\t\tASSERT_EQ(0, i);\n\t}", "if (a)\n\t\tb();\n\tASSERT_EQ(0, i);", "x = a +\n\t\tb;\n\tEXPECT_EQ(x, 3);",
        "for (;;)\n\t\tstep();\n\n\tEXPECT_EQ(x, 3);", "case 3:\n\t\tASSERT_EQ(0, i);")


class Assertions(unittest.TestCase):
    def check(self, *files):
        return subprocess.run([CHECK, *files], capture_output=True, text=True, check=False)

    def test_all_of_the_guest_tests(self):
        files = sorted((host.TOP / "selftests").rglob("*.[ch]"))
        self.assertGreater(len(files), 50)
        result = self.check(*files)
        self.assertEqual((result.returncode, result.stdout), (0, ""))

    def test_what_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "one.c"
            for text, line in BARE.items():
                file.write_text(f"\t{text}\n")
                result = self.check(file)
                self.assertEqual(result.returncode, 1, text)
                self.assertTrue(result.stdout.startswith(f"{file}:{line}: "), result.stdout)
            for text in GOOD:
                file.write_text(f"\t{text}\n")
                self.assertEqual(self.check(file).stdout, "", text)
