# SPDX-License-Identifier: GPL-2.0-or-later
"""libdmapp's page says of every function that the header declares whether it is there, and tests use each."""

import re
import unittest

from opengni import host

DMAPP = host.TOP / "userlib/dmapp"
HEADER = (DMAPP / "include/dmapp.h").read_text(encoding="utf-8")
DECLARED = set(re.findall(r"^(?:dmapp_return_t |void \*|void )(dmapp_\w+)\(", HEADER, re.M))
FORMS = ("", "_nb", "_nbi")


def states():
    """What the page's first table says of each function: "each with" is about all names before it, a name like `_ext` about the last one."""
    page = (host.TOP / "Documentation/dmapp.md").read_text(encoding="utf-8")
    table = re.search(r"\| functions \| state \|\n\|---\|---\|\n((?:\|.*\n)+)", page)[1]
    found = {}
    for row in table.splitlines():
        cell, state = (part.strip() for part in row.strip("|").split("|"))
        names, each, rest = cell.partition(", each with `_nb` and `_nbi`")
        forms = FORMS if each else ("",)
        last = ""
        for name in re.findall(r"`(\w+)`", names):
            last = name if name.startswith("dmapp_") else last + name
            found |= {last + form: state for form in forms}
        found |= {name: state for name in re.findall(r"`(\w+)`", rest)}
    return found


class Page(unittest.TestCase):
    def test_every_function_has_a_state(self):
        self.assertEqual(set(states()), DECLARED)

    def test_what_is_refused(self):
        """The sources refuse without a look at what they are given exactly what the page says is not there."""
        refused = set()
        for path in (DMAPP / "src").glob("*.cpp"):
            refused |= set(re.findall(r"^dmapp_return_t (dmapp_\w+)\([^{}]*\)\n\{\n\treturn DMAPP_RC_NOT_SUPPORTED;\n\}",
                                      path.read_text(encoding="utf-8"), re.M))
        self.assertEqual({name for name, state in states().items() if state.startswith("NOT_SUPPORTED")}, refused)

    def test_each_is_used_by_a_test(self):
        text = "".join(path.read_text(encoding="utf-8") for path in (DMAPP / "tests").glob("test_*.cpp"))
        used = set(re.findall(r"\b(dmapp_\w+)\(", text))
        # macros of test_elements.cpp, which call the three forms of an atomic
        used |= {f"dmapp_{name}{form}" for name in re.findall(r"\b(?:CHANGE|FETCH)\((\w+_qw),", text) for form in FORMS}
        self.assertEqual(DECLARED - used, set())


if __name__ == "__main__":
    unittest.main()
