# SPDX-License-Identifier: GPL-2.0-or-later
"""New modules for nodes that run: they are built and copied, the old ones are unloaded and the new ones loaded, each behind what it
needs; what was loaded before is loaded again with its parameters. A test of the guest's can follow."""

import asyncio
import contextlib
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import client, copying, guest_modules, host, module_build, modules
from .errors import ConfigError, NodeError, UsageError
from .kernel_log import complains
from .writing import write_text

TESTS = "/kselftest"
"""Where the guest's tests are on a node."""
SKIPPED = 4
"""Exit status of a test of the kernel's that cannot run."""


@dataclass
class Plan:
    """What is done on a node. files: those to be copied; unload: names; load: (name, parameters), each in its order."""

    files: list = field(default_factory=list)
    unload: list = field(default_factory=list)
    load: list = field(default_factory=list)


def parse(words):
    """(name, FILE.ko or folder; its parameters) of each module on the command line: MODULE [NAME=VALUE]... ."""
    found = []
    for word in words:
        if "=" in word and "/" not in word.partition("=")[0]:
            if not found:
                raise UsageError(f"'{word}' is a parameter: name its module before it")
            name, _, value = word.partition("=")
            found[-1][1][name] = value
        else:
            found.append((word, {}))
    return found


def gather(wanted, release, build=True):
    """Build what is to be built; (all known Modules by name, parameters by name of each module that was asked for)."""
    known = module_build.project(release) if build else modules.below(host.BUILD / f"driver-{release}", host.BUILD / f"kgni-{release}")
    asked = {}
    for word, parameters in wanted:
        path = Path(word)
        if word.endswith(".ko"):
            module = modules.read(path)
            found = {module.name: module}
        elif "/" in word or path.is_dir() and modules.in_kernel(word) not in known:
            found = module_build.folder(path, release) if build else modules.below(path)
        elif modules.in_kernel(word) in known:
            found = {modules.in_kernel(word): known[modules.in_kernel(word)]}
        else:
            raise ConfigError(f"there is no module '{word}': {', '.join(sorted(known)) or 'none is built here'}, FILE.ko or a folder with sources")
        if parameters and len(found) > 1:
            raise UsageError(f"{word} makes {len(found)} modules ({', '.join(sorted(found))}): name the one that has the parameter, as FILE.ko")
        known.update(found)
        asked.update(dict.fromkeys(found, parameters))
    for module in known.values():
        if module.release != release:
            raise ConfigError(f"{module.path} was built for Linux {module.release or 'unknown'}, the nodes run {release}")
    return known, asked


def plan(node, state, known, asked, before):
    """The Plan for a node from its guest_modules.State. before: what an earlier call has unloaded and not loaded again, parameters by name.

    ConfigError names what keeps a module from being unloaded."""
    # what nobody here has built is left alone, unless it is in the way
    changed = {name for name, module in known.items() if name in state.loaded and state.loaded[name].build != module.build}
    going = modules.needing(changed | (set(asked) & set(state.loaded)), known) & set(state.loaded)
    for name in going:
        strangers = set(state.loaded[name].holders) - set(known)
        if strangers:
            raise ConfigError(f"node {node}: {name} is in use by module {', '.join(sorted(strangers))}, which was not built here:"
                              f" give its FILE.ko or folder as well, or unload it")
    coming = {name: {**state.loaded[name].parameters, **asked.get(name, {})} for name in going}
    coming.update({name: {**parameters, **asked.get(name, {})} for name, parameters in before.items() if name in known and name not in state.loaded})
    coming.update({name: parameters for name, parameters in asked.items() if name not in coming})
    for name in modules.needed_by(coming, known) - set(state.loaded):
        coming.setdefault(name, {})
    order = modules.in_order(coming, known)
    return Plan(unload=[name for name in reversed(modules.in_order(going, known))], load=[(name, coming[name]) for name in order])


