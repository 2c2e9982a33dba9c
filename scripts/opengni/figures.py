# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
"""What each figure of Documentation/reproductions.md simulates: some sweeps of aries-sim, at the scale of the sources, at
one that runs in minutes, and at one that shows that it can be done. figure_plots.py draws the results."""

from collections.abc import Callable
from dataclasses import dataclass

MODES = "in-order,minimal,nonminimal,adaptive,adaptive1,adaptive3"
FLITS_PER_CYCLE = 2        # that the processor tiles of a node take
PACKET_FLITS, PACKET_BYTES = 14, 64
GROUP_CHASSIS, CHASSIS_SLOTS = 6, 16
ROUTER_NODES, ROUTER_OPTICAL, CABLE_LINKS = 4, 10, 4
L19_PROCESSES = 16


@dataclass
class Scale:
    """How large the machines are, and how much of a curve there is."""

    chassis: int
    slots: int
    dragonfly: tuple     # p, a, h of the canonical one
    bytes: tuple         # of messages
    cycles: int          # of a run, at least
    most_groups: int
    wide_groups: int     # that use all their optics
    most_whole: int      # groups of all chassis, if traffic is light
    tree_groups: int     # of a machine with a job on some of its nodes
    tree_nodes: tuple    # these

    @property
    def group_nodes(self):
        """Nodes of a group."""
        return self.chassis * self.slots * ROUTER_NODES

    def cables(self, groups):
        """Between two groups."""
        return self.chassis * self.slots * ROUTER_OPTICAL // CABLE_LINKS // (groups - 1)

    def groups(self, *counts):
        """Those of the counts that there can be."""
        return [count for count in counts if count <= self.most_groups]


SCALES = {
    "tiny": Scale(1, 4, (2, 4, 2), (64, 512), 400, 11, 6, 4, 4, (8, 32)),
    "small": Scale(1, CHASSIS_SLOTS, (4, 8, 4), (64, 512, 4096, 32768), 3000, 41, 21, 64, 20, (64, 256, 750)),
    "full": Scale(GROUP_CHASSIS, CHASSIS_SLOTS, (4, 8, 4), (64, 512, 4096, 32768, 131072), 3000, 241, 21, 241, 4, (64, 128, 256, 512, 750)),
}


@dataclass
class Sweep:
    """Arguments of one `aries-sim sweep`; label names its file."""

    label: str
    arguments: list


@dataclass
class Figure:
    """A title, the claims that it shows, and a function that gives its sweeps at a scale."""

    name: str
    claims: str
    title: str
    sweeps: Callable[[Scale], list]


def _aries(scale, groups=None):
    """Options of a machine; how many groups, unless a sweep goes over that."""
    machine = ["aries", f"chassis={scale.chassis}", f"slots={scale.slots}"]
    return [*machine, f"groups={groups}"] if groups else machine


def _cycles(scale, size=PACKET_BYTES, factor=1):
    """Options for so many cycles that some messages of this size pass: warm-up one, measurement two."""
    message = size // PACKET_BYTES * PACKET_FLITS // FLITS_PER_CYCLE
    least = scale.cycles * factor
    return [f"--warmup={max(least, message)}", f"--measure={max(least, 2 * message)}", "--drain=0"]


def _worst_case(scale):
    p, a, h = scale.dragonfly
    common = ["canonical", f"p={p}", f"a={a}", f"h={h}", "--operation=raw", "--flits=1", "--traffic=group", *_cycles(scale)]
    return [Sweep("valiant", [*common, "--over=mode=nonminimal,adaptive", "--over=load=0.05,0.1:0.7:0.1"]),
            Sweep("minimal", [*common, "--over=mode=minimal", "--over=load=0.01:0.05:0.01,0.1:0.3:0.1"])]


def _global_bound(scale):
    return [Sweep(f"{count}", [*_aries(scale, count), "--traffic=group", "--mode=minimal", *_cycles(scale, factor=2),
                               f"--over=load={0.8 if count < 5 else 0.4 if count < 9 else 0.2}"])
            for count in scale.groups(3, 5, 9, 21, 41)]


def _hops(scale):
    """Of groups with all their chassis: in smaller ones ways are shorter."""
    counts = ",".join(str(count) for count in (2, 4, 8, 16, 32, 64, 128, 241) if count <= scale.most_whole)
    return [Sweep("hops", ["aries", "--load=0.005", "--warmup=0", f"--measure={scale.cycles}",
                           "--over=mode=nonminimal,minimal", f"--over=groups={counts}"])]


def _quiet(scale):
    counts = ",".join(str(count) for count in (1, 4, 16, 64, 241) if count <= scale.most_whole)
    return [Sweep("latency", ["aries", "--load=0.002", "--bytes=8", "--warmup=0", f"--measure={2 * scale.cycles}",
                              "--mode=minimal", f"--over=groups={counts}"]),
            Sweep("minimal", [*_aries(scale, 8), *_cycles(scale), "--over=mode=adaptive,adaptive1,adaptive3",
                              "--over=load=0.001,0.01,0.05,0.1,0.3,0.5,0.9"])]


