# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""Kernels without what unpacks them.

A kernel's image for x86, bzImage, is the compressed kernel and a program that unpacks it: half a second of an emulated
processor at each boot. What comes out is an ELF file, and QEMU starts that as well if one of its notes names an entry for
PVH, as CONFIG_PVH=y puts it there. So it is unpacked once, on this machine, and kept below BUILD.

Sources: Linux, Documentation/arch/x86/boot.rst (header of an image) and include/xen/interface/elfnote.h (the note); the legacy
frame of LZ4 is its doc/lz4_Frame_format.md.
"""

import bz2
import contextlib
import ctypes
import functools
import hashlib
import lzma
import os
import struct
import tempfile
import time
import zlib
from pathlib import Path

from . import host

# Of the header: its name, the number of sectors of 512 bytes before the program, the payload's place and size.
_MAGIC_AT, _SECTORS_AT, _PAYLOAD_AT = 0x202, 0x1f1, 0x248
# A block of LZ4's legacy frame has at most so many bytes when it is unpacked.
_LZ4_BLOCK = 8 << 20
_NOTE_SEGMENT = 4
# XEN_ELFNOTE_PHYS32_ENTRY
_ENTRY_NOTE = (b"Xen\0", 18)
# Kernels that nobody has booted for an hour go when there are more than so many.
_KEPT = 4
# A kernel of a distribution has some 60 MB.
_SIZE_MAX = 1 << 30


def _lz4(data, size):
    library = ctypes.CDLL("liblz4.so.1")
    unpacked, at = bytearray(), 4
    while len(unpacked) < size:
        length = struct.unpack_from("<I", data, at)[0]
        block = ctypes.create_string_buffer(min(_LZ4_BLOCK, size - len(unpacked)))
        if at + 4 + length > len(data):
            raise ValueError("LZ4: a block is cut off")
        got = library.LZ4_decompress_safe(data[at + 4:at + 4 + length], block, length, len(block))
        if got <= 0:
            raise ValueError("LZ4: a block is damaged")
        unpacked += block.raw[:got]
        at += 4 + length
    return bytes(unpacked)


def _zstd(data, size):
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    unpacked = ctypes.create_string_buffer(size)
    frame = data[:-4]  # the size follows, which is no part of it
    got = library.ZSTD_decompress(unpacked, ctypes.c_size_t(size), frame, ctypes.c_size_t(len(frame)))
    if got != size:
        raise ValueError("Zstandard: damaged")
    return unpacked.raw


# liblz4 and libzstd are there wherever apt is: it is linked with them. Python has the rest.
_UNPACK = {
    b"\x1f\x8b": lambda data, size: zlib.decompressobj(31).decompress(data, size),
    b"BZh": lambda data, size: bz2.BZ2Decompressor().decompress(data, size),
    b"\xfd7zXZ": lambda data, size: lzma.LZMADecompressor(lzma.FORMAT_XZ).decompress(data, size),
    b"\x5d\x00\x00": lambda data, size: lzma.LZMADecompressor(lzma.FORMAT_ALONE).decompress(data, size),
    b"\x02\x21\x4c\x18": _lz4,
    b"\x28\xb5\x2f\xfd": _zstd,
}


def _payload(image):
    """The compressed kernel in an image; ValueError if there is none."""
    if image[_MAGIC_AT:_MAGIC_AT + 4] != b"HdrS":
        raise ValueError("no image for x86")
    offset, size = struct.unpack_from("<II", image, _PAYLOAD_AT)
    start = ((image[_SECTORS_AT] or 4) + 1) * 512 + offset
    if size < 8 or start + size > len(image):
        raise ValueError("the image is cut off")
    return image[start:start + size]


def has_entry(elf):
    """Whether an ELF file for x86-64 has a note with an entry for PVH."""
    if elf[:5] != b"\x7fELF\x02":
        return False
    table, = struct.unpack_from("<Q", elf, 0x20)
    entry_size, count = struct.unpack_from("<HH", elf, 0x36)
    for header in range(table, table + count * entry_size, entry_size):
        kind, _, at, _, _, size = struct.unpack_from("<IIQQQQ", elf, header)
        end = at + size
        while kind == _NOTE_SEGMENT and at + 12 <= end:
            name_size, size, number = struct.unpack_from("<III", elf, at)
            if (elf[at + 12:at + 12 + name_size], number) == _ENTRY_NOTE:
                return True
            at += 12 + (name_size + 3 & ~3) + (size + 3 & ~3)
    return False


def unpack(image):
    """The ELF file in an image; ValueError if there is none that QEMU can start, OSError without the library for it."""
    payload = _payload(image)
    size, = struct.unpack("<I", payload[-4:])
    method = next((unpack for magic, unpack in _UNPACK.items() if payload.startswith(magic)), None)
    if method is None or not 0 < size <= _SIZE_MAX:
        raise ValueError("compressed in no way that is known here")
    try:
        elf = method(payload, size)
        usable = len(elf) == size and has_entry(elf)
    except (EOFError, OverflowError, struct.error, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"damaged: {error}") from None
    if not usable:
        raise ValueError("no entry for PVH")
    return elf


def _prune(folder):
    kept = sorted(folder.glob("*.elf"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in kept[_KEPT:]:
        if path.stat().st_mtime < time.time() - 3600:
            path.unlink()


@functools.lru_cache
def _unpacked(path, size, mtime_ns):
    """Where the kernel of that image is unpacked; the image's own path if it cannot be."""
    folder = host.BUILD / "kernels"
    kept = folder / f"{path.name}-{hashlib.sha256(f'{path} {size} {mtime_ns}'.encode()).hexdigest()[:32]}.elf"
    try:
        if kept.exists():
            os.utime(kept)
            return kept
        elf = unpack(path.read_bytes())
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as new:
            try:
                new.write(elf)
                new.flush()
                # After a crash of this machine, a name must not lead to half of it.
                os.fsync(new.fileno())
                os.replace(new.name, kept)
            except BaseException:
                os.unlink(new.name)
                raise
        with contextlib.suppress(OSError):
            _prune(folder)
        return kept
    except (OSError, ValueError):
        return path


def to_boot(path):
    """What QEMU is given to boot the kernel image @path: the kernel unpacked, or @path if QEMU cannot start that."""
    if not any((folder / "pvh.bin").exists() for folder in host.FIRMWARE):
        return path
    try:
        status = os.stat(path)
    except OSError:
        return path  # QEMU says what is wrong
    return _unpacked(Path(os.path.abspath(path)), status.st_size, status.st_mtime_ns)