def _hash(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Stripped:
    """Copies of modules without symbols for debuggers, which are of no use on a node and nine tenths of a module."""

    def __init__(self, folder):
        self._folder, self._made = Path(folder), {}

    def __call__(self, module):
        """Path of the copy, and its hash."""
        if module.path not in self._made:
            copy = self._folder / f"{len(self._made)}.ko"
            tool = shutil.which("strip")
            done = subprocess.run([tool, "--strip-debug", "-o", copy, module.path], check=False, capture_output=True) if tool else None
            if done is None or done.returncode:
                shutil.copyfile(module.path, copy)
            self._made[module.path] = copy, _hash(copy)
        return self._made[module.path]


def _stage(folder, state, known, stripped):
    """Lay out the files that a node does not have as they belong below /lib/modules; the names of those modules."""
    names, record = [], dict(state.record)
    for name, module in sorted(known.items()):
        copy, digest = stripped(module)
        place = state.files.get(name, f"extra/{name}.ko")
        if record.get(place) == digest and state.sizes.get(place) == copy.stat().st_size:
            continue
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(copy, folder / place)
        record[place] = digest
        names.append(name)
    if names:
        write_text(folder / guest_modules.RECORD, "".join(f"{digest} {place}\n" for place, digest in sorted(record.items())))
    return names


class Operation:
    """One call for a cluster and some of its nodes."""

    def __init__(self, name, nodes, say):
        self._name, self._nodes, self._say = name, nodes, say
        self._marks = {}

    async def states(self):
        """What the nodes say of their modules. ConfigError if they run different kernels."""
        states = dict(zip(self._nodes, await asyncio.gather(*(guest_modules.state(self._name, node) for node in self._nodes))))
        releases = {state.release: node for node, state in states.items()}
        if len(releases) > 1:
            raise ConfigError("the nodes run different kernels, so no module is for all of them: "
                              + ", ".join(f"node {node} {release}" for release, node in sorted(releases.items())))
        return states

    def _memory(self, node):
        return host.RUN / self._name / f"node{node}.insmod"

    def _before(self, node, state):
        """What an earlier call has unloaded on a node and not loaded again since the node booted; and its network addresses."""
        with contextlib.suppress(OSError, ValueError):
            kept = json.loads(self._memory(node).read_text(encoding="utf-8"))
            if kept["boot"] == state.boot:
                return kept["modules"], kept["network"]
        return {}, []

    async def reload(self, states, known, asked):
        """All nodes: first what is in the way is found, then files are copied, then modules go, then they come."""
        kept = {node: self._before(node, state) for node, state in states.items()}
        plans = {node: plan(node, state, known, asked, kept[node][0]) for node, state in states.items()}
        for node, state in states.items():
            await guest_modules.check_unused(self._name, node, state, plans[node].unload)
        network = {node: kept[node][1] + state.network for node, state in states.items()}
        with tempfile.TemporaryDirectory(prefix="opengni-insmod-") as folder:
            stripped = Stripped(folder)
            await asyncio.gather(*(self._copy(Path(folder) / f"node{node}", node, states[node], known, stripped) for node in self._nodes))
        for node in self._nodes:
            if plans[node].unload:
                write_text(self._memory(node), json.dumps({"boot": states[node].boot, "modules": dict(plans[node].load),
                                                           "network": network[node]}))
        await asyncio.gather(*(guest_modules.unload(self._name, node, plans[node].unload, states[node].mark) for node in self._nodes))
        await asyncio.gather(*(guest_modules.load(self._name, node, [(states[node].files.get(name, f"extra/{name}.ko"), parameters)
                                                                     for name, parameters in plans[node].load],
                                                  network[node], states[node].mark) for node in self._nodes))
        for node in self._nodes:
            self._memory(node).unlink(missing_ok=True)
        self._tell(plans)

    async def _copy(self, folder, node, state, known, stripped):
        tree = folder / state.release
        tree.mkdir(parents=True)
        names = _stage(tree, state, known, stripped)
        if names:
            await copying.to_node(self._name, str(tree), node, guest_modules.LIB)
        if any(name not in state.files or not set(known[name].depends) <= state.needs[name] for name in names):
            await guest_modules.depmod(self._name, node)

    def _tell(self, plans):
        told = {}
        for node, one in plans.items():
            words = " ".join(f"{name}{''.join(f' {key}={value}' for key, value in parameters.items())}," for name, parameters in one.load)
            told.setdefault(words.rstrip(",") and f"loaded {words.rstrip(',')}" or "nothing that is loaded has changed", []).append(node)
        for words, nodes in told.items():
            where = f"node {nodes[0]}" if len(nodes) == 1 else f"nodes {','.join(map(str, nodes))}"
            self._say(f"{where}: {words}")

    async def complaints(self, states):
        """Lines in which the kernels of nodes have complained since the states were taken; 'node N: line' each."""
        found = []
        for node, state in states.items():
            found += [f"node {node}: {line}" for line in await guest_modules.log(self._name, node, state.mark) if complains(line)]
        return found


async def _test(name, node, word, program, say):
    """Copy a test to a node and run it there; its exit status."""
    collection, _, test = word.partition("/")
    folder = f"{TESTS}/{collection}"
    there, _, _ = await client.run(name, node, ["/bin/sh", "-c", f"[ -d {folder} ]"])
    if there:
        whole = host.BUILD / "kselftest" / collection
        if not whole.is_dir():
            raise ConfigError(f"node {node} has no {folder}, and {whole} is missing: make selftests")
        status, _, complaint = await client.run(name, node, ["mkdir", "-p", TESTS])
        if status:
            raise NodeError(f"node {node}: {complaint.strip()}")
        await copying.to_node(name, str(whole), node, f"{TESTS}/")
    await copying.to_node(name, str(program), node, f"{folder}/{test}")
    say(f"node {node}: {word}")
    return await client.execute(name, {"argv": [f"./{test}"], "nodes": [node], "cwd": folder}, label=False, stdin=False)


def run(name, nodes, words, tests=(), build=True, say=lambda line: print(line, file=sys.stderr, flush=True)):
    """The exit status: that of the first test that fails; 1 where a kernel has complained. Messages go to say()."""
    started = time.monotonic()
    wanted = parse(words)
    for word in tests:
        if word.count("/") != 1 or not all(word.split("/")):
            raise UsageError(f"test '{word}' is not COLLECTION/NAME, such as aries/fork")
    operation = Operation(name, nodes, say)
    release = asyncio.run(guest_modules.release(name, nodes[0]))
    known, asked = gather(wanted, release, build)
    programs = {word: module_build.selftest(*word.split("/")) for word in tests}
    built = time.monotonic()

    async def work():
        states = await operation.states()
        await operation.reload(states, known, asked)
        say(f"built in {built - started:.1f} s, loaded in {time.monotonic() - built:.1f} s")
        status = 0
        for word, program in programs.items():
            result = await _test(name, nodes[0], word, program, say)
            status = status or result if result != SKIPPED else status
        complaints = await operation.complaints(states)
        for line in complaints:
            say(line)
        return status or bool(complaints)

    return int(asyncio.run(work()))
