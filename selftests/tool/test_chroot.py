# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""The Debian packages in a Debian of their own: installed, used, the modules built by DKMS, and purged without a trace."""

import os
import re
import shutil
import subprocess
import unittest

import chroot
from commands import run
from installation import KERNEL, REFUSED
from opengni import host
from opengni.testing import slow_tests

DEBS = host.BUILD / "deb"
MODULES = ("aries", "kgni", "krca", "ipogif")
# What dpkg, apt and the installed packages of others keep for themselves.
NOT_OURS = re.compile(r"^\./(proc|sys|dev|tmp|run|var/(cache|log|lib/(dpkg|apt|dkms/mok))|etc/ld\.so\.cache|etc/apt)|__pycache__|\.pyc$")


def releases():
    """Of the kernels whose headers the project builds for."""
    found = {}
    for kernel in ("6.1", "6.12"):
        status, output = run(host.TOP / "scripts/setup.sh", "--list", env={**os.environ, "KERNEL": kernel})
        match = re.search(r"^linux-headers-(.*)$", output, re.M)
        if status == 0 and match:
            found[kernel] = match[1]
    return found


@unittest.skipUnless(slow_tests(), "in check-all")
class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        reason = chroot.obstacle()
        if reason:
            raise unittest.SkipTest(reason)
        status, output = run(host.TOP / "scripts/build-deb.sh")
        if status:
            raise AssertionError(output)
        cls.packages = [line.rsplit("/", 1)[1].split("_")[0] for line in output.splitlines() if line.endswith(".deb") and "-dbgsym_" not in line]
        cls.place = chroot.Chroot("bookworm")
        cls.addClassCleanup(cls.place.remove)
        cls.root = cls.place.root
        cls.kernels = releases()

    def sh(self, command, status=0):
        """A shell command in the chroot, as root; its output."""
        result, output = self.place.sh(command, KERNEL=KERNEL)
        self.assertEqual(result, status, f"{command}\n{output[-4000:]}")
        return output

    def files(self):
        found = subprocess.run(["find", ".", "-xdev"], cwd=self.root, capture_output=True, text=True, check=True).stdout.splitlines()
        return {name for name in found if not NOT_OURS.search(name)}

    def test_there_and_back(self):
        """One test, since each step needs those before it."""
        self.sh("apt-get update -q && apt-get install -qy --no-install-recommends gcc libc6-dev make pkg-config python3 dkms")
        for kernel, release in list(self.kernels.items()):
            if "linux-headers" not in self.sh(f"apt-cache policy linux-headers-{release}"):
                del self.kernels[kernel]
        self.assertIn("6.1", self.kernels, "no headers to build for")
        self.sh("apt-get install -qy --no-install-recommends " + " ".join(f"linux-headers-{release}" for release in self.kernels.values()))
        for release in self.kernels.values():
            self.sh(f"depmod {release}")  # as DKMS does, for who has modules
        before = self.files()
        place = self.root / "tmp/debs"
        place.mkdir()
        for path in DEBS.glob("*.deb"):
            if "-dbgsym_" not in path.name:
                shutil.copy(path, place)
        self.sh("apt-get install -qy --no-install-recommends /tmp/debs/*.deb")
        self.assertEqual(self.sh("dpkg --audit"), "")
        with self.subTest("programs"):
            self.programs()
        with self.subTest("guest"):
            self.assertRegex(self.sh("cluster run -n 1 --no-label --boot-timeout 600 -- aries-info"), "Aries")
        for release in self.kernels.values():
            with self.subTest("modules", release=release):
                self.modules(release)
        self.sh(f"apt-get purge -qy {' '.join(self.packages)} && apt-get autoremove -qy --purge "
                "-o APT::AutoRemove::RecommendsImportant=false -o APT::AutoRemove::SuggestsImportant=false")
        shutil.rmtree(self.root / "root/.local", ignore_errors=True)  # the user's own: logs of the cluster that ran
        self.assertEqual(self.sh("dpkg-query -W -f '${Package} ${db:Status-Abbrev}\\n' | grep -E '(opengni|ugni|aries-dkms)' || true"), "")
        self.assertEqual(self.files() - before, set())
        self.assertEqual(before - self.files(), set())

    def programs(self):
        """The first put is compiled and runs; so do the tools."""
        self.sh("gcc -Wall -Werror -o /tmp/first-put /usr/share/doc/libugni-dev/examples/first-put.c "
                "$(pkg-config --cflags --libs cray-ugni cray-pmi)")
        self.assertIn(REFUSED, self.sh("/tmp/first-put", status=1))
        for name in ("cluster", "aprun", "aries-topo", "aries-net", "aries-sim", "gni-perf"):
            self.assertRegex(self.sh(f"{name} --help").lower(), "usage|options", name)
        line = self.sh("cluster run --print-commands -n 1")
        for name in ("/usr/libexec/opengni/qemu-system-x86_64", f"/usr/lib/opengni/images/vmlinuz-{KERNEL}"):
            self.assertIn(name, line)

    def modules(self, release):
        """DKMS builds them, and a module of somebody else with their symbols."""
        self.sh(f"dkms autoinstall -k {release}")
        for name in MODULES:
            self.assertRegex(self.sh(f"modinfo -k {release} {name}"), rf"filename: +/lib/modules/{re.escape(release)}/updates/dkms/{name}\.ko")
        shutil.copytree(host.TOP / "selftests/external", self.root / "tmp/external", dirs_exist_ok=True)
        self.sh(f"cd /tmp/external && export GNICPPFLAGS=\"$(pkg-config --cflags cray-gni cray-krca)\" "
                f"KBUILD_EXTRA_SYMBOLS=\"$(pkg-config --define-variable=kernel={release} --variable=symvers cray-gni)\" && "
                f"make -C /lib/modules/{release}/build M=$PWD clean modules")


if __name__ == "__main__":
    unittest.main()
