# SPDX-License-Identifier: GPL-2.0-or-later
"""What each figure of Documentation/reproductions.md simulates: some sweeps of aries-sim, at the scale of the sources, at
one that runs in minutes, and at one that shows that it can be done. figure_plots.py draws the results."""

import random
from collections.abc import Callable
from dataclasses import dataclass

MODES = "in-order,minimal,nonminimal,adaptive,adaptive1,adaptive2,adaptive3"
FLITS_PER_CYCLE = 2        # that the processor tiles of a node take
PACKET_FLITS, PACKET_BYTES = 14, 64
GROUP_CHASSIS, CHASSIS_SLOTS = 6, 16
ROUTER_NODES, ROUTER_OPTICAL, CABLE_LINKS = 4, 10, 4
L19_PROCESSES = 16
GEMINI_LINK_GBYTE_PER_S = 12 * 3.125 / 8     # raw, of a link of the torus, which is four of three lanes (G04, G05)
GEMINI_EFFICIENCY = 64 / (34 * 3)            # of full puts with their responses (G14)
GEMINI_NODE_GBYTE_PER_S = 4 * 64 / 32 * 0.8  # full puts through a node's share of the tiles, of a phit a cycle each


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
    leaf_nodes: int      # of a router of a fat tree with as many nodes as 8 groups
    torus: tuple         # nodes in x, y and z
    switch_nodes: tuple  # of machines of QsNetIII; the last one does all-to-all

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
    "tiny": Scale(1, 4, (2, 4, 2), (64, 512), 400, 11, 6, 4, 4, (8, 32), 8, (4, 4, 6), (16, 64)),
    "small": Scale(1, CHASSIS_SLOTS, (4, 8, 4), (64, 512, 4096, 32768), 3000, 41, 21, 64, 20, (64, 256, 750), 16, (10, 16, 24),
                   (16, 64, 128, 256, 512, 1024)),
    "full": Scale(GROUP_CHASSIS, CHASSIS_SLOTS, (4, 8, 4), (64, 512, 4096, 32768, 131072), 3000, 241, 21, 241, 4, (64, 128, 256, 512, 750), 32, (10, 16, 24),
                  (16, 64, 128, 256, 512, 1024)),
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


# One choice for T41 and L21 to L25 of what "settings" goes over: room of each queue of a sub-switch and of a column buffer in flits,
# and for adaptive ways the mode that has a bias of 128. Documentation/reproductions.md says why.
ROOM = 112
TUNED_MODE = "adaptive2"


def _queues(room=ROOM):
    """Options for so much room inside routers."""
    return [f"--set=subswitch_buffer={room}", f"--set=column_buffer={room}"]


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
    return [Sweep("uniform", [*_aries(scale, scale.wide_groups), *_queues(), *_cycles(scale), "--bytes=64",
                              f"--over=mode=minimal,{TUNED_MODE}", "--over=load=0.4:1:0.2"])]


def _all_to_all(scale):
    return [Sweep(f"{size}", [*_aries(scale, 8), *_queues(), "--traffic=all-to-all", "--load=1", f"--bytes={size}",
                              *_cycles(scale, size), f"--over=mode={MODES}"]) for size in scale.bytes]


def _tuned(scale):
    return [Sweep(f"{size}", [*_aries(scale, 8), *_queues(), "--traffic=all-to-all", "--load=1", f"--bytes={size}",
                              *_cycles(scale, size), "--over=bias=-64,0,32,128,512"]) for size in scale.bytes]


