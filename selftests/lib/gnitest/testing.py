# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests on the host: a cluster with plain (blocking) calls, and unittest cases around it.

    class Mine(ClusterCase):
        NODES = 2

        def test_hello(self):
            self.assertEqual(self.cluster.run(0, "uname -n").stdout, "node0\\n")

One cluster serves all tests of a class, and of other classes of its shape (SHARES, standing.py). A test that leaves a node down boots it
again with self.cluster.start(n), or gives its class a cluster of its own.
"""

import asyncio
import enum
import functools
import os
import re
import socket
import subprocess
import threading
import time
import unittest
from typing import Any

from opengni import gateway, host
from opengni.application import Application, place
from opengni.cluster import Cluster
from opengni.config import ClusterConfig
from opengni.hostfile import Host
from opengni.kernel_log import complains
from opengni.server import SOCKET, Server
from . import standing
from .patience import PatientLoop, clock


class SyncJob:
    """A job that runs; wait() for its end."""

    def __init__(self, owner, job):
        self._owner, self.job = owner, job

    def wait(self, timeout=120.0):
        """Results in rank order; NodeError if they take too long."""
        return self._owner.call(self.job.wait(timeout))

    def signal(self, number):
        """A signal to every rank."""
        self._owner.call(self._do(self.job.signal, number))

    @staticmethod
    async def _do(function, *arguments):
        return function(*arguments)


class SyncCluster:
    """Cluster for code without an event loop: that runs in a thread of its own."""

    def __init__(self, config):
        self._loop = PatientLoop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = None
        self._cluster = self.call(self._make(config))
        self.config = config

    @staticmethod
    async def _make(config):
        return Cluster(config)

    def call(self, coroutine):
        """Run a coroutine in the loop's thread; its result."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def up(self):
        """Boot all nodes."""
        try:
            self.call(self._cluster.up())
        except BaseException:
            self.down()
            raise

    def serve(self):
        """From now on scripts/aprun and scripts/cluster find the cluster by its name, as if it were in the background."""
        if self._server:
            return

        async def begin():
            self._server = Server(self._cluster)
            asyncio.get_running_loop().create_task(self._server.serve())
        self.call(begin())
        if not wait_until((self.config.dir / SOCKET).exists):
            raise AssertionError("the cluster has no socket")

    def down(self):
        """End all nodes, and the thread."""
        if self._server:
            self._loop.call_soon_threadsafe(self._server.over.set)
        self.call(self._cluster.down())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def run(self, node, argv, **options):
        """Run a command (list, or text for the shell) on one node; Result(code, stdout, stderr)."""
        return self.call(self._cluster.node(node).run(argv, **options))

    def run_job(self, argv, timeout=120.0, **options):
        """Run a program with a rank on every node; list of RankResult. Options: nodes, per_node, env, cwd, grace."""
        return self.call(self._cluster.run_job(argv, timeout, **options))

    def start_job(self, argv, **options):
        """Start a program with a rank on every node; a SyncJob."""
        async def start():
            return self._cluster.start_job(argv, **options)
        return SyncJob(self, self.call(start()))

    def start_application(self, argv, count, nodes=None, per_node=None, env=None):
        """Start a program as aprun does; a SyncJob."""
        async def start():
            placement = place(self._cluster, {"count": count, "nodes": nodes, "per_node": per_node})
            application = Application(self._cluster, argv, placement=placement, env=env)
            await application.launch()
            for rank in range(count):
                application.stdin(b"", rank)
            return application
        return SyncJob(self, self.call(start()))

    def run_application(self, argv, count, timeout=120.0, **options):
        """Run a program as aprun does; list of RankResult. Options: nodes, per_node, env."""
        return self.start_application(argv, count, **options).wait(timeout)

    def kill(self, node):
        """SIGKILL the node's QEMU."""
        self.call(self._cluster.node(node).kill())

    def signal(self, node, number):
        """Send a signal to the node's QEMU: SIGSTOP, SIGCONT."""
        self.call(self._cluster.node(node).signal(number))

    def signal_visitor(self, node, peer, number):
        """Send a signal to the process in which a peer's accesses to a node's memory happen: the peer's QEMU, or the gateway of the node's host.

        Only for hosts that on_hosts() has made.
        """
        home = next((entry for entry in self.config.hosts if node in entry.nodes), None)
        if home is None or peer in home.nodes:
            self.signal(peer, number)
            return
        found = subprocess.run(["pgrep", "-f", f"^{gateway.PROGRAM} run .*--self {home.name} "], capture_output=True, text=True, check=True)
        os.kill(int(found.stdout), number)

    def stop(self, node):
        """End the node's QEMU in order."""
        self.call(self._cluster.node(node).stop())

    def start(self, node):
        """Boot a node that is down, under its old address."""
        self.call(self._cluster.node(node).start())

    def running(self, node):
        """Whether the node's QEMU runs."""
        return self._cluster.node(node).running

    def process(self, node):
        """Process id of the node's QEMU."""
        return self._cluster.node(node).process.pid

    def set_nic(self, node, name, value):
        """Set a property of a node's NIC (fault injection)."""
        self.call(self._cluster.node(node).set_nic(name, value))

    def set_fabric(self, name, value):
        """Set a property by which a NIC changes the whole fabric; of several hosts each has its own."""
        for node in [entry.first for entry in self.config.hosts] or [0]:
            self.set_nic(node, name, value)

    def get_nic(self, node, name):
        """Read a property of a node's NIC."""
        return self.call(self._cluster.node(node).get_nic(name))

    def qmp(self, node, name, arguments=None):
        """A QMP command to a node's QEMU."""
        return self.call(self._cluster.node(node).qmp(name, arguments))

    def console(self, node):
        """What the node has printed on its console."""
        return self._cluster.node(node).paths.console.read_text(encoding="utf-8", errors="replace")


