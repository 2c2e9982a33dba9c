# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/cluster leaves nothing behind, however it ends; clusters in the background."""

import os
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path

from gnitest.testing import wait_until
from opengni import fabric, host

CLUSTER = str(host.TOP / "scripts" / "cluster")


def machines(name):
    """QEMU processes of a cluster."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if f"-{name},".encode() in path.read_bytes() and host.is_alive(path.parent.name):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def call(*arguments, timeout=120, **options):
    """Run scripts/cluster."""
    return subprocess.run([CLUSTER, *arguments], capture_output=True, text=True, timeout=timeout, check=False, **options)


class Teardown(unittest.TestCase):
    def setUp(self):
        self.name = f"test-{os.getpid()}-{time.monotonic_ns() % 100000}"

    def tearDown(self):
        self.assertEqual(machines(self.name), [])
        self.assertEqual(fabric.files(f"opengni-{os.getuid()}-{self.name}"), [])

    def start(self):
        """A run that waits; returns its process once the command runs."""
        process = subprocess.Popen([CLUSTER, "run", "-n", "2", "--name", self.name, "--", "sh", "-c", "echo started; sleep 100"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn("started", process.stdout.readline())
        self.assertEqual(len(machines(self.name)), 2)
        return process

    def test_end(self):
        done = call("run", "-n", "1", "--name", self.name, "--", "sh", "-c", "exit 9")
        self.assertEqual(done.returncode, 9)

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                process = self.start()
                process.send_signal(number)
                _, err = process.communicate(timeout=30)
                self.assertEqual(process.returncode, 130)
                self.assertIn("interrupted", err)
                self.assertEqual(machines(self.name), [])

    def test_killed_tool_takes_its_machines_along(self):
        process = self.start()
        process.kill()
        process.communicate(timeout=30)
        self.assertTrue(wait_until(lambda: not machines(self.name), 10))
        if fabric.files(f"opengni-{os.getuid()}-{self.name}"):
            self.assertRegex(call("run", "--name", self.name, "--", "true").stderr, "left from a crash: .*cluster clean")
            self.assertIn(self.name, call("clean").stdout)

    def test_node_that_does_not_boot(self):
        done = call("run", "-n", "1", "--name", self.name, "--append", "rdinit=/nonexistent root=/dev/nonexistent", "--", "true")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "node 0: .*node0.log")
        self.assertIn("panic", done.stderr)

    def test_node_that_hangs(self):
        done = call("run", "-n", "1", "--name", self.name, "--append", "rdinit=/bin/cat", "--boot-timeout", "8", "--", "true")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "node 0: no answer within 8 s")

    def test_property_that_does_not_exist(self):
        done = call("run", "-n", "1", "--name", self.name, "--nic", "bogus=1", "--", "true")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "(?m)^scripts/cluster: node 0: QEMU ended .*bogus")

    def test_clusters_with_names_alike(self):
        """Their machines are stopped before they boot: a NIC joins its fabric as soon as there is power."""
        names = [self.name, *(self.name + rest for rest in ("-2", ".2", ".wake0"))]
        segments = {name: fabric.SHM / (fabric.PREFIX + fabric.name_of(name)) for name in names}
        running = set()

        def all_there():
            return {name for name, path in segments.items() if path.is_file()} == running

        for name in names:
            done = call("up", "-q", "-n", "1", "--no-agent", "--qemu-arg", "-S", "--mem", "96M", "--name", name)
            running.add(name)
            self.addCleanup(call, "down", "--name", name)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(wait_until(all_there, 30))
        for name in names:
            call("clean")
            self.assertTrue(all_there())
            self.assertEqual(call("down", "--name", name).returncode, 0)
            running.remove(name)
            self.assertTrue(all_there(), name)

    def test_background(self):
        self.assertEqual(call("up", "-n", "2", "--name", self.name).returncode, 0)
        try:
            self.assertIn(self.name, call("list").stdout.split())
            again = call("up", "--name", self.name)
            self.assertRegex(again.stderr, "is running")
            done = call("exec", "--name", self.name, "--", "sh", "-c", "uname -n; exit $OPENGNI_RANK")
            self.assertEqual(done.returncode, 1)
            self.assertEqual(sorted(done.stdout.splitlines()), ["node 0: node0", "node 1: node1"])
            done = call("exec", "--name", self.name, "--node", "1", "--", "cat", input="through\n")
            self.assertEqual(done.stdout, "through\n")
            call("kill", "1", "--name", self.name)
            self.assertRegex(call("status", "--name", self.name).stdout, "node 1: down")
            self.assertRegex(call("exec", "--name", self.name, "--", "true").stderr, "node 1 is not running")
            self.assertEqual(call("start", "1", "--name", self.name).returncode, 0)
            self.assertEqual(call("exec", "--name", self.name, "--", "true").returncode, 0)
            commands = call("status", "--name", self.name, "--print-commands").stdout
            self.assertEqual(len(re.findall("aries-nic,.*node=[01]", commands)), 2)
        finally:
            self.assertEqual(call("down", "--name", self.name).returncode, 0)

    def test_shell(self):
        self.assertEqual(call("up", "-q", "-n", "1", "--name", self.name).returncode, 0)
        try:
            done = call("shell", "0", "--name", self.name, input="tty; uname -n\nexit 4\n")
            self.assertEqual((done.returncode, done.stdout), (4, "not a tty\nnode0\n"))
        finally:
            call("down", "--name", self.name)
