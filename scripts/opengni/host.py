# SPDX-License-Identifier: GPL-2.0-or-later
"""What this machine offers: acceleration, memory, places for files."""

import ctypes
import os
import platform
import re
import signal
from pathlib import Path

from .errors import ConfigError

PACKAGE = Path(__file__).resolve().parent
TOP = PACKAGE.parents[1]
# `make install` puts this package at PREFIX/share/opengni/opengni; None in the source tree.
PREFIX = PACKAGE.parents[2] if PACKAGE.parts[-3:] == ("share", "opengni", "opengni") else None
SCRIPTS = "" if PREFIX else "scripts/"
"""What is put before the name of a command of ours in a message: after installation it is found by PATH."""


def _state():
    """The folder for logs and sockets of an installed `cluster`: the user's own."""
    home = os.path.expanduser("~")
    # without a home nothing can be made there, and the message about that names the variable
    return Path(os.environ.get("XDG_STATE_HOME") or f"{home if os.path.isabs(home) else '/nonexistent'}/.local/state") / "opengni"


BUILD = Path(os.environ["OPENGNI_BUILD"]) if os.environ.get("OPENGNI_BUILD") else _state() if PREFIX else TOP / ".build"
RUN = BUILD / "run"

FIRMWARE = (Path("/usr/share/qemu"), Path("/usr/share/seabios"))
"""Where Debian's packages seabios and qemu-system-data put what a machine starts with."""
STATE_VARIABLE = "XDG_STATE_HOME" if PREFIX else "OPENGNI_BUILD"
"""The variable that moves RUN."""

PR_SET_PDEATHSIG = 1


def product(built, installed):
    """Path of a file that `make` builds, by its places below BUILD and below the prefix; OPENGNI_BUILD, if set, is preferred."""
    return PREFIX / installed if PREFIX and not os.environ.get("OPENGNI_BUILD") else BUILD / built


def missing(target, package=""):
    """The way out, for an error message, when a product of `make TARGET` is not there; package: the Debian package that has it."""
    if not PREFIX:
        return f"make {target}"
    return f"{f'install package {package}, or ' if package else ''}run 'make {target} install' in the source tree"


def tsc_khz(cpuinfo=Path("/proc/cpuinfo")):
    """Rate of this processor's time stamp counter in kHz; None where it is not known.

    Linux takes BogoMIPS from that counter, at two a cycle, in two decimals: two millionths.
    """
    if platform.machine() != "x86_64":
        return None
    try:
        match = re.search(r"^bogomips\s*:\s*(\d+)\.(\d\d)$", cpuinfo.read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return None
    khz = int(match[1] + match[2]) * 5 if match else 0
    return khz if 100_000 <= khz <= 20_000_000 else None


def distribution():
    """What runs here, as 'debian 12'."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return "unknown"
    return f"{release['ID']} {release.get('VERSION_ID', '')}"


def accelerator():
    """('kvm' or 'tcg', why).

    A /dev/kvm without vmx or svm in /proc/cpuinfo is not trusted: stock guest
    kernels do not run on it. OPENGNI_ACCEL=tcg or kvm overrides.
    """
    wanted = os.environ.get("OPENGNI_ACCEL")
    if wanted:
        if wanted not in ("kvm", "tcg"):
            raise ConfigError(f"OPENGNI_ACCEL is '{wanted}', not kvm or tcg")
        return wanted, "OPENGNI_ACCEL says so"
    try:
        flags = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace"), re.M)
    except OSError:
        flags = None
    if not flags or not {"vmx", "svm"} & set(flags.group(1).split()):
        return "tcg", "/proc/cpuinfo has neither vmx nor svm"
    try:
        os.close(os.open("/dev/kvm", os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        return "tcg", f"/dev/kvm: {error.strerror}"
    return "kvm", "/dev/kvm is there"


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


def processes():
    """(number, name, fields of /proc/PID/stat behind the name: state, parent, ...) of each process."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            name, rest = (entry / "stat").read_text(encoding="ascii", errors="replace").split("(", 1)[1].rsplit(")", 1)
        except (OSError, IndexError, ValueError):  # it ends meanwhile
            continue
        yield int(entry.name), name, rest.split()


def processor_seconds(pid):
    """Seconds that processors have worked for a process, its children that have ended, and all of its descendants that run."""
    children, ticks = {}, {}
    for number, _, fields in processes():
        children.setdefault(int(fields[1]), []).append(number)
        ticks[number] = sum(map(int, fields[11:15]))
    found, unseen = 0, [pid]
    while unseen:
        at = unseen.pop()
        found += ticks.get(at, 0)
        unseen += children.get(at, [])
    return found / os.sysconf("SC_CLK_TCK")


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
