# SPDX-License-Identifier: GPL-2.0-or-later
"""Nothing that is done to one cluster touches another, whatever their names, and a name has one holder; machines that never boot stand for QEMU."""

import asyncio
import contextlib
import fcntl
import itertools
import os
import re
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from gnitest.testing import wait_until
from opengni import cli, client, cluster, fabric, host, locks
from opengni.config import ClusterConfig
from opengni.errors import ConfigError

TOOL = host.TOP / "scripts" / "cluster"
TIME = 60.0
# Each is the beginning of another, or looks like a file beside the segment of another, or like its part on a host.
NAMES = ("a", "a-2", "a.2", "a.h0", "a.h0.h0", "a.wake0", "a.tables.1", "a.news", "a_d2", "a_", "A", "0-a")
# What a fabric has beside its segment.
BESIDE = ("", ".wake0", ".ram255", ".tables.1", ".tables.new", ".news", ".news.new")


class Files(unittest.TestCase):
    """Files stand for segments; a lock on them for members that run."""

    def setUp(self):
        self.shm = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="opengni-shm-")))
        self.enterContext(mock.patch.object(fabric, "SHM", self.shm))
        self.enterContext(mock.patch("sys.stdout"))

    def make(self, cluster):
        """Paths of a fabric's files, made."""
        paths = {self.shm / f"{fabric.PREFIX}{ClusterConfig(name=cluster).fabric}{suffix}" for suffix in BESIDE}
        for path in paths:
            path.touch()
        return paths

    def there(self):
        return set(self.shm.iterdir())

    def test_names_are_told_apart(self):
        every = [path for name in NAMES for path in self.make(name)]
        self.assertEqual(len(set(every)), len(NAMES) * len(BESIDE))
        for name in NAMES:
            self.assertEqual(len(fabric.files(ClusterConfig(name=name).fabric)), len(BESIDE), name)

    def test_the_end_of_one_leaves_the_other(self):
        for name, other in itertools.permutations(NAMES, 2):
            with self.subTest(name, other=other):
                kept = self.make(other)
                fabric.check_free(ClusterConfig(name=name).fabric)
                self.make(name)
                self.assertTrue(fabric.remove(ClusterConfig(name=name).fabric))
                self.assertEqual(self.there(), kept)
                self.assertTrue(fabric.remove(ClusterConfig(name=other).fabric))

    def test_parts_on_hosts(self):
        """Of two clusters that share a host."""
        for name, other in itertools.permutations(NAMES, 2):
            with self.subTest(name, other=other):
                parts, others = ({fabric.name_of(ClusterConfig(name=each).part(index)) for index in range(2)} for each in (name, other))
                alike = {f"{each}.h{index}" for each in (name, other) for index in range(2)} & {name, other}
                self.assertFalse(parts & others)
                self.assertEqual(bool((parts | others) & {fabric.name_of(name), fabric.name_of(other)}), bool(alike))

    def test_clean_leaves_what_is_used(self):
        for name, other in itertools.permutations(NAMES, 2):
            with self.subTest(name, other=other):
                used, _ = self.make(other), self.make(name)
                # as the process of a member that is not to be seen from here
                with open(self.shm / (fabric.PREFIX + ClusterConfig(name=other).fabric), "r+b") as member, \
                        mock.patch.object(fabric, "users", return_value=[]):
                    self.assertTrue(locks.take(member.fileno()))
                    self.assertEqual(cli.main(["clean"]), 0)
                    self.assertEqual(self.there(), used)
                self.assertEqual(cli.main(["clean"]), 0)
                self.assertEqual(self.there(), set())

    def test_who_joins_is_not_disturbed(self):
        path = self.shm / (fabric.PREFIX + ClusterConfig(name="a").fabric)
        with open(path, "w+b") as joining, mock.patch.object(fabric, "users", return_value=[]):
            fcntl.flock(joining, fcntl.LOCK_EX)
            self.assertEqual(cli.main(["clean"]), 0)
            self.assertTrue(path.exists())

    def test_clean_leaves_what_others_own(self):
        """Root's, for one who may not remove it; and what no cluster has made."""
        kept = self.make("a") | {self.shm / "aries-gateway.alpha", self.shm / "aries-mine", self.shm / "opengni-1-a"}
        for path in kept:
            path.touch()
        with mock.patch("os.getuid", return_value=os.getuid() + 1):
            self.assertEqual(cli.main(["clean"]), 0)
            self.assertEqual(self.there(), kept)


class Claims(unittest.TestCase):
    """A name is held by who lives."""

    def setUp(self):
        self.enterContext(mock.patch.object(host, "RUN", Path(self.enterContext(tempfile.TemporaryDirectory(prefix="opengni-run-")))))

    def test_each_name_has_a_holder_of_its_own(self):
        held = {}
        for name in NAMES:
            held[name] = ClusterConfig(name=name).claim()
            self.assertEqual(client.names(), sorted(held))
            with self.assertRaisesRegex(ConfigError, f"cluster {re.escape(name)} is running .process {os.getpid()}"):
                ClusterConfig(name=name).claim()
            self.assertTrue((host.RUN / name / "pid").exists())
        for name in NAMES:
            held.pop(name).release()
            self.assertEqual(client.names(), sorted(held))

    def test_a_number_that_another_process_has_got(self):
        config = ClusterConfig(name="a")
        config.make_dir()
        (config.dir / "pid").write_text(f"{os.getpid()}\n", encoding="ascii")
        self.assertIsNone(config.owner())
        self.assertEqual(client.names(), [])
        config.claim().release()
        self.assertEqual(list(config.dir.iterdir()), [])

    def test_who_comes_second_removes_nothing(self):
        config = ClusterConfig(name="a")
        claim = config.claim()
        (config.dir / "node0.log").touch()
        with self.assertRaises(ConfigError):
            ClusterConfig(name="a").claim()
        self.assertEqual({path.name for path in config.dir.iterdir()}, {"node0.log", "pid"})
        claim.release()


