# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/cluster up --share without machines: folders and places on the command line, QEMU's arguments, and what a node is told."""

import asyncio
import io
import os
import tarfile
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from opengni import cli, config, host, qemu, share
from opengni.config import ClusterConfig
from opengni.errors import ConfigError, NodeError, UsageError
from opengni.node import Result
from opengni.share import Share


class Folders(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.realpath(self.enterContext(tempfile.TemporaryDirectory()))

    def test_words(self):
        self.assertEqual(share.parse(self.folder), Share(self.folder, self.folder))
        self.assertEqual(share.parse(f"{self.folder}:/mnt"), Share(self.folder, "/mnt"))
        self.assertEqual(share.parse(f"{self.folder}:/mnt:ro"), Share(self.folder, "/mnt", True))
        self.assertEqual(share.parse(f"{self.folder}:ro"), Share(self.folder, self.folder, True))
        link = f"{self.folder}/link"
        os.symlink(self.folder, link)
        self.assertEqual(share.parse(link), Share(self.folder, link))

    def test_wrong_words(self):
        for word, message in ((f"{self.folder}/none", "there is no folder"), ("", "is possible"), (":/mnt", "is possible"),
                              (f"{self.folder}:mnt", "there is no folder")):
            with self.subTest(word), self.assertRaisesRegex(ConfigError, message):
                share.parse(word)

    def made(self, *shares, **options):
        """A configuration whose files are there."""
        return ClusterConfig(kernel="/bin/true", initrd="/bin/true", qemu="/bin/true", name="test-share", shares=list(shares), **options)

    def test_places(self):
        self.made(Share(self.folder, "/a"), Share(self.folder, "/a/b")).validate()
        for places, message in ((("/", ), "'/' cannot be the place of a folder"), (("/a", "/a/"), "'/a' cannot be the place of two folders")):
            with self.assertRaisesRegex(UsageError, message):
                self.made(*(Share(self.folder, place) for place in places)).validate()
        with self.assertRaisesRegex(UsageError, "not with --no-agent"):
            self.made(Share(self.folder, "/a"), agent=False).validate()

    def test_a_kernel_without_the_modules(self):
        with mock.patch.object(host, "BUILD", Path(self.folder)), mock.patch.object(host, "PREFIX", None), \
                mock.patch.object(ClusterConfig, "_validate_files", lambda self: None):
            (Path(self.folder) / "kernel-6.1").mkdir()
            (Path(self.folder) / "kernel-6.1/release").write_text("6.1-test\n", encoding="ascii")
            wanted = ClusterConfig(kernel="6.1", name="test-share", shares=[Share(self.folder, "/a")])
            with self.assertRaisesRegex(ConfigError, "Linux 6.1-test sees no folders .*: make share KERNEL=6.1"):
                wanted.validate()
            (Path(self.folder) / "share-6.1-test").mkdir()
            (Path(self.folder) / "share-6.1-test/order").touch()
            wanted.validate()

    def test_not_over_hosts(self):
        args = cli.parser().parse_args(["up", "--share", self.folder])
        made = cli.make_config(args)
        self.assertEqual(made.shares, [Share(self.folder, self.folder)])
        made.hosts = [SimpleNamespace(name="a", nodes=range(2))]
        with self.assertRaisesRegex(UsageError, "--share is about a folder of this machine"):
            made.validate()

    def test_arguments_of_qemu(self):
        made = self.made(Share("/a,b", "/a"), Share("/c", "/c", True))
        paths = SimpleNamespace(serial="s", console="c", qmp="q", agent="a")
        line = qemu.command(made, 0, paths)
        self.assertEqual([word for word in line if word.startswith(("local,", "virtio-9p"))],
                         ["local,id=share0,path=/a,,b,security_model=none,multidevs=remap", "virtio-9p-pci,fsdev=share0,mount_tag=share0",
                          "local,id=share1,path=/c,security_model=none,multidevs=remap,readonly=on", "virtio-9p-pci,fsdev=share1,mount_tag=share1"])
        self.assertEqual([word for word in qemu.command(self.made(), 0, paths) if "9p" in word], [])


class Mounting(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.object(host, "BUILD", self.folder))

    def mount(self, able, bad=()):
        """What a node is told: scripts, and what goes into them. bad: words of scripts that fail."""
        told = []

        async def run(script, stdin=b"", timeout=0.0):
            told.append((script, stdin))
            if "/proc/filesystems" in script:
                return Result(0 if able else 1, "", "")
            return Result(1 if any(word in script for word in bad) else 0, "", "no such luck\n")

        node = SimpleNamespace(number=3, release="6.1-test", run=run,
                               config=SimpleNamespace(shares=[Share("/here", "/there it is"), Share("/ro", "/ro", True)]))
        asyncio.run(share.mount(node))
        return told

    def modules(self):
        """As make share leaves them."""
        (self.folder / "share-6.1-test").mkdir()
        for name in ("order", "9p.ko"):
            (self.folder / "share-6.1-test" / name).write_text("9p.ko\n", encoding="ascii")

    def test_a_kernel_that_can(self):
        told = [script for script, _ in self.mount(True)]
        self.assertEqual(len(told), 3)
        self.assertRegex(told[1], r"^mkdir -p '/there it is' && mount -t 9p -o trans=virtio,.*,rw share0 '/there it is'$")
        self.assertRegex(told[2], r"^mkdir -p /ro && mount -t 9p -o trans=virtio,.*,ro share1 /ro$")

    def test_a_kernel_that_gets_modules(self):
        with self.assertRaisesRegex(NodeError, "node 3: Linux 6.1-test has no 9p, which --share needs: make share"):
            self.mount(False)
        self.modules()
        told = self.mount(False)
        self.assertEqual(len(told), 4)
        with tarfile.open(fileobj=io.BytesIO(told[1][1])) as archive:
            self.assertEqual(sorted(archive.getnames()), ["9p.ko", "order"])
        with self.assertRaisesRegex(NodeError, "does not load: no such luck"):
            self.mount(False, bad=["insmod"])

    def test_a_mount_that_fails(self):
        with self.assertRaisesRegex(NodeError, "node 3: /here cannot be mounted at /there it is: no such luck"):
            self.mount(True, bad=["share0"])

    def test_nothing_to_mount(self):
        asyncio.run(share.mount(SimpleNamespace(config=SimpleNamespace(shares=[]))))


class Kernels(unittest.TestCase):
    def test_only_kernels_of_make_are_known(self):
        self.assertEqual(ClusterConfig(kernel="/bin/true").built_release, "")
        self.assertIn("6.1", config.MODULAR_KERNELS)
