# SPDX-License-Identifier: GPL-2.0-or-later
"""A private copy of the source tree with a mutation in it, and the tests that are run there, the cheapest first."""

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field

from opengni import host
from opengni.writing import write_text
from . import tap
from .mutations import MutationError, claims_in
from .packages import python_path

# Projects of meson by layer: folder for what is built, source, options. The model's tests run without sanitizers first,
# from a few files that are compiled without optimization: most of the time of a run is that of the compiler, and
# a mutation of a header has nearly all sources compiled. What stays unseen runs with sanitizers, as in `make check`.
QUICK = ["-Dgrouped=true", "-Doptimization=0", "-Ddebug=false"]
SANITIZED = ["-Db_sanitize=address,undefined", "-Db_lundef=false", "-Doptimization=g", "-Dcpp_args=-g1"]
SIMULATOR = "qemu-device/sim"
PROJECTS: dict[str, tuple[str, str, list[str]]] = {
    "model": ("model-quick", "qemu-device/model", QUICK),
    "model-asan": ("model-asan", "qemu-device/model", SANITIZED),
    "sim": ("sim-quick", SIMULATOR, ["-Doptimization=1", "-Ddebug=false", "-Dmpi=disabled"]),
    "driver": ("driver-check", "driver/tests", []),
    "kgni": ("kgni-check", "kgni/tests", []),
    "userlib": ("userlib-check", "userlib", ["-Dmodel_build=../.build/model-quick"]),
}
# Whose tests all run, in this order, until one sees the mutation; kselftests and tests of clusters only where a mutation names them.
ALL_OF = {"model": ["model", "model-asan", "userlib"], "qsnet": ["model", "model-asan"], "torus": ["model", "model-asan"],
          "sim": ["sim"], "driver": ["driver"], "kgni": ["kgni"], "userlib": ["userlib"]}
BOOTED = ("qtest", "guest", "cluster")
SEEDS = ("agent", "driver-[0-9]*", "gen", "initramfs-*.cpio", "kernel-*", "kgni-[0-9]*", "kselftest", "linux-source", "model", "qemu", "selftests", "ssh",
         "stage", "stamps", "userlib")
