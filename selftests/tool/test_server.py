# SPDX-License-Identifier: GPL-2.0-or-later
"""What a client of a running cluster is told about a job, without machines."""

import asyncio
import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from opengni import client, server
from opengni.errors import NodeError


class Job:
    """Two ranks; one of them prints, and then time is up."""

    name = "job-1"
    placement = [0, 1]
    ended = []
    processes = []

    def __init__(self, on_output):
        self.on_output = on_output

    async def wait(self, timeout):
        self.on_output(0, 1, b"said before\n")
        raise NodeError(f"{self.name}: rank 0 did not end within {timeout:g} s")

    def signal(self, _number):
        pass

    def stdin(self, _payload, _rank):
        pass


class Timeout(unittest.IsolatedAsyncioTestCase):
    async def test_a_job_that_takes_too_long_is_told_to_the_client(self):
        with tempfile.TemporaryDirectory() as folder:
            cluster = SimpleNamespace(config=SimpleNamespace(dir=Path(folder)), start_job=lambda *_, on_output, **__: Job(on_output))
            running = server.Server(cluster)
            serving = asyncio.create_task(running.serve())
            while not (Path(folder) / server.SOCKET).exists():
                await asyncio.sleep(0.01)
            out, error = SimpleNamespace(buffer=io.BytesIO(), write=lambda _: None, flush=lambda: None), io.StringIO()
            connection = asyncio.open_unix_connection(str(Path(folder) / server.SOCKET))
            with mock.patch.object(client, "connect", lambda _: connection), contextlib.redirect_stderr(error), \
                    mock.patch("sys.stdout", out):
                status = await client.execute("x", {"argv": ["x"], "nodes": [0, 1], "timeout": 3.0}, stdin=False)
            running.over.set()
            await serving
        self.assertEqual(status, 255)
        self.assertIn("rank 0 did not end within 3 s", error.getvalue())