def _group_bisection(scale):
    """One whole group is not much, so that it is whole at every scale but the tiny one."""
    machine = ["aries", f"chassis={scale.chassis}", "slots=4"] if scale is SCALES["tiny"] else ["aries"]
    half = (4 if scale is SCALES["tiny"] else CHASSIS_SLOTS) * ROUTER_NODES // 2
    common = [*machine, "groups=1", *_cycles(scale), "--over=mode=minimal,adaptive,nonminimal", "--over=load=0.4:1:0.2"]
    return [Sweep("across", [*common, "--traffic=offset", f"--shift={half}"]), Sweep("uniform", common)]


def _global_bandwidth(scale):
    return [Sweep("uniform", [*_aries(scale, scale.wide_groups), *_cycles(scale), "--bytes=64",
                              "--over=mode=minimal,adaptive", "--over=load=0.4:1:0.2"])]


def _all_to_all(scale):
    return [Sweep(f"{size}", [*_aries(scale, 8), "--traffic=all-to-all", "--load=1", f"--bytes={size}",
                              *_cycles(scale, size), f"--over=mode={MODES}"]) for size in scale.bytes]


def _tuned(scale):
    return [Sweep(f"{size}", [*_aries(scale, 8), "--traffic=all-to-all", "--load=1", f"--bytes={size}",
                              *_cycles(scale, size), "--over=bias=-64,0,32,512"]) for size in scale.bytes]


def _placement(scale, rest):
    background = [f"--job=name: rest, nodes: rest, traffic: uniform, bytes: 4096, load: {rest}"] if rest else []
    return [Sweep(f"{size}-{groups}", [*_aries(scale, 8), f"--job=name: a2a, nodes: {scale.group_nodes}, "
                                       f"groups: {groups}, traffic: all-to-all, load: 1, bytes: {size}", *background,
                                       *_cycles(scale, size), "--over=seed=1"])
            for size in scale.bytes for groups in (1, 2, 3, 6)]


def _scaling(scale):
    """Of groups with all their chassis and from 8 on, as in the source: in smaller ones other shares of the optics are used."""
    if scale is SCALES["tiny"]:
        machine, sizes, cycles, counts = _aries(scale), scale.bytes, _cycles(scale), scale.groups(4, 8)
    elif scale is SCALES["small"]:
        machine, sizes, counts = ["aries"], (PACKET_BYTES,), (8, 16, 32, 64)
        cycles = ["--warmup=1500", "--measure=1500", "--drain=0"]
    else:
        machine, sizes, cycles, counts = ["aries"], scale.bytes[::2], None, (8, 16, 32, 64)
    return [Sweep(f"{size}-{count}", [*machine, f"groups={count}", "--traffic=all-to-all", "--load=1", f"--bytes={size}",
                                      *(cycles or _cycles(scale, size)), "--over=mode=adaptive"])
            for size in sizes for count in counts]


def _allreduce(scale):
    """A job on a machine whose other nodes are idle or busy."""
    common = [*_aries(scale, scale.tree_groups), f"--warmup={scale.cycles}", f"--measure={5 * scale.cycles}", "--over=seed=1"]
    sweeps = []
    for nodes in scale.tree_nodes:
        for label, place, rest in (("quiet", "contiguous", 0), ("busy", "contiguous", 0.3), ("spread", "'random:1'", 0.3)):
            job = f"--job=name: tree, nodes: {nodes}, place: {place}, traffic: allreduce, processes: {L19_PROCESSES}"
            others = [f"--job=name: rest, nodes: rest, traffic: uniform, bytes: 4096, load: {rest}"] if rest else []
            sweeps.append(Sweep(f"{label}-{nodes}", [*common, job, *others]))
    return sweeps


FIGURES = {figure.name: figure for figure in (
    Figure("worst-case", "R15", "group to group on the canonical dragonfly", _worst_case),
    Figure("global-bound", "R15", "group to group by minimal ways on Aries", _global_bound),
    Figure("hops", "R05", "length of ways", _hops),
    Figure("quiet", "R11, L05 to L07", "a quiet network", _quiet),
    Figure("group-bisection", "T22", "one group, cut across its chassis", _group_bisection),
    Figure("global-bandwidth", "T41", "uniform 64-byte puts, all optics used", _global_bandwidth),
    Figure("all-to-all", "L21, SC12 figure 9", "all-to-all on 8 groups by routing mode", _all_to_all),
    Figure("tuned", "L22, SC12 figure 10", "all-to-all on 8 groups by bias", _tuned),
    Figure("placement-idle", "L23, SC12 figure 11", "a job on an idle machine", lambda scale: _placement(scale, 0)),
    Figure("placement-busy", "L24, SC12 figure 12", "a job on a busy machine", lambda scale: _placement(scale, 0.3)),
    Figure("scaling", "L25, SC12 figure 13", "all-to-all on machines of many sizes", _scaling),
    Figure("allreduce", "L19", "an allreduce by collective engines, 16 processes a node", _allreduce),
)}
