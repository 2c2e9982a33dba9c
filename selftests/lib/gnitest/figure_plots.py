# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws the figures of Documentation/reproductions.md from results of aries-sim sweep.

Each function draws into axes and returns the lines of a table."""

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "opengni", "font.size": 9, "axes.grid": True,
                            "grid.linewidth": 0.3, "lines.markersize": 4, "legend.fontsize": 8})

from matplotlib import pyplot  # noqa: E402  the backend comes first

from .figures import (CABLE_LINKS, GEMINI_EFFICIENCY, GEMINI_LINK_GBYTE_PER_S, GEMINI_NODE_GBYTE_PER_S,  # noqa: E402
                      L19_PROCESSES, SWITCH_MODES, channel_share, torus_bound)
from opengni.writing import naming  # noqa: E402

CLOCK_GHZ = 0.875
FLIT_BYTES = 6
NODE_GBYTE_PER_S = 2 * FLIT_BYTES * CLOCK_GHZ  # that two processor tiles take
LCB = 10 / 9                                   # what a link sends for what it carries (P05)
OPTICAL_GBYTE_PER_S = 3 * 12.5 / 8             # raw, of a link
GREEN_GBYTE_PER_S = 3 * 14 / 8
TREE_MODES = {"in-order": "static", "minimal": "hash"}  # what modes are on a Clos


def _points(entries, **wanted):
    """Results whose axes have these values, in the order of the sweep."""
    return [entry for entry in entries if all(entry["point"][name] == value for name, value in wanted.items())]


def _axis(entries, name):
    """Values of an axis, each once."""
    return list(dict.fromkeys(entry["point"][name] for entry in entries))


def _results(entries, key):
    return [entry["result"][key] for entry in entries]


def _size(size):
    return f"{int(size) // 1024} KiB" if int(size) >= 1024 else f"{size} B"


def _label(axes, across, up):
    """Ends a drawing."""
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.legend()


def _bound(axes, value):
    axes.axhline(value, color="black", linestyle=":", linewidth=0.8)


def _bandwidth(axes, places, names, what):
    """Ends a drawing of a node's bandwidth over these places of the axis."""
    axes.set_xscale("log", base=2)
    axes.set_xticks(places, names)
    axes.set_ylim(bottom=0)
    _label(axes, what, "GB/s of a node")


def _bandwidth_by_size(axes, sizes):
    _bandwidth(axes, sizes, [_size(size) for size in sizes], "message")


def _mean_hops(result):
    return sum(i * count for i, count in enumerate(result["hops"])) / max(sum(result["hops"]), 1)


def worst_case(results, axes, scale):
    """Accepted by offered load."""
    lines = []
    for label, mode in (("minimal", "minimal"), ("valiant", "nonminimal"), ("valiant", "adaptive")):
        entries = _points(results[label], mode=mode)
        accepted = _results(entries, "accepted")
        axes.plot(_results(entries, "offered"), accepted, "o-", label=mode)
        lines.append(f"{mode}: accepted {max(accepted):.4f} at most")
    _, routers, optics = scale.dragonfly
    for bound, name in ((1 / (routers * optics) / LCB, f"1/(a h) = 1/{routers * optics}, less the LCB's tenth flit"),
                        (1 / 2 / LCB, "1/2, less the LCB's tenth flit")):
        _bound(axes, bound)
        axes.annotate(name, (0, bound), va="bottom")
    axes.set_ylim(top=0.5)
    _label(axes, "offered", "accepted")
    return [*lines, f"bounds: minimal {1 / (routers * optics) / LCB:.4f}, through a random router {1 / 2 / LCB:.4f}"]


