# SPDX-License-Identifier: GPL-2.0-or-later
"""The conformance tests' sources against their table: which return codes have a test, which have a reason.

    PYTHONPATH=scripts:selftests/lib python3 -m gnitest.conformance [--missing]
"""

import csv
import re
import sys
from dataclasses import dataclass

from opengni import host

FOLDER = host.TOP / "selftests" / "conformance"
TABLE = FOLDER / "coverage.csv"
STATEMENTS = FOLDER / "statements.csv"

_TEST = re.compile(r"^(?:TEST|TEST_SIGNAL|TEST_F|TEST_F_TIMEOUT|PAIR_TEST|RC_TEST)\(\s*(?:(?!GNI_|gni_|S\d)\w+,\s*)?(\w+)", re.M)
_FUNCTION = re.compile(r"^static [^;{}=]*?(\w+)\([^;{}]*\)\s*\n\{\n(.*?)^\}", re.M | re.S)
_MACRO = re.compile(r"^#define (\w+)\([^)]*\)(.*?(?<!\\))\n", re.M | re.S)
_CODE_NAME = re.compile(r"^((?:GNI|gni)_[A-Za-z0-9_]+?)__([A-Z][A-Z_]*[A-Z])__([a-z0-9_]+)$")
_STATEMENT_NAME = re.compile(r"^S\d+(_\d+)*__[a-z0-9_]+$")
_WORD = re.compile(r"\b\w+\b")


@dataclass(frozen=True)
class Test:
    """A test as it stands in a source."""

    name: str
    file: str
    text: str  # its body and those of the file's own functions and macros that it uses

    @property
    def parts(self):
        """(function, code, circumstance); None for a test of a statement."""
        match = _CODE_NAME.match(self.name)
        return match.groups() if match else None


def read_table(text):
    """{(function, code): reason} of a table; an empty reason calls for a test. ValueError for a double row."""
    table = {}
    for row in csv.DictReader(text.splitlines()):
        key = row["function"], row["code"]
        if key in table:
            raise ValueError(f"{key[0]} {key[1]} stands twice in the table")
        table[key] = row["reason"].strip()
    return table


def _used(text, helpers, macros):
    """The text with macros that it names in their places, and with the functions that it and they name."""
    def expand(piece):
        return _WORD.sub(lambda word: f"{word[0]} {macros[word[0]]} " if word[0] in macros else word[0], piece)

    todo, seen = [expand(text)], {}
    first = todo[0]
    while todo:
        for word in _WORD.findall(todo.pop()):
            if word in helpers and word not in seen:
                seen[word] = expand(helpers[word])
                todo.append(seen[word])
    return "\n".join([first, *(seen[word] for word in sorted(seen))])


def read_tests(source, file=""):
    """Tests of one C source."""
    helpers = {match[1]: match[2] for match in _FUNCTION.finditer(source)}
    macros = {match[1]: match[2].replace("\\\n", " ") for match in _MACRO.finditer(source)}
    # A macro of statements is like a function: put in place it would end the statement that uses it.
    helpers.update({name: macros.pop(name) for name in list(macros) if ";" in macros[name]})
    tests = []
    for match in _TEST.finditer(source):
        end = source.find("\n}\n", match.start())
        if match[0].startswith("RC_TEST"):
            end = source.find(";\n", match.start())
        body = source[match.end():end]
        tests.append(Test(match[1], file, _used(body, helpers, macros)))
    return tests


def all_tests(folder=FOLDER):
    """Tests of all programs."""
    return [test for path in sorted(folder.glob("*.c")) for test in read_tests(path.read_text(encoding="utf-8"), path.name)]


def _checks(test, function, code):
    """Whether the test compares what the function returns with the code."""
    if code == "VALUE":
        return re.search(rf"\b{function}\b", test.text) is not None
    wanted = rf"\bMUST\([^;]*\b{function}\b" if code == "SUCCESS" else None
    plain = rf"\bRC(?:_TEST)?\([^;]*\b{code}\b[^;]*\b{function}\b"
    if test.text.lstrip().startswith(",") and re.match(rf"\s*,\s*{code}\b[^;]*\b{function}\b", test.text):
        return True  # the rest of RC_TEST(name, code, call)
    return any(re.search(pattern, test.text) for pattern in (plain, wanted) if pattern)


def complaints(table, tests):
    """What is wrong, one line each."""
    wrong, seen, names = [], set(), set()
    functions = {function for function, _ in table}
    for test in tests:
        where = f"{test.file}: {test.name}"
        if (test.file, test.name) in names:
            wrong.append(f"{where}: there are two of that name")
        names.add((test.file, test.name))
        if test.parts is None:
            if not _STATEMENT_NAME.match(test.name):
                wrong.append(f"{where}: a name is function__CODE__circumstance or S<section>_<point>__circumstance")
            continue
        function, code, _ = test.parts
        if function not in functions:
            wrong.append(f"{where}: no function of the interface")
        elif (function, code) not in table:
            wrong.append(f"{where}: {code} is no documented code of it")
        elif not _checks(test, function, code):
            wrong.append(f"{where}: does not compare what {function} returns with {code}")
        else:
            seen.add((function, code))
    for (function, code), reason in table.items():
        if (function, code) in seen and reason:
            wrong.append(f"{function} {code}: has a test, and a reason why there is none")
        if (function, code) not in seen and not reason:
            wrong.append(f"{function} {code}: no test, and no reason why")
    return wrong


def statement_complaints(text, tests):
    """What is wrong with a table of statements: each has tests that exist, or a reason why there is none, and is listed once."""
    wrong, listed = [], set()
    names = {test.name for test in tests}
    for row in csv.DictReader(text.splitlines()):
        statement, wanted, reason = row["statement"], row["tests"].split(), row["reason"].strip()
        if not re.fullmatch(r"S\d+_\d+", statement) or not row["words"].strip():
            wrong.append(f"{statement}: a row is S<section>_<point>, words, tests, reason")
        if statement in listed:
            wrong.append(f"{statement} stands twice in the table")
        listed.add(statement)
        wrong += [f"{statement}: there is no test {name}" for name in wanted if name not in names]
        if bool(wanted) == bool(reason):
            wrong.append(f"{statement}: needs tests or a reason, not both")
        wrong += [f"{statement}: {name} is not in its row" for name in sorted(names)
                  if name.startswith(statement + "__") and name not in wanted]
    for test in tests:
        if test.parts is None and test.name.split("__")[0] not in listed:
            wrong.append(f"{test.file}: {test.name}: no such statement")
    return wrong


def main():
    """Print the state of the table."""
    table, tests = read_table(TABLE.read_text(encoding="utf-8")), all_tests()
    wrong = complaints(table, tests) + statement_complaints(STATEMENTS.read_text(encoding="utf-8"), tests)
    if "--missing" in sys.argv[1:]:
        print("\n".join(wrong))
    tested = {test.parts[:2] for test in tests if test.parts}
    reasons = sum(bool(reason) for reason in table.values())
    statements = sum(test.parts is None for test in tests)
    print(f"{len(table)} rows of {len({f for f, _ in table})} functions: {len(tested & table.keys())} with a test, {reasons} with a "
          f"reason; {len(tests)} tests, {statements} of statements; {len(wrong)} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
