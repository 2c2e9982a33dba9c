# SPDX-License-Identifier: GPL-2.0-or-later
"""libdmapp in jobs on nodes: every family of functions between PEs of several nodes, and of one."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from opengni import host
from gnitest.testing import ClusterCase

SOURCE = host.TOP / "selftests/dmapp/whole.c"
PARTS = ["begin", "heap and statics", "registered memory", "long transfers", "elements", "flags", "atomics", "locks", "sets", "children"]


class Dmapp(ClusterCase):
    SHARES = "four"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = Path(tempfile.mkdtemp(prefix="opengni-dmapp-"))
        cls.addClassCleanup(shutil.rmtree, folder)
        flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", "cray-dmapp"], text=True, env={
            **os.environ, "PKG_CONFIG_SYSROOT_DIR": str(host.BUILD / "stage"), "PKG_CONFIG_PATH": str(host.BUILD / "stage/usr/lib/pkgconfig")}).split()
        program = folder / "whole"
        subprocess.run(["cc", "-std=c99", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, SOURCE, *flags], check=True)
        for node in range(cls.NODES):
            done = cls.cluster.run(node, "cat >/whole && chmod +x /whole", stdin=program.read_bytes())
            assert done.code == 0, done

    def whole(self, npes, per_node):
        results = self.cluster.run_application(["/whole"], npes, per_node=per_node)
        self.assertEqual([(result.code, result.stderr) for result in results], [(0, "")] * npes)
        self.assertEqual(results[0].stdout.splitlines(), PARTS)

    def test_a_pe_on_each_node(self):
        self.whole(4, 1)

    def test_two_pes_on_each_node(self):
        self.whole(8, 2)

    def test_one_pe(self):
        self.whole(1, 1)
