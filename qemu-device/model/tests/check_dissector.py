#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Check the Wireshark dissector with tshark over a trace that the model writes.

usage: check_dissector.py TEST_TRACE ARIES_LUA

Prints TAP; exit status 77 and a skip without tshark.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[3]
FIELDS = ("aries.class", "aries.kind", "aries.trace.direction", "aries.trace.engine", "aries.node", "aries.peer",
          "aries.target", "aries.source", "aries.mdh", "aries.offset", "aries.packet_id", "aries.length", "aries.flits",
          "aries.command", "aries.operand", "aries.result", "aries.event", "aries.status", "aries.outcome", "aries.key",
          "aries.index", "aries.packets", "aries.crc.good", "aries.response_in", "aries.response_to", "aries.lost",
          "aries.refused", "aries.malformed", "aries.data", "aries.fmad", "aries.routing", "frame.number",
          "frame.interface_name", "frame.p2p_dir")
BASE = 0x7f12345000
PUT, GET, AMO, FETCH_AMO, CQ_WRITE = range(5)
MDD, TIMEOUT = 0x02, 0x07
RUN = {}


def tshark(*args):
    """Output of tshark with the dissector; what it says on stderr must not be about Lua."""
    result = subprocess.run(["tshark", "-n", "-X", f"lua_script:{RUN['lua']}", *args], capture_output=True, text=True,
                            check=False, timeout=60)
    if result.returncode or "Lua" in result.stderr:
        raise AssertionError(f"tshark ended with {result.returncode}: {result.stderr}")
    return result.stdout


def packets(path, only=""):
    """Packets as dictionaries of the fields that they have."""
    args = ["-2", "-r", str(path), "-T", "fields", "-E", "separator=|"] + (["-Y", only] if only else [])
    for field in FIELDS:
        args += ["-e", field]
    return [{name: value for name, value in zip(FIELDS, line.split("|")) if value}
            for line in tshark(*args).splitlines()]


def number(packet, name):
    """A field as a number; None if the packet has none."""
    return int(packet["aries." + name], 0) if "aries." + name in packet else None


