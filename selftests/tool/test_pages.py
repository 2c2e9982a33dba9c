# SPDX-License-Identifier: GPL-2.0-or-later
"""How commands are found in pages; pages whose tests run each block have no block that those tests would not see."""

import re
import unittest

from gnitest import pages
from opengni.application import DOMAIN_TIME

PAGE = """# Title

    make run      # builds
    make check

Some words
    that are no block; `KERNEL=6.12 make run` is inline, `make` alone is none.

```sh
$ scripts/cluster status     # all of them
# on the other one
aries-topo print \\
    aries
cat >hosts <<END
alpha 10.0.0.1 0   # not what is said about it
END
```

```c
int no_command;
```

## Second

    scripts/cluster down

### Third

    last

## Fourth
"""
# What the tests of a page run or look at, by the language of the block (test_examples.py and test_tutorial.py,
# test_debugging_page.py, test_own_kernel.py, test_kernel_client.py, test_port_a_client.py).
LANGUAGES = {
    "tutorial": {"sh", "c"},
    "debugging": {"sh", "text", "bash"},
    "kernel-client": {"sh", "c", "make", ""},
    "port-a-client": {"sh"},
}


class Extraction(unittest.TestCase):
    def test_commands(self):
        self.assertEqual(pages.commands(PAGE), ["make run", "make check", "$ scripts/cluster status", "", "aries-topo print aries",
                                                "cat >hosts <<END\nalpha 10.0.0.1 0   # not what is said about it\nEND", "scripts/cluster down", "last"])
        self.assertEqual(pages.inline(PAGE), ["KERNEL=6.12 make run"])

    def test_sections(self):
        self.assertEqual(pages.commands(pages.section(PAGE, "Second")), ["scripts/cluster down", "last"])
        self.assertEqual(pages.commands(pages.section(PAGE, "Third")), ["last"])
        with self.assertRaisesRegex(ValueError, "no section 'Fifth'"):
            pages.section(PAGE, "Fifth")


class Blocks(unittest.TestCase):
    def test_languages(self):
        for name, languages in LANGUAGES.items():
            with self.subTest(name):
                page = pages.text(f"Documentation/{name}.md")
                self.assertEqual(set(re.findall(r"^```(\w*)\n(?:.*\n)*?^```$", page, re.M)), languages)
                self.assertIsNone(pages.INDENTED.search(pages.FENCED.sub("", page)), "a block that is not fenced")


class Limits(unittest.TestCase):
    def test_time_for_a_domain(self):
        self.assertIn(f"has not done it after {DOMAIN_TIME:g} seconds", pages.text("Documentation/jobs.md"))
