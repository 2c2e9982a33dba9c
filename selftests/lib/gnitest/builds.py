# SPDX-License-Identifier: GPL-2.0-or-later
"""What compiled things are made from, as the builds know it: ninja's list of dependencies, those that the kernel's build leaves beside objects."""

import json
import os
import re
import subprocess
from functools import cached_property, lru_cache
from pathlib import Path

from opengni import host

# A suite of the model: its tests are run without sanitizers.
PLAIN = "plain"


def _tool(build, *arguments):
    """Lines that ninja prints about a build; none if it cannot tell."""
    done = subprocess.run(["ninja", "-C", str(build), "-t", *arguments], capture_output=True, text=True, check=False)
    return [line for line in done.stdout.splitlines() if not line.startswith("ninja: Entering")] if not done.returncode else []


class Project:
    """A project of meson in a folder below host.BUILD."""

    def __init__(self, name):
        self.build = host.BUILD / name
        self._known, self._told = {}, {}

    @property
    def configured(self):
        """Whether anything is known."""
        return (self.build / "build.ninja").is_file()

    @cached_property
    def headers(self):
        """What each object that was compiled is made from: {object: files, by absolute paths}, without those of the system."""
        found, at = {}, None
        for line in _tool(self.build, "deps"):
            name = line.strip()
            if not line.startswith(" "):
                at = found.setdefault(line.partition(":")[0], set())
            elif at is not None and not name.startswith("/usr/"):
                at.add(self._absolute(name))
        return found

    @cached_property
    def _inputs(self):
        """What the build makes each file from at first hand: {output: inputs}, as build.ninja has it."""
        found = {}
        text = (self.build / "build.ninja").read_text(encoding="utf-8").replace("$\n", "")
        for line in text.splitlines():
            if line.startswith("build "):
                # spaces and colons of names are escaped; what is behind || is there to be made first, and no part
                outputs, _, inputs = line[6:].replace("$ ", "\0").replace("$:", "\1").partition(": ")
                names = [word.replace("\0", " ").replace("\1", ":") for word in inputs.partition("||")[0].split()[1:] if word != "|"]
                for output in outputs.replace("|", " ").split():
                    found[output.replace("\0", " ").replace("\1", ":")] = names
        return found

    def _closure(self, targets):
        """All that targets are made from, by their names in the build."""
        found, unseen = set(), list(targets)
        while unseen:
            at = unseen.pop()
            if at not in found:
                found.add(at)
                unseen += self._inputs.get(at, ())
        return found

    @cached_property
    def files(self):
        """All that the build knows that it reads, by absolute paths."""
        listed = {self._absolute(name) for names in self._inputs.values() for name in names}
        return listed.union(*self.headers.values())

    @cached_property
    def folders(self):
        """Where those are."""
        return {path.parent for path in self.files}

    def tests(self, suite="", without=()):
        """{test: (targets that it needs, files that it is told to run or read)} of a suite, or of all, that are not in others."""
        targets = {target["id"]: os.path.relpath(target["filename"][0], self.build) for target in self._introspect("targets")}
        found = {}
        for test in self._introspect("tests"):
            suites = {of.rpartition(":")[2] for of in test["suite"]}
            if (not suite or suite in suites) and suites.isdisjoint(without):
                found[test["name"]] = ([targets[of] for of in test["depends"] if of in targets],
                                       {self._absolute(word) for word in test["cmd"] if "/" in word})
        return found

    @cached_property
    def products(self):
        """Programs and libraries, by the file's name."""
        kinds = ("executable", "shared library", "static library")
        return {Path(target["filename"][0]).name: os.path.relpath(target["filename"][0], self.build)
                for target in self._introspect("targets") if target["type"] in kinds}

    def _introspect(self, what):
        if what not in self._told:
            done = subprocess.run(["meson", "introspect", str(self.build), f"--{what}"], capture_output=True, text=True, check=False)
            self._told[what] = json.loads(done.stdout) if not done.returncode else []
        return self._told[what]

    def _absolute(self, path):
        if path not in self._known:
            self._known[path] = Path(os.path.normpath(self.build / path))
        return self._known[path]

    def configured_by(self, changed):
        """Whether a changed file says what there is to be built."""
        return changed in {self._absolute(name) for name in self._closure(["build.ninja"])}

    @cached_property
    def borrowed(self):
        """What it takes from other projects: {name: (project, target)}, such as the model's library that tests of userlib link."""
        found = {}
        for name in {name for names in self._inputs.values() for name in names}:
            path = self._absolute(name)
            if host.BUILD in path.parents and self.build not in path.parents:
                other, *rest = path.relative_to(host.BUILD).parts
                if rest and project(other).configured:
                    found[name] = project(other), "/".join(rest)
        return found

    def borrows(self, changed):
        """Whether something that it takes from another project is made from a changed file."""
        return any(other.reaches([target], changed) for other, target in self.borrowed.values())

    def reaches(self, targets, changed):
        """Whether a changed file is one of those that targets are made from. True, too, if it may be: something of them is not compiled yet."""
        parts = self._closure(targets)
        if changed in {self._absolute(name) for name in parts}:
            return True
        if any(other.reaches([target], changed) for other, target in {self.borrowed[name] for name in parts if name in self.borrowed}):
            return True
        objects = [name for name in parts if name.endswith(".o")]
        return any(changed in self.headers[name] if name in self.headers else changed.parent in self.folders for name in objects)

    def reached_tests(self, changed, suite="", without=()):
        """Tests that a changed file reaches."""
        return {name for name, (targets, files) in self.tests(suite, without).items() if changed in files or self.reaches(targets, changed)}

    def reached_products(self, changed):
        """Programs and libraries that are no tests, and that a changed file reaches."""
        return {name for name, target in self.products.items()
                if not name.startswith(("test_", "bench_", "fuzz_")) and self.reaches([target], changed)}


# Nothing is built while files are looked at, so a project is read once.
project = lru_cache(maxsize=None)(Project)


def modules(kind):
    """{module: names of the files that it is made from} of the kernel's builds of "driver" or "kgni"; empty if there is none.

    Those builds are done with copies of the sources, all of which have names of their own; so files are told by their names.
    """
    found = {}
    for listing in host.BUILD.glob(f"{kind}-*/**/*.mod"):
        files = found.setdefault(listing.stem, set())
        for name in listing.read_text(encoding="ascii").split():
            made = Path(name)
            record = listing.parents[len(listing.relative_to(host.BUILD).parts) - 2] / _below(made)
            try:
                text = (record.parent / f".{record.name}.cmd").read_text(encoding="ascii", errors="replace")
            except OSError:
                continue
            files.update(Path(word).name for word in re.findall(rf"\S*/{re.escape(kind)}-[^/\s]+/(\S+\.[ch])", text))
            files.add(made.with_suffix(".c").name)
    return found


def _below(path):
    """The part of an object's path below its build's folder, wherever that was when it was built."""
    parts = path.parts
    start = next((i for i, part in enumerate(parts) if re.match(r"(driver|kgni)-\d", part)), -1)
    return Path(*parts[start + 1:])