class Dissector(unittest.TestCase):
    """One trace, read once."""

    @classmethod
    def setUpClass(cls):
        cls.packets = packets(RUN["trace"])

    def request(self, at, kind, **values):
        packet = self.packets[at]
        self.assertEqual((number(packet, "class"), number(packet, "kind")), (0, kind))
        self.assertEqual((number(packet, "source"), number(packet, "target"), number(packet, "peer")), (0, 1, 1))
        for name, value in values.items():
            self.assertEqual(number(packet, name), value, name)
        return packet

    def response(self, at, to, **values):
        packet, request = self.packets[at], self.packets[to]
        self.assertEqual(number(packet, "class"), 1)
        self.assertEqual(packet["aries.packet_id"], request["aries.packet_id"])
        self.assertEqual(packet["aries.kind"], request["aries.kind"])
        self.assertEqual(number(packet, "response_to"), to + 1)
        self.assertEqual(number(request, "response_in"), at + 1)
        for name, value in values.items():
            self.assertEqual(number(packet, name), value, name)
        return packet

    def test_put(self):
        packet = self.request(0, PUT, length=64, offset=BASE, mdh=9, flits=14, key=0xc00c1e, fmad=1, packets=1, routing=3)
        self.assertEqual(len(packet["aries.data"]), 128)
        self.assertEqual(packet["aries.data"][:12], "00050a0f1419")
        self.response(1, 0, flits=1)

    def test_get(self):
        self.request(2, GET, length=64, offset=BASE, flits=3)
        packet = self.response(3, 2, flits=12, length=64)
        self.assertEqual(packet["aries.data"], self.packets[0]["aries.data"], "what was put there")

    def test_atomics(self):
        packet = self.request(4, FETCH_AMO, length=16, command=0x00d, flits=6)
        self.assertEqual(packet["aries.operand"], "0x0000000000000029,0x0000000000000063")
        self.response(5, 4, result=41, flits=3)
        self.request(6, AMO, length=8, command=0x108, operand=5)
        self.response(7, 6, flits=1)

    def test_cq_write(self):
        self.request(8, CQ_WRITE, length=6, event=0xaabbccddeeff)
        self.response(9, 8)

    def test_refused(self):
        self.request(10, PUT, length=8, mdh=10, outcome=MDD)
        packet = self.response(11, 10, status=MDD, flits=2)
        self.assertIn("aries.refused", packet)

    def test_lost(self):
        packet = self.request(12, PUT, length=0, outcome=TIMEOUT, flits=4)
        self.assertIn("aries.lost", packet)
        self.assertNotIn("aries.response_in", packet)

    def test_block_transfer(self):
        for i in range(4):
            packet = self.request(13 + i, PUT, index=i, packets=4, offset=BASE + 64 * i, length=64 if i < 3 else 8)
            self.assertEqual(packet["aries.trace.engine"], "2")
            self.response(17 + i, 13 + i, index=i)
        self.assertEqual(len(self.packets), 21)

    def test_all(self):
        for packet in self.packets:
            self.assertIn(packet["aries.crc.good"], ("1", "True"))
            self.assertNotIn("aries.malformed", packet)
            self.assertEqual(packet["frame.interface_name"], "node 0")
            self.assertEqual(packet["frame.p2p_dir"], packet["aries.trace.direction"])

    def test_names(self):
        text = tshark("-r", str(RUN["trace"]))
        for words in ("Put 64 bytes, MDH 9, offset 0x7f12345000", "GNI_FMA_ATOMIC_CSWAP", "GNI_FMA_ATOMIC_ADD", "CQ write",
                      "response, 0 bytes, MDD", "4 of 4"):
            self.assertIn(words, text)

    def test_filter(self):
        self.assertEqual(len(packets(RUN["trace"], "aries.kind == 0 && aries.class == 0")), 7)

    def test_damaged(self):
        """A bit of the data of the first packet."""
        data = bytearray(RUN["trace"].read_bytes())
        at = data.index(bytes(range(0, 30, 5)))
        data[at] ^= 1
        path = RUN["trace"].with_suffix(".damaged")
        path.write_bytes(data)
        good = [packet["aries.crc.good"] in ("1", "True") for packet in packets(path)]
        self.assertEqual(good, [False] + [True] * 20)
        self.assertEqual(len(packets(path, "aries.crc.bad")), 1)

    def test_status_names_are_those_of_the_header(self):
        header = (TOP / "driver/include/aries_hw.h").read_text(encoding="utf-8")
        lua = pathlib.Path(RUN["lua"]).read_text(encoding="utf-8")
        table = lua[lua.index("local STATUS"):lua.index("-- Names of gni")]
        want = {(int(code, 0), name) for name, code in re.findall(r"^\tARIES_ST_(\w+) = (0x\w+),", header, re.M)}
        have = {(int(code, 0), name) for code, name in re.findall(r'\[(0x\w+)\] = "(\w+)"', table)}
        self.assertEqual(have, want)


class Tap(unittest.TextTestResult):
    """Results in the test anything protocol."""

    def _line(self, test, good):
        print(f"{'' if good else 'not '}ok {self.testsRun} - {test.id().split('.')[-1]}", flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self._line(test, True)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._line(test, False)

    def addError(self, test, err):
        super().addError(test, err)
        self._line(test, False)


def main():
    """Write the trace, run the tests."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if not shutil.which("tshark"):
        print("1..1\nok 1 - dissector # SKIP tshark is not installed (Debian package tshark)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        RUN["trace"], RUN["lua"] = pathlib.Path(folder) / "sample.pcapng", pathlib.Path(sys.argv[2])
        subprocess.run([sys.argv[1], str(RUN["trace"])], check=True, timeout=60)
        suite = unittest.defaultTestLoader.loadTestsFromTestCase(Dissector)
        print(f"1..{suite.countTestCases()}")
        return 0 if unittest.TextTestRunner(resultclass=Tap, verbosity=0).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
