#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Make manual pages, HTML or completions below .build/doc from Documentation, headers, and what tools say of themselves.

Manual pages are in man/man1 to man9, HTML is in html, completions of bash are in completion. make-completion
is that of make in this tree (variables, and what ARGS= may hold); it is written to the user's own completions.
Needs tools and QEMU (make all), and the packages of 'scripts/setup.sh doc'.

page makes the HTML of single pages and needs no tools: what they say of themselves is as the last 'make doc' has left it, or empty.
A page is named as 'kgni' or as 'man/cluster.1', which needs its tool.

Exit status: 0 made, 1 something is missing or wrong: one line says what, 2 bad command line.
"""

import argparse
import importlib
import os
import shutil
import subprocess
import sys

from manuals import api, completion, make, pages, usage
from opengni import host
from opengni.arguments import Parser
from opengni.output import program
from opengni.writing import write_text

OUT = host.BUILD / "doc"
SOURCE = OUT / "source"


class DocError(Exception):
    """One line."""


def stage():
    """A copy of Documentation with what is generated in it."""
    fresh = OUT / "source.new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    for place, text in pages.staged():
        _put(fresh / place, text)
    for folder in ("figures", "ABI"):
        shutil.copytree(pages.DOCUMENTATION / folder, fresh / folder)
    write_text(fresh / "manuals.md", pages.index())
    (fresh / "man").mkdir()
    for path in pages.sources().values():
        write_text(fresh / "man" / path.name, pages.text(path))
    (fresh / "api").mkdir()
    for key in api.HEADERS:
        write_text(fresh / "api" / f"{key}.rst", api.restructured(key))
    _update(fresh, SOURCE)


def _update(fresh, old):
    """Replaces what has changed only, so that Sphinx reads no more than that."""
    for path in sorted(old.rglob("*"), reverse=True) if old.exists() else ():
        if not (fresh / path.relative_to(old)).exists():
            if path.is_dir():
                path.rmdir()
            else:
                path.unlink()
    for path in fresh.rglob("*"):
        place = old / path.relative_to(fresh)
        if path.is_dir():
            place.mkdir(parents=True, exist_ok=True)
        elif not place.exists() or place.read_bytes() != path.read_bytes():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
    shutil.rmtree(fresh)


def sphinx(builder, out, *more):
    """Runs Sphinx; a warning is an error."""
    try:
        for module in ("sphinx", "myst_parser"):
            importlib.import_module(module)
    except ImportError as error:
        raise DocError(f"{error}: run 'scripts/setup.sh doc'") from None
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", builder, "-c", str(pages.DOCUMENTATION),
               "-d", str(OUT / f"{builder}.state"), *more, str(SOURCE), str(out)]
    # a page of the documentation that changes is no reason for other manual pages, and thus other packages
    paths = ("--", ".", ":(exclude,glob)Documentation/*.md", ":!Documentation/design", ":!README.md") if builder == "man" else ()
    commit = subprocess.run(["git", "-C", str(host.TOP), "log", "-1", "--format=%ct", *paths], capture_output=True, text=True, check=False).stdout.strip()
    dated = {"SOURCE_DATE_EPOCH": commit} if commit else {}
    # only a run that has ended well leaves a state that is worth something: after another, pages that were read would count as done
    state = OUT / f"{builder}.state"
    whole = state / "whole"
    if not whole.exists():
        shutil.rmtree(state, ignore_errors=True)
    whole.unlink(missing_ok=True)
    made = subprocess.run(command, capture_output=True, text=True, check=False, env={**dated, **os.environ})
    if made.returncode:
        raise DocError(f"Sphinx complains:\n{made.stderr.strip()}")
    state.mkdir(parents=True, exist_ok=True)
    whole.touch()


def _put(path, text):
    """Write a file, if that changes it."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)


def page_source(word):
    """The source of a page, from its name or from its path in any form. DocError if there is none."""
    name = word.removesuffix(".md")
    for folder in (pages.DOCUMENTATION, host.TOP):
        path = (folder / f"{name}.md").resolve()
        if path.is_file() and pages.DOCUMENTATION in path.parents:
            return path
    raise DocError(f"there is no page '{word}' in {pages.DOCUMENTATION}")


def stage_pages(wanted):
    """The copy of Documentation for these pages: what is generated is made for those of them that are manual pages; in place of what
    was never made there is a title, so that links find it."""
    for place, text in pages.staged():
        _put(SOURCE / place, text)
    for folder in ("figures", "ABI"):
        shutil.copytree(pages.DOCUMENTATION / folder, SOURCE / folder, dirs_exist_ok=True)
    _put(SOURCE / "manuals.md", pages.index())
    for (name, section), path in pages.sources().items():
        made = SOURCE / "man" / path.name
        if path in wanted:
            _put(made, pages.text(path))
        elif not made.exists():
            _put(made, f"# {name}({section}): {pages.head(path)[2]}\n\nmake doc makes this page.\n")
    for key, (title, *_) in api.HEADERS.items():
        if not (SOURCE / "api" / f"{key}.rst").exists():
            _put(SOURCE / "api" / f"{key}.rst", f"{title}\n{'=' * len(title)}\n\nmake doc makes this page.\n")


def make_page(words):
    """HTML of single pages."""
    wanted = [page_source(word) for word in words]
    stage_pages(wanted)
    sphinx("html", OUT / "html")
    for path in wanted:
        print(f"HTML: {OUT / 'html' / path.relative_to(pages.DOCUMENTATION).with_suffix('.html')}")


def make_man():
    """Manual pages."""
    fresh = OUT / "man.new"
    shutil.rmtree(fresh, ignore_errors=True)
    stage()
    sphinx("man", fresh)
    count = api.write_manuals(fresh) + len(pages.sources())
    for name, other in pages.OTHER_NAMES.items():
        write_text(fresh / "man1" / f"{name}.1", f".so man1/{other}.1\n")
    shutil.rmtree(fresh / ".doctrees", ignore_errors=True)
    shutil.rmtree(OUT / "man", ignore_errors=True)
    fresh.rename(OUT / "man")
    print(f"{count} manual pages: man -l {OUT / 'man'}/man7/opengni.7")


def make_html():
    """HTML."""
    stage()
    sphinx("html", OUT / "html")
    print(f"HTML: {OUT / 'html/index.html'}")


def make_completion():
    """Completions of bash."""
    count = completion.write(OUT / "completion")
    print(f"completions of {count} commands: {OUT / 'completion'}")


def make_make_completion():
    """That of make itself, where bash finds it."""
    print(f"completion of make in this tree: {make.install()}")


WHAT = {"man": make_man, "html": make_html, "completion": make_completion, "make-completion": make_make_completion}


def main(arguments):
    """Exit status."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="+", metavar="WHAT", help=f"what to make: {', '.join(WHAT)}; or page and the names of pages")
    words = list(dict.fromkeys(parser.parse_args(arguments).what))
    try:
        if words[0] == "page":
            if not words[1:]:
                parser.error("page: name a page, such as kgni")
            make_page(words[1:])
            return 0
        unknown = [word for word in words if word not in WHAT]
        if unknown:
            parser.error(f"cannot make '{unknown[0]}': {', '.join(WHAT)} or page NAME are possible")
        for what in words:
            WHAT[what]()
    except (DocError, pages.PageError, usage.UsageError, api.ApiError) as error:
        print(f"doc.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(program(main, sys.argv[1:]))