def global_bound(results, axes, scale):
    """What a node gets of raw optical bandwidth, beside the bound of the cables."""
    groups = [int(label) for label in results]
    bounds = [CABLE_LINKS * scale.cables(count) * OPTICAL_GBYTE_PER_S / scale.group_nodes for count in groups]
    raw = [entry[0]["result"]["accepted"] * NODE_GBYTE_PER_S * LCB for entry in results.values()]
    axes.plot(groups, bounds, "k:", label="bound")
    axes.plot(groups, raw, "o", label="simulated")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(groups, [str(count) for count in groups])
    _label(axes, "groups", "raw GB/s of a node")
    return [f"{count} groups: {got:.4f} GB/s a node, bound {bound:.4f}: {got / bound:.3f}"
            for count, got, bound in zip(groups, raw, bounds)]


def hops(results, axes, _scale):
    """Histograms of non-minimal ways by machine."""
    lines = []
    for mode in ("nonminimal", "minimal"):
        for entry in _points(results["hops"], mode=mode):
            counts = entry["result"]["hops"]
            share = [count / sum(counts) for count in counts]
            groups = entry["point"]["groups"]
            if mode == "nonminimal":
                axes.plot(range(len(share)), share, "o-", label=f"{groups} groups")
            lines.append(f"{mode}, {groups} groups: mode {share.index(max(share))}, mean {_mean_hops(entry['result']):.2f}, "
                         f"most {len(share) - 1}; 6 or 7: {100 * sum(share[6:8]):.0f} %")
    _label(axes, "links of a non-minimal way", "share of requests")
    return lines


def quiet(results, axes, _scale):
    """Share of minimal ways by load; latencies in an empty network as a table."""
    lines = []
    for mode in _axis(results["minimal"], "mode"):
        entries = _points(results["minimal"], mode=mode)
        axes.plot(_results(entries, "offered"), _results(entries, "minimal"), "o-", label=mode)
        lines.append(f"{mode}: minimal " + ", ".join(f"{entry['result']['minimal']:.4f} at {entry['point']['load']}"
                                                     for entry in entries))
    axes.set_xscale("log")
    _label(axes, "offered", "share of minimal ways")
    for entry in results["latency"]:
        result = entry["result"]
        by_hops = ", ".join(f"{links}: {latency:.0f}" for links, latency in enumerate(result["hop_latency"]))
        most = len(result["hops"]) - 1
        per_hop = (result["hop_latency"][most] - result["hop_latency"][0]) / max(most, 1)
        lines.append(f"{entry['point']['groups']} groups, 8-byte puts by links in ns: {by_hops}; {per_hop:.0f} a link; "
                     f"most {result['network_latency']['max']:.0f} ns")
    return lines


def group_bisection(results, axes, _scale):
    """GB/s through the cut between slots 0 to 7 and 8 to 15."""
    nodes = results["uniform"][0]["result"]["nodes"]
    half = 2 if nodes < 384 else 8                # slots of a chassis on one side
    bound = nodes // (2 * half * 4) * half * half * GREEN_GBYTE_PER_S * 2
    lines = [f"bound (T22): {bound:.0f} GB/s raw, {bound / LCB:.0f} without the LCB's tenth flit"]
    for traffic, share in (("across", 1), ("uniform", nodes / 2 / (nodes - 1))):
        for mode in _axis(results[traffic], "mode"):
            entries = _points(results[traffic], mode=mode)
            crossing = [nodes * NODE_GBYTE_PER_S * LCB * share * accepted for accepted in _results(entries, "accepted")]
            axes.plot(_results(entries, "offered"), crossing, "o-" if traffic == "across" else "s--", label=f"{traffic}, {mode}")
            lines.append(f"{traffic}, {mode}: {max(crossing):.0f} GB/s through the cut, both directions, requests: "
                         f"{max(crossing) / bound:.2f}")
    _bound(axes, bound)
    _label(axes, "offered", "raw GB/s through the cut")
    return lines


def global_bandwidth(results, axes, scale):
    """Payload between groups."""
    entries = results["uniform"]
    share = (scale.wide_groups - 1) / scale.wide_groups
    lines = ["bound (T41): 7.5 GB/s a node"]
    for mode in _axis(entries, "mode"):
        points = _points(entries, mode=mode)
        got = [share * value for value in _results(points, "gbyte_per_s_per_node")]
        axes.plot(_results(points, "offered"), got, "o-", label=mode)
        lines.append(f"{mode}: {max(got):.2f} GB/s a node between groups at most")
    _bound(axes, 7.5)
    _label(axes, "offered", "GB/s of a node to other groups")
    return lines