def _placement(scale, rest):
    background = [f"--job=name: rest, nodes: rest, traffic: uniform, bytes: 4096, load: {rest}"] if rest else []
    return [Sweep(f"{size}-{groups}", [*_aries(scale, 8), *_queues(), f"--mode={TUNED_MODE}", f"--job=name: a2a, nodes: {scale.group_nodes}, "
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
    return [Sweep(f"{size}-{count}", [*machine, f"groups={count}", *_queues(), "--traffic=all-to-all", "--load=1", f"--bytes={size}",
                                      *(cycles or _cycles(scale, size)), f"--over=mode={TUNED_MODE}"])
            for size in sizes for count in counts]


# What "settings" goes over: the bias of mode adaptive in flits; room of each queue of a sub-switch and of a column buffer.
BIASES = (0, 32, 64, 128, 512)
QUEUES = (28, 56, 112)
SEEDS = (1, 2)


def _settings(scale):
    """L21, L22, T41 by bias, room of queues and size of messages; L25 on machines of one chassis a group; by minimal ways, too."""
    seeds = "--over=seed=" + ",".join(str(seed) for seed in SEEDS)
    ways = (("adaptive", ["--over=bias=" + ",".join(str(bias) for bias in BIASES)]), ("minimal", ["--mode=minimal"]))
    sweeps = []
    for room in QUEUES:
        queues = [*_queues(room), "--load=1"]
        for mode, over in ways:
            def add(what, groups, cycles, *traffic):
                sweeps.append(Sweep(f"{what}-{mode}-{room}", [*_aries(scale, groups), *cycles, *queues, *traffic, *over, seeds]))
            add("uniform", scale.wide_groups, _cycles(scale), "--bytes=64")
            for size in scale.bytes:
                add(f"{size}", 8, _cycles(scale, size), "--traffic=all-to-all", f"--bytes={size}")
            for count in scale.groups(6, 32):
                add(f"{count}groups", count, _cycles(scale), "--traffic=all-to-all", "--bytes=64")
    return sweeps


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


def _fat_tree(scale):
    """A dragonfly and a Clos of as many nodes; links of the Clos are as fast as optical ones of Aries. Offset: each node to the next group."""
    leaves = 8 * scale.group_nodes // scale.leaf_nodes
    tree = ["clos", "stages=2", f"radix={2 * scale.leaf_nodes}", f"top_radix={leaves}", "lanes=3", "gbit_per_lane=12.5"]
    sweeps = []
    for label, machine, modes in (("dragonfly", _aries(scale, 8), "minimal,adaptive,nonminimal"), ("tree", tree, "in-order,minimal,adaptive")):
        common = [*machine, "--operation=raw", f"--flits={PACKET_FLITS}", *_cycles(scale), f"--over=mode={modes}"]
        sweeps += [Sweep(f"{label}-uniform", [*common, "--over=load=0.2:1:0.2"]),
                   Sweep(f"{label}-offset", [*common, "--traffic=offset", f"--shift={scale.group_nodes}", "--over=load=1"])]
    return sweeps


# A torus with one axis, and nodes of two routers side by side on it.
TORUS_FLOWS = {"x": (["x=4", "y=2", "z=1"], "0, 2"), "y": (["x=1", "y=8", "z=1"], "0, 2"), "z": (["x=1", "y=2", "z=4"], "0, 2")}
TORUS_RINGS = {"x": ["x=16", "y=2", "z=1"], "y": ["x=1", "y=32", "z=1"], "z": ["x=1", "y=2", "z=16"]}


def torus_bound(scale):
    """Raw GB/s that all nodes can send: half of uniform traffic crosses the middle of z, by both halves of each ring (G53)."""
    x, y, _ = scale.torus
    return x * y * 2 * GEMINI_LINK_GBYTE_PER_S * 2 * 2


def _torus_flow(scale):
    """Two nodes side by side send to each other as much as they can."""
    return [Sweep(axis, ["torus", *sizes, f"--job=name: flow, nodes: [{nodes}], bytes: 512, load: 1", *_cycles(scale, factor=4),
                         "--over=mode=adaptive,minimal,in-order"]) for axis, (sizes, nodes) in TORUS_FLOWS.items()]


def _torus_hop(scale):
    return [Sweep(axis, ["torus", *sizes, "--bytes=8", "--warmup=0", f"--measure={20 * scale.cycles}", "--over=load=0.002"])
            for axis, sizes in TORUS_RINGS.items()]


def _torus_packets(_scale):
    """Until all has arrived, so that phits of requests and responses are counted whole."""
    return [Sweep("packets", ["torus", "x=3", "y=4", "z=3", "--load=0.05", "--warmup=0", "--measure=3000",
                              "--over=operation=put,get", "--over=bytes=8,16,24,32,40,48,56,64"])]


def _torus_saturation(scale):
    x, y, z = scale.torus
    loads = ",".join(f"{share * torus_bound(scale) / (x * y * z) * GEMINI_EFFICIENCY / GEMINI_NODE_GBYTE_PER_S:.4f}"
                     for share in (0.25, 0.5, 0.75, 0.9, 1, 1.2))
    return [Sweep("uniform", ["torus", f"x={x}", f"y={y}", f"z={z}", *_cycles(scale, factor=2), "--over=channels=1,2", f"--over=load={loads}"])]


# Two nodes of QsNetIII with so many switches between them: nodes of the machine, and which.
SWITCH_FLOWS = {1: (16, "0, 1"), 5: (512, "0, 128")}
SWITCH_WORDS = {64: 11, 1024: 133}     # of a packet with so many bytes of data, headers included (Q12 to Q15)
SWITCH_WRITES = {"at once": 1, "from memory": 109}  # cycles behind which a packet is answered: 350 ns to memory (Q09)
SWITCH_CYCLES = 12                     # of a switch (Q07)
SWITCH_MODES = {"adaptive": "adaptive", "minimal": "hash", "in-order": "static"}  # what modes are on QsNetIII
# Cycles of a host and an adapter, so that 64 nodes take what was measured on the first QsNet; chosen for that.
SLOW_HOSTS = ["--set=ce_host_cycles=400", "--set=ce_nic_cycles=430"]


def channel_share(label, channels):
    """Share of the line rate of a flow with this label: a channel is free again after a packet's words, the switches there and
    back, and what its answer waits for."""
    switches, size, answer = label.split("-", 2)
    words = SWITCH_WORDS[int(size)]
    trip = words + 2 * int(switches) * SWITCH_CYCLES + SWITCH_WRITES[answer.replace("-", " ")]
    return min(1, channels * words / trip)


def _switch_channels(scale):
    """A flow of packets which are all answered alike; threshold: links with few channels have no more than that under way."""
    return [Sweep(f"{switches}-{size}-{answer.replace(' ', '-')}",
                  ["qsnet", f"nodes={nodes}", "--set=ps_per_m=0", f"--set=write_least={cycles}", f"--set=write_most={cycles}", "--set=threshold=1",
                   f"--job=name: flow, nodes: [{pair}], traffic: offset, bytes: {size}, load: 1", *_cycles(scale, factor=20),
                   "--over=channels=1,2,3,4,8,16,32"])
            for switches, (nodes, pair) in SWITCH_FLOWS.items() for size in SWITCH_WORDS for answer, cycles in SWITCH_WRITES.items()]


def _switch_all_to_all(scale):
    """All to all, and jobs of two nodes each at random places, whose bandwidths are told apart."""
    nodes = scale.switch_nodes[-1]
    order = list(range(nodes))
    random.Random(1).shuffle(order)
    pairs = [f"--job=name: pair{at}, nodes: [{order[at]}, {order[at + 1]}], traffic: offset, bytes: 1024, load: 1" for at in range(0, nodes, 2)]
    common = ["qsnet", f"nodes={nodes}", *_cycles(scale, factor=4), f"--over=mode={','.join(SWITCH_MODES)}"]
    return [Sweep("all-to-all", [*common, "--traffic=all-to-all", "--bytes=1024", "--load=1"]), Sweep("pairs", [*common, *pairs])]


def _switch_barrier(scale):
    """On idle machines without cables; with our hosts, and with slow ones."""
    common = ["qsnet", "--set=ps_per_m=0", *_cycles(scale, factor=20), "--over=nodes=" + ",".join(str(nodes) for nodes in scale.switch_nodes)]
    barriers = [*common, "--radix=2", "--over=traffic=barrier,tree-barrier"]
    return [Sweep("barrier", barriers), Sweep("slow", [*barriers, *SLOW_HOSTS]),
            Sweep("broadcast", [*common, "--traffic=broadcast", "--over=bytes=8,1024"])]


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
    Figure("settings", "L21, L22, T41", "all-to-all and uniform puts by bias and room of queues", _settings),
    Figure("fat-tree", "T46, T47", "a dragonfly and a fat tree of Aries chips", _fat_tree),
    Figure("gemini-saturation", "G53, G54", "uniform puts on a torus of Gemini", _torus_saturation),
    Figure("gemini-hop", "G44", "latency along a ring of Gemini", _torus_hop),
    Figure("gemini-flow", "G15, G45", "two neighbours on a torus of Gemini", _torus_flow),
    Figure("gemini-packets", "G10 to G14", "packets of Gemini", _torus_packets),
    Figure("qsnet-channels", "Q11", "a flow of QsNetIII by channels of a link", _switch_channels),
    Figure("qsnet-all-to-all", "Q40", "adaptive and static ways of QsNetIII", _switch_all_to_all),
    Figure("qsnet-barrier", "Q26 to Q30", "barriers and broadcasts of QsNetIII", _switch_barrier),
    Figure("allreduce", "L19", "an allreduce by collective engines, 16 processes a node", _allreduce),
)}
