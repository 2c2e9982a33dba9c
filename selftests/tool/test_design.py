# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of design: each opens with the order in which functions run, names what there is, and can be read in a third of an hour."""

import re
import subprocess
import unittest
from functools import lru_cache
from pathlib import PurePosixPath

from manuals import pages
from opengni import host

FOLDER = pages.DOCUMENTATION / "design"
PAGES = ("driver", "fabric", "gateway", "kernel", "library", "network", "nic")
ORDER = "In the order that it runs"
WORDS_MOST = 2600  # of a page; one reads 130 a minute of such
SOURCES = ("driver", "kgni", "qemu-device/model", "qemu-device/qemu", "userlib")
FILE = re.compile(r"`([\w/.-]+\.(?:c|h|cpp|hpp))`")
CALL = re.compile(r"`((?:\w+::)*~?\w+)\(\)`")
KINDS = {".c": ".h", ".cpp": ".hpp", ".h": ".c", ".hpp": ".cpp"}


@lru_cache(maxsize=None)
def sources():
    """Texts of the sources that are no tests, by place."""
    listed = subprocess.run(["git", "-C", host.TOP, "ls-files", "-co", "--exclude-standard", *SOURCES], capture_output=True, text=True, check=True).stdout
    places = [PurePosixPath(line) for line in listed.splitlines()]
    return {place: (host.TOP / place).read_text(encoding="utf-8") for place in places
            if place.suffix in KINDS and "tests" not in place.parts and (host.TOP / place).is_file()}


def files(name):
    """Texts of the files that a name, or the end of a path, may mean, and of the other one of header and source."""
    wanted = PurePosixPath(name)
    ends = (wanted.parts, wanted.with_suffix(KINDS[wanted.suffix]).parts)
    found = [place for place in sources() if place.parts[-len(wanted.parts):] == ends[0]]
    beside = [place for place in sources() if place.parts[-len(wanted.parts):] == ends[1] and place.parent in {one.parent for one in found}]
    return [sources()[place] for place in (*found, *beside)]


@lru_cache(maxsize=None)
def words(text):
    """Names that are called or defined in a text, and all its words."""
    return frozenset(re.findall(r"(\w+)\(", text)), frozenset(re.findall(r"\w+", text))


def known(call, texts):
    """Whether a function is in one of these texts; Class::function() where the class is."""
    *scope, name = call.split("::")
    return any(name in words(text)[0] and words(text)[1].issuperset(scope) for text in texts)


def text_of(page):
    """A page of the folder."""
    return (FOLDER / f"{page}.md").read_text(encoding="utf-8")


def steps(page):
    """Sentences of the first section as one reads them: items of lists, and paragraphs."""
    order = text_of(page).split(f"\n## {ORDER}\n", 1)[1].split("\n## ", 1)[0]
    for paragraph in re.split(r"\n\n|\n(?=\d+\. )", order):
        yield " ".join(paragraph.split())


class Design(unittest.TestCase):
    def test_pages(self):
        self.assertEqual(sorted(path.stem for path in FOLDER.glob("*.md")), sorted([*PAGES, "index"]))
        for page in PAGES:
            self.assertIn(f"]({page}.md)", text_of("index"))
            self.assertRegex(text_of("index"), rf"(?m)^{page}$")

    def test_each_opens_with_what_runs(self):
        for page in PAGES:
            self.assertEqual(re.findall(r"^## (.*)$", text_of(page), re.M)[0], ORDER, page)

    def test_a_third_of_an_hour(self):
        for page in PAGES:
            self.assertLess(len(text_of(page).split()), WORDS_MOST, page)

    def test_files_are_there(self):
        for page in (*PAGES, "index"):
            for name in FILE.findall(text_of(page)):
                with self.subTest(page=page, file=name):
                    self.assertTrue(files(name) or any((host.TOP / base / name).is_file() for base in ("", "qemu-device/model")))

    def test_functions_are_where_the_step_says(self):
        for page in PAGES:
            for step in steps(page):
                texts = [text for name in FILE.findall(step) for text in files(name)]
                for call in CALL.findall(step):
                    with self.subTest(page=page, call=call):
                        self.assertTrue(known(call, texts), step)

    def test_functions_are_somewhere(self):
        for page in (*PAGES, "index"):
            for call in CALL.findall(text_of(page)):
                with self.subTest(page=page, call=call):
                    # calls of the C library, of the kernel and of the processor's manual are nobody's of ours to keep
                    self.assertTrue(known(call, sources().values()) or re.fullmatch(r"(alloc_contig_range|dma_need_sync|inc_rlimit_ucounts|membarrier)", call))
