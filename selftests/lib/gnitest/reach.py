# SPDX-License-Identifier: GPL-2.0-or-later
"""Which layers and tests a change reaches, for `check.py --changed`.

Of what is compiled the builds know it (builds.py), of tests in Python their imports and the files that they name (mentions.py); what
neither can tell is in the tables below. A file that nobody knows reaches everything, and so does one that all builds go through.
"""

import re
import subprocess
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

from opengni import host
from opengni.errors import ConfigError
from . import builds, mentions, packages
from .testing import slow_tests

TOP = host.TOP

# Layers that are a project of meson: its folder below host.BUILD, the sources that are its own, others that it compiles; by default, of
# which suite the tests are, or of which they are not.
_MODEL = ("qemu-device/model", ("driver/include",))
_SIM = ("qemu-device/sim", ("qemu-device/model",))
PROJECTS = {
    "model": ("model", *_MODEL, builds.PLAIN, ()),
    "model-asan": ("model-asan", *_MODEL, "", (builds.PLAIN,)),
    "model-tsan": ("model-tsan", *_MODEL, "", ()),
    "sim": ("sim", *_SIM, "", ()),
    "sim-asan": ("sim-asan", *_SIM, "", ()),
    "sim-tsan": ("sim-tsan", *_SIM, "", ()),
    "driver": ("driver-check", "driver/tests", ("driver",), "", ()),
    "kgni": ("kgni-check", "kgni/tests", ("kgni", "driver"), "", ()),
    "userlib": ("userlib-check", "userlib", ("driver/gni", "driver/include", "qemu-device/model"), "", ()),
}
# Layers of tests in Python.
PYTHON = {"tool": "selftests/tool", "cluster": "selftests/cluster", "cluster-two-hosts": "selftests/cluster"}
GUESTS = ("guest", "cluster", "cluster-two-hosts", "other-kernel")
QEMUS = ("qtest", *GUESTS, "other-qemu")
# What a way through the tree does not show: folders or files, and the layers that they reach as a whole.
TABLE = (
    ("qemu-device/qemu", QEMUS),
    ("qemu-device/patches", (*QEMUS, "tool")),
    ("scripts/build-qemu.sh", QEMUS),
    ("scripts/qemu-version.sh", QEMUS),
    ("qemu-device/tests-qtest", ("qtest", "other-qemu")),
    ("scripts/run-qtest.sh", ("qtest", "other-qemu")),
    ("scripts/agent", GUESTS),
    ("userlib/kvs", GUESTS),
    ("scripts/initramfs", GUESTS),
    ("scripts/mkinitramfs.sh", GUESTS),
    ("scripts/guest-ssh.sh", GUESTS),
    ("scripts/build-selftests.sh", GUESTS),
    ("selftests/kgni", ("guest", "other-kernel")),
    ("qemu-device/model/fuzz", ("fuzz",)),
    (".clang-tidy", ("tool",)),
    (".flake8", ("tool",)),
    ("LICENSES", ("tool",)),
)
# Everything is built or run by these, or generated from them.
EVERYTHING = ("Makefile", "driver/include/aries_regs.toml", "scripts/gen-regs.py", "scripts/lib.sh", "scripts/step.sh", "scripts/build-meson.sh",
              "scripts/setup.sh", "scripts/check.py", "selftests/lib/gnitest/layers.py", "selftests/lib/gnitest/pytest_layer.py", ".ci")
# Nothing that `make check` runs looks at these.
NOWHERE = (".gitignore", ".containerignore", ".github", ".gitlab-ci.yml", "scripts/hooks")
# Folders that tests read as a whole: to be in one of them is not to be known.
BROAD = {TOP / "scripts", TOP / "selftests", TOP / "driver", TOP / "kgni", TOP / "userlib"}
# Compiled, or included by what is compiled: the builds know where they go.
COMPILED = (".c", ".h", ".cpp", ".hpp")
# A change here reaches the programs of guests all at once.
LIBRARIES = re.compile(r"lib(ugni|pmi)\b|\.so")


# Nothing is edited while files are looked at.
_closure = lru_cache(maxsize=None)(mentions.closure)
_words = lru_cache(maxsize=None)(mentions.words)