class Progress(unittest.IsolatedAsyncioTestCase):
    """What is said while nodes boot."""

    async def test_a_long_boot_tells_how_far_it_is(self):
        said, gate, over = [], asyncio.Semaphore(4), asyncio.Event()
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "log").write_text("first\r\nlast \x1b[1mword\r\n", encoding="ascii")

            def fake(number, wait):
                node = SimpleNamespace(number=number, state="booting", boot_seconds=1.0, release="6.1", keeper=SimpleNamespace(gate=gate),
                                       paths=SimpleNamespace(console=Path(folder) / "log"))

                async def start():
                    if wait:
                        await over.wait()
                    node.state = "up"
                node.start = start
                return node

            booting = cluster.Cluster(ClusterConfig(name="test-progress"), said.append)
            booting._prepared, booting.nodes = True, [fake(0, False), fake(1, True)]  # pylint: disable=protected-access
            with mock.patch.object(cluster, "TELL", 0.1):
                up = asyncio.create_task(booting.up())
                await asyncio.sleep(0.35)
                over.set()
                await up
                self.assertEqual(asyncio.all_tasks(), {asyncio.current_task()}, "what tells it ends with the boot")
        told = [line for line in said if "node 1 boots" in line]
        self.assertGreaterEqual(len(told), 1)
        self.assertRegex(told[0], r"^1 of 2 nodes up after \d+ s; node 1 boots: last  \[1mword$")
        self.assertEqual(said[-1], "node 1 up after 1.0 s, Linux 6.1")


class Boots(unittest.TestCase):
    """`up` of machines that never answer."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="opengni-up-")))
        self.machine = self.folder / "machine"
        self.seconds = f"1000.{os.getpid()}"  # by which machines of this process are known
        self.machine.write_text(f"#!/bin/sh\nexec sleep {self.seconds}\n", encoding="ascii")
        self.machine.chmod(0o755)
        self.environment = {**os.environ, "OPENGNI_BUILD": str(self.folder)}

    def command(self, operation, name, *words):
        up = ("-n", "1", "--qemu", self.machine, "--kernel", "/bin/true", "--initrd", "/bin/true", "--boot-timeout", "1000")
        return [TOOL, operation, "--name", name, *(up if operation == "up" else ()), *words]

    def begin(self, name):
        """`up`, once its machine runs."""
        process = subprocess.Popen(self.command("up", name), env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        log = self.folder / "run" / name / "node0.qemu.log"
        self.assertTrue(wait_until(lambda: process.poll() is not None or log.exists() and log.stat().st_size, TIME))
        return process

    def tool(self, operation, *words, name=None):
        command = [TOOL, operation, *words] if name is None else self.command(operation, name, *words)
        result = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=TIME, check=False, stdin=subprocess.DEVNULL)
        return result.returncode, result.stdout + result.stderr

    def left(self):
        """Machines that run."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):  # one that ends meanwhile
                if f"sleep\0{self.seconds}\0".encode() == path.read_bytes() and host.is_alive(path.parent.name):
                    found.append(path)
        return found

    def assert_ended(self):
        self.assertEqual(self.tool("list"), (0, ""))
        self.assertEqual(self.left(), [])

    def test_an_interruption_ends_the_boot(self):
        process = self.begin("a")
        other = self.begin("a-2")
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=TIME)
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("interrupted: cluster a has ended", said)
        self.assertEqual(self.tool("list"), (0, "a-2\n"))
        self.assertEqual(len(self.left()), 1)
        other.send_signal(signal.SIGINT)
        other.communicate(timeout=TIME)
        self.assert_ended()

    def test_the_boot_ends_with_who_waits_for_it(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number):
                process = self.begin("a")
                process.send_signal(number)
                process.communicate(timeout=TIME)
                self.assertTrue(wait_until(lambda: self.tool("list") == (0, ""), TIME))
                self.assert_ended()

    def test_down_ends_the_boot(self):
        process = self.begin("a.h0")
        status, said = self.tool("status", name="a.h0")
        self.assertEqual(status, 0, said)
        self.assertIn("booting", said)
        self.assertRegex(self.tool("exec", "--", "true", name="a.h0")[1], "cluster a.h0 boots: wait until it is up")
        self.assertEqual(self.tool("down", name="a.h0"), (0, ""))
        said, _ = process.communicate(timeout=TIME)
        self.assertEqual(process.returncode, 1)
        self.assertIn("cluster a.h0 was ended by 'down' while it booted", said)
        self.assert_ended()

    def test_two_at_once(self):
        for _ in range(3):
            both = [subprocess.Popen(self.command("up", "a"), env=self.environment, stderr=subprocess.PIPE, text=True) for _ in range(2)]
            self.assertTrue(wait_until(lambda: any(process.poll() is not None for process in both), TIME))
            loser, winner = sorted(both, key=lambda process: process.poll() is None)
            self.assertEqual(loser.returncode, 1)
            self.assertRegex(loser.communicate()[1], "cluster a is running")
            self.assertIsNone(winner.poll())
            self.assertEqual(self.tool("list"), (0, "a\n"))
            self.assertTrue(wait_until(lambda: (self.folder / "run/a/ctl.sock").exists(), TIME))
            self.assertEqual(self.tool("down", name="a"), (0, ""))
            winner.communicate(timeout=TIME)
            self.assert_ended()
