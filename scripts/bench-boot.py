#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the seconds of a node's boot go: on the wall, and of the processors that its QEMU has used, from its start.

Each boot is of one node, as `cluster up` boots it. Processor seconds say more than those on the wall where other programs
run. With --phases the kernel writes to its console what it does, which takes a fifth more, and the table says when it began
and when it started init.

Exit status: 0 measured, 1 something failed.
"""

import asyncio
import os
import statistics
import sys
import time
from pathlib import Path

from opengni import Cluster, ClusterConfig, ClusterError
from opengni.arguments import Parser, whole
from opengni.output import program

PERIOD = 0.01  # seconds between two looks
# What the kernel says, and what has passed when it does.
PHASES = {b"Linux version ": "QEMU, firmware", b"Run /init as init process": "kernel"}
LAST = "modules, agent"


def processor_seconds(pid):
    """User and system time of a process and its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def boot(args):
    """{phase: (seconds, processor seconds) at its end} of one boot."""
    config = ClusterConfig(nodes=1, name=f"bench-boot-{os.getpid()}", append="loglevel=7" if args.phases else "",
                           **{key: value for key, value in (("kernel", args.kernel), ("initrd", args.initrd)) if value})
    cluster, seen = Cluster(config), {}
    node = cluster.node(0)

    def now():
        return time.monotonic() - started, processor_seconds(node.process.pid)

    started = time.monotonic()
    up = asyncio.create_task(cluster.up())
    try:
        while not up.done():
            if args.phases and node.process and node.paths.console.exists():
                said = node.paths.console.read_bytes()
                for words, phase in PHASES.items():
                    if phase not in seen and words in said:
                        seen[phase] = now()
            await asyncio.wait({up}, timeout=PERIOD)
        await up
        seen[LAST] = now()
    finally:
        await cluster.down()
    return seen


def table(boots):
    """Lines of the least and the middle of all boots."""
    yield f"{'until the end of':18} {'s':>6} {'median':>7}   {'CPU s':>6} {'median':>7}"
    for phase in boots[0]:
        values = list(zip(*(seen[phase] for seen in boots)))
        wall, used = ((min(column), statistics.median(column)) for column in values)
        yield f"{phase:18} {wall[0]:6.2f} {wall[1]:7.2f}   {used[0]:6.2f} {used[1]:7.2f}"


def main():
    """Boots and prints."""
    top = Parser(description=__doc__.split("\n", 1)[0])
    top.add_argument("--rounds", type=whole(1, 1000), default=5, metavar="N", help="boots (default 5)")
    top.add_argument("--phases", action="store_true", help="tell the kernel's part from what is before and after it")
    top.add_argument("--kernel", default="", help="as that of cluster")
    top.add_argument("--initrd", default="", help="as that of cluster")
    args = top.parse_args()
    try:
        boots = [asyncio.run(boot(args)) for _ in range(args.rounds)]
    except ClusterError as error:
        sys.exit(f"bench-boot: {error}")
    print("\n".join(table(boots)))
    return 0


if __name__ == "__main__":
    sys.exit(program(main))
