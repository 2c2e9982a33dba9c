# SPDX-License-Identifier: GPL-2.0-or-later
"""Nodes that boot Debian 12 from a disk (make debian-image): by its own boot loader, with systemd, udev and the project's packages."""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from debian_image import IMAGE, KERNEL, make_image
from gnitest.testing import Apart, ClusterCase, slow_tests, together
from opengni import disk, host

RELEASE = host.BUILD / f"kernel-{KERNEL}/release"
PATIENCE = 240.0
# The agent answers before the last unit has started.
BOOTED = "systemctl is-system-running --wait >/dev/null; "


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@together(Apart.ETHERNET)
@unittest.skipUnless(slow_tests(), "in check-all")
class Debian(ClusterCase):
    CONFIG = {"disk": str(IMAGE), "initrd": "", "net": True, "ipogif": True, "append": "opengni.test=a,b", "boot_timeout": 1800.0}

    @classmethod
    def setUpClass(cls):
        make_image()
        cls.before = digest(IMAGE)
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        if digest(IMAGE) != cls.before:
            raise AssertionError(f"{IMAGE} was written to")
        left = [path for node in range(cls.NODES) if (path := disk.path(cls.cluster.config, node)).exists()]
        if left:
            raise AssertionError(f"{left} are still there after down")

    def sh(self, node, command):
        return self.succeed(self.cluster.run(node, command, timeout=PATIENCE)).stdout

    def test_it_is_debian_with_systemd(self):
        self.assertIn('VERSION_ID="12"', self.sh(0, "cat /etc/os-release"))
        self.assertEqual(self.sh(0, "cat /proc/1/comm"), "systemd\n")
        self.assertEqual(self.sh(0, "uname -r"), RELEASE.read_text(encoding="ascii"))
        for node in range(self.NODES):
            self.assertEqual(self.sh(node, BOOTED + "systemctl list-units --failed --no-legend --plain"), "")

    def test_its_boot_loader_started_it(self):
        self.assertNotIn("-kernel", self.cluster._cluster.node(0).command())  # pylint: disable=protected-access
        words = self.sh(1, "cat /proc/cmdline").split()
        self.assertIn("BOOT_IMAGE=/vmlinuz", words)
        self.assertIn("opengni.node=1", words)
        self.assertIn("opengni.test=a,b", words)

    def test_the_agent_is_a_unit_that_udev_starts(self):
        self.assertEqual(self.sh(0, "systemctl is-active gni-agent opengni-node"), "active\nactive\n")
        self.assertIn("gni-agent.service", self.sh(0, "udevadm info --query=property --property=SYSTEMD_WANTS "
                                                      "/dev/virtio-ports/org.opengni.agent"))
        self.assertIn("/gni-agent.service", self.sh(0, "cat /proc/self/cgroup"))

    def test_the_driver_comes_by_its_alias(self):
        for node in range(self.NODES):
            alias = self.sh(node, "cat /sys/class/gni/kgni0/device/modalias").strip()
            self.assertIn("aries", self.sh(node, f"modprobe --resolve-alias {alias}"))
            self.assertEqual(self.sh(node, "stat -c %a /dev/kgni0"), "666\n")
            self.assertEqual(self.sh(node, "cat /sys/class/gni/kgni0/address /sys/class/gni/kgni0/nodes").split()[1], "2")

    def test_packages(self):
        listed = self.sh(0, "dpkg-query -W -f '${Package} ${db:Status-Abbrev}\\n' 'libugni*' 'libpmi-opengni*' 'opengni-*'")
        for name in ("libugni0", "libpmi-opengni0", "opengni-tools", "opengni-node"):
            self.assertIn(f"{name} ii", listed)
        self.assertEqual(self.sh(0, "dpkg --audit"), "")

    def test_login_on_the_console(self):
        self.wait_for(lambda: re.search(r"^\w+ login: ", self.cluster.console(0), re.M), lambda: self.cluster.console(0)[-2000:], PATIENCE)

    def test_sshd_has_a_key_of_its_own(self):
        keys = [self.sh(node, BOOTED + "systemctl is-active ssh && cat /etc/ssh/ssh_host_ed25519_key.pub").splitlines() for node in range(self.NODES)]
        self.assertEqual([key[0] for key in keys], ["active"] * self.NODES)
        self.assertNotEqual(keys[0][1], keys[1][1])

    def test_ssh_by_the_clusters_key(self):
        self.cluster.serve()
        self.sh(1, BOOTED + "systemctl is-active ssh")
        result = subprocess.run([host.TOP / "scripts/cluster", "ssh", "--name", self.cluster.config.name, "1", "--", "uname", "-n"],
                                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual((result.returncode, result.stdout), (0, "node1\n"), result.stderr)

    def test_names_and_networks(self):
        for node in range(self.NODES):
            self.assertEqual(self.sh(node, "hostname"), f"node{node}\n")
            for name in ("node", "hsn", "nid0000"):
                self.sh(node, f"ping -c 1 -W 60 {name}{1 - node}")

    def test_programs_on_both(self):
        results = self.succeed(self.cluster.run_job(["gni-perf", "--max-size=64K", "--iterations=20"], timeout=900))
        self.assertIn("fma-put", results[0].stdout)
        self.succeed(self.cluster.run_application(["pmi-info"], 4, per_node=2, timeout=PATIENCE))

    def test_what_a_node_has_written_stays_after_a_power_cut(self):
        self.sh(1, "echo before >/root/written && sync")
        self.cluster.kill(1)
        self.cluster.start(1)
        self.assertEqual(self.sh(1, "cat /root/written"), "before\n")
        self.assertEqual(self.sh(0, "test ! -e /root/written && echo not here"), "not here\n")
        self.assertIn(str(disk.path(self.cluster.config, 1)), " ".join(Path(f"/proc/{self.cluster.process(1)}/cmdline").read_text().split("\0")))
        # and it is a node as before
        self.succeed(self.cluster.run_job(["gni-perf", "--tests=fma-put", "--max-size=4K", "--iterations=5"], timeout=900))


@unittest.skipUnless(slow_tests(), "in check-all")
class OneNode(unittest.TestCase):
    """What takes a boot of its own: nothing on the disk that answers, a driver that nobody wants, a kernel that is given, a disk that is kept."""

    @classmethod
    def setUpClass(cls):
        make_image()

    def call(self, *arguments):
        return subprocess.run([host.TOP / "scripts/cluster", *arguments], capture_output=True, text=True, check=False, timeout=2000)

    def test_no_answer(self):
        """The agent is kept from starting by a word for systemd."""
        result = self.call("run", "-n", "1", "--disk", IMAGE, "--boot-timeout", "240", "--append", "systemd.mask=gni-agent.service", "--", "true")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no answer within 240 s of its start (does the system on its disk start gni-agent?", result.stderr)
        self.assertIn("login:", result.stderr)

    def test_kept_disk_and_a_kernel_that_is_given(self):
        with tempfile.TemporaryDirectory(prefix="opengni-kept-") as folder:
            options = ("-n", "1", "--name", f"kept-{os.getpid()}", "--keep", "--disk", IMAGE, "--boot-timeout", "1800")
            self.addCleanup(shutil.rmtree, host.BUILD / "disks" / f"kept-{os.getpid()}")
            first = subprocess.run([host.TOP / "scripts/cluster", "run", *options, "--", "sh", "-c", "echo kept >/root/written; sync; cat /initrd.img"],
                                   capture_output=True, check=False, timeout=2000)
            self.assertEqual(first.returncode, 0, first.stderr)
            initrd = Path(folder) / "initrd.img"
            initrd.write_bytes(first.stdout)
            second = self.call("run", *options, "--kernel", host.BUILD / f"kernel-{KERNEL}/vmlinuz", "--initrd", initrd, "--",
                               "sh", "-c", "cat /proc/cmdline /root/written")
            self.assertEqual(second.returncode, 0, second.stderr)
            self.assertIn("root=/dev/vda1 rw", second.stdout)
            self.assertTrue(second.stdout.endswith("\nkept\n"), second.stdout)

    def test_no_driver(self):
        result = self.call("run", "-n", "1", "--disk", IMAGE, "--boot-timeout", "1800", "--no-driver", "--", "sh", "-c",
                           "ls /sys/class/gni; modprobe aries && ls /sys/class/gni")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.split(), ["kgni0", "nic_type", "version"])
