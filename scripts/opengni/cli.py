# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line of scripts/cluster."""

import argparse
import asyncio
import os
import shlex
import signal
import sys

from . import client, disk, fabric, host, hostfile, member, node_commands, qemu, selection, server, share, slurm
from .arguments import Parser, whole
from .cluster import Cluster, to_stderr
from .config import NODES_MAX, ClusterConfig, parse_shape, parse_size
from .errors import ClusterError, ConfigError, UsageError
from .job import PER_NODE_MAX
from .keeper import Here
from .machine import POLICIES
from .node import Node
from .output import Printer, describe, exit_status, labels_for, reader_gone

EPILOG = """examples:
  scripts/cluster -n 2 -- gni-perf              boot two nodes, run a rank on each, tear down
  scripts/cluster up -n 4; scripts/cluster exec -- uname -r; scripts/cluster down
  scripts/cluster shell 1                       a shell on node 1 of the cluster 'default'
  scripts/cluster kill 1; scripts/cluster start 1     a power cut, and back under the same address
  scripts/cluster run --print-commands -n 2     the QEMU command lines, to start from
"""
DEFAULT_NAME = "default"
NETWORKS = ("ethernet", "ipogif")
DASHED = ("--qemu-arg", "--append", "--gateway-arg")


def _shape_options(parser):
    group = parser.add_argument_group("the cluster")
    group.add_argument("-n", "--count", type=whole(1, NODES_MAX), metavar="N", help="nodes to boot, 1 to 256 (default 2, with --hosts those of the file)")
    group.add_argument("--name", help="name of the cluster (default: 'default' for up, a new one for run)")
    group.add_argument("--kernel", help="6.1, 6.12, debug, kcsan, own (that of make's KDIR=) or the path of an image (default: $KERNEL, or the first that is"
                       " built)")
    group.add_argument("--initrd", default="", help="path of an initrd (default: the one 'make initramfs' makes)")
    group.add_argument("--disk", default="", metavar="IMAGE", help="a raw or qcow2 disk image to boot from, by its own boot loader unless there is"
                       " --kernel (Documentation/nodes.md). It is not written to: each node has a disk of its own over it, until down")
    group.add_argument("--keep", action="store_true", help="keep the nodes' own disks, for the next up of the same name with the same image")
    group.add_argument("--root", default="", help="root device on the disk, for --kernel (default /dev/vda1)")
    group.add_argument("--append", default="", help="more kernel arguments")
    group.add_argument("--mem", default="512M", help="memory of a node, such as 512M or 2G (default 512M)")
    group.add_argument("--smp", type=whole(1, 64), default=2, help="processors of a node (default 2)")
    group.add_argument("--shape", metavar="RxC", help="dragonfly: routers per chassis x chassis per group (default 16x6)")
    group.add_argument("--machine", default="", metavar="FILE", help="a machine that the nodes are a part of: a file or builder for aries-topo"
                       " (Documentation/topology.md), such as aries:groups=4 (default: one of as many nodes)")
    group.add_argument("--place", default="", metavar="HOW", help=f"where on the machine they sit: {POLICIES} (default packed)")
    group.add_argument("--time-rate", type=float, metavar="R", help="modelled nanoseconds per nanosecond of the host, 1e-6 to 1000 (default 1)")
    group.add_argument("--hold-completions", action="store_true", help="hold back data and events until their modelled time (Documentation/time.md)")
    group.add_argument("--background", default="", metavar="LOAD", help="load of others on the network: uniform:SHARE, or a file of aries-sim --background")
    group.add_argument("--doorbell", choices=("trapped", "polled"), help="how programs ring doorbells: by stores that trap, or also by stores to memory"
                       " that a thread of the NIC looks at (Documentation/kvm.md; default trapped)")
    group.add_argument("--nic", action="append", default=[], metavar="PROPERTY=VALUE", help="another property of aries-nic")
    group.add_argument("--no-nic", action="store_true", help="machines without aries-nic")
    group.add_argument("--no-agent", action="store_true", help="the guest runs no gni-agent: boot only")
    group.add_argument("--net", action="append", nargs="?", const="ethernet", default=[], choices=NETWORKS,
                       help="ethernet (default): one among the nodes (10.77.x.y, names node0, node1 ...);"
                            " ipogif: IP over the fabric (10.128.x.y, names hsn0, hsn1 ...). May be given twice")
    group.add_argument("--user-net", action="store_true",
                       help="each node reaches the outside world, and this machine at 10.0.2.2, through QEMU")
    group.add_argument("--ssh", action="store_true",
                       help="sshd in the nodes, and an Ethernet without --net (needs 'make ssh-image', or your --initrd)")
    group.add_argument("--share", action="append", default=[], metavar="FOLDER[:PLACE][:ro]", help="a folder of this machine that the nodes see"
                       " (default PLACE: the same path); may be given several times (Documentation/developing.md)")
    group.add_argument("--no-driver", action="store_true", help="do not load aries.ko")
    group.add_argument("--qemu", help="7.2, 10 or the path of a binary (default: $QEMU or 7.2)")
    group.add_argument("--qemu-arg", action="append", default=[], metavar="ARG", help="another argument for QEMU, such as -s; may be given several times")
    group.add_argument("--boot-timeout", type=float, default=0.0, metavar="S", help="seconds a node has to boot (default 90, with --disk 600)")
    group.add_argument("--hosts", default="", metavar="FILE", help="hosts that the nodes run on, with their addresses and nodes"
                       " (Documentation/hosts.md); slurm: those of the allocation")
    group.add_argument("--launcher", default="", metavar="COMMAND", help="what runs a command on a host, whose name and the command follow"
                       " (default ssh, with --hosts slurm srun)")
    group.add_argument("--remote-command", default="", metavar="PATH", help="path of this tool on the hosts (default: the same as here)")
    group.add_argument("--gateway-arg", action="append", default=[], metavar="ARG", help="another argument for aries-gateway, such as --spin=50")
    group.add_argument("--print-commands", action="store_true", help="print the QEMU command lines and stop")
    group.add_argument("-q", "--quiet", action="store_true", help="say nothing about booting")


