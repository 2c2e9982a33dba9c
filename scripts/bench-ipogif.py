#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""IP over the fabric beside virtio-net, between the same two machines, in one run.

Boots two nodes with ipogif and a virtio-net each and takes turns: ping, one TCP stream, TCP the other way,
UDP datagrams of 64 bytes and of 8 KiB. The same within node 0 (lo) tells what is left when the network costs nothing.
virtio-net is on taps of one bridge of this machine, with its offloads (needs root), or on a multicast socket without (--wire=socket).
Prints the table of Documentation/ipogif.md: medians, the
lowest and the highest, the ratios that the project promises, and, since other work on this machine distorts these, the processor
time of both machines and the load before the start. Needs 'make net-image'.

Exit status: 0 measured (also when a ratio is missed), 1 something failed, 2 bad command line; with --strict 3 when
a ratio is missed.
"""

import asyncio
import json
import os
import re
import statistics
import subprocess
import sys

from opengni import Cluster, ClusterConfig, ClusterError
from opengni import host
from opengni.arguments import Parser
from opengni.output import program
from opengni.writing import naming

PEER, PORT = "/kselftest/kgni/net_peer", 7100
PROMISES = {"tcp": 3.0, "ping": 1.0, "udp64": 3.0}  # ipogif is so many times better
BRIDGE = f"gni-{os.getpid() % 100000}"
ADDRESS = {"virtio-net": "10.78.0.{}", "ipogif": "10.128.0.{}", "lo": "127.0.0.1"}
ROWS = {  # name: (unit, text); the functions have these names
    "ping": ("us", "ping, round trip"),
    "tcp": ("Mbit/s", "TCP stream"),
    "tcp_back": ("Mbit/s", "TCP stream, the other way"),
    "udp64": ("1/s", "UDP, 64 bytes, received"),
    "udp8k": ("1/s", "UDP, 8 KiB, received"),
}


class Wire:
    """What virtio-net is plugged into."""

    def __init__(self, kind):
        self.kind = kind
        self.script = host.BUILD / "bench" / f"{BRIDGE}-up"

    def __enter__(self):
        if self.kind == "tap":
            self.script.parent.mkdir(parents=True, exist_ok=True)
            self.script.write_text(f"#!/bin/sh\nexec ip link set \"$1\" master {BRIDGE} up\n", encoding="ascii")
            self.script.chmod(0o755)
            try:
                for words in (["add", BRIDGE, "type", "bridge"], ["set", BRIDGE, "up"]):
                    subprocess.run(["ip", "link", *words], check=True, capture_output=True, text=True)
            except subprocess.CalledProcessError as error:
                self.__exit__()
                raise ClusterError(f"no bridge: {error.stderr.strip()}; as root, or with --wire=socket") from None
        return self

    def __exit__(self, *_):
        if self.kind == "tap":
            subprocess.run(["ip", "link", "del", BRIDGE], check=False, capture_output=True)
            self.script.unlink(missing_ok=True)

    def options(self):
        """For ClusterConfig."""
        if self.kind == "socket":
            return {"net": True}
        return {"qemu_args": ["-netdev", f"tap,id=tap0,script={self.script},downscript=no",
                              "-device", "virtio-net-pci,netdev=tap0,romfile="]}


async def run(cluster, node, text, timeout=120.0):
    """A command on a node; its output."""
    result = await cluster.node(node).run(text, timeout=timeout)
    if result.code:
        raise ClusterError(f"node {node}: {text}: {result.code}\n{result.stdout[-500:]}{result.stderr[-500:]}")
    return result.stdout


async def prepare(cluster):
    """Addresses of virtio-net, and what answers."""
    for node in range(2):
        await run(cluster, node, f"modprobe virtio_net; ip addr flush dev eth0; ip link set eth0 down;"
                                 f"ip link set eth0 address 52:54:00:4e:01:0{node}; ip addr add 10.78.0.{node + 1}/24 dev eth0;"
                                 "ip link set eth0 up; iperf3 -s -D >/dev/null 2>&1 </dev/null;"
                                 f"setsid {PEER} sink {PORT} >/dev/null 2>&1 </dev/null &")
    for node in range(2):
        for form in ADDRESS.values():
            await run(cluster, node, f"ping -c 30 -i 0.1 -q {form.format(2 - node)}")


def spent(cluster):
    """Processor time of both machines, seconds."""
    ticks = 0
    for node in range(2):
        with open(f"/proc/{cluster.node(node).process.pid}/stat", encoding="ascii") as file:
            ticks += sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


async def ping(cluster, address, _seconds):
    """Microseconds, and how many round trips."""
    text = await run(cluster, 0, f"ping -c 200 -i 0.01 -q {address}")
    return float(re.search(r"= [\d.]+/([\d.]+)/", text)[1]) * 1000, 200


async def tcp(cluster, address, seconds, options=""):
    """Mbit/s, and how many times 64 KiB."""
    text = await run(cluster, 0, f"iperf3 -J -t {seconds} -c {address} {options}", 60.0 + seconds)
    got = json.loads(text)["end"]["sum_received"]
    return got["bits_per_second"] / 1e6, got["bytes"] / 65536


async def tcp_back(cluster, address, seconds):
    """The same from node 1 to node 0."""
    return await tcp(cluster, address, seconds, "-R")


async def udp(cluster, address, size, count):
    """Datagrams received in a second, and how many."""
    text = await run(cluster, 0, f"{PEER} udp {address} {PORT} {size} {count}", 300.0)
    received = float(re.search(r"received (\d+)", text)[1])
    return received / float(re.search(r"seconds ([\d.]+)", text)[1]), received


async def udp64(cluster, address, seconds):
    """Short ones."""
    return await udp(cluster, address, 64, 12000 * seconds)


async def udp8k(cluster, address, seconds):
    """Long ones."""
    return await udp(cluster, address, 8192, 3000 * seconds)


async def bench(args, wire):
    """Lists of figures, by network and name."""
    config = ClusterConfig(nodes=2, mem_mib=768, smp=args.smp, ipogif=True, boot_timeout=300.0,
                           initrd=str(host.BUILD / f"initramfs-net-{os.environ.get('KERNEL', '6.1')}.cpio"), **wire.options())
    found: dict[str, dict[str, list]] = {net: {name: [] for name in args.only} for net in ADDRESS}
    async with Cluster(config) as cluster:
        await prepare(cluster)
        for _ in range(args.rounds):
            for net, rows in found.items():
                for name in args.only:
                    before = spent(cluster)
                    value, units = await globals()[name](cluster, ADDRESS[net].format(2), args.seconds)
                    rows[name].append((value, (spent(cluster) - before) / max(units, 1) * 1e6))
    return found


def spread(values, form="{:.0f}"):
    """Median, lowest and highest."""
    low, middle, high = (form.format(value) for value in (min(values), statistics.median(values), max(values)))
    return middle if low == high else f"{middle} ({low} to {high})"


def ratios(name, found):
    """How much better ipogif was, in each round."""
    pairs = ((ours[0], theirs[0]) for ours, theirs in zip(found["ipogif"][name], found["virtio-net"][name]))
    return [theirs / ours if ROWS[name][0] == "us" else ours / theirs for ours, theirs in pairs]


def table(found, only):
    """Prints what Documentation/ipogif.md shows: medians of the rounds, the lowest and the highest; names of the promises
    that the median misses."""
    missed = []
    print("| | virtio-net | ipogif | better by | promise | lo | processor us of the three |\n|---|---|---|---|---|---|---|")
    for name in only:
        unit, text = ROWS[name]
        better = ratios(name, found)
        promise = PROMISES.get(name, "")
        if promise and statistics.median(better) < promise:
            missed.append(name)
        values, costs = ({net: [pair[i] for pair in found[net][name]] for net in ADDRESS} for i in range(2))
        print(f"| {text}, {unit} | {spread(values['virtio-net'])} | {spread(values['ipogif'])} | {spread(better, '{:.2f}')} "
              f"| {promise}{', **missed**' if name in missed else ''} | {spread(values['lo'])} | {', '.join(map(spread, costs.values()))} |")
    return missed


def surroundings(rounds, before):
    """A line about the conditions: what else this machine did counts."""
    return (f"{rounds} rounds; each figure is the median of them, in brackets lowest and highest. {os.cpu_count()} processors, load before the start "
            f"{before:.1f}, {host.accelerator()[0].upper()}. Processor time is that of both machines for 64 KiB, a datagram or a round trip.")


def main():
    """See above."""
    parser = Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--wire", choices=("tap", "socket"), default="tap", help="what connects the virtio-net devices (default tap)")
    parser.add_argument("--rounds", type=int, default=5, help="times that each measurement is made, in turn (default 5)")
    parser.add_argument("--seconds", type=int, default=4, help="length of each measurement (default 4)")
    parser.add_argument("--smp", type=int, default=2, help="processors of a node (default 2)")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(ROWS), help="some of " + ",".join(ROWS))
    parser.add_argument("--json", help="file for all figures")
    parser.add_argument("--strict", action="store_true", help="exit with 3 when a promise is missed")
    args = parser.parse_args()
    if set(args.only) - set(ROWS):
        parser.error(f"--only: some of {','.join(ROWS)}")
    try:
        before = os.getloadavg()[1]
        with Wire(args.wire) as wire:
            found = asyncio.run(bench(args, wire))
    except ClusterError as error:
        print(f"bench-ipogif: {error}", file=sys.stderr)
        return 1
    print(surroundings(args.rounds, before) + "\n")
    missed = table(found, args.only)
    if args.json:
        with naming(args.json), open(args.json, "w", encoding="ascii") as file:
            json.dump(found, file, indent=1)
    return 3 if args.strict and missed else 0


if __name__ == "__main__":
    sys.exit(program(main))
