# SPDX-License-Identifier: GPL-2.0-or-later
"""Command lines of the scripts: --help and --version everywhere, one line and exit status 2 for what is wrong."""

import argparse
import functools
import sys

from .version import version


def whole(least, most):
    """Type of an option: a whole number from @least to @most; its complaint says so, whatever is wrong."""
    def number(text):
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from {least} to {most}")
        return int(text)
    return number


class _Version(argparse.Action):
    """Prints the version; it is looked up only then."""

    def __init__(self, option_strings, dest, note=""):
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, help="print the version and exit")
        self.note = note

    def __call__(self, parser, namespace, values, option_string=None):
        print(f"{parser.prog.split('/')[-1]} (OpenGNI) {version()}{self.note}")
        parser.exit(0)


class Parser(argparse.ArgumentParser):
    """ArgumentParser with -V and --version, whose complaint is one line. Options are not abbreviated.

    note: text behind the version. versioned: False for an operation of a command, which has no version of its own.
    """

    def __init__(self, *args, note="", versioned=True, **kwargs):
        kwargs["allow_abbrev"] = False
        super().__init__(*args, **kwargs)
        if versioned:
            self.add_argument("-V", "--version", action=_Version, note=note)

    def add_subparsers(self, **kwargs):
        """Operations of the command."""
        kwargs["parser_class"] = functools.partial(Parser, versioned=False)
        return super().add_subparsers(**kwargs)

    def _print_message(self, message, file=None):
        """As argparse does it, but that an error is not kept from output.program()."""
        if message:
            print(message, end="", file=file or sys.stderr, flush=True)

    def error(self, message):
        """Exit status 2."""
        self.exit(2, f"{self.prog}: {message}; see {self.prog} --help\n")
