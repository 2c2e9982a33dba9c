# SPDX-License-Identifier: GPL-2.0-or-later
"""Operations of scripts/cluster on nodes that run: files, consoles, the NIC's properties and traces, QMP, ssh, gdb."""

import asyncio
import json

from . import console, console_log, copying, debugger, insmod, properties, push, selection, ssh, tracing
from .config import parse_size
from .errors import UsageError


def _cp(args):
    count = selection.count(args.name)
    asyncio.run(copying.copy(args.name, [*args.source, args.target], lambda text: selection.parse_nodes(text, count)))
    return 0


def _console(args):
    if args.log:
        return console_log.show(args.name, args.node)
    return asyncio.run(console.session(args.name, selection.node(args.name, args.node)))


def _log(args):
    if args.follow:
        return console_log.follow(args.name, args.node)
    return console_log.show(args.name, "0" if args.node is None else args.node)


def _insmod(args):
    return insmod.run(args.name, selection.nodes(args.name, args.node), args.module, args.test, not args.no_build)


def _push(args):
    return push.run(args.name, selection.nodes(args.name, args.node), args.folder)


def _trace(args):
    nodes = selection.nodes(args.name, args.node)
    if (args.file is not None) != (args.action == "start"):
        raise UsageError("trace: start needs a FILE, stop and status have none")
    if args.action == "start":
        limit = parse_size(args.limit) << 20 if args.limit else None
        for path in asyncio.run(tracing.start(args.name, nodes, args.file, limit, args.packets)).values():
            print(path)
    elif args.action == "stop":
        asyncio.run(tracing.stop(args.name, nodes))
    else:
        print("\n".join(asyncio.run(tracing.status(args.name, nodes))))
    return 0


