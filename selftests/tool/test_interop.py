# SPDX-License-Identifier: GPL-2.0-or-later
"""How the interop target reads what the clients print, without machines and without clients."""

import io
import re
import sys
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "interop"))

import gtest  # noqa: E402  (needs the path)
import openmpi  # noqa: E402
import ratio  # noqa: E402
import run  # noqa: E402
import ucx  # noqa: E402
from guests import Report  # noqa: E402

GTEST = """[==========] Running 4 tests from 2 test suites.
[ RUN      ] ugni_rdma/uct_p2p_rma_test.put_short/0 <ugni_rdma/ARIES:0>
[       OK ] ugni_rdma/uct_p2p_rma_test.put_short/0 (12 ms)
[ RUN      ] ugni_udt/uct_p2p_am_test.am_zcopy/0
[     SKIP ] (am_zcopy is not supported)
[       OK ] ugni_udt/uct_p2p_am_test.am_zcopy/0 (1 ms)
[ RUN      ] ugni_smsg/test_uct_pending.pending_op/0
[  FAILED  ] ugni_smsg/test_uct_pending.pending_op/0, where GetParam() = ugni_smsg/ARIES:0 (3 ms)
[ RUN      ] ugni/test_ucp_tag_match.send/0
[       OK ] ugni/test_ucp_tag_match.send/0 (9 ms)
[==========] 4 tests from 2 test suites ran. (30 ms total)
[  PASSED  ] 3 tests.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] ugni_smsg/test_uct_pending.pending_op/0, where GetParam() = ugni_smsg/ARIES:0
"""

CLOSED = """[node0:369  :0]         ugni_md.c:111  UCX  ERROR GNI_MemDeregister failed, Error status: GNI_RC_INVALID_PARAM 2
"""
CAUSE = "libugni[812] rank 0: GNI_MemDeregister: GNI_RC_INVALID_PARAM: 0x7f7a is no NIC handle, or its domain is destroyed\n"
FAILURE = """/src/test/gtest/common/test.cc:344: Failure
Failed
Got {} errors and {} warnings during the test
[     INFO ] < /src/uct/ugni/base/ugni_md.c:111 GNI_MemDeregister failed, Error status: GNI_RC_INVALID_PARAM 2 >
"""

PERF = """latency 8 bytes: half round trip {lat} us, least {lat_best} us
bandwidth 1048576 bytes: {bw} MB/s, most {bw_best} MB/s
roundtrip 1048576 bytes: {bw} MB/s, most {bw_best} MB/s
"""


class Parts(unittest.TestCase):
    """The command line of run.py."""

    def test_all_without_a_name(self):
        self.assertEqual(run.parse([]).part, [*run.PARTS, run.START])

    def test_those_named(self):
        self.assertEqual(run.parse(["ucx", "start"]).part, ["ucx", "start"])

    def test_unknown(self):
        with redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit):
            run.parse(["ucz"])
        self.assertIn("no part 'ucz'", said.getvalue())


class FakeGuests:
    """Nodes that print what they are told to."""

    def __init__(self, text="", flags="sse avx", nodes=2):
        self.text, self.flags, self.nodes, self.log = text, flags, nodes, io.StringIO()
        self.cluster = self

    def shell(self, _node, _text, _timeout=0):
        return self.flags

    def mpirun(self, options, *_):
        return self.text(options) if callable(self.text) else self.text

    def run_application(self, argv, count, **_):
        chosen = re.search(r"-t \d+ --gtest_filter='(.*?)'", argv[-1])
        text = self.text(argv, chosen and chosen.group(1)) if callable(self.text) else self.text
        return [SimpleNamespace(rank=rank, stdout=text, stderr="", code=0) for rank in range(count)]

    def aprun(self, argv, count, **options):
        return self.run_application(argv, count, **options)


def reported(function, guests):
    """Lines that a part prints, and the counts."""
    report = Report(io.StringIO())
    with redirect_stdout(io.StringIO()) as out:
        function(report, guests)
    return out.getvalue(), report.count


