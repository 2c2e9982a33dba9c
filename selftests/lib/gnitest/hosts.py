# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts for tests of what runs on several: namespaces of this machine with a switch between them that can be cut.

Each host has a network, a /dev/shm, process numbers and (if wanted) a clock of its own. Whatever happens to the test, nothing is
left of them: the first process of each ends when the test does, and with it everything that runs in it.
"""

import contextlib
import fcntl
import ipaddress
import os
import random
import select
import signal
import struct
import subprocess
import threading
import time
from pathlib import Path

START = 60.0  # s in which a namespace is made, on a machine that has other things to do
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
FRAME = 65536 + 64


class HostsError(Exception):
    """No hosts can be had here; one line says why."""


def missing():
    """Why there can be no hosts here, or nothing."""
    if os.geteuid() != 0:
        return "namespaces are for root alone here"
    for tool in ("unshare", "nsenter", "ip", "bridge"):
        if subprocess.run(["sh", "-c", f"command -v {tool}"], capture_output=True, check=False).returncode:
            return f"{tool} is not installed (util-linux, iproute2)"
    return None


class Space:
    """Namespaces, and the process that has them: it ends when its standard input does."""

    def __init__(self, name, clock=0):
        self.name = name
        options = ["--mount", "--pid", "--net", "--fork", "--kill-child"]
        if clock:
            options += ["--time", f"--monotonic={clock}"]
        script = "mount -t tmpfs tmpfs /dev/shm && mount -t proc proc /proc && ip link set lo up && echo ready && exec cat"
        # pylint: disable=consider-using-with  # it lives as long as we do
        self.outer = subprocess.Popen(["unshare", *options, "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
        if not select.select([self.outer.stdout], [], [], START)[0] or self.outer.stdout.readline() != "ready\n":
            self.outer.kill()
            raise HostsError(f"no namespaces for {name}: {(self.outer.communicate()[1] or 'unshare does not answer').strip()}")
        children = Path(f"/proc/{self.outer.pid}/task/{self.outer.pid}/children").read_text(encoding="ascii").split()
        self.pid = int(children[0])

    def command(self, arguments):
        """What runs these arguments in there."""
        return ["nsenter", "--target", str(self.pid), "--mount", "--pid", "--net", "--time", *map(str, arguments)]

    def run(self, *arguments, check=True, timeout=60, **options):
        """Runs a command to its end: its result, with output as text."""
        result = subprocess.run(self.command(arguments), capture_output=True, text=True, timeout=timeout, check=False, **options)
        if check and result.returncode:
            raise HostsError(f"{self.name}: {' '.join(map(str, arguments))}: {result.stderr.strip()}")
        return result

    def end(self):
        """Ends everything in it."""
        with contextlib.suppress(OSError):
            self.outer.stdin.close()
        try:
            self.outer.wait(10)
        except subprocess.TimeoutExpired:
            self.outer.kill()
            self.outer.wait()
        self.outer.stdout.close()
        self.outer.stderr.close()


class Line(threading.Thread):
    """A cable that takes time and loses packets, where the kernel may have no netem: two TAPs, and a thread between them."""

    def __init__(self, names, delay=0.0, loss=0.0, seed=1):
        super().__init__(daemon=True)
        self.taps = [self._tap(name) for name in names]
        self.delay, self.loss = delay, loss
        self.random = random.Random(seed)
        self.lost = 0
        self.ended = False

    @staticmethod
    def _tap(name):
        try:
            tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            raise HostsError(f"no cables: /dev/net/tun: {error.strerror}") from None
        fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
        return tap

    def run(self):
        """Carries packets both ways until end()."""
        waiting = []  # (when, to, packet): all are delayed alike, so they are in order
        while not self.ended:
            left = max(0.0, waiting[0][0] - time.monotonic()) if waiting else 0.2
            for tap in select.select(self.taps, [], [], left)[0]:
                with contextlib.suppress(OSError):
                    packet = os.read(tap, FRAME)
                    if self.random.random() < self.loss:
                        self.lost += 1
                        continue
                    waiting.append((time.monotonic() + self.delay, self.taps[1] if tap == self.taps[0] else self.taps[0], packet))
            while waiting and waiting[0][0] <= time.monotonic():
                _, tap, packet = waiting.pop(0)
                with contextlib.suppress(OSError):  # an end that is down
                    os.write(tap, packet)

    def end(self):
        """Takes the cable away."""
        self.ended = True
        if self.is_alive():
            self.join()
        for tap in self.taps:
            os.close(tap)


class Hosts:
    """Hosts 0 to count - 1 at a switch, with addresses one after the other in a network of their own."""

    NETWORK = "10.99.0.0/24"

    def __init__(self, count, lines=None, clocks=None, network=NETWORK):
        """lines: {host: {"delay": s, "loss": share}} for cables that are no good; clocks: {host: s that it is ahead}."""
        self.network = ipaddress.ip_network(network)
        reason = missing()
        if reason:
            raise HostsError(reason)
        self.spaces, self.lines, self.programs = [], {}, []
        self.switch = None
        try:
            self._make(count, lines or {}, clocks or {})
        except (HostsError, OSError, subprocess.SubprocessError) as error:
            self.end()
            raise HostsError(str(error)) from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def _make(self, count, lines, clocks):
        self.switch = Space("switch")
        self.switch.run("ip", "link", "add", "switch", "type", "bridge")
        self.switch.run("ip", "link", "set", "switch", "up")
        for i in range(count):
            self.spaces.append(Space(f"host {i}", clocks.get(i, 0)))
            self._cable(i, lines.get(i))
            self.spaces[i].run("ip", "addr", "add", f"{self.address(i)}/{self.network.prefixlen}", "dev", "wire")
            self.spaces[i].run("ip", "link", "set", "wire", "up")
            self.switch.run("ip", "link", "set", f"port{i}", "master", "switch", "up")
        for i in range(count):
            self._wait_for_port(i)

    def _cable(self, i, line):
        if line is None:
            self._ip("link", "add", "wire", "netns", self.spaces[i].pid, "type", "veth", "peer", "name", f"port{i}", "netns", self.switch.pid)
            return
        # TAPs keep their ends open here while they move
        names = [f"ogn{os.getpid() % 100000}{end}{i}" for end in "ab"]
        self.lines[i] = Line(names, **line)
        for name, space, final in zip(names, (self.spaces[i], self.switch), ("wire", f"port{i}")):
            self._ip("link", "set", name, "netns", space.pid)
            space.run("ip", "link", "set", name, "name", final)
        self.lines[i].start()

    @staticmethod
    def _ip(*arguments):
        """ip(8) where the numbers of all processes are known."""
        result = subprocess.run(["ip", *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
        if result.returncode:
            raise HostsError(f"ip {' '.join(map(str, arguments))}: {result.stderr.strip()}")

    def _wait_for_port(self, i):
        end = time.monotonic() + START
        while "state forwarding" not in self.switch.run("bridge", "link", "show", "dev", f"port{i}").stdout:
            if time.monotonic() > end:
                raise HostsError(f"the switch does not take host {i}")
            time.sleep(0.05)

    def address(self, i):
        """Of a host, as text."""
        return str(self.network[i + 1])

    def run(self, i, *arguments, **options):
        """Runs a command on a host to its end: its result, with output as text."""
        return self.spaces[i].run(*arguments, **options)

    def start(self, i, *arguments, **options):
        """Starts a command on a host: Popen, of nsenter. It is killed with the hosts at the latest."""
        # pylint: disable=consider-using-with
        program = subprocess.Popen(self.spaces[i].command(arguments), text=True, **options)
        self.programs.append(program)
        return program

    def signal(self, program, number):
        """Sends a signal to what start() has started, whose parent nsenter is."""
        children = Path(f"/proc/{program.pid}/task/{program.pid}/children").read_text(encoding="ascii").split()
        os.kill(int(children[0]) if children else program.pid, number)
        if number in (signal.SIGCONT, signal.SIGKILL):
            os.kill(program.pid, signal.SIGCONT)  # it stops when its child is stopped

    def pause(self, i):
        """Stops all that runs on a host, as if it had no processor; networks and files stay."""
        self.run(i, "sh", "-c", "kill -STOP -1")  # it means all others in the namespace but the first

    def resume(self, i):
        """Undoes pause(), also for nsenter, which stops when its child does."""
        self.run(i, "sh", "-c", "kill -CONT -1")
        for children in Path("/proc/self/task").glob("*/children"):
            for pid in children.read_text(encoding="ascii").split():
                with contextlib.suppress(OSError):
                    if Path(f"/proc/{pid}/comm").read_text(encoding="ascii") == "nsenter\n":
                        os.kill(int(pid), signal.SIGCONT)

    def cut(self, i):
        """From now on nothing goes to or comes from a host; the ends do not see it."""
        self.switch.run("bridge", "link", "set", "dev", f"port{i}", "state", "0")

    def heal(self, i):
        """Undoes cut()."""
        self.switch.run("bridge", "link", "set", "dev", f"port{i}", "state", "3")

    def end(self):
        """Ends all programs, and removes the hosts."""
        for program in self.programs:
            with contextlib.suppress(OSError, IndexError, ValueError):
                self.signal(program, signal.SIGKILL)
            program.wait()
            for stream in (program.stdin, program.stdout, program.stderr):
                if stream:
                    stream.close()
        self.programs = []
        for space in [*self.spaces, *([self.switch] if self.switch else [])]:
            space.end()
        self.spaces, self.switch = [], None
        for line in self.lines.values():
            line.end()
        self.lines = {}
