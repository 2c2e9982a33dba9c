# SPDX-License-Identifier: GPL-2.0-or-later
"""The cases that tests on a cluster are made of, without a cluster."""

import os
import unittest
from unittest import mock

from gnitest import standing, testing
from gnitest.testing import Apart, ClusterCase, kernel_complaints, together
from opengni.config import ClusterConfig


class Asked:
    """In a cluster's place: counts who asks a node for something."""

    def __init__(self):
        self.calls = []

    def run(self, node, command, **_options):
        self.calls.append((node, command))
        return type("Result", (), {"stdout": "what the kernel says"})


REPORT = """[   55.7] ------------[ cut here ]------------
[   55.7] DMA-API: aries 0000:01:00.0: {}
[   55.7] WARNING: CPU: 0 PID: 80 at kernel/dma/debug.c:571 add_dma_entry+0x270/0x2aa
[   55.8] Call Trace:
[   55.8]  debug_dma_map_sg+0x401/0x423
[   55.9] ---[ end trace 0000000000000000 ]---
"""


class Complaints(unittest.TestCase):
    """What of a kernel's log is a complaint."""

    def test_memory_that_is_registered_twice_is_none(self):
        twice = REPORT.format("cacheline tracking EEXIST, overlapping mappings aren't supported")
        self.assertEqual(kernel_complaints("[   1.0] aries: here\n" + twice + "[  60.0] aries: there\n"), [])

    def test_another_report_beside_it_is_one(self):
        twice = REPORT.format("cacheline tracking EEXIST, overlapping mappings aren't supported")
        other = REPORT.format("device driver frees DMA memory with different size")
        for text in (twice + other, other + twice, twice + other + twice):
            self.assertEqual(len(kernel_complaints(text)), 2, text)
        self.assertEqual(kernel_complaints(twice + "[ 61.0] BUG: something\n"), ["[ 61.0] BUG: something"])

    def test_races_of_the_kernel_itself_are_none(self):
        line = f"[  9.1] {'=' * 66}\n"

        def race(title):
            return f"{line}[  9.1] BUG: KCSAN: data-race in {title}\n[  9.1] \n[  9.1] read to 0xff of 8 bytes:\n[  9.1]  ipogif_poll+0x1/0x2 [ipogif]\n{line}"
        others, ours = race("tick_sched_do_timer / tick_sched_do_timer"), race("ipogif_xmit [ipogif] / napi_poll")
        self.assertEqual(kernel_complaints(others + "[  9.2] aries: here\n" + others), [])
        self.assertEqual(len(kernel_complaints(others + ours + others)), 1)
        self.assertEqual(kernel_complaints(others + "[  9.2] BUG: other\n" + others), ["[  9.2] BUG: other"])

    def test_races_with_what_the_kernel_has_marked_in_our_functions_are_none(self):
        line = f"[  9.1] {'=' * 66}\n"

        def race(mark, reader):
            return (f"{line}[  9.1] BUG: KCSAN: data-race in ipogif_unwaited [ipogif] / qdisc_run\n[  9.1] \n"
                    f"[  9.1] read-write{mark} to 0xff of 8 bytes by interrupt on cpu 0:\n[  9.1]  ipogif_unwaited+0xaa/0x175 [ipogif]\n[  9.1] \n"
                    f"[  9.1] read to 0xff of 8 bytes by task 8 on cpu 1:\n[  9.1]  qdisc_run+0x3/0x7\n{reader}[  9.1]  sendto+0x1/0x2\n{line}")
        self.assertEqual(kernel_complaints(race(" (marked)", "")), [])
        self.assertEqual(len(kernel_complaints(race("", ""))), 1)
        self.assertEqual(len(kernel_complaints(race(" (marked)", "[  9.1]  slnd_send+0x1/0x2 [slnd]\n"))), 1)


class Messages(unittest.TestCase):
    def setUp(self):
        class Case(ClusterCase):
            """Of no use but for its assertions."""
            cluster = Asked()

            def runTest(self):
                """Never run."""
        self.case, self.asked = Case(), Case.cluster

    def test_an_assertion_that_holds_asks_no_guest(self):
        self.case.assertTrue(True, self.case.log())
        self.case.assertEqual(1, 1, self.case.log(1))
        self.case.assertRegex("a", "a", self.case.log())
        self.case.wait_for(lambda: True, self.case.kernel_log)
        self.assertEqual(self.asked.calls, [])

    def test_one_that_fails_shows_what_the_kernel_says(self):
        with self.assertRaisesRegex(AssertionError, "1 != 2.*what the kernel says"):
            self.case.assertEqual(1, 2, self.case.log(1))
        with self.assertRaisesRegex(AssertionError, "^what the kernel says$"):
            self.case.wait_for(lambda: False, self.case.kernel_log, timeout=0)
        self.assertEqual([node for node, _ in self.asked.calls], [1, 0])

    def test_a_message_of_a_wait_is_made_after_it(self):
        seen = []

        def condition():
            seen.append(len(seen))

        with self.assertRaisesRegex(AssertionError, r"^saw \[0"):
            self.case.wait_for(condition, lambda: f"saw {seen}", timeout=0)


class SeveralHosts(unittest.TestCase):
    """Which tests get several hosts, if they are wanted."""

    def run_case(self, hosts, case):
        """Outcomes of its tests: (how many ran to their end, reasons of those skipped). No machine is started."""
        result = unittest.TestResult()
        with mock.patch.dict(os.environ, {"OPENGNI_TEST_HOSTS": hosts}), mock.patch.object(testing, "SyncCluster", mock.Mock()), \
                mock.patch.object(standing, "clusters", standing.Standing()):
            unittest.defaultTestLoader.loadTestsFromTestCase(case).run(result)
        self.assertEqual(result.errors + result.failures, [])
        return result.testsRun - len(result.skipped), [why for _, why in result.skipped]

    def test_what_cannot_be_apart_is_skipped_there_and_only_there(self):
        class Some(ClusterCase):
            @classmethod
            def tearDownClass(cls):
                """There are no guests to ask."""

            @together(Apart.MANAGER)
            def test_manager(self):
                """Of one host."""

            def test_anywhere(self):
                """Of any number."""
        every = together(Apart.ETHERNET)(type("Every", (Some,), {}))
        self.assertEqual(self.run_case("1", Some), (2, []))
        self.assertEqual(self.run_case("2", Some), (1, [Apart.MANAGER.value]))
        self.assertEqual(self.run_case("1", every), (2, []))
        self.assertEqual(self.run_case("2", every)[1], [Apart.ETHERNET.value])

    def test_nodes_are_divided(self):
        class Three(ClusterCase):
            NODES = 3

            @classmethod
            def tearDownClass(cls):
                """There are no guests to ask."""

            def test_hosts(self):
                """What the cluster was made from."""
                configs.append(testing.SyncCluster.call_args[0][0])
        configs = []
        self.run_case("2", Three)
        self.assertEqual([list(entry.nodes) for entry in configs[0].hosts], [[0], [1, 2]])
        self.assertEqual(configs[0].fabrics, [configs[0].fabric_of(0), configs[0].fabric_of(2)])
        self.assertNotEqual(*configs[0].fabrics)
        self.assertEqual(ClusterConfig(**configs[0].for_host(1)).fabric, configs[0].fabric_of(2))
        self.run_case("1", Three)
        self.assertEqual((configs[1].hosts, configs[1].fabrics), ([], [configs[1].fabric]))