def _command_options(parser, with_nodes):
    group = parser.add_argument_group("the command")
    if with_nodes:
        group.add_argument("--node", default="all", help="'all', or addresses such as 0 or 0,2-3 (default all)")
    group.add_argument("--per-node", type=whole(1, PER_NODE_MAX), default=1, metavar="R", help="ranks on each node (default 1)")
    group.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="environment of the command")
    group.add_argument("--cwd", default="/", help="its working directory (default /)")
    group.add_argument("--timeout", type=float, metavar="S", help="seconds until it is ended (default: none)")
    group.add_argument("--grace", type=float, default=10.0, metavar="S",
                       help="seconds other ranks have once one has failed (default 10; negative: no limit)")
    group.add_argument("--no-label", action="store_true", help="do not mark lines with the node they come from")
    group.add_argument("command", nargs="*", metavar="COMMAND", help="after --, the command and its arguments")


def parser():
    """The argument parser; `make help` and the tests use it too."""
    top = Parser(prog=f"{host.SCRIPTS}cluster", description="Virtual machines with Aries NICs on one fabric.",
                 epilog=EPILOG.replace("scripts/", host.SCRIPTS), formatter_class=argparse.RawDescriptionHelpFormatter)
    subs = top.add_subparsers(dest="operation", metavar="OPERATION", required=True)
    run = subs.add_parser("run", help="boot, run a command on every node, tear down (the default operation)")
    _shape_options(run)
    _command_options(run, True)
    up = subs.add_parser("up", help="boot a cluster and leave it running in the background")
    _shape_options(up)
    execute = subs.add_parser("exec", help="run a command on nodes of a running cluster")
    _command_options(execute, True)
    shell = subs.add_parser("shell", help="a shell on a node; a script for it is taken from standard input")
    shell.add_argument("node", nargs="?", default="0", help="its address (default 0)")
    status = subs.add_parser("status", aliases=["ps"], help="nodes, their processes and states")
    status.add_argument("--print-commands", action="store_true", help="with their QEMU command lines")
    for name, text in (("kill", "end nodes at once, as a power cut does"), ("stop", "shut nodes down in an orderly way"),
                       ("start", "boot nodes that are down, under their old address")):
        sub = subs.add_parser(name, help=text)
        sub.add_argument("node", help="addresses such as 1 or 0,2-3")
    others = node_commands.add(subs)
    _shape_options(subs.add_parser("join", help="up --hosts slurm, for srun --ntasks-per-node=1: lasts until down or a signal"))
    down = subs.add_parser("down", help="end a cluster")
    subs.add_parser("member", help="what 'up --hosts' runs on each host; not for use by hand")
    subs.add_parser("list", help="names of the clusters that run")
    subs.add_parser("clean", help="remove what crashes have left in /dev/shm")
    for sub in (execute, shell, status, subs.choices["kill"], subs.choices["stop"], subs.choices["start"], *others, down):
        sub.add_argument("--name", default=DEFAULT_NAME, help="name of the cluster (default 'default')")
    return top


