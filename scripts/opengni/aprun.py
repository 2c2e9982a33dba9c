# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of scripts/aprun."""

import argparse
import asyncio
import os
import sys

from . import client, host
from .arguments import Parser, whole
from .config import NODES_MAX
from .errors import ClusterError, UsageError
from .job import PER_NODE_MAX
from .output import reader_gone

ALPS = ", as aprun 5.2 of ALPS"

DESCRIPTION = """Start a program on the nodes of a running cluster, as ALPS does: with communication domains on every node,
and with what libpmi, libugni and their users expect in the environment."""
EPILOG = """The program is a path in the guests (make it part of them with OVERLAY=, or copy it with `scripts/cluster cp`).
Input goes to rank 0. SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2 and SIGCONT go to all ranks. The first rank
that fails ends the others; its exit status (128 + the signal) is that of aprun. 1 is also an error of aprun itself, 2 a
wrong command line.

examples:
  scripts/cluster up -n 4
  scripts/aprun -n 8 -N 2 -l ./program         8 ranks, 2 on each node, lines marked with their rank
  scripts/aprun -n 2 -L 1,3 ./program          on nodes 1 and 3
"""


_positive = whole(1, (1 << 31) - 1)


def _node_list(text):
    numbers = []
    try:
        for part in text.split(","):
            first, dash, last = part.partition("-")
            numbers.extend(range(int(first), min(int(last if dash else first), NODES_MAX) + 1))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of nodes such as 0 or 0,2-3") from None
    if not numbers or min(numbers) < 0 or max(numbers) >= NODES_MAX:
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of nodes such as 0 or 0,2-3")
    if len(set(numbers)) < len(numbers):
        raise argparse.ArgumentTypeError(f"'{text}' names a node twice")
    return numbers


def _pair(text):
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE")
    return name, value


def parser():
    """The argument parser; tests use it too."""
    top = Parser(prog="aprun", usage="%(prog)s [OPTION...] PROGRAM [ARGUMENT...]", description=DESCRIPTION,
                 epilog=EPILOG.replace("scripts/", host.SCRIPTS), note=ALPS, formatter_class=argparse.RawDescriptionHelpFormatter)
    top.add_argument("-n", "--pes", type=_positive, default=1, metavar="N", help="ranks (default 1)")
    top.add_argument("-N", "--pes-per-node", type=whole(1, PER_NODE_MAX), metavar="N",
                     help="ranks on each node (default: its processors divided by -d)")
    top.add_argument("-d", "--cpus-per-pe", type=_positive, default=1, metavar="N", help="processors for each rank (default 1)")
    top.add_argument("-L", "--node-list", type=_node_list, metavar="LIST", help="nodes to take, in this order, such as 0,2-3")
    top.add_argument("-e", "--environment-override", type=_pair, action="append", default=[], metavar="NAME=VALUE",
                     help="environment of the ranks")
    top.add_argument("-l", "--label", action="store_true", help="mark every line with the rank it comes from")
    top.add_argument("-q", "--quiet", action="store_true", help="do not tell which rank has failed")
    top.add_argument("-b", "--bypass-app-transfer", action="store_true", help="accepted: programs are never copied to the nodes")
    top.add_argument("-T", "--sync-output", action="store_true", help="accepted: lines of ranks do not mix with --label")
    top.add_argument("-t", "--time-limit", type=_positive, metavar="S", help="seconds after which the application is ended")
    top.add_argument("--cwd", default="/", help="working directory (default /)")
    top.add_argument("--cluster", "--name", default=os.environ.get("OPENGNI_CLUSTER", "default"), metavar="NAME",
                     help="name of the cluster (default: $OPENGNI_CLUSTER, or 'default')")
    # One list: with a program of its own argparse drops a '--' that follows it.
    top.add_argument("command", nargs=argparse.REMAINDER, metavar="PROGRAM [ARGUMENT...]",
                     help="path in the guest, and its arguments")
    return top


def command_of(args):
    """Program and arguments; a '--' may end the options."""
    return args.command[1:] if args.command[:1] == ["--"] else args.command


def request_of(args):
    """What the cluster's process is asked."""
    return {"argv": command_of(args), "count": args.pes, "per_node": args.pes_per_node,
            "depth": args.cpus_per_pe, "nodes": args.node_list, "env": dict(args.environment_override),
            "cwd": args.cwd, "timeout": args.time_limit}


def main(argv):
    """Run an application; its exit status."""
    top = parser()
    args = top.parse_args(argv)
    if not command_of(args):
        top.error("the following arguments are required: PROGRAM")
    if ":" in command_of(args)[1:]:
        top.error("several programs separated by ':' are not supported")
    if args.pes_per_node and args.pes_per_node > args.pes:
        args.pes_per_node = args.pes
    try:
        return asyncio.run(client.aprun(args.cluster, request_of(args), args.label, args.quiet))
    except ClusterError as error:
        print(f"aprun: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return reader_gone()
