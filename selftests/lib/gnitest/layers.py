# SPDX-License-Identifier: GPL-2.0-or-later
"""The layers of tests that `make check` runs, each as a function that returns cases."""

import json
import math
import os
import random
import re
import signal
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from opengni import host
from opengni.config import DEFAULT_KERNEL, DEFAULT_QEMU, ClusterConfig
from opengni.writing import naming, write_text
from . import patience, tap
from .builds import PLAIN
from .packages import python_path
from .testing import SyncCluster, kernel_complaints, slow_tests

TOP, BUILD = host.TOP, host.BUILD
LOGS = BUILD / "check"
KERNEL = DEFAULT_KERNEL
JOBS = os.environ.get("JOBS") or str(host.cpus())
SILENCE = 600.0  # seconds without a line of output, by patience.clock(), after which a program counts as stuck
SILENCE_SLOW = 3600.0  # the same for a layer with tests that take long each
FUZZ_ACCESSES = 10_000_000
FUZZ_CHURNS = 5000
FUZZ_INPUT = 4096  # bytes


# Names of tests by layer, of those of which only some are wanted: tests of meson, files of Python, "collection:program" of guests.
only: dict[str, set[str]] = {}


class LayerError(Exception):
    """A layer could not run; that is a failure, never a skip."""


def times_file(name):
    """Where a layer's times are."""
    return LOGS / f"{name}-times.log"


def _write_times(name, times):
    """A line for each (seconds, name) or (seconds, name, processor seconds) of a layer, the slowest first."""
    lines = [f"{seconds:8.1f} s{''.join(f'{more:7.1f} s of processors' for more in processor)}  {test}\n"
             for seconds, test, *processor in sorted(times, reverse=True)]
    write_text(times_file(name), "".join(lines))


def _end_group(process):
    """End a program and what it has started."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


# Programs that _command() waits for, in whichever thread.
_running: set[subprocess.Popen] = set()
# Set by what runs a layer beside others: returns when these are done, so that tests can have the machine for themselves.
until_alone: Callable[[], object] = lambda: None


def end_all():
    """End all programs of layers that run in other threads: who is stopped would else wait for the end of their tests."""
    for process in list(_running):
        _end_group(process)


def _command(name, argv, env=None, silence=SILENCE):
    """Run a program with its output in a log; (exit status, output). It may take long, but has to get on."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{name}.log"
    with open(log, "wb") as out:
        process = subprocess.Popen(argv, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=TOP,
                                   env={**os.environ, "PYTHONUNBUFFERED": "1", **(env or {})}, start_new_session=True)
        _running.add(process)
        try:
            status = patience.wait_speaking(process, log, silence)
        except patience.Silent as error:
            _end_group(process)
            raise LayerError(f"{error}; log {log}") from None
        except BaseException:
            _end_group(process)
            raise
        finally:
            _running.discard(process)
    return status, log.read_text(encoding="utf-8", errors="replace")


def _must(name, argv, env=None):
    status, output = _command(name, argv, env)
    if status:
        tail = "\n".join("    " + line for line in output.splitlines()[-12:])
        raise LayerError(f"{argv[0]} failed with status {status}; log {LOGS / (name + '.log')}\n{tail}")