def _by_size(results, axes, name):
    """A curve over sizes for each value of an axis."""
    sizes = [int(label) for label in results]
    lines = []
    for value in _axis(results[str(sizes[0])], name):
        got = [_points(results[str(size)], **{name: value})[0]["result"]["gbyte_per_s_per_node"] for size in sizes]
        axes.plot(sizes, got, "o-", label=value if name == "mode" else f"bias {value} flits")
        lines.append(f"{name} {value}: " + ", ".join(f"{_size(size)} {rate:.2f}" for size, rate in zip(sizes, got)))
    _bandwidth_by_size(axes, sizes)
    return lines


def all_to_all(results, axes, _scale):
    """GB/s by size and mode."""
    return _by_size(results, axes, "mode")


def tuned(results, axes, _scale):
    """GB/s by size and bias."""
    return _by_size(results, axes, "bias")


def settings(results, axes, scale):
    """GB/s by size for each room and bias; what goes into other groups of it, and by the size of the machine, as text."""
    share = (scale.wide_groups - 1) / scale.wide_groups
    whats = list(dict.fromkeys(label.split("-")[0] for label in results))
    sizes = [what for what in whats if what.isdecimal()]
    lines = []
    for mode, room in dict.fromkeys(tuple(label.split("-")[1:]) for label in results):
        of = {what: results[f"{what}-{mode}-{room}"] for what in whats}
        for point in [entry["point"] for entry in of["uniform"]]:
            got = {what: _points(entries, **point)[0]["result"] for what, entries in of.items()}
            rate = {what: result["gbyte_per_s_per_node"] for what, result in got.items()}
            name = f"{mode}, queues of {room}" + (f", bias {point['bias']}" if "bias" in point else "")
            if point["seed"] == "1":
                axes.plot([int(size) for size in sizes], [rate[size] for size in sizes], ".-", label=name)
            optical = next(cls for cls in got["uniform"]["links"] if cls["class"] == "blue")["mean_load"]
            lines.append(f"{name}, seed {point['seed']}: " + ", ".join(f"{_size(size)} {rate[size]:.2f}" for size in sizes) +
                         f"; uniform to other groups {share * rate['uniform']:.2f}, optical links {optical:.3f}; " +
                         ", ".join(f"{what[:-6]} groups {rate[what]:.2f}" for what in whats if what.endswith("groups")))
    _bandwidth_by_size(axes, [int(size) for size in sizes])
    axes.legend(fontsize=4, ncols=2)
    return lines


def _grid(results, axes, key, legend):
    """Labels are SIZE-COUNT: a curve over sizes for each count."""
    sizes = sorted({int(label.split("-")[0]) for label in results})
    counts = sorted({int(label.split("-")[1]) for label in results})
    lines = []
    for count in counts:
        got = [key(results[f"{size}-{count}"][0]["result"]) for size in sizes]
        axes.plot(sizes, got, "o-", label=legend(count))
        lines.append(f"{legend(count)}: " + ", ".join(f"{_size(size)} {rate:.2f}" for size, rate in zip(sizes, got)))
    for size in sizes:
        got = [key(results[f"{size}-{count}"][0]["result"]) for count in counts]
        lines.append(f"{_size(size)}: least / most {min(got) / max(got):.2f}")
    _bandwidth_by_size(axes, sizes)
    return lines


def placement(results, axes, _scale):
    """GB/s of the job by size and number of groups."""
    return _grid(results, axes, lambda result: result["jobs"][0]["gbyte_per_s_per_node"], lambda count: f"over {count} groups")


