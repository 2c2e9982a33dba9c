# SPDX-License-Identifier: GPL-2.0-or-later
"""The hosts of a cluster, from the head's point of view. Each host runs its nodes with member.py, which a launcher such as ssh starts there."""

import asyncio
import contextlib
import os
import re
import shutil
import signal

from . import gateway, host
from .errors import ClusterError, ConfigError, NodeError
from .link import VERSION, Link, skip_noise

HELLO = 60.0  # seconds until a host answers for the first time
SETTLED = 20.0  # seconds until every host knows of the nodes that have booted
CONNECTED = 60.0  # seconds until gateways have found each other
END = 30.0  # seconds that a host has to end its nodes
PATIENCE = 60.0  # seconds without a sign of life of a host that was there
SSH_OPTIONS = ("-o", "BatchMode=yes", "-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=6")
SLURM_KEPT = ("SLURM_CONF", "SLURM_JOB_ID", "SLURM_JOBID")
_SAFE = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_LOG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\.log")


def _environment():
    """Our environment without Slurm's variables about the current step, which srun would take as options of the next one."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SLURM_") or name in SLURM_KEPT}


class RemoteMachine:
    """A node's QEMU on another host, with the interface of asyncio's processes."""

    def __init__(self, keeper, number, pid, line):
        self._keeper, self._number = keeper, number
        self.pid, self.line = pid, line
        self.returncode = None
        self._ended = asyncio.Event()

    def ended(self, status):
        """The host reports that QEMU has ended, or has gone itself."""
        if self.returncode is None:
            self.returncode = status
            self._ended.set()

    async def wait(self):
        """Wait for its end; the exit status as asyncio gives it."""
        await self._ended.wait()
        return self.returncode

    def send_signal(self, number):
        """Send a signal."""
        self._keeper.send_signal(self._number, int(number))

    def kill(self):
        """SIGKILL."""
        self.send_signal(signal.SIGKILL)


class RemoteHost:
    """A host and the connection to it. keeper.Here has the same interface for nodes of this host."""

    def __init__(self, config, index):
        self.config = config
        self.index = index
        self.entry = config.hosts[index]
        self.gate = asyncio.Semaphore(2)
        self.link = None
        self._serving = None
        self._process = None
        self._machines = {}
        self._tasks = set()
        self._errors = config.dir / f"host-{self.name}.log"

    @property
    def name(self):
        """Its name."""
        return self.entry.name

    @property
    def gone(self):
        """Why it does not answer requests, or ''."""
        return self.link.reason if self.link and self.link.over.is_set() else "" if self.link else "it has not been started"

    def _command(self):
        """The command that is run on this machine to reach it."""
        own = self.config.remote_command or shutil.which(f"{host.PREFIX}/bin/cluster" if host.PREFIX else f"{host.TOP}/scripts/cluster")
        words = [own or "cluster", "member"]
        if os.environ.get("OPENGNI_BUILD"):
            words = ["env", f"OPENGNI_BUILD={os.environ['OPENGNI_BUILD']}", *words]
        for word in words:
            if not _SAFE.fullmatch(word):
                raise ConfigError(f"'{word}' cannot be passed through every launcher: give --remote-command with plain characters")
        if self.entry.is_here:
            return words
        launcher = list(self.config.launcher)
        if os.path.basename(launcher[0]) == "ssh":
            launcher[1:1] = SSH_OPTIONS
        if not shutil.which(launcher[0]):
            raise ConfigError(f"launcher {launcher[0]} is not there: install it, or give another with --launcher")
        return [*launcher, self.name, *words]

    async def launch_member(self):
        """Start the member there and read its greeting; NodeError."""
        with open(self._errors, "ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._command(), env=_environment(), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=log, start_new_session=True,
                limit=1 << 20)
        try:
            spoken = await asyncio.wait_for(skip_noise(self._process.stdout), HELLO)
        except asyncio.TimeoutError:
            raise NodeError(self._says(f"no answer within {HELLO:g} s")) from None
        except (ConnectionError, ValueError) as error:
            raise NodeError(self._says(str(error))) from None
        if spoken != VERSION:
            raise NodeError(f"host {self.name}: it speaks version {spoken} of the hosts' protocol, this tool {VERSION}: install the same on all")
        self.link = Link(self._process.stdout, self._process.stdin, self, PATIENCE)
        self._serving = asyncio.create_task(self._serve())

    def _says(self, reason):
        """An error message: the reason, and the launcher's last line or else its command."""
        lines = self._errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return f"host {self.name}: {reason}" + (f": {lines[-1]}" if lines else f" (command: {' '.join(self._command())})")

    async def _serve(self):
        try:
            await self.link.run()
        finally:
            for machine in self._machines.values():
                machine.ended(-signal.SIGHUP)

    async def ask(self, op, **arguments):
        """Send a request and return the answer; errors name the host."""
        if not self.link:
            raise NodeError(f"host {self.name}: {self.gone}")
        try:
            return await self.link.ask(op, **arguments)
        except ClusterError as error:
            raise NodeError(f"host {self.name}: {error}") from None

    async def check(self, text):
        """Check that it has what its nodes need; returns a description of what it will do."""
        found = await self.ask("check", config=self.config.for_host(self.index), hosts=text)
        nodes = f"nodes {self.entry.first}-{self.entry.last}" if len(self.entry.nodes) > 1 else f"node {self.entry.first}"
        return f"host {self.name}: {nodes}, gateway at {self.entry.where}, accelerator {found['accel']}: {found['reason']}"

    async def launch(self, node):
        """Start a node's QEMU there."""
        if self.gone:
            raise NodeError(f"node {node.number}: host {self.name} has gone ({self.gone}): 'down' and 'up' bring it back")
        found = await self.ask("start", node=node.number, place=self.config.places[node.number])
        machine = self._machines[node.number] = RemoteMachine(self, node.number, found["pid"], found["command"])
        if self.link.over.is_set():
            machine.ended(-signal.SIGHUP)
        return machine

    def command(self, node):
        """The QEMU command line, once the node has been started."""
        machine = self._machines.get(node.number)
        return machine.line if machine else []

    async def connect(self, node, what):
        """(reader, writer) at a socket of a node's QEMU; OSError."""
        if not self.link:
            raise ConnectionRefusedError(0, "its host has not been started")
        return await self.link.open({"node": node.number, "what": what})

    def send_signal(self, number, which):
        """Send a signal to a node's QEMU without waiting."""
        task = asyncio.get_running_loop().create_task(self._signal(number, which))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _signal(self, number, which):
        try:
            await self.ask("signal", node=number, number=which)
        except NodeError:
            pass  # the node has ended with its host

    async def signal(self, node, which):
        """Send a signal to a node's QEMU and wait until it has been sent."""
        await self.ask("signal", node=node.number, number=int(which))

    async def serve(self, request):
        """Requests: hosts send none."""
        raise ClusterError(f"host {self.name} asks for '{request.get('op')}'")

    def told(self, message):
        """A message: a node's QEMU has ended."""
        machine = self._machines.get(message["node"])
        if machine:
            machine.ended(message["status"])

    def log(self, name, offset, data):
        """Store log data; the logs of all hosts are in the cluster's folder here."""
        if not _LOG.fullmatch(name):
            raise ValueError(f"a log named {name!r}")
        path = self.config.dir / name
        with open(path, "r+b" if path.exists() else "w+b") as file:
            file.seek(offset)
            file.write(data)
            if offset == 0:
                file.truncate()

    async def end(self):
        """End its nodes and its gateway, if it still answers."""
        if self.link and not self.gone:
            try:
                await asyncio.wait_for(self.ask("down"), END)
            except (asyncio.TimeoutError, NodeError):
                pass  # the member sees the end of its input and ends everything there
            self.link.close()
        if self._serving:
            self._serving.cancel()
            await asyncio.gather(self._serving, return_exceptions=True)
        await self._end_launcher(END if self.link else 0.1)

    async def _end_launcher(self, patience):
        """Wait for the launcher, which ends with its input; if it does not, kill it and everything it has started here."""
        if not self._process or self._process.returncode is not None:
            return
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._launcher_gone(), patience)
        except asyncio.TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            await self._launcher_gone()

    async def _launcher_gone(self):
        """Wait for the launcher's end. asyncio reports the end of a process only after its output has been read."""
        while await self._process.stdout.read(1 << 16):
            pass
        await self._process.wait()


