#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The sample LND beside gni-perf: bulk data and messages between two nodes, in turns, medians and ratios.

usage: bench-lnd.py [--rounds N] [--strict]

Exit status: 0 measured, 1 something failed; with --strict 3 when a promise is missed.
"""

import asyncio
import json
import statistics
import sys

from opengni import Cluster, ClusterConfig, ClusterError
from opengni.arguments import Parser
from opengni.output import program

MIB = 1 << 20
WINDOW = 4  # transfers under way: more of them do not stay in the caches, as the one of gni-perf does
BULK_BOUND = 0.7  # of gni-perf's block put
RATE_BOUND = 10000  # messages a second and thread
DEBUG = "/sys/kernel/debug"


def check(result):
    if result.code:
        raise ClusterError(f"status {result.code}: {result.stdout} {result.stderr}")
    return result.stdout


async def perf(cluster):
    """Bytes a second of gni-perf's block put, one at a time."""
    results = await cluster.run_job(["gni-perf", "--json=-", "--tests=bte-put", f"--sizes={MIB}", "--iterations=200"], timeout=600, nodes=[0, 1])
    rows = json.loads(check(results[0]))["results"]
    row = next(row for row in rows if row["size"] == MIB and row["test"] == "bte-put")
    return MIB * 1e9 / row["p50_ns"]


async def lnd(cluster, peer, **parameters):
    """One run of slnd_test on node 0."""
    line = " ".join(f"{name}={value}" for name, value in parameters.items())
    text = check(await cluster.node(0).run(f"echo {line} peer={peer} >{DEBUG}/slnd_test/run && cat {DEBUG}/slnd_test/result", timeout=600))
    result = dict(word.split("=") for word in text.split())
    if result["failed"] != "0" or result["damaged"] != "0":
        raise ClusterError(text)
    return int(result["ok"]) * 1e9 / int(result["ns"])


async def measure(rounds):
    """Samples of each figure."""
    samples = {name: [] for name in ("gni-perf put", "put", "get", "rate", "rate of two", "latency")}
    async with Cluster(ClusterConfig(nodes=2, mem_mib=768), lambda line: print(line, file=sys.stderr)) as cluster:
        for node in range(2):
            check(await cluster.node(node).run("modprobe slnd && modprobe slnd_test"))
        peer = check(await cluster.node(1).run(f"sed -n 's/^address //p' {DEBUG}/slnd_test/peer")).strip()
        await lnd(cluster, peer, test="latency", count=100)
        for _ in range(rounds):
            samples["gni-perf put"].append(await perf(cluster))
            for test in ("put", "get"):
                samples[test].append(MIB * await lnd(cluster, peer, test=test, bytes=MIB, count=400, window=WINDOW, check=0))
            samples["rate"].append(await lnd(cluster, peer, test="rate", count=20000, window=64, check=0))
            samples["rate of two"].append(await lnd(cluster, peer, test="rate", count=20000, window=64, threads=2, check=0) / 2)
            samples["latency"].append(5e5 / await lnd(cluster, peer, test="latency", count=2000))
    return {name: statistics.median(values) for name, values in samples.items()}, samples


def report(median, samples):
    """Prints the table; whether all promises are kept."""
    ratio = {test: statistics.median(a / b for a, b in zip(samples[test], samples["gni-perf put"])) for test in ("put", "get")}
    rows = [("gni-perf, block put of 1 MiB", f"{median['gni-perf put'] / MIB:.0f} MiB/s", "", True)]
    rows += [(f"slnd, {test} of 1 MiB, {WINDOW} under way", f"{median[test] / MIB:.0f} MiB/s",
              f"{ratio[test]:.2f} of it (>= {BULK_BOUND})", ratio[test] >= BULK_BOUND) for test in ("put", "get")]
    rows += [(f"slnd, messages a second, {text}", f"{median[name]:.0f}", f"(>= {RATE_BOUND})", median[name] >= RATE_BOUND)
             for name, text in (("rate", "one thread"), ("rate of two", "each of two threads"))]
    rows += [("slnd, message, half of a round trip", f"{median['latency']:.0f} us", "", True)]
    for text, value, note, kept in rows:
        print(f"{text:<45} {value:>12}  {note}{'' if kept else '  MISSED'}")
    return all(kept for *_, kept in rows)


def main():
    """Parse arguments, measure, report."""
    parser = Parser(description="The sample LND beside gni-perf.")
    parser.add_argument("--rounds", type=int, default=5, help="samples of each figure (default 5)")
    parser.add_argument("--strict", action="store_true", help="exit status 3 when a promise is missed")
    args = parser.parse_args()
    try:
        median, samples = asyncio.run(measure(args.rounds))
    except ClusterError as error:
        print(f"bench-lnd: {error}", file=sys.stderr)
        return 1
    kept = report(median, samples)
    return 3 if args.strict and not kept else 0


if __name__ == "__main__":
    sys.exit(program(main))
