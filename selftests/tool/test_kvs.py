# SPDX-License-Identifier: GPL-2.0-or-later
"""The key-value service, without machines."""

import asyncio
import unittest

from opengni.kvs import Kvs, KvsConnection


class Caller:
    """A program's connection."""

    def __init__(self, kvs):
        self.answers = asyncio.Queue()
        self.connection = KvsConnection(kvs, self.answers.put_nowait)

    async def ask(self, line):
        self.connection.request(line)
        return await asyncio.wait_for(self.answers.get(), 5)


class KvsCase(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.kvs = Kvs()
        self.one, self.two = Caller(self.kvs), Caller(self.kvs)

    async def test_put_and_get(self):
        self.assertEqual(await self.one.ask("put key some words"), "ok")
        self.assertEqual(await self.two.ask("get key"), "ok some words")

    async def test_get_waits(self):
        waiting = asyncio.create_task(self.two.ask("get later 3000"))
        await asyncio.sleep(0.01)
        await self.one.ask("put later now")
        self.assertEqual(await waiting, "ok now")

    async def test_get_times_out(self):
        self.assertRegex(await self.one.ask("get never 10"), "^err timeout: nobody put never")

    async def test_spaces_are_apart(self):
        await self.one.ask("space a")
        await self.one.ask("put key 1")
        self.assertRegex(await self.two.ask("get key 10"), "^err timeout")
        await self.two.ask("space a")
        self.assertEqual(await self.two.ask("get key 10"), "ok 1")

    async def test_add(self):
        self.assertEqual(await self.one.ask("add n 5"), "ok 5")
        self.assertEqual(await self.two.ask("add n -2"), "ok 3")

    async def test_barrier(self):
        for _ in range(2):  # a name can be used again
            answers = await asyncio.gather(self.one.ask("barrier b 2"), self.two.ask("barrier b 2"))
            self.assertEqual(answers, ["ok", "ok"])

    async def test_barrier_times_out_and_can_be_tried_again(self):
        self.assertRegex(await self.one.ask("barrier b 2 10"), "^err timeout: 1 of 2 missing")
        answers = await asyncio.gather(self.one.ask("barrier b 2"), self.two.ask("barrier b 2"))
        self.assertEqual(answers, ["ok", "ok"])

    async def test_caller_that_leaves_a_barrier_is_taken_back(self):
        self.one.connection.request("barrier b 2")
        await asyncio.sleep(0.01)
        self.one.connection.close()
        await asyncio.sleep(0.01)
        self.assertRegex(await self.two.ask("barrier b 2 10"), "^err timeout")

    async def test_counts_that_differ(self):
        waiting = asyncio.create_task(self.one.ask("barrier b 2 200"))
        await asyncio.sleep(0.01)
        self.assertRegex(await self.two.ask("barrier b 3"), "^err barrier b was entered with 2, not 3")
        await waiting

    async def test_nonsense(self):
        for line in ("", "get", "put", "put key", "put bad!key 1", "get " + "x" * 200, "add n x", "barrier b", "barrier b 0",
                     "barrier b -1", "frobnicate", "space", "get key many", "add n 99999999999999999999"):
            self.assertRegex(await self.one.ask(line), "^err ", line)
