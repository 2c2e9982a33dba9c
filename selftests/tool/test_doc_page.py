# SPDX-License-Identifier: GPL-2.0-or-later
"""HTML of one page (make doc-page), in a small tree in which nothing is built."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from opengni import host

PAGES = {
    "index.md": "# Index\n\n```{toctree}\none\ntwo\nmanuals\napi/gni\napi/krca\napi/aries-kapi\napi/kgni-abi\napi/aries-hw\n```\n",
    "one.md": "# One\n\nFirst words, and [a tool](man/aries-topo.1.md), and [functions](api/gni.rst), and [another page](two.md#second-part).\n",
    "two.md": "# Two\n\n## Second part\n\nWords.\n",
    "man/aries-topo.1.md": "# aries-topo(1): machines\n\n<!-- help: aries-topo -->\n",
    "man/aries-nic.7.md": "# aries-nic(7): the device\n\n<!-- properties -->\n",
    "man/note.7.md": "# note(7): what needs no tool\n\nA note.\n",
}
COPIED = ("scripts/doc.py", "scripts/lib.sh", "scripts/version.sh", "scripts/manuals", "scripts/opengni", "Documentation/conf.py", "userlib/meson.build")


class Page(unittest.TestCase):
    def setUp(self):
        self.tree = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in COPIED:
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            if (host.TOP / name).is_dir():
                shutil.copytree(host.TOP / name, self.tree / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(host.TOP / name, self.tree / name)
        for name, text in PAGES.items():
            self.write(name, text)
        for name in ("figures", "ABI"):
            (self.tree / "Documentation" / name).mkdir()

    def write(self, name, text):
        """A page of the tree."""
        path = self.tree / "Documentation" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def make(self, *words, status=0):
        """What doc.py page prints, and its errors."""
        env = {name: value for name, value in os.environ.items() if name != "OPENGNI_BUILD"}
        done = subprocess.run([self.tree / "scripts/doc.py", "page", *words], capture_output=True, text=True, check=False, env=env)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def html(self, name):
        """A page that was made."""
        return (self.tree / ".build/doc/html" / name).read_text(encoding="utf-8")

    def test_words_and_links(self):
        self.assertEqual(self.make("one"), f"HTML: {self.tree}/.build/doc/html/one.html\n")
        self.assertIn("First words", self.html("one.html"))
        for link in ("man/aries-topo.1.html", "api/gni.html", "two.html#second-part"):
            self.assertIn(f'href="{link}"', self.html("one.html"))
        self.assertEqual([path.name for path in (self.tree / ".build").iterdir()], ["doc"], "nothing else is made")
        self.write("one.md", PAGES["one.md"].replace("First", "Second"))
        for form in ("one.md", "Documentation/one.md"):
            self.make(form)
        self.assertIn("Second words", self.html("one.html"))

    def test_what_doc_has_made_stays(self):
        self.make("two")
        place = self.tree / ".build/doc/source/man/aries-topo.1.md"
        self.assertIn("make doc makes this page", place.read_text(encoding="utf-8"))
        place.write_text("# aries-topo(1): machines\n\nWhat the tool says.\n", encoding="utf-8")
        self.make("man/note.7")
        self.assertIn("What the tool says", self.html("man/aries-topo.1.html"))
        self.assertIn("A note", self.html("man/note.7.html"))

    def test_what_cannot_be_made(self):
        self.write("two.md", PAGES["two.md"].replace("Words", "[Words](three.md)"))
        self.assertRegex(self.make("two", status=1), r"(?s)Sphinx complains:.*two\.md.*three\.md")
        self.assertRegex(self.make("three", status=1), "there is no page 'three'")
        (self.tree / "outside.md").write_text("# Outside\n", encoding="ascii")
        for name in ("outside", "../outside.md"):
            self.assertRegex(self.make(name, status=1), "there is no page")
        self.assertRegex(self.make("man/aries-topo.1", status=1), r"aries-topo --help: .*make all builds it")
        self.assertRegex(self.make("man/aries-nic.7", status=1), "properties of aries-nic: .*make qemu builds it")
        self.assertRegex(self.make(status=2), "name a page")
