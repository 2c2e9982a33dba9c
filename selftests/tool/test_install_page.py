# SPDX-License-Identifier: GPL-2.0-or-later
"""Documentation/install.md: the commands of its sections about the source tree are run in their order, for a root and a home of their own."""

import os
import re
import shutil
import tempfile
import unittest
from pathlib import Path

from commands import run
from installation import KERNEL, REFUSED, RELEASE, picture
from gnitest import pages
from gnitest.testing import slow_tests
from opengni import host

PAGE = pages.text("Documentation/install.md")
# Sections 1 and 2: the command, what is run in its place (DESTDIR, a release of which no machine is at hand), what that prints.
STEPS = {
    "make install": ("make install DESTDIR=$ROOT", r"installed \d+ files below .*/root/usr/local$"),
    "make install prefix=$HOME/.local": ("", r"installed \d+ files below .*/home/\.local$"),
    "make install prefix=/usr DESTDIR=/mnt": ("make install prefix=/usr DESTDIR=$ROOT/mnt", r"installed \d+ files below .*/mnt/usr$"),
    "make uninstall": ("make uninstall DESTDIR=$ROOT; make uninstall prefix=/usr DESTDIR=$ROOT/mnt", r"\A\Z"),
    "sudo modprobe -d $HOME/.local aries": ("modprobe -d $HOME/.local -S $RELEASE --show-depends aries", r"insmod .*/home/\.local/lib/modules/.*/aries\.ko"),
    "sudo cp ~/.local/lib/udev/rules.d/90-kgni.rules /etc/udev/rules.d/": ("cp ~/.local/lib/udev/rules.d/90-kgni.rules $ROOT/", r"\A\Z"),
    "export PATH=$HOME/.local/bin:$PATH PKG_CONFIG_PATH=$HOME/.local/lib/pkgconfig LD_LIBRARY_PATH=$HOME/.local/lib": ("", r"\A\Z"),
    "cluster run -n 2 -- gni-perf --tests fma-put": ("", r"node 0: .*fma-put"),
    "gcc -o first-put ~/.local/share/doc/opengni/examples/first-put.c $(pkg-config --cflags --libs cray-ugni cray-pmi)": ("", r"\A\Z"),
}


class Shown(unittest.TestCase):
    def test_every_command_is_known(self):
        """Packages are test_chroot.py's; a container's steps, as far as they are not podman's own, test_containerfile.py's."""
        packages = pages.commands(pages.section(PAGE, "3. Debian packages"))
        containers = pages.commands(pages.section(PAGE, "4. Other hosts"))
        self.assertEqual(pages.commands(PAGE), [*STEPS, *packages, *containers])
        for line in containers:
            self.assertRegex(line, r"^(sudo dnf install|podman (build|run)) ")


@unittest.skipUnless(slow_tests(), "in check-all")
class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="opengni-install-page-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("home", "root/mnt"):
            (self.folder / name).mkdir(parents=True)

    def test_from_the_source_tree_and_used(self):
        """One shell, so that what is exported holds for those that follow."""
        before = picture(self.folder / "root")
        script = [f"make() {{ command make -C {host.TOP} --no-print-directory OPENGNI_BUILD={host.BUILD} \"$@\"; }}"]
        for number, (command, (instead, _)) in enumerate(STEPS.items()):
            script += [f"echo; echo '@@ {number}'", instead or command]
        environment = {name: text for name, text in os.environ.items() if name not in ("OPENGNI_BUILD", "XDG_STATE_HOME")}
        environment |= {"HOME": str(self.folder / "home"), "ROOT": str(self.folder / "root"), "RELEASE": RELEASE, "KERNEL": KERNEL}
        status, output = run("bash", "-ec", "\n".join(script), cwd=self.folder, env=environment)
        self.assertEqual(status, 0, output[-4000:])
        parts = re.split(r"^@@ \d+$", output, flags=re.M)[1:]
        self.assertEqual(len(parts), len(STEPS))
        for (command, (_, pattern)), printed in zip(STEPS.items(), parts):
            with self.subTest(command):
                self.assertRegex(printed.strip(), re.compile(pattern, re.M))
        self.assertIn(REFUSED, run(self.folder / "first-put", env={**environment, "LD_LIBRARY_PATH": f"{self.folder}/home/.local/lib"})[1])
        (self.folder / "root/90-kgni.rules").unlink()
        self.assertEqual(picture(self.folder / "root"), before)
