# SPDX-License-Identifier: GPL-2.0-or-later
"""Mutations: faults that are put into the code one at a time, to learn which test sees each.

A mutation is a file, a piece of its text that is there once, and what stands there instead: edits around it do it no harm, and
one of the piece itself is noticed by a test (selftests/tool/test_mutations.py).
"""

import hashlib
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path("selftests/mutations")
KEYS = {"name", "file", "find", "replace", "breaks", "tests"}
MAY = {"claims"}
CLAIM = re.compile(r"(?<![A-Za-z0-9])[A-Z][0-9]{2}(?![A-Za-z0-9])")
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class MutationError(Exception):
    """One line: what is wrong with a mutation, or with what it is to be applied to."""


@dataclass(frozen=True)
class Mutation:
    """name: UNIT/NAME, where UNIT is the file of the list. breaks: what goes wrong. tests: LAYER:TEST that should see it. claims: those of
    Documentation/claims.md and claims-qsnet.md that are no longer true, each of which a case that names it should see."""

    name: str
    file: str
    find: str
    replace: str
    breaks: str
    tests: tuple[str, ...]
    claims: tuple[str, ...] = ()

    @property
    def unit(self):
        """The list that has the mutation."""
        return self.name.partition("/")[0]

    def digest(self):
        """What a result is about: the change, not what surrounds it."""
        return hashlib.sha256("\0".join((self.file, self.find, self.replace)).encode()).hexdigest()[:12]

    def changed(self, text, back=False):
        """Text of the file with the mutation, or without it again."""
        find, replace = (self.replace, self.find) if back else (self.find, self.replace)
        count = text.count(find)
        if count != 1:
            raise MutationError(f"{self.name}: its text is {'not' if not count else f'{count} times'} in {self.file}: "
                                f"{find.strip().splitlines()[0]!r}")
        return text.replace(find, replace)

    def apply(self, top, back=False):
        """Change the file below @top."""
        path = Path(top) / self.file
        path.write_text(self.changed(path.read_text(encoding="utf-8"), back), encoding="utf-8")


def _entry(unit, entry):
    name = f"{unit}/{entry.get('name', '?')}"
    if set(entry) - MAY != KEYS:
        raise MutationError(f"{name}: it has {', '.join(sorted(entry))}, and should have {', '.join(sorted(KEYS))}")
    if not NAME.fullmatch(entry["name"]):
        raise MutationError(f"{name}: a name has small letters, digits and single dashes")
    if entry["find"] == entry["replace"]:
        raise MutationError(f"{name}: it changes nothing")
    claims = entry.get("claims", [])
    for claim in claims:
        if not CLAIM.fullmatch(claim):
            raise MutationError(f"{name}: {claim!r} is no claim: a letter and two digits")
    return Mutation(name, entry["file"], entry["find"], entry["replace"], entry["breaks"], tuple(entry["tests"]), tuple(claims))


def claims_in(case):
    """Claims that the name of a case has."""
    return set(CLAIM.findall(case.replace("_", " ")))


def load(top):
    """All mutations by name, in the order of their lists."""
    found = {}
    for path in sorted((Path(top) / FOLDER).glob("*.toml")):
        with open(path, "rb") as file:
            try:
                entries = tomllib.load(file)["mutation"]
            except (tomllib.TOMLDecodeError, KeyError) as error:
                raise MutationError(f"{path}: {error}") from error
        for entry in entries:
            mutation = _entry(path.stem, entry)
            if mutation.name in found:
                raise MutationError(f"{mutation.name}: there are two of that name")
            found[mutation.name] = mutation
    return found


def choose(all_of_them, names):
    """Mutations named by UNIT, UNIT/NAME or NAME; all of them without names."""
    chosen = {}
    for name in names or {mutation.unit for mutation in all_of_them.values()}:
        some = {m.name: m for m in all_of_them.values() if name in (m.unit, m.name, m.name.partition("/")[2])}
        if not some:
            raise MutationError(f"there is no mutation {name!r}: mutate.py list")
        chosen.update(some)
    return [mutation for mutation in all_of_them.values() if mutation.name in chosen]