class Gtest(unittest.TestCase):
    SUITES = "ugni_rdma/uct_p2p_rma_test.\n  put_short/0\nugni/test_ucp_tag_match.\n  send/0\nugni/test_md.\n  alloc/0\n"

    def test_each_verdict_is_counted_where_it_belongs(self):
        run = gtest.Run(GTEST)
        self.assertEqual(run.of("passed"), ["ugni_rdma/uct_p2p_rma_test.put_short/0", "ugni/test_ucp_tag_match.send/0"])
        self.assertEqual(run.of("skipped"), ["ugni_udt/uct_p2p_am_test.am_zcopy/0"])
        self.assertEqual(run.of("failed"), ["ugni_smsg/test_uct_pending.pending_op/0"])
        self.assertEqual(run.started, [*run.of("passed")[:1], *run.of("skipped", "failed"), *run.of("passed")[1:]])
        self.assertTrue(run.ended)

    @staticmethod
    def failed(body):
        """A test that UCX calls failed, and that printed this."""
        name = "ugni_rdma/uct_amo_swap_test.swap32/0"
        return gtest.Run(f"[ RUN      ] {name} <ugni_rdma>\n{body}[  FAILED  ] {name}, where GetParam() = x (3 ms)\n").verdicts[name]

    def test_a_closed_domain_is_no_failure_if_nothing_else_is_wrong(self):
        self.assertEqual(self.failed((CAUSE + CLOSED) * 2 + FAILURE.format(2, 0)), "closed")
        self.assertEqual(self.failed("T x\n" + CAUSE * 2 + CLOSED * 2 + FAILURE.format(2, 0)), "closed")

    def test_a_closed_domain_hides_no_failure(self):
        other = CLOSED.replace("MemDeregister", "MemRegister")
        once = CAUSE + CLOSED
        for body in (
                "", FAILURE.format(0, 0),
                CLOSED + FAILURE.format(1, 0),  # the NIC handle was good, the memory handle was not
                once + CLOSED + FAILURE.format(2, 0), once + FAILURE.format(2, 0), once + FAILURE.format(1, 1), once,
                once + other + FAILURE.format(2, 0), CAUSE + other + FAILURE.format(1, 0),
                CAUSE + CLOSED.replace("INVALID_PARAM 2", "INVALID_STATE 5") + FAILURE.format(1, 0),
                once + CLOSED.replace("ERROR", "WARN ").replace("ugni_md", "ugni_ep") + FAILURE.format(1, 0),
                "/src/test.cc:10: Failure\nExpected: 1\n" + once + FAILURE.format(1, 0)):
            self.assertEqual(self.failed(body), "failed", body)

    def test_the_end_that_is_wrong_is_counted_and_said(self):
        name = "ugni_rdma/uct_amo_swap_test.swap32/0"
        run = gtest.Run(f"[ RUN      ] {name}\n{CAUSE}{CLOSED}{FAILURE.format(1, 0)}[  FAILED  ] {name}, where x (3 ms)\n")
        text, count = reported(lambda report, _: gtest.report_transport(report, "ugni_rdma", [run]), None)
        self.assertIn("PASS  UCX's gtest, ugni_rdma: 1 passed, 0 skipped by UCX, 0 failed\n", text)
        self.assertIn("NONE  UCX's gtest, the end of 1 of those of ugni_rdma: UCX itself deregisters", text)
        self.assertEqual(count, {"PASS": 1, "FAIL": 0, "NONE": 1})

    def test_one_that_is_stuck_is_named(self):
        fine = "[ RUN      ] ugni_smsg/a.b/0\n[       OK ] ugni_smsg/a.b/0 (1 ms)\n"
        run = gtest.Run(fine + GTEST.split("[  FAILED  ]")[0] + f"x.cc:55: Failure\nFailed\n{gtest.TIMED_OUT}\n")
        self.assertEqual(run.of("stuck"), ["ugni_smsg/test_uct_pending.pending_op/0"])
        text, _ = reported(lambda report, _: gtest.report_transport(report, "ugni_smsg", [run]), None)
        self.assertIn(f"FAIL  UCX's gtest, ugni_smsg: 1 passed, 0 skipped by UCX, 0 failed, 1 no result in {gtest.TEST_LIMIT} s", text)
        self.assertIn("s: ugni_smsg/test_uct_pending.pending_op/0", text)

    def test_names_of_suites_and_transports(self):
        self.assertEqual(gtest.suites_of("Note: x\n" + self.SUITES), ["ugni_rdma/uct_p2p_rma_test.", "ugni/test_ucp_tag_match.", "ugni/test_md."])
        names = ("ugni_rdma/a.b/0", "ugni_udt/a.b/1", "ugni_smsg/a.b", "ugni/test_ucp_tag.x/2")
        self.assertEqual([gtest.transport_of(name) for name in names], ["ugni_rdma", "ugni_udt", "ugni_smsg", "ugni"])

    def test_a_failed_test_fails_its_transport_alone(self):
        text, _ = reported(gtest.check, FakeGuests(lambda _, filter_: GTEST if filter_ else self.SUITES, nodes=1))
        self.assertIn("PASS  UCX's gtest, ugni_rdma: 1 passed, 0 skipped by UCX, 0 failed", text)
        self.assertIn("FAIL  UCX's gtest, ugni_smsg: 0 passed, 0 skipped by UCX, 1 failed", text)
        self.assertIn("failed: ugni_smsg/test_uct_pending.pending_op/0", text)

    def test_what_is_not_asked_is_not_started_and_said(self):
        filters = []

        def output(_, filter_):
            filters.append(filter_ or "")
            return GTEST if filter_ else self.SUITES

        text, count = reported(gtest.check, FakeGuests(output, nodes=1))
        self.assertTrue(filters[1].startswith("ugni_rdma/uct_p2p_rma_test.*:ugni/test_md.*-"), filters)
        self.assertIn("NONE  UCX's gtest, ugni/test_ucp_*: UCX itself makes an endpoint", text)
        self.assertEqual(count["NONE"], len(gtest.NOT_ASKED))

    def test_after_a_test_that_ends_the_process_the_others_go_on_without_it(self):
        filters = []

        def output(_, filter_):
            filters.append(filter_)
            return GTEST.split("[       OK ] ugni/test")[0] if len(filters) == 1 else GTEST

        suites = ["ugni_rdma/uct_p2p_rma_test.", "ugni/test_ucp_tag_match.", "ugni/test_ucp_rma."]
        runs = gtest.node_runs(FakeGuests(output), 0, suites)
        self.assertEqual(len(runs), 2)
        chosen, without = filters[1].split("-", 1)
        self.assertEqual(chosen, "ugni/test_ucp_tag_match.*:ugni/test_ucp_rma.*")
        self.assertIn("ugni/test_ucp_tag_match.send/0", without.split(":"))
        text, _ = reported(lambda report, _: gtest.report_transport(report, "ugni", runs[:1]), None)
        self.assertIn("FAIL  UCX's gtest, ugni: 0 passed, 0 skipped by UCX, 0 failed, 1 ended the process", text)

    def test_a_process_that_dies_at_once_is_not_started_for_ever(self):
        self.assertEqual(len(gtest.node_runs(FakeGuests(lambda *_: "cannot open"), 0, ["ugni/a."])), 1)

    def test_no_test_at_all_is_a_failure(self):
        text, _ = reported(gtest.check, FakeGuests("[==========] 0 tests from 0 test suites ran. (0 ms total)\n"))
        self.assertIn("FAIL  UCX's gtest: no test has a name like", text)


