# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes that go and come: what krca tells a client in the kernel of node 0, and users by nodes_up."""

import signal
import time

from gnitest.testing import ClusterCase

DEBUG = "/sys/kernel/debug/krca_test"
DRIVER = "/sys/bus/pci/drivers/aries"
OFF, ON, HALT, READY = 1, 2, 3, 4  # rs_sm_states.h
BOUND = 120.0
QUIET = 3.0  # several leases and ticks: what was to come has come


class Krca(ClusterCase):
    SHARES = "four"

    def setUp(self):
        self.start_nodes()
        self.wait_for(lambda: self.up() == "0-3", self.up, BOUND)
        self.succeed(self.cluster.run(0, "modprobe krca_test"))
        self.pci = self.cluster.run(0, "basename $(readlink /sys/class/gni/kgni0/device)").stdout.strip()
        self.seen = 0

    def tearDown(self):
        self.succeed(self.cluster.run(0, "rmmod krca_test && rmmod krca"))

    def read(self, name):
        return self.succeed(self.cluster.run(0, f"cat {DEBUG}/{name}")).stdout

    def up(self):
        return self.cluster.run(0, "cat /sys/class/gni/kgni0/nodes_up").stdout.strip()

    def all_events(self):
        """Kind, node and state of each event so far."""
        return [(kind, int(node), int(state)) for kind, node, state in map(str.split, self.read("events").splitlines())]

    def expect(self, *events):
        """These come next, those of one node in this order, and no others until now."""
        self.wait_for(lambda: len(self.all_events()) >= self.seen + len(events), lambda: f"{events}: {self.all_events()[self.seen:]}", BOUND)
        got = self.all_events()[self.seen:]
        self.assertEqual(sorted(got, key=lambda event: event[1]), sorted(events, key=lambda event: event[1]))
        self.seen += len(events)

    def states(self):
        """Of the nodes; a gateway's address, if there is one, is behind them and never ready."""
        states = {int(node): int(state) for node, state in map(str.split, self.read("nodes").splitlines())}
        self.assertNotIn(READY, [states.pop(node) for node in list(states) if node >= self.NODES])
        return states

    def test_killed_and_back(self):
        for _ in range(2):
            self.cluster.kill(1)
            self.expect(("failed", 1, HALT))
            self.assertEqual(self.states(), {0: READY, 1: HALT, 2: READY, 3: READY})
            self.assertEqual(self.up(), "0,2-3")
            self.cluster.start(1)
            self.expect(("available", 1, READY))
            self.assertEqual(self.states(), {0: READY, 1: READY, 2: READY, 3: READY})

    def test_ended_in_order(self):
        self.cluster.stop(2)
        self.wait_for(lambda: self.states()[2] == OFF, lambda: str(self.states()), BOUND)
        events = self.all_events()
        self.assertIn(events, ([("unavailable", 2, ON)], [("unavailable", 2, OFF)]))
        self.seen = 1
        self.cluster.start(2)
        self.expect(("available", 2, READY))

    def test_stopped_is_not_dead(self):
        self.cluster.signal(1, signal.SIGSTOP)
        try:
            time.sleep(QUIET)
            self.assertEqual(self.all_events(), [])
            self.assertEqual(self.up(), "0-3")
        finally:
            self.cluster.signal(1, signal.SIGCONT)
        self.cluster.run(1, "true")
        # dead it is when it is killed, stopped or not
        self.cluster.signal(1, signal.SIGSTOP)
        self.cluster.kill(1)
        self.expect(("failed", 1, HALT))

    def test_driver_of_a_peer(self):
        pci = self.cluster.run(2, "basename $(readlink /sys/class/gni/kgni0/device)").stdout.strip()
        self.succeed(self.cluster.run(2, f"echo {pci} >{DRIVER}/unbind"))
        self.expect(("unavailable", 2, ON))
        self.succeed(self.cluster.run(2, f"echo {pci} >{DRIVER}/bind"))
        self.expect(("available", 2, READY))
        self.succeed(self.cluster.run(2, f"echo 1 >/sys/bus/pci/devices/{pci}/reset"))
        self.expect(("unavailable", 2, ON), ("available", 2, READY))

    def test_two_at_once(self):
        self.cluster.signal(1, signal.SIGSTOP)
        self.cluster.signal(2, signal.SIGSTOP)
        self.cluster.kill(1)
        self.cluster.kill(2)
        self.expect(("failed", 1, HALT), ("failed", 2, HALT))
        self.assertEqual(self.up(), "0,3")

    def test_reader_that_does_not_read(self):
        """A departure and a return wait at most, and the last event that comes is true."""
        self.succeed(self.cluster.run(0, f"echo 0 >{DEBUG}/reading"))
        for node, up in ((1, "0,2-3"), (2, "0-1,3")):
            for _ in range(2):
                self.cluster.kill(node)
                self.wait_for(lambda expected=up: self.up() == expected, self.up, BOUND)
                self.cluster.start(node)
                self.wait_for(lambda: self.up() == "0-3", self.up, BOUND)
        self.cluster.kill(1)
        self.wait_for(lambda: self.up() == "0,2-3", self.up, BOUND)
        self.assertEqual(self.all_events(), [])
        self.succeed(self.cluster.run(0, f"echo 1 >{DEBUG}/reading"))
        self.expect(("failed", 1, HALT), ("failed", 2, HALT), ("available", 2, READY))

    def test_what_waits_goes_with_its_subscription(self):
        self.succeed(self.cluster.run(0, f"echo 0 >{DEBUG}/reading"))
        self.cluster.kill(1)
        self.wait_for(lambda: self.states()[1] == HALT, lambda: str(self.states()), BOUND)
        self.succeed(self.cluster.run(0, f"echo 2 >{DEBUG}/unsubscribe"))  # failed
        self.cluster.start(1)
        self.wait_for(lambda: self.states()[1] == READY, lambda: str(self.states()), BOUND)
        self.succeed(self.cluster.run(0, f"echo 1 >{DEBUG}/reading"))
        self.expect(("available", 1, READY))

    def test_own_nic_is_away(self):
        """What happens meanwhile is told when it is back, and a node that came back meanwhile was away."""
        self.succeed(self.cluster.run(0, f"echo {self.pci} >{DRIVER}/unbind"))
        self.cluster.kill(1)
        self.cluster.kill(2)
        self.cluster.start(2)
        time.sleep(QUIET)
        self.assertEqual(self.all_events(), [])
        self.succeed(self.cluster.run(0, f"echo {self.pci} >{DRIVER}/bind"))
        self.expect(("failed", 1, HALT), ("unavailable", 2, ON), ("available", 2, READY))
        self.cluster.start(1)
        self.expect(("available", 1, READY))

    def test_own_nic_is_reset(self):
        """Again and again, while a node goes and comes: each is told once."""
        reset = f"/sys/bus/pci/devices/{self.pci}/reset"
        self.succeed(self.cluster.run(0, "(touch /tmp/resets; "
                                         f"while [ -e /tmp/resets ]; do echo 1 >{reset}; sleep 0.1; done; touch /tmp/over) >/dev/null 2>&1 &"))
        try:
            self.cluster.kill(1)
            self.expect(("failed", 1, HALT))
            self.cluster.start(1)
            self.expect(("available", 1, READY))
        finally:
            self.cluster.run(0, "rm /tmp/resets; while [ ! -e /tmp/over ]; do sleep 0.1; done; rm /tmp/over")
        self.assertEqual(len(self.all_events()), 2)
