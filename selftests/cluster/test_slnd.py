# SPDX-License-Identifier: GPL-2.0-or-later
"""The sample LND: messages and bulk data that are checked, and what happens when nodes, links, NICs and modules go."""

import itertools
import re
import unittest

from gnitest.testing import ClusterCase, Told, slow_tests

DEBUG = "/sys/kernel/debug"
BOUND = 180.0
TIMEOUT = 30  # seconds after which the LND gives a silent peer up: far more than a busy machine makes one wait
ENDLESS = 1000000
SIZES = (1, 2, 3, 4, 5, 100, 4095, 4096, 4097, 65536, 100001, 1048576)
OFFSETS = ((0, 0), (4, 8), (1, 0), (0, 3), (4095, 2), (2048, 4092))


class SlndCase(ClusterCase):
    """The LND on every node, and its message test; at the end of a test it goes, and leaves nothing behind."""

    SHARES = "pair"
    PARAMETERS = f"timeout={TIMEOUT}"
    files = itertools.count()

    def setUp(self):
        self.start_nodes()
        for node in range(self.NODES):
            for name, value in (("link", 1), ("drop", 0), ("drop-response", 0)):
                self.cluster.set_nic(node, name, value)
            self.load(node)

    def tearDown(self):
        for node in range(self.NODES):
            if self.cluster.running(node):
                # what a test that has failed may have left under way
                self.cluster.run(node, f"echo stop >{DEBUG}/slnd_test/run; for i in $(seq 600); do rmmod slnd_test 2>&1 && break; sleep 0.2; done")
                self.load(node)
                self.unload(node)

    def load(self, node):
        self.succeed(self.cluster.run(node, f"modprobe slnd {self.PARAMETERS} && modprobe slnd_test"))

    def unload(self, node):
        self.succeed(self.cluster.run(node, "rmmod slnd_test && rmmod slnd && rmmod kgni"))
        left = self.cluster.run(node, "cd /sys/class/gni/kgni0/resources && grep . *_used pinned_pages").stdout
        self.assertFalse(re.search(r":[1-9]", left), left)

    def counter(self, node, name):
        text = self.cluster.run(node, f"cat {DEBUG}/slnd/counters").stdout
        return int(re.search(rf"^{name} (\d+)$", text, re.M)[1])

    def damaged(self, node):
        return int(re.search(r"damaged (\d+)", self.cluster.run(node, f"cat {DEBUG}/slnd_test/peer").stdout)[1])

    @staticmethod
    def words(parameters):
        return " ".join(f"{name}={value}" for name, value in parameters.items())

    def begin(self, node, **parameters):
        """Starts a test of a node; end() waits for it."""
        line = self.words(parameters)
        file = f"/tmp/slnd-{next(self.files)}"
        self.succeed(self.cluster.run(node, f"(setsid sh -c 'echo {line} >{DEBUG}/slnd_test/run;"
                                            f" cat {DEBUG}/slnd_test/result >{file}.new; mv {file}.new {file}' >/dev/null 2>&1 </dev/null &)"))
        return node, file

    def end(self, begun, bound=BOUND):
        """What a test has come to."""
        node, file = begun
        text = []

        def there():
            text[:] = [self.cluster.run(node, f"cat {file}").stdout]
            return text[0]

        self.wait_for(there, lambda: f"the test does not end\n{self.state(node)}", bound, 0.3)
        return self.result(text[0])

    def result(self, text):
        """What the module says of a test, as numbers."""
        result = dict(word.split("=") for word in text.split() if "=" in word)
        self.assertIn("ok", result, text)
        return {name: value if name == "test" else int(value) for name, value in result.items()}

    def state(self, node):
        return self.cluster.run(node, f"cat {DEBUG}/slnd/connections {DEBUG}/slnd/counters; dmesg | tail -20").stdout

    def run_test(self, node, **parameters):
        """A test from its beginning to its end, in one command."""
        return self.result(self.cluster.run(node, f"echo {self.words(parameters)} >{DEBUG}/slnd_test/run; cat {DEBUG}/slnd_test/result",
                                            timeout=BOUND).stdout)

    def good(self, result):
        """All of it went well."""
        told = Told(lambda: f"{result}\n" + "\n".join(self.state(node) for node in range(self.NODES) if self.cluster.running(node)))
        self.assertEqual((result["ok"], result["failed"], result["damaged"]), (result["count"] * result["threads"], 0, 0), told)
        for node in range(self.NODES):
            if self.cluster.running(node):
                self.assertEqual(self.damaged(node), 0)
        if result["test"] == "rate":
            self.assertEqual(result["came"], result["ok"], told)

    def works(self, node=0, peer=1):
        """Everything that there is, each way."""
        for near, far in ((node, peer), (peer, node)):
            self.good(self.run_test(near, test="latency", peer=far, count=20))
            self.good(self.run_test(near, test="rate", peer=far, count=500, bytes=300, threads=2))
            for test in ("put", "get"):
                self.good(self.run_test(near, test=test, peer=far, count=10, bytes=100000, offset=4))

    def busy(self, node, counter, **parameters):
        """A test that goes on until it is stopped or broken, once it is under way."""
        before = self.counter(node, counter)
        begun = self.begin(node, count=ENDLESS, **parameters)
        self.wait_for(lambda: self.counter(node, counter) > before + 50, lambda: self.state(node), BOUND)
        return begun

    def stop(self, node):
        self.succeed(self.cluster.run(node, f"echo stop >{DEBUG}/slnd_test/run"))

    def held(self, node):
        """What is in purgatory."""
        return self.counter(node, "purgatory") - self.counter(node, "released")

    def nothing_held(self, node):
        """Once peers have connections again, and those before them have ended. The time of purgatory is far longer."""
        self.wait_for(lambda: not self.held(node), lambda: f"in purgatory: {self.held(node)}\n{self.state(node)}", BOUND)


