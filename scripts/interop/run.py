#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the clients that `make interop` has built in virtual machines; a line for each check, and a sum.

PASS: as it should be. FAIL: not. NONE: cannot be asked of this build, with the reason.
"""

import argparse
import os
import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from opengni import host  # noqa: E402  (needs the path)
from opengni.config import ClusterConfig  # noqa: E402
from opengni.errors import ClusterError  # noqa: E402
from opengni.testing import SyncCluster, kernel_complaints  # noqa: E402

OUT = host.BUILD / "interop"
LOG = OUT / "run.log"
UCX, MPI = "/opt/ucx/bin", "/opt/openmpi/bin"
COOKIE = 0x1234567
RDMA_TESTS = ("put_lat", "put_bw", "get", "add_lat", "add_mr", "fadd", "swap", "cswap")


class Report:
    """Prints checks as they end."""

    def __init__(self, log):
        self.log = log
        self.count = {"PASS": 0, "FAIL": 0, "NONE": 0}

    def add(self, verdict, name, detail=""):
        """One check."""
        self.count[verdict] += 1
        print(f"{verdict}  {name}{': ' + detail if detail else ''}", flush=True)

    def check(self, name, function, *arguments):
        """Run a check: it returns a detail, or raises AssertionError or ClusterError."""
        start = time.monotonic()
        self.log.write(f"\n==== {name}\n")
        try:
            detail = function(*arguments)
        except (AssertionError, ClusterError) as error:
            self.add("FAIL", name, str(error).splitlines()[0] if str(error) else type(error).__name__)
            self.log.write(f"FAIL {error}\n")
            return
        finally:
            self.log.write(f"({time.monotonic() - start:.1f} s)\n")
            self.log.flush()
        self.add("PASS", name, detail or "")


class Guests:
    """The nodes, and how clients are started there."""

    def __init__(self, cluster, log):
        self.cluster, self.log = cluster, log

    def shell(self, node, text, timeout=120.0):
        """A command on a node that must end with 0; what it printed."""
        result = self.cluster.run(node, text, timeout=timeout)
        return self.judge(result)

    def aprun(self, argv, count, timeout=120.0, **options):
        """A program as aprun starts it; what rank 0 printed."""
        results = self.cluster.run_application(argv, count, timeout=timeout, **options)
        for result in results:
            self.judge(result)
        return results[0].stdout

    def judge(self, result):
        """Log what it printed and assert that it ended with 0."""
        self.log.write(result.stdout + result.stderr)
        last = (result.stderr or result.stdout or getattr(result, "error", "")).strip().splitlines()
        assert result.code == 0, f"exit status {result.code}: {last[-1] if last else ''}"
        return result.stdout

    def mpirun(self, options, program, nodes, ranks, timeout=300.0):
        """A program under Open MPI's own launcher, over ssh from node 0."""
        hosts = ",".join(f"node{node}:{ranks // nodes}" for node in range(nodes))
        script = (f"export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 $(gni-domain create --job=77 --cookie={COOKIE});"
                  f" cd /root && exec {MPI}/mpirun --prefix /opt/openmpi --mca pml ob1 {options}"
                  f" -x PMI_GNI_PTAG -x PMI_GNI_COOKIE -host {hosts} -n {ranks} {program}")
        return self.shell(0, script, timeout)


def figure(test, text):
    """What ucx_perftest measured: bandwidth, rate or time, as the test's name says."""
    match = re.search(r"^Final:\s+\d+\s+(.*)$", text, re.M)
    assert match, "ucx_perftest printed no result"
    words = match.group(1).split()
    assert len(words) == 7, f"ucx_perftest's result is not understood: {match.group(0)}"
    if test.endswith("_bw"):
        return f"{words[3]} MB/s"
    return f"{words[5]} per s" if test.endswith("_mr") else f"{words[0]} us"


def perftest(transport, test):
    """The command line; a get has no short form."""
    more = ["-D", "bcopy"] if test == "get" else []
    return [f"{UCX}/ucx_perftest", "-d", "ARIES:0", "-x", transport, "-t", test, "-n", "500", "-w", "20", *more]


def ucx_info(guests, transport):
    text = guests.aprun([f"{UCX}/ucx_info", "-d"], 1)
    part = re.search(rf"Transport: {transport}\n#\s+Device: (\S+)", text)
    assert part, f"{transport} is not listed"
    assert part.group(1) == "ARIES:0", f"device {part.group(1)}"
    return part.group(1)


def ucx_perf_loopback(guests, transport, test):
    return figure(test, guests.aprun([*perftest(transport, test), "-l"], 1))


def ucx_perf_pair(guests, transport, test):
    # Rank 0 serves; rank 1 asks it by TCP where its NIC is.
    common = " ".join(perftest(transport, test))
    script = f"[ $PMI_RANK = 0 ] && exec {common}; sleep 2; exec {common} node0"
    results = guests.cluster.run_application(["sh", "-c", script], 2, per_node=1, timeout=120.0)
    for result in results:
        guests.judge(result)
    return figure(test, results[1].stdout)


