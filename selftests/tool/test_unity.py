# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/unity.py: which sources it puts into one file, and that the whole of them compiles as each does alone."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from commands import run
from opengni import host

UNITY = host.TOP / "scripts/unity.py"
# Each pair is of sources that must not share a file: alone they compile, and what their functions return is theirs.
PAIRS = {
    "constants": ("namespace { constexpr int N = 1; } int a() { return N; }", "namespace { const int N{2}; } int b() { return N; }"),
    "functions": (
        "static int f(int x) { return x; } int a() { return f(1); }",
        "namespace z { namespace { int f(int x) { return 2 * x; } } } int b() { return z::f(1); }"),
    "a better match": (
        "namespace { int f(int) { return 1; } } int a() { return f(1); }",
        "int f(long); int b() { return f(1); } int f(long) { return 2; }"),
    "types": (
        "namespace { struct S { int x; }; } int a() { return S{1}.x; }",
        "namespace { class S final { public: int y = 2; }; } int b() { return S().y; }"),
    "enumerators": (
        "namespace { enum { ONE = 1 }; } int a() { return ONE; }",
        "namespace { enum class E { ONE }; constexpr int ONE = 2; } int b() { return ONE; }"),
    "aliases": ("namespace { using T = int; } T a() { return 1; }", "namespace { using T = long; } int b() { return T(2); }"),
    "macros": ("#define N 1\nint a() { return N; }", "int b() { int N = 2; return N; }"),
}
MAIN = "int a(), b();\nint main() { return a() == 1 && b() == 2 ? 0 : 1; }\n"


class Unity(unittest.TestCase):
    def setUp(self):
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def divide(self, sources, count):
        """(exit status, output, what each of count files includes) for sources that are given as text."""
        for name, text in sources.items():
            (self.root / name).write_text(text + "\n", encoding="ascii")
        outputs = [self.root / f"out-{number}.cpp" for number in range(count)]
        for output in outputs:
            output.unlink(missing_ok=True)
        status, text = run(UNITY, self.root, "-o", *outputs, "--", *(self.root / name for name in sources if name.endswith(".cpp")))
        return status, text, [output.read_text(encoding="ascii").splitlines() for output in outputs if output.exists()]

    def test_names_are_not_taken(self):
        for what, (a, b) in PAIRS.items():
            with self.subTest(what):
                sources = {"a.cpp": a, "b.cpp": b, "main.cpp": MAIN}
                status, text, _ = self.divide({"a.cpp": a, "b.cpp": b}, 1)
                self.assertEqual((status, "no file is left for" in text), (1, True), text)
                status, text, files = self.divide(sources, 2)
                self.assertEqual((status, sorted(line for lines in files for line in lines)),
                                 (0, [f'#include "{name}"' for name in sources]), text)
        program = self.root / "program"
        subprocess.run(["c++", "-std=c++20", "-o", program, *self.root.glob("out-*.cpp")], check=True)
        subprocess.run([program], check=True)

    def test_members_and_text_are_no_names(self):
        a = "namespace { int count() { return 1; } } int a() { return count(); }"
        b = '#include <string>\n// count\nint b() { std::string s("count("); return int(s.find(\'c\')) + std::string::npos ? 2 : int(s.at(1)); }'
        self.assertEqual(self.divide({"a.cpp": a, "b.cpp": b + " struct X { int n; }; int c(X x) { return x.n; }"}, 1)[0], 0)

    def test_both_may_use_the_same(self):
        """But each what it names: the same under another name's last word, or where one names nothing, is kept apart."""
        uses = "namespace {0} {{ inline int f() {{ return 1; }} }} using {0}::f; int {1}() {{ return f(); }}"
        self.assertEqual(self.divide({"a.cpp": "namespace t { int f(); } using t::f; int a() { return f(); }",
                                      "b.cpp": "namespace t { int f(); } using t::f; int b() { return f(); }"}, 1)[0], 0)
        self.assertEqual(self.divide({"a.cpp": uses.format("t", "a"), "b.cpp": uses.format("u", "b")}, 1)[0], 1)
        self.assertEqual(self.divide({"a.cpp": uses.format("t", "a"), "b.cpp": "int f(); int b() { return f(); }"}, 1)[0], 1)

    def test_headers_come_first(self):
        """A header's own functions are what they are in any other source."""
        status, text, files = self.divide({
            "h.hpp": "#pragma once\nint f(long);\ninline int h() { return f(1); }", "list.inc": "1,",
            "a.cpp": "namespace { int f(int) { return 7; } } int a() { return f(1); }",
            "b.cpp": '#include "h.hpp"\nint rows[] = {\n#include "list.inc"\n};\nint b() { return h(); }'}, 1)
        self.assertEqual((status, files), (0, [['#include "h.hpp"', '#include "a.cpp"', '#include "b.cpp"']]), text)

    def test_only_what_changes_is_written(self):
        sources = {"a.cpp": "int a() { return 1; }", "b.cpp": "int b() { return 2; }"}
        self.divide(sources, 1)
        output = self.root / "out-0.cpp"
        before = output.stat().st_mtime_ns
        run(UNITY, self.root, "-o", output, "--", self.root / "a.cpp", self.root / "b.cpp")
        self.assertEqual(output.stat().st_mtime_ns, before)
        self.assertEqual(run(UNITY, self.root, "-o", output)[0], 2)
