#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures of the job beside their floors, all measured in one run.

Boots two nodes, measures the host's memcpy while they idle, runs gni-perf between
them, then the floors: a store that traps and does nothing, a store into a RAM-backed
BAR, and an 8-byte ping-pong over plain shared memory between the same machines.
Prints a table and the ratios that the project promises, and writes JSON. With
--barrier-nodes=8 eight nodes are booted afterwards for a barrier among them, with
--start-nodes=4 four for the start of a job of eight ranks. With --plot it also draws
what it has measured; with --draw FILE it draws what an earlier run has written there.

Exit status: 0 measured (also when a ratio is missed), 1 something failed, 2 bad
command line; with --strict 3 when a ratio is missed.
"""

import argparse
import asyncio
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

import testlib  # noqa: F401
from opengni import Cluster, ClusterConfig, ClusterError
from opengni import fabric, host
from opengni.application import Application, place
from opengni.arguments import Parser
from opengni.output import program
from opengni.writing import write_text

MIB = 1 << 20
BULK_SIZES = (MIB, 64 * MIB)
BULK_BOUNDS = {MIB: 0.7, 64 * MIB: 0.8}  # of the host's memcpy
HUGE_BOUND = 0.75  # the same for 1 MiB in huge pages
REGIONS = (MIB, 4 * MIB, 16 * MIB)  # registered
RANKS_PER_NODE = 2  # of the job whose start is timed
BLOCK = 4096  # of the loop of short block puts
COPY_SIZES = (BLOCK,) + BULK_SIZES
RUNS = 9  # a program that lies elsewhere in memory may be a tenth slower: see TLB conflicts in design/library.md


def host_copy():
    """Median nanoseconds of memcpy() on the host, by size."""
    source = Path(__file__).parent / "bench" / "hostcopy.cpp"
    binary = host.BUILD / "bench" / "hostcopy"
    binary.parent.mkdir(parents=True, exist_ok=True)
    if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["g++", "-std=c++20", "-O2", "-o", binary, source], check=True)
    done = subprocess.run([binary, *map(str, COPY_SIZES)], check=True, capture_output=True, text=True)
    return {int(size): int(ns) for size, ns in (line.split() for line in done.stdout.splitlines())}


def segment_bytes(name):
    """Size of the fabric's segment, and what of it is in memory."""
    path = fabric.SHM / (fabric.PREFIX + name)
    stat = path.stat()
    return stat.st_size, stat.st_blocks * 512


async def perf(cluster, *options):
    """Rows of one gni-perf run on both nodes, as {(test, size): row}."""
    argv = ["gni-perf", "--json=-", *options]
    results = await cluster.run_job(argv, timeout=900, nodes=[0, 1])
    for result in results:
        if not result.ok:
            raise ClusterError(f"{' '.join(argv)} on node {result.node}: status {result.code} {result.error} {result.stderr.strip()}")
    report = json.loads(results[0].stdout)
    return {(row["test"], row["size"]): row for row in report["results"]}


async def sample(cluster):
    """One set of the figures that are compared: taken one right after the other, since the machine's speed changes."""
    copy = host_copy()
    bulk = await perf(cluster, "--tests=bulk")
    again = host_copy()
    huge = await perf(cluster, "--tests=bulk", "--max-size=1M", "--huge-pages")
    bulk["bulk-huge", MIB] = {**huge["bulk-put", MIB], "test": "bulk-huge", "note": "block put, buffers in huge pages"}
    loops = await perf(cluster, "--tests=floor,put-event,post-event,bell,launch,pingpong,put-remote,smsg,shm,calls", "--sizes=8",
                       "--iterations=300", "--max-size=1M")
    return {"copy": {size: (copy[size] + again[size]) / 2 for size in COPY_SIZES}, "rows": {**loops, **bulk}}


async def attached_bytes(cluster):
    """What a guest has less of by an attached, idle process; other pages come and go meanwhile."""
    rows = await perf(cluster, "--tests=attach", "--max-size=1M")
    return next(size for (test, size) in rows if test == "attach")


async def measure(config, args):
    """Boots the cluster and takes all figures."""
    data = {}
    async with Cluster(config, lambda line: print(line, file=sys.stderr)) as cluster:
        await asyncio.sleep(2)
        data["segment_before"] = segment_bytes(config.fabric)
        data["table"] = await perf(cluster, f"--iterations={args.iterations}", f"--max-size={args.max_size}")
        data["samples"] = [await sample(cluster) for _ in range(RUNS)]
        data["attach"] = [await attached_bytes(cluster) for _ in range(RUNS)]
        data["segment_after"] = segment_bytes(config.fabric)
    return data


