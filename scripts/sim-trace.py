#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes a trace for aries-sim from packet captures of NICs (.pcapng, one file for each node) or an OTF2 archive (.otf2).

    scripts/sim-trace.py node0.pcapng node1.pcapng >messages.csv
    scripts/sim-trace.py --from 10 --to 11.5 *.pcapng >piece.csv
    aries-sim aries groups=8 --job 'nodes: 2, groups: 2, trace: messages.csv' --job 'nodes: rest, load: 0.3'

Exit status: 0 written, 1 a trace that cannot be read, 2 bad command line.
"""

import argparse
import sys
from pathlib import Path

from opengni.arguments import Parser
from opengni.output import program
from opengni.traces import TraceError, check_length, cut, read_otf2, read_pcapng, shorten_pauses, write_messages


def span(text):
    """A length of time that is not negative."""
    value = float(text)
    if not 0 <= value < float("inf"):
        raise ValueError(text)
    return value


def main(arguments):
    """Exit status."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="+", type=Path, metavar="FILE", help="*.pcapng or *.otf2")
    parser.add_argument("--from", dest="first", type=span, metavar="S", help="leave out what is before, in seconds from the first message")
    parser.add_argument("--to", dest="last", type=span, metavar="S", help="leave out what is from there on")
    parser.add_argument("--pause", type=span, metavar="MS", help="let no pause between two messages be longer, in milliseconds")
    options = parser.parse_args(arguments)
    messages = []
    try:
        for path in options.traces:
            messages += read_otf2(path) if path.suffix == ".otf2" else read_pcapng(path)
        if not messages:
            raise TraceError(f"{options.traces[0]}: there is no message in it")
        taken = cut(messages, options.first, options.last)
        if not taken:
            raise TraceError(f"{options.traces[0]}: there is no message in the piece that --from and --to take")
        if options.pause is not None:
            taken = shorten_pauses(taken, round(options.pause * 1e6))
        check_length(taken, options.traces[0])
        count = write_messages(taken, sys.stdout)
        print(f"sim-trace.py: {count} messages, {len(taken) - count} to itself left out", file=sys.stderr)
    except (TraceError, OSError) as error:
        print(f"sim-trace.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(program(main, sys.argv[1:]))
