# SPDX-License-Identifier: GPL-2.0-or-later
"""What a test in Python depends on in the tree: modules that it imports, files and folders that it names, and what those name in turn."""

import ast
import re
from functools import lru_cache
from pathlib import Path

from opengni import host
from . import packages

TOP = host.TOP
_WORD = re.compile(r"[A-Za-z0-9_.][\w.+/-]*")
# What is read for the names in it; others, such as pages and sources in C, are where a way ends.
_SCRIPTS = (".py", ".sh", "")
# These name nearly everything, and whoever names them means something in particular.
_ENDS = ("Makefile", "dep5", "layers.py", "module_build.py", "packages.py", "reach.py", "testlib.py", "unit.py")


def _joined(node):
    """The text of a path such as TOP / "scripts" / "aprun", as far as it is constant: "scripts/aprun"; empty if it is none."""
    parts = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        if not (isinstance(node.right, ast.Constant) and isinstance(node.right.value, str)):
            return ""
        parts.insert(0, node.right.value)
        node = node.left
    return "/".join(parts)


class _Source(ast.NodeVisitor):
    """Modules that a file of Python imports, paths that it joins, and the words of its texts."""

    def __init__(self, package):
        self._package = package
        self.imports, self.paths, self.words = set(), set(), set()

    def visit_Import(self, node):
        """import opengni.x, hosts"""
        self.imports.update(alias.name for alias in node.names)

    def visit_ImportFrom(self, node):
        """from opengni.x import y; from . import x"""
        base = self._package * bool(node.level) + "." * bool(node.level and node.module) + (node.module or "")
        self.imports.update([base, *(f"{base}.{alias.name}" for alias in node.names)])

    def visit_BinOp(self, node):
        """TOP / "scripts" / "aprun"."""
        if text := _joined(node):
            self.paths.add(text)
        else:
            self.generic_visit(node)

    def visit_Constant(self, node):
        """Texts, those of f-strings as well."""
        if isinstance(node.value, str):
            self.words.update(_WORD.findall(node.value))


def _is_python(path):
    if path.suffix == ".py":
        return True
    with open(path, "rb") as file:
        return b"python" in file.readline(80)


@lru_cache(maxsize=None)
def _read(path):
    """(imports, paths, words) of a script."""
    try:
        text = path.read_text(encoding="utf-8")
        if _is_python(path):
            source = _Source(packages.owner(path))
            source.visit(ast.parse(text))
            return source.imports, source.paths, source.words
    except (OSError, UnicodeDecodeError, SyntaxError):
        return set(), set(), set()
    return set(), set(), set(_WORD.findall(text))


def _module(name, folder):
    """The file of a module, if it is one of ours."""
    parts = name.split(".")
    if parts[0] in packages.FOLDERS:
        base = packages.place(parts[0])
        parts = parts[1:]
        if not parts:
            return base / "__init__.py"
    else:
        base = folder
    path = base.joinpath(*parts).with_suffix(".py")
    return path if path.is_file() else None


def _named(word, folder, may_be_folder):
    """The file of the tree that a word in a file of @folder means; folders only where the word can mean nothing else."""
    word = word.rstrip("./")
    if not word or word.startswith((".build", "../")) or "/../" in word:
        return None
    for base in (TOP, folder, TOP / "scripts", TOP / "Documentation"):
        path = base / word
        if path.is_file() and ("/" in word or "." in word[1:]) or may_be_folder and base == TOP and path.is_dir():
            return path
    return None


def imports(path):
    """Names of the modules that a file of Python imports, wherever it does so; of what may be a module or something in one, both."""
    return _read(path)[0]


@lru_cache(maxsize=None)
def direct(path):
    """Files and folders that a script imports or names."""
    imports, paths, words = _read(path)
    found = {_module(name, path.parent) for name in imports}
    found |= {_named(word, path.parent, "/" in word.rstrip("./")) for word in words}
    found |= {_named(word, path.parent, True) for word in paths}
    # an "aprun" or "cluster" below scripts, as in TOP / "scripts" / "aprun"
    found |= {TOP / word for word in paths if (TOP / word).is_file()}
    # What these print names pages for whoever reads it.
    if packages.owner(path):
        found = {item for item in found if item and TOP / "Documentation" not in item.parents}
    return {item for item in found if item and item != path}


def closure(path):
    """All that a script depends on, by any way: files, and folders that stand for everything in them; itself included."""
    found, unseen = set(), [path]
    while unseen:
        at = unseen.pop()
        if at in found:
            continue
        found.add(at)
        if at.is_file() and at.suffix in _SCRIPTS and at.name not in _ENDS and TOP / "Documentation" not in at.parents:
            unseen += direct(at)
    return found


def words(path):
    """Words of the texts of a script, and of the modules beside it that it imports: programs and modules of the kernel that it uses."""
    own = [at for at in closure(path) if at.parent == path.parent and at.suffix == ".py"]
    return set().union(*(set(re.findall(r"[\w-]+", word)) for at in own for word in _read(at)[2] | _read(at)[1]))


def depends_on(found, changed, but=()):
    """Whether @changed is one of the files, or below one of the folders, of a closure; without some of these."""
    return changed in found or any(parent in found for parent in changed.parents if parent not in but)


def tests(folder):
    """Files of tests of a folder."""
    return sorted((TOP / folder).glob("test_*.py"))


def names(files):
    """Paths as they are written in the tree."""
    return [str(Path(file).relative_to(TOP)) for file in files]
