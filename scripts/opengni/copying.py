# SPDX-License-Identifier: GPL-2.0-or-later
"""Files and folders to nodes and from them: archives by tar through the agent, put into place when they are whole."""

import asyncio
import contextlib
import os
import posixpath
import re
import shutil
import tarfile
import tempfile
from pathlib import Path

from . import client
from .errors import ConfigError, NodeError, UsageError
from .flow import Taken, Window
from .protocol import Kind, frame
from .unpacking import BLOCK, Unpacked

REMOTE = re.compile(r"(?:node)?(all|\d[\d,-]*):(.+)", re.S)
CONTENT, END = "content", "end"
"""Names in an archive for a node: what is copied, and an empty file that tells that all has come."""

# Arguments: where to, name there if that is a folder. What is a folder already is filled, file by file.
RECEIVE = f"""
fail() {{ echo "$*" >&2; exit 1; }}
umask 022
target=$1
if [ -d "$target" ]; then target=${{target%/}}/$2; else case $target in */) fail "there is no folder $target" ;; esac; fi
folder=$(dirname "$target")
[ -d "$folder" ] || fail "there is no folder $folder"
# The name is known and looked after before the folder is there: a signal may come while it is made.
stage=$(mktemp -u "$folder/.cluster-cp.XXXXXX")
trap '[ -z "$!" ] || {{ kill -KILL $!; wait; }} 2>/dev/null; rm -rf "$stage"' EXIT
trap 'exit 1' HUP INT TERM
why=$(mkdir -m 700 "$stage" 2>&1) || {{ [ $? -gt 128 ] || stage=; fail "$why"; }}
# In the background, because the shell runs no trap while it waits for another command. A process that it has just made can lose a signal.
exec 3<&0
tar -xpf - -C "$stage" <&3 &
wait $! || fail "cannot write to $folder"
trap 'rm -rf "$stage"' EXIT
[ -e "$stage/{END}" ] || fail "the copy was broken off"
from=$stage/{CONTENT}
if [ -d "$from" ] && [ ! -L "$from" ] && [ -d "$target" ]; then
    target=$(cd "$target" && pwd) && cd "$from" || fail "cannot enter $target"
    find . -type d -exec sh -c 'for d; do [ -d "$0/$d" ] || mkdir -m "$(stat -c %a "$d")" "$0/$d" || exit; done' "$target" {{}} + ||
        fail "cannot make folders in $target"
    find . ! -type d -exec sh -c 'for f; do [ ! -d "$0/$f" ] && mv -f "$f" "$0/$f" || exit; done' "$target" {{}} + ||
        fail "cannot replace what is in $target"
else
    [ ! -d "$target" ] || fail "$target is a folder"
    mv -f "$from" "$target" || fail "cannot write $target"
fi
"""

# Arguments: what from.
SEND = """
fail() { echo "$*" >&2; exit 1; }
[ -e "$1" ] || fail "there is no $1"
path=$(readlink -f "$1") && cd "$(dirname "$path")" || fail "cannot enter the folder of $1"
exec tar -cf - "./$(basename "$path")"
"""


def parse(word):
    """(nodes as text, path there) of 'node1:PATH', '1:PATH', '0,2-3:PATH' or 'all:PATH'; (None, path here) of others."""
    found = REMOTE.fullmatch(word)
    return (found.group(1), found.group(2)) if found else (None, word)


class _Remote:
    """A command on one node, its input and output as a file for a thread that packs or unpacks."""

    def __init__(self, name, node, script, *arguments):
        self._name, self.node = name, node
        self._argv = ["/bin/sh", "-c", script, "cluster-cp", *arguments]
        self._loop = asyncio.get_running_loop()
        self._window, self._complaint, self._rest = Window(), bytearray(), b""
        self.code = None

    async def __aenter__(self):
        self._reader, self._writer = await client.connect(self._name)
        request = {"op": "exec", "argv": self._argv, "nodes": [self.node], "window": True}
        await client.ask(self._reader, self._writer, request)
        self._taken = Taken(self._writer)
        return self

    async def __aexit__(self, *_):
        self._writer.close()

    async def send(self, data):
        """Input; none closes it. False if the command has ended."""
        room = asyncio.create_task(self._window.take(len(data)))
        while not room.done() and self.code is None:
            await self._heard(room)
        room.cancel()
        if self.code is None:
            self._writer.write(frame(Kind.STDIN, 0, data))
            try:
                await self._writer.drain()
            except ConnectionError:  # it has ended: what it has said is still there to be read
                while self.code is None:
                    await self.receive()
        return self.code is None

    async def _heard(self, room):
        """The next frame, or room for more input."""
        await asyncio.sleep(0)
        if not room.done():
            await self.receive()

    async def receive(self):
        """The next piece of output; none at the end, and for frames that are no output."""
        kind, rank, payload = await client.next_frame(self._reader)
        if kind is Kind.STDIN_TAKEN:
            self._window.taken(rank, payload)
        elif kind is Kind.EXIT:
            self.code = int.from_bytes(payload[:4], "little") or -int.from_bytes(payload[4:8], "little")
            self._complaint += payload[8:]
        elif kind is Kind.STDERR:
            self._complaint += payload
        else:
            self._taken.add(rank, len(payload))
            return payload
        return b""

    async def end(self):
        """Wait for its end; NodeError if that is a bad one."""
        while self.code is None:
            await self.receive()
        if self.code:
            lines = self._complaint.decode("utf-8", "replace").strip().splitlines()
            said = ": ".join(dict.fromkeys((lines[-1], lines[0]))) if lines else f"tar ended with {self.code}"
            raise NodeError(f"node {self.node}: {said}")

    def write(self, data):
        """For tarfile, in its thread."""
        for at in range(0, len(data), BLOCK):
            if not asyncio.run_coroutine_threadsafe(self.send(bytes(data[at:at + BLOCK])), self._loop).result():
                raise BrokenPipeError
        return len(data)

    def read(self, size):
        """For tarfile, in its thread."""
        while len(self._rest) < size and self.code is None:
            self._rest += asyncio.run_coroutine_threadsafe(self.receive(), self._loop).result()
        data, self._rest = self._rest[:size], self._rest[size:]
        return data


