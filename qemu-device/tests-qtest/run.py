#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the qtests and prints TAP and a summary.

usage: run.py [PATTERN...]     tests whose name has one of the patterns; all without
"""

import pathlib
import sys
import time
import unittest

HERE = pathlib.Path(__file__).parent


class Tap(unittest.TestResult):
    """TAP version 13 on standard output."""

    def __init__(self, total):
        super().__init__()
        self.number, self.broken = 0, {}
        print(f"TAP version 13\n1..{total}", flush=True)

    def line(self, test, ok, note=""):
        self.number += 1
        print(f"{'ok' if ok else 'not ok'} {self.number} - {test.id()}{note}", flush=True)

    def details(self, text):
        for line in text.rstrip().splitlines():
            print(f"# {line}", flush=True)

    def stopTest(self, test):
        super().stopTest(test)
        if test.id() in self.broken:
            self.line(test, False)
            for text in self.broken[test.id()]:
                self.details(text)

    def addSuccess(self, test):
        if test.id() not in self.broken:
            self.line(test, True)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.line(test, True, f" # SKIP {reason}")

    def broke(self, test, err, prefix=""):
        self.broken.setdefault(test.id(), []).append(prefix + self._exc_info_to_string(err, test))  # type: ignore[attr-defined]

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.broke(test, err)

    def addError(self, test, err):
        super().addError(test, err)
        self.broke(test, err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.broke(test, err, f"{subtest.id()}\n")


def flatten(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flatten(item)
        else:
            yield item


def main():
    sys.path.insert(0, str(HERE))
    tests = [test for test in flatten(unittest.defaultTestLoader.discover(str(HERE)))
             if len(sys.argv) == 1 or any(pattern in test.id() for pattern in sys.argv[1:])]
    if not tests:
        sys.exit("run.py: no test has such a name")
    start, result = time.monotonic(), Tap(len(tests))
    unittest.TestSuite(tests).run(result)
    failed = len(result.broken)
    print(f"# qtest: {len(tests) - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} "
          f"skipped, {time.monotonic() - start:.0f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
