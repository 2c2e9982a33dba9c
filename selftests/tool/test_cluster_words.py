# SPDX-License-Identifier: GPL-2.0-or-later
"""What the cluster tool's operations on nodes make of their words, without machines."""

import asyncio
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from opengni import cli, debugger, host, properties, qemu, ssh, tracing
from opengni.config import ClusterConfig
from opengni.errors import ClusterError, ConfigError
from opengni.keeper import Here
from opengni.node import Node

CLUSTER = host.TOP / "scripts" / "cluster"
ROWS = {row["name"]: row for row in (
    {"name": "link", "type": "uint64", "description": "fault: 0 cuts the NIC off the fabric, 1 connects it, 0 to 1"},
    {"name": "drop", "type": "uint64", "description": "fault: packets to lose from now on, 0 to 4294967295"},
    {"name": "cut-link", "type": "uint64", "description": "fault: takes down a link, 0 to 1480704"},
    {"name": "noisy-link", "type": "uint64", "description": "fault: bit errors on a link, 0 to 9"},
    {"name": "link-lanes", "type": "uint64", "description": "fault: lanes of a link that work, 0 to 9"},
    {"name": "ecc-single", "type": "uint64", "description": "fault: a wrong bit: entry + 2^32 * memory, ntt, mdd, orb, 0 to 9"},
    {"name": "ecc-double", "type": "uint64", "description": "fault: two wrong bits in an entry of a memory, as ecc-single, 0 to 9"},
    {"name": "time-rate", "type": "number", "description": "rate"},
    {"name": "hold-completions", "type": "bool", "description": "hold"},
    {"name": "trace-file", "type": "string", "description": "file"})}


class Values(unittest.TestCase):
    def test_words(self):
        for name, text, number in (("link", "down", 0), ("link", "1", 1), ("drop", "0x10", 16), ("cut-link", "3:15", 207), ("cut-link", "207", 207),
                                   ("noisy-link", "0:15:6", (6 << 32) + 15), ("noisy-link", "1:0:none", 64), ("link-lanes", "0:1:2", (2 << 32) + 1),
                                   ("ecc-single", "mdd:9", (1 << 32) + 9), ("ecc-double", "ORB:0", 2 << 32), ("time-rate", "2.5", 2.5),
                                   ("hold-completions", "on", True), ("hold-completions", "0", False), ("trace-file", "/tmp/x:y", "/tmp/x:y")):
            with self.subTest(name, text=text):
                self.assertEqual(properties.value(ROWS, name, text), number)

    def test_what_is_none(self):
        for name, text, pattern in (("link", "left", "is not up, down, a number"), ("cut-link", "3:64", "ROUTER:TILE"), ("cut-link", "3:1:2", "ROUTER"),
                                    ("noisy-link", "3:1", "EXPONENT"), ("link-lanes", "0:1:none", "LANES"), ("ecc-single", "xyz:1", "one of ntt, mdd, orb"),
                                    ("ecc-double", "mdd:x", "MEMORY:ENTRY"), ("time-rate", "fast", "not a number"), ("hold-completions", "2", "one of on"),
                                    ("nodes", "3", "no property 'nodes'")):
            with self.subTest(name, text=text), self.assertRaisesRegex(ConfigError, pattern) as caught:
                properties.value(ROWS, name, text)
            self.assertNotIn("\n", str(caught.exception))


