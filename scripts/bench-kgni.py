#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kGNI's small operations beside libugni's, between the same two nodes, in turns: medians and ratios.

An 8-byte FMA put to its event, from the kernel (gni_pingpong) and from a program (gni-perf), and one of the locks of the former; the half of a round
trip of a put with a remote event, and of a short message, each with an interrupt and a thread at both ends.

Exit status: 0 measured, 1 something failed; with --strict 3 when a promise is missed.
"""

import asyncio
import json
import re
import statistics
import sys

from opengni import Cluster, ClusterConfig, ClusterError
from opengni.arguments import Parser
from opengni.output import program

DIR = "/sys/kernel/debug/gni_pingpong"
PUT_BOUND = 1.5  # of libugni's
MESSAGE_BOUND = 3.0  # of a put with remote event and interrupt
COUNT = 3000


def check(result):
    """Output of a command that has to succeed."""
    if result.code:
        raise ClusterError(f"status {result.code}: {result.stdout} {result.stderr}")
    return result.stdout


async def libugni(cluster):
    """Nanoseconds of a put to its event, from a program."""
    argv = ["gni-perf", "--json=-", "--tests=put-event", "--sizes=8", f"--iterations={COUNT}"]
    results = await cluster.run_job(argv, timeout=600, nodes=[0, 1])
    rows = json.loads(check(results[0]))["results"]
    return next(row for row in rows if row["test"] == "put-event" and row["size"] == 8)["p50_ns"]


async def game(cluster, test):
    """The same from the kernel."""
    count = COUNT // 10 if test in ("put", "lock") else COUNT  # a sample of these is a loop
    text = check(await cluster.node(0).run(f"echo {test} {count} >{DIR}/run && cat {DIR}/result", timeout=600))
    return int(re.search(r"p50_ns=(\d+)", text)[1])


async def measure(rounds):
    """Samples of each figure."""
    samples = {name: [] for name in ("libugni", "put", "lock", "remote", "message")}
    async with Cluster(ClusterConfig(nodes=2, mem_mib=768), lambda line: print(line, file=sys.stderr)) as cluster:
        for result in await asyncio.gather(*(cluster.node(node).run(f"modprobe gni_pingpong peer={1 - node}", timeout=120)
                                             for node in range(2))):
            check(result)
        for _ in range(rounds):
            samples["libugni"].append(await libugni(cluster))
            for test in ("put", "lock", "remote", "message"):
                samples[test].append(await game(cluster, test))
    return samples


def report(samples):
    """Prints the table; whether all promises are kept."""
    def ratio(one, other):
        return statistics.median(a / b for a, b in zip(samples[one], samples[other]))

    put, lock, message = ratio("put", "libugni"), ratio("lock", "libugni"), ratio("message", "remote")
    rows = [("8-byte put to its event, libugni", "libugni", "", True),
            ("8-byte put to its event, kGNI", "put", f"{put:.2f} of it (<= {PUT_BOUND})", put <= PUT_BOUND),
            ("a lock with interrupts off; such a put takes 5", "lock", f"{lock:.2f} of libugni's put, each", True),
            ("put with remote event, half of a round trip", "remote", "", True),
            ("short message, half of a round trip", "message", f"{message:.2f} of it (<= {MESSAGE_BOUND})", message <= MESSAGE_BOUND)]
    for text, name, note, kept in rows:
        print(f"{text:<45} {statistics.median(samples[name]) / 1000:>9.2f} us  {note}{'' if kept else '  MISSED'}")
    return all(kept for *_, kept in rows)


def main():
    """Parse arguments, measure, report."""
    parser = Parser(description="kGNI's small operations beside libugni's.")
    parser.add_argument("--rounds", type=int, default=7, help="samples of each figure (default 7)")
    parser.add_argument("--strict", action="store_true", help="exit status 3 when a promise is missed")
    args = parser.parse_args()
    try:
        kept = report(asyncio.run(measure(args.rounds)))
    except ClusterError as error:
        print(f"bench-kgni: {error}", file=sys.stderr)
        return 1
    return 3 if args.strict and not kept else 0


if __name__ == "__main__":
    sys.exit(program(main))
