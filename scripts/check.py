#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run all layers of tests and add up their results.

usage: check.py [--all] [--list] [--changed[=REV]] [LAYER...]

--changed runs what files that differ from a revision (HEAD) can reach, and says of each layer why; what it leaves out is said as well.

The last line is "N passed, N failed, N skipped". A layer that cannot run counts
as a failure. Exit status: 0 nothing failed, 1 something did, 2 wrong usage.
"""

import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import testlib  # noqa: F401
from gnitest import layers, reach, tap
from opengni import host
from opengni.arguments import Parser
from opengni.errors import ClusterError
from opengni.output import program

SHOWN = 20
LONG = 60.0  # seconds after which a layer names its slowest tests
SLOWEST = 5
# Memory that two rows of layers want side by side: guests, and compilers of large sources.
BESIDE_MIB = 6000

# A layer's lines stand together.
_printing = threading.Lock()
# Somebody has stopped all of it: what ends now ends for that.
_stopped = threading.Event()


def slowest(name):
    """Tells which tests of a layer have taken longest, if the layer measures them."""
    file = layers.times_file(name)
    if file.exists():
        lines = file.read_text(encoding="utf-8").splitlines()[:SLOWEST]
        print("\n".join(f"    slowest {line.strip()}" for line in lines) + f"\n    all times: {file}")


def run_layer(name, function):
    """One layer: its cases, a line on the terminal, failures below it; which tests are slow, if it takes long."""
    start = time.monotonic()
    layers.times_file(name).unlink(missing_ok=True)
    try:
        cases = function()
    except (layers.LayerError, ClusterError, OSError, ValueError) as error:
        cases = [tap.Case(name, tap.FAIL, str(error))]
    with _printing:
        if not _stopped.is_set():
            tell(name, cases, time.monotonic() - start)
    return cases


def tell(name, cases, took):
    """The line of a layer and what belongs below it."""
    passed, failed, skipped = tap.count(cases)
    print(f"{name:<12} {passed} passed, {failed} failed, {skipped} skipped   {took:.0f} s", flush=True)
    bad = [case for case in cases if case.status == tap.FAIL]
    for case in bad[:SHOWN]:
        print(f"    FAILED {case.name}" + (f": {case.detail}" if case.detail else ""))
    if len(bad) > SHOWN:
        print(f"    and {len(bad) - SHOWN} more")
    for case in cases:
        if case.status == tap.SKIP:
            print(f"    skipped {case.name}: {case.detail}")
    if bad:
        print(f"    logs: {layers.LOGS}")
    if took > LONG:
        slowest(name)


def series(chosen):
    """Cases of layers, one after the other."""
    return [case for layer in chosen if not _stopped.is_set() for case in run_layer(layer.name, layer.run)]


def run_layers(chosen):
    """Cases of all these layers: first of those that want to be alone, then of those that wait, and beside them, one by one as well,
    of those that fill the processors."""
    alone, waiting, filling = ([layer for layer in chosen if layer.needs == needs] for needs in (layers.ALONE, layers.WAITS, layers.FILLS))
    if not waiting or not filling or (host.available_mib() or BESIDE_MIB) < BESIDE_MIB:
        return series(chosen)
    cases = series(alone)
    with ThreadPoolExecutor(1) as pool:
        beside = pool.submit(series, filling)
        layers.until_alone = beside.exception
        try:
            return cases + series(waiting) + beside.result()
        except BaseException:
            _stopped.set()
            while not beside.done():
                layers.end_all()
                time.sleep(0.1)
            raise


def choose(chosen, revision):
    """Of these layers the ones that what has changed since a revision reaches; layers.only has the tests of those that are run in part."""
    files = reach.changed_files(revision)
    choices = reach.chosen(chosen, files)
    print(f"{len(files)} files differ from {revision}", flush=True)
    for name in chosen:
        choice = choices.get(name)
        if choice is None:
            print(f"    {name:<12} skipped: nothing that has changed reaches it")
        elif choice.everything:
            print(f"    {name:<12} all, for {choice.told()}")
        else:
            layers.only[name] = choice.tests
            print(f"    {name:<12} {len(choice.tests)} tests, for {choice.told()}: {' '.join(sorted(choice.tests))}")
    return [name for name in chosen if name in choices]


def main():
    """Parse arguments, run, add up."""
    parser = Parser(description="Run the tests and add up their results.")
    parser.add_argument("--all", action="store_true", help="with the slow layers and tests")
    parser.add_argument("--list", action="store_true", help="names of the layers")
    parser.add_argument("--changed", nargs="?", const="HEAD", metavar="REV",
                        help="only layers and tests that files can reach which differ from a revision (default HEAD)")
    parser.add_argument("layers", nargs="*", metavar="LAYER", help="only these")
    args = parser.parse_args()
    known = {layer.name: layer for layer in layers.LAYERS}
    if args.changed in known:  # the first of the layers
        args.layers.insert(0, args.changed)
        args.changed = "HEAD"
    unknown = [name for name in args.layers if name not in known]
    if unknown:
        parser.error(f"no layer {unknown[0]!r}; there are {', '.join(known)}")
    if args.list:
        print("\n".join(known))
        return 0
    if args.all:
        os.environ["OPENGNI_SLOW"] = "1"
    chosen = args.layers or [layer.name for layer in layers.LAYERS if args.all or not layer.slow]
    if args.changed:
        chosen = choose(chosen, args.changed)
        if not chosen:
            print("0 passed, 0 failed, 0 skipped")
            return 0
    # A test run that is stopped must stop what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    cases = run_layers([known[name] for name in chosen])
    passed, failed, skipped = tap.count(cases)
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(program(main))
