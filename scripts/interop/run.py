#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run the clients that `make interop` has built in virtual machines; a line for each check, and a sum.

PASS: as it should be. FAIL: not. NONE: cannot be asked of this build, with the reason.
"""

import argparse
import os
import sys
import time

import openmpi
import ratio
import ucx
from guests import OUT, Guests, Report
from opengni.config import ClusterConfig
from opengni.errors import ClusterError
from opengni.testing import SyncCluster, kernel_complaints

LOG = OUT / "run.log"

# name: the client it needs, the function
PARTS = {
    "ratio": ("openmpi", ratio.compare),
    "ucx": ("ucx", ucx.programs),
    "openmpi": ("openmpi", openmpi.programs),
    "gtest": ("ucx", ucx.gtest),
}
START = "start"


def run_parts(report, guests, parts):
    """The parts one after the other, then the kernels' logs."""
    guests.create_domain()
    for part in parts:
        client, function = PARTS[part]
        if not (OUT / client / ".built").exists():
            report.add("FAIL", part, f"{client} is not built, see {OUT / client}/build.log")
            continue
        started = time.monotonic()
        function(report, guests)
        report.note(f"{part}: {time.monotonic() - started:.0f} s")
    for node in range(guests.nodes):
        complaints = kernel_complaints(guests.shell(node, "dmesg"))
        report.add("FAIL" if complaints else "PASS", f"kernel log of node {node}", "; ".join(complaints[:2]))


def parse():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", choices=[*PARTS, START], help="what to run: %(choices)s (default: all)")
    parser.add_argument("--nodes", type=int, default=4, help="nodes to boot, 2 or more (default 4)")
    args = parser.parse_args()
    args.part = args.part or [*PARTS, START]
    return args


def main():
    """0 when nothing failed."""
    args = parse()
    config = ClusterConfig(nodes=args.nodes, mem_mib=1024, net=True, initrd=str(OUT / "initramfs.cpio"),
                           kernel=os.environ.get("KERNEL", "6.1"), boot_timeout=180.0)
    with open(LOG, "w", encoding="utf-8") as log:
        report = Report(log)
        parts = [part for part in PARTS if part in args.part]
        if parts:
            cluster = SyncCluster(config)
            try:
                cluster.up()
                run_parts(report, Guests(cluster, log), parts)
            except (ClusterError, AssertionError) as error:
                report.add("FAIL", "cluster", str(error))
            finally:
                cluster.down()
        if START in args.part:
            ratio.start(report)
    print(f"{report.count['PASS']} passed, {report.count['FAIL']} failed, {report.count['NONE']} not asked; log {LOG}")
    return 1 if report.count["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main())
