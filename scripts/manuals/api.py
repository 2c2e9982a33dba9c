# SPDX-License-Identifier: GPL-2.0-or-later
"""Manual pages of functions and types, and the same for HTML, from the kernel-doc comments of headers."""

import collections
import re
import subprocess
import tempfile
from pathlib import Path

from opengni import host
from opengni.version import version
from opengni.writing import write_text

KERNEL_DOC = host.BUILD / "linux-source/scripts/kernel-doc"
GNI = host.TOP / "driver/include/gni_pub.h"

# Headers by the page of HTML that they make: title, what is said in front, path.
HEADERS = {
    "gni": ("GNI: gni_pub.h", "Functions of libugni and of kGNI, with their types.", GNI),
    "krca": ("Nodes of the machine: krca_lib.h", "For kernel modules.", host.TOP / "kgni/include/krca_lib.h"),
    "aries-kapi": ("The driver for kernel modules: aries_kapi.h", "What kGNI stands on.", host.TOP / "driver/include/aries_kapi.h"),
    "kgni-abi": ("Calls of /dev/kgniN: kgni_abi.h", "For libraries and launchers.", host.TOP / "driver/include/uapi/kgni_abi.h"),
    "aries-hw": ("Formats in memory: aries_hw.h", "What driver, libraries and the NIC agree on.", host.TOP / "driver/include/aries_hw.h"),
}
PLACES = {GNI: "<gni_pub.h>", HEADERS["krca"][2]: "<krca_lib.h>"}
KERNEL = "#else /* __KERNEL__ */"
PAGE = re.compile(r'^\.TH "(.*?)" 9 "(.*?)" .*$', re.M)
MOST_RELATED = 16
TYPE = re.compile(r"(?:struct|enum|union) (\w+)")


class ApiError(Exception):
    """One line."""


Page = collections.namedtuple("Page", "name section purpose synopsis parts header")


def text_of(path):
    """A header, where each function has a comment with all that is said of it."""
    text = path.read_text(encoding="utf-8")
    return _with_kernel_forms(text) if path == GNI else text


def _with_kernel_forms(text):
    """gni_pub.h says arguments and codes once, at the GNI_ function, and where functions of the kernel may be called in one table."""
    user, kernel = text.split(KERNEL, 1)
    told = re.search(r"/\* ---- Kernel functions ----\n(.*?)\*/", kernel, re.S)[1]
    names = {kernel_name: name for kernel_name, name in re.findall(r"(gni_\w+)\(\): (GNI_\w+)\(\)", told)}
    contexts = {name: sentence for sentence, group in re.findall(r"^ \* (\S.*)\n((?: \*\t.*\n)+)", told, re.M)
                for name in re.findall(r"gni_\w+|all others", group)}
    forms = {name.lower().replace("_", ""): (name, comment)
             for comment, name in re.findall(r"^/\*\*\n((?: \*(?!/).*\n)+) \*/\n\w[\w *]*\b(GNI_\w+)\(", user, re.M)}

    def complete(found):
        comment, differs, declaration, function = found.groups()
        if not comment:
            key = names.get(function, function).lower().replace("_", "")
            if key not in forms:
                raise ApiError(f"{function} has neither a comment nor a form for programs")
            comment = _kernel_form_of(function, *forms[key], differs or "")
        context = contexts.get(function, contexts["all others"])
        return comment.replace(" * Return:", f" * Context: {context}\n *\n * Return:") + declaration

    lines = r"(?: \*(?!/).*\n)+"
    return user + KERNEL + re.sub(rf"^(?:(/\*\*\n{lines} \*/\n)|/\*\n(?= \* \w+\(\) is )({lines}) \*/\n)?(\w[\w *]*\b(gni_\w+)\()", complete, kernel,
                                  flags=re.M)


def _entries(comment, start):
    """What a comment says of each argument or code, by name, with all its lines."""
    return {found[1]: found[0] for found in re.finditer(rf"^ \* {start}.*\n(?: \*  .*\n)*", comment, re.M)}


