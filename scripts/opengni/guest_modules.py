# SPDX-License-Identifier: GPL-2.0-or-later
"""Modules on a node: what is loaded there and by whom it is used, unloading, loading, and what the kernel says of it."""

from dataclasses import dataclass, field

from . import client
from .errors import NodeError

LIB = "/lib/modules"
RECORD = ".opengni-insmod"
"""A file below /lib/modules/RELEASE: a line for each module that was copied there, its hash and its path."""
PATIENCE = 120.0
"""Seconds that a node has for a module; a guest on a busy host is slow."""
LINES = 15

# A root other than / is for tests.
_STATE = r"""
R=${OPENGNI_TEST_ROOT:-}
release=$(uname -r)
echo "release $release"
echo "boot $(cat $R/proc/sys/kernel/random/boot_id)"
echo "mark $(dmesg | tail -n 1)"
cd $R/lib/modules/$release || { echo "there is no /lib/modules/$release" >&2; exit 1; }
# before the files: of two of one name, modprobe takes the one that is named here
sed -n 's/^/needs /p' modules.dep
find . -name '*.ko' | xargs -r ls -ln | awk '{ print "file", $5, substr($NF, 3) }'
[ ! -e RECORD ] || sed 's/^/record /' RECORD
while read -r name size count holders rest; do
    echo "module $name $count $holders"
    notes=$R/sys/module/$name/notes/.note.gnu.build-id
    [ ! -r $notes ] || echo "build $name $(od -An -v -tx1 $notes | tr -d ' \n')"
    for parameter in $R/sys/module/$name/parameters/*; do
        [ ! -r "$parameter" ] || echo "parameter $name ${parameter##*/} $(cat "$parameter")"
    done
done <$R/proc/modules
for device in $R/sys/class/net/ipogif*; do
    [ -e "$device" ] || continue
    ip -o addr show dev ${device##*/} | awk '$3 ~ /^inet6?$/ && !/scope link/ { print "network address", $2, $4 }'
    ip -o link show dev ${device##*/} | grep -q '[<,]UP[,>]' && echo "network up ${device##*/} $(cat $device/mtu)"
done
true
""".replace("RECORD", RECORD)

# Processes that have a device of the driver open, as 'PID COMMAND'.
_USERS = r"""
for process in /proc/[0-9]*; do
    ls -l $process/fd 2>/dev/null | grep -q ' /dev/kgni' && echo "${process#/proc/} $(cat $process/comm)"
done
true
"""

# Arguments: names. Each that is unloaded is printed.
_UNLOAD = r"""
for name; do
    rmmod "$name" || exit
    echo "$name"
done
"""

# Arguments: of each module its path and its parameters, with a '.' behind them; ':'; then 'address DEVICE ADDRESS' and 'up DEVICE MTU' for
# interfaces. The path of each that is loaded is printed.
_LOAD = r"""
cd ${OPENGNI_TEST_ROOT:-}/lib/modules/$(uname -r) || exit
while [ $# -gt 0 ] && [ "$1" != : ]; do
    path=$1
    shift
    for dependency in $(modinfo -F depends "$path" 2>/dev/null | tr , ' '); do
        [ -e ${OPENGNI_TEST_ROOT:-}/sys/module/$dependency ] || modprobe "$dependency" || exit
    done
    count=0
    parameters=
    while [ "$1" != . ]; do
        count=$((count + 1))
        eval "value$count=\$1"
        parameters="$parameters \"\$value$count\""
        shift
    done
    shift
    eval "insmod \"\$path\" $parameters" || exit
    echo "$path"
done
shift
while [ $# -ge 3 ]; do
    case $1 in
    address) ip addr add "$3" dev "$2" 2>/dev/null || ip addr show dev "$2" | grep -q " $3 " || exit ;;
    up) ip link set "$2" mtu "$3" && ip link set "$2" up || exit ;;
    esac
    shift 3
done
"""


@dataclass
class Loaded:
    """A module that is loaded. count: its users, holders being the modules among them; build: its build ID, '' if it has none."""

    count: int = 0
    holders: tuple = ()
    build: str = ""
    parameters: dict = field(default_factory=dict)


@dataclass
class State:
    """Of a node: by name of the module its file below /lib/modules/RELEASE and what it needs, directly or not; by path the sizes of
    files and the hashes of those that were copied there; mark: the last line of the kernel's log."""

    release: str = ""
    boot: str = ""
    mark: str = ""
    loaded: dict = field(default_factory=dict)
    files: dict = field(default_factory=dict)
    needs: dict = field(default_factory=dict)
    sizes: dict = field(default_factory=dict)
    record: dict = field(default_factory=dict)
    network: list = field(default_factory=list)


