# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""What a node boots: the kernel out of an image, unpacked once, or the image where that cannot be had."""

import bz2
import gzip
import lzma
import os
import shutil
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from opengni import config, host, kernel_image

BODY = bytes(range(256)) * 100


def elf(note=True, body=BODY):
    """A file with one segment of notes: one of somebody else, and the one with the entry."""
    notes = struct.pack("<III", 6, 3, 1) + b"Linux\0\0\0" + b"abc\0"
    notes += struct.pack("<III", 4, 8, 18 if note else 17) + b"Xen\0" + struct.pack("<Q", 0x1000000)
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHH", 2, 62, 1, 0, 64, 0, 0, 64, 56, 1)
    return head.ljust(64, b"\0") + struct.pack("<IIQQQQQQ", 4, 0, 120, 0, 0, len(notes), len(notes), 4) + notes + body


def image(payload, size):
    """What a bzImage has before its payload, and the payload with the size after it."""
    head = bytearray(2048)
    head[0x1f1] = 1
    head[0x202:0x206] = b"HdrS"
    head[0x248:0x250] = struct.pack("<II", 1024, len(payload) + 4)
    return bytes(head) + payload + struct.pack("<I", size)


def by(*command):
    """What a program makes of the kernel."""
    return lambda data: subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout


WAYS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lambda data: lzma.compress(data, check=lzma.CHECK_CRC32),
        "lzma": lambda data: lzma.compress(data, lzma.FORMAT_ALONE), "lz4": by("lz4", "-l", "-c"), "zstd": by("zstd", "-c")}


class Unpacking(unittest.TestCase):
    def test_each_way_to_compress(self):
        for name, compress in WAYS.items():
            kernel = elf(body=BODY * 400 if name == "lz4" else BODY)  # more than a block of LZ4's legacy frame
            with self.subTest(name):
                if name in ("lz4", "zstd") and not shutil.which(name):
                    self.skipTest(f"there is no program {name}")
                self.assertEqual(kernel_image.unpack(image(compress(kernel), len(kernel))), kernel)

    def test_what_cannot_be_booted_is_refused(self):
        kernel = elf()
        packed = gzip.compress(kernel)
        without = elf(note=False)
        images = {"no image": b"\x7fELF" + bytes(4000), "cut off": image(packed, len(kernel))[:-100],
                  "entry": image(gzip.compress(without), len(without)), "known": image(b"LZO" + packed, len(kernel)),
                  "damaged": image(packed[:100] + bytes(100) + packed[200:], len(kernel))}
        for reason, data in images.items():
            with self.subTest(reason), self.assertRaisesRegex(ValueError, reason):
                kernel_image.unpack(data)
        for place in range(64, 180, 3):  # tables that lead out of the file end the search, too
            with self.subTest(place=place), self.assertRaises(ValueError):
                broken = without[:place] + b"\xff" * 8 + without[place + 8:]
                kernel_image.unpack(image(gzip.compress(broken), len(broken)))

    def test_the_guest_kernels(self):
        for kernel in config.KERNELS:
            path = config.kernel_image(kernel)
            if kernel in ("6.1", "6.12", "6.8") and path.exists():
                with self.subTest(kernel):
                    self.assertIn(b"Linux version ", kernel_image.unpack(path.read_bytes()))


class Keeping(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)
        self.kept = self.top / "kernels"
        self.path = self.top / "vmlinuz"
        self.kernel = elf()
        self.path.write_bytes(image(gzip.compress(self.kernel), len(self.kernel)))
        patch = mock.patch.object(host, "BUILD", self.top)
        patch.start()
        self.addCleanup(patch.stop)
        self.addCleanup(self.forget)
        self.forget()

    @staticmethod
    def forget():
        """As in another process."""
        kernel_image._unpacked.cache_clear()  # pylint: disable=protected-access

    def boot(self):
        self.forget()
        return kernel_image.to_boot(self.path)

    def test_it_is_unpacked_once(self):
        first = self.boot()
        self.assertEqual(first.read_bytes(), self.kernel)
        self.assertEqual([first], list(self.kept.iterdir()))
        with mock.patch.object(kernel_image, "unpack", side_effect=AssertionError):
            self.assertEqual(self.boot(), first)

    def test_another_image_in_its_place_is_unpacked_anew(self):
        first = self.boot()
        self.path.write_bytes(self.path.read_bytes() + b"\0")
        self.assertNotEqual(self.boot(), first)

    def test_what_was_cut_off_is_not_used(self):
        with mock.patch.object(os, "replace", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            self.boot()
        self.assertEqual(list(self.kept.iterdir()), [])
        self.assertEqual(self.boot().read_bytes(), self.kernel)

    def test_the_image_serves_where_nothing_can_be_unpacked(self):
        self.kept.write_text("no folder", encoding="ascii")
        self.assertEqual(self.boot(), self.path)
        self.kept.unlink()
        with mock.patch.object(host, "FIRMWARE", (self.top,)):  # without QEMU's part of it
            self.assertEqual(self.boot(), self.path)
        self.path.write_bytes(b"not compressed at all")
        self.assertEqual(self.boot(), self.path)
        self.path.unlink()
        self.assertEqual(self.boot(), self.path)

    def test_old_ones_go(self):
        for age in range(8):
            self.path.write_bytes(self.path.read_bytes() + b"\0")
            os.utime(self.boot(), (time.time() - 7200 - age,) * 2)
        self.path.write_bytes(self.path.read_bytes() + b"\0")
        newest = self.boot()
        self.assertIn(newest, self.kept.iterdir())
        self.assertEqual(len(list(self.kept.iterdir())), 4)


if __name__ == "__main__":
    unittest.main()
