# SPDX-License-Identifier: GPL-2.0-or-later
"""Errors in memories of a NIC, under load: one wrong bit costs nothing, two end what needs the entry and nothing else,
too many stop the NIC, which is reset and serves again."""

import re
import signal
import unittest

from gnitest.testing import ClusterCase, slow_tests
from opengni.errors import NodeError

QUICK = ["gni-perf", "--tests=fma-put,bte-put,amo", "--max-size=64K", "--iterations=10"]
ENDLESS = ["gni-perf", "--iterations=1000000", "--size-time=300", "--timeout=5"]
PUTS = [*ENDLESS, "--tests=bte-put", "--sizes=1M"]
LONG_PUTS = [*ENDLESS, "--tests=bte-put", "--sizes=16M"]
ATOMICS = [*ENDLESS, "--tests=amo"]
COLLECTIVES = [*ENDLESS, "--tests=barrier"]
NTT, MDD, FMAD, PTE, AMO, ORB, CQ, CE, BTE, VMDH, PTAG, RMT = range(12)
RESET = 120.0  # seconds that error recovery may take on a busy host
UNC_SEVERITY = 0x10c + 2  # of the AER capability: the byte with bit 22, uncorrectable internal error


class Ras(ClusterCase):
    SHARES = "pair"
    LEAVES = "NICs with damaged memories"

    def read(self, name, node=1):
        return self.cluster.run(node, f"cat /sys/class/gni/kgni0/{name}").stdout.strip()

    def count(self, name, node=1):
        return int(self.read(name, node))

    def dmesg(self, node):
        return self.cluster.run(node, "dmesg").stdout

    def start(self, command, counter="bte_puts"):
        """A job that keeps node 0 busy."""
        before = self.count(f"stats/{counter}", node=0)
        job = self.cluster.start_job(command, grace=None)
        self.goes_on(counter, before)
        return job

    def goes_on(self, counter="bte_puts", before=None):
        before = self.count(f"stats/{counter}", node=0) if before is None else before
        self.wait_for(lambda: self.count(f"stats/{counter}", node=0) > before + 10, "the job does not run", 60)

    def fails(self, job, text):
        """The job ends by itself, and says why."""
        results = job.wait(120)
        said = "".join(result.stdout + result.stderr for result in results)
        self.assertTrue(any(result.code for result in results), said)
        self.assertRegex(said, text)

    def ends(self, job):
        job.signal(signal.SIGTERM)
        job.wait(60)

    def works(self):
        self.succeed(self.cluster.run_job(QUICK))

    def numbers(self, node, file, pattern):
        text = self.cluster.run(node, f"cat /sys/kernel/debug/aries/kgni0/{file}").stdout
        found = [int(number) for number in re.findall(pattern, text, re.M)]
        self.assertTrue(found, text)
        return found

    def handles(self):
        """Descriptors of the memory that processes have registered at node 1."""
        return self.numbers(1, "registrations", r"\bmdh (\d+)\b")

    def strike(self, node, fault, memory, entries):
        """Hits those entries that are in use at the moment; how many they were."""
        hits = 0
        for entry in entries:
            try:
                self.cluster.set_nic(node, fault, memory << 32 | entry)
                hits += 1
            except NodeError as refusal:
                self.assertIn("not in use", str(refusal))
        return hits

    def strike_until(self, done, node, fault, memory, entries):
        """Again and again: entries come and go."""
        def strike():
            self.strike(node, fault, memory, entries)
            return done()
        self.wait_for(strike, "the error is not found", 60)

    def test_errors_in_memory_domain_descriptors(self):
        job = self.start(PUTS)
        handles = self.handles()
        self.strike(1, "ecc-single", MDD, handles)
        self.wait_for(lambda: self.count("ras/mdd_corrected"), "no error is found", 20)
        self.assertEqual(self.count("ras/mdd_damaged"), 0)
        self.goes_on()
        self.strike(1, "ecc-double", MDD, handles)
        self.fails(job, "TABLE_DAMAGED")
        self.assertGreater(self.count("ras/mdd_damaged"), 0)
        self.assertRegex(self.dmesg(1), r"ECC: two wrong bits in memory domain descriptors \(N01\), entry \d+")
        # The memory is registered no more: its descriptors are as good as new.
        self.works()

    def test_many_corrected_errors_are_told(self):
        job = self.start(PUTS)
        descriptors = self.numbers(0, "descriptors", r"^fmad (\d+)\b")
        for _ in range(8):
            found = self.count("ras/fmad_corrected", node=0)
            self.strike(0, "ecc-single", FMAD, descriptors)
            self.wait_for(lambda n=found: self.count("ras/fmad_corrected", node=0) > n, "the error is not found", 20)
        self.assertEqual(self.count("ras/fmad_damaged", node=0), 0)
        self.wait_for(lambda: re.search(r"ECC: a wrong bit put right in FMA descriptors \(N06\), entry \d+,",
                                        self.dmesg(0)), "the driver is not told", 20)
        self.ends(job)

    @unittest.skipUnless(slow_tests(), "in check-all")
    def test_caches_are_filled_again(self):
        """Two wrong bits in a cache whose contents host memory has: the job goes on."""
        job = self.start(ATOMICS, "fma_amos")
        for memory, name, entries in ((PTE, "pte", range(128)), (AMO, "amo", range(64))):
            if not self.strike(1, "ecc-double", memory, entries):
                self.assertEqual(memory, AMO)  # no cached atomics: nothing is in it
                continue
            self.wait_for(lambda n=name: self.count(f"ras/{n}_damaged"), f"no error of the {name} cache is found", 30)
            self.goes_on("fma_amos")
        self.assertRegex(self.dmesg(1), r"ECC: two wrong bits in PTE cache \(N03\), entry \d+")
        self.ends(job)
        self.works()

    @unittest.skipUnless(slow_tests(), "in check-all")
    def test_tables_that_the_driver_writes_again(self):
        """Who comes while an entry is damaged is refused; from then on all is well, without a reset."""
        resets = self.count("resets")
        for memory, name, entries in ((PTAG, "ptag", range(1, 255)), (CQ, "cq", range(1024))):
            job = self.start(PUTS)
            self.assertTrue(self.strike(1, "ecc-double", memory, entries))
            if memory == PTAG:
                self.fails(job, "TABLE_DAMAGED")
            else:
                self.ends(job)
            self.wait_for(lambda n=name: self.count(f"ras/{n}_damaged"), f"no error of {name} is found", 30)
            self.wait_for(lambda: "; written again" in self.dmesg(1), "the driver does not write it again", 30)
            self.works()
        self.assertEqual(self.count("resets"), resets)

    @unittest.skipUnless(slow_tests(), "waits for time-outs, and the model's test_ecc_lost shows it by default: in check-all")
    def test_block_transfers_end_with_an_error(self):
        job = self.start(LONG_PUTS)
        self.strike_until(lambda: self.count("ras/bte_damaged", 0), 0, "ecc-double", BTE, range(132))
        self.fails(job, "TABLE_DAMAGED")
        self.assertRegex(self.dmesg(0), r"ECC: two wrong bits in block transfer queues \(N14\), entry \d+")
        self.works()

    @unittest.skipUnless(slow_tests(), "in check-all")
    def test_requests_end_with_an_error(self):
        job = self.start(PUTS)
        self.strike(0, "ecc-double", ORB, [5])
        self.fails(job, "TABLE_DAMAGED")
        self.assertEqual(self.count("ras/orb_damaged", node=0), 1)
        self.works()

    def test_collectives_end_with_an_error(self):
        job = self.start(COLLECTIVES, "ce_ops")

        def damaged():
            return self.count("ras/ce_damaged", 0) + self.count("ras/ce_damaged", 1)

        for node in range(2):
            self.strike(node, "ecc-single", CE, range(128))
        self.wait_for(lambda: self.count("ras/ce_corrected", 0) + self.count("ras/ce_corrected", 1), "none is found", 30)
        self.goes_on("ce_ops")
        self.assertEqual(damaged(), 0)
        for node in range(2):
            self.strike(node, "ecc-double", CE, range(128))
        self.fails(job, "collective .*: status 0x13")
        self.assertGreater(damaged(), 0)
        self.works()

    def recovers(self, resets, memory):
        """Node 1 is reset by PCI error recovery, having told why; programs that come then find it as new."""
        self.wait_for(lambda: self.count("resets") == resets + 1, lambda: self.dmesg(1), RESET)
        log = self.dmesg(1)
        self.assertRegex(log, rf"ECC: stopped by {memory}, \d+ put right, \d+ damaged; first: entry \d+, ")
        self.assertIn("recovered from a PCI error", log)
        self.wait_for(lambda: self.cluster.run(1, "test -e /dev/kgni0").code == 0, "the device does not come back", 60)
        self.works()
        self.assertEqual(self.read("resources/pinned_pages"), "0")

    def severity(self, fatal):
        """Whether node 1 takes an uncorrectable internal error as fatal."""
        config = "/sys/class/gni/kgni0/device/config"
        byte = 0x46 if fatal else 0x06
        self.succeed(self.cluster.run(1, rf"printf '\{byte:03o}' | dd of={config} bs=1 seek={UNC_SEVERITY} conv=notrunc"))

    def corrected(self):
        """Wrong bits of descriptors that node 1 has put right; None while the NIC is being reset."""
        text = self.read("ras/mdd_corrected")
        return int(text) if text else None

    def too_many_errors(self, fatal):
        default = self.read("ras/limit")
        resets = self.count("resets")
        self.severity(fatal)
        self.addCleanup(self.severity, True)
        self.succeed(self.cluster.run(1, "echo 3 60000 >/sys/class/gni/kgni0/ras/limit"))
        job = self.start(PUTS)
        handles = self.handles()
        for _ in range(3):
            before = self.corrected()
            self.strike(1, "ecc-single", MDD, handles)
            # Two that nobody has found are no error, or another one: the next comes when this one is found.
            self.wait_for(lambda n=before: self.corrected() != n or self.count("resets") > resets, "the error is not found", 60)
            if self.corrected() is None or self.count("resets") > resets:
                break
        results = job.wait(RESET)
        self.assertTrue(any(result.code for result in results))
        self.recovers(resets, r"memory domain descriptors \(N01\)")
        self.assertEqual(self.read("ras/limit"), "3 60000")  # survives the reset
        self.assertEqual(self.count("ras/mdd_corrected"), 0)
        self.succeed(self.cluster.run(1, f"echo {default} >/sys/class/gni/kgni0/ras/limit"))

    def test_too_many_errors_stop_the_nic(self):
        """Fatal, as it is from the beginning: jobs get errors, and those after them none."""
        self.too_many_errors(True)

    @unittest.skipUnless(slow_tests(), "the way of a fatal error is tested by default: in check-all")
    def test_too_many_errors_that_are_not_fatal(self):
        """The same where the kernel is told that the error is not fatal."""
        self.too_many_errors(False)

    @unittest.skipUnless(slow_tests(), "in check-all")
    def test_two_bits_stop_the_nic_if_asked_to(self):
        resets = self.count("resets")
        self.assertNotEqual(self.cluster.run(1, "echo mdd nothing >/sys/class/gni/kgni0/ras/signal").code, 0)
        self.assertEqual(self.read("ras/signal"), "")
        self.succeed(self.cluster.run(1, "echo mdd pte >/sys/class/gni/kgni0/ras/signal"))
        self.assertEqual(self.read("ras/signal"), "mdd pte")
        job = self.start(PUTS)
        self.strike(1, "ecc-double", MDD, self.handles())
        self.assertTrue(any(result.code for result in job.wait(RESET)))
        self.recovers(resets, r"memory domain descriptors \(N01\)")
        self.succeed(self.cluster.run(1, "echo >/sys/class/gni/kgni0/ras/signal"))