class Losses:
    """For cases of SlndCase: packets get lost."""

    def lose(self, node, fault, counter):
        """Loses packets until a counter has moved: which operation they belong to is up to chance."""
        before = self.counter(node, counter)

        def moved():
            if not self.cluster.get_nic(node, fault):
                self.cluster.set_nic(node, fault, 2)
            return self.counter(node, counter) > before

        self.wait_for(moved, lambda: f"{fault}: {counter} does not move\n{self.state(node)}", BOUND, 0.3)
        self.wait_for(lambda: not self.cluster.get_nic(node, fault), f"{fault}: not used up", BOUND)

    def test_lost_packets(self):
        """Transfers are posted again, messages sent again; nobody notices."""
        for test, counter in (("put", "puts"), ("get", "gets"), ("rate", "messages_sent")):
            begun = self.busy(0, counter, test=test, peer=1, bytes=500 if test == "rate" else 65536, threads=2)
            for fault in ("drop", "drop-response"):
                self.lose(*((0, fault, "messages_sent") if test == "rate" else (1, fault, "posts_repeated")))
            self.stop(0)
            result = self.end(begun)
            self.assertEqual((result["failed"], result["damaged"], self.damaged(1)), (0, 0, 0), self.log())
        for node in range(2):
            self.assertEqual(self.counter(node, "failed"), 0, self.log(node))