CHUNK = 12  # tests that run at once before their results are looked at
SLOW = "slow"
RESULTS = "results.json"
LEAST_PATIENCE, PATIENCE = 20.0, 5.0  # seconds, and times the usual, after which a test counts as stuck
MOST_CASES = 3  # that are kept of those that have seen a mutation, unless more name its claims
FAILS = -1.0  # seconds of a test that fails without a mutation
SEEN, UNSEEN, BROKEN = "seen", "unseen", "does not compile"
ENVIRONMENT = {"CMOCKA_MESSAGE_OUTPUT": "TAP", "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0",
               "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}


@dataclass
class Result:
    """What has become of a mutation. by: tests that have seen it; cases: those of their cases that name a claim of the mutation, and the
    first of the others; ran: tests that have not; slow: it was run with OPENGNI_SLOW, so that `make check` may not see it."""

    digest: str
    outcome: str
    layer: str = ""
    by: list[str] = field(default_factory=list)
    cases: list[str] = field(default_factory=list)
    ran: int = 0
    seconds: float = 0.0
    slow: bool = False


class Results:
    """The results file: times of tests without a mutation, and a result for each mutation."""

    def __init__(self, path):
        self.path = path
        data = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        self.times = data.get("times", {})
        self.mutations = {name: Result(**result) for name, result in data.get("mutations", {}).items()}

    def add(self, other):
        """What another results file has."""
        for layer, times in other.times.items():
            self.times.setdefault(layer, {}).update(times)
        self.mutations.update(other.mutations)

    def save(self):
        """At once after each result, so that a call that was ended goes on."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        data = {"times": self.times, "mutations": {name: asdict(result) for name, result in sorted(self.mutations.items())}}
        write_text(self.path, json.dumps(data, indent=1, sort_keys=True) + "\n")


class NotBuilt(Exception):
    """A build has failed; the text is the name of its log."""


class Workshop:
    """The copy, its folder for what is built, and what is known of its tests."""

    def __init__(self, top, folder, say=print):
        self.top, self.say = top, say
        # As in any tree, so that what other trees have compiled is found in the compiler's cache.
        self.tree, self.build, self.logs = folder / "tree", folder / "tree" / ".build", folder / "logs"
        self._tests = {}

    def synchronize(self):
        """Make the copy equal to the tree, touching only what differs: the rest need not be compiled again."""
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=self.top, capture_output=True, check=False)
        if listed.returncode:
            raise MutationError(f"{self.top} is no clone of the repository: what belongs to the copy is not known")
        names = {name for name in listed.stdout.decode().split("\0") if name and (self.top / name).exists()}
        self.logs.mkdir(parents=True, exist_ok=True)
        for path in [path for path in self.tree.rglob("*") if path.is_file() or path.is_symlink()]:
            if str(path.relative_to(self.tree)) not in names and not {"__pycache__", ".build"} & set(path.parts[len(self.tree.parts):]):
                path.unlink()
        for name in names:
            source, target = self.top / name, self.tree / name
            if target.exists() and (source.is_symlink() or source.read_bytes() == target.read_bytes()):
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
            if not target.is_symlink():
                os.utime(target)

    def command(self, label, argv, env=None, timeout=None):
        """Run a command in the copy with its output in a log: (exit status, output). 124 is that of one that took too long."""
        log = self.logs / f"{label}.log"
        with open(log, "wb") as out:
            process = subprocess.Popen(  # pylint: disable=consider-using-with
                argv, cwd=self.tree, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
                env={**os.environ, "OPENGNI_BUILD": str(self.build), **(env or {})})
            try:
                status = process.wait(timeout)
            except subprocess.TimeoutExpired:
                status = 124
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, 15)
                    process.wait()
        return status, log.read_text(encoding="utf-8", errors="replace")

    def _ninja(self, layer, targets):
        folder, source, options = PROJECTS[layer]
        if layer == "userlib":
            self._ninja("model", ["libaries-model.a"])  # without it there are no tests over the model
        status, _ = self.command(f"{layer}-build", [str(self.tree / "scripts/build-meson.sh"), str(self.build / folder), str(self.tree / source),
                                                    *options, "--", *targets])
        if status:
            raise NotBuilt(str(self.logs / f"{layer}-build.log"))

    def tests(self, layer):
        """Tests of a layer that runs on this machine, by name: files for ninja that each needs."""
        if layer not in self._tests:
            self._ninja(layer, ["build.ninja"])
            build = self.build / PROJECTS[layer][0]

            def introspect(what):
                done = subprocess.run(["meson", "introspect", str(build), f"--{what}"], capture_output=True, text=True, check=True)
                return json.loads(done.stdout)
            files = {target["id"]: os.path.relpath(target["filename"][0], build) for target in introspect("targets")}
            self._tests[layer] = {
                test["name"]: (sorted({files[target] for target in test["depends"] if target in files}), test["timeout"])
                for test in introspect("tests") if not any(suite.endswith(SLOW) for suite in test["suite"])}
        return self._tests[layer]

    def run_meson(self, layer, names, patience=0.0):
        """Build and run some tests of a layer: (cases, {name: seconds}). One that takes longer than @patience seconds, if any, has failed."""
        known = self.tests(layer)
        self._ninja(layer, sorted({file for name in names for file in known[name][0]}))
        build = self.build / PROJECTS[layer][0]
        log = build / "meson-logs" / "testlog.json"
        log.unlink(missing_ok=True)
        jobs = os.environ.get("JOBS") or str(len(os.sched_getaffinity(0)))
        # Meson takes a factor of the limits that tests have.
        limit = patience / min(known[name][1] for name in names)
        self.command(layer, ["meson", "test", "-C", str(build), "--no-rebuild", "--num-processes", jobs, "--timeout-multiplier", f"{limit:.3f}", *names],
                     ENVIRONMENT)
        cases = [tap.Case(_of_no_suite(case.name), case.status, case.detail) for case in tap.parse_meson(log)]
        return cases, {_of_no_suite(name): seconds for seconds, name in tap.meson_times(log)}

    def seed(self):
        """What virtual machines need and this tree has built already is up to date in a copy of it (scripts/step.sh)."""
        for path in sorted(host.BUILD.glob("*")):
            if any(path.match(pattern) for pattern in SEEDS) and not (self.build / path.name).exists():
                subprocess.run(["cp", "-a", "--reflink=auto", str(path), str(self.build / path.name)], check=True)

    def run_booted(self, layer, names):
        """Build what a virtual machine needs, and run some tests there: (cases, {name: seconds})."""
        self.seed()
        status, _ = self.command("image", ["make", "qemu"] if layer == "qtest" else ["make", "check-image", "qemu"])
        if status:
            raise NotBuilt(str(self.logs / "image.log"))
        cases, times = [], {}
        for name in names:
            start = time.monotonic()
            cases += getattr(self, f"_{layer}")(name)
            times[name] = time.monotonic() - start
        return cases, times

    def _qtest(self, name):
        return tap.parse(self.command("qtest", [str(self.tree / "scripts/run-qtest.sh")], timeout=1200)[1], f"{name}: ")

    def _guest(self, name):
        collection = "kgni" if (self.tree / "selftests/kgni" / f"{name}.c").exists() else "aries"
        code = ("import sys; from gnitest import layers; layers.LOGS.mkdir(parents=True, exist_ok=True)\n"
                "from opengni.config import ClusterConfig; from gnitest.testing import SyncCluster, kernel_complaints\n"
                "cluster = SyncCluster(ClusterConfig(nodes=1, mem_mib=768, initrd=str(next(layers.BUILD.glob('initramfs-check-*.cpio')))))\n"
                "try:\n"
                "    cluster.up()\n"
                f"    print(cluster.run(0, 'cd /kselftest && exec ./run_kselftest.sh -t {collection}:{name}', silence=600.0).stdout)\n"
                "    bad = kernel_complaints(cluster.run(0, 'dmesg').stdout)\n"
                "    print('complaints', bad[:3] if bad else 'none')\n"
                "finally:\n"
                "    cluster.down()\n")
        status, output = self.command(f"guest-{name}", [sys.executable, "-c", code], {"PYTHONPATH": python_path(self.tree)}, timeout=1800)
        cases = tap.parse_kselftest(output)
        if status or "complaints none" not in output:
            cases.append(tap.Case(f"{name}: kernel log without complaint", tap.FAIL, f"status {status}"))
        return cases

    def _cluster(self, name):
        file, _, case = name.partition(".")
        status, output = self.command(f"cluster-{name}", [
            "env", "--default-signal", sys.executable, "-m", "unittest", "-f", "-v", str(self.tree / "selftests/cluster" / f"{file}.py"),
            *(["-k", case] if case else [])], {"PYTHONPATH": python_path(self.tree)}, timeout=3600)
        bad = [line.split(": ", 1)[1].split(" ")[0] for line in output.splitlines() if line.startswith(("FAIL: ", "ERROR: "))]
        return [tap.Case(f"{name}: {test}", tap.FAIL) for test in bad] or [tap.Case(f"{name}: all", tap.FAIL if status else tap.PASS)]


def _of_no_suite(name):
    """Meson's name of a test without project and suites ("aries-model:plain / drain")."""
    return name.rpartition(" / ")[2]


def _cases(names, claims):
    """Of cases that have failed all that name one of the claims, and others up to three."""
    about = [name for name in names if claims_in(name).intersection(claims)]
    return about + [name for name in names if name not in about][:max(0, MOST_CASES - len(about))]


def program_of(case):
    """The test that a case belongs to."""
    return case.name.partition(":")[0]


class Run:
    """Runs mutations in a workshop and keeps their results."""

    def __init__(self, workshop, results, say=print, booted=False, named=False):
        """booted: what a mutation names of virtual machines as well. named: none but those that a mutation names."""
        self.shop, self.results, self.say, self.booted, self.named = workshop, results, say, booted, named

    def baseline(self, layer, names):
        """Run tests once without a mutation, for their seconds. Those that fail then tell nothing and are left out of all runs."""
        times = self.results.times.setdefault(layer, {})
        new = [name for name in names if name not in times]
        if not new:
            return
        cases, seconds = self.shop.run_meson(layer, new)
        bad = {program_of(case) for case in cases if case.status == tap.FAIL}
        if bad:
            self.say(f"{layer}: left out, because they fail without a mutation: {', '.join(sorted(bad))}")
        times.update({name: FAILS if name in bad else round(seconds.get(name, 0.0), 2) for name in new})
        self.results.save()

    def layers(self, mutation):
        """(layer, tests that the mutation names, whether the others of the layer follow), in the order in which they are run."""
        named: dict[str, list[str]] = {}
        for test in mutation.tests:
            layer, _, name = test.partition(":")
            named.setdefault(layer, []).append(name)
        all_of = ALL_OF["sim" if mutation.file.startswith(f"{SIMULATOR}/") else mutation.unit]  # nothing else is made of its files
        plan = [] if self.named else [(layer, named.pop(layer, []), True) for layer in all_of]
        order = [*PROJECTS, *BOOTED]
        return plan + [(layer, named[layer], False) for layer in sorted(named, key=order.index) if self.booted or layer in PROJECTS]

    def groups(self, layer, first, others):
        """Names of tests that are run together: those that are likely to see the mutation, then the quickest."""
        if layer in BOOTED:
            return [[name] for name in first]
        known, times = self.shop.tests(layer), self.results.times.get(layer, {})
        first = [name for name in first if name in known]
        rest = sorted((name for name in known if others and name not in first), key=lambda name: times.get(name, 1.0))
        return [first] * bool(first) + [rest[at:at + CHUNK] for at in range(0, len(rest), CHUNK)]

    def group(self, mutation, layer, names, result):
        """Run some tests without the mutation, if that was not done before, and with it; whether one has seen it."""
        if layer in PROJECTS:
            self.baseline(layer, names)
            names = [name for name in names if self.results.times[layer][name] != FAILS]
        mutation.apply(self.shop.tree)
        try:
            return bool(names) and self.judge(layer, names, result, mutation.claims)
        finally:
            mutation.apply(self.shop.tree, back=True)

    def judge(self, layer, names, result, claims=()):
        """Run some tests; whether one has seen the mutation."""
        if layer in BOOTED:
            cases, times = self.shop.run_booted(layer, names)
        else:
            # A mutation may well make a test wait for ever.
            usual = max(self.results.times[layer][name] for name in names)
            cases, times = self.shop.run_meson(layer, names, LEAST_PATIENCE + PATIENCE * usual)
        bad = [case for case in cases if case.status == tap.FAIL]
        if not bad:
            result.ran += len(names)
            if layer in BOOTED:
                self.results.times.setdefault(layer, {}).update({name: round(seconds, 1) for name, seconds in times.items()})
            return False
        result.outcome, result.layer = SEEN, layer
        result.by = sorted({program_of(case) for case in bad})
        result.cases = _cases([case.name for case in bad], claims)
        return True

    def one(self, mutation):
        """Apply a mutation, run tests until one sees it, take it back."""
        start = time.monotonic()
        result = Result(mutation.digest(), UNSEEN, slow=bool(os.environ.get("OPENGNI_SLOW")))
        try:
            for layer, first, others in self.layers(mutation):
                if any(self.group(mutation, layer, names, result) for names in self.groups(layer, first, others)):
                    break
        except NotBuilt as error:
            result.outcome, result.cases = BROKEN, [str(error)]
        result.seconds = round(time.monotonic() - start, 1)
        return result

    def all(self, mutations, again=False):
        """Run mutations that have no result yet, and those that were not seen: there may be more tests now."""
        for number, mutation in enumerate(mutations):
            known = self.results.mutations.get(mutation.name)
            if known and known.digest == mutation.digest() and known.outcome == SEEN and not again:
                continue
            try:
                result = self.one(mutation)
            except MutationError as error:
                self.say(f"error: {error}")
                continue
            self.results.mutations[mutation.name] = result
            self.results.save()
            why = {SEEN: f"{result.layer} {', '.join(result.by)}", UNSEEN: f"{result.ran} tests"}.get(result.outcome, "".join(result.cases))
            self.say(f"[{number + 1}/{len(mutations)}] {mutation.name}: {result.outcome} ({why}), {result.seconds:.0f} s")