@dataclass
class Choice:
    """What of a layer is run: everything, or tests by name; and why, by file."""

    everything: bool = False
    tests: set = field(default_factory=set)
    why: dict = field(default_factory=dict)

    def told(self):
        """Why, in a few words."""
        first, *more = self.why.items() or [("", "")]
        return ": ".join(first) + (f", and {len(more)} more" if more else "")


def changed_files(revision):
    """Files that differ from a revision in the working tree, new ones included, as absolute paths."""
    found = []
    for command in (["diff", "--name-only", "--no-renames", "-z", revision, "--"], ["ls-files", "--others", "--exclude-standard", "-z"]):
        done = subprocess.run(["git", "-C", str(TOP), *command], capture_output=True, text=True, check=False)
        if done.returncode:
            raise ConfigError(f"git {command[0]}: {(done.stderr.strip().splitlines() or ['it failed'])[0]}")
        found += done.stdout.split("\0")
    return sorted({TOP / name for name in found if name})


class Reach:
    """The layers that there are, and what of each a set of changed files reaches."""

    def __init__(self, layers):
        self.layers = list(layers)
        self.choices = {}
        self._projects = {name: builds.project(PROJECTS[name][0]) for name in self.layers if name in PROJECTS}

    def add(self, changed):
        """A file that has changed: everything that it reaches is chosen."""
        name = str(changed.relative_to(TOP))
        if self._below(name, NOWHERE):
            return
        if self._below(name, EVERYTHING):
            self._all(name, "everything goes through it")
            return
        if not changed.exists() and changed.suffix not in COMPILED:
            self._all(name, "it is gone, and names of files that are gone are not found")
            return
        known = [self._by_table(name), self._by_projects(name, changed), self._by_model(name, changed), self._by_modules(name, changed),
                 self._by_libraries(name, changed), self._by_selftests(name), self._by_python(name, changed)]
        if not any(known):
            self._all(name, "nobody knows what it reaches")

    def _all(self, name, why):
        for layer in self.layers:
            self._choose(layer, None, name, why)

    @staticmethod
    def _below(name, places):
        return any(name == place or name.startswith(f"{place}/") for place in places)

    def _choose(self, layer, tests, name, why):
        """Tests of a layer, or all (None), because of a file."""
        if layer in self.layers:
            choice = self.choices.setdefault(layer, Choice())
            choice.everything |= tests is None
            choice.tests |= tests or set()
            if tests is None or name not in choice.why:
                choice.why[name] = why

    def _guests(self, name, why):
        """Everything that boots guests."""
        for layer in GUESTS:
            self._choose(layer, None, name, why)
        return True

    def _by_table(self, name):
        known = False
        for place, layers in TABLE:
            if self._below(name, (place,)):
                known = True
                for layer in layers:
                    self._choose(layer, None, name, f"{place} goes into all of it")
        return known

    def _by_projects(self, name, changed):
        """Tests on the host, which meson has compiled."""
        known = False
        for layer, project in self._projects.items():
            _, folder, others, suite, without = PROJECTS[layer]
            own, compiled = self._below(name, (folder,)), changed.suffix in COMPILED
            if not project.configured:
                if own or compiled and self._below(name, others):
                    self._choose(layer, None, name, "it has not been built here")
                    known = True
            elif project.configured_by(changed):
                self._choose(layer, None, name, "its build is described by it")
                known = True
            elif changed in project.files or compiled and (changed.parent in project.folders or project.borrows(changed)):
                options = ("", ()) if slow_tests() else (suite, ("slow", *without))
                reached = project.reached_tests(changed, *options)
                # Of programs that are not compiled yet nobody knows what they include, so any may be among the reached.
                if own and changed not in project.files:
                    self._choose(layer, None, name, "its build does not know it yet")
                elif reached:
                    self._choose(layer, reached, name, "they are made from it")
                known |= own or bool(reached)
            elif own:
                self._choose(layer, None, name, "it is in its folder")
                known = True
        return known

    def _by_model(self, name, changed):
        """Programs of model and simulator: QEMU has the model inside, and tests run the others."""
        known = False
        for build, folder in (("model", "qemu-device/model"), ("sim", "qemu-device/sim")):
            project = builds.project(build)
            if not self._below(name, (folder, "driver/include")):
                continue
            products = project.reached_products(changed) if project.configured else {"libaries-model.a", "aries-sim"}
            if "libaries-model.a" in products:
                known = True
                for layer in (*QEMUS, "fuzz"):
                    self._choose(layer, None, name, "the model in QEMU is made from it")
            known |= self._users({Path(product).stem for product in products}, name)
        return known

    def _by_modules(self, name, changed):
        """Modules of the kernel. kGNI carries its clients, and the driver everything."""
        if self._below(name, ("driver",)) and not self._below(name, ("driver/tests",)):
            found = {module for module, files in builds.modules("driver").items() if changed.name in files}
            # The tests of the driver's own interface are the guest layer's.
            if found == {"aries_kapi_test"}:
                self._choose("guest", None, name, "a module of its tests is made from it")
                return True
            return self._guests(name, "aries.ko is made from it")
        if not self._below(name, ("kgni",)):
            return False
        known = builds.modules("kgni")
        found = {module for module, files in known.items() if changed.name in files}
        if not found:
            if self._below(name, ("kgni/tests",)):
                return True  # a test on the host
            return self._guests(name, "modules of the kernel may be made from it") if not name.endswith(".md") else False
        if found & {"kgni"}:
            found |= set(known)
        self._choose("guest", None, name, f"{', '.join(sorted(found))} are made from it")
        self._users(found, name)
        return True

    def _by_libraries(self, name, changed):
        """libugni and the tools of guests."""
        if not self._below(name, ("userlib",)) or self._below(name, ("userlib/tests", "userlib/kvs")):
            return False
        project = builds.project("userlib")
        if not project.configured:
            return self._guests(name, "programs of guests may be made from it")
        if changed.suffix not in COMPILED:
            return self._guests(name, "programs of guests are built by it") if not name.endswith(".md") else False
        products = project.reached_products(changed)
        if any(LIBRARIES.search(product) for product in products):
            return self._guests(name, "the libraries of programs in guests are made from it")
        used = {Path(product).stem for product in products}
        if used & self._guest_words:
            self._choose("guest", None, name, f"it runs {', '.join(sorted(used & self._guest_words))}")
        return self._users(used, name) or bool(products)

    @cached_property
    def _guest_words(self):
        """Words of the guests' own tests: programs that these run."""
        return {word for folder in ("aries", "kgni", "conformance") for file in (TOP / "selftests" / folder).glob("*.[ch]")
                for word in re.findall(r"[\w-]+", file.read_text(encoding="utf-8"))}

    def _by_selftests(self, name):
        """Programs that the guest layer runs, and tests of clusters on several nodes."""
        match = re.fullmatch(r"selftests/(aries|conformance)/(\w+)\.c", name)
        if match:
            program = f"{match[1]}:{match[2]}"
            listed = host.BUILD / "kselftest/kselftest-list.txt"
            # Some are of no use alone: tests of clusters start them.
            if not listed.exists() or program in listed.read_text(encoding="ascii").split():
                self._choose("guest", {program}, name, "a test of guests is made from it")
            self._users({match[2]}, name, "kselftest")
            return True
        return self._below(name, ("selftests/aries", "selftests/conformance")) and self._guests(name, "tests in guests are made from it")

    def _by_python(self, name, changed):
        """Tests in Python, by what they import and name; those of a folder share its helpers by importing them."""
        known = False
        for layer, folder in PYTHON.items():
            reached = {test.stem for test in mentions.tests(folder) if mentions.depends_on(_closure(test), changed)}
            if reached and layer in self.layers:
                self._choose(layer, reached, name, "they import or name it" if reached != {changed.stem} else "it is one of them")
            known |= any(mentions.depends_on(_closure(test), changed, BROAD) for test in mentions.tests(folder) if test.stem in reached)
        if packages.owner(changed) and known and changed.name in ("tap.py", "testing.py", "cluster.py", "node.py", "qemu.py"):
            self._choose("guest", None, name, "it boots the node")
        return known

    def _users(self, programs, name, beside=""):
        """Tests in Python that have the name of a program or a module in their texts, and that other word."""
        known = False
        for layer, folder in PYTHON.items():
            reached = {test.stem: used for test in mentions.tests(folder) if (used := programs & _words(test)) and (not beside or beside in _words(test))}
            if reached:
                known = True
                self._choose(layer, set(reached), name, f"they use {', '.join(sorted(set().union(*reached.values())))}")
        return known


def chosen(layers, files):
    """What of the layers is run, {layer: Choice}, when these files have changed; layers that nothing reaches are not there."""
    reach = Reach(layers)
    for changed in files:
        reach.add(changed)
    return reach.choices
