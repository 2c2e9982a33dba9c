# SPDX-License-Identifier: GPL-2.0-or-later
"""The control channel: commands on nodes, their output, input and ends."""

import hashlib
import signal
import threading
import time

from gnitest.testing import Apart, ClusterCase, clock, together
from opengni import NodeError


class Nodes(ClusterCase):
    SHARES = "pair"

    def test_output_and_exit_codes(self):
        result = self.cluster.run(0, "echo out; echo err >&2; exit 7")
        self.assertEqual((result.code, result.stdout, result.stderr), (7, "out\n", "err\n"))
        self.assertEqual(self.cluster.run(1, ["uname", "-n"]).stdout, "node1\n")

    def test_command_that_does_not_exist(self):
        result = self.cluster.run(0, ["/nonexistent"])
        self.assertEqual(result.code, 127)
        self.assertIn("No such file", result.stderr)

    def test_environment_and_folder(self):
        result = self.cluster.run(1, "echo $WORD $OPENGNI_NODE/$OPENGNI_NODES; pwd", env={"WORD": "a b"}, cwd="/tmp")
        self.assertEqual(result.stdout, "a b 1/2\n/tmp\n")

    def test_much_data_both_ways(self):
        data = bytes(range(256)) * 8192
        result = self.cluster.run(0, "sha256sum", stdin=data)
        self.assertEqual(result.stdout.split()[0], hashlib.sha256(data).hexdigest())
        result = self.cluster.run(0, "head -c 3000000 /dev/zero | tr '\\0' x; echo end >&2")
        self.assertEqual((len(result.stdout), result.stderr), (3000000, "end\n"))

    def test_several_at_once(self):
        results = []
        threads = [threading.Thread(target=lambda i=i: results.append(self.cluster.run(i % 2, f"sleep 1; echo {i}").stdout))
                   for i in range(8)]
        start = clock().now()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(results), [f"{i}\n" for i in range(8)])
        self.assertLess(clock().now() - start, 7)

    def test_time_out_names_the_node_and_ends_the_command(self):
        with self.assertRaisesRegex(NodeError, "node 0: 'sleep 77' did not end within 1 s"):
            self.cluster.run(0, "sleep 77", timeout=1.0)
        time.sleep(0.5)
        self.assertNotIn("sleep 77", self.cluster.run(0, "ps | grep -v grep").stdout)

    def test_signal(self):
        job = self.cluster.start_job(["sh", "-c", "trap 'echo caught; exit 3' USR1; echo ready; while :; do sleep 0.1; done"])
        time.sleep(1.0)
        job.signal(signal.SIGUSR1)
        self.assertEqual([(r.code, r.stdout) for r in job.wait(20)], [(3, "ready\ncaught\n")] * 2)

    def test_background_child_does_not_keep_the_command(self):
        start = clock().now()
        self.assertEqual(self.cluster.run(0, "sleep 30 & echo done").stdout, "done\n")
        self.assertLess(clock().now() - start, 10)
        self.cluster.run(0, "killall sleep")

    def test_the_driver_names_the_node(self):
        for node in range(self.NODES):
            result = self.cluster.run(node, "cat /sys/class/gni/kgni0/address /sys/class/gni/kgni0/nodes")
            self.assertEqual([int(word, 0) for word in result.stdout.split()], [node, self.cluster.config.addresses])


class Jobs(ClusterCase):
    SHARES = "pair"

    def test_ranks_meet_through_the_key_value_service(self):
        script = ("gni-kvs put from$OPENGNI_RANK $((OPENGNI_RANK * 10)) && gni-kvs barrier start $OPENGNI_RANKS &&"
                  "for r in 0 1 2 3; do gni-kvs get from$r; done; gni-kvs add sum 1 >/dev/null")
        results = self.succeed(self.cluster.run_job(["sh", "-c", script], per_node=2))
        self.assertEqual([r.stdout.split() for r in results], [["0", "10", "20", "30"]] * 4)
        self.assertEqual([r.node for r in results], [0, 0, 1, 1])

    def test_jobs_do_not_see_each_other(self):
        self.succeed(self.cluster.run_job(["gni-kvs", "put", "key", "value"]))
        results = self.cluster.run_job(["gni-kvs", "get", "key", "100"])
        self.assertEqual([r.code for r in results], [1, 1])

    def test_a_failed_rank_ends_the_others(self):
        start = clock().now()
        results = self.cluster.run_job(["sh", "-c", "[ $OPENGNI_RANK = 0 ] && exit 5; exec sleep 60"], grace=1.0)
        self.assertEqual([r.code for r in results], [5, -signal.SIGTERM])
        self.assertLess(clock().now() - start, 15)

    def test_one_cookie_for_a_job(self):
        first = {r.stdout for r in self.cluster.run_job(["sh", "-c", "echo $OPENGNI_COOKIE"])}
        second = {r.stdout for r in self.cluster.run_job(["sh", "-c", "echo $OPENGNI_COOKIE"])}
        self.assertEqual((len(first), len(second)), (1, 1))
        self.assertNotEqual(first, second)


@together(Apart.CLOCK)
class Clock(ClusterCase):
    SHARES = "pair"

    def test_all_nodes_read_one_clock(self):
        """N25: whoever reads later reads more, whichever node it is; and about as much later as it was."""
        read = "cat /sys/class/gni/kgni0/clock"
        start, values = time.monotonic_ns(), []
        for turn in range(8):
            values.append(int(self.cluster.run(turn % 2, read).stdout))
        took = time.monotonic_ns() - start
        self.assertEqual(values, sorted(values))
        self.assertLess(values[-1] - values[0], took)

    def test_seconds_of_a_node_are_seconds(self):
        """The kernel's own clock: as much passes there as did here, less what its answers take, within a hundredth."""
        for node in (0, 1):
            start = time.monotonic()
            first = self.uptime(node)
            answered = time.monotonic()
            time.sleep(1)
            asked = time.monotonic()
            passed = self.uptime(node) - first
            self.assertLess(0.99 * (asked - answered) - 0.02, passed)
            self.assertLess(passed, 1.01 * (time.monotonic() - start) + 0.02)

    def uptime(self, node):
        return float(self.cluster.run(node, "cat /proc/uptime").stdout.split()[0])