class CommandLine(unittest.TestCase):
    def tool(self, *words, **environment):
        result = subprocess.run([CLUSTER, *words], capture_output=True, text=True, check=False, timeout=60, stdin=subprocess.DEVNULL,
                                env={**os.environ, **environment})
        return result.returncode, result.stdout, result.stderr

    def test_arguments_for_qemu_that_begin_with_a_dash(self):
        words = ["up", "--qemu-arg", "-s", "--qemu-arg", "-gdb", "--qemu-arg", "tcp::1", "--append", "-x", "--qemu-arg=-S"]
        args = cli.parser().parse_args(cli.joined(words))
        self.assertEqual((args.qemu_arg, args.append), (["-s", "-gdb", "tcp::1", "-S"], "-x"))
        after = ["exec", "--", "--qemu-arg", "-s"]
        self.assertEqual(cli.joined(after), after)

    def test_a_forgotten_command_is_noticed_before_anything_starts(self):
        status, text, complaint = self.tool("run", "-n", "2", "--kernel", "/nonexistent")
        self.assertEqual((status, text), (2, ""))
        self.assertIn("no command", complaint)
        self.assertEqual(self.tool("exec")[0], 2)

    def test_the_accelerator_is_told_with_its_reason(self):
        with mock.patch.dict(os.environ, {"OPENGNI_ACCEL": "tcg"}):
            self.assertEqual(host.accelerator(), ("tcg", "OPENGNI_ACCEL says so"))
        with mock.patch.dict(os.environ, {"OPENGNI_ACCEL": "hvf"}), self.assertRaisesRegex(ClusterError, "not kvm or tcg"):
            host.accelerator()
        status, _, complaint = self.tool("up", OPENGNI_ACCEL="xen")
        self.assertEqual((status, complaint), (1, "scripts/cluster: OPENGNI_ACCEL is 'xen', not kvm or tcg\n"))
        environment = {name: text for name, text in os.environ.items() if name != "OPENGNI_ACCEL"}
        with mock.patch.dict(os.environ, environment, clear=True), mock.patch("opengni.host.os.open", side_effect=PermissionError(13, "Permission denied")), \
                mock.patch.object(Path, "read_text", return_value="flags\t\t: fpu vmx\n"):
            self.assertEqual(host.accelerator(), ("tcg", "/dev/kvm: Permission denied"))

    def test_operations_on_a_cluster_that_is_not_there(self):
        for words in (("cp", "x", "0:/tmp"), ("console",), ("trace", "all", "stop"), ("qmp", "0", "stop"), ("fault", "0", "link"), ("fault", "--list"),
                      ("ssh", "0"), ("gdb", "0")):
            with self.subTest(words):
                status, text, complaint = self.tool(words[0], "--name", "not-there", *words[1:])
                self.assertEqual((status, text), (1, ""))
                self.assertIn("no cluster 'not-there'", complaint)
                self.assertEqual(len(complaint.splitlines()), 1)

    def test_network_to_the_outside(self):
        config = ClusterConfig(nodes=1, user_net=True, kernel="/bin/true", qemu="/bin/true")
        line = Node(config, 0, None, Here()).command()
        self.assertIn("user,id=user0", line)
        self.assertIn("opengni.user-net", qemu.kernel_arguments(config, 0))
        config.user_net = False
        self.assertNotIn("user,id=user0", Node(config, 0, None, Here()).command())


class Places(unittest.TestCase):
    def test_files_of_traces(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(tracing.paths([1], f"{folder}/x"), {1: f"{folder}/x"})
            self.assertEqual(tracing.paths([1], folder), {1: f"{folder}/node1.pcapng"})
            self.assertEqual(tracing.paths([0, 2], f"{folder}/new"), {0: f"{folder}/new/node0.pcapng", 2: f"{folder}/new/node2.pcapng"})
            Path(folder, "file").touch()
            with self.assertRaisesRegex(ConfigError, "several nodes need a folder"):
                tracing.paths([0, 1], f"{folder}/file")

    def test_one_trace_that_cannot_be_begun_ends_those_before_it(self):
        calls = []

        async def qmp(_name, node, _command, arguments):
            calls.append((node, arguments["value"]))
            if node == 1:
                raise ConfigError("no")

        with mock.patch.object(tracing, "qmp", qmp), tempfile.TemporaryDirectory() as folder, self.assertRaises(ConfigError):
            asyncio.run(tracing.start("x", [0, 1], folder))
        self.assertEqual(calls[-1], (0, ""))
        self.assertEqual([node for node, value in calls if value == ""], [0])

    def test_what_gdb_is_told(self):
        said = ("release 6.1\ntext ffffffff81000000\nmodule aries .text 0xffffffffc0000000\nmodule aries .data 0xffffffffc0100000\n"
                "module aries .init.text 0xffffffffc0200000\nmodule virtio .text 0xffffffffc0300000\n")
        release, base, modules = debugger.parse(said)
        self.assertEqual((release, base), ("6.1", 0xffffffff81000000))
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "aries.ko").touch()
            files = debugger.objects(release, modules, [folder])
            self.assertEqual(files, {"aries": Path(folder, "aries.ko")})
            text = debugger.script(None, base, modules, files, "/run/x.gdb")
        self.assertIn(f"add-symbol-file {folder}/aries.ko 0xffffffffc0000000 -s .data 0xffffffffc0100000\ntarget remote /run/x.gdb\n", text)
        with self.assertRaisesRegex(ConfigError, "vmlinux /nowhere cannot be read"):
            debugger.vmlinux(release, "/nowhere")

    def test_a_vmlinux_is_moved_to_where_the_kernel_lies(self):
        text = debugger.script("/usr/lib/debug/boot/vmlinux-6.1", 0xffffffff91000000, {}, {}, "/run/x.gdb")
        self.assertIn("offset = 0xffffffff91000000 - ", text)

    def test_without_ssh(self):
        with mock.patch("shutil.which", return_value=None), self.assertRaisesRegex(ConfigError, "install package openssh-client"):
            ssh.need_ssh()
