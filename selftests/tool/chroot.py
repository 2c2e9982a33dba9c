# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests that need a Debian of their own: a chroot with packages, made and removed."""

import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from commands import run
from opengni import host

DEBS = host.BUILD / "deb"
KERNEL = os.environ.get("KERNEL", "6.1")
APT_OPTIONS = re.compile(r'^(Acquire::(?:https?::(?:Proxy|Timeout)\S*|Check-\S+|Retries) ".+";)$', re.M)
# In a folder of mounts of its own, which goes with the command.
ENTER = """mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/dev/shm" && exec chroot "$0" /usr/bin/env -i \\
PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@" """


def obstacle():
    """'' or why this machine lets nobody make a chroot."""
    if os.getuid():
        return "a chroot with packages takes root"
    status, output = run("unshare", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /mnt && mknod /mnt/null c 1 3 && chroot / true")
    return f"no rights for mounts, device nodes or chroot here: {output.strip()}" if status else ""


def sources(suite):
    """apt's entries for a release of Debian, in files that are made from those of this machine."""
    script = f'. {host.TOP}/scripts/lib.sh; . {host.TOP}/scripts/apt-source.sh; apt_sources {suite} deb; ls "$APT_DIR"/parts/*'
    status, output = run("bash", "-c", script)
    if status:
        raise AssertionError(output)
    return output.split()


class Chroot:
    """A minimal Debian of some release, with apt as on this machine."""

    def __init__(self, suite):
        self.root = Path(tempfile.mkdtemp(prefix="opengni-chroot-"))
        options = [f"--aptopt={text}" for text in APT_OPTIONS.findall(run("apt-config", "dump")[1])]
        status, output = run("mmdebstrap", "--variant=minbase", "--mode=root", *options, suite, str(self.root), *sources(suite))
        if status:
            self.remove()
            raise AssertionError(f"mmdebstrap: {output[-2000:]}")
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")

    def remove(self):
        """Remove all of it."""
        shutil.rmtree(self.root)

    def sh(self, command, folder="/", **environment):
        """(exit status, output and errors) of a shell command in it, as root."""
        return self._enter(["sh", "-c", ENTER, self.root], command, folder, environment)

    def try_out(self, command, folder="/", **environment):
        """The same; what it changes is forgotten."""
        with tempfile.TemporaryDirectory(prefix="opengni-chroot-") as changes:
            for name in ("new", "work", "root"):
                (Path(changes) / name).mkdir()
            mount = f'mount -t overlay overlay -o "lowerdir=$0,upperdir={changes}/new,workdir={changes}/work" {changes}/root'
            return self._enter(["sh", "-c", f'{mount} && exec sh -c \'{ENTER}\' {changes}/root "$@"', self.root], command, folder, environment)

    @staticmethod
    def _enter(how, command, folder, environment):
        return run("unshare", "--mount", "--propagation=private", *how,
                   *(f"{name}={value}" for name, value in environment.items()), "sh", "-ec", f"cd {folder}\n{command}")


class BareCase(unittest.TestCase):
    """Tests in a minimal Debian 12, once `make GOAL` has been done here."""

    GOAL = ""

    @classmethod
    def setUpClass(cls):
        reason = obstacle()
        if reason:
            raise unittest.SkipTest(reason)
        status, cls.made = run("make", "-C", host.TOP, "--no-print-directory", cls.GOAL)
        if status:
            raise AssertionError(cls.made)
        cls.place = Chroot("bookworm")
        cls.addClassCleanup(cls.place.remove)
        cls.root = cls.place.root


class ChrootCase(BareCase):
    """The same with packages: names of the project's own, which are in its /tmp/debs."""

    GOAL = "deb"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.packages = [line.rsplit("/", 1)[1].split("_")[0] for line in cls.made.splitlines() if line.endswith(".deb") and "-dbgsym_" not in line]

    def sh(self, command, status=0):
        """A shell command in the chroot, as root; its output."""
        result, output = self.place.sh(command, KERNEL=KERNEL)
        self.assertEqual(result, status, f"{command}\n{output[-4000:]}")
        return output

    def bring_packages(self):
        """Those that `make deb` has made, to /tmp/debs."""
        place = self.root / "tmp/debs"
        place.mkdir()
        for path in DEBS.glob("*.deb"):
            if "-dbgsym_" not in path.name:
                shutil.copy(path, place)
