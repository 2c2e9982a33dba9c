# SPDX-License-Identifier: GPL-2.0-or-later
"""Waiting that does not fail because a machine is slow.

Limits of tests are counted in seconds of a machine that does nothing else: while other programs want the processors
too, or the hypervisor takes them away, this clock runs slower than the one on the wall. And who waits for a long
piece of work counts its silence, not its duration: as long as it says something it gets on.
"""

import asyncio
import os
import subprocess
import threading
import time
from pathlib import Path

from opengni import host

PERIOD = 0.5  # seconds between two samples


def running_threads(loadavg):
    """Number of threads that run or are runnable, from the text of /proc/loadavg ("0.5 0.4 0.3 3/456 789": 3)."""
    return int(loadavg.split()[3].split("/")[0])


def stolen_ticks(stat):
    """(ticks that a hypervisor took, ticks in all) of all processors, from the text of /proc/stat."""
    ticks = [int(word) for word in stat.split("\n", 1)[0].split()[1:9]]
    return (ticks[7] if len(ticks) > 7 else 0), sum(ticks)


class Clock:
    """Seconds, weighted with the share of a processor that each runnable thread gets."""

    def __init__(self, cpus, read=lambda name: Path(name).read_text(encoding="ascii"), wall=time.monotonic):
        self._cpus, self._read, self._wall = cpus, read, wall
        self._lock = threading.Lock()
        self._at, self._passed, self._rate = wall(), 0.0, 1.0
        self._ticks = (0, 0)
        self.look()

    def look(self):
        """Take a new sample, which holds until the next one."""
        try:
            rate = min(1.0, self._cpus / max(1, running_threads(self._read("/proc/loadavg"))))
            stolen, total = stolen_ticks(self._read("/proc/stat"))
        except (OSError, ValueError, IndexError):
            return
        with self._lock:
            if self._ticks[1] and total > self._ticks[1]:
                rate *= max(0.05, 1 - (stolen - self._ticks[0]) / (total - self._ticks[1]))
            self._ticks = (stolen, total)
            self._settle()
            self._rate = rate

    def now(self):
        """Seconds since this clock was made; never goes back."""
        with self._lock:
            self._settle()
            return self._passed

    def _settle(self):
        wall = self._wall()
        self._passed += (wall - self._at) * self._rate
        self._at = wall


_made = []
_making = threading.Lock()


def clock():
    """The clock of this process; a thread takes its samples."""
    with _making:
        if not _made:
            _made.append(Clock(host.cpus()))
            threading.Thread(target=_sample, args=(_made[0],), daemon=True, name="patience").start()
        return _made[0]


def _sample(made):
    while True:
        time.sleep(PERIOD)
        made.look()


class PatientLoop(asyncio.SelectorEventLoop):
    """Event loop whose time-outs are measured by the clock above."""

    def time(self):
        return clock().now()


class Silent(Exception):
    """A program has printed nothing for too long."""


def descendants(pid):
    """Names of the descendants of @pid that have no children themselves, that is, what it is waiting for."""
    children, names = {}, {}
    for number, name, fields in host.processes():
        children.setdefault(int(fields[1]), []).append(number)
        names[number] = name
    leaves, unseen = [], list(children.get(pid, []))
    while unseen:
        child = unseen.pop()
        unseen += children.get(child, [])
        if child not in children:
            leaves.append(names[child])
    return sorted(leaves)


def wait_speaking(process, log, silence, clock_of=clock, pause=1.0):
    """Wait for the end of a subprocess that writes to the file @log; its exit status.

    Raises Silent when the file has not grown for @silence seconds of the clock above; the process is left to the
    caller then.
    """
    used = clock_of()
    size, since = -1, used.now()
    while True:
        try:
            return process.wait(pause)
        except subprocess.TimeoutExpired:
            pass
        grown = os.stat(log).st_size
        if grown != size:
            size, since = grown, used.now()
        elif used.now() - since > silence:
            raise Silent(f"no output for {silence:g} s; it is at {', '.join(descendants(process.pid)) or 'itself'}")