def _pairs(words, what):
    pairs = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise UsageError(f"'{word}' is not {what}")
        pairs[key] = value
    return pairs


def _nic_properties(args):
    """Properties of aries-nic that have an option: how programs ring, how time goes, what others do on the network."""
    properties = {}
    if args.doorbell:
        properties["doorbell"] = args.doorbell
    if args.time_rate is not None:
        properties["time-rate"] = args.time_rate
    if args.hold_completions:
        properties["hold-completions"] = "on"
    if args.background:
        if not args.background.startswith("uniform:") and not os.access(args.background, os.R_OK):
            raise ConfigError(f"background file {args.background} cannot be read")
        path = args.background if args.background.startswith("uniform:") else os.path.abspath(args.background)
        properties["background"] = path.replace(",", ",,")
    return properties


def make_config(args, name=""):
    """ClusterConfig from parsed arguments."""
    options = {name: value for name, value in (("kernel", args.kernel), ("qemu", args.qemu)) if value}
    hosts = slurm.hosts(args.count) if args.hosts == slurm.WORD else hostfile.read(args.hosts) if args.hosts else []
    launcher = args.launcher or (slurm.LAUNCHER if args.hosts == slurm.WORD else "ssh")
    count = args.count if args.count is not None else hostfile.count(hosts) if hosts else 2
    if hosts and count != hostfile.count(hosts):
        raise UsageError(f"--count {count}, but {args.hosts} has {hostfile.count(hosts)} nodes: leave --count away")
    for option, given in (("--launcher", args.launcher), ("--remote-command", args.remote_command), ("--gateway-arg", args.gateway_arg)):
        if given and not hosts:
            raise UsageError(f"{option} is about hosts: name them with --hosts")
    return ClusterConfig(
        nodes=count, hosts=hosts, launcher=tuple(shlex.split(launcher)), remote_command=args.remote_command,
        gateway=args.gateway_arg, name=args.name or name, initrd=args.initrd, disk=args.disk, keep=args.keep, root=args.root, append=args.append,
        mem_mib=parse_size(args.mem), smp=args.smp, shape=parse_shape(args.shape) if args.shape else (),
        machine=args.machine, place=args.place,
        nic={**_nic_properties(args), **_pairs(args.nic, "PROPERTY=VALUE")}, qemu_args=args.qemu_arg, with_nic=not args.no_nic,
        agent=not args.no_agent, load_driver=not args.no_driver, net="ethernet" in args.net or (args.ssh and not args.net),
        user_net=args.user_net, shares=[share.parse(word) for word in args.share], ipogif="ipogif" in args.net, ssh=args.ssh,
        boot_timeout=args.boot_timeout, **options)


def _print_commands(config):
    if config.hosts:
        raise UsageError("--print-commands is for nodes on one host; with --hosts, 'status --print-commands' shows those of a cluster that runs")
    keeper = Here()
    config.make_dir()  # for the logs and sockets that they name
    for number in range(config.nodes):
        if config.disk:
            disk.prepare(config, number)
        print(qemu.printable(Node(config, number, None, keeper).command()))


async def _run(args, config):
    """Boot, run, tear down; the exit status. Signals end it in order."""
    loop, main = asyncio.get_running_loop(), asyncio.current_task()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, main.cancel)
    progress = (lambda line: None) if args.quiet else to_stderr
    nodes, env = selection.parse_nodes(args.node, config.nodes), _pairs(args.env, "NAME=VALUE")
    try:
        async with Cluster(config, progress) as cluster:
            job = cluster.start_job(args.command, nodes=nodes, per_node=args.per_node, env=env,
                                    cwd=args.cwd, grace=args.grace if args.grace >= 0 else None)
            printer = job.on_output = Printer(labels_for(job.placement) if len(job.placement) > 1 and not args.no_label else None)
            for rank in range(len(job.placement)):
                job.stdin(b"", rank)
            try:
                results = await job.wait(args.timeout)
            finally:
                printer.close()
    except asyncio.CancelledError:
        print(f"{host.SCRIPTS}cluster: interrupted, all nodes ended", file=sys.stderr)
        return 130
    for result in results:
        if result.error:
            print(f"rank {result.rank}: {result.error}", file=sys.stderr)
        elif result.code:
            print(f"rank {result.rank} on node {result.node}: {describe(result.code)}", file=sys.stderr)
    return exit_status(results[rank].code for rank in job.ended)


