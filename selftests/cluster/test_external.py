# SPDX-License-Identifier: GPL-2.0-or-later
"""A module outside of the tree, built as Documentation/kgni.md says with what `make install` leaves, and loaded."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from gnitest.testing import slow_tests
from opengni import host

from external import KERNEL, PREFIX, ExternalCase

SAMPLE = host.TOP / "selftests/external"


class External(ExternalCase):
    SHARES = "pair"
    LEAVES = "an end point of a client that kGNI has to keep"

    def make(self, switches="", ok=True):
        """Copies the sample and builds it: what the build said, and the folder."""
        folder = Path(tempfile.mkdtemp(dir=self.root))
        for name in ("Kbuild", "gni_external.c"):
            shutil.copy(SAMPLE / name, folder)
        return self.sh(f"{self.set}; {self.build} W=1 SWITCHES='{switches}'", folder, ok), folder

    def load(self, folder, parameters=""):
        """Loads the sample with the guest's kGNI, and unloads it; what it said."""
        module = (folder / "gni_external.ko").read_bytes()
        self.succeed(self.cluster.run(0, "modprobe kgni && modprobe krca && cat >/tmp/gni_external.ko", stdin=module))
        self.succeed(self.cluster.run(0, f"insmod /tmp/gni_external.ko {parameters}; code=$?; rmmod gni_external; exit $code"))
        return self.cluster.run(0, "dmesg | sed -n 's/.*gni_external: //p' | tail -1").stdout.strip()

    def test_documented_way(self):
        output, folder = self.make()
        self.assertNotIn("warning", output)
        self.assertRegex(self.load(folder), r"^service, timeout 60, version 0x[0-9a-f]+: 0$")

    def test_switches_of_old_clients(self):
        output, folder = self.make("-DCONFIG_CRAY_ARIES=1 -DCONFIG_CRAY_XT -DCONFIG_CRAY_COMPUTE -DGNILND_USE_RCA=1")
        self.assertNotIn("warning", output)
        self.assertRegex(self.load(folder), r"^compute, timeout 60, version")
        output, _ = self.make("-DCONFIG_CRAY_GEMINI", ok=False)
        self.assertRegex(output, "error: .*CONFIG_CRAY_GEMINI is set, and this is kGNI of an Aries network")

    def test_what_a_client_leaves_behind(self):
        """It keeps kgni.ko, and aries.ko with it: both are still called when the NIC is reset."""
        self.assertRegex(self.load(self.make()[1], "leave=1"), ": 0$")
        for module in ("kgni", "aries"):
            self.assertRegex(self.cluster.run(0, f"rmmod {module}").stderr, "(in use|[Rr]esource temporarily unavailable)")
        self.succeed(self.cluster.run(0, "echo 1 >/sys/class/gni/kgni0/device/reset"))
        self.load(self.make()[1])

    def test_without_the_symbols(self):
        """They are what the link needs: without them it ends, and says which are missing."""
        self.set += "; unset KBUILD_EXTRA_SYMBOLS"
        self.assertRegex(self.make(ok=False)[0], "\"gni_cdm_create\".* undefined")

    def test_what_configure_scripts_ask(self):
        flags = self.sh("pkg-config --cflags cray-gni cray-gni-headers cray-krca lsb-cray-hss").split()
        place = next(Path(flag[2:]) for flag in flags if flag.startswith("-I") and flag.endswith("kernel"))
        self.assertEqual({str(path.relative_to(place)) for path in place.rglob("*.h")},
                         {"gni_pub.h", "krca_lib.h", "rsms/rs_sm_states.h", "aries/aries_timeouts_gpl.h"})
        self.assertEqual((place / "gni_pub.h").read_bytes(), (host.TOP / "driver/include/gni_pub.h").read_bytes())
        symbols = Path(self.sh("pkg-config --variable=symvers cray-gni").strip()).read_text(encoding="ascii")
        owners = {line.split("\t")[1]: line.split("\t")[2] for line in symbols.splitlines()}
        self.assertEqual([owners[name] for name in ("aries_owner_create", "gni_cdm_create", "kgni_driver_version", "krca_register")],
                         ["extra/aries", "extra/kgni", "extra/kgni", "extra/krca"])
        modules = self.root / f"lib/modules/{self.release}/extra"
        for name in ("aries", "kgni", "krca"):
            self.assertTrue((modules / f"{name}.ko").exists(), name)
        self.assertEqual(list(modules.glob("*_test.ko")), [])

    def test_taken_back(self):
        self.sh(f"{host.TOP}/scripts/install.sh --remove {self.root} {PREFIX}")
        left = [path for path in self.root.rglob("*") if path.is_file() and path.parent.name != "bin"]
        self.assertEqual(left, [])


@unittest.skipUnless(slow_tests(), "in check-all")
class OtherKernel(External):
    VERSION = "6.12" if KERNEL == "6.1" else "6.1"


class BothKernels(unittest.TestCase):
    """What is installed for one kernel stays when another one's is, and goes with it."""

    def test_list(self):
        root = Path(tempfile.mkdtemp(prefix="opengni-external-"))
        self.addCleanup(shutil.rmtree, root)
        install = [host.TOP / "scripts/install.sh", str(root), PREFIX]
        old = root / "lib/modules/5.0.0/extra/aries.ko"
        subprocess.run(install, env={**os.environ, "KERNEL": KERNEL}, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        listed = root / PREFIX[1:] / "share/opengni/files"
        old.parent.mkdir(parents=True)
        old.write_bytes(b"")
        with open(listed, "a", encoding="utf-8") as file:
            file.write("/lib/modules/5.0.0/extra/aries.ko\n/lib/modules/5.0.0/extra/\n/lib/modules/5.0.0/\n/gone\n")
        subprocess.run(install, env={**os.environ, "KERNEL": KERNEL}, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        lines = listed.read_text(encoding="utf-8").splitlines()
        self.assertIn("/lib/modules/5.0.0/extra/aries.ko", lines)
        self.assertNotIn("/gone", lines)
        subprocess.run([install[0], "--remove", *install[1:]], stdin=subprocess.DEVNULL, capture_output=True, check=True)
        self.assertEqual([path for path in root.rglob("*") if path.is_file()], [])
        self.assertFalse((root / "lib/modules/5.0.0").exists())
