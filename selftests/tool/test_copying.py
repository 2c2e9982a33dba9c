# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/cluster cp without machines: what is whole arrives, what is not leaves nothing, and nobody between keeps much of it."""

import asyncio
import io
import os
import tarfile
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from fake_agent import OUTPUT_WINDOW, FakeCluster
from opengni import client, copying, host, unpacking
from opengni.errors import ClusterError, ConfigError, NodeError
from opengni.protocol import PAYLOAD_MAX, STDIN_WINDOW


def archive(*members):
    """A tar archive of (TarInfo, data)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for member, data in members:
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return io.BytesIO(out.getvalue())


def member(name, kind=tarfile.REGTYPE, link=""):
    """A member of an archive."""
    made = tarfile.TarInfo(name)
    made.type, made.linkname, made.mode = kind, link, 0o4755
    return made


class Copying(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in ("c", "here", "there"):
            (self.folder / name).mkdir()
        self.enterContext(mock.patch.object(host, "RUN", self.folder))

    def cluster(self, count=1):
        return FakeCluster(self.folder / "c", count)

    async def copy(self, *words):
        await copying.copy("c", [str(word) for word in words], lambda text: [int(text)] if text != "all" else [0, 1])

    def left(self):
        """What a copy that failed has left."""
        return [path for path in self.folder.rglob(".cluster-cp*")]

    async def test_both_ways(self):
        here, there = self.folder / "here", self.folder / "there"
        (here / "tree" / "sub").mkdir(parents=True)
        (here / "tree" / "sub" / "x").write_bytes(os.urandom(3 * STDIN_WINDOW))
        (here / "tree" / "sub").chmod(0o555)
        (here / "second").touch()
        async with self.cluster():
            await self.copy(here / "tree", here / "second", f"0:{there}")
            self.assertTrue((there / "second").exists())
            self.assertEqual((there / "tree" / "sub").stat().st_mode & 0o777, 0o555)
            await self.copy(f"node0:{there}/tree", here / "back")
        self.assertEqual((here / "back" / "sub" / "x").read_bytes(), (here / "tree" / "sub" / "x").read_bytes())
        self.assertEqual((here / "back" / "sub").stat().st_mode & 0o777, 0o555)
        for path in (here / "tree", here / "back", there / "tree"):
            (path / "sub").chmod(0o755)
        self.assertEqual(self.left(), [])

    async def test_a_node_that_dies_leaves_what_was_there(self):
        here, there = self.folder / "here", self.folder / "there"
        (there / "big").write_text("old", encoding="ascii")
        with open(here / "big", "wb") as out:
            out.truncate(1 << 30)
        async with self.cluster() as cluster:
            task = asyncio.create_task(self.copy(here / "big", f"0:{there}"))
            while not self.left():
                await asyncio.sleep(0.01)
            cluster.agents[0].die()
            with self.assertRaisesRegex(ClusterError, "node 0: the machine has gone"):
                await task
        self.assertEqual((there / "big").read_text(encoding="ascii"), "old")

    async def interrupt(self, when=".cluster-cp*"):
        """A copy that is interrupted when such a file is there leaves nothing."""
        here, there = self.folder / "here", self.folder / "there"
        with open(here / "big", "wb") as out:
            out.truncate(1 << 30)
        async with self.cluster():
            task = asyncio.create_task(self.copy(here / "big", f"0:{there}"))
            while not list(there.glob(when)):
                await asyncio.sleep(0.01)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            for _ in range(1000):
                if not self.left():
                    break
                await asyncio.sleep(0.02)
            self.assertEqual(list(there.iterdir()), [])

    async def test_an_interrupted_copy_is_taken_away(self):
        await self.interrupt()

    def instead_of(self, command, script):
        """In PATH, a command of that name that does something else first."""
        other = self.folder / "bin" / command
        other.parent.mkdir()
        other.write_text(f"#!/bin/sh\n{script}\nexec /bin/{command} \"$@\"\n", encoding="ascii")
        other.chmod(0o755)
        return mock.patch.dict(os.environ, PATH=f"{other.parent}:{os.environ['PATH']}")

    async def test_it_is_taken_away_even_if_that_takes_long(self):
        """A disk may be busy."""
        with self.instead_of("rm", "sleep 3"):
            await self.interrupt()

    async def test_it_is_taken_away_even_if_who_unpacks_misses_the_signal(self):
        """As a process does that the shell is just about to make."""
        with self.instead_of("tar", "trap '' HUP"):
            await self.interrupt(".cluster-cp*/content")

    async def test_a_folder_of_which_nobody_said_that_it_was_made(self):
        """A signal ends who has just made it."""
        (self.folder / "here" / "file").touch()
        with self.instead_of("mkdir", '/bin/mkdir "$@"; kill -HUP $$'):
            async with self.cluster():
                with self.assertRaises(ClusterError):
                    await self.copy(self.folder / "here" / "file", f"0:{self.folder / 'there'}")
        self.assertEqual(self.left(), [])

    async def test_what_is_on_its_way_is_bounded(self):
        async with self.cluster() as cluster:
            remote = copying._Remote("c", 0, "sleep 2; wc -c")  # pylint: disable=protected-access
            async with remote:
                for _ in range(64):
                    self.assertTrue(await remote.send(b"x" * (PAYLOAD_MAX // 4)))
                await remote.send(b"")
                said = b""
                while not said:
                    said = await remote.receive()
                self.assertEqual(int(said), 64 * PAYLOAD_MAX // 4)
                await remote.end()
            # what has been sent and not been told to be taken is no more than the window and its last piece
            self.assertLess(cluster.agents[0].most, STDIN_WINDOW + PAYLOAD_MAX)
            # and a node goes on with its output as it is told that it has been read
            late = copying._Remote("c", 0, "yes")  # pylint: disable=protected-access
            async with late:
                got = 0
                while got < 3 * OUTPUT_WINDOW:
                    got += len(await late.receive())

    async def test_refusals(self):
        here, there = self.folder / "here", self.folder / "there"
        (here / "f").touch()
        (there / "f").mkdir()
        os.mkfifo(here / "fifo")
        async with self.cluster():
            for words, pattern in (((here / "f", f"0:{there}"), "node 0: .*/f is a folder"),
                                   ((here / "f", "0:/nowhere/"), "there is no folder /nowhere"),
                                   ((here / "fifo", f"0:{there}"), "neither file, folder nor link"),
                                   (("0:/nowhere", here), "there is no /nowhere"),
                                   (("0:/dev/null", here), "neither file, folder nor link"),
                                   ((f"0:{there}/f", here / "f"), "is|Not a directory"),
                                   (("all:/etc", here), "one name here"),
                                   (("0:/etc", "0:/tmp"), "both places"),
                                   ((here / "f", here / "f", here / "g"), "is on a node")):
                with self.subTest(words):
                    with self.assertRaisesRegex(ClusterError, pattern) as caught:
                        await self.copy(*words)
                    self.assertNotIn("\n", str(caught.exception))
        self.assertEqual(self.left(), [])

    async def test_a_part_of_a_folder_is_not_put_into_place(self):
        tree = self.folder / "here" / "tree"
        tree.mkdir()
        (tree / "a").write_bytes(b"a" * 100000)
        os.mkfifo(tree / "z")
        async with self.cluster():
            with self.assertRaisesRegex(ConfigError, "./z is neither file"):
                await self.copy(tree, f"0:{self.folder}/there")
        self.assertEqual(list((self.folder / "there").iterdir()), [])

    async def test_two_at_once(self):
        async with self.cluster(2):
            here, there = self.folder / "here", self.folder / "there"
            (here / "f").write_bytes(b"f" * 1000000)
            await asyncio.gather(*(self.copy(here / "f", f"{node}:{there}/f{node}") for node in (0, 1)))
            self.assertEqual((there / "f0").read_bytes(), (there / "f1").read_bytes())
            self.assertEqual(await client.run("c", 1, ["/bin/sh", "-c", "echo out; echo bad >&2; exit 3"]), (3, "out\n", "bad\n"))


class Archives(unittest.TestCase):
    """What a node sends is not believed."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def unpack(self, *members):
        return unpacking.Unpacked(archive(*members), self.folder / "stage")

    def test_names_that_lead_out(self):
        for name in ("./x/../../evil", "../evil", "/evil", "x/../y"):
            with self.subTest(name), self.assertRaisesRegex(NodeError, "leads out"):
                self.unpack((member("x", tarfile.DIRTYPE), b""), (member(name), b"evil"))
            for path in self.folder.iterdir():
                path.rmdir()

    def test_nothing_is_written_through_a_link(self):
        with self.assertRaises(OSError):
            self.unpack((member("x", tarfile.DIRTYPE), b""), (member("x/out", tarfile.SYMTYPE, str(self.folder)), b""),
                        (member("x/out/evil"), b"evil"))
        self.assertFalse((self.folder / "evil").exists())

    def test_devices_are_refused_and_programs_stay_ones_own(self):
        with self.assertRaisesRegex(NodeError, "neither file"):
            self.unpack((member("x", tarfile.CHRTYPE), b""))
        self.unpack((member("x"), b"program"))
        self.assertEqual((self.folder / "stage").stat().st_mode & 0o7777, 0o755)

    def test_places(self):
        self.assertEqual(copying.parse("node1:/x:y"), ("1", "/x:y"))
        self.assertEqual(copying.parse("0,2-3:x"), ("0,2-3", "x"))
        self.assertEqual(copying.parse("all:x"), ("all", "x"))
        for word in ("./1:x", "a:b", "x", "node:x", "1:"):
            self.assertEqual(copying.parse(word), (None, word))
        self.assertTrue(issubclass(ConfigError, ClusterError))
