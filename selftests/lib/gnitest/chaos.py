# SPDX-License-Identifier: GPL-2.0-or-later
"""Traffic of all kinds between nodes while processes, links and NICs are broken at random.

A round is a few faults, an end to all of them, and a lap: each worker has to do everything once more with each other one.
After a power cut there is no lap: those that are left end in order and give everything back, then the node boots again.
What is broken in which round follows from seed and round alone, so a run can be repeated.
"""

import random
import re
import signal
import threading
import time
from collections import Counter
from dataclasses import dataclass

from opengni.errors import NodeError
from .testing import kernel_complaints, wait_until

PROGRAM = "gni-chaos"
ROUNDS_A_JOB = 10
FAULTS_A_ROUND = 3
# Seconds that a lap may take without any news of any worker. Recovery from a fault takes seconds on an idle machine.
STUCK = 180.0
# Where the workers are, in the kernel and in their program.
WHERE = (f"for p in $(pidof {PROGRAM} {PROGRAM}-life); do echo \"$p $(cat /proc/$p/comm) $(grep State /proc/$p/status),"
         " $(cat /proc/$p/syscall)\"; cat /proc/$p/stack; done")
PCI = "$(basename $(readlink -f /sys/class/gni/kgni*/device | head -n 1))"
PCI_FILE = "/run/chaos-pci"
# Resources in use; errors and resets are counted for ever.
COUNTS = ("cd /sys/class/gni/kgni0/resources && grep . *_used pinned_pages &&"
          " grep -v -e ^errors -e ^resets /sys/kernel/debug/aries/kgni0/objects")


@dataclass
class Fault:
    """One thing that is broken: what, where, how long it lasts, how long after the one before it comes."""

    kind: str
    node: int
    lasts: float
    after: float

    def __str__(self):
        return f"{self.kind} on node {self.node} for {self.lasts:.2f} s after {self.after:.2f} s"


KINDS = ("kill", "stop", "freeze", "cut", "drop", "reset", "aer", "unbind", "reload", "power")
# A node takes long to boot: this share of the power cuts is left, the others become a kill.
POWER_SHARE = 0.3


def plan(seed, number, nodes, kinds=KINDS):
    """Faults of a round; nothing else decides them."""
    chance = random.Random(f"{seed}/{number}")
    faults = [Fault(chance.choice(kinds), chance.randrange(nodes), chance.uniform(0.1, 1.5), chance.uniform(0.0, 0.5))
              for _ in range(chance.randint(1, FAULTS_A_ROUND))]
    for fault in faults:
        if fault.kind == "power" and "kill" in kinds and chance.random() > POWER_SHARE:
            fault.kind = "kill"
    return faults


class Defect(AssertionError):
    """Something that must not be, with all that helps to find out why."""


