# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""Errors in tables of a NIC, under load: one wrong bit costs nothing, two end what needs the entry and nothing else."""

import re
import signal

from opengni.testing import ClusterCase

QUICK = ["gni-perf", "--tests=fma-put,bte-put,amo", "--max-size=64K", "--iterations=10"]
ENDLESS = ["gni-perf", "--tests=bte-put", "--sizes=1M", "--iterations=100000", "--size-time=300", "--timeout=5"]
MDD, FMAD = 1 << 32, 2 << 32


class Ras(ClusterCase):
    CONFIG = {"mem_mib": 256, "smp": 1}

    def count(self, name, node=1):
        return int(self.cluster.run(node, f"cat /sys/class/gni/kgni0/{name}").stdout)

    def start(self):
        """A job that puts to node 1, and the descriptors of the memory that processes have registered there."""
        before = self.count("stats/bte_puts", node=0)
        job = self.cluster.start_job(ENDLESS, grace=None)
        self.wait_for(lambda: self.count("stats/bte_puts", node=0) > before + 10, "the job does not start", 60)
        text = self.cluster.run(1, "cat /sys/kernel/debug/aries/kgni0/registrations").stdout
        handles = [int(mdh) for mdh in re.findall(r"\bmdh (\d+)\b", text)]
        self.assertTrue(handles, text)
        return job, handles

    def test_errors_in_memory_domain_descriptors(self):
        job, handles = self.start()
        for mdh in handles:
            self.cluster.set_nic(1, "ecc-single", MDD + mdh)
        self.wait_for(lambda: self.count("ras/mdd_corrected"), "no error is found", 20)
        self.assertEqual(self.count("ras/mdd_damaged"), 0)
        before = self.count("stats/bte_puts", node=0)
        self.wait_for(lambda: self.count("stats/bte_puts", node=0) > before + 10, "the job has stopped", 60)
        for mdh in handles:
            self.cluster.set_nic(1, "ecc-double", MDD + mdh)
        results = job.wait(60)
        self.assertNotEqual(results[0].code, 0)
        self.assertIn("TABLE_DAMAGED", "".join(result.stdout + result.stderr for result in results))
        self.assertGreater(self.count("ras/mdd_damaged"), 0)
        log = self.cluster.run(1, "dmesg").stdout
        self.assertRegex(log, r"ECC: two wrong bits in memory domain descriptors \(N01\), entry \d+")
        # The memory is registered no more: its descriptors are as good as new.
        self.succeed(self.cluster.run_job(QUICK))

    def test_many_corrected_errors_are_told(self):
        job, _ = self.start()
        text = self.cluster.run(0, "cat /sys/kernel/debug/aries/kgni0/descriptors").stdout
        descriptors = [int(number) for number in re.findall(r"^fmad (\d+)\b", text, re.M)]
        self.assertTrue(descriptors, text)
        for _ in range(8):
            found = self.count("ras/fmad_corrected", node=0)
            for number in descriptors:
                self.cluster.set_nic(0, "ecc-single", FMAD + number)
            self.wait_for(lambda n=found: self.count("ras/fmad_corrected", node=0) > n, "the error is not found", 20)
        self.assertEqual(self.count("ras/fmad_damaged", node=0), 0)
        self.wait_for(lambda: re.search(r"ECC: a wrong bit put right in FMA descriptors \(N06\), entry \d+,",
                                        self.cluster.run(0, "dmesg").stdout), "the driver is not told", 20)
        job.signal(signal.SIGTERM)
        job.wait(60)
