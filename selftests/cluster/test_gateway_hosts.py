# SPDX-License-Identifier: GPL-2.0-or-later
"""aries-gateway on hosts of their own (namespaces): messages, cables that are cut, gateways that are killed, and who may not join."""

import random
import signal
import time
import unittest

from gateways import GatewayCase
from gnitest.testing import slow_tests

TIMES = ("--timeout", "4")
TRAFFIC = ("--size", "1000", "--flight", "200", "--patience", "60")
SEND = """
import random, socket, sys
random.seed(int(sys.argv[3]))
held = []
for size in (0, 1, 7, 48, 500, 5000, 70000):
    for _ in range(6):
        one = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=10)
        one.settimeout(0.2)
        held.append(one)
        try:
            one.sendall(random.randbytes(size))
        except OSError:
            pass
        one.setblocking(False)
"""


class Two(GatewayCase):
    """Two hosts."""

    def nothing_wrong(self, result):
        """All messages have come back, once, in order."""
        self.assertEqual([result["wrong"], result["lost"], result["downs"], result["ups"]], [0, 0, 0, 1], result)

    def test_messages(self):
        alpha = self.start(0, "--echo")
        for options in (("--count", "300"), ("--count", "20000", "--flight", "500"), ("--count", "300", "--size", "65792", "--flight", "20")):
            result = self.ping(1, "alpha", *options)
            self.nothing_wrong(result)
            self.assertGreaterEqual(result["returned"], int(options[1]))
        alpha.wait_for("beta: down: it has ended", 3)
        self.assertEqual(alpha.peer("beta")["messages received"], alpha.peer("beta")["messages sent"])

    def test_listens_at_its_address_only(self):
        alpha = self.start(0)
        alpha.wait_for("listens at")
        sockets = self.hosts.run(0, "ss", "-Hltun").stdout.split("\n")
        self.assertEqual([line.split()[4] for line in sockets if line], [f"{self.hosts.address(0)}:7741"])

    def test_idle_gateway_sleeps(self):
        alpha, beta = self.start(0), self.start(1)
        alpha.wait_for("beta: up")
        beta.wait_for("alpha: up")

        def switches():
            pid = int(self.hosts.run(0, "pgrep", "-x", "aries-gateway").stdout)
            return sum(int(line.split()[1]) for line in
                       self.hosts.run(0, "sh", "-c", f"cat /proc/{pid}/task/*/status").stdout.splitlines() if line.startswith("voluntary"))

        before = switches()
        time.sleep(2)
        self.assertLess((switches() - before) / 2, 100, "wakes up far more often than it has beats to send")

    def policies(self, number):
        """How the kernel schedules the threads of the gateway there."""
        script = "for task in /proc/$(pgrep -x aries-gateway)/task/*; do chrt -p ${task##*/}; done"
        return {line.split()[-1] for line in self.hosts.run(number, "sh", "-c", script).stdout.splitlines() if "policy" in line}

    def test_guests_do_not_hold_it_up(self):
        """It runs before what is ordinary, unless it polls, or may not."""
        refused = self.start(0, under=("setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice", "prlimit", "--rtprio=0"))
        refused.wait_for("realtime priority is refused .Operation not permitted.")
        refused.wait_for("listens at")
        self.assertEqual(self.policies(0), {"SCHED_OTHER"})
        refused.end()
        if self.hosts.run(1, "chrt", "-r", "1", "true", check=False).returncode:
            self.skipTest("nobody may have realtime priority here")
        for options, policy in (((), "SCHED_RR"), (("--spin", "50"), "SCHED_OTHER")):
            beta = self.start(1, *options)
            beta.wait_for("listens at")
            self.assertEqual(self.policies(1), {policy})
            self.assertEqual(beta.lines("realtime"), [])
            beta.end()

    def test_sigterm(self):
        alpha, beta = self.start(0), self.start(1)
        beta.wait_for("alpha: up")
        self.assertEqual(alpha.end(), 0)
        alpha.wait_for("alpha: ends")
        beta.wait_for("alpha: down: it has ended")
        self.assertEqual(beta.peer("alpha")["state"], "away")

    def cut_under_traffic(self, seconds, timeout):
        """The result of a ping that runs before, during and after a cut."""
        alpha = self.start(0, "--echo", "--timeout", timeout)
        ping = self.start_ping(1, "alpha", *TRAFFIC, "--timeout", timeout, "--seconds", str(2 * seconds + 3))
        alpha.wait_for("beta: up")
        self.wait(lambda: alpha.peer("beta")["messages received"] > 1000, lambda: "no traffic")
        self.hosts.cut(1)
        time.sleep(0.3)
        before = alpha.peer("beta")["messages received"]
        time.sleep(seconds - 0.3)
        self.assertEqual(alpha.peer("beta")["messages received"], before, "the cable was not cut")
        self.hosts.heal(1)
        result = self.ping_result(ping)
        self.assertGreater(result["sent"], before + 200, "nothing went after the cut")
        return alpha, result

    def test_short_cut(self):
        _, result = self.cut_under_traffic(1, "8")
        self.nothing_wrong(result)

    def test_cut_of_half_the_time_out(self):
        """TCP would be silent for longer than is left: both ends have to leave its connections."""
        _, result = self.cut_under_traffic(3, "6")
        self.nothing_wrong(result)

    @unittest.skipUnless(slow_tests(), "slow: OPENGNI_SLOW=1")
    def test_many_cuts_of_half_the_time_out(self):
        """At other points of what goes on there."""
        alpha = self.start(0, "--echo", "--timeout", "6")
        ping = self.start_ping(1, "alpha", *TRAFFIC, "--timeout", "6", "--seconds", "70")
        alpha.wait_for("beta: up")
        for _ in range(10):
            self.wait(lambda: alpha.peer("beta")["messages received"] > 1000, lambda: "no traffic")
            time.sleep(random.uniform(1, 3))
            self.hosts.cut(random.randrange(2))
            time.sleep(3)
            for host in range(2):
                self.hosts.heal(host)
        self.nothing_wrong(self.ping_result(ping))

    @unittest.skipUnless(slow_tests(), "slow: OPENGNI_SLOW=1")
    def test_cut_with_another_connection(self):
        alpha, result = self.cut_under_traffic(3, "12")
        self.nothing_wrong(result)
        alpha.wait_for("beta: is quiet for .*: another connection is tried")
        alpha.wait_for("beta: is heard again after")
        self.assertGreater(alpha.peer("beta")["reconnects"], 0)

    @unittest.skipUnless(slow_tests(), "slow: OPENGNI_SLOW=1")
    def test_long_cut(self):
        alpha, result = self.cut_under_traffic(4, "1")
        self.assertEqual([result["wrong"], result["downs"], result["ups"]], [0, 1, 2], result)
        self.assertEqual(result["lost"], 200, "all that were on their way are told as lost, and no others")
        alpha.wait_for("beta: down: nothing was heard for")
        alpha.wait_for("beta: up", 2)

    def test_killed_gateway(self):
        alpha = self.start(0, "--echo", *TIMES)
        ping = self.start_ping(1, "alpha", *TRAFFIC, *TIMES, "--seconds", "6")
        self.wait(lambda: alpha.peer("beta")["messages received"] > 1000, lambda: "no traffic")
        alpha.end(signal.SIGKILL)
        again = self.start(0, "--echo", *TIMES)
        again.wait_for("beta: up")
        result = self.ping_result(ping)
        self.assertEqual([result["wrong"], result["downs"], result["ups"], result["lost"]], [0, 1, 2, 200], result)

    def stopped(self, seconds, timeout):
        alpha = self.start(0, "--echo", "--timeout", timeout)
        ping = self.start_ping(1, "alpha", *TRAFFIC, "--timeout", timeout, "--seconds", str(seconds + 3))
        self.wait(lambda: alpha.peer("beta")["messages received"] > 1000, lambda: "no traffic")
        alpha.send(signal.SIGSTOP)
        time.sleep(seconds)
        alpha.send(signal.SIGCONT)
        return alpha, self.ping_result(ping)

    @unittest.skipUnless(slow_tests(), "slow: OPENGNI_SLOW=1")
    def test_stopped_for_a_moment(self):
        self.nothing_wrong(self.stopped(1, "10")[1])

    @unittest.skipUnless(slow_tests(), "slow: OPENGNI_SLOW=1")
    def test_stopped_for_long(self):
        alpha, result = self.stopped(4, "1")
        self.assertEqual(result["wrong"], 0)
        self.assertGreaterEqual(result["downs"], 1)
        self.assertEqual(result["ups"], result["downs"] + 1, result)
        alpha.wait_for("beta: up", 2)

    def test_garbage(self):
        alpha = self.start(0, "--echo", *TIMES)
        ping = self.start_ping(1, "alpha", *TRAFFIC, *TIMES, "--seconds", "3")
        self.wait(lambda: alpha.peer("beta")["messages received"] > 1000, lambda: "no traffic")
        self.hosts.run(1, "python3", "-c", SEND, self.hosts.address(0), "7741", str(random.randrange(1 << 30)))
        self.nothing_wrong(self.ping_result(ping))
        self.nothing_wrong(self.ping(1, "alpha", "--count", "100"))


