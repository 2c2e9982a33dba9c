# SPDX-License-Identifier: GPL-2.0-or-later
"""The ping-pong of kGNI: puts and messages between two nodes, each with its event."""

import re
import subprocess
import unittest

from gnitest.testing import ClusterCase, slow_tests
from opengni import host

DIR = "/sys/kernel/debug/gni_pingpong"
COUNT = 200
ENDLESS = 1000000
BOUND = 120.0


class PingPong(ClusterCase):
    SHARES = "pair"

    def meet(self):
        """Both load it: each waits for the other one."""
        self.succeed(self.cluster.run(0, "(setsid sh -c 'modprobe gni_pingpong peer=1; echo $? >/tmp/loaded' >/tmp/load 2>&1 </dev/null &)"))
        self.succeed(self.cluster.run(1, "modprobe gni_pingpong peer=0", timeout=120))
        self.wait_for(lambda: self.cluster.run(0, "cat /tmp/loaded").stdout.strip() == "0",
                      lambda: self.cluster.run(0, "cat /tmp/load; dmesg | tail").stdout, 60.0)

    def part(self, node):
        self.succeed(self.cluster.run(node, "rmmod gni_pingpong && rmmod kgni"))
        left = self.cluster.run(node, "cd /sys/class/gni/kgni0/resources && grep . *_used pinned_pages").stdout
        self.assertFalse(re.search(r":[1-9]", left), left)

    def game(self, node, test):
        """Nanoseconds: median and lowest."""
        self.succeed(self.cluster.run(node, f"echo {test} {COUNT} >{DIR}/run", timeout=300))
        text = self.cluster.run(node, f"cat {DIR}/result").stdout
        match = re.fullmatch(rf"test={test} count={COUNT} p50_ns=(\d+) min_ns=(\d+)\n", text)
        self.assertTrue(match, text)
        return int(match[1]), int(match[2])

    def test_all(self):
        self.meet()
        for node in range(2):
            for test in ("put", "lock", "remote", "message"):
                with self.subTest(node=node, test=test):
                    median, least = self.game(node, test)
                    self.assertGreater(least, 0)
                    self.assertGreaterEqual(median, least)
        for words in ("put", "put 0", "put 1000001", "shot 5", "put -1"):
            self.assertNotEqual(self.cluster.run(0, f"echo {words} >{DIR}/run").code, 0, words)
        self.assertEqual(self.cluster.run(0, "dmesg | grep -c 'cannot go on'").stdout.strip(), "0")
        for node in range(2):
            self.part(node)

    def begin(self, test):
        """Run a test on node 0 that would take very long; /tmp/ran gets its status."""
        self.succeed(self.cluster.run(0, f"rm -f /tmp/ran; (setsid sh -c 'echo {test} {ENDLESS} >{DIR}/run & echo $! >/tmp/pid; "
                                         "wait $!; echo $? >/tmp/ran' >/tmp/run 2>&1 </dev/null &)"))

    def ended(self):
        self.wait_for(lambda: self.cluster.run(0, "cat /tmp/ran").code == 0, self.log(0), BOUND)
        return int(self.cluster.run(0, "cat /tmp/ran").stdout), self.cluster.run(0, "cat /tmp/run").stdout

    def processors(self, online):
        """With a single processor a wait that lets nobody else run lasts for ever."""
        for node in range(2):
            self.succeed(self.cluster.run(node, f"echo {online} >/sys/devices/system/cpu/cpu1/online"))

    def quiesce(self, milliseconds):
        fabric = self.cluster.config.fabrics[0]
        subprocess.run([host.BUILD / "model" / "net" / "aries-net", "-f", fabric, "quiesce", str(milliseconds)], check=True, timeout=60)

    def quiesced(self, times):
        """Until node 0 has seen so many quiesces, all of which are over."""
        files = "cd /sys/class/gni/kgni0; cat quiesces quiesced"
        self.wait_for(lambda: self.cluster.run(0, files).stdout.split() == [str(times), "0"], self.log(0), BOUND)

    def test_quiesces_reset_and_signals(self):
        """It waits out a quiesce, is interrupted by a signal, and learns of a reset."""
        self.meet()
        self.processors(0)
        before = int(self.cluster.run(0, "cat /sys/class/gni/kgni0/quiesces").stdout)
        for turn, test in enumerate(("message", "remote", "put"), 1):
            with self.subTest(test=test):
                self.begin(test)
                self.quiesce(2000)
                self.quiesced(before + turn)
                self.assertNotEqual(self.cluster.run(0, "cat /tmp/ran").code, 0, "it has ended")
                self.succeed(self.cluster.run(0, "kill $(cat /tmp/pid)"))
                self.assertNotEqual(self.ended()[0], 0)
                self.game(0, test)
        self.begin("message")
        self.succeed(self.cluster.run(0, "echo 1 >/sys/class/gni/kgni0/device/reset", timeout=60))
        status, text = self.ended()
        self.assertNotEqual(status, 0)
        self.assertRegex(text, "Input/output error")
        self.processors(1)
        for node in range(2):
            self.part(node)

    @unittest.skipUnless(slow_tests(), "waits out the module's patience with a peer, a minute or two: in check-all")
    def test_the_other_one_does_not_come(self):
        """Loading gives up, and leaves nothing."""
        done = self.cluster.run(0, "modprobe kgni; modprobe gni_pingpong peer=1", timeout=180)
        self.assertNotEqual(done.code, 0)
        self.assertIn("timed out", (done.stdout + done.stderr).lower())
        self.succeed(self.cluster.run(0, "rmmod kgni"))
        left = self.cluster.run(0, "cd /sys/class/gni/kgni0/resources && grep . *_used pinned_pages").stdout
        self.assertFalse(re.search(r":[1-9]", left), left)