def _kernel_form_of(function, name, of_program, differs):
    """The comment of a kernel form: that of the function for programs, but for what is said of the form itself.

    of_program, differs: lines of comments
    """
    if differs and not re.match(rf" \* {function}\(\) is as {name}\(\)(?:\.|, but:)\n", differs):
        raise ApiError(f"the comment of {function} does not begin with '{function}() is as {name}(), but:'")
    arguments, codes = r"@(\w+):", r"\* %(\w+) -"
    said = {**_entries(of_program, arguments), **_entries(differs, arguments)}
    returned = {**_entries(of_program, codes), **_entries(differs, codes)}
    for one in re.findall(r"[@%](\w+)", "".join(re.findall(r"^ \* Without (.*)$", differs, re.M))):
        if not (said.pop(one, None) or returned.pop(one, None)):
            raise ApiError(f"the comment of {function} leaves out {one}, which {name} does not have")
    prose = differs.partition("\n *\n")[2]
    parts = ["".join(said.values()), *([prose] if prose else []), f" * Return:\n{''.join(returned.values())}"]
    return f"/**\n * {function}() - kernel form of {name}()\n" + " *\n".join(parts) + " */\n"


def kernel_doc(form, path):
    """What kernel-doc makes of a header; a warning is an error."""
    if not KERNEL_DOC.exists():
        raise ApiError("the kernel's kernel-doc is missing: run 'make linux-source'")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        copy.write_text(text_of(path), encoding="utf-8")
        return _kernel_doc(form, copy)


def _kernel_doc(form, path):
    made = subprocess.run([KERNEL_DOC, "-Werror", form, path], capture_output=True, text=True, check=False)
    if made.returncode:
        raise ApiError(f"{path.name}: {made.stderr.strip().splitlines()[0] if made.stderr else 'kernel-doc failed'}")
    return made.stdout


def pages():
    """Pages of the headers that programs and modules include: gni_pub.h and krca_lib.h."""
    found = []
    for path in PLACES:
        declarations = text_of(path)
        kernel = declarations.split(KERNEL, 1)[1] if path == GNI else declarations
        pieces = PAGE.split(kernel_doc("-man", path))[1:]
        for _, title, body in zip(*[iter(pieces)] * 3):
            found.append(_page(title, body, declarations, kernel, path))
    purposes = {page.name: page.purpose for page in found}
    return [page._replace(purpose=_kernel_form(page.purpose, purposes)) for page in found]


def _kernel_form(purpose, purposes):
    """What a function of the kernel does, as search results show it."""
    form = re.fullmatch(r"kernel form of (?:\\fB)?(\w+)(?:\\fP)?(?:\(\))?", purpose)
    return f"{purposes[form[1]]}; {purpose}" if form and form[1] in purposes else purpose


def _page(title, body, declarations, kernel, path):
    """One page from what kernel-doc writes for it."""
    parts = collections.OrderedDict()
    for piece in re.split(r"^\.SH ", body, flags=re.M)[1:]:
        head, _, rest = piece.partition("\n")
        parts[head.strip('"')] = rest.strip("\n")
    purpose = parts.pop("NAME").partition(" \\- ")[2]
    parts.pop("SYNOPSIS")
    named = TYPE.fullmatch(title)
    name = named[1] if named else title
    section = "9" if path != GNI or not named and re.search(rf"^\w[\w *]*\b{name}\(", kernel, re.M) else "3"
    return Page(name, section, purpose, _declaration(title, declarations), parts, path)


def _declaration(title, declarations):
    """The source of a declaration."""
    named = TYPE.fullmatch(title)
    if named:
        found = re.search(rf"^(?:typedef )?{title} \{{.*?^\}}[^\n]*;", declarations, re.M | re.S)
    else:
        found = re.search(rf"^\w[\w *]*\b{re.escape(title)}\([^;{{]*\)\s*;", declarations, re.M)
    if not found:
        raise ApiError(f"no declaration of {title}")
    return found[0]


def alias(page):
    """Name of the type that a structure or an enumeration is used by, if it is another one."""
    found = re.search(r"\} (\w+);$", page.synopsis)
    return found[1] if found and found[1] != page.name else ""


