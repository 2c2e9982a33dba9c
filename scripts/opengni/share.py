# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders of this machine that nodes see: QEMU serves them by 9p over virtio, and they are mounted when a node has booted."""

import io
import os
import shlex
import tarfile
from pathlib import Path
from typing import NamedTuple

from . import host
from .errors import ConfigError, NodeError, UsageError

PATIENCE = 120.0
"""Seconds that a node has to mount a folder."""
PIECE = 512000
"""Most bytes of one answer: what virtio-9p takes with the usual queue."""

# Whether the kernel has 9p over virtio, by itself or by a module that is there.
_ABLE = """
grep -qw 9p /proc/filesystems || modprobe 9p 2>/dev/null
[ -e /sys/bus/virtio/drivers/9pnet_virtio ] || modprobe 9pnet_virtio 2>/dev/null
grep -qw 9p /proc/filesystems && [ -e /sys/bus/virtio/drivers/9pnet_virtio ]
"""

# Standard input: an archive of the modules with their order.
_LOAD = """
folder=$(mktemp -d) && cd "$folder" && tar -xf - || exit
while read -r file; do
    name=$(echo "${file%.ko}" | tr - _)
    [ -e "/sys/module/$name" ] || insmod "$file" || exit
done <order
cd / && rm -r "$folder"
"""


class Share(NamedTuple):
    """A folder of this machine, and where nodes see it."""

    folder: str
    place: str
    read_only: bool = False


def parse(word):
    """A Share from FOLDER[:PLACE][:ro]. UsageError or ConfigError."""
    rest, _, last = word.rpartition(":")
    read_only = bool(rest) and last == "ro"
    if not read_only:
        rest = word
    folder, colon, place = rest.rpartition(":") if ":/" in rest else (rest, "", "")
    path = os.path.abspath(folder)
    if not folder or colon and not place.startswith("/"):
        raise UsageError(f"--share {word}: FOLDER, FOLDER:/PLACE or FOLDER:/PLACE:ro is possible")
    if not os.path.isdir(path):
        raise ConfigError(f"--share {word}: there is no folder {path}")
    if not os.access(path, os.R_OK | os.X_OK):
        raise ConfigError(f"--share {word}: {path} cannot be read")
    return Share(os.path.realpath(path), place if colon else path, read_only)


def modules(release):
    """The folder with modules for a kernel."""
    return host.BUILD / f"share-{release}"


def validate(config):
    """ConfigError if nodes could not see the folders, as far as that is known before they boot."""
    places = [share.place.rstrip("/") for share in config.shares]
    for place in places:
        if not place or places.count(place) > 1:
            raise UsageError(f"--share: '{place or '/'}' cannot be the place of {'two folders' if place else 'a folder'}")
    if places and not config.agent:
        raise UsageError("--share needs the agent, which mounts the folder: not with --no-agent")
    # of a system of the user's nothing is known
    if places and config.uses_built_image and not (modules(config.built_release) / "order").exists():
        raise ConfigError(f"Linux {config.built_release} sees no folders of this machine without more modules: {host.missing(f'share KERNEL={config.kernel}')}")


def arguments(config):
    """Of QEMU."""
    line = []
    for number, share in enumerate(config.shares):
        # what a node writes belongs to whoever runs QEMU: no other owner can be given without root
        line += ["-fsdev", f"local,id=share{number},path={share.folder.replace(',', ',,')},security_model=none,multidevs=remap"
                           + (",readonly=on" if share.read_only else ""),
                 "-device", f"virtio-9p-pci,fsdev=share{number},mount_tag=share{number}"]
    return line


def _archive(folder):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(Path(folder).iterdir()):
            archive.add(path, arcname=path.name)
    return out.getvalue()


async def _load(node):
    """Give the node's kernel what it lacks."""
    folder = modules(node.release)
    if not (folder / "order").exists():
        raise NodeError(f"node {node.number}: Linux {node.release} has no 9p, which --share needs: {host.missing('share')}"
                        " with the KERNEL= of the nodes builds it")
    done = await node.run(_LOAD, stdin=_archive(folder), timeout=PATIENCE)
    if done.code:
        raise NodeError(f"node {node.number}: 9p, which --share needs, does not load: {done.stderr.strip()}")


async def mount(node):
    """Mount the folders on a node that has booted. NodeError."""
    if not node.config.shares:
        return
    if (await node.run(_ABLE, timeout=PATIENCE)).code:
        await _load(node)
    for number, share in enumerate(node.config.shares):
        options = f"trans=virtio,version=9p2000.L,msize={PIECE},{'ro' if share.read_only else 'rw'}"
        place = shlex.quote(share.place)
        done = await node.run(f"mkdir -p {place} && mount -t 9p -o {options} share{number} {place}", timeout=PATIENCE)
        if done.code:
            raise NodeError(f"node {node.number}: {share.folder} cannot be mounted at {share.place}: {done.stderr.strip()}")
