# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of tests: TAP in its several dialects, the kernel's kselftest, meson, unittest."""

import json
import re
from dataclasses import dataclass

PASS, FAIL, SKIP = "pass", "fail", "skip"

_RESULT = re.compile(r"^(not )?ok\b\s*(\d+)?\s*(?:-\s*)?(.*)$")
_PLAN = re.compile(r"^1\.\.(\d+)")
_DIAGNOSTIC = re.compile(r"^#\s*(?!(?:not )?ok\b)(\S.*)$")
_DIRECTIVE = re.compile(r"\s*#\s*(SKIP|TODO|TIMEOUT|exit=\d+)\b\s*(.*)$", re.I)


@dataclass
class Case:
    """One test case."""

    name: str
    status: str
    detail: str = ""


def _case(match, prefix):
    name = match.group(3).strip()
    directive = _DIRECTIVE.search(name)
    detail = ""
    status = FAIL if match.group(1) else PASS
    if directive:
        name = name[:directive.start()].strip()
        detail = " ".join(directive.groups()).strip()
        if directive.group(1).upper() == "SKIP" and status == PASS:
            status = SKIP
    elif not match.group(1) and name.startswith("SKIP"):
        status = SKIP
    return Case(prefix + (name or f"case {match.group(2)}"), status, detail)


def parse(text, prefix=""):
    """Cases of one TAP stream.

    A plan that is not fulfilled (a test that crashed in the middle) and a stream
    without any plan count as a failure of their own. What stands as diagnostics
    right after a failed case is its detail.
    """
    cases, plan, failed = [], None, None
    for line in text.splitlines():
        if failed and (match := _DIAGNOSTIC.match(line)):
            failed.detail = "; ".join(filter(None, [failed.detail, match.group(1)]))
            continue
        failed = None
        if plan is None and (match := _PLAN.match(line)):
            plan = int(match.group(1))
            if plan == 0:
                cases.append(Case(prefix.rstrip(": ") or "all", SKIP, line))
                return cases
        elif match := _RESULT.match(line):
            cases.append(_case(match, prefix))
            failed = cases[-1] if cases[-1].status == FAIL else None
    if plan is None:
        cases.append(Case(prefix + "plan", FAIL, "no TAP plan: the test did not run"))
    elif len(cases) < plan:
        cases.append(Case(prefix + "plan", FAIL, f"{len(cases)} of {plan} results: the test ended early"))
    return cases


def parse_kselftest(text):
    """Cases of run_kselftest.sh: each program's own TAP stands behind '# '.

    A program whose result is "not ok" without a failing case of its own (crash,
    time-out) counts as one failure, one without cases as one case.
    """
    cases, inner, plan, done = [], [], None, 0
    for line in text.splitlines():
        if line.startswith("# selftests: "):
            inner = []
        elif line.startswith("# "):
            inner.append(line[2:])
        elif plan is None and (match := _PLAN.match(line)):
            plan = int(match.group(1))
        elif match := _RESULT.match(line):
            done += 1
            program = _case(match, "")
            short = program.name.replace("selftests: ", "").replace(": ", "/")
            own = [_case(m, short + ": ") for m in map(_RESULT.match, inner) if m]
            cases.extend(own)
            if program.status == FAIL and not any(case.status == FAIL for case in own):
                cases.append(Case(short, FAIL, program.detail or "failed outside its cases"))
            elif not own:
                cases.append(Case(short, program.status, program.detail))
            inner = []
    if plan is None or done < plan:
        cases.append(Case("run_kselftest", FAIL, f"{done} of {plan or '?'} programs have a result"))
    return cases


def parse_meson(path):
    """Cases of meson's testlog.json, with those of TAP in a program's output."""
    cases = []
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        return [Case(str(path), FAIL, str(error))]
    for line in filter(None, lines):
        entry = json.loads(line)
        name, result = entry["name"], entry["result"]
        output = entry.get("stdout") or ""
        own = parse(output, name + ": ") if re.search(r"^1\.\.\d", output, re.M) else []
        cases.extend(own)
        if result == "SKIP" and not own:
            cases.append(Case(name, SKIP))
        elif result != "OK" and result != "SKIP" and not any(case.status == FAIL for case in own):
            cases.append(Case(name, FAIL, result))
        elif not own:
            cases.append(Case(name, PASS))
    if not cases:
        cases.append(Case("meson", FAIL, "no test was run"))
    return cases


def meson_times(path):
    """(seconds, name) of each program in meson's testlog.json; none if there is no such file."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [(entry["duration"], entry["name"]) for entry in map(json.loads, filter(None, lines))]


def count(cases):
    """(passed, failed, skipped)."""
    return tuple(sum(case.status == status for case in cases) for status in (PASS, FAIL, SKIP))
