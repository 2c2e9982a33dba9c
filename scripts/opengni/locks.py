# SPDX-License-Identifier: GPL-2.0-or-later
"""Locks on files that go with the process that holds them, however it ends: so a lock tells who lives, where a process number
may have been given to somebody else. They are locks of open file descriptions, which also hold on shared folders and are seen
from other namespaces of processes; amd64's layout of struct flock."""

import fcntl
import os
import struct

from .errors import ConfigError

_FLOCK = struct.Struct("@hhqqi0q")


def _whole(kind):
    return _FLOCK.pack(kind, os.SEEK_SET, 0, 0, 0)


def is_locked(fd):
    """Whether somebody else holds a lock on some part of the file. Nobody is disturbed by the question."""
    return _FLOCK.unpack(fcntl.fcntl(fd, fcntl.F_OFD_GETLK, _whole(fcntl.F_WRLCK)))[0] != fcntl.F_UNLCK


def take(fd):
    """Lock the file, open for writing, until it is closed; False if somebody else holds it."""
    try:
        fcntl.fcntl(fd, fcntl.F_OFD_SETLK, _whole(fcntl.F_WRLCK))
    except BlockingIOError:
        return False
    return True


def names(fd, path):
    """Whether the path still leads to the open file, and not to another one or none."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(fd))
    except FileNotFoundError:
        return False


class Claim:
    """A file whose lock says that somebody lives; its text is the number of the holder's process."""

    def __init__(self, path):
        """Take it. ConfigError if somebody else holds it; OSError if the file cannot be made."""
        self.path = path
        while True:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            if not take(self._fd):
                os.close(self._fd)
                raise ConfigError(f"process {holder(path) or '?'} holds {path}")
            if names(self._fd, path):
                break
            os.close(self._fd)  # the holder before has removed it meanwhile
        os.ftruncate(self._fd, 0)
        os.write(self._fd, f"{os.getpid()}\n".encode())

    def release(self):
        """Remove the file and let others have it."""
        self.path.unlink(missing_ok=True)
        os.close(self._fd)


def holder(path):
    """Number of the process that holds a claim: 0 if it has not written it yet, None if nobody does."""
    try:
        with open(path, "rb") as file:
            return int(file.read() or 0) if is_locked(file.fileno()) else None
    except (OSError, ValueError):
        return None
