# SPDX-License-Identifier: GPL-2.0-or-later
"""Datagrams between nodes: who meets whom, cancelling, floods, and nodes that die and come back."""

import time

from gnitest.testing import clock
from peers import PeerCase

SENDS = "/kselftest/aries/receive_peer"
JOB = 4712  # as there
COMPLETED, TIMEOUT, TERMINATED = "1", "3", "4"
FLOOD = 4000  # datagrams; a file may have 4,096
FLOOD_WINDOW = 8.0  # seconds, of the count without flood and of that with it
# Seconds until a datagram to a dead node is TIMEOUT: the driver tries for 10 s.
BOUND = 30.0


class Datagrams(PeerCase):
    SHARES = "pair"
    PEER = "/kselftest/aries/datagram_peer"

    def test_directed_meets_wildcard(self):
        server = self.start(1, "serve", 7, 3, 30000)
        caller = self.start(0, "call", 3, 1, 7, 3, 30000)
        self.assertEqual(self.output(caller), [f"{COMPLETED} 1 7 7:{n}" for n in range(3)] + ["exit 0"])
        self.assertEqual(self.output(server), [f"{COMPLETED} 0 3 3:{n}" for n in range(3)] + ["exit 0"])

    def test_caller_comes_first(self):
        for first, second in ((0, 1), (1, 0)):
            with self.subTest(caller=first):
                caller = self.start(first, "call", 3, second, 7, 1, 30000)
                self.output(caller, until="posted")
                time.sleep(0.5)
                server = self.start(second, "serve", 7, 1, 30000)
                self.assertEqual(self.output(caller), [f"{COMPLETED} {second} 7 7:0", "exit 0"])
                self.assertEqual(self.output(server), [f"{COMPLETED} {first} 3 3:0", "exit 0"])

    def test_directed_meet_each_other(self):
        peers = [self.start(node, "call", 10 + node, 1 - node, 11 - node, 50, 30000) for node in (0, 1)]
        for node, peer in enumerate(peers):
            expected = [f"{COMPLETED} {1 - node} {11 - node} {11 - node}:{n}" for n in range(50)]
            self.assertEqual(self.output(peer, 60), expected + ["exit 0"])

    def test_another_domain_is_out_of_reach(self):
        server = self.start(1, "serve", 7, 1, 3000, cookie=self.cookie ^ 0x00800000)
        caller = self.start(0, "call", 3, 1, 7, 1, 3000)
        self.assertEqual(self.output(caller)[-1], "exit 3")
        self.assertEqual(self.output(server)[-1], "exit 3")

    def test_kept_until_somebody_listens(self):
        server = self.start(1, "serve", 7, 1, 30000, 3000)
        caller = self.start(0, "call", 3, 1, 7, 1, 30000)
        self.assertEqual(self.output(caller), [f"{COMPLETED} 1 7 7:0", "exit 0"])
        self.assertEqual(self.output(server), [f"{COMPLETED} 0 3 3:0", "exit 0"])

    def test_cancelled_one_is_not_met(self):
        server = self.start(1, "serve", 7, 1, 2000, 4000)
        self.assertEqual(self.output(self.start(0, "cancel", 3, 1, 7)), [TERMINATED, "exit 1"])
        self.assertEqual(self.output(server)[-1], "exit 3")

    def test_virtual_nodes(self):
        # the job calls node 1 its node 0, and node 0 its node 1
        for node in (0, 1):
            self.succeed(self.cluster.run(node, f"{self.PEER} map {self.cookie} {JOB} 1 0"))
        server = self.start(1, "serve", 7, 3, 30000)
        caller = self.start(0, "call", 3, 0, 7, 3, 30000)
        self.assertEqual(self.output(caller), [f"{COMPLETED} 0 7 7:{n}" for n in range(3)] + ["exit 0"])
        self.assertEqual(self.output(server), [f"{COMPLETED} 1 3 3:{n}" for n in range(3)] + ["exit 0"])
        self.assertEqual(self.output(self.start(0, "call", 3, 2, 7, 1, 1000))[-1], "exit 2", "not in the job")
        for node in (0, 1):
            self.succeed(self.cluster.run(node, f"{SENDS} destroy {self.cookie}"))

    def test_process_that_dies_is_not_met(self):
        # Time for all that the caller does, on a busy machine as well.
        server = self.start(1, "serve", 7, 1, 2000, 15000)
        caller = self.start(0, "hang", 3, 1, 7)
        self.output(caller, until="posted")
        self.cluster.run(0, "killall -9 datagram_peer")
        self.output(caller)
        self.assertEqual(self.output(server, 60)[-1], "exit 3")

    def test_many_callers_one_server(self):
        callers, each = 8, 25
        server = self.start(1, "serve", 7, callers * each, 60000)
        peers = [self.start(node, "call", 100 + n, 1, 7, each, 60000) for n, node in enumerate([0, 1] * (callers // 2))]
        for peer in peers:
            lines = self.output(peer, 120)
            self.assertEqual(lines[-1], "exit 0", lines)
        lines = self.output(server, 120)
        self.assertEqual(lines[-1], "exit 0")
        self.assertEqual(len(set(lines)), callers * each + 1, "each exchange happens once")

    def exchanges(self, caller):
        """How many exchanges of a caller are complete."""
        node, file = caller
        return int(self.cluster.run(node, f"grep -c '^{COMPLETED} ' {file}; true").stdout)

    def sent(self, node, ptag):
        """Messages that a node has sent for the datagrams of a domain that has some."""
        for line in self.cluster.run(node, "cat /sys/kernel/debug/aries/kgni0/peers").stdout.splitlines():
            words = line.split()
            if words[3] == ptag:
                return int(words[words.index("sent") + 1])
        return 0

    def test_a_flood_leaves_others_their_share(self):
        """One job asks for thousands of instances that do not exist; another one's rate is counted before and meanwhile.

        While all have something to say its share is one of three (the flood and the refusals of it take their turns);
        a quarter of that is demanded.
        """
        flood_cookie = next(self.cookies)
        server = self.start(1, "serve", 7, 1000000, 600000)
        caller = self.start(0, "call", 3, 1, 7, 1000000, 600000)
        self.wait_for(lambda: self.exchanges(caller), "no exchange at all", 60)
        before = self.exchanges(caller)
        time.sleep(FLOOD_WINDOW)
        alone = self.exchanges(caller) - before
        flood = self.start(0, "flood", 5, 1, FLOOD, cookie=flood_cookie)
        self.output(flood, 120, until=f"posted {FLOOD}")
        ptag = self.cluster.run(0, f"grep 'datagrams {FLOOD} ' /sys/kernel/debug/aries/kgni0/peers").stdout.split()[3]
        before, sent = self.exchanges(caller), self.sent(0, ptag)
        time.sleep(FLOOD_WINDOW)
        flooded, flood_sent = self.exchanges(caller) - before, self.sent(0, ptag) - sent
        self.cluster.run(0, "killall -9 datagram_peer")
        self.cluster.run(1, "killall -9 datagram_peer")
        for peer in (flood, caller, server):
            self.output(peer)
        self.assertGreater(flood_sent, 0, "the flood did not flood")
        self.assertGreaterEqual(12 * flooded, alone, f"{alone} exchanges without the flood, {flooded} with it")

    def test_node_that_dies_and_comes_back(self):
        caller = self.start(0, "call", 3, 1, 7, 1, 60000)
        self.output(caller, until="posted")
        self.cluster.kill(1)
        killed = clock().now()
        self.assertEqual(self.output(caller, BOUND), [TIMEOUT, "exit 1"])
        self.assertLess(clock().now() - killed, BOUND)
        self.cluster.start(1)
        server = self.start(1, "serve", 7, 1, 30000)
        self.assertEqual(self.output(self.start(0, "call", 3, 1, 7, 1, 30000)), [f"{COMPLETED} 1 7 7:0", "exit 0"])
        self.assertEqual(self.output(server)[-1], "exit 0")

    def test_driver_that_comes_again_is_noticed(self):
        # the peer does not know that we have forgotten everything
        self.test_directed_meets_wildcard()
        self.succeed(self.cluster.run(1, "rmmod aries && modprobe aries"))
        self.cookie = next(self.cookies)
        self.test_directed_meets_wildcard()
        self.succeed(self.cluster.run(0, "rmmod aries && modprobe aries"))
        self.cookie = next(self.cookies)
        self.test_directed_meets_wildcard()
