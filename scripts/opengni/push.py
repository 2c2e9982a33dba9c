# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of a folder to nodes that run, as far as they have changed since the last time."""

import asyncio
import contextlib
import fnmatch
import hashlib
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from . import client, copying, host, module_build
from .errors import ConfigError, NodeError, UsageError
from .writing import write_text

NOT_FOR_NODES = ("usr/include/*", "*.a", "usr/share/man/*", "usr/share/doc/*", "usr/lib/pkgconfig/*")
"""Of libugni and the tools: what mkinitramfs.sh leaves out as well, and more that no program reads."""

# Arguments: files. What is not there is not printed.
_STATE = r"""
cat /proc/sys/kernel/random/boot_id
for file; do
    stat -c '%s %Y %n' "$file" 2>/dev/null
done
true
"""


def parse(word):
    """(folder, place on a node) of FOLDER[:PLACE]."""
    folder, colon, place = word.rpartition(":") if ":/" in word else (word, "", "")
    path = Path(folder).resolve()
    if not path.is_dir():
        raise ConfigError(f"there is no folder {folder}")
    place = place if colon else str(path)
    if not place.startswith("/"):
        raise UsageError(f"{word}: the place on a node begins with /")
    return path, place.rstrip("/") or "/"


def contents(folder, left_out=()):
    """What a folder has: by path below it a hash of the content, or where a symbolic link leads, and size and time."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if any(fnmatch.fnmatch(name, pattern) for pattern in left_out):
            continue
        if path.is_symlink():
            found[name] = [f"-> {os.readlink(path)}", 0, 0]
        elif path.is_file():
            status = path.stat()
            found[name] = [hashlib.sha256(path.read_bytes()).hexdigest() + oct(status.st_mode & 0o777), status.st_size, int(status.st_mtime)]
        elif not path.is_dir():
            raise ConfigError(f"{path} is neither file, folder nor link")
    return found


def changed(here, there, seen):
    """Paths to copy. there: what was copied before, as contents(); seen: (size, time) of the files on the node."""
    return [name for name, (content, size, _) in here.items()
            if name not in there or there[name][0] != content or (size and seen.get(name) != (there[name][1], there[name][2]))]


class Push:
    """One call for a cluster."""

    def __init__(self, name):
        self._name = name

    def _memory(self, node):
        return host.RUN / self._name / f"node{node}.push"

    async def folder(self, node, folder, place, left_out=()):
        """Copy what has changed of a folder to a place on a node; how many files."""
        here = contents(folder, left_out)
        memory: dict[str, Any] = {"boot": "", "places": {}}
        with contextlib.suppress(OSError, ValueError):
            memory = json.loads(self._memory(node).read_text(encoding="utf-8"))
        root = place.rstrip("/")
        there = memory["places"].get(place, {})
        status, out, complaints = await client.run(self._name, node, ["/bin/sh", "-c", _STATE, "cluster-push", *(f"{root}/{name}" for name in there)])
        if status:
            raise NodeError(f"node {node}: {complaints.strip()}")
        boot, *lines = out.splitlines()
        if boot != memory["boot"]:
            memory, there = {"boot": boot, "places": {}}, {}
        seen = {line.split(" ", 2)[2].removeprefix(f"{root}/"): tuple(map(int, line.split(" ", 2)[:2])) for line in lines}
        names = changed(here, there, seen)
        if names:
            await self._copy(node, folder, place, names)
            memory["places"][place] = {**there, **{name: here[name] for name in names}}
            write_text(self._memory(node), json.dumps(memory))
        return len(names)

    async def _copy(self, node, folder, place, names):
        with tempfile.TemporaryDirectory(prefix="opengni-push-") as stage:
            for name in names:
                target = Path(stage) / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(folder / name, target, follow_symlinks=False)
            os.chmod(stage, 0o755)
            status, _, complaints = await client.run(self._name, node, ["mkdir", "-p", place])
            if status:
                raise NodeError(f"node {node}: {complaints.strip()}")
            await copying.to_node(self._name, stage, node, place, into=True)


def run(name, nodes, words, say=lambda line: print(line, file=sys.stderr, flush=True)):
    """The exit status. Without words libugni and the tools are built and copied."""
    pairs = [(*parse(word), ()) for word in words]
    if not pairs:
        if host.PREFIX:
            raise UsageError("push: name a folder; libugni is built in the source tree of OpenGNI")
        module_build.run_make("libugni", "-C", host.TOP, "userlib", log="push")
        pairs = [(host.BUILD / "stage", "/", NOT_FOR_NODES)]
    push = Push(name)

    async def work():
        for folder, place, left_out in pairs:
            counts = dict(zip(nodes, await asyncio.gather(*(push.folder(node, folder, place, left_out) for node in nodes))))
            for count in sorted(set(counts.values())):
                where = ",".join(str(node) for node in nodes if counts[node] == count)
                say(f"node{'s' if ',' in where else ''} {where}: {count} file{'' if count == 1 else 's'} of {folder} copied to {place}")

    asyncio.run(work())
    return 0
