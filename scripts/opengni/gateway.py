# SPDX-License-Identifier: GPL-2.0-or-later
"""The gateway of a host: started before the host's nodes, and restarted if it ends by itself."""

import asyncio
import contextlib
import json
import os
import socket

from . import host
from .errors import ConfigError, NodeError
from .writing import naming, write_text

PROGRAM = host.product("model/gateway/aries-gateway", "bin/aries-gateway")
START = 30.0  # seconds that it may take to listen on a busy machine
AGAIN = 1.0  # seconds from its end to its next start


def check(own):
    """Raise ConfigError if a gateway cannot start because of its program, address or port."""
    if not PROGRAM.is_file():
        raise ConfigError(f"{PROGRAM} is missing: {host.missing('topo', 'opengni-tools')}; it is built where libfabric and libsodium are")
    family = socket.AF_INET6 if ":" in own.address else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((own.address, own.port))
        except OSError as error:
            raise ConfigError(f"{own.where}: {error.strerror}") from None


def make_key(path):
    """Make a key for a fabric; the text of the key file."""
    if not PROGRAM.is_file():
        raise ConfigError(f"{PROGRAM} is missing: {host.missing('topo', 'opengni-tools')}; it is built where libfabric and libsodium are")
    path.unlink(missing_ok=True)
    os.spawnv(os.P_WAIT, PROGRAM, [str(PROGRAM), "keygen", str(path)])
    try:
        return path.read_text(encoding="ascii")
    except OSError as error:
        raise ConfigError(f"{PROGRAM} makes no key: {error.strerror}") from None


def _write_private(path, text):
    path.unlink(missing_ok=True)
    with naming(path), open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(text)


class Gateway:
    """The gateway of one host. @config is the host's configuration, @hosts the text of the hosts file, @key the text of the key file."""

    def __init__(self, config, hosts, key):
        self.config = config
        self.log = config.dir / f"gateway-{config.host_name}.log"
        self._files = [config.dir / "hosts", config.dir / "key"]
        write_text(self._files[0], hosts, encoding="ascii")
        _write_private(self._files[1], key)
        self._process = None
        self._task = None

    def command(self):
        """Its command line."""
        config, layout = self.config, self.config.layout
        return [str(PROGRAM), "run", "--hosts", str(self._files[0]), "--key", str(self._files[1]), "--self", config.host_name,
                "--fabric", config.fabric, "--nodes", str(config.addresses), "--place", str(config.gateway_place),
                "--machine-nodes", str(layout.nodes), "--routers-per-chassis", str(layout.slots),
                "--chassis-per-group", str(layout.chassis), *config.gateway]

    async def start(self):
        """Start it and wait until it listens; NodeError quotes its output."""
        await self._spawn()
        end = asyncio.get_running_loop().time() + START
        while ": listens at " not in self._said():
            if self._process.returncode is not None or asyncio.get_running_loop().time() > end:
                raise NodeError(f"aries-gateway does not start: {(self._said().strip().splitlines() or ['it says nothing'])[-1]}")
            await asyncio.sleep(0.05)
        self._task = asyncio.create_task(self._keep())

    async def _spawn(self):
        with open(self.log, "ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self.command(), stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                preexec_fn=host.die_with_parent)

    def _said(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    async def _keep(self):
        while True:
            status = await self._process.wait()
            with open(self.log, "a", encoding="ascii") as log:
                log.write(f"aries-gateway has ended with status {status}: it is started again\n")
            await asyncio.sleep(AGAIN)
            await self._spawn()

    async def _status(self):
        """The output of `aries-gateway status` as data; NodeError."""
        asked = await asyncio.create_subprocess_exec(str(PROGRAM), "status", "--self", self.config.host_name, "--json",
                                                     stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
        out, err = await asked.communicate()
        if asked.returncode:
            raise NodeError(err.decode("utf-8", "replace").strip())
        return json.loads(out)

    async def peers(self):
        """Hosts to which it is not connected: {name: reason}."""
        try:
            peers = (await self._status())["peers"]
        except NodeError as error:
            return {self.config.host_name: str(error)}
        return {peer["host"]: peer.get("reason") or peer["state"] for peer in peers if peer["state"] != "up"}

    async def reachable(self):
        """Nodes of other hosts that, as far as this host knows, serve requests."""
        return (await self._status())["carrier"]["nodes"]

    async def stop(self):
        """End it."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        if self._process and self._process.returncode is None:
            self._process.terminate()
            try:
                await asyncio.wait_for(self._process.wait(), 5.0)
            except asyncio.TimeoutError:
                self._process.kill()
                await self._process.wait()
        for path in self._files:
            with contextlib.suppress(OSError):
                path.unlink()
