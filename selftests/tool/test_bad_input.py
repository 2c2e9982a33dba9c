# SPDX-License-Identifier: GPL-2.0-or-later
"""Wrong input to the cluster tool: one line that names the cause, nothing started."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from opengni import cli, fabric, host, selection
from opengni.config import ClusterConfig
from opengni.errors import ConfigError
from opengni.job import Job

CLUSTER = host.TOP / "scripts" / "cluster"


def files():
    """Options that name files which are there, so that only the tested thing is wrong."""
    return {"kernel": "/bin/true", "initrd": "/bin/true", "qemu": "/bin/true"}


class Config(unittest.TestCase):
    def refused(self, pattern, **options):
        with self.assertRaisesRegex(ConfigError, pattern) as caught:
            ClusterConfig(**{**files(), **options}).validate()
        self.assertNotIn("\n", str(caught.exception))

    def test_good(self):
        ClusterConfig(**files(), mem_mib=96, nodes=1).validate()

    def test_nodes(self):
        for number in (0, -1, 257):
            self.refused("node addresses", nodes=number)

    def test_memory(self):
        self.refused("no memory for 200 nodes", nodes=200, mem_mib=1 << 20)
        self.refused("too little to boot", mem_mib=10)

    def test_processors(self):
        self.refused("processors", smp=0)

    def test_kernel(self):
        self.refused("unknown kernel '5.10'", kernel="5.10")
        self.refused("kernel /nonexistent is missing", kernel="/nonexistent")

    def test_qemu(self):
        self.refused("no QEMU '11': 7.2, 10 or the path", qemu="11")
        with mock.patch.object(host, "BUILD", Path("/nonexistent")):
            self.refused("QEMU /nonexistent/qemu-10/bin/qemu-system-x86_64 is missing: make qemu QEMU=10", qemu="10")

    def test_files(self):
        self.refused("initrd /nonexistent is missing", initrd="/nonexistent")
        self.refused("QEMU /nonexistent is missing", qemu="/nonexistent")
        self.refused("disk image /nonexistent is missing", disk="/nonexistent")

    def test_ssh_without_its_image(self):
        config = ClusterConfig(ssh=True, kernel="6.1")
        self.assertTrue(str(config.initrd_path()).endswith("initramfs-ssh-6.1.cpio"))
        if not config.initrd_path().exists():
            with self.assertRaisesRegex(ConfigError, "is missing: make"):
                config.validate()

    def test_every_cluster_has_an_ethernet_of_its_own(self):
        groups = {ClusterConfig(name=f"n{i}").net_group for i in range(200)}
        self.assertEqual(len(groups), 200)
        for group in groups:
            address, port = group.split(":")
            self.assertTrue(address.startswith("239.77.") and 20000 <= int(port) < 60000)

    def test_name(self):
        for name in ("a b", "../x", "x" * 50, "-x"):
            self.refused("cluster name", name=name)

    def test_name_of_a_running_cluster(self):
        config = ClusterConfig(**files(), nodes=1)
        claim = config.claim()
        try:
            self.refused(f"is running .process {os.getpid()}", name=config.name, nodes=1)
        finally:
            claim.release()
            config.dir.rmdir()

    def test_fabric_in_use_and_left_over(self):
        config = ClusterConfig(**files(), nodes=1)
        path = fabric.SHM / (fabric.PREFIX + config.fabric)
        with open(path, "wb"):
            self.refused(f"in use by process {os.getpid()}", name=config.name, nodes=1)
        try:
            self.refused("left from a crash.*clean", name=config.name, nodes=1)
            fabric.remove(config.fabric)
            self.assertFalse(path.exists())
        finally:
            path.unlink(missing_ok=True)

    def test_removal_leaves_other_fabrics(self):
        name = f"opengni-test-{os.getpid()}"
        other = fabric.SHM / (fabric.PREFIX + name + "1")
        other.touch()
        try:
            fabric.remove(name)
            self.assertTrue(other.exists())
        finally:
            other.unlink()


class Arguments(unittest.TestCase):
    def test_nodes(self):
        self.assertEqual(selection.parse_nodes("all", 3), [0, 1, 2])
        self.assertEqual(selection.parse_nodes("0,2-3", 4), [0, 2, 3])
        for text in ("4", "x", "", "1-", "3-2", "-1"):
            with self.assertRaises(ConfigError, msg=text):
                selection.parse_nodes(text, 4)

    def test_sizes_and_shapes(self):
        self.assertEqual(cli.parse_size("2G"), 2048)
        self.assertEqual(cli.parse_shape("4x2"), (4, 2))
        for text in ("", "2T", "-1", "1.5G"):
            with self.assertRaises(ConfigError, msg=text):
                cli.parse_size(text)
        for text in ("4", "0x1", "17x1", "4x7", "axb"):
            with self.assertRaises(ConfigError, msg=text):
                cli.parse_shape(text)

    def one_line(self, *arguments, status=1):
        done = subprocess.run([CLUSTER, *arguments], capture_output=True, text=True, timeout=30, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def test_command_line(self):
        self.assertRegex(self.one_line("exec", "--name", "nonexistent", "--", "true"), "^scripts/cluster: no cluster .*\n$")
        self.assertRegex(self.one_line("run", "--mem", "big", "--", "true", status=2), "^scripts/cluster: memory size .*\n$")
        self.assertRegex(self.one_line("log", "--name", "nonexistent"), "^scripts/cluster: no log in .*\n$")
        self.one_line("run", "--bogus", status=2)
        self.one_line("frobnicate", status=2)

    def test_what_cannot_be_meant_is_wrong_usage(self):
        """Whatever runs and whatever is built."""
        for words, pattern in ((("-n", "0"), "'0' is not a whole number from 1 to 256"), (("-n", "257"), "from 1 to 256"), (("--smp", "0"), "from 1 to 64"),
                               (("--mem", "1M"), "too little"), (("--shape", "4"), "not ROUTERSxCHASSIS"), (("--name", "a b"), "cluster name"),
                               (("--nic", "x"), "PROPERTY=VALUE"), (("--place", "spread"), "needs --machine"), (("--launcher", "ssh"), "about hosts"),
                               (("--kernel", "5.10"), "unknown kernel"), (("--keep",), "about a disk")):
            with self.subTest(words):
                self.assertRegex(self.one_line("up", *words, status=2), f"^scripts/cluster[^:]*: .*{pattern}.*\n$")
        for number in ("0", "-1", "1025", "100000", "x", "1_0"):
            for tool, option in ((CLUSTER, "--per-node"), (CLUSTER.with_name("aprun"), "-N")):
                with self.subTest(number, tool=tool):
                    command = [str(tool), *(("exec",) if tool is CLUSTER else ()), f"{option}{'=' if tool is CLUSTER else ''}{number}", "--", "true"]
                    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertIn(f"'{number}' is not a whole number from 1 to 1024", done.stderr)

    def test_ranks_are_limited_whoever_asks(self):
        for number in (0, 1025):
            with self.assertRaisesRegex(ConfigError, "1 to 1024 are possible"):
                Job(SimpleNamespace(nodes=[None]), ["true"], nodes=[0], per_node=number)

    def test_missing_kernel_names_the_way_out(self):
        with tempfile.TemporaryDirectory() as folder:
            qemu = Path(folder) / "bin"
            qemu.touch()
            done = subprocess.run([CLUSTER, "--kernel", "6.12", "--qemu", str(qemu), "--", "true"], capture_output=True, text=True,
                                  timeout=30, check=False, env={**os.environ, "OPENGNI_BUILD": folder})
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "kernel .* is missing: make kernel KERNEL=6.12\n$")
