# SPDX-License-Identifier: GPL-2.0-or-later
"""UCX's own tests of its ugni transports: dealt out to the nodes, run, counted by transport."""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch

from ucx import UCX

FILTER = "*ugni*"
TEST_LIMIT = 1800  # seconds that one test has: then UCX's watchdog ends the process
RUN_LIMIT = 14400.0  # seconds for one process
DEATHS_MAX = 40  # a node gives up then
# A test has two threads that poll, each wants a processor: where machines share one, a round trip takes time slices.
NODES = max(1, min(4, (os.cpu_count() or 2) // 2))

# Tests that end the process, or never end, by a fault of UCX's own, wherever they run; each with the reason.
NO_IOV = ("divides by cap.am.max_iov (UCS_TEST_GET_BUFFER_IOV, test/gtest/common/test_helpers.h), which"
          " the iface_query functions of ugni_udt and ugni_smsg leave at 0")
NO_INTERNAL = ("follows iface->internal_ops (uct_iface_estimate_perf, uct/base/uct_iface.c), which ugni's"
               " interfaces leave NULL (uct_ugni_iface_t, uct/ugni/base/ugni_iface.c)")
NO_PROGRESS = ("waits for ever: the test leaves sends behind, and uct_ugni_smsg_ep_t's clean-up"
               " (uct/ugni/smsg/ugni_smsg_ep.c) flushes until they are done without reading the queue that says so")
NO_LOCK = ("ends endpoints whose datagrams are under way: uct_ugni_udt_ep_t's clean-up (uct/ugni/udt/ugni_udt_ep.c) cancels and reaps them"
           " without the lock under which uct_ugni_proccess_datagram_pipe (uct/ugni/udt/ugni_udt_iface.c) reaps in another thread, so now and then"
           " one of both finds nothing")
BUSY = ("answers a send with no resource and the request to wait for it with busy: uct_ugni_udt_ep_pending_add (uct/ugni/udt/ugni_udt_ep.c)"
        " does not know of GNI_RC_ERROR_RESOURCE, which GNI_EpPostDataWId gives while another datagram to the same peer is unfinished;"
        " the test has two endpoints to one peer")
NOT_ASKED = (
    ("ugni_udt/uct_p2p_am_test.am_async/*", NO_IOV),
    ("ugni_smsg/uct_p2p_am_test.am_sync/*", NO_IOV),
    ("ugni_udt/uct_p2p_am_misc.am_max_short_iov_multi/*", NO_IOV),
    ("ugni_smsg/uct_p2p_am_misc.am_max_short_iov_multi/*", NO_IOV),
    ("ugni_smsg/test_uct_pending.pending_purge/*", NO_PROGRESS),
    ("ugni_smsg/test_uct_pending.pending_ucs_ok_dc_arbiter_bug/*", NO_PROGRESS),
    ("ugni_udt/test_uct_pending.pending_purge/*", NO_LOCK),
    ("ugni_udt/test_uct_pending.send_ooo_with_pending_another_ep/*", BUSY),
    ("ugni_*/test_uct_query.query_perf/*", NO_INTERNAL),
    ("ugni/test_md.sockaddr_accessibility/*", "calls is_sockaddr_accessible of the memory domain"
     " (uct_md_is_sockaddr_accessible, uct/base/uct_md.c), which ugni leaves NULL (uct_ugni_md_open, uct/ugni/base/ugni_md.c)"),
    ("ugni/test_ucp_*", "makes an endpoint of the upper layer, and " + NO_INTERNAL),
)

# What goes wrong when a test has ended well: counted, and no failure as long as it is all that goes wrong.
CLOSED = ("deregisters memory through a domain that it has destroyed: uct_ugni_md_open (uct/ugni/base/ugni_md.c) sets the"
          " one ref_count to 0 each time, so the first uct_ugni_md_close destroys the domain that all others use")
CLOSED_ERROR = re.compile(r"ugni_md\.c:\d+ +UCX +ERROR GNI_MemDeregister failed, Error status: GNI_RC_INVALID_PARAM \d+$", re.M)
CLOSED_CAUSE = re.compile(r"^.*libugni\[\d+\][^:]*: GNI_MemDeregister: GNI_RC_INVALID_PARAM: \S+ is no NIC handle, or its domain is destroyed$", re.M)
TIMED_OUT = "Connection timed out - abort testing"


def closed_domain_alone(text):
    """Whether all that a failed test says against itself are deregistrations through a domain that is gone."""
    errors = len(re.findall(r"UCX +(?:ERROR|WARN|FATAL) ", text))
    summary = re.findall(r"^Got (\d+) errors and (\d+) warnings", text, re.M)
    return (errors > 0 and summary == [(str(errors), "0")] and len(re.findall(r": Failure$", text, re.M)) == 1
            and len(CLOSED_ERROR.findall(text)) == errors and len(CLOSED_CAUSE.findall(text)) == errors)


def verdict(name, text):
    """What a test came to, by what was printed since it was started."""
    end = re.search(rf"^\[\s*(OK|FAILED)\s*\] {re.escape(name)}(?=[ ,])", text, re.M)
    if not end:
        return "stuck" if TIMED_OUT in text else "died"
    text = text[:end.start()]
    if end.group(1) == "OK":  # UCX says that it skips a test and why, and ends it as one that passed
        return "skipped" if re.search(r"^\[\s*SKIP\s*\] ", text, re.M) else "passed"
    return "closed" if closed_domain_alone(text) else "failed"


class Run:
    """What one gtest process printed: tests in their order, each with its verdict."""

    def __init__(self, text):
        parts = re.split(r"^\[ RUN +\] (\S+).*$", text, flags=re.M)
        self.verdicts = {name: verdict(name, printed) for name, printed in zip(parts[1::2], parts[2::2])}
        self.started = list(self.verdicts)
        self.ended = re.search(r"^\[=+\] \d+ tests? from \d+ test (?:case|suite)s? ran", text, re.M) is not None

    def of(self, *verdicts):
        """Names of the tests with one of these verdicts."""
        return [name for name, found in self.verdicts.items() if found in verdicts]


def suites_of(text):
    """Names of suites in what --gtest_list_tests printed."""
    return re.findall(r"^(\S*ugni\S*\.)$", text, re.M)


def transport_of(test):
    """ugni_rdma, ugni_udt, ugni_smsg, or ugni for tests of the layer above."""
    return re.match(r"[^/]*?(ugni(?:_rdma|_udt|_smsg)?)", test).group(1)


def command(arguments):
    """The shell command that runs gtest; its exit status does not count, what it printed does.

    libugni says why it refuses; a test that is stuck shows where, for the log.
    """
    return ["sh", "-c", "cd /tmp; ulimit -c 0; UGNI_DEBUG=1 LD_LIBRARY_PATH=/opt/ucx/lib UCX_LOG_LEVEL=warn UCX_HANDLE_ERRORS=bt"
            f" UCX_ERROR_SIGNALS=ILL,SEGV,BUS,FPE,ABRT {UCX}/gtest {arguments} 2>&1; true"]


def one_process(guests, node, suites, without):
    """A gtest process on a node; a Run."""
    chosen = ":".join(f"{suite}*" for suite in suites) + "-" + ":".join(without)
    results = guests.cluster.run_application(command(f"-s 1 -t {TEST_LIMIT} --gtest_filter='{chosen}'"), 1, timeout=RUN_LIMIT, nodes=[node])
    guests.log.write(f"---- gtest on node {node}\n{results[0].stdout}{results[0].stderr}\n")
    guests.log.flush()
    return Run(results[0].stdout)


def node_runs(guests, node, suites):
    """All suites of a node; a Run for each process. A test that ends its process is not run again, those after it are."""
    runs, without = [], [pattern for pattern, _ in NOT_ASKED]
    while suites and len(runs) <= DEATHS_MAX:
        run = one_process(guests, node, suites, without)
        runs.append(run)
        if run.ended or not run.started:
            break
        suite = run.started[-1].split(".")[0] + "."
        suites = suites[suites.index(suite):]
        without += [test for test in run.started if test.startswith(suite)]
    return runs


def report_transport(report, transport, runs):
    """The line of one transport, and its failures."""
    def of(*verdicts):
        return [test for run in runs for test in run.of(*verdicts) if transport_of(test) == transport]

    passed, failed, closed = of("passed", "closed"), of("failed"), of("closed")
    detail = f"{len(passed)} passed, {len(of('skipped'))} skipped by UCX, {len(failed)} failed"
    bad = {"failed": failed, "ended the process": of("died"), f"no result in {TEST_LIMIT} s": of("stuck")}
    for what, tests in bad.items():
        if tests and what != "failed":
            detail += f", {len(tests)} {what}"
    report.add("FAIL" if any(bad.values()) or not passed else "PASS", f"UCX's gtest, {transport}", detail)
    for what, tests in bad.items():
        for test in tests:
            report.note(f"{what}: {test}")
    if closed:
        report.add("NONE", f"UCX's gtest, the end of {len(closed)} of those of {transport}", f"UCX itself {CLOSED}")


def check(report, guests):
    """All tests whose name matches FILTER."""
    report.log.write("\n==== gtest\n")
    listed = guests.aprun(command(f"--gtest_list_tests --gtest_filter='{FILTER}'"), 1)[0].stdout
    # Without this a node would start with suites of which no test is left.
    suites = [suite for suite in suites_of(listed) if not any(fnmatch(suite, pattern) for pattern, _ in NOT_ASKED)]
    with ThreadPoolExecutor(guests.nodes) as pool:
        dealt = [pool.submit(node_runs, guests, node, suites[node::guests.nodes]) for node in range(guests.nodes)]
        runs = [run for future in dealt for run in future.result()]
    transports = sorted({transport_of(test) for run in runs for test in run.started})
    if not transports:
        report.add("FAIL", "UCX's gtest", f"no test has a name like {FILTER}")
    for transport in transports:
        report_transport(report, transport, runs)
    for pattern, reason in NOT_ASKED:
        report.add("NONE", f"UCX's gtest, {pattern}", f"UCX itself {reason}")
