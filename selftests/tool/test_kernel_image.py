# SPDX-License-Identifier: GPL-2.0-or-later
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


BASE = 0x100000  # where what follows the setup is loaded
PLACE = 0x1000000


def elf(machine=62, entry=PLACE + 16, place=PLACE, body=BODY):
    """A file with two segments to load, the second some way behind the first, and one that is not loaded."""
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHH", 2, machine, 1, entry, 64, 0, 0, 64, 56, 3)
    table = b"".join(struct.pack("<IIQQQQQQ", kind, 0, at, 0xffffffff80000000 + to, to, size, size, 0x1000)
                     for kind, at, to, size in ((1, 256, place, len(body)), (4, 0, 0, 64), (1, 256 + len(body), place + len(body) + 4096, 3)))
    return (head.ljust(64, b"\0") + table).ljust(256, b"\0") + body + b"end"


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
    def check(self, made, body):
        """The old setup, and the kernel at its places."""
        self.assertEqual(made[:1024], image(b"", 0)[:0x248] + made[0x248:0x250] + bytes(1024 - 0x250))
        at = 1024 + PLACE - BASE
        self.assertEqual(made[at:], body + bytes(4096) + b"end")
        # each page of the first 4 GiB is mapped where it is
        pages = struct.unpack_from("<2048Q", made, 1024 + 0x3000)
        self.assertEqual([page & ~0xfff for page in pages], [number << 21 for number in range(2048)])

    def test_each_way_to_compress(self):
        for name, compress in WAYS.items():
            kernel = elf(body=BODY * 400 if name == "lz4" else BODY)  # more than a block of LZ4's legacy frame
            with self.subTest(name):
                if name in ("lz4", "zstd") and not shutil.which(name):
                    self.skipTest(f"there is no program {name}")
                self.check(kernel_image.unpack(image(compress(kernel), len(kernel))), kernel[256:-3])

    def test_what_cannot_be_booted_is_refused(self):
        kernel = elf()
        packed = gzip.compress(kernel)
        images = {"no image": b"\x7fELF" + bytes(4000), "cut off": image(packed, len(kernel))[:-100], "known": image(b"LZO" + packed, len(kernel)),
                  "damaged": image(packed[:100] + bytes(100) + packed[200:], len(kernel)), "size is wrong": image(packed, len(kernel) + 1)}
        for reason, changes in {"64 bits": {"machine": 3}, "cannot be put": {"entry": 16}, "lies where": {"place": 0x103000, "entry": 0x103000},
                                "kernel lies": {"place": 1 << 30, "entry": (1 << 30) + 16}}.items():
            other = elf(**changes)
            images[reason] = image(gzip.compress(other), len(other))
        for reason, data in images.items():
            with self.subTest(reason), self.assertRaisesRegex(ValueError, reason):
                kernel_image.unpack(data)

    def test_tables_that_lead_out_of_the_file(self):
        kernel = elf()
        for place in range(0x18, 240, 3):
            with self.subTest(place=place):
                broken = kernel[:place] + b"\xff" * 8 + kernel[place + 8:]
                try:
                    kernel_image.unpack(image(gzip.compress(broken), len(broken)))
                except ValueError:
                    pass  # and nothing else

    def test_the_guest_kernels(self):
        for kernel in config.KERNELS:
            path = config.kernel_image(kernel)
            if kernel in ("6.1", "6.12", "6.8") and path.exists():
                with self.subTest(kernel):
                    self.assertIn(b"Linux version ", kernel_image.unpack(path.read_bytes()))


class Keeping(unittest.TestCase):
    def setUp(self):
        self.top = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.kept = self.top / "kernels"
        self.path = self.top / "vmlinuz"
        kernel = elf()
        self.path.write_bytes(image(gzip.compress(kernel), len(kernel)))
        self.enterContext(mock.patch.object(host, "BUILD", self.top))
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
        self.assertEqual(first.read_bytes(), kernel_image.unpack(self.path.read_bytes()))
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
        self.assertEqual(self.boot().read_bytes(), kernel_image.unpack(self.path.read_bytes()))

    def test_the_image_serves_where_nothing_can_be_unpacked(self):
        self.kept.write_text("no folder", encoding="ascii")
        self.assertEqual(self.boot(), self.path)
        self.kept.unlink()
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
