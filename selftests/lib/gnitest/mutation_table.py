# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests have found of mutations, and what that has cost: the pages of Markdown that mutate.py prints."""

from collections import Counter

from . import mutants


def _seconds(value):
    return "" if value is None else "fails" if value == mutants.FAILS else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def _findings(results):
    """For each (layer, test): the mutations that it has seen, and those of them that no other test of the same runs has."""
    found: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
    for name, result in results.mutations.items():
        for test in result.by if result.outcome == mutants.SEEN else ():
            every, alone = found.setdefault((result.layer, test), ([], []))
            every.append(name)
            if len(result.by) == 1:
                alone.append(name)
    return found


def _summary(known, results):
    """How many are seen, by the tests of which layer, and what `make check` does not see."""
    valid = {name: results.mutations[name] for name, mutation in known.items()
             if name in results.mutations and results.mutations[name].digest == mutation.digest()}
    seen = {name: result for name, result in valid.items() if result.outcome == mutants.SEEN}
    by_default = [name for name, result in seen.items() if not result.slow]
    layers = Counter(seen[name].layer for name in by_default)
    lines = [f"{len(seen)} of {len(known)} mutations are seen, {len(by_default)} by `make check`" +
             "".join(f", {count} by {layer}" for layer, count in layers.most_common())]
    for text, names in (("Seen by check-all alone", [name for name in seen if name not in by_default]),
                        ("Not seen", [name for name in valid if name not in seen]), ("Not run", [name for name in known if name not in valid])):
        if names:
            lines.append(f"{text}: " + ", ".join(f"`{name}`" for name in names))
    return "".join(f"{line}.\n\n" for line in lines)


def table(known, results):
    """A summary and two tables: of mutations, and of tests with their seconds. Results of mutations that have changed since are left out."""
    lines = ["| mutation | what it breaks | seen by | seconds |", "|---|---|---|---|"]
    for name, mutation in known.items():
        result = results.mutations.get(name)
        if result is None or result.digest != mutation.digest():
            lines.append(f"| `{name}` | {mutation.breaks} | not run | |")
            continue
        by = f"{result.layer}: {', '.join(f'`{test}`' for test in result.by)}" if result.outcome == mutants.SEEN else f"**{result.outcome}**"
        lines.append(f"| `{name}` | {mutation.breaks} | {by} | {_seconds(result.seconds)} |")
    lines += ["", "| layer | test | seconds | has seen | of these alone |", "|---|---|---|---|---|"]
    found = _findings(results)
    rows = {(layer, test): seconds for layer, times in results.times.items() for test, seconds in times.items()}
    for key in found:
        rows.setdefault(key, None)
    for (layer, test), seconds in sorted(rows.items(), key=lambda row: (row[0][0], -(row[1] or 0), row[0][1])):
        every, alone = found.get((layer, test), ([], []))
        lines.append(f"| {layer} | `{test}` | {_seconds(seconds)} | {len(every) or ''} | {', '.join(f'`{name}`' for name in sorted(alone))} |")
    return _summary(known, results) + "\n".join(lines) + "\n"
