#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Simulates and draws the figures of Documentation/reproductions.md.

Results lie below .build/figures, so that a call that was ended goes on; figures are SVG in
Documentation/figures, and what they show is printed as a table. Without names all of them.

Exit status: 0 drawn, 1 something failed, 2 bad command line.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import testlib  # noqa: F401
from gnitest.figures import FIGURES, SCALES
from opengni.arguments import Parser
from opengni.output import program

TOP = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("OPENGNI_BUILD", TOP / ".build"))


class FigureError(Exception):
    """What stands in the way of a figure; one line."""


def simulate(figure, options):
    """Runs what is missing; results by label of the sweep."""
    folder = BUILD / "figures" / options.scale / figure.name
    folder.mkdir(parents=True, exist_ok=True)
    results = {}
    for sweep in figure.sweeps(SCALES[options.scale]):
        out = folder / sweep.label
        command = [str(BUILD / "sim" / "aries-sim"), "sweep", *sweep.arguments, f"--out={out}", f"--processes={options.processes}"]
        if options.quiet:
            command.append("--quiet")
        try:
            status = subprocess.run(command, check=False).returncode
        except OSError as error:
            raise FigureError(f"{command[0]} cannot be run ({error.strerror}): make sim") from error
        if status:
            raise FigureError(f"{figure.name}: {' '.join(command)} failed")
        results[sweep.label] = json.loads(out.with_suffix(".json").read_text())
    return results


def draw(figure, results, options):
    """Writes the figure; prints its table."""
    try:
        from gnitest import figure_plots
    except ImportError as error:
        raise FigureError(f"{error}: make figures installs what is needed") from error
    path = options.to / (figure.name + {"small": ""}.get(options.scale, f"-{options.scale}") + ".svg")
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = figure_plots.draw(figure, results, path, SCALES[options.scale])
    seconds = sum(entry["result"]["seconds"] for sweep in results.values() for entry in sweep)
    runs = sum(len(sweep) for sweep in results.values())
    print(f"{figure.name} ({figure.claims}): {figure.title}; {runs} runs, {seconds:.0f} s; {path}")
    print("\n".join("    " + line for line in lines))


def parse(arguments):
    """Command line."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="; ".join(f"{f.name}: {f.title}" for f in FIGURES.values()))
    parser.add_argument("--scale", choices=SCALES, default="small",
                        help="machines as large as those of the sources (hours), smaller (minutes; default), or tiny (to try it)")
    parser.add_argument("--full", dest="scale", action="store_const", const="full", help="--scale=full")
    parser.add_argument("--no-plot", action="store_true", help="simulate only")
    parser.add_argument("--to", type=Path, default=TOP / "Documentation" / "figures", metavar="FOLDER", help="where figures go")
    parser.add_argument("-j", "--processes", type=int, default=0, help="runs beside each other; one for each processor")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in FIGURES]
    if unknown:
        parser.error(f"there is no figure {unknown[0]}: {', '.join(FIGURES)}")
    if options.processes < 0:
        parser.error(f"{options.processes} processes: at least 1, or 0 for one for each processor")
    return options


def main(arguments):
    """Exit status."""
    options = parse(arguments)
    # As for Ctrl-C: subprocess.run() then ends the sweep, which would go on alone otherwise.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    names = options.names or list(FIGURES)
    try:
        for number, name in enumerate(names):
            start = time.monotonic()
            if not options.quiet:
                print(f"[{number + 1}/{len(names)}] {name}: {FIGURES[name].title}", file=sys.stderr)
            results = simulate(FIGURES[name], options)
            if not options.quiet:
                print(f"[{number + 1}/{len(names)}] {name}: {time.monotonic() - start:.0f} s", file=sys.stderr)
            if not options.no_plot:
                draw(FIGURES[name], results, options)
    except FigureError as error:
        print(f"figures.py: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("figures.py: ended; the same call goes on", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(program(main, sys.argv[1:]))
