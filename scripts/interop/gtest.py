# SPDX-License-Identifier: GPL-2.0-or-later
"""UCX's own tests of its ugni transports: dealt out to the nodes, run, counted by transport."""

import re
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch

from ucx import UCX

FILTER = "*ugni*"
TEST_LIMIT = 300  # seconds that one test has: then UCX's watchdog ends the process
RUN_LIMIT = 5400.0  # seconds for one process
DEATHS_MAX = 40  # a node gives up then

# Tests that end the process by a fault of UCX's own, wherever they run; each with the reason.
NO_IOV = "divides by max_iov, which this transport leaves at 0"
NO_INTERNAL = "follows the pointer to internal operations, which these transports leave NULL"
NOT_ASKED = (
    ("ugni_udt/uct_p2p_am_test.am_async/*", NO_IOV),
    ("ugni_smsg/uct_p2p_am_test.am_sync/*", NO_IOV),
    ("ugni_udt/uct_p2p_am_misc.am_max_short_iov_multi/*", NO_IOV),
    ("ugni_smsg/uct_p2p_am_misc.am_max_short_iov_multi/*", NO_IOV),
    ("ugni_*/test_uct_query.query_perf/*", NO_INTERNAL),
    ("ugni/test_md.sockaddr_accessibility/*", "calls a function that ugni's memory domain leaves NULL"),
    ("ugni/test_ucp_*", "makes an endpoint of the upper layer, which " + NO_INTERNAL),
)


class Run:
    """What one gtest process printed."""

    def __init__(self, text):
        self.started, self.passed, self.skipped, self.failed = [], [], [], []
        reason = False
        for kind, rest in re.findall(r"^\[\s*(RUN|SKIP|OK|FAILED)\s*\] (.*)$", text, re.M):
            name = rest.split(" ")[0].rstrip(",")
            if kind == "RUN":
                self.started.append(name)
                reason = False
            elif kind == "SKIP":
                reason = True  # UCX says so and why, and ends the test as one that passed
            elif not self.started or name != self.started[-1]:
                continue  # of the list at the end
            elif kind == "OK":
                (self.skipped if reason else self.passed).append(name)
            elif name not in self.failed:
                self.failed.append(name)
        self.ended = re.search(r"^\[=+\] \d+ tests? from \d+ test (?:case|suite)s? ran", text, re.M) is not None


def suites_of(text):
    """Names of suites in what --gtest_list_tests printed."""
    return re.findall(r"^(\S*ugni\S*\.)$", text, re.M)


def transport_of(test):
    """ugni_rdma, ugni_udt, ugni_smsg, or ugni for tests of the layer above."""
    return re.match(r"[^/]*?(ugni(?:_rdma|_udt|_smsg)?)", test).group(1)


def command(arguments):
    """The shell command that runs gtest; its exit status does not count, what it printed does."""
    return ["sh", "-c", f"cd /tmp; LD_LIBRARY_PATH=/opt/ucx/lib UCX_LOG_LEVEL=warn UCX_HANDLE_ERRORS=bt {UCX}/gtest {arguments} 2>&1; true"]


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
    def of(kind):
        return [test for run in runs for test in getattr(run, kind) if transport_of(test) == transport]

    passed, skipped, failed = of("passed"), of("skipped"), of("failed")
    died = sorted(set(of("started")) - {*passed, *skipped, *failed})
    detail = f"{len(passed)} passed, {len(skipped)} skipped by UCX, {len(failed)} failed"
    if died:
        detail += f", {len(died)} ended the process"
    report.add("FAIL" if failed or died or not passed else "PASS", f"UCX's gtest, {transport}", detail)
    for test in failed:
        report.note(f"failed: {test}")
    for test in died:
        report.note(f"ended the process: {test}")


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
