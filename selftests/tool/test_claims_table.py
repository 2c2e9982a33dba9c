# SPDX-License-Identifier: GPL-2.0-or-later
"""Every claim of a page of claims is named by a test, or listed as the simulator's, as not modelled or as not there yet. Those about
Gemini and QsNetIII have faults that such a test has seen."""

import re
import unittest
from pathlib import Path

from gnitest import mutants, mutations

TOP = Path(__file__).resolve().parents[2]
PAGES = {"claims.md": {"R": 16, "P": 20, "T": 49, "L": 27, "G": 57}, "claims-qsnet.md": {"Q": 41}}
LETTERS = "".join(letter for claims in PAGES.values() for letter in claims)
DEVICE = [TOP / "qemu-device/model/tests", TOP / "qemu-device/tests-qtest", TOP / "selftests", TOP / "userlib/tests"]
SIMULATOR = [TOP / "qemu-device/sim/tests"]
MUTATED = "GQ"  # claims of which each that a test names has a mutation
ID = re.compile(rf"(?<![A-Za-z0-9])([{LETTERS}][0-9]{{2}})(?![0-9A-Za-z])", re.IGNORECASE)


def sources(folders):
    """Test programs by name, with the text of all that have the name."""
    texts = {}
    for folder in folders:
        for file in folder.rglob("*"):
            if re.fullmatch(r"(test|check)_\w+\.(cpp|c|py)", file.name) and file != Path(__file__).resolve():
                texts[file.name] = texts.get(file.name, "") + file.read_text(errors="replace")
    return texts


def label(name, kind):
    """A file of tests as lists of mutations have it: LAYER:TEST."""
    return f"{'sim' if kind else 'model'}:{re.sub('^check_', 'aries-', Path(name).stem).removeprefix('test_')}"


def seen_by_claim():
    """Of each claim the tests of which a case that names it has seen a mutation of it, as results.json tells."""
    results = mutants.Results(TOP / mutations.FOLDER / mutants.RESULTS).mutations
    seen = {}
    for mutation in mutations.load(TOP).values():
        result = results.get(mutation.name)
        if result is None or result.outcome != mutants.SEEN or result.digest != mutation.digest():
            continue
        for case in result.cases:
            for claim in mutations.claims_in(case).intersection(mutation.claims):
                seen.setdefault(claim, {}).setdefault(mutation.name, set()).add(f"{result.layer}:{case.partition(':')[0]}")
    return seen


def named(text):
    """Ids in a text, also in names of functions."""
    return {found.upper() for found in ID.findall(text.replace("_", " "))}


class ClaimsTable(unittest.TestCase):
    def setUp(self):
        row = re.compile(rf"^\| ([{LETTERS}][0-9]{{2}}) \| (.+?) \| (.+?) \|$", re.MULTILINE)
        self.pages = {page: row.findall((TOP / "Documentation" / page).read_text(encoding="utf-8")) for page in PAGES}
        self.rows = [found for rows in self.pages.values() for found in rows]
        self.device, self.simulator = sources(DEVICE), sources(SIMULATOR)

    def test_every_claim_has_its_row(self):
        for page, claims in PAGES.items():
            self.assertEqual([row[0] for row in self.pages[page]],
                             [f"{letter}{n:02}" for letter, count in claims.items() for n in range(1, count + 1)])

    def test_every_row_tells_the_truth(self):
        for claim, _what, where in self.rows:
            kind, _, rest = where.rpartition(": ")
            with self.subTest(claim=claim):
                if kind == "not modelled" or where == "simulator: `make figures`":
                    self.assertFalse([name for name, text in self.device.items() if claim in named(text)], "tests of the device name it")
                    self.assertTrue(rest)
                    continue
                if kind == "not yet":
                    self.assertFalse([name for name, text in {**self.device, **self.simulator}.items() if claim in named(text)], "a test names it")
                    self.assertTrue(rest)
                    continue
                self.assertIn(kind, ("", "simulator"))
                texts = self.simulator if kind else self.device
                for name in rest.split(", "):
                    self.assertIn(name, texts, "there is no such test")
                    self.assertIn(claim, named(texts[name]), f"{name} does not name it")

    def test_every_claim_has_a_mutation_that_its_test_has_seen(self):
        seen = seen_by_claim()
        for claim, _what, where in self.rows:
            kind, _, names = where.rpartition(": ")
            if claim[0] not in MUTATED or kind not in ("", "simulator"):
                continue
            tests = {label(name, kind) for name in names.split(", ")}
            with self.subTest(claim=claim):
                self.assertTrue(any(tests & by for by in seen.get(claim, {}).values()),
                                f"no mutation of it in results.json was seen by a case of {', '.join(sorted(tests))} that names it")

    def test_what_mutations_say_of_claims_was_seen(self):
        seen = seen_by_claim()
        for mutation in mutations.load(TOP).values():
            for claim in mutation.claims:
                with self.subTest(mutation=mutation.name, claim=claim):
                    self.assertIn(mutation.name, seen.get(claim, {}), "mutate.py run --named, then mutate.py keep")

    def test_tests_name_no_other_claims(self):
        listed = {row[0] for row in self.rows}
        for name, text in {**self.device, **self.simulator}.items():
            # as names of test functions and in comments: _R14, (R14)
            found = {claim.upper() for claim in re.findall(rf"_([{LETTERS}][0-9]{{2}})\b|\(([{LETTERS}][0-9]{{2}})\)", text) for claim in claim if claim}
            self.assertLessEqual(found, listed, name)
