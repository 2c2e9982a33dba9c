# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks with what UCX brings along: ucx_info, ucx_perftest, gtest."""

import re
from collections import Counter

UCX = "/opt/ucx/bin"
RDMA_TESTS = ("put_lat", "put_bw", "get", "add_lat", "add_mr", "fadd", "swap", "cswap")
GTEST_FILTER = "*ugni*"
GTEST_TIMEOUT = 3600.0  # seconds, for all nodes


def figure(test, text):
    """What ucx_perftest measured: bandwidth, rate or mean time, as the test's name says."""
    match = re.search(r"^Final:\s+\d+\s+(.*)$", text, re.M)
    assert match, "ucx_perftest printed no result"
    words = match.group(1).split()
    assert len(words) == 7, f"ucx_perftest's result is not understood: {match.group(0)}"
    # A percentile of the time, then mean of the last period and of all for time, bandwidth, rate.
    _, _, time, _, bandwidth, _, rate = words
    if test.endswith("_bw"):
        return f"{bandwidth} MB/s"
    return f"{rate} per s" if test.endswith("_mr") else f"{time} us"


def perftest(transport, test):
    """The command line; a get has no short form, and bandwidth is that of long transfers."""
    more = ["-D", "bcopy"] if test == "get" else []
    if (transport, test) == ("ugni_rdma", "put_bw"):
        more = ["-D", "zcopy", "-s", str(1 << 20)]
    return [f"{UCX}/ucx_perftest", "-d", "ARIES:0", "-x", transport, "-t", test, "-n", "500", "-w", "20", *more]


def info(guests, transport):
    """ucx_info lists the transport on our device."""
    text = guests.aprun([f"{UCX}/ucx_info", "-d"], 1)[0].stdout
    part = re.search(rf"Transport: {transport}\n#\s+Device: (\S+)", text)
    assert part, f"{transport} is not listed"
    assert part.group(1) == "ARIES:0", f"device {part.group(1)}"
    return part.group(1)


def perf_loopback(guests, transport, test):
    """Both ends in one process."""
    return figure(test, guests.aprun([*perftest(transport, test), "-l"], 1)[0].stdout)


def perf_pair(guests, transport, test):
    """Rank 0 serves; rank 1 asks it by TCP where its NIC is."""
    common = " ".join(perftest(transport, test))
    script = f"[ $PMI_RANK = 0 ] && exec {common}; sleep 2; exec {common} node0"
    return figure(test, guests.aprun(["sh", "-c", script], 2, per_node=1)[1].stdout)


def programs(report, guests):
    """Devices, transports, loopback, two nodes."""
    for transport in ("ugni_rdma", "ugni_udt", "ugni_smsg"):
        report.check(f"ucx_info -d lists {transport}", info, guests, transport)
    for where, function in (("one process", perf_loopback), ("two nodes", perf_pair)):
        for test in RDMA_TESTS:
            report.check(f"ucx_perftest ugni_rdma {test}, {where}", function, guests, "ugni_rdma", test)
        for test in ("am_lat", "am_bw"):
            report.check(f"ucx_perftest ugni_smsg {test}, {where}", function, guests, "ugni_smsg", test)
    report.add("NONE", "ucx_perftest ugni_udt", "ucx_perftest requires callbacks in the caller, ugni_udt has those of a thread"
               " only; UCX's gtest asks it")


class Shard:
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


def transport_of(test):
    """ugni_rdma, ugni_udt, ugni_smsg, or ugni for tests of the layer above."""
    return re.match(r"[^/]*?(ugni(?:_rdma|_udt|_smsg)?)", test).group(1)


def gtest_shards(guests):
    """UCX's gtest, its tests dealt out to all nodes; a Shard per node."""
    # A process of its own for each node: gtest deals out its tests by these two variables.
    script = (f"cd /tmp && export GTEST_TOTAL_SHARDS={guests.nodes} GTEST_SHARD_INDEX=$PMI_RANK GTEST_RANDOM_SEED=1"
              f" UCX_LOG_LEVEL=warn UCX_HANDLE_ERRORS=bt; LD_LIBRARY_PATH=/opt/ucx/lib {UCX}/gtest --gtest_filter='{GTEST_FILTER}' -s 1 2>&1; echo \"exit $?\"")
    results = guests.cluster.run_application(["sh", "-c", script], guests.nodes, timeout=GTEST_TIMEOUT, per_node=1)
    for result in results:
        guests.log.write(f"---- gtest on node {result.rank}\n{result.stdout}{result.stderr}")
    return [Shard(result.stdout) for result in results]


def gtest(report, guests):
    """UCX's own tests of its ugni transports, by transport."""
    report.log.write("\n==== gtest\n")
    shards = gtest_shards(guests)
    for node, shard in enumerate(shards):
        if not shard.ended:
            report.add("FAIL", f"UCX's gtest on node {node}", f"it ended in {shard.started[-1] if shard.started else 'its start'}")
    started = Counter(transport_of(test) for shard in shards for test in shard.started)
    if not started:
        report.add("FAIL", "UCX's gtest", f"no test has a name like {GTEST_FILTER}")
    for transport in sorted(started):
        counts = {}
        for kind in ("passed", "skipped", "failed"):
            counts[kind] = [test for shard in shards for test in getattr(shard, kind) if transport_of(test) == transport]
        detail = f"{len(counts['passed'])} passed, {len(counts['skipped'])} skipped by UCX, {len(counts['failed'])} failed"
        lost = started[transport] - sum(len(tests) for tests in counts.values())
        if lost:
            detail += f", {lost} without a result"
        bad = counts["failed"] or lost or not counts["passed"]
        report.add("FAIL" if bad else "PASS", f"UCX's gtest, {transport}", detail)
        for test in counts["failed"]:
            report.note(f"failed: {test}")
