#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""aries-gateway beside libfabric's own fi_pingpong, with the same provider between the same two namespaces, in one run.

usage: bench-gateway.py [--spin US] [--laps N]

Prints half of the round trip of 8 bytes, the bandwidth of 1 MiB (of the gateway in 64 KiB messages), and the rate of 8-byte messages
with 1,000 on their way, each with its ratio. Absolute figures are those of this machine at this time. Needs root and libfabric-bin.
"""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import testlib  # noqa: F401
from gnitest import hosts
from opengni import host
from opengni.arguments import Parser
from opengni.output import program

GATEWAY = host.BUILD / "model/gateway/aries-gateway"
PINGPONG = ("fi_pingpong", "-p", "tcp;ofi_rxm", "-e", "rdm")


def pingpong(machines, size, count):
    """fi_pingpong between the hosts: us of half a round trip, MB/s."""
    server = machines.start(0, *PINGPONG, "-S", size, "-I", count, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    line = machines.run(1, *PINGPONG, "-S", size, "-I", count, machines.address(0), timeout=300).stdout.splitlines()[-1].split()
    server.wait(60)
    return float(line[-2]), float(line[-3])


def ping(machines, common, *options):
    """Our ping: its result as data."""
    return json.loads(machines.run(1, GATEWAY, "ping", *common, "--self", "beta", "--to", "alpha", "--json", *options, timeout=300).stdout)


def lap(machines, common):
    """One value of each, next to each other in time."""
    few = ("--warm-up", "200")
    theirs_us, _ = pingpong(machines, 8, 3000)
    one = ping(machines, common, *few, "--count", "3000")
    _, theirs_mb = pingpong(machines, 1 << 20, 200)
    large = ping(machines, common, *few, "--size", "65536", "--flight", "16", "--bursts", "--count", "3200")
    many = ping(machines, common, *few, "--flight", "1000", "--count", "200000")
    return {"fi us": theirs_us, "us": one["half round trip us"], "fi MB/s": theirs_mb, "MB/s": large["MB per s each way"],
            "one/s": one["messages per s"], "many/s": many["messages per s"]}


def main():
    """Measures, and prints medians of the laps."""
    parser = Parser(description="aries-gateway beside fi_pingpong")
    parser.add_argument("--spin", type=int, default=1000, metavar="US", help="time that a gateway polls before it sleeps (default 1000)")
    parser.add_argument("--laps", type=int, default=3, metavar="N", help="number of measurements, whose median counts (default 3)")
    args = parser.parse_args()
    if not GATEWAY.exists() or not shutil.which("fi_pingpong"):
        parser.error("aries-gateway ('make topo') and fi_pingpong (libfabric-bin) are needed")
    with tempfile.TemporaryDirectory() as name, hosts.Hosts(2) as machines:
        folder = Path(name)
        (folder / "hosts").write_text(f"alpha {machines.address(0)} 0-3\nbeta {machines.address(1)} 4-7\n", encoding="ascii")
        subprocess.run([GATEWAY, "keygen", folder / "key"], check=True)
        common = ("--hosts", folder / "hosts", "--key", folder / "key", "--spin", args.spin)
        machines.start(0, GATEWAY, "run", *common, "--self", "alpha", "--echo", stdout=subprocess.DEVNULL)
        laps = [lap(machines, common) for _ in range(args.laps)]
    got = {key: statistics.median(lap[key] for lap in laps) for key in laps[0]}
    print(f"8 bytes, half a round trip: fi_pingpong {got['fi us']:.1f} us, aries-gateway {got['us']:.1f} us, "
          f"{got['us'] / got['fi us']:.2f} times (wanted: at most 2)")
    print(f"1 MiB each way: fi_pingpong {got['fi MB/s']:.0f} MB/s, aries-gateway {2 * got['MB/s']:.0f} MB/s, "
          f"{2 * got['MB/s'] / got['fi MB/s']:.2f} times (wanted: at least 0.7)")
    print(f"8 bytes, echoes a second: one at a time {got['one/s']:.0f}, 1,000 on their way {got['many/s']:.0f}, "
          f"{got['many/s'] / got['one/s']:.0f} times (wanted: at least 20)")


if __name__ == "__main__":
    sys.exit(program(main))
