# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian packages in a Debian of their own: installed, used, the modules built by DKMS, and purged without a trace."""

import os
import re
import shlex
import shutil
import subprocess
import unittest

from chroot import DEBS, ChrootCase
from commands import run
from installation import KERNEL, REFUSED
from gnitest import pages
from gnitest.testing import slow_tests
from opengni import host

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
class Packages(ChrootCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.kernels = releases()

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
            self.sh(f"depmod {release}")  # as DKMS does after it has installed modules
        before = self.files()
        self.bring_packages()
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
        for name in ("/usr/libexec/opengni/qemu-system-x86_64", f"/opengni/kernels/vmlinuz-{KERNEL}-"):
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


@unittest.skipUnless(slow_tests(), "in check-all")
class Shown(ChrootCase):
    """The commands with apt that Documentation/install.md and nodes.md show. They ask before they install; nobody is there to say yes."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.release = releases()["6.1"]
        (cls.root / "etc/apt/apt.conf.d/90yes").write_text('APT::Get::Assume-Yes "true";\nAPT::Install-Recommends "false";\n', encoding="ascii")
        # The machine whose kernel this is runs another release.
        uname = cls.root / "usr/local/bin/uname"
        uname.write_text(f'#!/bin/sh\n[ "$*" = -r ] && echo {cls.release} || exec /bin/uname "$@"\n', encoding="ascii")
        uname.chmod(0o755)

    def do(self, commands, folder):
        """Lines of a page, in a folder where the packages are."""
        (self.root / folder).mkdir(parents=True)
        for path in DEBS.glob("*.deb"):
            if "-dbgsym_" not in path.name:
                shutil.copy(path, self.root / folder)
        self.sh("apt-get update -q")
        for command in commands:
            self.sh(f"cd /{folder.split('/')[0]}; exec bash -ec {shlex.quote('PATH=/usr/local/bin:$PATH; ' + command)}")
        self.assertEqual(self.sh("dpkg --audit"), "")

    def test_install(self):
        """make deb has been run before."""
        first, *others = pages.commands(pages.section(pages.text("Documentation/install.md"), "3. Debian packages"))
        self.assertEqual(first, "make deb")
        self.do(others, "install/.build/deb")
        self.assertRegex(self.sh("cluster run --print-commands -n 1"), "/usr/libexec/opengni/qemu-system-x86_64")

    def test_node(self):
        """The modules are built by DKMS for the kernel that runs."""
        self.do(pages.commands(pages.section(pages.text("Documentation/nodes.md"), "4. What a system needs to be a node")), "node")
        for name in MODULES:
            self.assertRegex(self.sh(f"modinfo -k {self.release} {name}"), rf"filename: +/lib/modules/{re.escape(self.release)}/updates/dkms/{name}\.ko")
        for name in ("/lib/systemd/system/gni-agent.service", "/lib/udev/rules.d/90-kgni.rules", "/usr/libexec/opengni/node-setup"):
            self.assertTrue((self.root / name[1:]).exists(), name)