def parse(text):
    """The State from what the script for it prints."""
    state, dependencies = State(), {}
    for kind, _, rest in (line.partition(" ") for line in text.splitlines()):
        words = rest.split(" ")
        if kind in ("release", "boot", "mark"):
            setattr(state, kind, rest)
        elif kind == "file":
            state.sizes[words[1]] = int(words[0])
            if words[1] in dependencies or _name(words[1]) not in state.files:
                state.files[_name(words[1])] = words[1]
        elif kind == "needs":
            path, _, needed = rest.partition(":")
            dependencies[path] = {_name(other) for other in needed.split()}
        elif kind == "record":
            state.record[words[1]] = words[0]
        elif kind == "module":
            holders = tuple(name for name in words[2].split(",") if name not in ("", "-", "[permanent]"))
            state.loaded[words[0]] = Loaded(int(words[1]) if words[1].isdigit() else 0, holders)
        elif kind == "build":
            state.loaded[words[0]].build = words[1][2 * 16:]
        elif kind == "parameter":
            name, parameter, value = rest.split(" ", 2) if len(words) > 2 else (*words, "")
            if value not in ("", "(null)"):
                state.loaded[name].parameters[parameter] = value
        elif kind == "network":
            state.network.append(words)
    state.needs = {name: dependencies.get(path, set()) for name, path in state.files.items()}
    return state


def _name(path):
    return path.rsplit("/", 1)[-1].split(".ko")[0].replace("-", "_")


async def _shell(name, node, script, *words):
    """A script of the shell on a node; its output. NodeError tells what went wrong."""
    status, out, complaints = await client.run(name, node, ["/bin/sh", "-c", script, "cluster-insmod", *words], PATIENCE)
    return status, out, complaints.strip()


async def _done(name, node, script, *words):
    status, out, complaints = await _shell(name, node, script, *words)
    if status:
        raise NodeError(f"node {node}: {complaints or f'exit status {status}'}")
    return out


async def release(name, node):
    """Release of a node's kernel."""
    return (await _done(name, node, "uname -r")).strip()


async def state(name, node):
    """The State of a node."""
    return parse(await _done(name, node, _STATE))


async def depmod(name, node):
    """Write down anew which module needs which, for modprobe."""
    await _done(name, node, "depmod")


async def _users(name, node):
    """Processes of a node that have a device of the driver open, as text."""
    lines = (await _done(name, node, _USERS)).splitlines()
    return ", ".join(f"process {line.replace(' ', ' (', 1)})" for line in lines)


async def check_unused(name, node, known, going):
    """NodeError if a module that is to be unloaded has users that are no modules. Modules that go as well may hold others more than once,
    as clients of kGNI do: that ends with them."""
    busy = [module for module in going if known.loaded[module].count > len(known.loaded[module].holders)]
    users = await _users(name, node) if busy else ""
    for module in busy:
        if users or not known.loaded[module].holders:
            raise NodeError(f"node {node}: {module} is in use by {users or 'something in its kernel that is no module'}: end that first")


async def log(name, node, mark):
    """Lines of a node's kernel log behind a line."""
    lines = (await _done(name, node, "dmesg")).splitlines()
    return lines[len(lines) - lines[::-1].index(mark):] if mark in lines else lines


async def _failed(name, node, what, complaints, mark):
    lines = await log(name, node, mark)
    said = "".join(f"\n    {line}" for line in lines[-LINES:])
    return NodeError(f"node {node}: {what}: {complaints or 'no reason given'}" + (f"; its kernel says:{said}" if said else ""))


async def unload(name, node, names, mark):
    """Unload modules in this order."""
    if names:
        status, out, complaints = await _shell(name, node, _UNLOAD, *names)
        if status:
            stuck = names[min(len(out.split()), len(names) - 1)]
            users = await _users(name, node)
            text = f"{complaints}{f', by {users}' if users else ''} (the next insmod loads again what was unloaded)"
            raise await _failed(name, node, f"{stuck} cannot be unloaded", text, mark)


async def load(name, node, files, network, mark):
    """Load modules in this order: (path below /lib/modules/RELEASE, parameters) each; then network interfaces get their addresses."""
    words = [word for path, parameters in files for word in (path, *(f"{key}={value}" for key, value in parameters.items()), ".")]
    addresses = [word for entry in network for word in entry] if files else []
    status, out, complaints = await _shell(name, node, _LOAD, *words, ":", *addresses)
    if status:
        done = len(out.split())
        what = f"{_name(files[done][0])} does not load" if done < len(files) else "the network's addresses cannot be set again"
        raise await _failed(name, node, what, complaints, mark)
