# SPDX-License-Identifier: GPL-2.0-or-later
"""Completion of bash for make in this tree: variables, and what ARGS= may hold for each target; all else is left to make's own."""

import os
import re
import subprocess
from pathlib import Path

from opengni import host
from opengni.writing import write_text

from . import completion, usage

SYSTEM = "/usr/share/bash-completion/completions/make"
MARK = "# bash completion for make in the tree of OpenGNI"
SCRIPT = MARK + """, made by 'make completion'; elsewhere it is make's own

[ ! -r {system} ] || . {system}

_opengni_make()
{{
    local cur prev words cword place=. word list= value last
    _init_completion -n = || return
    for ((word = 1; word < cword; word++)); do
        case ${{words[word]}} in
        -C) place=${{words[word + 1]}} ;;
        esac
    done
    if [ ! -e "$place/driver/include/aries_regs.toml" ]; then
        declare -F _make >/dev/null && _make "$@"
        return
    fi
    case $cur in
    ARGS=*)
        for word in "${{words[@]:1}}"; do
            case $word in
{goals}
            esac
        done
        ;;
{values}
    [A-Z]*)
        COMPREPLY=($(compgen -W "{variables}" -- "$cur"))
        compopt -o nospace
        return
        ;;
    *)
        declare -F _make >/dev/null && _make "$@"
        return
        ;;
    esac
    # Several words stand between quotes: the last of them is completed.
    value=${{cur#*=}}
    value=${{value#[\\"\\']}}
    last=${{value##* }}
    mapfile -t COMPREPLY < <(compgen -P "${{value%"$last"}}" -W "$list" -- "$last")
    [[ ${{COMPREPLY-}} == *= ]] && compopt -o nospace
}} &&
    complete -F _opengni_make make
"""


def _said(*command):
    """What a script of ours prints."""
    environment = {**os.environ, "COLUMNS": usage.WIDE, "LC_ALL": "C.UTF-8"}
    environment.pop("MAKEFLAGS", None)
    try:
        return subprocess.run(command, capture_output=True, check=True, text=True, timeout=60, env=environment, stdin=subprocess.DEVNULL).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise usage.UsageError(f"{' '.join(map(str, command))}: {error}") from None


def _options(script):
    return completion.words(usage.parse(_said(usage.SCRIPTS / script, "--help")))


def _figures():
    """Names of figures: each stands before a colon in what --help says of NAME."""
    entries = usage.parse(_said(usage.SCRIPTS / "figures.py", "--help")).entries(title="Arguments")
    return " ".join(re.findall(r"(?:^|; )([\w-]+):", next(entry.text for entry in entries if entry.names == "NAME")))


def _parts():
    """Parts of interop, from the head of its script."""
    found = re.search(r"run\.sh \[PART\]\.\.\. +([\w, ]+) \(", _said(usage.SCRIPTS / "interop" / "run.sh", "--help"))
    if not found:
        raise usage.UsageError("interop/run.sh --help names no parts")
    return found.group(1).replace(",", "") + " lustre"


def _guest_tests():
    """Names of the tests of the driver and of kGNI, as check-debug takes them."""
    listed = host.BUILD / "kselftest" / "kselftest-list.txt"
    names = listed.read_text(encoding="ascii").split() if listed.exists() else []
    return " ".join(name for name in names if name.startswith(("aries:", "kgni:")))


def arguments():
    """What ARGS may hold, by target."""
    layers = " ".join(_said(usage.SCRIPTS / "check.py", "--list").split())
    return {"check|check-all": f"{layers} {_options('check.py')}", "run": completion.words(usage.read("gni-perf")),
            "chaos": _options("chaos"), "bench": _options("bench.py"), "figures": f"{_figures()} {_options('figures.py')}",
            "interop": _parts(), "check-debug": _guest_tests()}


def variables():
    """Variables of the Makefile with what they may be: what 'make help' lists."""
    found = re.search(r"^Variables: (.*)$", _said("make", "-s", "-C", host.TOP, "help"), re.M)
    if not found:
        raise usage.UsageError("make help lists no variables")
    return dict(word.split("=", 1) for word in found.group(1).split())


def script():
    """The whole of it."""
    known = variables()
    goals = "\n".join(f"            {goal}) list='{words}' ;;" for goal, words in arguments().items())
    values = [f"    {name}=*) list='{text.replace('|', ' ')}' ;;" for name, text in known.items() if "|" in text]
    folders = "|".join(f"{name}=*" for name, text in known.items() if text == "DIR")
    values.append(f"    {folders})\n        cur=${{cur#*=}}\n        _filedir -d\n        return\n        ;;")
    return SCRIPT.format(system=SYSTEM, goals=goals, values="\n".join(values), variables=" ".join(f"{name}=" for name in known))


def place():
    """Where bash looks for a user's own completion of make."""
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    return Path(os.environ.get("BASH_COMPLETION_USER_DIR") or Path(data) / "bash-completion") / "completions" / "make"


def install():
    """Writes it to its place; the path. UsageError where somebody else's is."""
    path = place()
    if path.exists() and not path.read_text(encoding="utf-8", errors="replace").startswith(MARK):
        raise usage.UsageError(f"{path} is there and not ours: remove it first")
    text = script()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    except OSError as error:
        raise usage.UsageError(f"{path}: {error.strerror}: BASH_COMPLETION_USER_DIR names another place") from None
    return path
