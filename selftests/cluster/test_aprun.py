# SPDX-License-Identifier: GPL-2.0-or-later
"""Applications as aprun starts them: domains, places, ends, signals; libpmi between machines."""

import re
import signal
import time

from gnitest.testing import ClusterCase, clock
from opengni import NodeError


class Applications(ClusterCase):
    SHARES = "four"

    def domains(self, node):
        """The driver's list of domains."""
        return self.cluster.run(node, "cat /sys/kernel/debug/aries/kgni0/domains").stdout

    def assert_no_domains(self):
        for node in range(self.NODES):
            self.assertEqual(self.domains(node), "", f"node {node}")

    def test_eight_ranks_on_four_nodes(self):
        start = clock().now()
        results = self.succeed(self.cluster.run_application(["pmi-info"], 8, per_node=2))
        self.assertLess(clock().now() - start, 10.0)
        for result in results:
            self.assertIn(f"rank {result.rank} of 8, ", result.stdout)
            self.assertIn(f" node {result.rank // 2} with 2 ranks, mapping (vector,(0,4,2)), ", result.stdout)
            self.assertRegex(result.stdout, rf"ptag \d+:\d+, cookie \d+:\d+, device 0:0, address {result.rank // 2}:{result.rank // 2}\n")
        self.assert_no_domains()

    def test_all_ranks_have_the_same_cookies(self):
        script = 'echo $PMI_GNI_COOKIE; printf "%d\\n" $OPENGNI_COOKIE'
        results = self.succeed(self.cluster.run_application(["sh", "-c", script], 4, per_node=1))
        self.assertEqual(len({result.stdout for result in results}), 1)
        cookies, first = results[0].stdout.split()
        self.assertEqual(cookies.split(":")[0], first)

    def test_the_domain_is_there_while_the_ranks_run(self):
        application = self.cluster.start_application(["sh", "-c", "exec sleep 60"], 2, per_node=1)
        self.assertEqual(len(re.findall(r"^ptag ", self.domains(0), re.M)), 2)
        self.assertIn(f"job {application.job.apid} ", self.domains(1))
        application.signal(signal.SIGTERM)
        self.assertEqual({result.code for result in application.wait(30)}, {-signal.SIGTERM})
        self.assert_no_domains()

    def test_a_transfer_under_aprun(self):
        self.succeed(self.cluster.run_application(
            ["gni-perf", "--tests=fma-put", "--max-size=64", "--iterations=20"], 2, per_node=1, timeout=120.0))
        self.assert_no_domains()

    def test_the_first_failure_ends_all_and_is_the_one_reported(self):
        start = clock().now()
        application = self.cluster.start_application(["sh", "-c", "[ $PMI_RANK = 5 ] && exit 9; exec sleep 60"], 8, per_node=2)
        results = application.wait(40)
        self.assertLess(clock().now() - start, 20)
        self.assertEqual(application.job.ended[0], 5)
        self.assertEqual([result.code for result in results], [-15] * 5 + [9] + [-15] * 2)
        self.assert_no_domains()

    def test_ranks_that_ignore_sigterm_are_killed(self):
        script = "[ $PMI_RANK = 0 ] && { sleep 1; exit 3; }; trap '' TERM; while :; do sleep 0.2; done"
        results = self.cluster.run_application(["sh", "-c", script], 2, per_node=1, timeout=60.0)
        self.assertEqual([result.code for result in results], [3, -signal.SIGKILL])

    def test_signals_reach_every_rank(self):
        script = "trap 'echo usr1; exit 4' USR1; echo ready; while :; do sleep 0.1; done"
        application = self.cluster.start_application(["sh", "-c", script], 4, per_node=2)
        time.sleep(2.0)
        application.signal(signal.SIGUSR1)
        results = application.wait(30)
        self.assertEqual(application.job.ended and results[application.job.ended[0]].code, 4)
        self.assertIn("usr1", "".join(result.stdout for result in results))

    def test_abort_of_pmi_gives_its_code(self):
        results = self.cluster.run_application(["sh", "-c", "[ $PMI_RANK = 1 ] && exit 77; exec pmi-info"], 3, per_node=1)
        self.assertEqual(results[1].code, 77)
        # the others were in a barrier that cannot complete
        self.assertEqual({results[0].code, results[2].code}, {-signal.SIGTERM})

    def test_two_applications_at_once(self):
        first = self.cluster.start_application(["sh", "-c", "sleep 2; exec pmi-info"], 4, per_node=1)
        second = self.cluster.start_application(["pmi-info"], 4, per_node=1)
        self.succeed(second.wait(60))
        self.succeed(first.wait(60))
        self.assertNotEqual(first.job.apid, second.job.apid)
        self.assert_no_domains()

    def test_a_program_that_is_not_there(self):
        results = self.cluster.run_application(["/nonexistent"], 2, per_node=1)
        codes = {result.code for result in results}
        # The first failure ends the others, which may not have come to theirs.
        self.assertIn(127, codes)
        self.assertLessEqual(codes, {127, -signal.SIGTERM})
        self.assert_no_domains()

    def test_missing_variables_have_a_code_and_a_line(self):
        result = self.cluster.run(0, "PMI_RANK=1 PMI_DEBUG=1 pmi-info")
        self.assertEqual((result.code, result.stderr.splitlines()[0]), (2, "libpmi: PMI_RANK is set, PMI_SIZE is not"))
        result = self.cluster.run(0, "PMI_RANK=1 pmi-info")
        self.assertEqual((result.code, len(result.stderr.splitlines())), (2, 1))

    def test_gni_domain_refuses_wrong_input(self):
        for arguments, code in (("", 2), ("create", 2), ("create --job=1", 2), ("create --job=1 --cookie=0", 2),
                                ("create --job=x --cookie=1", 2), ("destroy --job=1 --cookie=0x777", 1),
                                ("create --job=1 --cookie=0x777 --device=9", 1)):
            self.assertEqual(self.cluster.run(0, "gni-domain " + arguments).code, code, arguments)

    def test_gni_domain_does_not_take_another_job_s(self):
        self.succeed(self.cluster.run(0, "gni-domain create --job=7 --cookie=0x4567"))
        self.assertEqual(self.cluster.run(0, "gni-domain create --job=8 --cookie=0x4567").code, 1)
        self.assertEqual(self.cluster.run(0, "gni-domain destroy --job=8 --cookie=0x4567").code, 1)
        self.succeed(self.cluster.run(0, "gni-domain destroy --job=7 --cookie=0x4567"))
        self.assert_no_domains()

    def test_a_node_that_dies_ends_the_application(self):
        application = self.cluster.start_application(["sh", "-c", "exec sleep 60"], 4, per_node=1)
        self.cluster.kill(3)
        try:
            results = application.wait(40)
            self.assertIn("node 3", results[3].error)
            self.assertEqual([result.code for result in results[:3]], [-signal.SIGTERM] * 3)
            with self.assertRaisesRegex(Exception, "node 3 is not running"):
                self.cluster.run_application(["true"], 1, nodes=[3])
        finally:
            self.cluster.start(3)
        self.assert_no_domains()

    def test_too_long_is_an_error_that_names_the_ranks(self):
        with self.assertRaisesRegex(NodeError, "rank 0, 1 did not end within 2 s"):
            self.cluster.run_application(["sleep", "60"], 2, per_node=1, timeout=2.0)
        self.assert_no_domains()
