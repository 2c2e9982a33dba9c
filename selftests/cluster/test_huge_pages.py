# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests whose memory lies on huge pages (hugetlbfs) of the host: these can be mapped at their boundaries only."""

import re
import unittest
from pathlib import Path

from gnitest.testing import Apart, ClusterCase, together

HUGE_MIB = 2
MEM_MIB = 256
RESERVED = Path(f"/sys/kernel/mm/hugepages/hugepages-{HUGE_MIB * 1024}kB/nr_hugepages")
BACKEND = f"memory-backend-memfd,id=huge,size={MEM_MIB}M,share=on,hugetlb=on,hugetlbsize={HUGE_MIB}M"


def reserve(case, pages):
    """Huge pages of the host for as long as the tests of @case run, or none of its tests."""
    try:
        before = int(RESERVED.read_text(encoding="ascii"))
        RESERVED.write_text(str(before + pages), encoding="ascii")
    except OSError as error:
        raise unittest.SkipTest(f"huge pages cannot be reserved here: {error}") from error
    case.addClassCleanup(RESERVED.write_text, str(before), encoding="ascii")
    got = int(RESERVED.read_text(encoding="ascii")) - before
    if got < pages:
        raise unittest.SkipTest(f"huge pages cannot be reserved here: {got} of {pages}")


def on_huge_pages(pid):
    """Files (device and inode) of which a process has mapped huge pages."""
    found, file = set(), None
    for line in Path(f"/proc/{pid}/smaps").read_text(encoding="utf-8").splitlines():
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            file = tuple(line.split()[3:5])
        elif line.split() == ["KernelPageSize:", str(HUGE_MIB * 1024), "kB"]:
            found.add(file)
    return found


@together(Apart.MEMORY)
class HugePages(ClusterCase):
    CONFIG = {"mem_mib": MEM_MIB, "qemu_args": ["-object", BACKEND, "-machine", "memory-backend=huge"]}

    @classmethod
    def setUpClass(cls):
        reserve(cls, cls.NODES * MEM_MIB // HUGE_MIB)
        super().setUpClass()

    def test_peers_reach_each_other(self):
        self.succeed(self.cluster.run_job(["gni-perf", "--tests=fma-put,fma-get,bte-put,bte-get,amo", "--max-size=1M", "--iterations=5"]))
        files = [on_huge_pages(self.cluster.process(node)) for node in range(self.NODES)]
        self.assertEqual(files[0], files[1])
        self.assertEqual(len(files[0]), self.NODES, "own memory and the peer's are both on huge pages")
