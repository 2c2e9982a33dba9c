# SPDX-License-Identifier: GPL-2.0-or-later
"""Installing must leave a system or a user's folder as it was, but for what is ours, and what is ours must run from there."""

import os
import pwd
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from commands import run
from installation import COMMANDS, FILES, INSTALL, KERNEL, REFUSED, RELEASE, picture, unstripped
from gnitest.testing import slow_tests
from opengni import host

UNPRIVILEGED = "nobody"


class Root(unittest.TestCase):
    """A root file system of some distribution, in a folder."""

    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="opengni-install-"))
        self.addCleanup(shutil.rmtree, self.root)
        for name in ("usr/bin", "usr/sbin", "usr/lib/x86_64-linux-gnu", f"usr/lib/modules/{RELEASE}/kernel", "usr/lib64", "usr/local/lib"):
            (self.root / name).mkdir(parents=True)
        (self.root / "usr/lib/x86_64-linux-gnu/libc.so.6").write_text("the C library", encoding="ascii")
        (self.root / "usr/local/lib").chmod(0o2775)

    def merge(self, prefix="usr/"):
        """/lib and its like are links, as on every current distribution."""
        for name in ("bin", "sbin", "lib", "lib64"):
            (self.root / name).symlink_to(prefix + name)

    def install(self, *arguments, ok=True):
        status, output = run(INSTALL, *arguments)
        self.assertEqual(status == 0, ok, output)
        return output


class Install(Root):
    def there_and_back(self, prefix):
        before = picture(self.root)
        for _ in range(2):  # the second time over the first
            self.install(str(self.root), prefix)
            after = picture(self.root)
            for name, what in before.items():
                self.assertEqual(after[name], what, name)
        place = self.root / prefix[1:]
        for name in FILES:
            self.assertTrue((place / name).exists(), name)
        self.assertTrue((self.root / f"lib/modules/{RELEASE}/extra/aries.ko").exists())
        self.assertTrue((self.root / "lib/udev/rules.d/90-kgni.rules").exists())
        listed = [line for line in (place / "share/opengni/files").read_text(encoding="utf-8").splitlines() if not line.endswith("/")]
        for name in listed:
            self.assertTrue(os.path.lexists(self.root / name[1:]), name)
        self.assertEqual(len(listed), len([name for name, what in after.items() if name not in before and what != (what[0], None)]))
        self.assertEqual(unstripped(self.root), [])
        self.assertEqual([name for name, what in after.items() if name not in before and what[0] != "link" and not int(what[0], 8) & 0o004], [])
        (place / "share/somebody-else").mkdir(parents=True)
        self.install("--remove", str(self.root), prefix)
        self.assertTrue((place / "share/somebody-else").exists())
        (place / "share/somebody-else").rmdir()
        if "/".join((prefix[1:], "share")) not in before:
            (place / "share").rmdir()
        self.assertEqual(picture(self.root), before)

    def test_merged(self):
        self.merge()
        self.there_and_back("/usr/local")

    def test_not_merged(self):
        for name in ("bin", "sbin", f"lib/modules/{RELEASE}", "lib64"):
            (self.root / name).mkdir(parents=True)
        self.there_and_back("/usr/local")

    def test_link_out_of_the_root(self):
        """An absolute link would take the files to the machine that builds."""
        outside = Path(tempfile.mkdtemp(prefix="opengni-outside-"))
        self.addCleanup(shutil.rmtree, outside)
        self.merge()
        (self.root / "lib").unlink()
        (self.root / "lib").symlink_to(outside)
        before = picture(self.root)
        self.assertIn("leads out of DESTDIR", self.install(str(self.root), "/usr/local", ok=False))
        self.assertEqual(picture(self.root), before)
        self.assertEqual(list(outside.iterdir()), [])

    def test_somebody_elses_file(self):
        """It would be lost, at the latest by uninstall."""
        (self.root / "usr/local/bin").mkdir()
        (self.root / "usr/local/bin/cluster").write_text("another program", encoding="ascii")
        before = picture(self.root)
        self.assertIn("/usr/local/bin/cluster is there and not from an earlier", self.install(str(self.root), "/usr/local", ok=False))
        self.assertEqual(picture(self.root), before)

    def test_bad_prefixes(self):
        before = picture(self.root)
        for prefix, said in (("usr/local", "not an absolute path"), ("/usr/", "without a slash at its end"), ("/a b", "has a character")):
            self.assertIn(said, self.install(str(self.root), prefix, ok=False))
        self.assertIn("no option '--delete'", self.install("--delete", str(self.root), "/usr/local", ok=False))
        self.assertEqual(picture(self.root), before)

    def test_remove_what_is_not_there(self):
        self.assertIn("nothing is installed below /usr/local", self.install("--remove", str(self.root), "/usr/local", ok=False))


