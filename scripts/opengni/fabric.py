# SPDX-License-Identifier: GPL-2.0-or-later
"""Segment files of fabrics: whether they are used and by which processes, and files left over from a crash."""

import fcntl
import os
import re
from pathlib import Path

from . import host, locks
from .errors import ConfigError

SHM = Path("/dev/shm")
PREFIX = "aries-"
_MADE_HERE = re.compile(re.escape(PREFIX) + r"(opengni-\d+-[^.]+)")


def name_of(cluster):
    """The fabric's name for a cluster of this user. What is beside a segment has its name and a dot, such as '.wake0': so no
    fabric's name has a dot. '_d' stands for it, and '__' for '_', so that different clusters have different fabrics."""
    return f"opengni-{os.getuid()}-{cluster.replace('_', '__').replace('.', '_d')}"


def files(name):
    """The segment, the sockets and the files beside it."""
    return [path for path in SHM.iterdir() if path.name == PREFIX + name or path.name.startswith(f"{PREFIX}{name}.")]


def segments():
    """Names of all fabrics that this tool has made and this user may remove: root those of all users."""
    found = set()
    for path in SHM.iterdir():
        match = _MADE_HERE.match(path.name)
        try:
            if match and os.getuid() in (0, path.lstat().st_uid):
                found.add(match[1])
        except FileNotFoundError:
            continue
    return sorted(found)


def users(name):
    """Processes that have the segment mapped or open (of those this user may look at)."""
    segment = str(SHM / (PREFIX + name))
    pids = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        if segment in _links(entry / "fd"):
            pids.append(int(entry.name))
    return pids


def _links(folder):
    """Targets of the links in a folder of /proc. Links that vanish meanwhile are skipped."""
    targets = []
    try:
        for link in folder.iterdir():
            try:
                targets.append(os.readlink(link))
            except OSError:
                continue
    except OSError:
        pass
    return targets


def check_free(name):
    """Raise ConfigError if the fabric exists."""
    if not files(name):
        return
    pids = users(name)
    if pids:
        who = ", ".join(str(pid) for pid in pids)
        raise ConfigError(f"fabric {name} is in use by process {who}: take another --name, or end that cluster")
    raise ConfigError(f"files of fabric {name} are left from a crash: remove them with '{host.SCRIPTS}cluster clean'")


def remove(name):
    """Delete the files of a fabric; False if somebody uses it. Members of a fabric hold a lock on a part of its segment, which is
    seen even where their processes are not, and who joins or leaves locks all of it: so nobody joins what is being removed."""
    if users(name):
        return False
    segment = SHM / (PREFIX + name)
    try:
        fd = os.open(segment, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        _unlink(name)
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if locks.is_locked(fd):
            return False
        if locks.names(fd, segment):
            _unlink(name)
        return True
    except BlockingIOError:
        return False
    finally:
        os.close(fd)


def _unlink(name):
    for path in files(name):
        path.unlink(missing_ok=True)