async def measure_barrier(config, args):
    """The row of a barrier over more nodes than the rest needs."""
    async with Cluster(config, lambda line: print(line, file=sys.stderr)) as cluster:
        await asyncio.sleep(2)
        argv = ["gni-perf", "--json=-", "--tests=barrier", f"--iterations={args.iterations}"]
        results = await cluster.run_job(argv, timeout=900)
        for result in results:
            if not result.ok:
                raise ClusterError(f"{' '.join(argv)} on node {result.node}: status {result.code} {result.stderr.strip()}")
        return json.loads(results[0].stdout)["results"][0]


async def measure_start(config):
    """Seconds from the launcher's call until all ranks have met in libpmi and ended."""
    async with Cluster(config, lambda line: print(line, file=sys.stderr)) as cluster:
        await asyncio.sleep(2)
        request = {"count": RANKS_PER_NODE * config.nodes, "per_node": RANKS_PER_NODE}
        start = time.monotonic()
        job = Application(cluster, ["pmi-info"], placement=place(cluster, request))
        await job.launch()
        for rank in range(len(job.processes)):
            job.stdin(b"", rank)
        results = await job.wait(120.0)
        seconds = time.monotonic() - start
        for result in results:
            if not result.ok:
                raise ClusterError(f"pmi-info on node {result.node}: status {result.code} {result.stderr.strip()}")
        return seconds


def p50(data, test, size=0):
    """Median latency of a row in nanoseconds, over all samples."""
    return statistics.median(one["rows"][test, size]["p50_ns"] for one in data["samples"])


def copy_ns(data, size):
    """Median time of the host's memcpy."""
    return statistics.median(one["copy"][size] for one in data["samples"])


def ratio(data, above, below):
    """Median over the samples of the ratio of two rows' medians."""
    return statistics.median(one["rows"][above]["p50_ns"] / one["rows"][below]["p50_ns"] for one in data["samples"])


def rate(data, test):
    """Median rate of a row over the samples, in millions a second."""
    return statistics.median(one["rows"][test, 8]["rate_per_s"] for one in data["samples"]) / 1e6


def library_figures(data):
    """Short messages, and calls that prepare transfers."""
    smsg = ratio(data, ("smsg", 8), ("put-remote", 8))
    messages = rate(data, "smsg")
    binding = p50(data, "ep-bind") / 1000
    small, middle, large = (p50(data, "register", size) for size in REGIONS)
    # Each step is four times as large: what a page costs beyond the first ones.
    growth = (large - middle) / 4 / (middle - small)
    calls = max(one["rows"]["register", 4 * MIB]["syscalls_per_transfer"] for one in data["samples"])
    return [("SMSG 8 B half ping-pong / put with remote event", smsg, "<= 2", smsg <= 2),
            ("SMSG 8 B one way, million/s", messages, ">= 0.3", messages >= 0.3),
            ("GNI_EpBind and GNI_EpUnbind together, us", binding, "< 1", binding < 1),
            ("GNI_MemRegister of 4 MiB: system calls", calls, "<= 2", calls <= 2),
            ("GNI_MemRegister, a page: from 4 to 16 / 1 to 4 MiB", growth, "<= 1.5", growth <= 1.5)]


def launch_figures(data):
    """Rates of 8-byte puts: by launch entries, and from two processors against one."""
    launch = rate(data, "launch")
    out = [("FMA launch, 8 B puts from one vCPU, million/s", launch, ">= 7.5", launch >= 7.5)]
    if ("launch-2", 8) in data["samples"][0]["rows"]:
        for test, text in (("put-each", "8 B puts, two vCPUs at once / one"), ("launch", "FMA launch, two vCPUs at once / one")):
            gain = ratio(data, (test, 8), (test + "-2", 8))
            out.append((text, gain, ">= 1.6", gain >= 1.6))
    return out