def scaling(results, axes, _scale):
    """GB/s by machine and size; labels as in _grid()."""
    counts = sorted({int(label.split("-")[1]) for label in results})
    lines = []
    for size in sorted({int(label.split("-")[0]) for label in results}):
        runs = [results[f"{size}-{count}"][0]["result"] for count in counts]
        nodes, got = [run["nodes"] for run in runs], [run["gbyte_per_s_per_node"] for run in runs]
        axes.plot(nodes, got, "o-", label=_size(size))
        lines.append(f"{_size(size)}: " + ", ".join(f"{count} nodes {rate:.2f}" for count, rate in zip(nodes, got)) +
                     f"; least / most {min(got) / max(got):.2f}")
    _bandwidth(axes, nodes, [str(count) for count in nodes], "nodes")
    return lines


def allreduce(results, axes, _scale):
    """Mean latency by nodes; bars go up to the slowest operation."""
    nodes = sorted({int(label.split("-")[1]) for label in results})
    lines = ["limit (L19): 10 us at 750 nodes"]
    for label, name in (("quiet", "quiet"), ("busy", "others at 0.3"), ("spread", "among others at 0.3")):
        trees = [results[f"{label}-{count}"][0]["result"]["jobs"][0]["collective"] for count in nodes]
        mean = [tree["latency"]["mean"] / 1000 for tree in trees]
        above = [tree["latency"]["max"] / 1000 - of for tree, of in zip(trees, mean)]
        axes.errorbar(nodes, mean, yerr=[[0] * len(nodes), above], fmt="o-", capsize=2, label=name)
        lines += [f"{name}, {count} nodes, {count * L19_PROCESSES} processes, depth {tree['depth']}: {of:.2f} us, "
                  f"most {of + more:.2f}; {tree['latency']['count']} operations"
                  for count, tree, of, more in zip(nodes, trees, mean, above)]
    _bound(axes, 10)
    axes.set_xscale("log", base=2)
    axes.set_xticks(nodes, [f"{count}" for count in nodes])
    axes.set_ylim(bottom=0)
    _label(axes, "nodes", "us")
    return lines


def fat_tree(results, axes, _scale):
    """Mean load of optical links by what a node passes on; links crossed by a packet."""
    lines = []
    for label, node, optical in (("dragonfly", NODE_GBYTE_PER_S, "blue"), ("tree", NODE_GBYTE_PER_S / 2, "level0")):
        for mode in _axis(results[f"{label}-uniform"], "mode"):
            runs = [entry["result"] for entry in _points(results[f"{label}-uniform"], mode=mode)]
            links = [next(cls for cls in run["links"] if cls["class"] == optical) for run in runs]
            got = [node * run["accepted"] for run in runs]
            loads = [cls["mean_load"] for cls in links]
            crossed = loads[0] * links[0]["links"] * OPTICAL_GBYTE_PER_S / LCB / (got[0] * runs[0]["nodes"])
            offset = node * _points(results[f"{label}-offset"], mode=mode)[0]["result"]["accepted"]
            name = f"{label}, {TREE_MODES.get(mode, mode) if label == 'tree' else mode}"
            axes.plot(got, loads, "o-" if label == "dragonfly" else "s--", label=name)
            lines.append(f"{name}: {crossed:.2f} optical links a packet, of {links[0]['links'] / 2 / runs[0]['nodes']:.2f} a node; "
                         f"at most {max(got):.2f} GB/s of a node, {max(loads):.2f} of optical links; to the next group {offset:.2f} GB/s")
    _label(axes, "GB/s of a node, headers included", "mean load of optical links")
    return lines


def torus_saturation(results, axes, scale):
    """Raw GB/s of all nodes, headers and responses included, by what is offered."""
    bound = torus_bound(scale)
    lines = [f"bound (G54): {bound:.0f} GB/s raw"]
    for channels in _axis(results["uniform"], "channels"):
        runs = [entry["result"] for entry in _points(results["uniform"], channels=channels)]
        raw = GEMINI_NODE_GBYTE_PER_S / GEMINI_EFFICIENCY * runs[0]["nodes"]
        got = [raw * run["accepted"] for run in runs]
        name = "bubbles" if str(channels) == "1" else "dateline"
        axes.plot([raw * run["offered"] for run in runs], got, "o-", label=name)
        z = max(next(cls["mean_load"] for cls in run["links"] if cls["class"] == "z") for run in runs)
        lines.append(f"{name}: accepted " + ", ".join(f"{value:.0f}" for value in got) + f" GB/s; links of z to {z:.2f}")
    _bound(axes, bound)
    _label(axes, "raw GB/s offered", "raw GB/s accepted")
    return lines


