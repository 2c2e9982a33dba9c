# SPDX-License-Identifier: GPL-2.0-or-later
"""Traffic of all kinds between nodes of several hosts while networks, gateways, hosts and what is on them are broken at random.

The rounds, the workers and what counts as a defect are those of chaos. All that breaks there breaks here, too.
"""

import threading
from collections import Counter

from gnitest.chaos import KINDS as OF_NODES
from gnitest.chaos import Chaos, Defect
from gnitest.testing import wait_until

# What happens to hosts: the network is cut for less or for more time than a gateway waits for another, gateways die, alone or all
# at once, or are stopped, or everything on a host is.
OF_HOSTS = ("blink", "split", "gateway", "gateways", "doze", "host")
KINDS = OF_NODES + OF_HOSTS * 2  # as often as the others, which are more
# Faults of nodes last 0.1 s to 1.5 s; these are longer by this, so as to be on both sides of the gateways' time-out.
LONGER = {"split": 5, "doze": 4, "host": 7}
SILENCE = 30  # s until a worker leaves a connection: more than two of these together, on a busy machine
BACK = 60.0  # s until a gateway that has died is there again, on a busy machine


class HostsChaos(Chaos):
    """A run over a SyncCluster whose nodes live on @hosts (hosts.Hosts), which divide them evenly."""

    OPTIONS = (f"--silence={SILENCE}",)

    def __init__(self, cluster, hosts, seed, kinds=KINDS, **others):
        super().__init__(cluster, seed, kinds=kinds, **others)
        self.hosts, self.faults = hosts, Counter()

    def _host(self, fault):
        """Where the node of a fault lives."""
        return next(i for i, entry in enumerate(self.cluster.config.hosts) if fault.node in entry.nodes)

    def _break(self, fault):
        self.faults[fault.kind] += 1
        fault.lasts *= LONGER.get(fault.kind, 1)
        return super()._break(fault)

    def _break_blink(self, fault):
        self.hosts.cut(self._host(fault))
        return lambda: self.hosts.heal(self._host(fault))

    _break_split = _break_blink

    def _gateways(self, i):
        """Process numbers, there, of the gateways that run on a host and are not about to be gone."""
        return self.hosts.run(i, "pgrep", "--runstates", "RSDTt", "-x", "aries-gateway", check=False).stdout.split()

    def _break_gateway(self, fault):
        i = self._host(fault)
        old = self._gateways(i)
        self.hosts.run(i, "pkill", "-KILL", "-x", "aries-gateway", check=False)
        return lambda: self._await_gateway(i, old)

    def _await_gateway(self, i, old):
        """The tool starts another one."""
        if not wait_until(lambda: set(self._gateways(i)) - set(old), BACK):
            raise Defect(f"no gateway has been started on host {i} instead of {old}")

    def _break_gateways(self, _fault):
        old = [self._gateways(i) for i in range(len(self.hosts.spaces))]
        for i in range(len(old)):
            self.hosts.run(i, "pkill", "-KILL", "-x", "aries-gateway", check=False)
        return lambda: [self._await_gateway(i, gone) for i, gone in enumerate(old)]

    def _break_doze(self, fault):
        i = self._host(fault)
        self.hosts.run(i, "pkill", "-STOP", "-x", "aries-gateway", check=False)
        return self._later(fault, lambda: self.hosts.run(i, "pkill", "-CONT", "-x", "aries-gateway", check=False))

    def _break_host(self, fault):
        i = self._host(fault)
        self.hosts.pause(i)
        return self._later(fault, lambda: self.hosts.resume(i))

    @staticmethod
    def _later(fault, mend):
        """It is over by itself: whoever breaks something else meanwhile may wait for what has stopped."""
        timer = threading.Timer(fault.lasts, mend)
        timer.start()
        return timer.join

    def _story(self, number, cause):
        parts = [super()._story(number, cause)]
        for entry in self.cluster.config.hosts:
            log = (self.cluster.config.dir / f"gateway-{entry.name}.log").read_text(encoding="utf-8", errors="replace")
            parts += [f"gateway of {entry.name}:", *log.splitlines()[-25:]]
        return "\n".join(parts)

    def totals(self):
        """One line: what was broken how often."""
        return ", ".join(f"{kind} {self.faults[kind]}" for kind in dict.fromkeys(self.kinds))
