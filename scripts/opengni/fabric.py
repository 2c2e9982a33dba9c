# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""Segment files of fabrics: which processes use them, and files left over from a crash."""

import os
from pathlib import Path

from . import host
from .errors import ConfigError

SHM = Path("/dev/shm")
PREFIX = "aries-"


def files(name):
    """The segment and the sockets beside it."""
    base = SHM / (PREFIX + name)
    return [path for path in SHM.glob(PREFIX + name + "*") if path == base or path.name[len(base.name)] in ".-"]


def segments(prefix="opengni-"):
    """Names of all fabrics made by this tool."""
    names = {path.name[len(PREFIX):].split(".")[0] for path in SHM.glob(PREFIX + prefix + "*")}
    return sorted(names)


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
    """Delete the files of a fabric; the caller has checked that nobody uses them."""
    for path in files(name):
        path.unlink(missing_ok=True)
