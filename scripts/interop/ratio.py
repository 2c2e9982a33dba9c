# SPDX-License-Identifier: GPL-2.0-or-later
"""Open MPI over btl ugni beside btl tcp, between the same two nodes in the same run; how fast jobs start."""

import re
import statistics
import subprocess
import time

from guests import OUT
from opengni import host

BTLS = {"ugni": "--mca btl ugni,self", "tcp": "--mca btl tcp,self --mca btl_tcp_if_include eth0"}
RUNS = 3
LATENCY_RATIO, BANDWIDTH_RATIO = 40.0, 10.0
RANKS, NODES, START_LIMIT = 8, 4, 10.0
CLUSTER = f"interop-start-{RANKS}"


def parse(text):
    """mpi-perf's (median, best) of latency in us, bandwidth one way in MB/s, bandwidth there and back."""
    found = [re.search(pattern, text) for pattern in (
        r"latency 8 bytes: half round trip ([\d.]+) us, least ([\d.]+) us",
        r"bandwidth 1048576 bytes: ([\d.]+) MB/s, most ([\d.]+) MB/s",
        r"roundtrip 1048576 bytes: ([\d.]+) MB/s, most ([\d.]+) MB/s")]
    assert all(found), "mpi-perf's output is not understood"
    return [(float(match.group(1)), float(match.group(2))) for match in found]


def measure(guests, btl):
    """One run of mpi-perf between nodes 0 and 1."""
    return parse(guests.mpirun(BTLS[btl], "mpi-perf", 2, 2))


def without_erms(guests):
    """Under TCG guests with ERMS copy byte by byte: a comparison would be unfair."""
    for node in (0, 1):
        flags = guests.shell(node, "grep -m 1 ^flags /proc/cpuinfo").split()
        assert "erms" not in flags, f"node {node} has ERMS"


def judge(report, name, unit, wanted, ours, theirs):
    """A ratio of what is better in both, beside its limit. Ours is a median, TCP's the best block of all."""
    ratio = theirs / ours if unit == "us" else ours / theirs
    report.add("PASS" if ratio >= wanted else "FAIL", name,
               f"btl ugni {ours:g} {unit} (median), btl tcp {theirs:g} {unit} (best): {ratio:.1f} times better (wanted {wanted:g})")


def combine(runs, column, better):
    """(median of our medians, best of TCP's blocks) of pairs of runs."""
    return statistics.median(ugni[column][0] for ugni, _ in runs), better(tcp[column][1] for _, tcp in runs)


def compare(report, guests):
    """RUNS runs of each, taking turns. A busy host spoils TCP more than ugni: so TCP counts at its best."""
    report.log.write("\n==== ratios\n")
    try:
        without_erms(guests)
        runs = [(measure(guests, "ugni"), measure(guests, "tcp")) for _ in range(RUNS)]
    except AssertionError as error:
        report.add("FAIL", "Open MPI, btl ugni beside btl tcp", str(error))
        return
    judge(report, "Open MPI, 8 bytes, half ping-pong", "us", LATENCY_RATIO, *combine(runs, 0, min))
    judge(report, "Open MPI, 1 MiB, one way", "MB/s", BANDWIDTH_RATIO, *combine(runs, 1, max))
    judge(report, "Open MPI, 1 MiB, ping-pong", "MB/s", BANDWIDTH_RATIO, *combine(runs, 2, max))


def script(name, *arguments, timeout=180.0):
    """A program of scripts/, as a user calls it; (exit status, output, seconds)."""
    start = time.monotonic()
    done = subprocess.run([str(host.TOP / "scripts" / name), *arguments], capture_output=True, text=True, timeout=timeout, check=False)
    return done.returncode, done.stdout + done.stderr, time.monotonic() - start


def start(report):
    """scripts/aprun with 8 ranks on 4 nodes that are up, from the command to its end."""
    report.log.write("\n==== start of a job\n")
    name = f"aprun -n {RANKS} on {NODES} nodes"
    status, text, _ = script("cluster", "up", "-n", str(NODES), "--name", CLUSTER, "--initrd", str(OUT / "initramfs.cpio"), "-q")
    report.log.write(text)
    if status:
        report.add("FAIL", name, f"no cluster: {text.strip().splitlines()[-1] if text.strip() else status}")
        return
    try:
        for program in ("/bin/true", "pmi-info"):
            status, text, seconds = script("aprun", "--cluster", CLUSTER, "-n", str(RANKS), "-N", str(RANKS // NODES), program)
            report.log.write(text)
            good = status == 0 and seconds < START_LIMIT
            report.add("PASS" if good else "FAIL", f"{name}: {program}", f"status {status} after {seconds:.2f} s (limit {START_LIMIT:g})")
    finally:
        script("cluster", "down", "--name", CLUSTER)