def torus_hop(results, axes, _scale):
    """ns by hops, and the slope."""
    lines = []
    for axis, entries in results.items():
        latency = entries[0]["result"]["hop_latency"]
        hop = (latency[-1] - latency[1]) / (len(latency) - 2)
        axes.plot(range(len(latency)), latency, "o-", label=f"{axis}: {hop:.1f} ns a hop")
        lines.append(f"{axis}: {latency[0]:.0f} ns on a router, {latency[-1]:.0f} over {len(latency) - 1} hops, {hop:.1f} a hop")
    _label(axes, "hops", "ns of a put of 8 B")
    return [*lines, "a hop of the source: 105 ns (G44); of a public model of such a machine 79"]


def torus_flow(results, axes, _scale):
    """GB/s each way, beside what links of the axis give."""
    lines, modes = [], _axis(results["x"], "mode")
    links = {"x": 2, "y": 1, "z": 2}
    for place, mode in enumerate(modes):
        got = [_points(results[axis], mode=mode)[0]["result"]["gbyte_per_s_per_node"] for axis in results]
        axes.bar([number + (place - 1) * 0.25 for number in range(len(got))], got, 0.25, label=mode)
        lines.append(f"{mode}: " + ", ".join(f"{axis} {rate:.2f}" for axis, rate in zip(results, got)) + " GB/s each way")
    for number, axis in enumerate(results):
        bound = links[axis] * GEMINI_LINK_GBYTE_PER_S * GEMINI_EFFICIENCY
        axes.hlines(bound, number - 0.4, number + 0.4, color="black", linestyle=":", linewidth=0.8)
        lines.append(f"{axis}: {links[axis]} links of the torus, {bound:.2f} GB/s (G15)")
    axes.set_xticks(range(len(results)), list(results))
    axes.set_ylabel("GB/s of a node")
    axes.legend()
    return lines


def torus_packets(results, axes, _scale):
    """Phits of an operation there and back, and the share of them that are data."""
    lines = []
    for operation in _axis(results["packets"], "operation"):
        entries = _points(results["packets"], operation=operation)
        sizes = [int(entry["point"]["bytes"]) for entry in entries]
        phits = [2 * entry["result"]["flits"] / entry["result"]["packets"] for entry in entries]
        share = [size / (3 * of) for size, of in zip(sizes, phits)]
        axes.plot(sizes, share, "o-", label=operation)
        lines.append(f"{operation}: " + ", ".join(f"{size} B {of:.0f} phits ({100 * part:.1f} %)"
                                                  for size, of, part in zip(sizes, phits, share)))
    _bound(axes, GEMINI_EFFICIENCY)
    _label(axes, "bytes", "share of data")
    return lines


def switch_channels(results, axes, _scale):
    """Share of a link's rate by channels; closed form dotted."""
    lines = []
    for label, entries in results.items():
        switches, size, answer = label.split("-", 2)
        channels = [int(entry["point"]["channels"]) for entry in entries]
        got = _results(entries, "accepted")
        form = [channel_share(label, count) for count in channels]
        name = f"{_size(size)}, {switches} switch{'es' if switches != '1' else ''}, answers {answer.replace('-', ' ')}"
        curve = axes.plot(channels, got, "o", label=name)[0]
        axes.plot(channels, form, ":", color=curve.get_color(), linewidth=0.8)
        lines.append(f"{name}: " + ", ".join(f"{count} {rate:.2f} ({of:.2f})" for count, rate, of in zip(channels, got, form)))
    axes.set_xscale("log", base=2)
    axes.set_xticks(channels, [str(count) for count in channels])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("channels")
    axes.set_ylabel("share of the link's rate")
    axes.legend(fontsize=6)
    return [*lines, "in brackets: min(1, channels x words / round trip)"]


