# SPDX-License-Identifier: GPL-2.0-or-later
"""Plugin of pytest for the layers of Python tests: which classes run beside others and which last, and results in a file.

    python3 -m pytest -p gnitest.pytest_layer --opengni-results=FILE [--opengni-alone=yes|no] [--opengni-spanning] ...

A class that compares times, or that takes something of which a machine has one, says so by `ALONE = "why"`: it is run with nothing else
beside it. --opengni-alone=no leaves out such classes, =yes all others; --opengni-spanning what no second host would be given to: tests that
make their hosts themselves, or do not need any. Clusters are handed from class to class (standing.py); classes that leave something behind
(LEAVES) come last.

FILE has a line of JSON for each result: {"name", "status" (tap.PASS, FAIL, SKIP), "detail", "seconds", "processor"}; a name that begins with
"(boot) " is what is before a class's first test, "(end) " what is after its last one: times and no cases (status null) unless something
failed. "processor" are the seconds that processors worked for it, in this process and in all that it has started: what a test waits
for is the rest of its time.
"""

import json
import os

from opengni import host
from . import standing, tap
from .testing import ClusterCase

_STATUS = {"passed": tap.PASS, "failed": tap.FAIL, "skipped": tap.SKIP}


def pytest_addoption(parser):
    """The two options."""
    group = parser.getgroup("opengni")
    group.addoption("--opengni-results", metavar="FILE", help="where results go, a line of JSON each")
    group.addoption("--opengni-alone", choices=("yes", "no"), help="only classes with ALONE, or only those without")
    group.addoption("--opengni-spanning", action="store_true", help="only classes whose nodes can be divided between hosts")


def pytest_configure(config):
    """Results are written if somebody wants them."""
    standing.clusters.sharing = True
    file = config.getoption("--opengni-results")
    if file:
        config.pluginmanager.register(_Results(file))


def pytest_runtest_logreport(report):
    """A cluster with which a test has failed is not handed on."""
    if report.failed:
        standing.clusters.spoil(f"{test_name(report.nodeid)} has failed")


def pytest_sessionfinish():
    """No class wants a cluster any more."""
    standing.clusters.end("no class is left")


def pytest_terminal_summary(terminalreporter):
    """For whoever reads the log: which class had whose cluster."""
    if standing.clusters.story:
        terminalreporter.section("clusters")
        terminalreporter.write("\n".join([*standing.clusters.story, ""]))


def pytest_collection_modifyitems(config, items):
    """Leave out what is not asked for; what spoils a cluster comes last."""
    alone, spanning = config.getoption("--opengni-alone"), config.getoption("--opengni-spanning")

    def wanted(kind):
        return (not alone or bool(getattr(kind, "ALONE", None)) == (alone == "yes")) and \
            (not spanning or issubclass(kind, ClusterCase) and kind.NODES > 1)

    left = [item for item in items if not wanted(item.cls)]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if wanted(item.cls)]
    items.sort(key=lambda item: bool(getattr(item.cls, "LEAVES", "")))


def test_name(nodeid):
    """'x/test_data.py::Data::test_put' as unittest writes it: 'test_data.Data.test_put'."""
    file, *rest = nodeid.split("::")
    return ".".join([file.rpartition("/")[2].removesuffix(".py"), *rest])


def _detail(report):
    """The last line of what a report says: of an exception its message, of a skipped test the reason."""
    if report.skipped:
        text = report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else str(report.longrepr)
    else:
        crash = getattr(report.longrepr, "reprcrash", None)
        text = crash.message if crash else str(report.longrepr or "")
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""


class _Results:
    """The file of results."""

    def __init__(self, file):
        self._out = open(file, "w", encoding="utf-8")  # pylint: disable=consider-using-with  # closed when the session ends
        self._booted = set()
        self._worked = 0.0

    def _write(self, name, status, detail, seconds, processor=0.0):
        self._out.write(json.dumps({"name": name, "status": status, "detail": detail, "seconds": round(seconds, 3),
                                    "processor": round(processor, 2)}) + "\n")
        self._out.flush()

    def _since(self):
        """Processor seconds since this was asked last."""
        before, self._worked = self._worked, host.processor_seconds(os.getpid())
        # A process that leaves its parent takes what it has done with it.
        return max(0.0, self._worked - before)

    def pytest_runtest_logreport(self, report):
        """A test's call, and what was before or after it where that failed, was skipped, or belongs to its class."""
        name, processor = test_name(report.nodeid), self._since()
        owner = name.rpartition(".")[0]
        if report.when == "call":
            self._write(name, _STATUS[report.outcome], "" if report.passed else _detail(report), report.duration, processor)
        elif not report.passed:
            self._write(name, _STATUS[report.outcome], _detail(report), report.duration, processor)
        elif report.when == "setup" and owner not in self._booted:
            self._booted.add(owner)
            self._write(f"(boot) {owner}", None, "", report.duration, processor)
        elif report.when == "teardown" and report.duration >= 0.1:
            self._write(f"(end) {owner}", None, "", report.duration, processor)

    def pytest_collectreport(self, report):
        """A file that cannot be imported is a failure of its own."""
        if report.failed:
            self._write(test_name(report.nodeid) or "collection", tap.FAIL, _detail(report), 0)

    def pytest_unconfigure(self):
        """The end."""
        self._out.close()
