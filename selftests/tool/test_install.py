# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""Installing into a root file system must leave it as it was, but for what is ours."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from opengni import host

INSTALL = host.TOP / "scripts/install.sh"
RELEASE = (host.BUILD / f"kernel-{os.environ.get('KERNEL', '6.1')}/release").read_text(encoding="ascii").strip()


def picture(root):
    """Everything below a folder: kind, mode, contents or target."""
    found = {}
    for path in sorted(root.rglob("*")):
        if path.is_symlink():
            found[str(path.relative_to(root))] = ("link", os.readlink(path))
        else:
            found[str(path.relative_to(root))] = (oct(path.stat().st_mode), path.read_bytes() if path.is_file() else None)
    return found


class Install(unittest.TestCase):
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
        result = subprocess.run([INSTALL, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode == 0, ok, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def there_and_back(self, prefix):
        before = picture(self.root)
        for _ in range(2):  # the second time over the first
            self.install(str(self.root), prefix)
            after = picture(self.root)
            for name, what in before.items():
                self.assertEqual(after[name], what, name)
        place = self.root / prefix[1:]
        for name in ("lib/libugni.so.0", "include/gni_pub.h", "bin/gni-perf", "sbin/gni-agent", "libexec/opengni/qemu-system-x86_64",
                     "libexec/opengni/examples/first-put", "share/doc/opengni/examples/first-put.c"):
            self.assertTrue((place / name).exists(), name)
        self.assertTrue((self.root / f"lib/modules/{RELEASE}/extra/aries.ko").exists())
        listed = [line for line in (place / "share/opengni/files").read_text(encoding="utf-8").splitlines() if not line.endswith("/")]
        for name in listed:
            self.assertTrue(os.path.lexists(self.root / name[1:]), name)
        self.assertEqual(len(listed), len([name for name, what in after.items() if name not in before and what != (what[0], None)]))
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

    def test_remove_what_is_not_there(self):
        self.assertIn("nothing is installed below /usr/local", self.install("--remove", str(self.root), "/usr/local", ok=False))


if __name__ == "__main__":
    unittest.main()
