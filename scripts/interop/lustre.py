#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Run Lustre's LNet over its own gnilnd and our kGNI: pings, lnet_selftest with checked data, links that flap, a node
that is killed and returns, and unloading."""

import re
import sys
import threading
import time

from guests import OUT, Guests, Report
from gnitest.testing import SyncCluster, kernel_complaints
from opengni.arguments import Parser
from opengni.config import DEFAULT_KERNEL, ClusterConfig
from opengni.errors import ClusterError
from opengni.output import program

DIR = OUT / f"lustre-{DEFAULT_KERNEL}"
UP = "modprobe lnet && modprobe kgnilnd && modprobe lnet_selftest && lctl network up && lctl list_nids"
DOWN = ("rmmod lnet_selftest && lctl network down && lctl network unconfigure && rmmod kgnilnd lnet libcfs"
        " && (rmmod krca || true) && rmmod kgni")
AGAIN = "rmmod lnet_selftest && modprobe lnet_selftest"
# What an LND says before it gives up, and when it has to.
FATAL = ("LBUG", "ASSERTION", "SOFTWARE BUG")
# Of gnilnd's own: it frees the memory of its mailboxes with a spinlock held. Debugging kernels see that.
KNOWN = re.compile(r"[^\n]*BUG: sleeping function called from invalid context at mm/vmalloc\.c(?:(?!</TASK>).)*?"
                   r"kgnilnd_free_fmablk_locked.*?</TASK>", re.DOTALL)


def network_up(guests, node):
    """LNet knows this node by its address on the fabric."""
    nids = guests.shell(node, UP, 180).split()
    assert f"{node}@gni" in nids, f"node {node} is {nids}"


def ping(guests, node, peer):
    """lctl ping."""
    text = guests.shell(node, f"lctl ping {peer}@gni", 60)
    assert f"{peer}@gni" in text, text


def lst(guests, seconds, meanwhile=None, groups=2, may_fail=()):
    """lnet_selftest: bulk reads and writes with checked contents between the nodes; what they moved.

    groups: nodes that take part, node 0 the console. meanwhile: called with a stop event. may_fail: nodes whose errors are
    forgiven; then nothing has to have moved in the second half either.
    """
    names = [f"g{node}" for node in range(groups)]
    script = ["export LST_SESSION=$$", "lst new_session --force --timeout 300 opengni"]
    script += [f"lst add_group {name} {node}@gni" for node, name in enumerate(names)]
    script.append("lst add_batch bulk")
    for node, name in enumerate(names):
        to = names[(node + 1) % groups]
        for what in ("read", "write"):
            script.append(f"lst add_test --batch bulk --concurrency 2 --from {name} --to {to} brw {what} check=full size=1M")
        script.append(f"lst add_test --batch bulk --concurrency 1 --from {name} --to {to} brw write check=full size=4K")
    script += ["lst run bulk", f"lst stat --delay {max(1, seconds // 2)} --count 2 --bw {' '.join(names)}"]
    script += [f"echo errors of {name}; lst show_error {name}" for name in names]
    script += ["lst stop bulk", "lst end_session", "true"]
    stop = threading.Event()
    helper = threading.Thread(target=meanwhile, args=(stop,)) if meanwhile else None
    if helper:
        helper.start()
    try:
        text = guests.shell(0, "; ".join(script), seconds + 300)
    finally:
        stop.set()
        if helper:
            helper.join()
    return verdict(text, names, may_fail)


def verdict(text, names, may_fail):
    """Errors that the test counted, and the bandwidth of its second half."""
    for node, name in enumerate(names):
        match = re.search(rf"Total (\d+) error nodes in {name}\b", text)
        assert match, f"no count of errors of {name}: {text[-300:]}"
        assert match[1] == "0" or node in may_fail, f"{name} has errors: {text[-300:]}"
    rates = [float(rate) for rate in re.findall(r"\[W\] Avg: ([\d.]+)", text)]
    assert rates and (rates[-1] > 0 or may_fail), f"nothing moved: {text[-300:]}"
    return f"{rates[-1]:.0f} MiB/s written by the last group"


def flap(guests, stop):
    """One link after the other is down for half a second."""
    node = 0
    while not stop.wait(4):
        guests.cluster.set_nic(node, "link", 0)
        stop.wait(0.5)
        guests.cluster.set_nic(node, "link", 1)
        node = (node + 1) % 2


def killed_and_back(guests, report, seconds):
    """A node dies in the middle; the others go on, and it returns under its address."""
    last = guests.nodes - 1

    def kill(stop):
        stop.wait(seconds / 3)
        guests.cluster.kill(last)

    report.check(f"brw between nodes 0 and 1 while node {last} is killed", lst, guests, seconds, kill)
    guests.cluster.start(last)
    report.check(f"node {last} is back", network_up, guests, last)
    for _ in range(12):  # those that remember it wait before they try again
        if guests.cluster.run(0, f"lctl ping {last}@gni", timeout=60).code == 0:
            break
        time.sleep(5)
    for node, peer in ((0, last), (last, 0)):
        report.check(f"lctl ping from {node} to {peer} after that", ping, guests, node, peer)
    report.check("brw among all nodes after that", lst, guests, seconds, None, guests.nodes)


def nic_reset(guests, report, seconds):
    """The NIC of a node is reset in the middle: what was under way may fail, then everything goes on.

    lnet_selftest ends each of its tests at the first error, and goes on counting those of earlier ones: it is loaded
    anew before it is asked again.
    """
    def reset(stop):
        stop.wait(seconds / 3)
        guests.shell(1, "echo 1 >/sys/class/gni/kgni0/device/reset", 60)

    report.check("brw while the NIC of node 1 is reset", lst, guests, seconds, reset, 2, range(guests.nodes))
    for node, peer in ((0, 1), (1, 0)):
        report.check(f"lctl ping from {node} to {peer} after that", ping, guests, node, peer)
    for node in range(guests.nodes):
        report.check(f"lnet_selftest loaded anew on node {node}", guests.shell, node, AGAIN, 300)
    report.check("brw between nodes 0 and 1 after that", lst, guests, seconds)


def checks(report, guests, seconds):
    """All of them, in an order in which each finds what it needs."""
    for node in range(guests.nodes):
        report.check(f"network up on node {node}", network_up, guests, node)
    for node in range(guests.nodes):
        for peer in range(guests.nodes):
            report.check(f"lctl ping from {node} to {peer}", ping, guests, node, peer)
    report.check("brw between nodes 0 and 1", lst, guests, seconds)
    if guests.nodes > 2:
        report.check(f"brw among {guests.nodes} nodes", lst, guests, seconds, None, guests.nodes)
    report.check("brw while links flap", lst, guests, seconds, lambda stop: flap(guests, stop))
    if guests.nodes > 2:
        killed_and_back(guests, report, seconds)
    nic_reset(guests, report, seconds)
    logs = [guests.shell(node, "dmesg") for node in range(guests.nodes)]
    for node in range(guests.nodes):
        report.check(f"unloading on node {node}", guests.shell, node, DOWN, 300)
        logs[node] += guests.shell(node, "dmesg")
    for node, log in enumerate(logs):
        log, known = KNOWN.subn("", log)
        if known:
            report.note(f"node {node}: gnilnd freed memory with a spinlock held, as it does")
        complaints = kernel_complaints(log) + [line for line in log.splitlines() if any(word in line for word in FATAL)]
        report.add("FAIL" if complaints else "PASS", f"kernel log of node {node}", "; ".join(complaints[:2]))


def main(argv):
    """0 when nothing failed."""
    parser = Parser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=3, help="nodes to boot, 2 or more (default 3)")
    parser.add_argument("--seconds", type=int, default=60, help="length of each run of lnet_selftest (default 60)")
    args = parser.parse_args(argv)
    slow = DEFAULT_KERNEL == "debug"
    config = ClusterConfig(nodes=args.nodes, mem_mib=2048 if slow else 1024, initrd=str(DIR / "initramfs.cpio"),
                           boot_timeout=900.0 if slow else 180.0)
    with open(DIR / "run.log", "w", encoding="utf-8") as log:
        report = Report(log)
        cluster = SyncCluster(config)
        try:
            cluster.up()
            checks(report, Guests(cluster, log), args.seconds)
        except (ClusterError, AssertionError) as error:
            report.add("FAIL", "cluster", str(error))
        finally:
            cluster.down()
    print(f"{report.count['PASS']} passed, {report.count['FAIL']} failed; log {DIR / 'run.log'}")
    return 1 if report.count["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(program(main, sys.argv[1:]))
