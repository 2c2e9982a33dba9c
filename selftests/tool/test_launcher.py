# SPDX-License-Identifier: GPL-2.0-or-later
"""aprun without machines: its command line, where ranks go, what is refused."""

import contextlib
import io
import subprocess
import unittest
from types import SimpleNamespace

from opengni import application, aprun, host
from opengni.errors import ClusterError
from opengni.job import layout


def a_cluster(nodes=4, smp=2, down=()):
    """What place() looks at."""
    members = [SimpleNamespace(number=number, running=number not in down) for number in range(nodes)]

    def node(number):
        if not 0 <= number < nodes:
            raise ClusterError(f"no node {number}")
        return members[number]
    return SimpleNamespace(nodes=members, node=node, config=SimpleNamespace(smp=smp))


class CommandLine(unittest.TestCase):
    def parse(self, *words):
        return aprun.request_of(aprun.parser().parse_args(words))

    def refused(self, pattern, *words):
        error = io.StringIO()
        with self.assertRaises(SystemExit) as caught, contextlib.redirect_stderr(error):
            aprun.main(list(words))
        self.assertEqual(caught.exception.code, 2)
        self.assertRegex(error.getvalue(), pattern)

    def test_all_options(self):
        request = self.parse("-n", "8", "-N", "2", "-L", "3,0-1", "-d", "2", "-e", "A=b=c", "-e", "X=", "prog", "-n", "7")
        self.assertEqual(request["argv"], ["prog", "-n", "7"])
        self.assertEqual((request["count"], request["per_node"], request["depth"]), (8, 2, 2))
        self.assertEqual(request["nodes"], [3, 0, 1])
        self.assertEqual(request["env"], {"A": "b=c", "X": ""})

    def test_joined_options(self):
        request = self.parse("-n8", "-N2", "prog")
        self.assertEqual((request["count"], request["per_node"], request["nodes"]), (8, 2, None))

    def test_what_follows_the_program_is_its_own(self):
        for words, argv in ((("prog", "--", "a"), ["prog", "--", "a"]), (("-n", "2", "--", "prog", "-n", "--"), ["prog", "-n", "--"]),
                            (("-n2", "prog", "-l", "--bogus", "-h"), ["prog", "-l", "--bogus", "-h"])):
            self.assertEqual(self.parse(*words)["argv"], argv)

    def test_wrong_values(self):
        for words in (("-n", "0"), ("-n", "-3"), ("-n", "x"), ("-N", "0"), ("-d", "0"), ("-t", "0")):
            self.refused("argument", *words, "prog")
        for nodes in ("", "x", "1-", "2-1", "0,0", "0-2,1", "-1", "999999999"):
            self.refused("node", "-L", nodes, "prog")
        for pair in ("A", "=b"):
            self.refused("NAME=VALUE", "-e", pair, "prog")

    def test_no_program_and_unknown_options(self):
        self.refused("PROGRAM", "-n", "2")
        self.refused("PROGRAM", "-n", "2", "--")
        self.refused("unrecognized|required", "--bogus", "prog")
        self.refused("separated by ':'", "-n", "1", "a", ":", "-n", "1", "b")

    def test_no_cluster(self):
        result = subprocess.run([host.TOP / "scripts" / "aprun", "--cluster", "not-there", "-n", "1", "true"],
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^aprun: [^\n]*not-there[^\n]*\n$")


class Placement(unittest.TestCase):
    def place(self, cluster, count, **more):
        return application.place(cluster, {"count": count, **more})

    def test_nodes_are_filled_in_order(self):
        self.assertEqual(self.place(a_cluster(), 5), [0, 0, 1, 1, 2])
        self.assertEqual(self.place(a_cluster(), 5, per_node=3), [0, 0, 0, 1, 1])
        self.assertEqual(self.place(a_cluster(), 3, nodes=[3, 1], per_node=2), [3, 3, 1])
        self.assertEqual(self.place(a_cluster(smp=4), 3, depth=3), [0, 1, 2])
        self.assertEqual(self.place(a_cluster(smp=1), 2, depth=8), [0, 1])

    def test_nodes_that_are_down_are_left_out(self):
        self.assertEqual(self.place(a_cluster(down=(0, 2)), 3, per_node=2), [1, 1, 3])

    def test_refusals(self):
        with self.assertRaisesRegex(ClusterError, "9 ranks do not fit: 4 nodes take 2 each, that is 8"):
            self.place(a_cluster(), 9)
        with self.assertRaisesRegex(ClusterError, "node 2 is not running"):
            self.place(a_cluster(down=(2,)), 1, nodes=[2])
        with self.assertRaisesRegex(ClusterError, "no node 7"):
            self.place(a_cluster(), 1, nodes=[7])

    def test_layout(self):
        self.assertEqual(layout([0, 0, 3]), "0x2,3x1")
        self.assertEqual(layout([1, 0, 1]), "1x1,0x1,1x1")

    def test_cookies_are_those_of_users(self):
        for _ in range(1000):
            self.assertTrue(128 <= application.new_cookie() >> 16 <= 32767)