def _pack(remote, source):
    """Writes the archive of a file or folder."""
    def owner(member):
        if not (member.isfile() or member.isdir() or member.issym() or member.islnk()):
            raise ConfigError(f"{source}: {member.name.replace(CONTENT, '.', 1)} is neither file, folder nor link")
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        return member

    with tarfile.open(fileobj=remote, mode="w|", format=tarfile.GNU_FORMAT, bufsize=BLOCK) as archive:
        archive.add(os.path.realpath(source), arcname=CONTENT, filter=owner)
        archive.addfile(tarfile.TarInfo(END))


async def to_node(name, source, node, target, into=False):
    """Copy a file or folder of this machine to a node; into: what a folder has goes into the target, which is a folder as well."""
    base = "" if into else os.path.basename(os.path.abspath(source))
    async with _Remote(name, node, RECEIVE, target, base) as remote:
        try:
            await asyncio.to_thread(_pack, remote, source)
        except BrokenPipeError:
            pass  # the command has said why
        except (OSError, ConfigError) as error:
            with contextlib.suppress(NodeError):  # it takes away what has come so far
                await remote.send(b"")
                await remote.end()
            if isinstance(error, ConfigError):
                raise
            raise ConfigError(f"{error.filename or source}: {error.strerror or error}") from None
        await remote.send(b"")
        await remote.end()


async def from_node(name, node, source, target):
    """Copy a file or folder of a node to this machine."""
    target = Path(target)
    base = posixpath.basename(source.rstrip("/"))
    if target.is_dir() and base not in ("", ".", ".."):
        target = target / base
    if not target.parent.is_dir():
        raise ConfigError(f"there is no folder {target.parent}")
    try:
        stage = Path(tempfile.mkdtemp(prefix=".cluster-cp.", dir=target.parent))
    except OSError as error:
        raise ConfigError(f"{target.parent}: {error.strerror}") from None
    try:
        async with _Remote(name, node, SEND, source) as remote:
            try:
                unpacked = await asyncio.to_thread(Unpacked, remote, stage / CONTENT)
            except (tarfile.TarError, EOFError) as error:
                await remote.end()
                raise NodeError(f"node {node}: {source}: {error}") from None
            await remote.end()
        await asyncio.to_thread(unpacked.place, target)
    except OSError as error:
        raise ConfigError(f"{target}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(stage, ignore_errors=True)


async def copy(name, words, nodes_of):
    """All but the last word to the last one; nodes_of(text) lists nodes."""
    *sources, last = words
    nodes, target = parse(last)
    pairs = [(word, *parse(word)) for word in sources]
    if nodes is None and any(where is None for _, where, _ in pairs):
        raise UsageError(f"neither '{sources[0]}' nor '{last}' is on a node: write node0:PATH for a place there")
    if nodes is not None and any(where is not None for _, where, _ in pairs):
        raise UsageError("both places are on nodes: copy by way of this machine")
    if nodes is None and len(sources) > 1 and not Path(target).is_dir():
        raise ConfigError(f"{target} is no folder for {len(sources)} files")
    if nodes is not None and len(sources) > 1 and not target.endswith("/"):
        target += "/"
    for word, where, path in pairs:
        if nodes is not None:
            if not os.path.exists(word):
                raise ConfigError(f"there is no {word}")
            for node in nodes_of(nodes):
                await to_node(name, word, node, target)
            continue
        numbers = nodes_of(where)
        if len(numbers) > 1:
            raise ConfigError(f"{word}: files of several nodes would have one name here: copy them one by one")
        await from_node(name, numbers[0], path, target)
