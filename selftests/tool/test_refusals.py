# SPDX-License-Identifier: GPL-2.0-or-later
"""Each return of an error from libugni goes through what tells its cause (userlib/src/debug.hpp)."""

import pathlib
import re
import unittest

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "userlib" / "src"
TELLS = re.compile(r"\b(?:refuse|later|nothing|told|meaning|waited|no_device)\(")
STATEMENT = re.compile(r"\breturn\b[^;{]*;|(?<!const gni_return_t )\brc = [^;]*;")
COMPARED = re.compile(r"[=!]= GNI_RC_\w+")
ERROR = re.compile(r"\bGNI_RC_(?!SUCCESS\b)\w+")


def bare_errors(text):
    """Line numbers of statements that give an error code without a word."""
    return [text.count("\n", 0, found.start()) + 1
            for found in STATEMENT.finditer(text)
            if ERROR.search(COMPARED.sub("", found.group())) and not TELLS.search(found.group())]


class Refusals(unittest.TestCase):
    def test_no_error_is_returned_without_its_cause(self):
        for path in sorted(SOURCES.glob("*.[ch]pp")):
            with self.subTest(path.name):
                self.assertEqual(bare_errors(path.read_text(encoding="utf-8")), [])

    def test_what_is_found(self):
        self.assertEqual(bare_errors("if (!p)\n\treturn GNI_RC_INVALID_PARAM;\n"), [2])
        self.assertEqual(bare_errors("return good ? GNI_RC_SUCCESS\n\t: GNI_RC_NOT_DONE;"), [1])
        self.assertEqual(bare_errors("gni_return_t rc = bad ? GNI_RC_NO_MATCH : GNI_RC_SUCCESS;"), [1])
        self.assertEqual(bare_errors("rc = GNI_RC_NO_MATCH;"), [1])

    def test_what_is_not(self):
        for good in ("return GNI_RC_SUCCESS;", "return rc == GNI_RC_NO_MATCH || !last;",
                     'return refuse(GNI_RC_INVALID_PARAM, __func__, "%s", kNull);',
                     "return rc == GNI_RC_NO_MATCH ? nothing(GNI_RC_TIMEOUT) : rc;",
                     "const gni_return_t rc = GNI_RC_INVALID_PARAM;"):
            self.assertEqual(bare_errors(good), [], good)
