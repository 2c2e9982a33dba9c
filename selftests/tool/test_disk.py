# SPDX-License-Identifier: GPL-2.0-or-later
"""Disks of nodes, without machines: what is refused, what a node writes to, what is kept, what the system is told."""

import os
import platform
import re
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from opengni import cli, disk, host, qemu
from opengni.config import ClusterConfig
from opengni.errors import ConfigError
from opengni.machine import Machine

INIT = host.TOP / "scripts/initramfs/init"
SETUP = host.TOP / "scripts/node/node-setup"
MIB = 1 << 20


def boot_sector(code=b"\xeb\xfe"):
    return code.ljust(510, b"\0") + b"\x55\xaa"


class DiskCase(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="opengni-disk-")))
        for name, place in (("BUILD", self.folder), ("RUN", self.folder / "run")):
            self.enterContext(mock.patch.object(host, name, place))
        self.image = self.raw("image, really.img")

    def raw(self, name, sector=boot_sector()):
        path = self.folder / name
        path.write_bytes(sector)
        os.truncate(path, MIB)
        return path

    def convert(self, form, sector=boot_sector()):
        path = self.folder / f"image.{form}"
        subprocess.run(["qemu-img", "convert", "-O", form, self.raw("source.img", sector), path], check=True)
        return path

    def config(self, **options):
        chosen: dict[str, Any] = {"disk": str(self.image), "qemu": "/bin/true", "nodes": 1, **options}
        return ClusterConfig(**chosen)


class Refused(DiskCase):
    def refused(self, pattern, **options):
        with self.assertRaisesRegex(ConfigError, pattern) as caught:
            self.config(**options).validate()
        self.assertNotIn("\n", str(caught.exception))

    def test_good(self):
        self.config().validate()
        self.config(disk=str(self.convert("qcow2"))).validate()
        self.config(kernel="/bin/true", disk=str(self.raw("zero.img", b""))).validate()

    def test_not_bootable(self):
        for image in (self.raw("zero.img", b""), self.convert("qcow2", b"")):
            self.refused("cannot be booted, it has no boot sector: give --kernel", disk=str(image))
        for image in (self.raw("uefi.img", boot_sector(b"")), self.convert("qcow2", boot_sector(b""))):
            self.refused("boot sector has no program .is it for UEFI", disk=str(image))

    def test_short(self):
        path = self.folder / "short.img"
        path.write_bytes(b"x" * 100)
        self.refused("no boot sector", disk=str(path))

    def test_other_formats(self):
        self.refused("has format vmdk: make a qcow2 one of it with 'qemu-img convert -O qcow2'", disk=str(self.convert("vmdk")))

    def test_broken(self):
        path = self.convert("qcow2")
        path.write_bytes(path.read_bytes()[:4] + b"\xff" * 1000)
        self.refused("qcow2", disk=str(path))

    def test_without_qemu_img(self):
        with mock.patch.dict(os.environ, {"PATH": "/nonexistent"}):
            self.refused("qemu-img is missing: install package qemu-utils")

    def test_options_that_do_not_go_together(self):
        self.refused("--initrd goes with --kernel", initrd="/bin/true")
        self.refused("--root goes with --kernel", root="/dev/vda2")
        self.refused("--keep is about a disk", disk="", keep=True, kernel="/bin/true", initrd="/bin/true")
        self.refused("--root is about a disk", disk="", root="/dev/vda2", kernel="/bin/true", initrd="/bin/true")
        with mock.patch.object(ClusterConfig, "kernel_path", lambda self: Path("/bin/true")):
            self.refused("--kernel 6.1 has the disk's driver as a module: give an --initrd", kernel="6.1")