class WithoutRoot(unittest.TestCase):
    """A user without rights installs below ~/.local: nothing is written elsewhere, and all of it works from there."""

    PRODUCTS = ("stage", "agent/gni-agent", "model/topo/aries-topo", "model/net/aries-net", "sim/aries-sim", "qemu/bin/qemu-system-x86_64",
                f"kernel-{KERNEL}/release", f"kernel-{KERNEL}/vmlinuz", f"initramfs-{KERNEL}.cpio", f"driver-{RELEASE}/aries.ko",
                f"driver-{RELEASE}/Module.symvers", f"kgni-{RELEASE}/Module.symvers", f"kgni-{RELEASE}/kgni.ko", f"kgni-{RELEASE}/krca.ko",
                *(str(path.relative_to(host.BUILD)) for path in host.BUILD.glob(f"kgni-{RELEASE}/clients/*/*.ko")))
    SOURCES = ("scripts", "driver", "kgni/include", "userlib/meson.build", "userlib/examples")

    @classmethod
    def setUpClass(cls):
        """The project as the user has it, a home, and the installation in it."""
        cls.folder = Path(tempfile.mkdtemp(prefix="opengni-user-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        for base, names, to in ((host.BUILD, cls.PRODUCTS, "build"), (host.TOP, cls.SOURCES, "source")):
            for name in names:
                target = cls.folder / to / name
                target.parent.mkdir(parents=True, exist_ok=True)
                subprocess.run(["cp", "-a", base / name, target], check=True)
        cls.home = cls.folder / "home"
        cls.home.mkdir()
        cls.prefix = cls.home / ".local"
        cls.user = []
        if os.getuid() == 0:
            user = pwd.getpwnam(UNPRIVILEGED)
            subprocess.run(["chown", "-R", f"{user.pw_uid}:{user.pw_gid}", cls.folder], check=True)
            cls.user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
            status, output = run(*cls.user, "true")
            if status:
                raise unittest.SkipTest(f"root cannot become {UNPRIVILEGED} here: {output.strip()}")
        status, cls.said = cls.run_as_user([cls.folder / "source/scripts/install.sh", "", str(cls.prefix)],
                                           OPENGNI_BUILD=str(cls.folder / "build"))
        if status:
            raise AssertionError(cls.said)

    @classmethod
    def run_as_user(cls, command, **variables):
        environment = {"PATH": f"{cls.prefix}/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(cls.home), "LANG": "C.UTF-8", "KERNEL": KERNEL, **variables}
        return run(*cls.user, *command, env=environment, cwd=cls.folder)

    def sh(self, command, status=0, **variables):
        result, output = self.run_as_user(["bash", "-c", command], **variables)
        self.assertEqual(result, status, output)
        return output

    def test_whole(self):
        for name in (*FILES, f"lib/modules/{RELEASE}/extra/aries.ko", f"lib/modules/{RELEASE}/modules.dep", "lib/udev/rules.d/90-kgni.rules"):
            self.assertTrue((self.prefix / name).exists(), name)
        self.assertEqual([path.name for path in self.home.iterdir() if path.name != ".cache"], [".local"])
        self.assertEqual(unstripped(self.prefix), [])
        self.assertIn(f"modprobe -d {self.prefix} aries", self.said)
        # and so that it works: the index leads to the file
        self.assertIn(f"insmod {self.prefix}/lib/modules/{RELEASE}/extra/aries.ko",
                      self.sh(f"modprobe -d {self.prefix} -S {RELEASE} --show-depends kgni"))

    def test_commands_run(self):
        for name in COMMANDS:
            output = self.run_as_user([name, "--help"], LD_LIBRARY_PATH=f"{self.prefix}/lib")[1]
            self.assertRegex(output.lower(), "usage|options|takes no arguments", name)

        for name in ("cluster", "aprun"):
            self.assertRegex(self.sh(f"{name} --version"), rf"{name} \(OpenGNI\) \d+\.\d+\.\d+")

    def test_cluster_finds_its_files(self):
        line = self.sh("cluster run --print-commands -n 1")
        for name in ("libexec/opengni/qemu-system-x86_64", f"lib/opengni/images/initramfs-{KERNEL}.cpio"):
            self.assertIn(f"{self.prefix}/{name}", line)
        # unpacked from lib/opengni/images
        self.assertIn(f"{self.home}/.local/state/opengni/kernels/vmlinuz-{KERNEL}-", line)
        self.assertIn(f"{self.home}/.local/state/opengni/run/", line)
        self.assertIn("QEMU emulator", self.sh(f"{self.prefix}/libexec/opengni/qemu-system-x86_64 --version"))
        # by aries-topo
        self.assertIn("machine-nodes=96,", self.sh("cluster run --print-commands -n 2 --machine aries:groups=3,chassis=2,slots=4 --place group"))

    def test_what_is_missing_is_named(self):
        for name, said in (("libexec/opengni/qemu-system-x86_64", "opengni-qemu"), (f"lib/opengni/images/initramfs-{KERNEL}.cpio", "make initramfs")):
            path = self.prefix / name
            aside = path.with_name("aside")
            path.rename(aside)
            try:
                self.assertRegex(self.sh("cluster run -n 1 -- true", status=1), f"{re.escape(str(path))} is missing: .*{said}")
            finally:
                aside.rename(path)
        for command in ("cluster run -n 1 -- true", "cluster run --print-commands -n 1"):
            self.assertRegex(self.sh(command, status=1, XDG_STATE_HOME="/proc"), "cannot make the cluster's folder /proc/.*: set XDG_STATE_HOME")

    def test_first_put(self):
        """As Documentation/install.md says it."""
        source = self.prefix / "share/doc/opengni/examples/first-put.c"
        self.sh(f"gcc -Wall -Werror -o {self.folder}/first-put {source} $(pkg-config --cflags --libs cray-ugni cray-pmi)",
                PKG_CONFIG_PATH=f"{self.prefix}/lib/pkgconfig")
        self.assertIn(REFUSED, self.sh(f"{self.folder}/first-put", status=1, LD_LIBRARY_PATH=f"{self.prefix}/lib"))
        self.assertIn(f"{self.prefix}/lib/libugni.so.0", self.sh(f"ldd {self.folder}/first-put", LD_LIBRARY_PATH=f"{self.prefix}/lib"))

    @unittest.skipUnless(slow_tests(), "in check-all")
    def test_cluster_runs(self):
        """A guest boots from there, with its driver and tools."""
        self.assertRegex(self.sh("cluster run -n 2 --no-label -- aries-info"), "Aries")

    def test_not_into_the_system(self):
        status, output = self.run_as_user([self.folder / "source/scripts/install.sh", "", "/usr/local"],
                                          OPENGNI_BUILD=str(self.folder / "build"))
        self.assertEqual(status, 1, output)
        self.assertRegex(output, "cannot write to /.*: run as root, or install below a folder of yours")

    def test_z_taken_back(self):
        """The last one: nothing is left, not even what running it has made beside it."""
        self.sh("cluster list")
        self.assertEqual(self.run_as_user([self.folder / "source/scripts/install.sh", "--remove", "", str(self.prefix)])[0], 0)
        # state is the user's: logs of clusters that ran
        shutil.rmtree(self.home / ".local/state", ignore_errors=True)
        self.assertEqual([path for path in self.home.rglob("*") if ".cache" not in path.parts and path != self.home / ".local"], [])
