# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that README.md and the pages show: what they call is there and takes what they give it.

Those of README.md and of the tutorial are run as well (selftests/cluster/test_readme.py, test_examples.py).
"""

import contextlib
import io
import re
import shlex
import unittest

from manuals import pages
from opengni import aprun, cli, host

PAGES = (host.TOP / "README.md", *pages.written())
FENCED = re.compile(r"^```(?:sh)?\n(.*?)^```$", re.M | re.S)
ANY_FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
INDENTED = re.compile(r"^ {4}(?! )(.*)$", re.M)
INLINE = re.compile(r"`((?:[A-Z]+=\S+ )*(?:make|scripts/\w+) [^`]+)`")
# What a page writes where a value belongs, or as an explanation.
COMMENT = re.compile(r"\s{3,}.*$|\s+#.*$")
# Commands of the kernel's own tree.
KERNELS_OWN = re.compile(r"scripts/(kconfig/|config$)|\w*config$")
PLACEHOLDER = re.compile(r"\.\.\.|\b[A-Z]{2,}\b|\bIMAGE\b")


def lines(page):
    """Lines of a page that are commands, or parts of sentences in code."""
    text = page.read_text(encoding="utf-8")
    found = [line for block in FENCED.findall(text) for line in block.splitlines()]
    rest = ANY_FENCED.sub("", text)
    found += INDENTED.findall(rest)
    found += INLINE.findall(rest)
    return [COMMENT.sub("", re.sub(r"^\$ ", "", line)) for line in found]


def commands(line):
    """The simple commands of a line, as words; none for a line that is no command."""
    if not line.isascii():  # a drawing
        return []
    lexer = shlex.shlex(re.sub(r"\$\(\(.*?\)\)|\$\([^()]*\)", "1", line), posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        return []
    found, command = [], []
    for word in [*words, ";"]:
        if set(word) <= set(";&|()<>"):
            found.append(command)
            command = []
        else:
            command.append(word)
    return [command for command in found if command]


def named(command):
    """Without variables before it and sudo; None if it is none of this project's."""
    while command and (re.fullmatch(r"\w+=.*", command[0]) or command[0] in ("sudo", "then", "do", "exec", "time", "export")):
        command = command[1:]
    return command


def shown(program):
    """(page, words) of each command that calls a program."""
    return [(page.name, command) for page in PAGES for line in lines(page) for raw in commands(line)
            if (command := named(raw)) and command[0] == program]


class Commands(unittest.TestCase):
    def parse(self, parser, page, words):
        with self.subTest(page=page, command=" ".join(words)), contextlib.redirect_stderr(io.StringIO()) as said, \
                contextlib.redirect_stdout(io.StringIO()):
            try:
                parser.parse_args(cli.joined(words[1:]))
            except SystemExit as end:
                self.assertEqual(end.code, 0, said.getvalue())

    def test_make(self):
        """Each target is one."""
        text = (host.TOP / "Makefile").read_text(encoding="utf-8")
        targets = set(re.search(r"^\.PHONY: ((?:.*\\\n)*.*)$", text, re.M)[1].replace("\\\n", " ").split())
        found = shown("make")
        self.assertGreater(len(found), 40)
        for page, words in found:
            if "-C" in words or any(KERNELS_OWN.search(word) for word in words) or any("/" in word and "=" not in word for word in words):
                continue  # of another project
            for word in words[1:]:
                if word.startswith("-") or "=" in word or PLACEHOLDER.search(word):
                    continue
                if not re.fullmatch(r"[a-z][a-z-]*", word):
                    break  # the sentence goes on
                with self.subTest(page=page, command=" ".join(words)):
                    self.assertIn(word, targets)

    def test_cluster(self):
        found = shown("scripts/cluster")
        self.assertGreater(len(found), 30)
        for page, words in found:
            if len(words) == 2 and not words[1].startswith("-"):  # a sentence names it, without what belongs to it
                self.assertIn(words[1], cli.OPERATIONS, page)
            elif not any(PLACEHOLDER.search(word) for word in words):
                default = words[1].startswith("-") and words[1] not in ("-h", "--help", "-V", "--version")
                self.parse(cli.parser(), page, [words[0], "run", *words[1:]] if default else words)

    def test_aprun(self):
        found = shown("scripts/aprun")
        self.assertGreater(len(found), 10)
        for page, words in found:
            if not any(PLACEHOLDER.search(word) for word in words):
                self.parse(aprun.parser(), page, words)

    def test_scripts(self):
        """Whatever is called by its path is there."""
        for page in PAGES:
            for line in lines(page):
                for command in commands(line):
                    words = named(command)
                    if words and re.match(r"(scripts|selftests)/[\w.-]+", words[0]) and \
                            not PLACEHOLDER.search(words[0]) and not KERNELS_OWN.match(words[0]):
                        with self.subTest(page=page.name, command=line):
                            self.assertTrue((host.TOP / words[0]).exists())
