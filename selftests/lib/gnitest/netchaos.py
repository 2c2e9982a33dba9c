# SPDX-License-Identifier: GPL-2.0-or-later
"""Traffic of all kinds between nodes while parts of the network are taken down and up at random, by aries-net.

Rounds, workers and the definition of a defect are those of chaos; only the faults differ. The whole network is repaired
before each lap, so a lap that does not end means that traffic has found no path although every link is up.
"""

import json
import random
import subprocess
from collections import Counter

from opengni import host
from .chaos import Chaos, Defect
from .manager import Manager

KINDS = ("link", "router", "node", "lanes", "ber")
# A link whose errors come this often repeats about every fifth set of flits.
WORST_RATE = 1e-3
LANES = 3
TIME = 60.0


class NetworkChaos(Chaos):
    """A run over a SyncCluster whose nodes sit at places of a machine.

    On a busy host operations that end with errors make workers slow, each differently: one that hears nothing for 5 s
    may have left a connection whose other end has only not got round to it.

    If @journal names a file, a network manager (aries-hss) runs all the time and loads new route tables.
    """

    OPTIONS = ("--silence=60",)

    def __init__(self, cluster, seed, kinds=KINDS, journal=None, **others):
        super().__init__(cluster, seed, kinds=kinds, **others)
        self.journal, self.manager = journal, None
        self.tool = host.product("model/net/aries-net", "bin/aries-net")
        self.routers = {member["node"]: member["router"] for member in self.net("show", "--json")["members"]}
        self.links = {router: [line["link"] for line in self.net("tiles", router, "--json")["tiles"]]
                      for router in set(self.routers.values())}
        self.done_faults, self.faults, self.rounds = 0, Counter(), 0

    def net(self, *arguments):
        """The output of aries-net, parsed if it is JSON. On several hosts one is told, and the gateways tell the others."""
        command = [self.tool, "--fabric", self.cluster.config.fabrics[0], *map(str, arguments)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=TIME, check=False)
        if result.returncode:
            raise Defect(f"aries-net {' '.join(map(str, arguments))} ended with {result.returncode}: {result.stderr}")
        return json.loads(result.stdout) if "--json" in arguments else None

    def _chance(self, fault):
        """A random generator for the details of a fault, seeded by the plan."""
        return random.Random(str(fault))

    def _links(self, fault):
        """Some of the links of a node's router, sometimes all of them."""
        links, chance = self.links[self.routers[fault.node]], self._chance(fault)
        return chance.sample(links, chance.choice((1, 3, len(links) // 2, len(links))))

    def _each_link(self, fault, broken, whole):
        """Do something to links, given as command and arguments after the name."""
        links = self._links(fault)

        def change(words):
            for link in links:
                self.net(*words[0], link, *words[1])
                self.done_faults += 1

        change(broken)
        return lambda: change(whole)

    def _break_link(self, fault):
        return self._each_link(fault, (("fail", "link"), ()), (("restore", "link"), ()))

    def _break_lanes(self, fault):
        lanes = self._chance(fault).randint(1, LANES - 1)
        return self._each_link(fault, (("lanes",), (lanes,)), (("lanes",), (LANES,)))

    def _break_ber(self, fault):
        rate = WORST_RATE * 10 ** -self._chance(fault).uniform(0, 3)
        return self._each_link(fault, (("ber",), (rate,)), (("ber",), (0,)))

    def _break_part(self, kind, number):
        self.net("fail", kind, number)
        self.done_faults += 1

        def mend():
            self.net("restore", kind, number)
            self.done_faults += 1

        return mend

    def _break_router(self, fault):
        return self._break_part("router", self.routers[fault.node])

    def _break_node(self, fault):
        return self._break_part("node", fault.node)

    def run(self, rounds, first=0):
        """As Chaos.run(); it is also a defect if the manager dies."""
        if self.journal is None:
            super().run(rounds, first)
            return
        self.manager = Manager(self.cluster.config.fabric, self.journal)
        try:
            super().run(rounds, first)
        finally:
            alive = self.manager.running()
            code = self.manager.end() if alive else self.manager.process.returncode
        failed = self.manager.mine("failed")
        if not alive or code or failed:
            raise Defect(f"the manager ended with {code}, and has told {failed or self.manager.mine()[-5:]}")

    def _break(self, fault):
        self.faults[fault.kind] += 1
        return super()._break(fault)

    def round(self, number):
        super().round(number)
        self.rounds += 1

    def totals(self):
        """One line: the faults, the work that was done meanwhile, and how often the network was quiesced."""
        failed = {name: count for name, count in self.done.items() if name.startswith("failed: ")}
        faults = ", ".join(f"{kind} {self.faults[kind]}" for kind in self.kinds)
        return (f"{self.rounds} rounds; faults: {faults}; {self.done_faults} changes; {self.done['operations ended']} operations ended, "
                f"{sum(failed.values())} of them failed, {sum(count for name, count in failed.items() if 'TIMEOUT' in name)} by time-out; "
                f"{self.done['events of others']} events of others; {self.net('show', '--json')['quiesces']} quiesces")

    def _lap(self):
        broken = [link for link in self.net("links", "--json")["links"] if link["state"] == "down"]
        if broken:
            raise Defect(f"links are down that were restored: {broken}")
        super()._lap()
