# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that all trees of a user share (scripts/store.sh): what is given back, what is not, and what is kept."""

import os
import tempfile
import time
import unittest
from pathlib import Path

from commands import run
from opengni import host


class Store(unittest.TestCase):
    def setUp(self):
        self.top = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.files = self.top / "opengni/files"
        self.got = self.top / "got"

    def call(self, words, **variables):
        """Exit status and output of functions of the store."""
        env = {name: value for name, value in os.environ.items() if name != "FORCE"}
        return run("bash", "-c", f". {host.TOP}/scripts/lib.sh; . {host.TOP}/scripts/store.sh; {words}", cwd=self.top,
                   env={**env, "XDG_CACHE_HOME": str(self.top), **variables})

    def put(self, key, content, **variables):
        (self.top / "file").write_bytes(content)
        self.assertEqual(self.call(f"store_put {key} file", **variables), (0, ""))

    def get(self, key, **variables):
        """What is stored with a key, None if there is nothing."""
        self.got.unlink(missing_ok=True)
        status, output = self.call(f"store_get {key} got", **variables)
        self.assertEqual((output, status == 0), ("", self.got.exists()))
        self.assertFalse((self.top / "got.stored").exists())
        return self.got.read_bytes() if self.got.exists() else None

    def entry(self, key):
        return next(self.files.glob(key + ".*"))

    def test_by_key(self):
        self.assertIsNone(self.get("a"))
        self.put("a", b"one")
        self.put("b", b"two")
        self.assertEqual((self.get("a"), self.get("b"), self.get("c")), (b"one", b"two", None))
        self.assertIsNone(self.get("a", FORCE="1"))

    def test_what_was_cut_off_is_not_used(self):
        self.put("a", b"x" * 100000)
        os.truncate(self.entry("a"), 50000)
        self.assertIsNone(self.get("a"))
        self.assertEqual(list(self.files.iterdir()), [])
        # A copy that was stopped in the middle has no name that anybody asks for.
        (self.files / ".new.123456").write_bytes(b"x")
        self.assertIsNone(self.get("new"))
        self.put("new", b"whole")
        self.assertEqual(self.get("new"), b"whole")

    def test_size_is_bounded(self):
        for age, key in ((30, "oldest"), (20, "old"), (10, "new")):
            self.put(key, key.encode() + os.urandom(400 << 10))
            os.utime(self.entry(key), (time.time() - age,) * 2)
        self.assertTrue(self.get("oldest"))  # and so used last
        self.put("newest", b"1", OPENGNI_STORE_MIB="1")
        self.assertEqual([key for key in ("oldest", "old", "new", "newest") if self.get(key)], ["oldest", "new", "newest"])

    def test_a_full_disk_is_told(self):
        (self.top / "file").write_bytes(bytes(100000))
        status, output = self.call('trap "" XFSZ; ulimit -f 50; store_put a file')
        self.assertEqual(status, 0)
        self.assertRegex(output, "^not kept for other trees: no copy of it can be made in .*\n$")
        self.assertEqual(list(self.files.iterdir()), [])

    def test_no_place_is_no_error(self):
        nowhere = {"XDG_CACHE_HOME": "/dev/null/x"}
        self.put("a", b"one", **nowhere)
        self.assertIsNone(self.get("a", **nowhere))
        for place in ("", "relative"):
            self.assertEqual(self.call('echo "${CCACHE_DIR:-none}"', XDG_CACHE_HOME=place, HOME="", CCACHE_DIR=""), (0, "none\n"))

    def test_a_kernel_that_another_tree_has_downloaded(self):
        """Its package is not asked of a mirror again: here it is one that no mirror has."""
        env = {**os.environ, "XDG_CACHE_HOME": str(self.top), "KERNEL": "6.1", "OPENGNI_BUILD": str(self.top / "build")}
        status, release = self.call(f". {host.TOP}/scripts/kernel-release.sh; kernel_release 6.1", OPENGNI_BUILD=env["OPENGNI_BUILD"])
        release = release.strip()
        headers = f"linux-headers-{release}"
        version = run("dpkg-query", "-W", "-f=${Version}", headers)[1]
        if status or not Path("/usr/src", headers).is_dir():
            self.skipTest("the kernel's headers are not installed (make setup)")
        tree = self.top / "tree"
        for name in ("boot", "DEBIAN", f"lib/modules/{release}"):
            (tree / name).mkdir(parents=True)
        (tree / f"boot/vmlinuz-{release}").write_bytes(b"not from a mirror")
        (tree / "DEBIAN/control").write_text("Package: p\nVersion: 1\nArchitecture: all\nMaintainer: n <n@invalid>\nDescription: n\n", encoding="ascii")
        self.assertEqual(run("dpkg-deb", "--build", tree, self.top / "file")[0], 0)
        self.assertEqual(self.call(f"store_put $(echo 'linux-image-{release} {version}' | store_key) file"), (0, ""))
        status, output = run(host.TOP / "scripts/fetch-kernel.sh", env=env)
        self.assertEqual(status, 0, output)
        self.assertEqual((self.top / "build/kernel-6.1/vmlinuz").read_bytes(), b"not from a mirror")

    def test_cache_clean(self):
        self.put("a", b"one")
        (self.top / "opengni/ccache").mkdir()
        status, output = run("make", "-s", "-C", host.TOP, "cache-clean", env={**os.environ, "XDG_CACHE_HOME": str(self.top)})
        self.assertEqual((status, list((self.top / "opengni").iterdir())), (0, []), output)