def judge(data):
    """The promised ratios: (text, value, bound, reached)."""
    traps = max(row["traps_per_transfer"] for (test, size), row in data["table"].items()
                if test == "fma-put" and size <= 64 and "traps_per_transfer" in row)
    put = ratio(data, ("put-event", 8), ("null-mmio", 0))
    ping = ratio(data, ("pingpong", 8), ("shm", 8))
    out = [("FMA put up to 64 B: traps for one put", traps, "= 1", traps == 1),
           ("8 B put to global event / null MMIO store", put, "<= 8", put <= 8),
           ("8 B half ping-pong / over plain shared memory", ping, "<= 2.5", ping <= 2.5)]
    fadd = ratio(data, ("fadd-event", 8), ("get-event", 8))
    block = statistics.median((one["rows"]["bte-bell", BLOCK]["p50_ns"] - one["copy"][BLOCK])
                              / one["rows"]["null-mmio", 0]["p50_ns"] for one in data["samples"])
    out += [("fetching add / 8 B get, to the global event", fadd, "<= 1.3", fadd <= 1.3),
            ("BTE put 4 KiB, doorbell to event, less host memcpy / null MMIO store", block, "<= 9", block <= 9)]
    out += launch_figures(data)
    for size in BULK_SIZES:
        speed = statistics.median(one["copy"][size] / one["rows"]["bulk-put", size]["p50_ns"] for one in data["samples"])
        out.append((f"BTE put {size // MIB} MiB / host memcpy, bandwidth", speed, f">= {BULK_BOUNDS[size]}",
                    speed >= BULK_BOUNDS[size]))
    speed = statistics.median(one["copy"][MIB] / one["rows"]["bulk-huge", MIB]["p50_ns"] for one in data["samples"])
    out.append(("BTE put 1 MiB from and to huge pages / host memcpy, bandwidth", speed, f">= {HUGE_BOUND}", speed >= HUGE_BOUND))
    out += library_figures(data)
    idle = statistics.median(data["attach"])
    out.append(("guest memory of an attached, idle process, KiB", idle / 1024, "< 1024", idle < MIB))
    if "barrier" in data:
        row = data["barrier"]
        nodes = row["size"]
        traps = row["traps_per_transfer"]
        out.append((f"{nodes}-node barrier: traps of all nodes", traps, f"< {3 * nodes}", traps < 3 * nodes))
        out.append((f"{nodes}-node barrier, polled: interrupts", row["irqs_per_transfer"], "= 0",
                    row["irqs_per_transfer"] == 0))
    if "start" in data:
        nodes, seconds = data["start"]
        out.append((f"start of {RANKS_PER_NODE * nodes} ranks on {nodes} nodes, s", seconds, "< 10", seconds < 10))
    grown = data["segment_after"][0] - data["segment_before"][0]
    out.append(("growth of the segment by traffic, bytes", grown, "= 0", grown == 0))
    return out


def number(row, key, scale, digits):
    """A figure of a row as text, '-' when it was not measured."""
    return f"{row[key] / scale:.{digits}f}" if key in row else "-"


