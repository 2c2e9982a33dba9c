# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks with what UCX brings along: ucx_info and ucx_perftest. Its gtest is in gtest.py."""

import re

UCX = "/opt/ucx/bin"
RDMA_TESTS = ("put_lat", "put_bw", "get", "add_lat", "add_mr", "fadd", "swap", "cswap")


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
