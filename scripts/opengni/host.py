# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""What this machine offers: acceleration, memory, places for files."""

import ctypes
import os
import re
import signal
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("OPENGNI_BUILD", TOP / ".build"))
RUN = BUILD / "run"

PR_SET_PDEATHSIG = 1


def accelerator():
    """'kvm' or 'tcg'.

    A /dev/kvm without vmx or svm in /proc/cpuinfo is not trusted: stock guest
    kernels do not run on it. OPENGNI_ACCEL=tcg or kvm overrides.
    """
    wanted = os.environ.get("OPENGNI_ACCEL")
    if wanted in ("kvm", "tcg"):
        return wanted
    try:
        flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace"), re.M)
        if not flags or not {"vmx", "svm"} & set(flags.group(1).split()):
            return "tcg"
        os.close(os.open("/dev/kvm", os.O_RDWR | os.O_CLOEXEC))
    except OSError:
        return "tcg"
    return "kvm"


def cpus():
    """Processors this process may use."""
    return len(os.sched_getaffinity(0))


def available_mib():
    """Memory that can be had without swapping, in MiB; None if the kernel does not say."""
    match = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"), re.M)
    return int(match.group(1)) // 1024 if match else None


def die_with_parent():
    """For a child before exec: SIGTERM when the parent has gone, however it went."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def is_alive(pid):
    """Whether a process of that number exists and is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rsplit(")", 1)[1].split()[0] != "Z"
    except (OSError, IndexError):
        return False


def log_tail(path, lines=20):
    """The last lines of a log, indented, for an error message."""
    try:
        data = Path(path).read_bytes()[-16384:]
    except OSError:
        return "    (no log)"
    text = data.decode("utf-8", "replace").replace("\r", "").rstrip("\n").split("\n")[-lines:]
    return "\n".join("    " + line for line in text) if any(text) else "    (the log is empty)"