def size_text(size):
    """1024 -> '1 KiB'."""
    for unit, name in ((MIB, "MiB"), (1024, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def print_table(data):
    """What the job reached."""
    print(f"{'test':<12} {'size':>8} {'p50 us':>11} {'p99 us':>11} {'MB/s':>10} {'kmsg/s':>10} {'model us':>10} {'traps':>6}")
    for (test, size), row in data["table"].items():
        if "p50_ns" in row or "rate_per_s" in row:
            print(f"{test:<12} {size_text(size):>8} {number(row, 'p50_ns', 1e3, 2):>11} {number(row, 'p99_ns', 1e3, 2):>11}"
                  f" {number(row, 'bandwidth_bytes_per_s', 1e6, 1):>10} {number(row, 'rate_per_s', 1e3, 2):>10}"
                  f" {number(row, 'modelled_ns', 1e3, 3):>10} {number(row, 'traps_per_transfer', 1, 2):>6}")


def print_floors(data):
    """What bounds it, and the loops that are compared with it."""
    print(f"\n{'floor, or loop compared with one':<62} {'median ns':>12}")
    for (test, size), row in data["samples"][0]["rows"].items():
        if test == "bulk-put":
            continue
        name = row.get("note", test) + (f", {size_text(size)}" if size else "")
        print(f"{name[:61]:<62} {p50(data, test, size):>12.1f}")
    for size in BULK_SIZES:
        for name, ns in (("host memcpy of ", copy_ns(data, size)), ("BTE put of ", p50(data, "bulk-put", size))):
            print(f"{name + size_text(size):<62} {ns:>12.0f}  {size / ns:.1f} GB/s")


def print_ratios(ratios):
    """Promise by promise."""
    print(f"\n{'promise':<64} {'measured':>10} {'bound':>8}  reached")
    for text, value, bound, reached in ratios:
        print(f"{text:<64} {value:>10.2f} {bound:>8}  {'yes' if reached else 'NO'}")


def to_json(config, data, ratios):
    """The same for machines."""
    return {
        "accelerator": config.accel, "qemu": config.qemu, "kernel": config.kernel, "host": platform.release(), "processors": os.cpu_count(),
        "table": list(data["table"].values()),
        "samples": [{"host_memcpy_ns": one["copy"], "rows": list(one["rows"].values())} for one in data["samples"]],
        "attach_bytes": data["attach"],
        "start_seconds": data["start"][1] if "start" in data else None,
        "segment_bytes": {"before": data["segment_before"], "after": data["segment_after"]},
        "ratios": [{"text": text, "value": value, "bound": bound, "reached": reached}
                   for text, value, bound, reached in ratios],
    }


def parse(argv):
    """Command line."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", default=ClusterConfig.kernel, help="6.1, 6.12, debug or the path of an image (default: $KERNEL, or what is built)")
    parser.add_argument("--initrd", default="", help="path of an initrd (default: the one 'make initramfs' makes)")
    parser.add_argument("--mem", type=int, default=768, help="MiB of each node (default %(default)s)")
    parser.add_argument("--iterations", type=int, default=200, help="transfers per size in the table (default %(default)s)")
    parser.add_argument("--max-size", default="64M", help="largest transfer in the table (default %(default)s)")
    parser.add_argument("--json", type=Path, default=host.BUILD / "bench" / "bench.json", help="file for the result (default %(default)s)")
    parser.add_argument("--barrier-nodes", type=int, default=0, metavar="N",
                        help="also boot N nodes and measure a barrier among them (default: not)")
    parser.add_argument("--start-nodes", type=int, default=0, metavar="N",
                        help=f"also boot N nodes and time the start of a job of {RANKS_PER_NODE} ranks each (default: not)")
    parser.add_argument("--plot", action="store_true", help="draw latency, bandwidth and promises as SVG, beside the JSON")
    parser.add_argument("--draw", type=Path, metavar="FILE", help="measure nothing, draw what is in this JSON, beside it")
    parser.add_argument("--strict", action="store_true", help="exit status 3 when a ratio is missed")
    return parser.parse_args(argv)


def small_nodes(args, name, count):
    """More nodes than the machine has processors for."""
    return ClusterConfig(nodes=count, name=name, kernel=args.kernel, initrd=args.initrd, mem_mib=384, smp=1, boot_timeout=300.0)


def draw(report, folder):
    """The drawings, and where they are. Only who wants them needs matplotlib."""
    from gnitest import bench_plots  # pylint: disable=import-outside-toplevel

    for path in bench_plots.draw(report, folder):
        print(f"drawing: {path}")


def draw_earlier(path):
    """What an earlier run has written; returns the exit status."""
    try:
        draw(json.loads(path.read_text(encoding="utf-8")), path.parent)
    except OSError as error:
        print(f"bench: {error}", file=sys.stderr)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        print(f"bench: {path} is not what the bench writes: {error!r}", file=sys.stderr)
    else:
        return 0
    return 1


def main(argv):
    """Measures and prints; returns the exit status."""
    args = parse(argv)
    if (args.plot or args.draw) and not importlib.util.find_spec("matplotlib"):
        print("bench: drawings need matplotlib: make bench PLOT=1 installs it, or scripts/setup.sh figures", file=sys.stderr)
        return 1
    if args.draw:
        return draw_earlier(args.draw)
    name = f"bench-{os.getpid()}"
    shared = fabric.SHM / f"opengni-{name}.shm"
    config = ClusterConfig(nodes=2, name=name, kernel=args.kernel, initrd=args.initrd, mem_mib=args.mem, qemu_args=[
        "-object", f"memory-backend-file,id=bench,mem-path={shared},size=1M,share=on",
        "-device", "ivshmem-plain,memdev=bench"])
    try:
        data = asyncio.run(measure(config, args))
        if args.barrier_nodes:
            many = small_nodes(args, name + "-n", args.barrier_nodes)
            data["barrier"] = asyncio.run(measure_barrier(many, args))
            data["table"]["barrier", data["barrier"]["size"]] = data["barrier"]
        if args.start_nodes:
            data["start"] = args.start_nodes, asyncio.run(measure_start(small_nodes(args, name + "-s", args.start_nodes)))
    except (ClusterError, OSError, subprocess.CalledProcessError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    finally:
        shared.unlink(missing_ok=True)
    ratios = judge(data)
    print_table(data)
    print_floors(data)
    print_ratios(ratios)
    args.json.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(to_json(config, data, ratios), indent=2) + "\n"
    write_text(args.json, text)
    print(f"\nJSON: {args.json}")
    if args.plot:
        draw(json.loads(text), args.json.parent)
    return 3 if args.strict and not all(reached for *_, reached in ratios) else 0


if __name__ == "__main__":
    sys.exit(program(main, sys.argv[1:]))