class Three(GatewayCase):
    """Three hosts: pairs that do not disturb each other, and those who are refused."""

    COUNT = 3

    def refused(self, ours, theirs, pattern, others=None):
        """Both have one line with the cause, none is up."""
        for gateway, peer in ((ours, theirs), (theirs, ours)):
            gateway.wait_for(pattern)
            self.assertEqual(gateway.peer(others or peer.name)["state"] == "up", False)
        time.sleep(1.5)  # more hellos go meanwhile
        for gateway in (ours, theirs):
            self.assertEqual(len(gateway.lines(pattern)), 1, gateway.lines())
            self.assertEqual(gateway.lines(": up"), [])

    def test_all_pairs(self):
        gateways = [self.start(i, "--echo", *TIMES) for i in range(3)]
        for gateway in gateways:
            for other in gateways:
                if other is not gateway:
                    gateway.wait_for(f"{other.name}: up, nodes")
        gateways[2].end()
        gateways[0].wait_for("gamma: down: it has ended")
        for to in ("alpha", "beta"):
            result = self.ping(2, to, "--count", "5000", "--flight", "50")
            self.assertEqual([result["wrong"], result["lost"]], [0, 0], result)
        # two at a time, and one of three that is cut off leaves the others alone
        ping = self.start_ping(2, "alpha", *TRAFFIC, *TIMES, "--seconds", "4")
        self.wait(lambda: gateways[0].peer("gamma")["state"] == "up", lambda: "gamma does not come back")
        self.hosts.cut(1)
        gateways[0].wait_for("beta: down: nothing was heard")
        result = self.ping_result(ping)
        self.assertEqual([result["wrong"], result["lost"], result["downs"]], [0, 0, 0], result)
        self.hosts.heal(1)
        gateways[0].wait_for("beta: up", 2)

    def test_wrong_key(self):
        alpha, beta = self.start(0), self.start(1, key=self.new_key("other"))
        alpha.wait_for("beta: beta has another key")
        beta.wait_for("alpha: alpha has another key")
        self.refused(alpha, beta, "has another key")
        self.assertEqual(alpha.peer("beta")["state"], "refused")

    def test_other_shape(self):
        self.refused(self.start(0, "--shape", "96 nodes"), self.start(1, "--shape", "384 nodes"),
                     "is of the fabric '(96|384) nodes', .* of '(96|384) nodes'")

    def test_duplicate_nodes(self):
        file = self.hosts_file("twice", {"alpha": (0, "10"), "beta": (1, "2-5")})
        self.refused(self.start(0), self.start(1, file=file), "nodes 2-3 are at (alpha|beta) and at (alpha|beta)")

    def test_host_twice(self):
        file = self.hosts_file("moved", {"alpha": (0, "0-3"), "beta": (2, "4-7")})
        alpha, beta = self.start(0), self.start(1)
        beta.wait_for("alpha: up")
        another = self.start(2, name="beta", file=file)
        cause = f"beta is at {self.hosts.address(2)}:7741, the hosts file of alpha says {self.hosts.address(1)}:7741"
        alpha.wait_for(cause)
        another.wait_for(cause)
        self.assertEqual([len(alpha.lines(cause)), len(another.lines(cause))], [1, 1])
        self.assertEqual(alpha.peer("beta")["state"], "up")
        self.assertEqual(alpha.lines("down"), [])

    def test_second_gateway_of_a_host(self):
        alpha = self.start(0)
        alpha.wait_for("listens")
        second = self.start(0)
        self.assertEqual(second.end(0), 1)
        second.wait_for("aries-gateway: a gateway of alpha runs here already")
        file = self.hosts_file("renamed", {"delta": (0, "0-3"), "beta": (1, "4-7")})
        third = self.start(0, name="delta", file=file)
        self.assertEqual(third.end(0), 1)
        third.wait_for("aries-gateway: .*10.99.0.1.*: Address already in use")


