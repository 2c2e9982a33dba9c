#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""aries-hss as a user has it, on a fabric of two members at the ends of a machine of two groups.

usage: check_hss.py ARIES_HSS ARIES_NET HOLD_FABRIC
"""

import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HSS = NET = HOLDER = ""
OK, NO_NODE = 0, 6
PATIENCE = 60


class Manager:
    """A manager that runs, and what it has told so far."""

    def __init__(self, fabric, *options, settle="50"):
        self.lines = []
        self.process = subprocess.Popen([HSS, "-f", fabric, "run", "--json", "--settle", settle, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)

    def wait_for(self, event, **details):
        """The next line about an event, with these details; everything before it is left in lines."""
        watchdog = threading.Timer(PATIENCE, self.process.kill)
        watchdog.start()
        try:
            for line in self.process.stdout:
                self.lines.append(json.loads(line))
                if self.lines[-1]["event"] == event and all(self.lines[-1].get(name) == value for name, value in details.items()):
                    return self.lines[-1]
        finally:
            watchdog.cancel()
        raise AssertionError(f"{event} {details} is not told: {self.lines[-20:]} {self.process.stderr.read()}")

    def step(self):
        """Let it begin the phase before which it waits."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def kill(self, number=signal.SIGKILL):
        """Exit status."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def close(self):
        if self.process.poll() is None:
            self.kill()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()


class Hss(unittest.TestCase):
    """What is loaded when, how packets go then, and who dies in between."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.fabric = os.path.join(folder.name, "fabric")
        self.holder = subprocess.Popen([HOLDER, self.fabric], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end)
        self.assertEqual(self.holder.stdout.readline(), "ready\n")

    def end(self):
        """The members leave, and with the last one every file."""
        if not self.holder.stdin.closed:
            self.holder.stdin.close()
            self.assertEqual(self.holder.wait(PATIENCE), 0)
        self.holder.stdout.close()
        self.assertEqual(os.listdir(self.folder), [])

    def manager(self, *options, **others):
        manager = Manager(self.fabric, *options, **others)
        self.addCleanup(manager.close)
        manager.wait_for("started")
        return manager

    def put(self):
        """Status of a put from one end of the machine to the other."""
        self.holder.stdin.write("put\n")
        self.holder.stdin.flush()
        return int(self.holder.stdout.readline())

    def run_tool(self, tool, *args):
        result = subprocess.run([tool, "-f", self.fabric, *args], capture_output=True, text=True, check=False, timeout=PATIENCE)
        return result.returncode, result.stdout, result.stderr

    def good(self, tool, *args):
        status, out, err = self.run_tool(tool, *args)
        self.assertEqual((status, err), (0, ""))
        return out

    def bad(self, word, *args):
        status, out, err = self.run_tool(HSS, *args)
        self.assertEqual((status, out), (1, ""), err)
        self.assertIn(word, err)
        self.assertEqual(err.count("\n"), 1, err)

    def net(self, *args):
        self.good(NET, *args)

    def status(self):
        return json.loads(self.good(HSS, "status", "--json"))

    def ways(self, mode="minimal", ends=("0", "1")):
        return json.loads(self.good(NET, "route", *ends, "--mode", mode, "--json"))["ways"]

    def links(self, router, kind):
        """Links of a router, by the name at its end."""
        lines = json.loads(self.good(NET, "tiles", str(router), "--json"))["tiles"]
        return [line["link"] for line in lines if line["kind"] == kind]

    def cut(self, links):
        for link in links:
            self.net("fail", "link", link)

    def restore(self, links):
        for link in links:
            self.net("restore", "link", link)

    def wait_for_generation(self, generation):
        """Until all members use it; they load it with their next tick."""
        deadline = time.monotonic() + PATIENCE
        while any(member["generation"] != generation for member in self.status()["members"]):
            self.assertLess(time.monotonic(), deadline, self.status())
            time.sleep(0.02)

    def generation_of(self, manager):
        line = manager.wait_for("resumed")
        self.assertEqual(line["behind"], [])
        return line["generation"]

    def test_a_link_with_others_beside_it_is_only_masked(self):
        manager = self.manager()
        first = self.links(0, "black")[0]
        self.cut([first])
        self.assertEqual(manager.wait_for("masked")["links"], 1)
        status = self.status()
        self.assertEqual((status["generation"], status["links masked"], status["quiesces"]), (0, [first], 0))
        self.assertFalse(any(way["outputs"].startswith(first + " ") for way in self.ways()))
        self.assertEqual(self.put(), OK)

    def test_new_tables_when_ways_are_lost_and_the_old_ones_when_they_are_back(self):
        """Router 0 has only green links left: in the tables of the whole machine its ways to the other group begin with blue ones."""
        manager = self.manager()
        before = self.ways()
        self.assertTrue(all(way["minimal"] == "yes" for way in before))
        lost = self.links(0, "blue") + self.links(0, "black")
        self.cut(lost)
        impaired = manager.wait_for("impaired")
        self.assertIn("no way left", impaired["text"])
        computed = manager.wait_for("computed", **{"links out": len(lost)})
        quiesced = manager.wait_for("quiesced")
        self.assertEqual(quiesced["ns"], quiesced["in flight ns"] + quiesced["compute ns"] + quiesced["load ns"])
        self.assertGreater(quiesced["ns"], 0)
        resumed = manager.wait_for("resumed")
        self.assertEqual((resumed["behind"], resumed["generation"]), ([], computed["generation"]))
        status = self.status()
        self.assertEqual(sorted(status["links not in the tables"]), sorted(lost))
        self.assertEqual((status["links masked"], status["manager"]), ([], manager.process.pid))
        self.assertEqual(status["length of the last quiesce, ns"], quiesced["ns"])
        after = self.ways()
        self.assertTrue(after and all(way["minimal"] == "yes" for way in after), after)
        self.assertFalse({way["outputs"] for way in before} & {way["outputs"] for way in after})
        self.assertEqual(self.put(), OK)

        self.restore(lost)
        self.assertIn("back", manager.wait_for("impaired")["text"])
        manager.wait_for("resumed")
        while self.status()["links not in the tables"]:
            manager.wait_for("resumed")
        self.assertEqual({way["outputs"] for way in self.ways()}, {way["outputs"] for way in before})
        self.assertEqual(manager.kill(signal.SIGTERM), 0)
        self.assertEqual(json.loads(manager.process.stdout.readlines()[-1])["event"], "stopped")
        self.assertEqual(self.status()["manager"], "none")

    def test_a_lost_router_is_in_no_table(self):
        manager = self.manager()
        self.net("fail", "router", "3")
        manager.wait_for("computed", **{"routers out": [3]})
        self.generation_of(manager)
        self.assertEqual(self.status()["routers not in the tables"], [3])
        for mode in ("minimal", "nonminimal", "adaptive"):
            ways = self.ways(mode)
            self.assertTrue(ways)
            self.assertFalse([way for way in ways if " 3:" in way["outputs"]])
        self.net("restore", "router", "3")
        self.generation_of(manager)
        self.assertEqual(self.status()["routers not in the tables"], [])

    def test_a_machine_that_fell_apart_comes_together_again(self):
        manager = self.manager()
        self.net("fail", "router", "15")
        manager.wait_for("resumed")
        self.assertEqual(self.put(), NO_NODE)
        self.net("restore", "router", "15")
        manager.wait_for("resumed")
        self.assertEqual(self.put(), OK)
        every = sorted({link for router in range(16) for kind in ("green", "black", "blue") for link in self.links(router, kind)})
        self.cut(every)
        deadline = time.monotonic() + PATIENCE
        while self.ways() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(self.put(), NO_NODE)
        self.restore(every)
        while self.status()["links not in the tables"]:
            manager.wait_for("resumed")
        self.assertEqual(self.put(), OK)

    def test_killed_in_each_phase(self):
        """Whoever is killed leaves a network that works, and another manager ends what was begun."""
        lost = self.links(0, "blue") + self.links(0, "black")
        for phase in ("compute", "write", "load", "resume"):
            with self.subTest(phase=phase):
                before = self.status()["generation"]
                manager = self.manager("--step")
                self.cut(lost)
                while manager.wait_for("step")["phase"] != phase:
                    manager.step()
                self.assertEqual(self.put(), OK)
                manager.kill()
                self.assertEqual(self.put(), OK)
                self.assertEqual(self.status()["generation"], before + (phase == "resume"))
                another = self.manager()
                if phase != "resume":
                    self.generation_of(another)
                self.wait_for_generation(before + 1)
                self.assertTrue(self.ways())
                self.restore(lost)
                while self.status()["links not in the tables"]:
                    another.wait_for("resumed")
                another.kill(signal.SIGTERM)

    def test_one_manager_at_a_time(self):
        manager = self.manager()
        self.bad(f"process {manager.process.pid} manages", "run")
        manager.kill()
        self.manager().kill(signal.SIGTERM)

    def test_a_killed_writer_leaves_what_nobody_reads(self):
        with open(self.fabric + ".tables.new", "w", encoding="ascii") as file:
            file.write("half of a fi")
        manager = self.manager()
        self.cut(self.links(0, "black"))
        generation = self.generation_of(manager)
        self.assertEqual(sorted(glob.glob(self.fabric + ".tables.*")), [f"{self.fabric}.tables.{generation}"])
        self.wait_for_generation(generation)

    def test_damaged_tables_are_made_anew(self):
        manager = self.manager()
        self.cut(self.links(0, "black"))
        generation = self.generation_of(manager)
        manager.kill(signal.SIGTERM)
        file = f"{self.fabric}.tables.{generation}"
        with open(file, "rb") as whole:
            content = bytearray(whole.read())
        for damaged in (content[:100], content[:-1] + b"\xff", b"", content + b"\0" * 8):
            with open(file, "wb") as out:
                out.write(damaged)
            self.assertIn("cannot be used", self.status()["made"])
            self.assertEqual(self.put(), OK)
        another = self.manager()
        self.assertIn("cannot be used", another.wait_for("impaired")["text"])
        self.assertGreater(self.generation_of(another), generation)
        self.assertNotIn("cannot be used", self.status()["made"])

    def test_links_that_never_settle_do_not_hold_up_others(self):
        """Ways are lost, and another link goes down and up all the time, more often than it would take to settle."""
        manager = self.manager(settle="500")
        restless = self.links(8, "green")[0]
        ended = threading.Event()

        def flap():
            while not ended.is_set():
                self.cut([restless])
                self.restore([restless])

        flapping = threading.Thread(target=flap)
        flapping.start()
        try:
            self.cut(self.links(0, "black"))
            self.assertIn("no way left", manager.wait_for("reroute")["text"])
        finally:
            ended.set()
            flapping.join()

    def test_files_of_the_present_tables_and_those_before_are_kept(self):
        """A member that is about to read the ones before finds them; older ones are gone."""
        for generation, link in enumerate(self.links(0, "black"), 1):
            self.cut([link])
            self.good(HSS, "reroute")
            left = [f"{self.fabric}.tables.{number}" for number in (generation - 1, generation) if number]
            self.assertEqual(sorted(glob.glob(self.fabric + ".tables.*")), left)

    def test_members_that_are_stopped_are_told_and_loads_wait_for_nobody(self):
        self.cut(self.links(0, "black"))
        self.holder.send_signal(signal.SIGSTOP)
        try:
            lines = [json.loads(line) for line in self.good(HSS, "reroute", "--json", "--patience", "50").splitlines()]
        finally:
            self.holder.send_signal(signal.SIGCONT)
        resumed = next(line for line in lines if line["event"] == "resumed")
        self.assertEqual(resumed["behind"], [0, 1])
        self.assertIn("but not yet by node 0, 1", resumed["text"])
        self.wait_for_generation(resumed["generation"])

    def test_reroute_once(self):
        self.assertIn("nothing to do", self.good(HSS, "reroute"))
        self.cut(self.links(0, "black")[:1])
        self.assertIn("resumed", self.good(HSS, "reroute"))
        self.assertEqual((self.status()["links masked"], len(self.status()["links not in the tables"])), ([], 1))
        self.assertIn("nothing to do", self.good(HSS, "reroute"))

    def test_one_link_is_back(self):
        """No way was lost without it, but the tables shall have it."""
        link = self.links(0, "black")[:1]
        self.cut(link)
        self.good(HSS, "reroute")
        manager = self.manager()
        self.restore(link)
        self.assertIn("1 link is back", manager.wait_for("impaired")["text"])
        self.generation_of(manager)
        self.assertEqual(self.status()["links not in the tables"], [])

    def test_warm_swap(self):
        before = {way["outputs"] for way in self.ways()}
        self.bad("node 1 runs at router 15", "warm-swap", "15")
        self.bad("router 16 is none", "warm-swap", "16")
        self.bad("nothing of the network would be left", "warm-swap", "--force", *map(str, range(16)))
        self.assertEqual(self.status()["generation"], 0)
        manager = self.manager()
        text = self.good(HSS, "warm-swap", "8", "9")
        self.assertIn("routers 8 9 are out and down", text)
        self.assertEqual(self.status()["routers not in the tables"], [8, 9])
        self.assertFalse([way for way in self.ways() if " 8:" in way["outputs"] or " 9:" in way["outputs"]])
        self.assertEqual({line["state"] for line in json.loads(self.good(NET, "tiles", "8", "--json"))["tiles"]}, {"down"})
        self.assertEqual(self.put(), OK)
        self.good(HSS, "warm-swap", "--back", "9")
        self.assertEqual(self.status()["routers not in the tables"], [8])
        self.good(HSS, "warm-swap", "--back", "8")
        self.assertEqual((self.status()["routers not in the tables"], self.status()["links masked"]), ([], []))
        self.assertEqual({way["outputs"] for way in self.ways()}, before)
        self.assertEqual(self.put(), OK)
        self.assertEqual(manager.kill(signal.SIGTERM), 0)
        told = [json.loads(line)["event"] for line in manager.process.stdout]
        self.assertNotIn("reroute", told, "the manager leaves it to the operator of the swap")

    def test_node_down_and_up(self):
        manager = self.manager()
        self.good(HSS, "node", "1", "down")
        manager.wait_for("part", **{"is": "alive, cut off"})
        self.assertEqual(self.put(), NO_NODE)
        self.good(HSS, "node", "1", "up")
        self.assertEqual(self.put(), OK)
        self.bad("node 3 is none", "node", "3", "down")
        self.assertEqual(self.run_tool(HSS, "node", "1", "sideways")[0], 2)

    def test_the_quiesce_has_a_bound(self):
        self.cut(self.links(0, "black"))
        lines = [json.loads(line) for line in self.good(HSS, "reroute", "--json", "--quiesce", "0.001").splitlines()]
        quiesced = next(line for line in lines if line["event"] == "quiesced")
        self.assertEqual((quiesced["ns"], quiesced["cut short"]), (1000, True))
        for wrong in ("0", "-1", "60001", "nan"):
            self.assertEqual(self.run_tool(HSS, "reroute", "--quiesce", wrong)[0], 2, wrong)

    def test_log_file_and_text(self):
        log = os.path.join(self.folder, "log")
        self.addCleanup(os.unlink, log)
        self.cut(self.links(0, "black"))
        self.assertEqual(self.good(HSS, "reroute", "--log", log), "")
        with open(log, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertRegex(lines[0], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z reroute: asked for$")
        self.assertRegex(lines[-1], r"resumed: generation 1 is in use; [0-9.]+ ms since it was loaded, [0-9.]+ ms in all$")
        self.bad("cannot write to /none/log", "reroute", "--log", "/none/log")
        self.assertIn("links not in the tables: 0:15 0:16 0:17\n", self.good(HSS, "status"))

    def test_the_last_member_leaves(self):
        manager = self.manager()
        self.holder.stdin.close()
        self.assertEqual(self.holder.wait(PATIENCE), 0)
        self.assertIn("the last member has left", manager.wait_for("stopped")["text"])
        self.assertEqual(manager.process.wait(PATIENCE), 0)
        self.bad("cannot open", "status")


if __name__ == "__main__":
    HSS, NET, HOLDER = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1], verbosity=2)
