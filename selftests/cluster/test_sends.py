# SPDX-License-Identifier: GPL-2.0-or-later
"""Channel sends between nodes: messages into posted receives, withdrawn ones, receivers that die."""

from peers import PeerCase

DATAGRAMS = "/kselftest/aries/datagram_peer"
JOB = 4712  # as there
NO_RECEIVE, RECEIVE_LENGTH = 0x16, 0x17
CHANNEL = 77


class Sends(PeerCase):
    SHARES = "pair"
    PEER = "/kselftest/aries/receive_peer"

    def start(self, node, command, *arguments, cookie=None):
        """Peers of one channel."""
        return super().start(node, command, CHANNEL, *arguments, cookie=cookie)

    def once(self, node, pe, length, cookie=None):
        """Status of one try."""
        lines = self.output(self.start(node, "once", pe, length, cookie=cookie))
        self.assertEqual(lines[-1], "exit 0")
        return int(lines[0].split()[1])

    def test_messages(self):
        for length in (1, 100, 4096, 300000):
            with self.subTest(bytes=length):
                taker = self.start(1, "take", 8, length)
                self.output(taker, until="posted")
                self.assertEqual(self.output(self.start(0, "send", 1, 8, length)), ["exit 0"])
                self.assertEqual(self.output(taker), [f"0 {length} ok"] * 8 + ["exit 0"])

    def test_two_senders(self):
        taker = self.start(1, "take", 16, 2000)
        self.output(taker, until="posted")
        senders = [self.start(node, "send", 1, 8, 2000) for node in (0, 1)]
        for sender in senders:
            self.assertEqual(self.output(sender), ["exit 0"])
        self.assertEqual(sorted(self.output(taker)), sorted(["0 2000 ok"] * 8 + ["1 2000 ok"] * 8 + ["exit 0"]))

    def test_virtual_nodes(self):
        # the job calls node 1 its node 0, and node 0 its node 1
        for node in (0, 1):
            self.succeed(self.cluster.run(node, f"{DATAGRAMS} map {self.cookie} {JOB} 1 0"))
        taker = self.start(1, "take", 2, 100)
        self.output(taker, until="posted")
        self.assertEqual(self.output(self.start(0, "send", 0, 2, 100)), ["exit 0"])
        self.assertEqual(self.output(taker), ["1 100 ok"] * 2 + ["exit 0"])
        for node in (0, 1):
            self.succeed(self.cluster.run(node, f"{self.PEER} destroy {self.cookie}"))

    def test_errors_at_the_sender(self):
        self.assertEqual(self.once(0, 1, 64), NO_RECEIVE)
        taker = self.start(1, "take", 1, 64)
        self.output(taker, until="posted")
        self.assertEqual(self.once(0, 1, 64, cookie=self.cookie ^ 0x00800000), NO_RECEIVE)
        self.assertEqual(self.once(0, 1, 65), RECEIVE_LENGTH)
        self.assertEqual(self.once(0, 1, 64), 0)
        self.assertEqual(self.output(taker), ["0 64 ok", "exit 0"])
        self.assertEqual(self.once(0, 1, 64), NO_RECEIVE)

    def test_withdrawn_under_way(self):
        taker = self.start(1, "withdraw", 60, 12 << 20)
        self.output(taker, until="posted")
        sender = self.start(0, "send", 1, 400, 12 << 20)
        lines = self.output(taker, bound=180.0)
        self.assertEqual(lines[-1], "exit 0", lines)
        self.assertRegex(lines[0], r"done \d+ cancelled [1-9]\d*")
        self.cluster.run(0, "killall -9 receive_peer")
        self.output(sender)

    def test_suspended_job_does_not_receive(self):
        def job(what):
            self.succeed(self.cluster.run(1, f"{self.PEER} {what} {self.cookie}"))

        job("job")
        taker = self.start(1, "take", 2, 64)
        self.output(taker, until="posted")
        job("suspend")
        self.assertEqual(self.once(0, 1, 64), NO_RECEIVE)
        job("resume")
        self.assertEqual(self.once(0, 1, 64), 0)
        self.assertEqual(self.once(0, 1, 64), 0)
        self.assertEqual(self.output(taker), ["0 64 ok"] * 2 + ["exit 0"])
        job("destroy")

    def test_receiver_dies(self):
        taker = self.start(1, "take", 8, 4096)
        self.output(taker, until="posted")
        self.assertEqual(self.once(0, 1, 64), 0)
        self.cluster.run(1, "killall -9 receive_peer")
        self.output(taker)
        self.assertEqual(self.once(0, 1, 64), NO_RECEIVE)
        used = self.cluster.run(1, "cat /sys/class/gni/kgni0/resources/recv_used").stdout
        self.assertEqual(used.strip(), "0")