class Fleet:
    """All hosts of a cluster."""

    def __init__(self, config, progress):
        self.config = config
        self.progress = progress
        self.hosts = [RemoteHost(config, index) for index in range(len(config.hosts))]
        self._of = {node: keeper for keeper in self.hosts for node in keeper.entry.nodes}

    def keeper(self, number):
        """The host of a node."""
        return self._of[number]

    async def up(self):
        """Connect to all hosts, check that they have what they need, and connect their gateways. ConfigError lists all problems; nothing has booted then."""
        text = "".join(entry.line for entry in self.config.hosts)
        await self._each(lambda keeper: keeper.launch_member())
        for line in await self._each(lambda keeper: keeper.check(text)):
            self.progress(line)
        key_file = self.config.dir / "key"
        key = gateway.make_key(key_file)
        key_file.unlink()
        await self._each(lambda keeper: keeper.ask("prepare", hosts=text, key=key))
        await self._connected()

    async def _connected(self):
        """Wait until every gateway is connected with all others."""
        loop = asyncio.get_running_loop()
        end = loop.time() + CONNECTED
        while True:
            missing = {keeper.name: peers for keeper, peers in zip(self.hosts, await self._each(lambda keeper: keeper.ask("peers"))) if peers}
            if not missing:
                break
            if loop.time() > end:
                raise ConfigError("gateways do not find each other: " + "; ".join(
                    f"{name} has not reached {other} ({why})" for name, peers in missing.items() for other, why in peers.items()))
            await asyncio.sleep(0.2)
        self.progress(f"{len(self.hosts)} hosts are connected")

    async def settle(self, numbers):
        """Wait until every host knows that these nodes have booted, because on a single host programs find them at once. The wait
        is limited: drivers may be missing."""
        loop = asyncio.get_running_loop()
        end = loop.time() + SETTLED
        while loop.time() < end:
            known = await self._each(lambda keeper: keeper.ask("reachable"))
            if all(number in nodes for keeper, nodes in zip(self.hosts, known) for number in numbers if number not in keeper.entry.nodes):
                return
            await asyncio.sleep(0.1)
        self.progress("not every host knows of all nodes: do they have the driver?")

    async def _each(self, do):
        """Do something on all hosts in parallel; the answers."""
        results = await asyncio.gather(*(do(keeper) for keeper in self.hosts), return_exceptions=True)
        wrong = [result for result in results if isinstance(result, BaseException)]
        for result in wrong:
            if not isinstance(result, ClusterError):
                raise result
        if wrong:
            raise ConfigError("\n".join(dict.fromkeys(map(str, wrong))))
        return results

    async def down(self):
        """End everything on all hosts."""
        await asyncio.gather(*(keeper.end() for keeper in self.hosts))