def _introspect(build, what):
    """What meson knows of a configured project: its tests, its targets."""
    done = subprocess.run(["meson", "introspect", str(build), f"--{what}"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise LayerError(f"meson introspect {build} --{what}: {(done.stderr or done.stdout).strip()}")
    return json.loads(done.stdout)


def needed(tests, targets, build, suite, without, names=None):
    """Names for ninja of the targets that tests of a suite (of all, if it is empty) need that are in none of the others; of tests with
    these names alone, if there are any."""
    ids = set()
    for test in tests:
        suites = {of.rpartition(":")[2] for of in test["suite"]}
        if (not suite or suite in suites) and suites.isdisjoint(without) and (names is None or test["name"] in names):
            ids.update(test["depends"])
    return sorted(os.path.relpath(target["filename"][0], build) for target in targets if target["id"] in ids)


def _meson(name, source, options, suite="", without=(), benchmarks=False):
    """Build what the tests of a meson project need, or those of a suite, or those that are not in others, and run them.

    make check-all has all tests of the project; and all of it is compiled, benchmarks as well.
    """
    build = BUILD / name
    build_sh = [str(TOP / "scripts/build-meson.sh"), str(build), str(TOP / source), *options, "--"]
    suites, targets, names = [], [], only.get(name.removesuffix("-check"))
    if not slow_tests():
        without = ("slow", *without)
        _must(f"{name}-configure", [*build_sh, "build.ninja"])
        targets = needed(_introspect(build, "tests"), _introspect(build, "targets"), build, suite, without, names)
        targets += ["meson-benchmark-prereq"] if benchmarks and names is None else []
        suites = [*(["--suite", suite] if suite else []), *(word for other in without for word in ("--no-suite", other))]
    _must(f"{name}-build", [*build_sh, *targets])
    log = build / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    env = {
        "CMOCKA_MESSAGE_OUTPUT": "TAP",
        "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "TSAN_OPTIONS": "halt_on_error=1",
    }
    # Without meson's own time limits, which count the time on the wall.
    status, _ = _command(name, ["meson", "test", "-C", str(build), "--no-rebuild", "--num-processes", JOBS,
                                "--timeout-multiplier", "0", *suites, *sorted(names or ())], env)
    cases = tap.parse_meson(log)
    _write_times(name, tap.meson_times(log))
    if status and not any(case.status == tap.FAIL for case in cases):
        raise LayerError(f"meson test ended with status {status}; log {LOGS / (name + '.log')}")
    return cases


# Tests that run once or twice in a tree: compiling them takes longer than running them, and half as long this way.
# -g1: lines for the reports of sanitizers, and none of the rest that a debugger wants, a quarter of the time.
QUICKLY_BUILT = ["-Doptimization=g", "-Dcpp_args=-g1"]


# Each test of the model runs once by default: with sanitizers, unless its suite (PLAIN) says that it does not suit them.
def model():
    """Hardware model on the host: its tools, what measures, what takes too long with sanitizers; in check-all every test."""
    return _meson("model", "qemu-device/model", [], suite=PLAIN, benchmarks=True)


def model_sanitized():
    """The other tests of the model, with address and undefined-behaviour sanitizers; in check-all every test."""
    return _meson("model-asan", "qemu-device/model",
                  ["-Db_sanitize=address,undefined", "-Db_lundef=false", "-Dgrouped=true", *QUICKLY_BUILT], without=[PLAIN])


def model_threads():
    """All of them with the thread sanitizer."""
    return _meson("model-tsan", "qemu-device/model", ["-Db_sanitize=thread", "-Db_lundef=false", "-Dgrouped=true"])


def sim():
    """The network simulator."""
    return _meson("sim", "qemu-device/sim", [], benchmarks=True)


def sim_sanitized():
    """The same with address and undefined-behaviour sanitizers."""
    return _meson("sim-asan", "qemu-device/sim", ["-Db_sanitize=address,undefined", "-Db_lundef=false", "-Dmpi=disabled"])


def sim_threads():
    """The same with the thread sanitizer."""
    return _meson("sim-tsan", "qemu-device/sim", ["-Db_sanitize=thread", "-Db_lundef=false", "-Dmpi=disabled"])


def _fuzz_corpus(name):
    """Folder of inputs that grows from run to run; the first ones are random, and the same everywhere."""
    corpus = BUILD / "fuzz" / name
    corpus.mkdir(parents=True, exist_ok=True)
    for seed in range(8):
        with naming(corpus / f"seed{seed}"):
            (corpus / f"seed{seed}").write_bytes(random.Random(seed).randbytes(FUZZ_INPUT))
    return corpus


def _fuzz_run(name, runs):
    """Run a fuzz target; accesses to BARs that it made, and a case if it failed."""
    target = BUILD / "model-fuzz" / "fuzz" / f"fuzz_{name}"
    status, output = _command(f"fuzz-{name}", [
        str(target), f"-runs={runs}", f"-max_len={FUZZ_INPUT}", "-len_control=0", "-timeout=60",
        f"-artifact_prefix={LOGS}/fuzz-{name}-", str(_fuzz_corpus(name))], {
            "ASAN_OPTIONS": "detect_leaks=1", "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"})
    found = re.search(r"^(\d+) accesses$", output, re.MULTILINE)
    if status:
        tail = [line for line in output.splitlines() if "ERROR" in line or "not so" in line or "Test unit" in line]
        return 0, tap.Case(f"fuzz_{name}", tap.FAIL, " ".join(tail) or f"status {status}")
    return int(found[1]) if found else 0, None


def fuzz():
    """The model under libFuzzer with sanitizers, for FUZZ_ACCESSES accesses."""
    _must("model-fuzz-build", ["env", "CC=clang", "CXX=clang++", str(TOP / "scripts/build-meson.sh"),
                               str(BUILD / "model-fuzz"), str(TOP / "qemu-device/model"), "-Dlibfuzzer=true",
                               "-Db_sanitize=address,undefined", "-Db_lundef=false", "--", "fuzz/fuzz_nic",
                               "fuzz/fuzz_packet", "fuzz/fuzz_churn"])
    cases, total = [], 0
    while total < FUZZ_ACCESSES:
        accesses, failed = _fuzz_run("nic", 8000)
        if failed or not accesses:
            return [failed or tap.Case("fuzz_nic", tap.FAIL, "it made no access")]
        total += accesses
    cases.append(tap.Case(f"fuzz_nic, {total} accesses", tap.PASS, ""))
    for name, runs in (("packet", 50000), ("churn", FUZZ_CHURNS)):
        _, failed = _fuzz_run(name, runs)
        cases.append(failed or tap.Case(f"fuzz_{name}", tap.PASS, ""))
    return cases


def driver():
    """Files of the driver that touch no hardware, over a kernel made of software, with sanitizers."""
    return _meson("driver-check", "driver/tests", [])


def kgni():
    """kGNI over a kernel and a NIC made of software, with sanitizers."""
    return _meson("kgni-check", "kgni/tests", [])


def userlib():
    """libugni on the host, over a kernel made of software, with sanitizers (its tests set them themselves)."""
    return _meson("userlib-check", "userlib", [])


def _qtest(name, qemu):
    status, output = _command(name, [str(TOP / "scripts/run-qtest.sh")], {"QEMU": qemu})
    if status and "1.." not in output:
        raise LayerError(output.strip().splitlines()[-1] if output.strip() else f"run-qtest.sh ended with status {status}")
    cases = tap.parse(output)
    if status and not any(case.status == tap.FAIL for case in cases):
        raise LayerError(f"run-qtest.sh ended with status {status}; log {LOGS / (name + '.log')}")
    return cases


def qtest():
    """The device through QEMU's qtest, no guest."""
    return _qtest("qtest", DEFAULT_QEMU)


def _job(name, **options):
    """A case: the job between two nodes of this kind."""
    cluster = SyncCluster(ClusterConfig(nodes=2, **options))
    try:
        cluster.up()
        results = cluster.run_job(["gni-perf", "--max-size=1M", "--iterations=50"], timeout=300)
    finally:
        cluster.down()
    bad = [f"rank {result.rank}: {result.stderr.strip() or result.error}" for result in results if not result.ok]
    return tap.Case(name, tap.FAIL if bad else tap.PASS, "; ".join(bad))


def other_qemu():
    """The device and the job in the other QEMU."""
    qemu = "10" if DEFAULT_QEMU == "7.2" else "7.2"
    return [*_qtest("other-qemu", qemu), _job(f"gni-perf in QEMU {qemu}", qemu=qemu, kernel=KERNEL, initrd=_image(KERNEL))]


def _image(kernel):
    return str(BUILD / f"initramfs-check-{kernel}.cpio")


def _guest(name, kernel):
    """The driver's kselftests on one node of a kernel; a PCI function without a driver, that of QEMU's tests, is a neighbour to its NIC."""
    cluster = SyncCluster(ClusterConfig(nodes=1, mem_mib=768, kernel=kernel, initrd=_image(kernel), qemu_args=["-device", "pci-testdev"]))
    try:
        cluster.up()
        slow = "OPENGNI_SLOW=1 " if slow_tests() else ""
        programs = "".join(f" -t {program}" for program in sorted(only.get(name, ())))
        result = cluster.run(0, f"cd /kselftest && {slow}exec ./run_kselftest.sh{programs}", silence=SILENCE)
        kernel_log = cluster.run(0, "dmesg").stdout
    finally:
        cluster.down()
    LOGS.mkdir(parents=True, exist_ok=True)
    write_text(LOGS / f"{name}.log", result.stdout + result.stderr)
    write_text(LOGS / f"{name}-kernel.log", kernel_log)
    cases = tap.parse_kselftest(result.stdout)
    complaints = kernel_complaints(kernel_log)
    cases.append(tap.Case("kernel log without complaint", tap.FAIL if complaints else tap.PASS, "; ".join(complaints[:3])))
    return cases


def guest():
    """The driver in the guest, on the chosen kernel."""
    return _guest("guest", KERNEL)


def other_kernel():
    """The driver and the job on the other kernel."""
    kernel = {"6.1": "6.12", "6.12": "6.1"}.get(KERNEL)
    if kernel is None or host.distribution() != "debian 12":
        return [tap.Case("other kernel", tap.SKIP, f"{host.distribution()} has no other kernel")]
    return [*_guest("other-kernel", kernel), _job(f"gni-perf on Linux {kernel}", kernel=kernel, initrd=_image(kernel))]


# pytest is a package of the distribution, whatever python3 is first in PATH.
PYTHON = "/usr/bin/python3"
# What a shell has put into the background, or nohup has started, ignores some signals, and so does all that it starts; tests send them.
INTERRUPTIBLE = ("env", "--default-signal")
# Results of pytest's exit status that are results of tests: all passed, some failed, none was there.
PYTEST_RAN = (0, 1, 5)
# Nodes of one class want a gigabyte or two, and classes with eight a little more.
WORKER_MIB = 3000
WORKERS_MAX = 4


def _workers():
    """How many processes of tests run side by side. One more than there are processors: a fifth of their time tests of clusters wait,
    for time-outs of nodes that are dead, and meanwhile another one has the processors."""
    return max(1, min(WORKERS_MAX, host.cpus() + 1, (host.available_mib() or WORKER_MIB) // WORKER_MIB))


def _read_results(file):
    """(cases, times) of a file that the plugin pytest_layer has written.

    A test has one case, however often it is told of: as a whole, by the end of its class. Its first failure is what counts.
    """
    cases: dict[str, tap.Case] = {}
    times = []
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        result = json.loads(line)
        name, status = result["name"], result["status"]
        if status and (name not in cases or status == tap.FAIL != cases[name].status):
            cases[name] = tap.Case(name, status, result["detail"])
        if result["seconds"] >= 0.1:
            times.append((result["seconds"], name, result["processor"]))
    return list(cases.values()), times


def _pytest(layer, group, files, alone, options, env):
    """One run of pytest over files, in a process of its own: (cases, times) of the classes that are to be alone, or of all others."""
    label = f"{layer}-{group}" + ("-alone" if alone == "yes" else "")
    results = LOGS / f"{label}.json"
    results.unlink(missing_ok=True)
    command = [
        *INTERRUPTIBLE, PYTHON, "-m", "pytest", "-v", "--tb=short", "-p", "no:cacheprovider", "-c", os.devnull, f"--rootdir={files[0].parent}",
        "--continue-on-collection-errors", "-p", "gnitest.pytest_layer", f"--opengni-results={results}", f"--opengni-alone={alone}",
        *options, *map(str, files)]
    env = {"PYTHONPATH": python_path(), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **(env or {})}
    failure = None
    try:
        status, output = _command(label, command, env, SILENCE_SLOW if slow_tests() else SILENCE)
        if status not in PYTEST_RAN:
            failure = f"pytest ended with status {status}: {(output.strip().splitlines() or ['it said nothing'])[-1]}"
    except LayerError as error:
        failure = str(error)
    cases, times = _read_results(results)
    return cases + ([tap.Case(group, tap.FAIL, failure)] if failure else []), times


def _groups(files):
    """Files by the process that runs them, (name, files): each has its own, but those whose classes share a shape of clusters have one."""
    groups = {}
    for file in files:
        shared = re.search(r"^    SHARES = \"(\w+)\"$", file.read_text(encoding="utf-8"), re.MULTILINE)
        groups.setdefault(f"sharing-{shared[1]}" if shared else file.stem, []).append(file)
    share = max(1, _size(files) / _workers())
    parts = [part for name, some in groups.items() for part in _parts(name, some, max(1, math.ceil(_size(some) / share)))]
    # What begins last and takes long would be waited for.
    return sorted(parts, key=lambda part: (-_size(part[1]), part[0]))


def _size(files):
    """Bytes: what there is to tell how long tests take before they run."""
    return sum(file.stat().st_size for file in files)


def _parts(name, files, count):
    """A group that would be waited for when all else is done, in parts of about one size."""
    parts = [[] for _ in range(min(count, len(files)))]
    for file in sorted(files, key=lambda file: -file.stat().st_size):
        min(parts, key=_size).append(file)
    return [(f"{name}-{number}" if number else name, sorted(part)) for number, part in enumerate(parts)]


def _python(name, folder, *options, env=None):
    """Python tests of a folder: first those that may run side by side, process by process, then those that are to be alone."""
    LOGS.mkdir(parents=True, exist_ok=True)
    files = [file for file in sorted((TOP / folder).glob("test_*.py")) if name not in only or file.stem in only[name]]
    with ThreadPoolExecutor(_workers()) as pool:
        try:
            runs = list(pool.map(lambda group: _pytest(name, group[0], group[1], "no", options, env), _groups(files)))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            end_all()
            raise
    alone = [file for file in files if "ALONE" in file.read_text(encoding="utf-8")]
    if alone:
        until_alone()
    runs += [_pytest(name, file.stem, [file], "yes", options, env) for file in alone]
    cases = [case for some, _ in runs for case in some]
    if not cases:
        raise LayerError(f"no tests in {folder}")
    _write_times(name, [entry for _, times in runs for entry in times])
    return cases


def tool():
    """The cluster tool and the counting of test results, without machines."""
    return _python("tool", Path("selftests/tool"))


def cluster():
    """Nodes against each other: the job, isolation, kill and return."""
    return _python("cluster", Path("selftests/cluster"))


def cluster_two_hosts():
    """The tests of clusters, with the nodes of each on two hosts; what is slow has been done on one."""
    return _python("cluster-two-hosts", Path("selftests/cluster"), "--opengni-spanning", env={"OPENGNI_TEST_HOSTS": "2", "OPENGNI_SLOW": ""})


# What a layer wants of the machine. ALONE: nothing beside it, for it compares times, or changes what others read. WAITS: its processors are
# idle a good part of the time, while nodes boot, one waits for the other or for a time-out. FILLS: it compiles, and then runs hundreds
# of short programs; it takes the processors that it gets and does not mind how many these are.
ALONE, WAITS, FILLS = "alone", "waits", "fills"


class Layer(NamedTuple):
    """A layer, and how it goes together with others."""

    name: str
    run: Callable[[], list[tap.Case]]
    needs: str
    slow: bool = False  # in check-all only


LAYERS = [
    Layer("tool", tool, ALONE),
    Layer("model", model, FILLS),
    Layer("sim", sim, FILLS),
    Layer("model-asan", model_sanitized, FILLS),
    Layer("model-tsan", model_threads, FILLS, slow=True),
    Layer("sim-asan", sim_sanitized, FILLS, slow=True),
    Layer("sim-tsan", sim_threads, FILLS, slow=True),
    Layer("fuzz", fuzz, FILLS, slow=True),
    Layer("driver", driver, FILLS),
    Layer("kgni", kgni, FILLS),
    Layer("userlib", userlib, FILLS),
    Layer("qtest", qtest, WAITS),
    Layer("other-qemu", other_qemu, WAITS, slow=True),
    Layer("guest", guest, WAITS),
    Layer("cluster", cluster, WAITS),
    Layer("cluster-two-hosts", cluster_two_hosts, WAITS, slow=True),
    Layer("other-kernel", other_kernel, WAITS, slow=True),
]