class Traffic(Losses, SlndCase):
    def test_messages(self):
        for size in (24, 25, 1000, 2032):
            self.good(self.run_test(0, test="rate", peer=1, count=2000, bytes=size, threads=4, window=32))
            self.good(self.run_test(0, test="latency", peer=1, count=50, bytes=size, threads=2))

    @unittest.skipUnless(slow_tests(), "in check-all")
    def test_both_ways_at_once(self):
        begun = [self.begin(node, test="rate", peer=1 - node, count=5000, threads=3) for node in range(2)]
        for one in begun:
            self.good(self.end(one))
        begun = [self.begin(node, test=test, peer=1 - node, count=30, bytes=300000, threads=3, offset=5 * node, far_offset=3)
                 for node, test in enumerate(("put", "get"))]
        for one in begun:
            self.good(self.end(one))

    def test_bulk_sizes_and_alignments(self):
        for test in ("put", "get"):
            for size, (near, far) in itertools.product(SIZES, OFFSETS):
                with self.subTest(test=test, size=size, near=near, far=far):
                    self.good(self.run_test(0, test=test, peer=1, count=4, bytes=size, offset=near, far_offset=far))
            self.good(self.run_test(0, test=test, peer=1, count=2, bytes=4 << 20))
        self.assertGreater(self.counter(1, "bounced"), 0)

    def test_no_addresses_of_the_kernel_are_shown(self):
        """Neither by lists nor by traces: this client has memory and datagrams, whose ids are addresses."""
        views, trace = f"{DEBUG}/aries/kgni0", "/sys/kernel/tracing"
        self.succeed(self.cluster.run(0, f"echo >{trace}/trace; echo 1 >{trace}/events/aries/enable"))
        self.good(self.run_test(0, test="put", peer=1, count=4, bytes=10000))
        self.succeed(self.cluster.run(0, f"echo 0 >{trace}/events/aries/enable"))
        for place, needed in ((f"{views}/registrations", "start"), (f"{views}/datagrams", "wildcard"),
                              (f"{trace}/trace", "aries_mem_register.* start=")):
            self.succeed(self.cluster.run(0, f"grep -q '{needed}' {place}"))
        found = self.cluster.run(0, f"grep -rE '0xff[0-9a-f]{{14}}' {views} {trace}/trace; grep MDD_BASE {views}/registers").stdout
        self.assertEqual(found, "")

    def test_damaged_data_is_noticed(self):
        """By who checks it: the others would find nothing otherwise."""
        for test, where in (("rate", 1), ("put", 1), ("get", 0)):
            before = self.damaged(1)
            result = self.run_test(0, test=test, peer=1, bytes=100 if test == "rate" else 5000, count=3, spoil=1)
            self.assertEqual((result["damaged"], self.damaged(1) - before), (0, 3) if where else (3, 0), result)

    def test_own_node(self):
        self.works(0, 0)

    def test_more_transfers_than_the_queue_has_room_for(self):
        self.unload(1)
        self.succeed(self.cluster.run(1, f"modprobe slnd {self.PARAMETERS} posts=2 && modprobe slnd_test"))
        self.good(self.run_test(0, test="put", peer=1, count=200, bytes=65536, threads=4, window=16))
        self.assertGreater(self.counter(1, "posts_refused"), 0)

    def test_receive_queue_that_overruns(self):
        self.unload(1)
        self.succeed(self.cluster.run(1, f"modprobe slnd {self.PARAMETERS} rx_entries=16 credits=512 && modprobe slnd_test"))
        self.unload(0)
        self.succeed(self.cluster.run(0, f"modprobe slnd {self.PARAMETERS} credits=512 && modprobe slnd_test"))
        for _ in range(10):
            self.good(self.run_test(0, test="rate", peer=1, count=5000, threads=8, window=64, check=0))
            if self.counter(1, "overruns"):
                return
        self.fail("the queue has not overrun")

    @unittest.skipUnless(slow_tests(), "waits until messages have given up: in check-all")
    def test_different_credits_do_not_connect(self):
        """A connection that cannot be is an error of the message, not of the node."""
        self.unload(1)
        self.succeed(self.cluster.run(1, f"modprobe slnd {self.PARAMETERS} credits=16 && modprobe slnd_test"))
        result = self.run_test(0, test="rate", peer=1, count=10, window=16, wait=1)
        self.assertEqual((result["ok"], result["failed"], result["came"]), (0, 10, 0))
        self.assertGreater(self.counter(0, "connreqs_refused") + self.counter(1, "connreqs_refused"), 0)
        self.unload(1)
        self.load(1)
        self.works()

    def test_quiesce(self):
        """While the network is quiet nothing moves; then everything goes on, and nothing was lost."""
        for test, counter in (("rate", "messages_sent"), ("put", "puts")):
            begun = self.busy(0, counter, test=test, peer=1, bytes=2000, threads=2)
            self.succeed(self.cluster.run(0, "/kselftest/kgni/lnd_job suspend"))
            before = self.counter(0, counter)
            self.cluster.run(0, "sleep 2")
            self.assertLessEqual(self.counter(0, counter), before + 256)  # what was on its way to its event
            self.succeed(self.cluster.run(0, "/kselftest/kgni/lnd_job resume"))
            moved = self.counter(0, counter)
            self.wait_for(lambda last=moved, name=counter: self.counter(0, name) > last + 100, lambda: self.state(0), BOUND)
            self.stop(0)
            result = self.end(begun)
            self.assertEqual((result["failed"], result["damaged"], self.damaged(1)), (0, 0, 0), result)
            if test == "rate":
                self.assertEqual(result["came"], result["ok"])
        self.assertEqual(self.counter(0, "quiesces"), 2)
        self.assertEqual(self.counter(0, "failed"), 0, self.log())


