# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces for the simulator: from packet captures and OTF2 archives, cut off anywhere."""

import importlib.util
import io
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

from opengni.traces import GET, PUT, TRACE_HEADER, Message, TraceError, read_otf2, read_pcapng, write_messages

TOOL = Path(__file__).resolve().parents[2] / "scripts" / "sim-trace.py"


def block(kind, body, order="<"):
    """One block of a pcapng file."""
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + length + body + length


def head(order="<", link=147, resolution=9):
    """Section and interface."""
    options = struct.pack(order + "HHB3xHH", 9, 1, resolution, 0, 0)
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order) + \
        block(1, struct.pack(order + "HHI", link, 0, 0) + options, order)


def packet(ns, kind, size, index=0, packets=1, direction=0, response=False, order="<", node=0, peer=1):
    """One packet of an operation."""
    flits = bytearray(18)
    flits[0] = 0x80 if response else kind << 4
    flits[15] = size & 0x3F
    data = TRACE_HEADER.pack(1, TRACE_HEADER.size, direction, 1, 0, node, peer, 100, index, packets, 1, 0, 0, kind) + flits
    return block(6, struct.pack(order + "5I", 0, ns >> 32, ns & 0xFFFFFFFF, len(data), len(data)) + data, order)


class Captures(unittest.TestCase):
    """pcapng."""

    def setUp(self):
        self.path = Path(self.enterContext(tempfile.TemporaryDirectory()), "node0.pcapng")

    def read(self, content):
        self.path.write_bytes(content)
        return read_pcapng(self.path)

    def whole(self, order="<"):
        """A put of 150 bytes whose last packet was recorded, a get of 64, a put of 100 packets of which one was."""
        return (head(order) + packet(5 << 32, PUT, 64, 0, 3, order=order) + packet((5 << 32) + 5, PUT, 64, 1, 3, order=order)
                + packet((5 << 32) + 9, PUT, 22, 2, 3, order=order)
                + packet((5 << 32) + 400, PUT, 0, 0, 3, direction=1, response=True, order=order)
                + packet((5 << 32) + 1000, GET, 0, order=order, peer=2)
                + packet((5 << 32) + 2000, PUT, 64, 0, 100, order=order, node=2, peer=0))

    def test_operations_become_messages(self):
        """With the bytes of all their packets; either order of bytes."""
        for order in "<>":
            with self.subTest(order):
                self.assertEqual(self.read(self.whole(order)), [
                    Message(5 << 32, 0, 1, 150, False), Message((5 << 32) + 1000, 0, 2, 64, True),
                    Message((5 << 32) + 2000, 2, 0, 6400, False)])

    def test_cut_off_in_the_middle(self):
        """At any byte but the end of a block: one line with the place."""
        content = self.whole()
        ends, at = set(), 0
        while at < len(content):
            at += struct.unpack_from("<I", content, at + 4)[0]
            ends.add(at)
        for length in range(1, len(content)):
            self.path.write_bytes(content[:length])
            if length in ends:
                read_pcapng(self.path)
                continue
            with self.assertRaisesRegex(TraceError, f"^{self.path}: cut off in block [1-8], at byte [0-9]+ of {length}$"):
                read_pcapng(self.path)

    def test_what_is_no_capture_of_a_nic(self):
        """One line that says what it is."""
        for content, said in ((b"x" * 100, "not a pcapng file"), (head(link=1), "link type 1, not of an Aries NIC"),
                              (head(resolution=6), "not in nanoseconds"), (head() + block(6, bytes(20)), "without the header"),
                              (head() + struct.pack("<2I", 6, 13) + bytes(20), "length of 13")):
            with self.assertRaisesRegex(TraceError, said):
                self.read(content)

    def test_the_command(self):
        """The form that aries-sim reads; one line for what cannot be."""
        self.path.write_bytes(self.whole())
        done = subprocess.run([TOOL, self.path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines(), [
            "# aries messages 1 nodes 3 count 3", "ns,source,target,bytes,operation", "0,0,1,150,put", "1000,0,2,64,get",
            "2000,2,0,6400,put"])
        self.path.write_bytes(self.whole()[:-2])
        done = subprocess.run([TOOL, self.path], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^sim-trace.py: .*: cut off in block 8, at byte [0-9]+ of [0-9]+\n$")

    def run_tool(self, *arguments):
        return subprocess.run([TOOL, self.path, *arguments], capture_output=True, text=True, check=False)

    def test_captures_that_are_too_long_for_a_run(self):
        """Refused with what can be done; a piece, or shorter pauses, are taken."""
        self.path.write_bytes(head() + b"".join(packet(s * 10**9 + 7, PUT, 8) for s in (3, 4, 5, 9)))
        done = self.run_tool()
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^sim-trace.py: .*: 6.0 s from the first message to the last, and aries-sim simulates 2 s: "
                                      r"--from and --to .*, and --pause 1 makes 0.003 s of it\n$")
        for arguments, times in ((("--pause", "1"), [0, 10**6, 2 * 10**6, 3 * 10**6]), (("--to", "2.5"), [0, 10**9, 2 * 10**9]),
                                 (("--from", "1", "--to", "2"), [0]), (("--from=2", "--pause=500"), [0, 5 * 10**8])):
            with self.subTest(arguments):
                done = self.run_tool(*arguments)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual([int(line.split(",")[0]) for line in done.stdout.splitlines()[2:]], times)
        self.assertRegex(self.run_tool("--from", "7").stderr, "no message in the piece")
        for wrong in ("-1", "x", "nan", "inf"):
            self.assertEqual(self.run_tool(f"--pause={wrong}").returncode, 2)

    def test_messages_to_itself_are_left_out(self):
        """They use no network."""
        out = io.StringIO()
        self.assertEqual(write_messages([Message(7, 1, 1, 8, False), Message(9, 1, 0, 0, False)], out), 1)
        self.assertEqual(out.getvalue().splitlines()[-1], "0,1,0,8,put")


@unittest.skipUnless(importlib.util.find_spec("otf2"), "python3-otf2 is not installed")
class Archives(unittest.TestCase):
    """OTF2."""

    @staticmethod
    def write(path, sends=1):
        """Two processes; the second one's communicator has them the other way round."""
        import otf2
        with otf2.writer.open(str(path), timer_resolution=1_000_000) as archive:
            tree = archive.definitions.system_tree_node("machine")
            locations = [archive.definitions.location(f"rank {i}", group=archive.definitions.location_group(
                f"process {i}", system_tree_parent=tree)) for i in range(2)]
            writers = [archive.event_writer_from_location(location) for location in locations]
            for number, members in enumerate((locations, locations[::-1])):
                group = archive.definitions.group(f"group {number}", group_type=otf2.GroupType.COMM_LOCATIONS,
                                                  paradigm=otf2.Paradigm.MPI, members=members)
                comm = archive.definitions.comm(f"comm {number}", group)
                for i in range(sends):
                    if number == 0:
                        writers[0].mpi_send(10 + i, 1, comm, 0, 4096)
                    else:
                        writers[1].mpi_isend(12 + i, 1, comm, 0, 100, 1)

    def test_sends_by_rank_of_their_communicator(self):
        """Times in nanoseconds."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "archive"
            self.write(path)
            self.assertEqual(read_otf2(path / "traces.otf2"), [Message(10000, 0, 1, 4096, False), Message(12000, 1, 0, 100, False)])

    def test_an_archive_cut_off_in_the_middle(self):
        """Any of its files that holds something: one line."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "archive"
            self.write(path, 1000)
            whole = read_otf2(path / "traces.otf2")
            self.assertEqual(len(whole), 2000)
            for file in sorted(item for item in path.rglob("*") if item.is_file()):
                content = file.read_bytes()
                file.write_bytes(content[:len(content) // 2])
                with self.subTest(file.name):
                    self.check_cut(path / "traces.otf2", whole, file.suffix == ".def" and file.parent != path)
                file.write_bytes(content)

    def check_cut(self, archive, whole, empty):
        """
        A location's file of definitions is empty here: a head and a mark of its end, which OTF2's library misses
        only if the memory it read the file into does not happen to hold one already. No message is lost with it.
        """
        try:
            messages = read_otf2(archive)
        except TraceError as error:
            self.assertRegex(str(error), "not an OTF2 archive, or not a whole one")
            self.assertNotIn("\n", str(error))
        else:
            self.assertTrue(empty, "an archive that lacks half a file was read")
            self.assertEqual(messages, whole)

    def test_what_is_no_archive(self):
        """One line."""
        with tempfile.NamedTemporaryFile(suffix=".otf2") as file:
            file.write(b"nothing")
            file.flush()
            with self.assertRaisesRegex(TraceError, f"^{file.name}: not an OTF2 archive") as caught:
                read_otf2(file.name)
            self.assertNotIn("\n", str(caught.exception))