def _qmp(args):
    try:
        arguments = json.loads(args.arguments) if args.arguments else {}
    except ValueError as error:
        raise UsageError(f"'{args.arguments}' is not JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise UsageError(f"'{args.arguments}' is not an object of JSON, such as '{{\"property\": \"link\"}}'")
    number = selection.node(args.name, args.node)
    print(json.dumps(asyncio.run(properties.qmp(args.name, number, args.request, arguments)), indent=2))
    return 0


def _fault(args):
    if args.list:
        print("\n".join(asyncio.run(properties.table(args.name, selection.node(args.name, args.node or "0")))))
        return 0
    if args.property is None:
        raise UsageError("fault: give a node and a property, or --list")
    number = selection.node(args.name, args.node)
    now = asyncio.run(properties.fault(args.name, number, args.property, args.value))
    print(json.dumps(now) if isinstance(now, bool) else now)
    return 0


def _ssh(args):
    if args.config:
        ssh.need_ssh()
        numbers = selection.nodes(args.name, args.node)
        for number in numbers:
            ssh.admit(args.name, number)
        print(ssh.config(args.name, numbers), end="")
        return 0
    return ssh.session(args.name, selection.node(args.name, args.node), args.command)


def _gdb(args):
    return debugger.session(args.name, selection.node(args.name, args.node), args.vmlinux, args.modules, args.gdb)


def _add_fault(subs):
    fault = subs.add_parser("fault", help="read or set a property of a node's NIC while it runs")
    fault.add_argument("node", nargs="?", help="its address")
    fault.add_argument("property", nargs="?", help="link, drop, corrupt, delay-ns, reorder ...")
    fault.add_argument("value", nargs="?", help="new value: a number, or a word such as down, 3:15 (router:tile) or MDD:9"
                       " (default: print the present one)")
    fault.add_argument("--list", action="store_true", help="list the properties, their present values and the values they take")


def _add_trace(subs):
    trace = subs.add_parser("trace", help="begin or end a packet trace of nodes' NICs (Documentation/packet-trace.md)")
    trace.add_argument("node", help="'all', or addresses such as 0 or 0,2-3")
    trace.add_argument("action", choices=("start", "stop", "status"), help="begin, end, or tell how far it is")
    trace.add_argument("file", nargs="?", metavar="FILE", help="pcapng file, or for several nodes a folder for nodeN.pcapng")
    trace.add_argument("--limit", metavar="SIZE", help="size at which the trace ends, such as 64M or 2G")
    trace.add_argument("--packets", type=int, metavar="N", help="record only the first N packets of each operation")


def _add_insmod(subs):
    parser = subs.add_parser("insmod", help="build the modules that have changed, and load them on nodes in place of the old ones, with those that"
                             " need them and their parameters (Documentation/developing.md)")
    parser.add_argument("module", nargs="*", metavar="MODULE", help="loaded in any case: the name of a module of this tree, FILE.ko or the folder of"
                        " a client's sources; parameters follow it as NAME=VALUE (default: those that are loaded and have changed)")
    parser.add_argument("--node", default="all", help="'all', or addresses such as 0 or 0,2-3 (default all)")
    parser.add_argument("--test", action="append", default=[], metavar="COLLECTION/NAME", help="build a test of selftests/ such as aries/fork,"
                        " and run it on the first of the nodes afterwards; may be given several times")
    parser.add_argument("--no-build", action="store_true", help="take what is built")
    return parser


def _add_push(subs):
    parser = subs.add_parser("push", help="copy what has changed of a folder to nodes; without one, build libugni and the tools and copy those")
    parser.add_argument("folder", nargs="*", metavar="FOLDER[:PLACE]", help="folder of this machine, and where its files belong on a node"
                        " (default: the same path)")
    parser.add_argument("--node", default="all", help="'all', or addresses such as 0 or 0,2-3 (default all)")
    return parser


def add(subs):
    """Add the parsers of these operations."""
    cp = subs.add_parser("cp", help="copy files and folders to nodes or from one; node1:PATH is a place on node 1, all:PATH on every node")
    cp.add_argument("source", nargs="+", metavar="FILE", help="file or folder, here or node0:PATH")
    cp.add_argument("target", metavar="TARGET", help="place for it: a folder that is there, or a new name")
    watch = subs.add_parser("console", help="the serial console of a node; Control-] ends the session")
    watch.add_argument("node", nargs="?", default="0", help="its address (default 0)")
    watch.add_argument("--log", action="store_true", help="print what it has said so far and end")
    log = subs.add_parser("log", help="what nodes have said on their consoles, also when their cluster has ended")
    log.add_argument("node", nargs="?", help="'all', or addresses such as 0 or 0,2-3 (default 0, with --follow all)")
    log.add_argument("-f", "--follow", action="store_true", help="the last lines, and then what comes, until the cluster ends")
    _add_fault(subs)
    _add_trace(subs)
    loader, pusher = _add_insmod(subs), _add_push(subs)
    qmp = subs.add_parser("qmp", help="a command to a node's QEMU; prints its answer as JSON")
    qmp.add_argument("node", help="its address")
    qmp.add_argument("request", metavar="COMMAND", help="such as query-status")
    qmp.add_argument("arguments", nargs="?", metavar="JSON", help="its arguments, an object")
    shell = subs.add_parser("ssh", help="ssh to a node, with a key of the cluster's own, by way of its agent")
    shell.add_argument("node", nargs="?", default="0", help="its address (default 0)")
    shell.add_argument("command", nargs="*", metavar="COMMAND", help="what to run there (default: a shell); after -- if it has options")
    shell.add_argument("--config", action="store_true", help="print a configuration for ssh, scp and rsync -F instead; node may be 'all'")
    gdb = subs.add_parser("gdb", help="gdb at the kernel of a node, with the symbols of aries.ko and kgni.ko (Documentation/debugging.md)")
    gdb.add_argument("node", nargs="?", default="0", help="its address (default 0)")
    gdb.add_argument("gdb", nargs="*", metavar="ARGUMENT", help="after --, arguments for gdb such as -batch or -ex COMMAND")
    gdb.add_argument("--vmlinux", default="", metavar="FILE", help="the kernel with its symbols (default: where KDIR= or Debian's -dbg package left it)")
    gdb.add_argument("--modules", action="append", default=[], metavar="FOLDER", help="another folder with modules and their symbols")
    return [cp, watch, log, subs.choices["fault"], subs.choices["trace"], loader, pusher, qmp, shell, gdb]


OPERATIONS = {"cp": _cp, "console": _console, "log": _log, "fault": _fault, "trace": _trace, "insmod": _insmod, "push": _push, "qmp": _qmp,
              "ssh": _ssh, "gdb": _gdb}