class Own(DiskCase):
    """What a node writes to."""

    def qemu_io(self, path, command):
        """Its complaint, if it has one."""
        result = subprocess.run(["qemu-io", "-f", "qcow2", "-c", command, path], capture_output=True, text=True, check=False)
        self.assertEqual(result.stderr, "")
        return [line for line in result.stdout.splitlines() if "failed" in line]

    def write(self, config):
        self.assertEqual(self.qemu_io(disk.path(config, 0), "write -P 7 4096 512"), [])

    def wrote(self, config):
        return not self.qemu_io(disk.path(config, 0), "read -P 7 4096 512")

    def test_until_down(self):
        config = self.config()
        before = self.image.read_bytes()
        disk.prepare(config, 0)
        self.assertFalse(self.wrote(config))
        self.write(config)
        disk.prepare(config, 0)  # stopped and started again
        self.assertTrue(self.wrote(config))
        self.assertEqual(self.image.read_bytes(), before)
        disk.remove(config)
        self.assertFalse(disk.path(config, 0).exists())

    def test_kept(self):
        config = self.config(name="kept", keep=True)
        config.validate()
        disk.prepare(config, 0)
        self.write(config)
        disk.remove(config)
        config.claim().release()  # which empties the folder
        again = self.config(name="kept", keep=True)
        again.validate()
        disk.prepare(again, 0)
        self.assertTrue(self.wrote(again))
        fresh = self.config(name="kept")
        fresh.validate()
        disk.prepare(fresh, 0)
        self.assertFalse(self.wrote(fresh))

    def test_kept_over_another_image(self):
        made = os.stat(self.image)
        for change in (lambda: os.utime(self.image, (1, 1)), lambda: os.truncate(self.image, 2 * MIB)):
            disk.prepare(self.config(name="kept", keep=True), 0)
            change()
            with self.assertRaisesRegex(ConfigError, "disks kept in .*/disks/kept belong to another image"):
                self.config(name="kept", keep=True).validate()
            os.truncate(self.image, MIB)
            os.utime(self.image, ns=(made.st_atime_ns, made.st_mtime_ns))
            self.config(name="kept", keep=True).validate()
        with self.assertRaisesRegex(ConfigError, "another image"):
            self.config(name="kept", keep=True, disk=str(self.raw("other.img"))).validate()

    def test_nodes_have_their_own(self):
        config = self.config(nodes=2)
        self.assertNotEqual(disk.path(config, 0), disk.path(config, 1))

    def test_printed_commands_work(self):
        """The disks that they name are there."""
        with mock.patch("builtins.print") as printed:
            self.assertEqual(cli.main(["up", "-n", "2", "--name", "shown", "--disk", str(self.image), "--print-commands"]), 0)
        lines = [call.args[0] for call in printed.call_args_list]
        files = [re.search(r"file=(\S+?),format", line)[1] for line in lines]
        self.assertEqual(len(set(files)), 2)
        for name in files:
            self.assertTrue(Path(name).exists(), name)


