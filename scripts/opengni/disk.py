# SPDX-License-Identifier: GPL-2.0-or-later
"""Disks of nodes: an image that many boot from, and what each has written, in a file of its own over it."""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from . import host
from .errors import ConfigError

FORMATS = ("raw", "qcow2")
"""Those that the project's QEMU has been built with and that a node can boot from."""
SECTOR = 512
CODE = 440  # bytes of a boot sector before its partition table


def _qemu_img(*arguments):
    """What qemu-img prints; ConfigError with its complaint."""
    try:
        result = subprocess.run(["qemu-img", *map(str, arguments)], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise ConfigError("qemu-img is missing: install package qemu-utils; --disk makes each node's disk with it") from None
    if result.returncode:
        raise ConfigError(re.sub(r"^qemu-img: ", "", (result.stderr.strip() or f"qemu-img ended with {result.returncode}").splitlines()[-1]))
    return result.stdout


def image_format(image):
    """'raw' or 'qcow2'; ConfigError for a file that is something else."""
    found = json.loads(_qemu_img("info", "-U", "--output=json", image))["format"]
    if found not in FORMATS:
        raise ConfigError(f"disk image {image} has format {found}: make a qcow2 one of it with 'qemu-img convert -O qcow2'")
    return found


def _boot_sector(image, form):
    """The first 512 bytes of the disk."""
    if form == "raw":
        with open(image, "rb") as file:
            return file.read(SECTOR)
    with tempfile.TemporaryDirectory(prefix="opengni-") as place:
        out = Path(place) / "sector"
        _qemu_img("dd", "-U", "-f", form, "-O", "raw", f"bs={SECTOR}", "count=1", f"if={image}", f"of={out}")
        return out.read_bytes()


def check_bootable(image):
    """ConfigError if a BIOS finds nothing on the disk that it can start."""
    sector = _boot_sector(image, image_format(image))
    way_out = "give --kernel and --initrd, or an image with a boot loader for BIOS"
    if len(sector) < SECTOR or sector[-2:] != b"\x55\xaa":
        raise ConfigError(f"disk image {image} cannot be booted, it has no boot sector: {way_out}")
    if not any(sector[:CODE]):
        raise ConfigError(f"disk image {image} cannot be booted, its boot sector has no program (is it for UEFI?): {way_out}")


def folder(config):
    """Where the nodes' own disks are."""
    return host.BUILD / "disks" / config.name if config.keep else config.dir


def path(config, number):
    """A node's own disk."""
    return folder(config) / f"node{number}.qcow2"


def _identity(image):
    """By what the image is known again: what is kept is worth nothing over another one."""
    status = os.stat(image)
    return {"image": os.path.realpath(image), "size": status.st_size, "mtime": status.st_mtime_ns}


def _kept_identity(place):
    """That of the image under what is kept there; None if nothing is, or nobody knows."""
    try:
        return json.loads((place / "image.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def validate(config):
    """ConfigError for a disk that no node can boot from, and for disks that were kept from another image."""
    if config.boots_itself:
        check_bootable(config.disk)
    else:
        image_format(config.disk)
    if config.keep and any(folder(config).glob("*.qcow2")) and _kept_identity(folder(config)) != _identity(config.disk):
        raise ConfigError(f"the disks kept in {folder(config)} belong to another image, or to {config.disk} as it was before:"
                          " remove that folder, or take another --name")


def prepare(config, number):
    """Make a node's own disk, unless it has one: kept from another time, or from before it was stopped."""
    own = path(config, number)
    if own.exists():
        return
    try:
        own.parent.mkdir(parents=True, exist_ok=True)
        if config.keep:
            (own.parent / "image.json").write_text(json.dumps(_identity(config.disk)) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot make {own.parent} for the nodes' disks: {error.strerror}: set {host.STATE_VARIABLE} to another place") from None
    new = own.with_suffix(".new")
    _qemu_img("create", "-q", "-f", "qcow2", "-b", os.path.abspath(config.disk), "-F", image_format(config.disk), new)
    new.rename(own)


def remove(config):
    """What the nodes have written goes, unless it is kept."""
    if config.disk and not config.keep:
        for number in range(config.nodes):
            path(config, number).unlink(missing_ok=True)


def arguments(config, number):
    """Of QEMU, for a node's disk."""
    if not config.disk:
        return []
    own = str(path(config, number)).replace(",", ",,")
    # a kernel that is given has boot index 0
    return ["-drive", f"if=none,id=disk,file={own},format=qcow2", "-device", "virtio-blk-pci,drive=disk,bootindex=1"]