class Chaos:
    """A run over a SyncCluster that is up."""

    OPTIONS: tuple[str, ...] = ()
    """Of the workers' program."""

    def __init__(self, cluster, seed, per_node=1, kinds=KINDS, say=print, verbose=False):
        self.cluster, self.seed, self.per_node, self.kinds = cluster, seed, per_node, kinds
        self.say, self.verbose = say, verbose
        self.nodes = cluster.config.nodes
        self.ranks = self.nodes * per_node
        self.lines, self.partial, self.history = [], {}, []
        self.job, self.laps, self.news = None, 0, time.monotonic()
        self.lap_done, self.pids = set(), {}
        self.counts = {}
        self.dark = set()
        self.done = Counter()

    # ---- workers ----

    def _output(self, rank, _stream, data):
        self.partial[rank] = self.partial.get(rank, b"") + data
        *whole, self.partial[rank] = self.partial[rank].split(b"\n")
        for line in whole:
            self._line(line.decode("utf-8", "replace"))

    def _line(self, line):
        self.lines.append(line)
        self.news = time.monotonic()
        words = line.split()
        if line.startswith("LIFE "):
            self.pids[int(words[1])] = int(words[4])
        elif line.startswith("LAP ") and int(words[2]) == self.laps:
            self.lap_done.add(int(words[1]))
        elif line.startswith("REPORT "):
            for what in line.split("; ")[1:]:
                name, _, count = what.rpartition(" ")
                self.done[name] += int(count)

    def _begin(self):
        self.counts = {node: self._used(node) for node in range(self.nodes)}
        self.laps, self.lap_done, self.pids = 0, set(), {}
        self.job = self.cluster.start_job([PROGRAM, *self.OPTIONS], per_node=self.per_node, on_output=self._output, grace=None)
        if not wait_until(lambda: len(self.pids) == self.ranks, STUCK):
            raise Defect(f"of {self.ranks} workers only {sorted(self.pids)} have begun")
        self._lap()

    def _used(self, node):
        return self._run(node, COUNTS)

    def _run(self, node, command):
        result = self.cluster.run(node, command, timeout=STUCK)
        if result.code:
            raise Defect(f"node {node}: '{command}' ended with {result.code}: {result.stdout}{result.stderr}")
        return result.stdout

    def _try(self, node, command):
        return self.cluster.run(node, command, timeout=STUCK)

    def _end(self):
        """The workers end in order, and nothing of them is left; where the power is off there is nobody to ask."""
        self._look_for_failures()
        job, self.job = self.job, None
        job.signal(signal.SIGTERM)
        bad = [result for result in job.wait(STUCK) if result.code and result.node not in self.dark]
        self._look_for_failures()
        if bad:
            raise Defect("; ".join(f"rank {result.rank} ended with {result.code} {result.error}" for result in bad))
        for node in set(range(self.nodes)) - self.dark:
            left = self._used(node)
            if left != self.counts[node]:
                raise Defect(f"node {node} has not given everything back; before:\n{self.counts[node]}after:\n{left}")

    def _lap(self):
        """Everything is whole: each worker does everything with each other one, or somebody is stuck."""
        self.lap_done.clear()
        self.laps += 1
        # each rank counts the signals that it gets, a life that begins later has those of its parent
        self._signal_all(signal.SIGUSR1)
        self.news = time.monotonic()
        while len(self.lap_done) < self.ranks:
            self._look_for_failures()
            if time.monotonic() - self.news > STUCK:
                # Who does not tell at once says where it is when it is asked again.
                for _ in range(3):
                    self._signal_all(signal.SIGUSR2)
                    time.sleep(3)
                missing = sorted(set(range(self.ranks)) - self.lap_done)
                raise Defect(f"worker {missing} stuck in lap {self.laps}: nothing new for {STUCK:g} s")
            time.sleep(0.05)

    def _signal_all(self, number):
        self.job.signal(number)

    def _look_for_failures(self):
        failed = [line for line in self.lines[-200:] if line.startswith("FAILED ")]
        failed += [line for line in self.lines[-200:] if re.match(r"ENDED \d+ \d+ by (signal (?!9$|7$)|status (?!3$))", line)]
        if failed:
            raise Defect("; ".join(failed[:3]))

    # ---- faults ----

    def _worker(self, fault):
        """The process that holds the NIC, of the first worker of a node."""
        return self.pids.get(fault.node * self.per_node)

    def _break(self, fault):
        """Break something; what mends it, or None."""
        return getattr(self, f"_break_{fault.kind}")(fault)

    def _break_kill(self, fault):
        self._try(fault.node, f"kill -9 {self._worker(fault)}")

    def _break_stop(self, fault):
        pid = self._worker(fault)
        self._try(fault.node, f"kill -STOP {pid}")
        return lambda: self._try(fault.node, f"kill -CONT {pid}")

    def _break_freeze(self, fault):
        # It goes on by itself: what the others do meanwhile, a reset for instance, may wait for that.
        timer = threading.Timer(fault.lasts, self.cluster.signal, (fault.node, signal.SIGCONT))
        self.cluster.signal(fault.node, signal.SIGSTOP)
        timer.start()
        return timer.join

    def _break_cut(self, fault):
        self.cluster.set_nic(fault.node, "link", 0)
        return lambda: self.cluster.set_nic(fault.node, "link", 1)

    def _break_drop(self, fault):
        self.cluster.set_nic(fault.node, "drop", 5)
        return lambda: self.cluster.set_nic(fault.node, "drop", 0)

    def _break_reset(self, fault):
        self._run(fault.node, f"echo 1 >/sys/bus/pci/devices/{PCI}/reset")

    def _break_aer(self, fault):
        self.cluster.qmp(fault.node, "human-monitor-command", {"command-line": "pcie_aer_inject_error nic0 MALF_TLP"})
        return lambda: self._await_device(fault.node)

    def _break_unbind(self, fault):
        self._run(fault.node, f"echo {PCI} >{PCI_FILE}; cat {PCI_FILE} >/sys/bus/pci/drivers/aries/unbind")
        return lambda: self._run(fault.node, f"cat {PCI_FILE} >/sys/bus/pci/drivers/aries/bind")

    def _break_reload(self, fault):
        # Whoever has the NIC open is killed again and again until the module may go.
        self._run(fault.node, f"for i in $(seq 200); do killall -9 -q {PROGRAM}-life; rmmod aries 2>/run/rmmod && exit 0; sleep 0.05; done;"
                              " cat /run/rmmod; exit 1")
        return lambda: self._run(fault.node, "modprobe aries")

    def _break_power(self, fault):
        self.cluster.kill(fault.node)
        self.dark.add(fault.node)
        return lambda: None

    def _power_on(self):
        for node in sorted(self.dark):
            self.cluster.start(node)
        self.dark.clear()

    def _await_device(self, node):
        """Recovery from a PCI error is done by the kernel, in its own time."""
        self._run(node, "for i in $(seq 1200); do [ \"$(cat /sys/class/gni/kgni0/state 2>/dev/null)\" = up ] && exit 0;"
                        " sleep 0.1; done; dmesg | tail -20; exit 1")

    # ---- rounds ----

    def _note(self, line):
        self.history.append(line)
        if self.verbose:
            self.say(line)

    def round(self, number):
        """One round."""
        begun = time.monotonic()
        faults = plan(self.seed, number, self.nodes, self.kinds)
        busy, mends = set(), []
        for fault in faults:
            time.sleep(fault.after)
            # a node that is broken already answers nobody
            if fault.node in busy:
                continue
            self._note(f"round {number}: {fault}")
            mend = self._break(fault)
            if mend:
                busy.add(fault.node)
                mends.append((time.monotonic() + fault.lasts, mend))
        for when, mend in sorted(mends, key=lambda item: item[0]):
            time.sleep(max(0.0, when - time.monotonic()))
            mend()
        if self.dark:
            self._end()
            self._power_on()
        else:
            self._lap()
        self._note(f"round {number}: over after {time.monotonic() - begun:.1f} s")

    def run(self, rounds, first=0):
        """All rounds; Defect with seed, round and history."""
        number = first
        try:
            for number in range(first, first + rounds):
                if not self.job:
                    self._begin()
                self.round(number)
                if (number - first) % ROUNDS_A_JOB == ROUNDS_A_JOB - 1:
                    if self.job:
                        self._end()
                    self.say(f"{number - first + 1} rounds")
            if self.job:
                self._end()
        except (Defect, NodeError) as cause:
            raise Defect(self._story(number, cause)) from cause

    def _story(self, number, cause):
        parts = [f"seed {self.seed}, round {number}: {cause}", "faults:", *self.history[-12:], "workers:", *self.lines[-60:]]
        for node in range(self.nodes):
            try:
                log = self.cluster.run(node, f"{WHERE}; dmesg | grep -v 'gni.*error 0x' | tail -n 25", timeout=20).stdout
            except NodeError as silent:
                log = f"{silent}\n"
            parts += [f"node {node}:", log.rstrip()]
        return "\n".join(parts)

    def summary(self):
        """What the workers have done and seen, as far as their lives ended in order."""
        return [f"{count:9} {name}" for name, count in sorted(self.done.items())]

    def complaints(self):
        """What the guests' kernels have complained about."""
        return [f"node {node}: {line}" for node in range(self.nodes)
                for line in kernel_complaints(self.cluster.run(node, "dmesg").stdout)]
