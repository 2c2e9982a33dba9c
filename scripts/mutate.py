#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Faults that tests have to see: list them, put one into the tree, run the tests against each.

run works in a copy of the tree below .build/mutations, which has its own folder for what is built: the tree itself is
not touched. A call that was ended goes on. A mutation that no test sees is a missing test; one that does not compile is
an error in the list.

Exit status: 0 done, 1 a mutation is not seen, or does not compile or apply, 2 wrong usage.
"""

import argparse
import difflib
import fcntl
import os
import signal
import sys
from pathlib import Path

import testlib  # noqa: F401
from gnitest import mutants, mutation_table, mutations
from opengni.arguments import Parser
from opengni.host import BUILD, TOP
from opengni.output import program

FOLDER = BUILD / "mutations"


def show(mutation):
    """What a mutation changes, as a difference."""
    before = (TOP / mutation.file).read_text(encoding="utf-8")
    return "".join(difflib.unified_diff(before.splitlines(True), mutation.changed(before).splitlines(True), f"a/{mutation.file}", f"b/{mutation.file}"))


def run(chosen, options):
    """Run mutations; exit status."""
    def say(line):
        print(line, flush=True)
    options.folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(options.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise mutations.MutationError(f"another run works in {options.folder}: give this one a --folder of its own") from None
    shop = mutants.Workshop(TOP, options.folder, say)
    results = mutants.Results(options.folder / mutants.RESULTS)
    shop.synchronize()
    mutants.Run(shop, results, say, options.booted, options.named).all(chosen, options.again)
    known = [results.mutations.get(mutation.name) for mutation in chosen]
    seen = sum(result is not None and result.outcome == mutants.SEEN for result in known)
    print(f"{seen} of {len(chosen)} mutations seen")
    return 0 if seen == len(chosen) else 1


def found_in(folders):
    """What runs in some folders have found."""
    results = mutants.Results(folders[0] / mutants.RESULTS)
    for folder in folders[1:]:
        results.add(mutants.Results(folder / mutants.RESULTS))
    return results


def keep(found):
    """Put results into those of the tree."""
    if not found.mutations:
        raise mutations.MutationError(f"nothing was run in {found.path.parent}")
    kept = mutants.Results(TOP / mutations.FOLDER / mutants.RESULTS)
    kept.add(found)
    kept.save()


def parse(arguments):
    """Command line."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, action="append", metavar="DIR",
                        help="instead of .build/mutations: what run works in, one for each that runs at a time; table and keep take several")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", help="mutate.py COMMAND --help says more")
    for name, text in (("list", "names, and what each breaks"), ("show", "the change as a difference"),
                       ("apply", "put mutations into this tree"), ("revert", "take them out again"), ("run", "run the tests against each")):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("names", nargs="*" if name in ("list", "show", "run") else "+", metavar="NAME", help="UNIT, UNIT/NAME or NAME")
        if name == "run":
            command.add_argument("--booted", action="store_true", help="tests in virtual machines that a mutation names as well")
            command.add_argument("--named", action="store_true", help="none but the tests that a mutation names")
            command.add_argument("--again", action="store_true", help="those that were seen, too")
    for name, text in (("table", "what each test has found, in Markdown"), ("keep", f"put what was found into {mutations.FOLDER / mutants.RESULTS}")):
        commands.add_parser(name, help=text, description=text)
    options = parser.parse_args(arguments)
    options.folders = [folder.resolve() for folder in options.folder or [FOLDER]]
    options.folder = options.folders[0]
    return options


def main():
    """Exit status."""
    options = parse(sys.argv[1:])
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        known = mutations.load(TOP)
        if options.command == "table":
            print(mutation_table.table(known, found_in(options.folders)), end="")
            return 0
        if options.command == "keep":
            keep(found_in(options.folders))
            return 0
        chosen = mutations.choose(known, options.names)
        if options.command == "run":
            return run(chosen, options)
        for mutation in chosen:
            if options.command == "list":
                print(f"{mutation.name:<36} {mutation.breaks}")
            elif options.command == "show":
                print(f"# {mutation.name}: {mutation.breaks}\n{show(mutation)}", end="")
            else:
                mutation.apply(TOP, back=options.command == "revert")
    except mutations.MutationError as error:
        print(f"{os.path.basename(sys.argv[0])}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(program(main))
