# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests of modules outside of the tree: what `make install` leaves, in a folder of its own, and a guest with that kernel."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from gnitest.testing import ClusterCase
from opengni import host

KERNEL = os.environ.get("KERNEL", "6.1")
PREFIX = "/usr/local"


def documented():
    """The commands of the document: how to install, what to set, how to build."""
    text = (host.TOP / "Documentation/kgni.md").read_text(encoding="utf-8").split("## Modules outside of the tree\n\n")[1]
    return re.match(r"((?:    .*\n)+)", text)[1].replace("    ", "").splitlines()


class ExternalCase(ClusterCase):
    VERSION = KERNEL

    @classmethod
    def setUpClass(cls):
        if cls.VERSION != KERNEL:
            cls.CONFIG = {**cls.CONFIG, "kernel": cls.VERSION, "initrd": str(host.BUILD / f"initramfs-check-{cls.VERSION}.cpio")}
        super().setUpClass()

    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="opengni-external-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.release = (host.BUILD / f"kernel-{self.VERSION}/release").read_text(encoding="ascii").strip()
        # what the guest's kernel says; the rest of the machine that builds is as it is
        uname = self.root / "bin/uname"
        uname.parent.mkdir()
        uname.write_text(f"#!/bin/sh\n[ \"$*\" = -r ] && echo {self.release} || exec /usr/bin/uname \"$@\"\n", encoding="ascii")
        uname.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{uname.parent}:{os.environ['PATH']}", "KERNEL": self.VERSION,
                            "PKG_CONFIG_PATH": str(self.root / PREFIX[1:] / "lib/pkgconfig")}
        for name in ("GNICPPFLAGS", "KBUILD_EXTRA_SYMBOLS", "MAKEFLAGS", "MFLAGS"):
            self.environment.pop(name, None)
        install, self.set, self.build = documented()
        self.assertEqual(install, "make install")
        self.sh(f"{host.TOP}/scripts/install.sh {self.root} {PREFIX}")

    def tearDown(self):
        for node in range(self.NODES):
            self.cluster.run(node, "rmmod krca; rmmod kgni")

    def sh(self, command, folder=None, ok=True):
        result = subprocess.run(["bash", "-c", command], cwd=folder, env=self.environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(result.returncode == 0, ok, result.stdout[-4000:])
        return result.stdout