class Told(DiskCase):
    """What a machine says about itself to whoever boots it."""

    def test_disk_that_boots_itself(self):
        config = self.config(nodes=3, append="a=1,2", net=True)
        line = qemu.command(config, 1, mock.MagicMock())
        self.assertNotIn("-kernel", line)
        self.assertNotIn("-append", line)
        words = line[line.index("-smbios") + 1]
        self.assertTrue(words.startswith("type=11,value=") and words.endswith(" a=1,,2"), words)
        self.assertIn("opengni.node=1 opengni.nodes=3", words)
        self.assertNotIn("root=", words)
        self.assertGreaterEqual(config.boot_timeout, 300)

    def test_disk_with_a_kernel(self):
        line = qemu.command(self.config(kernel="/bin/true", initrd="/bin/false"), 0, mock.MagicMock())
        self.assertNotIn("-smbios", line)
        self.assertEqual(line[line.index("-initrd") + 1], "/bin/false")
        self.assertRegex(line[line.index("-append") + 1], "^console=ttyS0 .* root=/dev/vda1 rw$")
        line = qemu.command(self.config(kernel="/bin/true", root="/dev/vda7"), 0, mock.MagicMock())
        self.assertIn("root=/dev/vda7 rw", line[line.index("-append") + 1])

    def test_more_words_than_a_kernel_takes(self):
        """They would be cut off without a word. As much as 256 nodes at any places need is taken."""
        places = ",".join(str(92_000 - 3 * n) for n in range(256))
        most = self.config(kernel="/bin/true", initrd="/bin/false", nodes=256, machine="a", place=places, net=True, ipogif=True)
        most.layout = Machine(92544, 16, 6)
        qemu.command(most, 255, mock.MagicMock())
        with self.assertRaisesRegex(ConfigError, r"the kernel would be told 2\d\d\d bytes, and takes 2047: give less with --append"):
            qemu.command(self.config(kernel="/bin/true", initrd="/bin/false", append="x" * 1900), 0, mock.MagicMock())

    def test_no_driver(self):
        words = qemu.kernel_arguments(self.config(load_driver=False), 0).split()
        self.assertIn("opengni.noload", words)
        self.assertIn("modprobe.blacklist=aries", words)

    def test_places_of_a_machine(self):
        """Nodes that sit where a machine of their own number has them are told nothing."""
        self.assertNotIn("opengni.places", qemu.kernel_arguments(self.config(nodes=9), 0))
        self.assertIn(" opengni.places=4x2:0-8 ", qemu.kernel_arguments(self.config(nodes=9, shape=(4, 2)), 0) + " ")
        config = self.config(nodes=6, machine="a", place="5,0-2,7,6")
        config.layout = Machine(96, 4, 2)  # as aries-topo would tell
        self.assertIn(" opengni.places=4x2:5,0-2,7,6 ", qemu.kernel_arguments(config, 0) + " ")

    def test_what_helps_an_emulated_processor(self):
        """Without norandmaps each start of a program is translated anew; a real processor is told nothing of it."""
        for accel, told in (("tcg", True), ("kvm", False)):
            words = qemu.kernel_arguments(self.config(accel=accel), 0).split()
            for word in ("tsc=reliable", "mitigations=off", "norandmaps"):
                self.assertEqual(word in words, told, (accel, word))
            with mock.patch.object(host, "tsc_khz", lambda: 2596120):
                self.assertEqual("tsc_early_khz=2596120" in qemu.kernel_arguments(self.config(accel=accel), 0).split(), told, accel)
        with mock.patch.object(host, "tsc_khz", lambda: None):
            self.assertNotIn("tsc_early_khz", qemu.kernel_arguments(self.config(accel="tcg"), 0))

    @unittest.skipUnless(platform.machine() == "x86_64", "asks another processor")
    def test_rate_of_the_counter(self):
        """From what Linux tells; nothing from what cannot be."""
        told = self.folder / "cpuinfo"
        for text, khz in (("flags\t: tsc\nbogomips\t: 5192.24\n\nbogomips\t: 1.00\n", 2596120), ("bogomips\t: 99.60\n", None), ("BogoMIPS\t: 50\n", None),
                          ("bogomips\t: 0.00\n", None), ("", None)):
            told.write_text(text, encoding="ascii")
            self.assertEqual(host.tsc_khz(told), khz, text)
        self.assertIsNone(host.tsc_khz(self.folder / "none"))

    def heard(self, cmdline="", oem=()):
        """What node-setup takes from the kernel's command line and from OEM strings."""
        (self.folder / "cmdline").write_text(cmdline + "\n", encoding="ascii")
        (self.folder / "raw").write_bytes(b"\x0b\x05\x01\x00" + bytes([len(oem)]) + b"".join(text.encode() + b"\0" for text in oem) + b"\0")
        env = {**os.environ, "OPENGNI_CMDLINE": str(self.folder / "cmdline"), "OPENGNI_OEM": str(self.folder / "raw")}
        return subprocess.run([SETUP, "--print"], env=env, capture_output=True, text=True, check=True).stdout

    def names(self, path, function, networks):
        """Lines of /etc/hosts by one of the two systems of nodes, for node 1 of 300."""
        text = path.read_text(encoding="utf-8")
        parts = [re.search(rf"^{name}\(\) {{\n.*?^}}\n", text, re.M | re.S)[0] for name in ("names", function)]
        script = "set -e\nnodes=300 node=1 networks=$1\n" + "".join(parts) + function
        shell = ["busybox", "sh"] if function == "hosts" else ["sh"]
        lines = subprocess.run([*shell, "-c", script, "-", networks], capture_output=True, text=True, check=True).stdout.splitlines()
        return [line for line in lines if line != "127.0.0.1 localhost"]

    def test_names_of_nodes(self):
        """The same on nodes in memory and from a disk."""
        on_fabric = {f"hsn{n} nid{n:05d}": f"10.128.{(n + 1) // 256}.{(n + 1) % 256}" for n in range(300)}
        fabric = [f"{address} {name}" for name, address in on_fabric.items()]
        bare = [line.rsplit(" ", 1)[0] for line in fabric]
        ethernet = [line.replace("10.128", "10.77").replace("hsn", "node") for line in fabric]
        for path, function in ((SETUP, "all_names"), (INIT, "hosts")):
            for networks, lines in (("", ["127.0.1.1 node1", *fabric]), (" ipogif", ["127.0.1.1 node1", *fabric]), (" user", ["127.0.1.1 node1", *fabric]),
                                    (" ethernet", [*ethernet, *bare]), (" user ethernet", [*ethernet, *bare]),
                                    (" ethernet ipogif", [*(line.rsplit(" ", 1)[0] for line in ethernet), *fabric]),
                                    (" ipogif ethernet", [*(line.rsplit(" ", 1)[0] for line in ethernet), *fabric])):
                with self.subTest(path=path.name, networks=networks):
                    self.assertEqual(self.names(path, function, networks), lines)

    def test_node_setup_hears_it(self):
        said = "node=2 nodes=3 load=no networks= ethernet ipogif\n"
        words = qemu.kernel_arguments(self.config(nodes=3, net=True, ipogif=True, load_driver=False), 2)
        self.assertEqual(self.heard(cmdline=words), said)
        self.assertEqual(self.heard("root=/dev/sda1 ro", ["of somebody", words]), said)
        self.assertEqual(self.heard(words, [words]), said)
        self.assertEqual(self.heard("root=/dev/sda1"), "node= nodes=1 load=yes networks=\n")
