# SPDX-License-Identifier: GPL-2.0-or-later
"""Draws what a bench has measured, from its JSON: latency, bandwidth, promises."""

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "opengni", "font.size": 9, "axes.grid": True,
                            "grid.linewidth": 0.3, "lines.markersize": 4, "legend.fontsize": 8})

from matplotlib import pyplot  # noqa: E402  the backend comes first

from opengni.writing import naming  # noqa: E402


def _series(report, key):
    """{test: [(size, row)]} of the table's rows that have a size and this figure, for tests with two sizes or more."""
    series = {}
    for row in report["table"]:
        if key in row and row["size"]:
            series.setdefault(row["test"], []).append((row["size"], row))
    return {test: sorted(rows, key=lambda one: one[0]) for test, rows in series.items() if len(rows) > 1}


def _by_size(axes, what):
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("bytes")
    axes.set_ylabel(what)
    axes.legend()


def latency(report, axes):
    """Medians, and how far the slowest hundredth is from them."""
    for test, rows in _series(report, "p50_ns").items():
        sizes = [size for size, _ in rows]
        median = [row["p50_ns"] / 1e3 for _, row in rows]
        line, = axes.plot(sizes, median, "o-", label=test)
        late = [row.get("p99_ns", row["p50_ns"]) / 1e3 for _, row in rows]
        axes.fill_between(sizes, median, late, color=line.get_color(), alpha=0.12)
    _by_size(axes, "us: median, shaded to the 99th percentile")


def bandwidth(report, axes):
    """Bytes a second, beside the host's memcpy of the same sizes."""
    for test, rows in _series(report, "bandwidth_bytes_per_s").items():
        axes.plot([size for size, _ in rows], [row["bandwidth_bytes_per_s"] / 1e9 for _, row in rows], "o-", label=test)
    copies = {}
    for sample in report["samples"]:
        for size, ns in sample["host_memcpy_ns"].items():
            copies.setdefault(int(size), []).append(int(size) / ns)
    sizes = sorted(copies)
    axes.plot(sizes, [sorted(copies[size])[len(copies[size]) // 2] for size in sizes], "k:", label="host's memcpy")
    _by_size(axes, "GB/s")


def promises(report, axes):
    """Each ratio as a part of its bound: what is to be small ends left of 1, what is to be large right of it."""
    rows = []
    for ratio in report["ratios"]:
        sense, bound = ratio["bound"].split()
        if float(bound):
            rows.append((f"{ratio['text']} ({sense} {bound})", ratio["value"] / float(bound), ratio["reached"]))
    rows.reverse()
    axes.barh([text for text, _, _ in rows], [part for _, part, _ in rows],
              color=["tab:green" if reached else "tab:red" for _, _, reached in rows])
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel("measured / bound; red: not reached")


def draw(report, folder):
    """Writes one SVG for each drawing; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for function, width in ((latency, 7), (bandwidth, 7), (promises, 10)):
        figure, axes = pyplot.subplots(figsize=(width, 4.5), layout="constrained")
        try:
            axes.set_title(f"{function.__name__}, {report['accelerator']}, Linux {report['kernel']} in the guests")
            function(report, axes)
            paths.append(folder / f"bench-{function.__name__}.svg")
            with naming(paths[-1]):
                figure.savefig(paths[-1], metadata={"Date": None})
        finally:
            pyplot.close(figure)
    return paths
