# SPDX-License-Identifier: GPL-2.0-or-later
"""The hosts file of a cluster, and the connection between its head and a host, without machines."""

import asyncio
import os
import tempfile
import unittest
from typing import Any
from unittest import mock

from opengni import gateway, hostfile, link
from opengni.config import ClusterConfig
from opengni.errors import ClusterError, ConfigError, NodeError
from opengni.machine import Machine
from opengni.remote import RemoteHost

from commands import run


class File(unittest.TestCase):
    GOOD = "# two\nalpha 10.0.0.1 0-2\nbeta [fd00::1]:99 3  # the other\n"

    def test_hosts(self):
        alpha, beta = hostfile.parse(self.GOOD, "f")
        self.assertEqual((alpha.where, list(alpha.nodes)), ("10.0.0.1:7741", [0, 1, 2]))
        self.assertEqual((beta.where, list(beta.nodes)), ("[fd00::1]:99", [3]))
        self.assertEqual(hostfile.count([alpha, beta]), 4)
        self.assertEqual(hostfile.parse(alpha.line + beta.line, "f"), [alpha, beta])

    def test_what_is_wrong_is_told_with_its_line(self):
        for text, complaint in (
                ("", "f names 0 hosts"), ("alpha 10.0.0.1\n", "f:1: a host has a name.*not 2 words"), ("-x 10.0.0.1 0\n", "f:1: '-x' is no name"),
                ("a b 0\n", "f:1: 'b' is no address"), ("a 10.0.0.1:0 0\n", "has port 0"), ("a 10.0.0.1:70000 0\n", "has port 70000"),
                ("a 0.0.0.0 0\n", "is every address"), ("a 10.0.0.1 x\n", "'x' are no nodes"), ("a 10.0.0.1 3-2\n", "ends before it begins"),
                ("\na 10.0.0.1 0\na 10.0.0.2 1\n", "f:3: host a is there twice"), ("a 10.0.0.1 0\nb 10.0.0.1 1\n", "is the address of a, too"),
                ("a 10.0.0.1 0-3\nb 10.0.0.2 3-5\n", "some of them are those of a"), ("a 10.0.0.1 1\n", "node 0 is on no host"),
                ("a 10.0.0.1 0\nb 10.0.0.2 2\n", "node 1 is on no host")):
            with self.subTest(text), self.assertRaisesRegex(ConfigError, complaint):
                hostfile.parse(text, "f")

    def test_a_gateway_reads_the_same(self):
        """What this tool writes for gateways, and that they refuse what it refuses."""
        if not gateway.PROGRAM.exists():
            self.skipTest("aries-gateway is not built")
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/hosts"
            for text, complaint in (("".join(host.line for host in hostfile.parse(self.GOOD, "f")), "nobody"), ("a b 0\n", "hosts:1:"),
                                    ("a 10.0.0.1 3-2\n", "hosts:1:"), ("a 10.0.0.1 0\na 10.0.0.2 1\n", "hosts:2:")):
                with open(path, "w", encoding="ascii") as file:
                    file.write(text)
                status, said = run(str(gateway.PROGRAM), "run", "--hosts", path, "--self", "nobody", "--key", f"{folder}/none")
                self.assertNotEqual(status, 0)
                self.assertIn(complaint, said)

    def test_options_that_do_not_fit(self):
        hosts = hostfile.parse(self.GOOD, "f")
        wrong: list[tuple[dict[str, Any], str]] = [
            ({"net": True}, "--net is a network of this machine"), ({"with_nic": False}, "--no-nic"), ({"nic": {"nodes": 9}}, "--nic nodes would differ")]
        for options, complaint in wrong:
            with self.subTest(options), mock.patch("opengni.fabric.check_free"), self.assertRaisesRegex(ConfigError, complaint):
                ClusterConfig(nodes=4, hosts=hosts, **options).validate()

    def test_a_machine_without_a_place_for_gateways(self):
        with mock.patch.object(ClusterConfig, "layout", Machine(4)), self.assertRaisesRegex(ConfigError, "4 nodes fill the machine"):
            ClusterConfig(nodes=4, hosts=hostfile.parse(self.GOOD, "f")).validate()

    def test_a_host_is_told_what_it_has_to_know(self):
        config = ClusterConfig(nodes=4, name="x", hosts=hostfile.parse(self.GOOD, "f"), nic={"latency": 3})
        there = ClusterConfig(**config.for_host(1))
        self.assertEqual((there.here, there.host_name, there.addresses, there.nic), ([3], "beta", 5, {"latency": 3}))
        self.assertNotEqual(there.fabric, ClusterConfig(**config.for_host(0)).fabric)
        self.assertEqual(there.gateway_place, 4)


class Peer:
    """An end that keeps what it is told."""

    def __init__(self):
        self.heard, self.logs = [], []
        self.server = None

    async def serve(self, request):
        if request["op"] == "fail":
            raise ClusterError("it is so")
        if request["op"] == "crash":
            raise KeyError("x")
        if request["op"] == "wait":
            await asyncio.sleep(60)
        return request

    def told(self, message):
        self.heard.append(message)

    def log(self, name, offset, data):
        self.logs.append((name, offset, data))

    async def connect(self, what):
        if what != "echo":
            raise OSError(f"no {what}")
        here, there = os.pipe()
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(here, "rb"))
        transport, protocol = await asyncio.get_running_loop().connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(there, "wb"))
        return reader, asyncio.StreamWriter(transport, protocol, None, asyncio.get_running_loop())


