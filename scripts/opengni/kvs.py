# SPDX-License-Identifier: GPL-2.0-or-later
"""Key-value store and barriers for the programs on the nodes.

A program connects to the unix socket in OPENGNI_KVS and sends lines:

    space NAME                       keys and barriers are then those of NAME
    put KEY VALUE                    ok
    get KEY [TIMEOUT_MS]             ok VALUE       waits until there is one
    add KEY N                        ok SUM
    barrier NAME COUNT [TIMEOUT_MS]  ok             when COUNT callers are in
    del KEY                          ok

Every answer is one line, "ok ..." or "err REASON".
"""

import asyncio
import re

TIMEOUT_MS = 60000
WORD = re.compile(r"[A-Za-z0-9._:/-]{1,128}")


class KvsError(Exception):
    """Becomes an "err" answer."""


class Barrier:
    """One round of a barrier: callers so far and what they wait for."""

    def __init__(self, count):
        self.count = count
        self.waiting = 0
        self.done = asyncio.get_running_loop().create_future()


class Space:
    """Keys and barriers that belong together."""

    def __init__(self):
        self.values = {}
        self.waiters = {}
        self.barriers = {}

    def put(self, key, value):
        """Set a key and wake who waits for it."""
        self.values[key] = value
        for future in self.waiters.pop(key, ()):
            if not future.done():
                future.set_result(value)

    async def get(self, key, timeout):
        """The value, waiting for it."""
        if key in self.values:
            return self.values[key]
        future = asyncio.get_running_loop().create_future()
        self.waiters.setdefault(key, []).append(future)
        try:
            return await asyncio.wait_for(future, timeout)
        except asyncio.TimeoutError:
            raise KvsError(f"timeout: nobody put {key} within {timeout:g} s") from None

    async def barrier(self, name, count, timeout):
        """Return when count callers are in."""
        barrier = self.barriers.setdefault(name, Barrier(count))
        if barrier.count != count:
            raise KvsError(f"barrier {name} was entered with {barrier.count}, not {count}")
        barrier.waiting += 1
        if barrier.waiting == count:
            del self.barriers[name]
            barrier.done.set_result(None)
            return
        try:
            await asyncio.wait_for(asyncio.shield(barrier.done), timeout)
        except (asyncio.TimeoutError, asyncio.CancelledError) as cause:
            missing = count - barrier.waiting
            barrier.waiting -= 1
            if not barrier.waiting and self.barriers.get(name) is barrier:
                del self.barriers[name]
            if isinstance(cause, asyncio.CancelledError):
                raise
            raise KvsError(f"timeout: {missing} of {count} missing at barrier {name} after {timeout:g} s") from None


class Kvs:
    """The service: one per cluster."""

    def __init__(self):
        self.spaces = {}

    def drop(self, name):
        """Forget a space (its job is over)."""
        self.spaces.pop(name, None)

    async def answer(self, connection, line):
        """The answer line to a request line."""
        try:
            return " ".join(["ok", *await self._answer(connection, line)])
        except KvsError as error:
            return f"err {error}"

    async def _answer(self, connection, line):
        verb, _, rest = line.partition(" ")
        space = self.spaces.setdefault(connection.space, Space())
        if verb == "put":
            key, blank, value = rest.partition(" ")
            if not blank:
                raise KvsError("put needs a key and a value")
            space.put(_word(key), value)
            return []
        words = rest.split()
        if verb == "space" and len(words) == 1:
            connection.space = _word(words[0])
            return []
        if verb == "get" and len(words) in (1, 2):
            return [await space.get(_word(words[0]), _timeout(words[1:]))]
        if verb == "add" and len(words) == 2:
            total = _number(space.values.get(words[0], "0"), signed=True) + _number(words[1], signed=True)
            space.put(_word(words[0]), str(total))
            return [str(total)]
        if verb == "barrier" and len(words) in (2, 3):
            count = _number(words[1])
            if not count:
                raise KvsError("a barrier of 0")
            await space.barrier(_word(words[0]), count, _timeout(words[2:]))
            return []
        if verb == "del" and len(words) == 1:
            space.values.pop(words[0], None)
            return []
        raise KvsError(f"request not understood: {line[:80]}")


class KvsConnection:
    """One program's connection, as it comes through a node's agent."""

    def __init__(self, kvs, reply):
        self.kvs = kvs
        self.reply = reply
        self.space = "default"
        self.lines = asyncio.Queue()
        self.task = asyncio.create_task(self._serve())

    def request(self, line):
        """A line has come."""
        self.lines.put_nowait(line)

    def close(self):
        """The program has gone: forget what it waits for."""
        self.task.cancel()

    async def _serve(self):
        while True:
            self.reply(await self.kvs.answer(self, await self.lines.get()))


def _word(text):
    if not WORD.fullmatch(text):
        raise KvsError(f"'{text[:40]}' is not a name of 1 to 128 letters, digits and ._:/-")
    return text


def _number(text, signed=False):
    if not re.fullmatch(r"-?\d{1,18}" if signed else r"\d{1,18}", text):
        raise KvsError(f"'{text[:40]}' is not a number")
    return int(text)


def _timeout(words):
    return (_number(words[0]) if words else TIMEOUT_MS) / 1000