def wait_until(condition, timeout=10.0, interval=0.1):
    """Whether the condition comes true in time, by patience.clock()."""
    end = clock().now() + timeout
    while not condition():
        if clock().now() > end:
            return False
        time.sleep(interval)
    return True


def image(kind):
    """Path of a file system for the guest that 'make KIND-image' makes."""
    return str(host.BUILD / f"initramfs-{kind}-{os.environ.get('KERNEL', '6.1')}.cpio")


def slow_tests():
    """Whether tests that take minutes are wanted (make check-all)."""
    return bool(os.environ.get("OPENGNI_SLOW"))


# A page may be registered any number of times; the DMA debugging code dislikes two, and counts to seven.
_REGISTERED_TWICE = re.compile(r"^.*\[ cut here \].*\n.*DMA-API: aries .*cacheline tracking EEXIST(?s:.*?)-\[ end trace.*$", re.MULTILINE)


# KCSAN finds races of the kernel itself, too: those count whose functions, which the title names, are of our modules, and in which an access
# that is not marked is theirs. A function of the kernel that is inlined there has marked what it does, and races with itself elsewhere.
_ACCESS = re.compile(r"(?:read|write)\S*( \(\S*marked\S*\))? to 0x\w+ of .*\n((?:.*\+0x\w+/0x\w+.*\n){1,3})")
_RACE = re.compile(r"^.*={66}\n.*BUG: KCSAN: (.*)\n(?s:.*?)={66}$", re.MULTILINE)
_OURS = re.compile(r"\[(?:aries\w*|kgni\w*|krca\w*|ipogif|slnd\w*|gni_pingpong)\]")


def _unmarked(report):
    """Whether an access of a race that is not marked is made by our modules; no accesses that can be read: it may be."""
    accesses = _ACCESS.findall(report)
    return not accesses or any(not marked and _OURS.search(frames) for marked, frames in accesses)


def kernel_complaints(text):
    """Lines of a kernel log that must not be there."""
    text = _REGISTERED_TWICE.sub("", text)
    text = _RACE.sub(lambda race: race[0] if _OURS.search(race[1]) and _unmarked(race[0]) else "", text)
    return [line for line in text.splitlines() if complains(line)]


SCAN_TIMEOUT = 1800.0  # seconds; on a busy machine a scan takes minutes

# What is young is not looked at, and what nobody points to is believed the second time.
_SCAN = "cd /sys/kernel/debug && [ ! -e kmemleak ] || { for i in 1 2 3; do sleep 6; echo scan >kmemleak; done; cat kmemleak; }"


def kernel_leaks(cluster, node):
    """Lines that name memory which a node's kernel has lost, if it is one that knows (make check-debug)."""
    text = cluster.run(node, _SCAN, timeout=SCAN_TIMEOUT).stdout
    return [line for line in text.splitlines() if "unreferenced object" in line or line.startswith("    [<")]


class Told:
    """A message that is made when somebody reads it, for assertions: reading a guest's log takes time, and for ever
    while the guest sleeps, so only an assertion that fails may do it."""

    def __init__(self, tell):
        self._tell = tell

    def __str__(self):
        return self._tell()


def _free_port(address):
    """One that nobody listens at."""
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]