def manual(page, known):
    """A page in roff; known: section by name of all pages."""
    lines = [f'.TH "{page.name}" "{page.section}" "" "OpenGNI {version()}" "{"Kernel interfaces" if page.section == "9" else "Library functions"}"',
             ".SH NAME", f"{page.name} \\- {_words(page.purpose)}", ".SH SYNOPSIS", ".nf", f"#include {PLACES[page.header]}", ".PP",
             *[line.replace("\\", "\\\\").replace("-", "\\-").expandtabs(4) for line in page.synopsis.split("\n")], ".fi"]
    for title, text in page.parts.items():
        title = {"ARGUMENTS": "PARAMETERS", "RETURN": "RETURN VALUE", "Constants": "CONSTANTS", "Members": "MEMBERS"}.get(title, title.upper())
        lines += [f'.SH "{title}"', *_body(text)]
    lines += [".SH SEE ALSO", ", ".join(f"\\fB{name}\\fP({known[name]})" for name in _related(page, known)) + ", \\fBopengni\\fP(7)"]
    return "\n".join(lines) + "\n"


def _words(text):
    return text.replace("\\fB", "\0").replace("\\fP", "\1").replace("-", "\\-").replace("\\\\-", "\\-").replace("\0", "\\fB").replace("\1", "\\fP")


def _body(text):
    """Paragraphs; '* CODE - when' becomes a tagged one."""
    lines = []
    for line in text.split("\n"):
        found = re.match(r"\* (\S+) - (.*)", line)
        if found:
            lines += [".TP", f".B {found[1]}", found[2]]
        elif re.match(r'\.IP "(.*)" 12', line):
            lines += [".TP", re.sub(r'\.IP "(.*)" 12', r".I \1", line)]
        elif line.strip() or (lines and lines[-1].strip()):
            lines.append(line if line.startswith(".") else line.strip() or ".PP")
    while lines and lines[-1] == ".PP":
        lines.pop()
    return [line for number, line in enumerate(lines) if number or line != ".PP"]


def _related(page, known):
    """Pages that a page names, of the types that it takes, and of functions of its family."""
    text = page.synopsis + " " + " ".join(page.parts.values()) + " " + page.purpose
    found = []
    for word in re.findall(r"\w+", text):
        base = word if word in known else word.removesuffix("_t")
        if base in known and base != page.name and base not in found and base != "gni_return":
            found.append(base)
    if "gni_return_t" in page.synopsis.split("(")[0] and "gni_return" in known:
        found.append("gni_return")
    family = re.match(r"GNI_[A-Z][a-z]+|[a-z]+_[a-z]+", page.name)
    if family and not page.synopsis.startswith("typedef"):
        found += [name for name, section in known.items()
                  if section == page.section and name.startswith(family[0]) and name != page.name and name not in found]
    return found[:MOST_RELATED]


def write_manuals(folder):
    """Writes man3 and man9 below a folder; the number of pages."""
    made = pages()
    known = {page.name: page.section for page in made}
    for page in made:
        place = folder / f"man{page.section}"
        place.mkdir(parents=True, exist_ok=True)
        write_text(place / f"{page.name}.{page.section}", manual(page, known))
        if alias(page):
            write_text(place / f"{alias(page)}.{page.section}", f".so man{page.section}/{page.name}.{page.section}\n")
    return len(made)


def restructured(key):
    """A page of HTML."""
    title, what, path = HEADERS[key]
    return f"{title}\n{'=' * len(title)}\n\n{what}\n\n{_distinct(kernel_doc('-rst', path))}"


def _distinct(text):
    """A function with the name of a structure gets a name space: Sphinx has one for both."""
    types = set(re.findall(r"^\.\. c:struct:: (\w+)$", text, re.M))
    items = re.split(r"(?=^\.\. c:)", text, flags=re.M)
    for number, item in enumerate(items):
        found = re.match(r"\.\. c:function:: [^(]*?(\w+) ?\(", item)
        if found and found[1] in types:
            items[number] = f".. c:namespace-push:: function\n\n{item}\n.. c:namespace-pop::\n\n"
    return "".join(items)