class Link(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.ends = []
        server = await asyncio.start_server(lambda *streams: self.ends.append(streams), "127.0.0.1", 0)
        streams = await asyncio.open_connection(*server.sockets[0].getsockname())
        while not self.ends:
            await asyncio.sleep(0.01)
        server.close()
        self.peers = Peer(), Peer()
        self.head, self.host = (link.Link(reader, writer, peer, 60.0) for (reader, writer), peer in zip((streams, self.ends[0]), self.peers))
        self.tasks = [asyncio.create_task(end.run()) for end in (self.head, self.host)]

    async def asyncTearDown(self):
        for end in (self.head, self.host):
            end.close()
        await asyncio.gather(*self.tasks)

    async def test_requests(self):
        self.assertEqual(await self.head.ask("x", y=3), {"op": "x", "y": 3})
        with self.assertRaisesRegex(ClusterError, "it is so"):
            await self.head.ask("fail")
        with self.assertRaisesRegex(ClusterError, "KeyError"):
            await self.head.ask("crash")

    async def test_messages_and_logs_come_in_order(self):
        for number in range(100):
            self.host.tell(node=number)
        self.host.send_log("a.log", 1 << 40, b"\0x\0")
        await self.head.ask("x")
        self.assertEqual((self.peers[0].heard, self.peers[0].logs), ([{"node": number} for number in range(100)], [("a.log", 1 << 40, b"\0x\0")]))

    async def test_streams(self):
        with self.assertRaisesRegex(ConnectionRefusedError, "no socket"):
            await self.head.open("socket")
        reader, writer = await self.head.open("echo")
        data = os.urandom(3 << 20)
        writer.write(data)
        self.assertEqual(await reader.readexactly(len(data)), data)
        writer.close()
        self.assertEqual(await reader.read(), b"")

    async def test_the_end_ends_all(self):
        reader, _ = await self.head.open("echo")
        asked = asyncio.create_task(self.head.ask("wait"))
        await self.head.ask("x")
        self.host.close()
        with self.assertRaisesRegex(ClusterError, "the connection has ended"):
            await asked
        self.assertEqual(await reader.read(), b"")
        with self.assertRaisesRegex(NodeError, "the connection has ended"):
            await self.head.ask("x")
        with self.assertRaises(ConnectionRefusedError):
            await self.head.open("echo")

    async def test_nonsense_ends_it(self):
        # Whole frames: of what has no end the rest would be waited for, until the next beat.
        for wrong in (b"\xff" * 64, link.HEADER.pack(1, link.Kind.REQUEST, 1) + b"{" + link.END, link.HEADER.pack(0, 99, 0) + link.END,
                      link.HEADER.pack(0, link.Kind.BEAT, 0) + b"x" * len(link.END)):
            with self.subTest(wrong):
                await self.asyncTearDown()
                await self.asyncSetUp()
                self.ends[0][1].write(wrong)
                await asyncio.wait_for(self.head.over.wait(), 30)
                self.assertIn("nonsense", self.head.reason)

    async def test_silence_ends_it(self):
        self.tasks[1].cancel()
        with mock.patch.object(link, "BEAT", 0.05):
            reader, writer = await self._silent()
            quiet = link.Link(reader, writer, Peer(), 0.2)
            self.assertIn("no sign of life", await asyncio.wait_for(quiet.run(), 30))
        self.tasks.pop()

    async def _silent(self):
        here, _ = os.pipe()
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(here, "rb"))
        return reader, mock.Mock()


class Launch(unittest.IsolatedAsyncioTestCase):
    """A launcher that does not do what it should: each in one line that names the host and the cause."""

    async def launch(self, *launcher):
        config = ClusterConfig(nodes=1, name=f"hosts-test-{os.getpid()}", hosts=hostfile.parse("far.away 10.0.0.1 0\n", "f"), launcher=launcher)
        config.make_dir()
        keeper = RemoteHost(config, 0)
        try:
            await keeper.launch_member()
            return keeper
        finally:
            await keeper.end()
            for path in config.dir.iterdir():
                path.unlink()
            config.dir.rmdir()

    async def test_launchers(self):
        for script, complaint in (("exit 1", "far.away: it ended before it said anything"), ("echo no such host >&2; exit 9", "anything: no such host"),
                                  ("echo Password:", "it says 'Password:' instead"), ("echo opengni-member 77 9.9; cat", "speaks version 77"),
                                  ("yes", "more than 65536 bytes")):
            with self.assertRaisesRegex(NodeError, complaint):
                await self.launch("/bin/sh", "-c", script)
        with self.assertRaisesRegex(ConfigError, "launcher /nonexistent is not there"):
            await self.launch("/nonexistent")

    async def test_logs_stay_in_their_folder(self):
        keeper = RemoteHost(ClusterConfig(nodes=1, hosts=hostfile.parse("far.away 10.0.0.1 0\n", "f")), 0)
        for name in ("../x.log", "/tmp/x.log", ".hidden.log", "pid", "a/b.log", ""):
            with self.subTest(name), self.assertRaisesRegex(ValueError, "a log named"):
                keeper.log(name, 0, b"")

    async def test_noise_of_a_login_is_skipped(self):
        keeper = await self.launch("/bin/sh", "-c", 'echo Welcome; exec "$@"')
        self.assertIsNotNone(keeper.link)
