# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""A Debian of its own to install packages in, for tests."""

import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from installation import KERNEL, run
from opengni import host

DEBS = host.BUILD / "deb"
SOURCES = (Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*.list"), *Path("/etc/apt/sources.list.d").glob("*.sources"))
APT_OPTIONS = re.compile(r'^(Acquire::(?:https?::(?:Proxy|Timeout)\S*|Check-\S+|Retries) ".+";)$', re.M)
# In a folder of mounts of its own, which goes with the command.
ENTER = """mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/dev/shm" && exec chroot "$0" /usr/bin/env -i \\
PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive KERNEL="$2" sh -ec "$1" """


def can_make_one():
    """'' or why this machine lets nobody make a chroot."""
    if os.getuid():
        return "a chroot with packages takes root"
    status, output = run("unshare", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /mnt && mknod /mnt/null c 1 3 && chroot / true")
    return f"no rights for mounts, device nodes or chroot here: {output.strip()}" if status else ""


class ChrootCase(unittest.TestCase):
    """Tests in a minimal Debian 12; packages: names of the project's own, which are in its /tmp/debs."""

    @classmethod
    def setUpClass(cls):
        reason = can_make_one()
        if reason:
            raise unittest.SkipTest(reason)
        status, output = run("make", "-C", host.TOP, "--no-print-directory", "deb")
        if status:
            raise AssertionError(output)
        cls.packages = [line.rsplit("/", 1)[1].split("_")[0] for line in output.splitlines() if line.endswith(".deb") and "-dbgsym_" not in line]
        cls.root = Path(tempfile.mkdtemp(prefix="opengni-chroot-"))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        sources = [str(path) for path in SOURCES if path.exists() and
                   re.search(r"^(?:deb |Suites:)(?:.*\s)?bookworm\s", path.read_text(encoding="utf-8"), re.M)]
        options = [f"--aptopt={text}" for text in APT_OPTIONS.findall(run("apt-config", "dump")[1])]
        status, output = run("mmdebstrap", "--variant=minbase", "--mode=root", *options, "bookworm", str(cls.root), *sources)
        if status:
            raise AssertionError(f"mmdebstrap: {output[-2000:]}")
        shutil.copy("/etc/resolv.conf", cls.root / "etc/resolv.conf")

    def sh(self, command, status=0):
        """A shell command in the chroot, as root; its output."""
        result, output = run("unshare", "--mount", "--propagation=private", "sh", "-c", ENTER, self.root, command, KERNEL)
        self.assertEqual(result, status, f"{command}\n{output[-4000:]}")
        return output

    def bring_packages(self):
        """Those that `make deb` has made, to /tmp/debs."""
        place = self.root / "tmp/debs"
        place.mkdir()
        for path in DEBS.glob("*.deb"):
            if "-dbgsym_" not in path.name:
                shutil.copy(path, place)