@unittest.skipUnless(slow_tests(), "slow: OPENGNI_SLOW=1")
class Poor(GatewayCase):
    """A cable that takes time and loses packets, and a clock that is ahead."""

    AHEAD = 1000
    LINES = {1: {"delay": 0.003, "loss": 0.02}}
    CLOCKS = {1: AHEAD}

    def test_messages_and_clock(self):
        alpha = self.start(0, "--echo", "--timeout", "10")
        result = self.ping(1, "alpha", "--timeout", "10", "--size", "3000", "--flight", "30", "--count", "600", "--patience", "60")
        self.assertEqual([result["wrong"], result["lost"], result["downs"]], [0, 0, 0], result)
        self.assertGreater(self.hosts.lines[1].lost, 0, "the cable has lost nothing")
        beta = self.start(1, "--timeout", "5")
        self.wait(lambda: alpha.peer("beta")["state"] == "up" and alpha.peer("beta")["offset us"] != "unknown", lambda: "no clock")
        for gateway, peer, ahead in ((alpha, "beta", self.AHEAD), (beta, "alpha", -self.AHEAD)):
            self.wait(lambda gateway=gateway, peer=peer: gateway.peer(peer)["offset us"] != "unknown", lambda: "no clock")
            known = gateway.peer(peer)
            self.assertGreater(known["round trip us"], 6000, "less than the cable takes")
            self.assertLess(abs(known["offset us"] - ahead * 1e6), known["offset within us"] + 1, known)