def on_hosts(nodes, count):
    """Options of a ClusterConfig for so many nodes on @count hosts, all of which are this machine under other addresses."""
    count = min(count, nodes)
    first = [nodes * i // count for i in range(count + 1)]
    addresses = [f"127.0.0.{i + 1}" for i in range(count)]
    hosts = [Host(f"test{i}-{os.getpid()}", address, _free_port(address), first[i], first[i + 1] - 1) for i, address in enumerate(addresses)]
    return {"hosts": hosts, "launcher": ("/bin/sh", "-c", 'exec "$@"')}


def hosts_wanted():
    """How many hosts tests of clusters divide their nodes between."""
    return int(os.environ.get("OPENGNI_TEST_HOSTS", "1"))


class Apart(enum.Enum):
    """What nodes of several hosts do not have in common, so that a test cannot show it there: Documentation/hosts.md."""

    CLOCK = "hosts have no common clock"
    ETHERNET = "the nodes' Ethernet is inside one host"
    MEMORY = "nodes of other hosts do not map a node's memory"
    MANAGER = "a manager of the network has the routers of one host"
    ONE = "one node is on one host"


def together(why):
    """For a test, or a class of them, that needs nodes of one host, and why."""
    def decorate(thing):
        if isinstance(thing, type):
            setattr(thing, "TOGETHER", why)
            return thing

        @functools.wraps(thing)
        def test(self, *arguments):
            if hosts_wanted() > 1:
                self.skipTest(why.value)
            thing(self, *arguments)
        return test
    return decorate


class ClusterCase(unittest.TestCase):
    """Base of tests with one cluster per class; at its end the guests' kernels must not have complained.

    SHARES is the name of a shape (standing.SHAPES) that other classes want, too: nodes and configuration are those of the shape, and
    where such classes are run in one process a cluster goes from one to the next. LEAVES says in a few words what a class leaves behind
    that the others must not meet: it is run after them, and ends the cluster. What standing.py sees by itself (a node that is down,
    modules, processes, what of the NIC is in use) need not be said.

    With OPENGNI_TEST_HOSTS in the environment so many hosts have the nodes between them, see on_hosts(); but not those of a
    class that is together(why).
    """

    NODES = 2
    TOGETHER: Apart | None = None
    CONFIG: dict[str, Any] = {}
    SHARES = ""
    LEAVES = ""
    cluster: Any = None

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if "SHARES" in cls.__dict__:
            cls.NODES, cls.CONFIG = standing.SHAPES[cls.SHARES]

    @classmethod
    def setUpClass(cls):
        options = {"initrd": image("check"), **cls.CONFIG}
        if hosts_wanted() > 1:
            why = cls.TOGETHER or (Apart.ONE if cls.NODES == 1 else None)
            if why:
                raise unittest.SkipTest(why.value)
            options.update(on_hosts(cls.NODES, hosts_wanted()))
        cls.cluster = standing.clusters.take(SyncCluster, ClusterConfig(nodes=cls.NODES, **options), cls.__name__)
        if cls.LEAVES:
            standing.clusters.spoil(f"{cls.__name__} leaves {cls.LEAVES}")

    @classmethod
    def tearDownClass(cls):
        complaints = []
        try:
            for node in range(cls.NODES):
                if cls.cluster.running(node):
                    # and clears it: what follows belongs to the next class
                    text = cls.cluster.run(node, "dmesg -c").stdout
                    found = kernel_complaints(text)
                    if found:
                        place = host.BUILD / "logs" / f"dmesg-{cls.__module__}-{cls.__name__}-node{node}.log"
                        place.parent.mkdir(parents=True, exist_ok=True)
                        place.write_text(text, encoding="utf-8")
                        found.insert(0, f"all of it in {place}")
                    complaints += found + kernel_leaks(cls.cluster, node)
        except BaseException as error:
            standing.clusters.spoil(str(error))
            raise
        finally:
            if complaints:
                standing.clusters.spoil("a kernel has complained")
            standing.clusters.give_back(cls.cluster)
        if complaints:
            raise AssertionError("a guest's kernel complained: " + "; ".join(complaints[:5]))

    def wait_for(self, condition, message, timeout=10.0, interval=0.1):
        """Fail with that message (a text, or what makes one, called on failure only) if the condition does not come true."""
        if not wait_until(condition, timeout, interval):
            self.fail(message() if callable(message) else message)

    def start_nodes(self):
        """Boot the nodes that a test has left down."""
        for node in range(self.NODES):
            if not self.cluster.running(node):
                self.cluster.start(node)

    def wait_for_nodes(self, timeout=60.0):
        """Until every node's driver knows of all nodes: of those on other hosts it hears a moment after they have come."""
        everybody = f"0-{self.NODES - 1}"
        for node in range(self.NODES):
            self.wait_for(lambda n=node: self.cluster.run(n, "cat /sys/class/gni/kgni0/nodes_up").stdout.strip() == everybody,
                          lambda n=node: f"node {n} knows of nodes " + self.cluster.run(n, "cat /sys/class/gni/kgni0/nodes_up").stdout, timeout)

    def log(self, node=0):
        """What the node's kernel has said last, as the message of an assertion."""
        return Told(lambda: self.kernel_log(node))

    def kernel_log(self, node=0):
        """What the node's kernel has said last."""
        return self.cluster.run(node, "dmesg | tail -20").stdout

    def succeed(self, results):
        """Every rank of a job (or the Result of a command) ended with 0; else show why."""
        for result in results if isinstance(results, list) else [results]:
            if result.code:
                where = f"rank {result.rank} on node {result.node}: " if hasattr(result, "rank") else ""
                self.fail(f"{where}exit {result.code} {getattr(result, 'error', '')}\n{result.stdout[-2000:]}\n{result.stderr[-2000:]}")
        return results
