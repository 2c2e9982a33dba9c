# SPDX-License-Identifier: GPL-2.0-or-later
"""A manager loads other route tables into a fabric under verified traffic: links that go for good, managers that are killed, blades and nodes."""

import json
import signal
import subprocess
import tempfile
from pathlib import Path

import test_places
from gnitest import manager
from gnitest.testing import Apart, together
from opengni import host
from opengni.machine import Machine

BOUND = 120.0
SETTLE = ("--settle", "100")


@together(Apart.MANAGER)
class ManagedNetwork(test_places.PlacesCase):
    """Three groups of two chassis of four routers; the last node is in another group than the others."""

    MACHINE = Machine(96, 4, 2)
    AT = [MACHINE.at(0, 0, 0), MACHINE.at(0, 0, 1), MACHINE.at(2, 1, 2, 2)]
    FAR = 2
    NODES = 3
    CONFIG = {"mem_mib": 256, "smp": 1, "boot_timeout": 300.0, "machine": "aries:groups=3,chassis=2,slots=4", "place": ",".join(map(str, AT))}

    def setUp(self):
        self.log = Path(self.enterContext(tempfile.TemporaryDirectory()), "journal")
        self.fabric = self.cluster.config.fabric
        self.manager = None
        self.addCleanup(self.all_as_new)

    def all_as_new(self):
        """For the next test: no manager, every link and node up, tables of the whole machine."""
        if self.manager and self.manager.running():
            self.manager.end(signal.SIGKILL)
        for router in range(24):
            self.net("restore", "router", router)
        manager.command(self.fabric, "reroute")
        self.assertEqual(manager.status(self.fabric)["links not in the tables"], [])

    def start_manager(self, *options):
        self.manager = manager.Manager(self.fabric, self.log, *SETTLE, *options)
        self.wait_for(lambda: self.manager.mine("started"), self.story, BOUND)
        return self.manager

    def story(self):
        tail = "\n".join(map(str, self.manager.mine()[-20:]))
        return f"the manager has told:\n{tail}\nstatus: {manager.status(self.fabric)}"

    def net(self, *arguments):
        result = subprocess.run([host.BUILD / "model" / "net" / "aries-net", "-f", str(self.fabric), *map(str, arguments)],
                                capture_output=True, text=True, timeout=60, check=True)
        return json.loads(result.stdout) if "--json" in arguments else None

    def ways(self):
        """Minimal ways between the nodes in different groups."""
        return {way["outputs"] for way in self.net("route", 0, self.FAR, "--mode", "minimal", "--json")["ways"] if way["minimal"] == "yes"}

    def lost(self):
        """Links of node 0's router without which the tables of the whole machine have no minimal way to other groups."""
        return [line["link"] for line in self.net("tiles", 0, "--json")["tiles"] if line["kind"] in ("blue", "black")]

    def cut(self, links):
        for link in links:
            self.net("fail", "link", link)

    def restore(self, links):
        for link in links:
            self.net("restore", "link", link)

    def start_traffic(self, *options):
        """Block puts on minimal ways, which gni-perf compares byte by byte after each few dozen, until stop_traffic()."""
        before = self.counters()["bte_puts"]
        job = self.cluster.start_job(["gni-perf", "--tests=bte-put", "--sizes=64K", "--iterations=100000000", "--size-time=3600",
                                      "--delivery=min-hash", *options], nodes=[0, self.FAR])
        self.addCleanup(job.signal, signal.SIGKILL)
        self.wait_for(lambda: self.counters()["bte_puts"] > before + 10, "the job does not start", BOUND)
        return job

    def stop_traffic(self, job):
        """No rank has found a wrong byte or a failed operation, which would have ended it."""
        self.moves()
        job.signal(signal.SIGKILL)
        results = job.wait(BOUND)
        self.assertEqual([result.code for result in results], [-signal.SIGKILL] * 2, results)

    def moves(self, count=200):
        """The traffic goes on."""
        before = self.counters()["bte_puts"]
        self.wait_for(lambda: self.counters()["bte_puts"] > before + count, self.story, BOUND)

    def in_use(self):
        """Nothing that is down is waited for, and all members have the tables."""
        now = manager.status(self.fabric)
        return not now["links masked"] and all(member["generation"] == now["generation"] for member in now["members"])

    def test_ways_change_under_traffic_and_need_no_detour(self):
        before, start = self.ways(), self.counters()
        quiesces = [int(self.cluster.run(node, "cat /sys/class/gni/kgni0/quiesces").stdout) for node in range(self.NODES)]
        running = self.start_manager()
        job = self.start_traffic()
        lost = self.lost()
        self.cut(lost)
        self.wait_for(lambda: len(manager.status(self.fabric)["links not in the tables"]) == len(lost) and self.in_use(), self.story, BOUND)
        after = self.ways()
        self.assertTrue(after and not after & before, (before, after))
        # Detours count as not minimal; by the new tables there are none.
        detours = self.counters()["nonminimal"]
        self.moves()
        self.assertEqual(self.counters()["nonminimal"], detours)
        for node in range(self.NODES):
            self.wait_for(lambda n=node: int(self.cluster.run(n, "cat /sys/class/gni/kgni0/quiesces").stdout) > quiesces[n], self.story, BOUND)
        self.restore(lost)
        self.wait_for(lambda: not manager.status(self.fabric)["links not in the tables"] and self.in_use(), self.story, BOUND)
        self.assertEqual(self.ways(), before)
        self.moves()
        self.assertEqual(running.end(), 0)
        self.stop_traffic(job)
        self.assertEqual(self.counters()["timeouts"], start["timeouts"])
        told = [line["event"] for line in running.mine()]
        self.assertNotIn("failed", told)
        for line in running.mine("quiesced"):
            self.assertEqual(line["ns"], line["in flight ns"] + line["compute ns"] + line["load ns"])

    def test_a_killed_manager_loses_nothing(self):
        start = self.counters()
        job = self.start_traffic()
        lost = self.lost()
        for phase in ("compute", "write", "load", "resume"):
            with self.subTest(phase=phase):
                running = self.start_manager("--step")
                self.cut(lost)

                def waits(name=None):
                    steps = running.mine("step")
                    return steps and (name is None or steps[-1]["phase"] == name)

                for name in ("compute", "write", "load", "resume"):
                    self.wait_for(lambda n=name: waits(n), self.story, BOUND)
                    if name == phase:
                        break
                    running.step()
                running.end(signal.SIGKILL)
                self.moves(20)
                manager.command(self.fabric, "reroute")
                self.wait_for(self.in_use, self.story, BOUND)
                self.moves(20)
                self.restore(lost)
                manager.command(self.fabric, "reroute")
                self.moves(20)
        self.stop_traffic(job)
        self.assertEqual(self.counters()["timeouts"], start["timeouts"])

    def test_warm_swap_under_traffic(self):
        """A router on the way is taken out and back; no packet meets a link that is down, for the tables come first."""
        start = self.counters()
        job = self.start_traffic()
        on_the_way = {int(output.split(":")[0]) for way in self.ways() for output in way.split()}
        router = min(on_the_way - {place // 4 for place in self.AT})
        manager.command(self.fabric, "warm-swap", router)
        self.assertEqual(manager.status(self.fabric)["routers not in the tables"], [router])
        self.assertFalse([way for way in self.ways() if f" {router}:" in f" {way}"])
        self.moves()
        manager.command(self.fabric, "warm-swap", "--back", router)
        self.moves()
        self.stop_traffic(job)
        grown = {name: self.counters()[name] - start[name] for name in ("timeouts", "nonminimal")}
        self.assertEqual(grown, {"timeouts": 0, "nonminimal": 0})

    def test_a_node_that_is_taken_down_while_a_job_runs(self):
        """Its peer is told by a failed operation, and the node works when it is back."""
        job = self.start_traffic("--timeout=10")  # for what the node itself waits for
        manager.command(self.fabric, "node", self.FAR, "down")
        results = job.wait(300)
        self.assertTrue(any(result.code for result in results), results)
        manager.command(self.fabric, "node", self.FAR, "up")
        self.succeed(self.cluster.run_job(["gni-perf", "--tests=bte-put", "--sizes=64K", "--iterations=20"], nodes=[0, self.FAR], timeout=300))
