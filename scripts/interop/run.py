#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the clients that `make interop` has built in virtual machines; a line for each check, and a sum.

PASS: as it should be. FAIL: not. NONE: cannot be asked of this build, with the reason.
"""

import argparse
import os
import sys
import time
from typing import Any

import gtest
import openmpi
import ratio
import ucx
from guests import OUT, Guests, Report
from gnitest.testing import SyncCluster, kernel_complaints, on_hosts
from opengni.arguments import Parser
from opengni.config import ClusterConfig
from opengni.errors import ClusterError
from opengni.output import program

LOG = OUT / "run.log"

# name: the client it needs, the nodes (0: as --nodes says), the function
PARTS = {
    # No third node: on this Ethernet every node sees every frame.
    "ratio": ("openmpi", 2, ratio.compare),
    "ucx": ("ucx", 0, ucx.programs),
    "openmpi": ("openmpi", 0, openmpi.programs),
    "gtest": ("ucx", gtest.NODES, gtest.check),
}
START = "start"


def run_parts(report, guests, parts):
    """The parts one after the other, then the kernels' logs."""
    guests.create_domain()
    for part in parts:
        started = time.monotonic()
        PARTS[part][2](report, guests)
        report.note(f"{part}: {time.monotonic() - started:.0f} s")
    for node in range(guests.nodes):
        complaints = kernel_complaints(guests.shell(node, "dmesg"))
        report.add("FAIL" if complaints else "PASS", f"kernel log of node {node} of {guests.nodes}", "; ".join(complaints[:2]))


def run_cluster(report, nodes, hosts, parts):
    """A cluster for some parts. The nodes' Ethernet is inside one host, so ssh goes by IP over the fabric between several."""
    networks: dict[str, Any] = {"ipogif": True, **on_hosts(nodes, hosts)} if hosts > 1 else {"net": True}
    config = ClusterConfig(nodes=nodes, mem_mib=1024, initrd=str(OUT / "initramfs.cpio"),
                           kernel=os.environ.get("KERNEL", "6.1"), boot_timeout=180.0, **networks)
    cluster = SyncCluster(config)
    try:
        cluster.up()
        run_parts(report, Guests(cluster, report.log), parts)
    except (ClusterError, AssertionError) as error:
        report.add("FAIL", "cluster", str(error))
    finally:
        cluster.down()


def built(report, part):
    """Whether the client of a part is there."""
    client = PARTS[part][0]
    if (OUT / client / ".built").exists():
        return True
    report.add("FAIL", part, f"{client} is not built, see {OUT / client}/build.log")
    return False


def known(name):
    """A part, as argparse takes it: its choices refuse no parts at all."""
    if name not in (*PARTS, START):
        raise argparse.ArgumentTypeError(f"no part {name!r}; there are {', '.join((*PARTS, START))}")
    return name


def parse(argv):
    """Command line."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", type=known, help=f"what to run: {', '.join((*PARTS, START))} (default: all)")
    parser.add_argument("--nodes", type=int, default=4, help="nodes to boot, 2 or more (default 4)")
    parser.add_argument("--hosts", type=int, default=1, help="hosts that they are divided between: addresses of this machine; parts"
                        " ucx and openmpi (default 1)")
    args = parser.parse_args(argv)
    if args.hosts > 1 and not set(args.part or PARTS) <= {"ucx", "openmpi"}:
        parser.error("with several hosts: only ucx and openmpi")
    args.part = args.part or [*PARTS, START]
    return args


def main(argv):
    """0 when nothing failed."""
    args = parse(argv)
    with open(LOG, "w", encoding="utf-8") as log:
        report = Report(log)
        parts = [part for part in PARTS if part in args.part and built(report, part)]
        for nodes in dict.fromkeys(PARTS[part][1] for part in parts):
            run_cluster(report, nodes or args.nodes, args.hosts, [part for part in parts if PARTS[part][1] == nodes])
        if START in args.part:
            ratio.start(report)
    print(f"{report.count['PASS']} passed, {report.count['FAIL']} failed, {report.count['NONE']} not asked; log {LOG}")
    return 1 if report.count["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(program(main, sys.argv[1:]))
