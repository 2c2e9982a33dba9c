# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/cluster push without machines: what is copied, and what is not once more."""

import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from fake_agent import FakeCluster
from opengni import host, push
from opengni.errors import ConfigError, NodeError, UsageError


class Pushing(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "c").mkdir()
        self.here, self.there = self.folder / "here", self.folder / "there"
        (self.here / "usr/lib").mkdir(parents=True)
        (self.here / "usr/lib/libx.so.1").write_text("first", encoding="ascii")
        (self.here / "usr/lib/libx.so").symlink_to("libx.so.1")
        (self.here / "usr/lib/libx.a").write_text("static", encoding="ascii")
        (self.here / "run me").write_text("#!/bin/sh\n", encoding="ascii")
        (self.here / "run me").chmod(0o755)
        self.enterContext(mock.patch.object(host, "RUN", self.folder))

    async def push(self):
        """How many files are copied."""
        async with FakeCluster(self.folder / "c"):
            return await push.Push("c").folder(0, self.here, str(self.there), ("*.a",))

    async def test_only_what_has_changed(self):
        self.assertEqual(await self.push(), 3)
        self.assertEqual(os.readlink(self.there / "usr/lib/libx.so"), "libx.so.1")
        self.assertEqual((self.there / "run me").stat().st_mode & 0o777, 0o755)
        self.assertFalse((self.there / "usr/lib/libx.a").exists())
        self.assertEqual(await self.push(), 0)
        (self.here / "usr/lib/libx.so.1").write_text("other", encoding="ascii")  # as long as before
        self.assertEqual(await self.push(), 1)
        self.assertEqual((self.there / "usr/lib/libx.so.1").read_text(encoding="ascii"), "other")
        os.utime(self.here / "usr/lib/libx.so.1", (1, 1))
        self.assertEqual(await self.push(), 0, "a new time stamp is no change")
        (self.here / "run me").chmod(0o700)
        self.assertEqual(await self.push(), 1)

    async def test_what_others_did_on_the_node_is_seen(self):
        await self.push()
        (self.there / "run me").unlink()
        (self.there / "usr/lib/libx.so.1").write_text("something longer", encoding="ascii")
        (self.there / "usr/lib/mine").touch()
        self.assertEqual(await self.push(), 2)
        self.assertEqual((self.there / "usr/lib/libx.so.1").read_text(encoding="ascii"), "first")
        self.assertTrue((self.there / "usr/lib/mine").exists())

    async def test_after_a_boot_all_is_copied(self):
        await self.push()
        memory = self.folder / "c/node0.push"
        text = memory.read_text(encoding="utf-8")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        self.assertIn(boot, text)
        memory.write_text(text.replace(boot, "another"), encoding="utf-8")
        self.assertEqual(await self.push(), 3)
        memory.write_text("no JSON", encoding="utf-8")
        self.assertEqual(await self.push(), 3)

    async def test_a_place_that_cannot_be_made(self):
        self.there.touch()
        with self.assertRaisesRegex(NodeError, "node 0: .*there"):
            await self.push()


class Words(unittest.TestCase):
    def test_places(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(push.parse(folder), (Path(folder), folder))
            self.assertEqual(push.parse(f"{folder}:/opt/x/"), (Path(folder), "/opt/x"))
            self.assertEqual(push.parse(f"{folder}:/"), (Path(folder), "/"))
            with self.assertRaisesRegex(ConfigError, "there is no folder .*/nothing"):
                push.parse(f"{folder}/nothing:/opt")
            os.mkfifo(f"{folder}/pipe")
            with self.assertRaisesRegex(ConfigError, "pipe is neither file, folder nor link"):
                push.contents(Path(folder))

    def test_after_installation_there_is_nothing_to_build(self):
        with mock.patch.object(host, "PREFIX", Path("/usr")), self.assertRaisesRegex(UsageError, "name a folder"):
            push.run("c", [0], [])
