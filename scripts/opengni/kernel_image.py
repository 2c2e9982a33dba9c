# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernels without what unpacks them.

A kernel's image for x86, bzImage, is the compressed kernel and a program that unpacks it: half a second of an emulated
processor at each boot. So it is unpacked once, on this machine, and kept below BUILD: an image again, whose setup is the old one,
and whose 32-bit entry finds the kernel where it belongs, switches to 64 bits and starts it.

QEMU boots the unpacked ELF file as well, by its entry for PVH. But it takes what it loads so for ROM, and puts it back in
place when a machine wakes up (S3): what the kernel has written is gone then.

Sources: Linux, Documentation/arch/x86/boot.rst (header of an image, its entry) and the beginning of arch/x86/kernel/head_64.S (what a
kernel expects: long mode, memory mapped where it is, boot_params in RSI); Intel's SDM, volume 3, 9.8.5 (the way to long mode); the
legacy frame of LZ4 is its doc/lz4_Frame_format.md.
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
# Where QEMU and all others load what follows the setup, and enter it.
_BASE = 0x100000
_LOAD_SEGMENT = 1
# Kernels that nobody has booted for an hour go when there are more than so many.
_KEPT = 4
# A kernel of a distribution has some 60 MB.
_SIZE_MAX = 1 << 29


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


def _segments(elf):
    """(entry, [(address, contents)]) of an ELF file for x86-64, in physical addresses; ValueError if it is none."""
    if elf[:5] != b"\x7fELF\x02" or elf[18:20] != b"\x3e\0":
        raise ValueError("no kernel of 64 bits in it")
    entry, table = struct.unpack_from("<QQ", elf, 0x18)
    entry_size, count = struct.unpack_from("<HH", elf, 0x36)
    found = []
    for number in range(count):
        kind, _, at, _, address, size = struct.unpack_from("<IIQQQQ", elf, table + number * entry_size)
        if kind == _LOAD_SEGMENT and size:
            if at + size > len(elf):
                raise ValueError("a segment is cut off")
            found.append((address, elf[at:at + size]))
    return entry, found


def _start(entry):
    """What is at _BASE: code that starts the kernel, a table of segments and page tables for the first 4 GiB."""
    table, pages = _BASE + 0x80, _BASE + 0x1000
    code = (b"\x0f\x01\x15" + struct.pack("<I", table + 24)   # lgdt   table's pointer
            + b"\xb8" + struct.pack("<I", pages)               # mov    eax, pages
            + b"\x0f\x22\xd8"                                  # mov    cr3, eax
            + b"\x0f\x20\xe0\x83\xc8\x20\x0f\x22\xe0"           # CR4 |= PAE
            + b"\xb9\x80\0\0\xc0\x0f\x32\x0d\0\x01\0\0\x0f\x30"  # EFER |= LME
            + b"\x0f\x20\xc0\x0d\0\0\0\x80\x0f\x22\xc0"         # CR0 |= PG
            + b"\xea" + struct.pack("<IH", _BASE + 0x60, 16))  # jmp    16:the rest, in 64 bits
    rest = (b"\x31\xc0\x8e\xd8\x8e\xc0\x8e\xd0"              # xor    eax, eax; mov ds, eax; mov es, eax; mov ss, eax
            + b"\x89\xf6"                                      # mov    esi, esi; the upper half is 0 then
            + b"\xb8" + struct.pack("<I", entry)               # mov    eax, entry
            + b"\xff\xe0")                                     # jmp    rax
    segments = struct.pack("<QQQHI", 0, 0, 0x00af9b000000ffff, 23, table)
    first = struct.pack("<Q", pages + 0x1003).ljust(4096, b"\0")
    second = struct.pack("<4Q", *(pages + 0x2003 + 4096 * number for number in range(4))).ljust(4096, b"\0")
    large = struct.pack("<2048Q", *(0x83 + (number << 21) for number in range(2048)))
    return (code.ljust(0x60, b"\0") + rest).ljust(0x80, b"\0") + segments.ljust(0x1000 - 0x80, b"\0") + first + second + large


def unpack(image):
    """An image of the same kernel that need not unpack it; ValueError if there is none, OSError without the library for it."""
    payload = _payload(image)
    size, = struct.unpack("<I", payload[-4:])
    method = next((unpack for magic, unpack in _UNPACK.items() if payload.startswith(magic)), None)
    if method is None or not 0 < size <= _SIZE_MAX:
        raise ValueError("compressed in no way that is known here")
    try:
        elf = method(payload, size)
        if len(elf) != size:
            raise ValueError("damaged: its size is wrong")
        entry, segments = _segments(elf)
    except (EOFError, OverflowError, struct.error, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"damaged: {error}") from None
    start = _start(entry) if entry < 1 << 32 else b""
    lowest, highest = min(segments, default=(0, b""))[0], max((address + len(data) for address, data in segments), default=0)
    if not start or not _BASE + len(start) <= lowest <= entry < highest <= _SIZE_MAX:
        raise ValueError("the kernel lies where it cannot be put")
    loaded = bytearray(highest - _BASE)
    loaded[:len(start)] = start
    for address, data in segments:
        loaded[address - _BASE:address - _BASE + len(data)] = data
    # The kernel clears its own variables, which come last.
    return image[:((image[_SECTORS_AT] or 4) + 1) * 512] + loaded.rstrip(b"\0")


def _prune(folder):
    kept = sorted(folder.glob("*.image"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in kept[_KEPT:]:
        if path.stat().st_mtime < time.time() - 3600:
            path.unlink()


@functools.lru_cache
def _unpacked(path, size, mtime_ns):
    """Where the image with that image's kernel unpacked is; the image's own path if it cannot be."""
    folder = host.BUILD / "kernels"
    kept = folder / f"{path.name}-{hashlib.sha256(f'{path} {size} {mtime_ns}'.encode()).hexdigest()[:32]}.image"
    try:
        if kept.exists():
            os.utime(kept)
            return kept
        unpacked = unpack(path.read_bytes())
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as new:
            try:
                new.write(unpacked)
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
    """What QEMU is given to boot the kernel image @path: one with the kernel unpacked, or @path if that cannot be had."""
    try:
        status = os.stat(path)
    except OSError:
        return path  # QEMU says what is wrong
    return _unpacked(Path(os.path.abspath(path)), status.st_size, status.st_mtime_ns)
