# SPDX-License-Identifier: GPL-2.0-or-later
"""An archive from a node, which is not trusted: unpacked beside the place where it belongs, and moved there when it is whole."""

import errno
import os
import shutil
import tarfile
from pathlib import Path, PurePosixPath

from .errors import NodeError

BLOCK = 1 << 16


class Unpacked:
    """What an archive of one file or folder has been unpacked to."""

    def __init__(self, stream, stage):
        """stage: a path where nothing is yet."""
        self._stage = stage
        self._folders, self._links = [], []
        with tarfile.open(fileobj=stream, mode="r|", bufsize=BLOCK) as archive:
            for member in archive:
                self._member(archive, member)
        # Last, so that nothing is ever written through one.
        for path, target in self._links:
            path.symlink_to(target)

    def _path(self, name):
        """Where a member belongs; the first part of its name is that of all."""
        parts = [part for part in PurePosixPath(name).parts if part != "."]
        if not parts or parts[0] == "/" or ".." in parts:
            raise NodeError(f"'{name}' in the archive leads out of it")
        return self._stage.joinpath(*parts[1:])

    def _member(self, archive, member):
        path = self._path(member.name)
        if member.isdir():
            path.mkdir(0o700)
            self._folders.append((path, member))
        elif member.issym():
            self._links.append((path, member.linkname))
        elif member.islnk():
            os.link(self._path(member.linkname), path)
        elif member.isfile():
            with open(path, "xb") as out:
                shutil.copyfileobj(archive.extractfile(member), out, BLOCK)
            _dress(path, member)
        else:
            raise NodeError(f"{member.name.removeprefix('./')} is neither file, folder nor link")

    def place(self, target):
        """Move it to its place: a folder that is there already is filled, file by file."""
        if not self._stage.is_dir() or self._stage.is_symlink():
            _replace(self._stage, target)
            return
        if not target.is_dir():
            os.replace(self._stage, target)
        else:
            self._fill(target)
        for folder, member in reversed(self._folders):
            _dress(target / folder.relative_to(self._stage), member)

    def _fill(self, target):
        new = []
        for folder, member in self._folders:
            place = target / folder.relative_to(self._stage)
            if not place.is_dir():
                place.mkdir()
                new.append((folder, member))
            for path in folder.iterdir():
                if path.is_symlink() or not path.is_dir():
                    _replace(path, place / path.name)
        self._folders = new


def _replace(path, target):
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder", str(target))
    os.replace(path, target)


def _dress(path: Path, member):
    """Mode, without the bits that make a program somebody else's, and time."""
    path.chmod(member.mode & 0o777)
    os.utime(path, (member.mtime, member.mtime))
