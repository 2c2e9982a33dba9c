# SPDX-License-Identifier: GPL-2.0-or-later
"""A QEMU process under qtest: guest memory, ports and QMP from a test."""

import base64
import json
import os
import select
import signal
import socket
import subprocess
import tempfile
import time

QEMU = os.environ["QEMU"]
FIRMWARE = ["-L", "/usr/share/qemu", "-L", "/usr/share/seabios"]
TIMEOUT = 30  # seconds that QEMU may take for an answer


class QemuDied(Exception):
    """QEMU ended, or did not answer."""


class Channel:
    """A line-based connection that QEMU makes to us."""

    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(path)
        self.listener.listen(1)
        self.sock = None
        self.buffer = b""

    def accept(self, process):
        deadline = time.monotonic() + TIMEOUT
        while not select.select([self.listener], [], [], 0.05)[0]:
            if process.poll() is not None or time.monotonic() > deadline:
                raise QemuDied("QEMU did not start")
        self.sock, _ = self.listener.accept()
        self.sock.settimeout(TIMEOUT)
        self.listener.close()

    def send(self, line):
        try:
            self.sock.sendall(line.encode() + b"\n")
        except OSError as error:
            raise QemuDied(f"QEMU is gone: {error}") from error

    def line(self):
        while b"\n" not in self.buffer:
            try:
                data = self.sock.recv(65536)
            except OSError as error:
                raise QemuDied(f"no answer from QEMU: {error}") from error
            if not data:
                raise QemuDied("QEMU closed the connection")
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode()

    def close(self):
        (self.sock or self.listener).close()


class Qemu:
    """QEMU with one pcie-root-port (bus rp0) and 64 MiB of shared memory."""

    MEMORY = ["-machine", "q35,memory-backend=mem", "-object", "memory-backend-memfd,id=mem,size=64M,share=on"]

    def __init__(self, *args, memory=None):
        self.dir = tempfile.TemporaryDirectory(prefix="aries-qtest-")
        path = self.dir.name
        self.qtest = Channel(f"{path}/qtest")
        self.monitor = Channel(f"{path}/qmp")
        self.log = open(f"{path}/stderr", "w+b")
        command = [QEMU, *FIRMWARE, *(memory or self.MEMORY), "-m", "64M", "-accel", "qtest", "-nodefaults",
                   "-no-user-config", "-display", "none", "-qtest", f"unix:{path}/qtest", "-qtest-log", "/dev/null",
                   "-qmp", f"unix:{path}/qmp", "-device", "pcie-root-port,id=rp0,chassis=1,addr=1,x-speed=8,x-width=16",
                   *args]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        try:
            # QEMU opens the monitor first, then creates its devices.
            self.monitor.accept(self.process)
            self.qtest.accept(self.process)
            self.monitor.line()
            self.qmp("qmp_capabilities")
        except QemuDied as error:
            text = self.stderr()
            self.close()
            raise QemuDied(text or str(error)) from error

    def stderr(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def alive(self):
        return self.process.poll() is None and self.qmp("query-status") is not None

    def kill(self):
        """Ends QEMU as a crash would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(TIMEOUT)
            except subprocess.TimeoutExpired:
                self.kill()
        self.qtest.close()
        self.monitor.close()
        self.log.close()
        self.dir.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    # ---- QMP ----

    def qmp_raw(self, command, **arguments):
        request = {"execute": command}
        if arguments:
            request["arguments"] = {key.replace("_", "-"): value for key, value in arguments.items()}
        self.monitor.send(json.dumps(request))
        while True:
            answer = json.loads(self.monitor.line())
            if "event" not in answer:
                return answer

    def qmp(self, command, **arguments):
        answer = self.qmp_raw(command, **arguments)
        if "error" in answer:
            raise AssertionError(f"{command}: {answer['error']['desc']}")
        return answer["return"]

    def qmp_error(self, command, **arguments):
        """The text of the error that the command ends with; "" if it works."""
        return self.qmp_raw(command, **arguments).get("error", {}).get("desc", "")

    def hmp(self, line):
        return self.qmp("human-monitor-command", command_line=line)

    # ---- qtest ----

    def command(self, line):
        self.qtest.send(line)
        answer = self.qtest.line().split(" ", 1)
        if answer[0] != "OK":
            raise AssertionError(f"qtest '{line[:60]}': {answer}")
        return answer[1] if len(answer) > 1 else ""

    def load(self, address, size):
        return int(self.command(f"read{' bw l   q'[size]} {address:#x}"), 16)

    def store(self, address, size, value):
        self.command(f"write{' bw l   q'[size]} {address:#x} {value & ((1 << 8 * size) - 1):#x}")

    def outl(self, port, value):
        self.command(f"outl {port:#x} {value:#x}")

    def inl(self, port):
        return int(self.command(f"inl {port:#x}"), 16)

    def read(self, address, size):
        return base64.b64decode(self.command(f"b64read {address:#x} {size:#x}")) if size else b""

    def write(self, address, data):
        if data:
            self.command(f"b64write {address:#x} {len(data):#x} {base64.b64encode(data).decode()}")


def start_error(*args, **kwargs):
    """What QEMU prints when it refuses to start with these arguments; fails if it starts."""
    try:
        Qemu(*args, **kwargs).close()
    except QemuDied as error:
        return str(error)
    raise AssertionError(f"QEMU started with {args}")


def wait_until(condition, seconds, step=0.02):
    """Polls condition; its first true value, or the last false one after the time."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > deadline:
            return value
        time.sleep(step)