class Ratios(unittest.TestCase):
    @staticmethod
    def perf(lat, bw, tcp_lat, tcp_bw):
        def text(options):
            if "ugni" in options:
                return PERF.format(lat=lat, lat_best=lat / 2, bw=bw, bw_best=bw * 2)
            return PERF.format(lat=tcp_lat * 9, lat_best=tcp_lat, bw=tcp_bw / 9, bw_best=tcp_bw)
        return text

    def test_our_median_beside_the_best_of_tcp(self):
        text, count = reported(ratio.compare, FakeGuests(self.perf(2.0, 4000.0, 80.0, 400.0)))
        self.assertEqual(count, {"PASS": 3, "FAIL": 0, "NONE": 0})
        self.assertIn("btl ugni 2 us (median), btl tcp 80 us (best): 40.0 times better", text)
        self.assertIn("btl ugni 4000 MB/s (median), btl tcp 400 MB/s (best): 10.0 times better", text)

    def test_just_below_the_limits(self):
        _, count = reported(ratio.compare, FakeGuests(self.perf(2.0, 4000.0, 79.0, 401.0)))
        self.assertEqual(count, {"PASS": 0, "FAIL": 3, "NONE": 0})

    def test_guests_with_erms_are_not_compared(self):
        text, count = reported(ratio.compare, FakeGuests(self.perf(2.0, 4000.0, 80.0, 400.0), flags="sse erms"))
        self.assertEqual(count, {"PASS": 0, "FAIL": 1, "NONE": 0})
        self.assertIn("has ERMS", text)

    def test_output_that_is_cut_off(self):
        with self.assertRaises(AssertionError):
            ratio.parse("latency 8 bytes: half round trip 2.0 us, least 1.0 us\n")


class OpenMpi(unittest.TestCase):
    def test_all_sizes_must_have_been_reached(self):
        short = "alltoall 2097152 bytes\nPASS alltoall with 4 ranks\n"
        with self.assertRaisesRegex(AssertionError, "4194304"):
            openmpi.verify(FakeGuests(short), "alltoall", "", 4, 4)
        openmpi.verify(FakeGuests("alltoall 4194304 bytes\n" + short), "alltoall", "", 4, 4)

    def test_a_pass_line_of_another_job_size_does_not_count(self):
        with self.assertRaisesRegex(AssertionError, "no PASS line"):
            openmpi.verify(FakeGuests("PASS osc with 2 ranks\n"), "osc", "", 4, 4)


class Perftest(unittest.TestCase):
    LINE = "Final:                   500      0.500     0.327     0.328       23.34      23.35     3059303     3059304\n"

    def test_the_figure_that_a_test_is_about(self):
        self.assertEqual(ucx.figure("put_lat", self.LINE), "0.328 us")
        self.assertEqual(ucx.figure("put_bw", self.LINE), "23.35 MB/s")
        self.assertEqual(ucx.figure("add_mr", self.LINE), "3059304 per s")

    def test_no_result_is_a_failure(self):
        with self.assertRaises(AssertionError):
            ucx.figure("put_lat", "Connection refused\n")