@unittest.skipUnless(slow_tests(), "in check-all")
class HeldTraffic(Losses, SlndCase):
    """Where completions are held a loss is known after the put has left, as it is of what goes to another host."""

    CONFIG = {**SlndCase.CONFIG, "nic": {"hold-completions": "on"}}

    def setUp(self):
        super().setUp()
        self.assertTrue(self.cluster.get_nic(0, "hold-completions"))


class Going(SlndCase):
    def test_killed_peer_comes_back(self):
        self.works()
        begun = self.busy(0, "puts", test="put", peer=1, bytes=300000, threads=2)
        self.busy(1, "puts", test="put", peer=0, bytes=300000)
        self.cluster.kill(1)
        self.wait_for(lambda: self.counter(0, "failed") > 0, lambda: self.state(0), BOUND)
        self.stop(0)
        result = self.end(begun)
        self.assertGreater(result["failed"], 0)
        self.assertEqual(result["damaged"], 0)
        self.assertGreater(self.held(0), 1)  # a mailbox, and what was registered for the peer
        self.cluster.start(1)
        self.load(1)
        self.works()
        self.nothing_held(0)

    def test_nic_reset(self):
        """On either side, under load: the client comes back by itself, and the connection with it."""
        for node in range(2):
            begun = self.busy(0, "puts", test="put", peer=1, bytes=100000, threads=2)
            self.succeed(self.cluster.run(node, "echo 1 >/sys/class/gni/kgni0/device/reset"))
            self.wait_for(lambda where=node: self.counter(where, "resets") == 1, lambda where=node: self.state(where), BOUND)
            self.stop(0)
            self.assertEqual(self.end(begun)["damaged"], 0)
            self.works()
            self.assertEqual(self.damaged(1), 0)
        for node in range(2):
            self.nothing_held(node)

    @unittest.skipUnless(slow_tests(), "in check-all")
    def test_cut_link(self):
        begun = self.busy(0, "messages_sent", test="rate", peer=1, bytes=500, wait=20)
        self.cluster.set_nic(1, "link", 0)
        self.wait_for(lambda: self.counter(0, "failed") > 0, lambda: self.state(0), BOUND)
        self.stop(0)
        self.assertGreater(self.end(begun)["failed"], 0)
        self.wait_for(lambda: self.held(0) > 0, lambda: self.state(0), BOUND)  # a mailbox: nothing else is lost with messages
        self.cluster.set_nic(1, "link", 1)
        self.works()

    def test_unload_in_wrong_order(self):
        """Refused while somebody needs it."""
        for module in ("slnd", "kgni", "aries"):
            self.assertNotEqual(self.cluster.run(0, f"rmmod {module}").code, 0)
        begun = self.busy(0, "messages_sent", test="rate", peer=1)
        self.assertNotEqual(self.cluster.run(0, "rmmod slnd_test").code, 0)
        self.stop(0)
        self.end(begun)

    @unittest.skipUnless(slow_tests(), "in check-all")
    def test_unload_under_load(self):
        """The peer's load, that is: it gets errors, and goes on with the next peer."""
        for test, counter in (("put", "puts"), ("get", "gets"), ("rate", "messages_sent")):
            begun = self.busy(0, counter, test=test, peer=1, bytes=2000, threads=2)
            self.unload(1)
            self.load(1)
            moved = self.counter(0, counter)
            self.wait_for(lambda last=moved, name=counter: self.counter(0, name) > last + 50, lambda: self.state(0), BOUND)
            self.stop(0)
            result = self.end(begun)
            self.assertEqual((result["damaged"], self.damaged(1)), (0, 0))
        self.works()


@unittest.skipUnless(slow_tests(), "in check-all")
class FourNodes(SlndCase):
    NODES = 4
    CONFIG = {"mem_mib": 512}

    def test_all_with_all(self):
        for round_ in range(1, self.NODES):
            begun = [self.begin(node, test=test, peer=(node + round_) % self.NODES, count=40, bytes=size, threads=2)
                     for node, (test, size) in enumerate((("rate", 200), ("put", 100000), ("get", 50001), ("latency", 24)))]
            for one in begun:
                self.good(self.end(one))