def ucx_checks(report, guests):
    """UCX: devices, transports, loopback, two nodes."""
    for transport in ("ugni_rdma", "ugni_udt", "ugni_smsg"):
        report.check(f"ucx_info -d lists {transport}", ucx_info, guests, transport)
    for test in RDMA_TESTS:
        report.check(f"ucx_perftest ugni_rdma {test}, one process", ucx_perf_loopback, guests, "ugni_rdma", test)
    for test in ("am_lat", "am_bw"):
        report.check(f"ucx_perftest ugni_smsg {test}, one process", ucx_perf_loopback, guests, "ugni_smsg", test)
    for test in RDMA_TESTS:
        report.check(f"ucx_perftest ugni_rdma {test}, two nodes", ucx_perf_pair, guests, "ugni_rdma", test)
    for test in ("am_lat", "am_bw"):
        report.check(f"ucx_perftest ugni_smsg {test}, two nodes", ucx_perf_pair, guests, "ugni_smsg", test)
    report.add("NONE", "ucx_perftest ugni_udt", "it asks for callbacks in the caller, ugni_udt only has those of a thread;"
               " ugni_smsg connects through it all the same")
    report.add("NONE", "UCX's gtest", "not part of this build")


def mpi_example(guests, program, pattern, nodes, ranks):
    text = guests.mpirun("--mca btl ugni,self", program, nodes, ranks)
    found = len(re.findall(pattern, text))
    assert found >= 1, f"'{pattern}' is not in what it printed"


def mpi_check(guests, what, options, nodes, ranks):
    text = guests.mpirun(f"--mca btl ugni,self {options}", f"mpi-check {what}", nodes, ranks)
    assert f"PASS {what} with {ranks} ranks" in text, "no PASS line"
    found = re.search(r"pingpong 8 bytes: half round trip (\S+) us", text)
    return f"8 bytes {found.group(1)} us" if found else ""


def mpi_info(guests):
    text = guests.shell(0, f"{MPI}/ompi_info")
    assert re.search(r"MCA btl: ugni", text), "btl ugni is not listed"


def mpi_checks(report, guests, most):
    """Open MPI: btl ugni on two nodes and more."""
    report.check("ompi_info lists btl ugni", mpi_info, guests)
    for nodes in (2, most) if most > 2 else (2,):
        for program, pattern in (("hello_c", rf"I am {nodes - 1} of {nodes}"), ("ring_c", r"exiting"), ("connectivity_c", "PASSED")):
            report.check(f"mpirun btl ugni, {nodes} nodes: {program}", mpi_example, guests, program, pattern, nodes, nodes)
        for what, options in (("pingpong", ""), ("allreduce", ""), ("alltoall", ""), ("osc", "--mca osc rdma")):
            report.check(f"mpirun btl ugni, {nodes} nodes: {what}", mpi_check, guests, what, options, nodes, nodes)
    report.check("mpirun btl ugni, 2 ranks on one node: pingpong", mpi_check, guests, "pingpong", "", 1, 2)


def prepare(guests, nodes):
    """What mpirun over ssh needs: the same domain on every node."""
    for node in range(nodes):
        guests.shell(node, f"gni-domain create --job=77 --cookie={COOKIE}")


def main():
    """0 when nothing failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("client", nargs="*", default=["ucx", "openmpi"], help="ucx, openmpi (default: both)")
    parser.add_argument("--nodes", type=int, default=4, help="nodes to boot, 2 or more (default 4)")
    args = parser.parse_args()
    config = ClusterConfig(nodes=args.nodes, mem_mib=1024, net=True, initrd=str(OUT / "initramfs.cpio"),
                           kernel=os.environ.get("KERNEL", "6.1"), boot_timeout=180.0)
    with open(LOG, "w", encoding="utf-8") as log:
        report, cluster = Report(log), SyncCluster(config)
        try:
            cluster.up()
            guests = Guests(cluster, log)
            prepare(guests, args.nodes)
            for client in ("ucx", "openmpi"):
                if client not in args.client:
                    continue
                if not (OUT / client / ".built").exists():
                    report.add("FAIL", client, f"it is not built, see {OUT / client}/build.log")
                elif client == "ucx":
                    ucx_checks(report, guests)
                else:
                    mpi_checks(report, guests, args.nodes)
            for node in range(args.nodes):
                complaints = kernel_complaints(guests.shell(node, "dmesg"))
                report.add("FAIL" if complaints else "PASS", f"kernel log of node {node}", "; ".join(complaints[:2]))
        except ClusterError as error:
            report.add("FAIL", "cluster", str(error))
        finally:
            cluster.down()
    print(f"{report.count['PASS']} passed, {report.count['FAIL']} failed, {report.count['NONE']} not asked; log {LOG}")
    return 1 if report.count["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())