def _status(args):
    state = asyncio.run(client.call(args.name, {"op": "status"}))
    print(f"cluster {state['name']} (process {state['pid']}), fabric {state['fabric']}")
    for node in state["nodes"]:
        print(f"node {node['node']}: {node['state']}, pid {node['pid'] or '-'}, Linux {node['release'] or '-'},"
              f" place {node['place']}, {'host ' + node['host'] + ', ' if node.get('host') else ''}console {node['console']}")
        if args.print_commands:
            print("  " + qemu.printable(node["command"]))
    return 0


def _exec(args):
    if not args.command:
        raise UsageError("no command: give one after --")
    request = {"argv": args.command, "nodes": selection.nodes(args.name, args.node), "per_node": args.per_node,
               "env": _pairs(args.env, "NAME=VALUE"), "cwd": args.cwd, "timeout": args.timeout,
               "grace": args.grace if args.grace >= 0 else None}
    return asyncio.run(client.execute(args.name, request, label=not args.no_label))


def _shell(args):
    nodes = selection.nodes(args.name, args.node)[:1]
    # without a terminal the input is a script, which the shell ends with
    request = {"argv": ["/bin/sh", "-l"], "nodes": nodes, "tty": sys.stdin is not None and sys.stdin.isatty(), "cwd": "/root",
               "env": {"PS1": f"node{nodes[0]}:\\w# "}}
    return asyncio.run(client.execute(args.name, request))


def _nodes_operation(args):
    nodes = selection.nodes(args.name, args.node)
    asyncio.run(client.call(args.name, {"op": args.operation, "nodes": nodes}))
    return 0


def _clean(_args):
    removed = 0
    for name in fabric.segments():
        if not fabric.remove(name):
            print(f"fabric {name} is in use, kept")
            continue
        print(f"fabric {name} removed")
        removed += 1
    if not removed:
        print("nothing to remove")
    return 0


def _up(args):
    config = make_config(args, DEFAULT_NAME)
    if args.print_commands:
        _print_commands(config)
        return 0
    config.validate()
    server.detach(config, (lambda line: None) if args.quiet else to_stderr)
    if not args.quiet:
        to_stderr(f"cluster {config.name} is up, logs in {config.dir}")
    return 0


def _join(args):
    """The first task of a step is the head, and starts the others' part itself: so they have nothing to do."""
    args.hosts = args.hosts or slurm.WORD
    if "SLURM_PROCID" not in os.environ:
        raise UsageError("join is for srun: use 'up --hosts' elsewhere")
    if os.environ["SLURM_PROCID"] != "0":
        return 0
    config = make_config(args, DEFAULT_NAME)
    config.validate()
    return asyncio.run(server.foreground(config, (lambda line: None) if args.quiet else to_stderr))


def _run_operation(args):
    config = make_config(args)
    if args.print_commands:
        _print_commands(config)
        return 0
    if not args.command:
        raise UsageError(f"no command: give one after --, or use '{host.SCRIPTS}cluster up' and '{host.SCRIPTS}cluster shell'")
    return asyncio.run(_run(args, config))


def _down(args):
    asyncio.run(client.call(args.name, {"op": "down"}))
    return 0


def _list(_args):
    for name in client.names():
        print(name)
    return 0


OPERATIONS = {
    "run": _run_operation, "up": _up, "exec": _exec, "shell": _shell, "status": _status, "ps": _status,
    "kill": _nodes_operation, "stop": _nodes_operation, "start": _nodes_operation, **node_commands.OPERATIONS,
    "down": _down, "list": _list, "clean": _clean, "join": _join, "member": lambda _args: member.run(),
}


def joined(argv):
    """Words with options whose values may begin with a dash ('--qemu-arg -s') written as one: argparse takes no others."""
    words, rest = [], list(argv)
    while rest and rest[0] != "--":
        word = rest.pop(0)
        if word in DASHED and rest and rest[0].startswith("-") and rest[0] != "--":
            word = f"{word}={rest.pop(0)}"
        words.append(word)
    return words + rest


def main(argv):
    """Run one operation; 0 all well, 1 an error of ours, 2 wrong usage, else the command's own status."""
    if argv and argv[0].startswith("-") and argv[0] not in ("-h", "--help", "-V", "--version"):
        argv = ["run", *argv]
    args = parser().parse_args(joined(argv))
    try:
        return OPERATIONS[args.operation](args)
    except ClusterError as error:
        print(f"{host.SCRIPTS}cluster: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return reader_gone()
