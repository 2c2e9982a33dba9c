# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of Open MPI over btl ugni: its own examples, and programs/mpi-check.c."""

import re

from guests import MPI

EXAMPLES = (("hello_c", "I am {last} of {ranks}"), ("ring_c", "exiting"), ("connectivity_c", "PASSED"))
CHECKS = (("pingpong", ""), ("allreduce", ""), ("alltoall", ""), ("osc", "--mca osc rdma"))
LARGEST = {"pingpong": "pingpong 4194304 bytes", "allreduce": "allreduce 524288 longs", "alltoall": "alltoall 4194304 bytes"}


def info(guests):
    """The parts that were built for us."""
    text = guests.shell(0, f"{MPI}/ompi_info")
    for part in (r"MCA btl: ugni", r"MCA rcache: udreg"):
        assert re.search(part, text), f"'{part}' is not listed"


def example(guests, program, pattern, nodes):
    """A program of Open MPI's; a rank on each node."""
    text = guests.mpirun("--mca btl ugni,self", program, nodes, nodes)
    wanted = pattern.format(last=nodes - 1, ranks=nodes)
    assert re.search(wanted, text), f"'{wanted}' is not in what it printed"


def verify(guests, what, options, nodes, ranks):
    """A check of mpi-check, up to its largest size."""
    text = guests.mpirun(f"--mca btl ugni,self {options}", f"mpi-check {what}", nodes, ranks)
    assert f"PASS {what} with {ranks} ranks" in text, "no PASS line"
    wanted = LARGEST.get(what, "")
    assert re.search(rf"^{wanted}", text, re.M), f"'{wanted}' was not reached"
    return f"up to {wanted.split(' ', 1)[1]}" if wanted else ""


def programs(report, guests):
    """Two nodes, and all."""
    report.check("ompi_info lists btl ugni, rcache udreg", info, guests)
    for nodes in sorted({2, guests.nodes}):
        for program, pattern in EXAMPLES:
            report.check(f"mpirun btl ugni, {nodes} nodes: {program}", example, guests, program, pattern, nodes)
        for what, options in CHECKS:
            report.check(f"mpirun btl ugni, {nodes} nodes: {what}", verify, guests, what, options, nodes, nodes)
    report.check("mpirun btl ugni, 2 ranks on one node: pingpong", verify, guests, "pingpong", "", 1, 2)
    report.add("NONE", "btl ugni with rcache udreg in place of grdma", "it wants to be told of unmapped memory by the kernel's"
               " registration cache, which our udreg refuses (Documentation/jobs.md)")