def switch_all_to_all(results, axes, _scale):
    """Shares of the adapter by mode: all to all, random pairs in the mean, and the worst of these."""
    got = {}
    for mode in SWITCH_MODES:
        jobs = [job["accepted"] for job in _points(results["pairs"], mode=mode)[0]["result"]["jobs"]]
        whole = _points(results["all-to-all"], mode=mode)[0]["result"]["accepted"]
        got[mode] = (whole, sum(jobs) / len(jobs), min(jobs))
    lines = [f"{results['pairs'][0]['result']['nodes']} nodes"]
    for place, (mode, shares) in enumerate(got.items()):
        axes.bar([number + (place - 1) * 0.25 for number in range(3)], shares, 0.25, label=SWITCH_MODES[mode])
        mean, worst = got["adaptive"][1] / shares[1], got["adaptive"][2] / shares[2]
        lines.append(f"{SWITCH_MODES[mode]}: all to all {shares[0]:.3f} of the adapter; pairs {shares[1]:.3f}, worst {shares[2]:.3f}; "
                     f"adaptive ways have {mean:.2f} and {worst:.2f} times that")
    _bound(axes, 0.85)
    axes.set_xticks(range(3), ["all to all", "random pairs, mean", "random pairs, worst"])
    axes.set_ylabel("share of the adapter")
    axes.legend()
    return [*lines, "source (Q40): more than 0.85; 1.4 and 2.6 times"]


def switch_barrier(results, axes, _scale):
    """Mean us by nodes."""
    lines = []
    curves = [("barrier", "traffic", {"barrier": "barrier, conditional", "tree-barrier": "barrier, tree"}, "o-"),
              ("slow", "traffic", {"barrier": "conditional, slow hosts", "tree-barrier": "tree, slow hosts"}, "s--"),
              ("broadcast", "bytes", {"8": "broadcast of 8 B", "1024": "broadcast of 1 KiB"}, "^-")]
    for label, axis, names, style in curves:
        for value, name in names.items():
            entries = _points(results[label], **{axis: value})
            nodes = [entry["result"]["nodes"] for entry in entries]
            us = [entry["result"]["collective"]["latency"]["mean"] / 1000 for entry in entries]
            axes.plot(nodes, us, style, label=name)
            lines.append(f"{name}: " + ", ".join(f"{count} nodes {of:.2f}" for count, of in zip(nodes, us)) + " us")
    axes.plot([64, 64], [6, 15], "kx", label="measured on the first QsNet")
    axes.set_xscale("log", base=2)
    axes.set_xticks(nodes, [str(count) for count in nodes])
    axes.set_yscale("log")
    axes.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    axes.set_xlabel("nodes")
    axes.set_ylabel("us")
    axes.legend(fontsize=6)
    return lines


DRAW = {"worst-case": worst_case, "global-bound": global_bound, "hops": hops, "quiet": quiet,
        "group-bisection": group_bisection, "global-bandwidth": global_bandwidth, "all-to-all": all_to_all, "tuned": tuned,
        "placement-idle": placement, "placement-busy": placement, "scaling": scaling, "settings": settings,
        "fat-tree": fat_tree, "gemini-saturation": torus_saturation, "gemini-hop": torus_hop, "gemini-flow": torus_flow,
        "gemini-packets": torus_packets, "qsnet-channels": switch_channels, "qsnet-all-to-all": switch_all_to_all,
        "qsnet-barrier": switch_barrier, "allreduce": allreduce}


def draw(figure, results, path, scale):
    """Writes an SVG; lines of what it shows."""
    drawing, axes = pyplot.subplots(figsize=(5.5, 3.4), layout="constrained")
    lines = DRAW[figure.name](results, axes, scale)
    axes.set_title(f"{figure.title} ({figure.claims})", fontsize=9)
    with naming(path):
        drawing.savefig(path, metadata={"Date": None})
    pyplot.close(drawing)
    return lines
