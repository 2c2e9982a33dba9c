# SPDX-License-Identifier: GPL-2.0-or-later
"""Completions of bash for the tools, from what their --help says; they go to share/bash-completion/completions."""

import re

from opengni.writing import write_text

from . import usage

VALUE = re.compile(r"(?:[ =\[]|^)(\{[^}]*\}|[A-Z][A-Za-z_=:.,x]*)")
SCRIPT = """# bash completion for {program}, generated from its --help

{function}()
{{
	local cur prev words cword split operation= options= index
	_init_completion -s || return
	for ((index = 1; index < cword; index++)); do
		case ${{words[index]}} in
		--) return ;;{operations}
		esac
	done
{values}	$split && return
	case $operation in
{options}
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$options" -- "$cur"))
		[[ ${{COMPREPLY-}} == *= ]] && compopt -o nospace
	elif [[ -z $operation ]]; then
		{first}
	else
		{other}
	fi
}} &&
	complete -F {function} {program}
"""


def words(known):
    """Options as they are offered: with = where --help writes it so."""
    offered = set()
    for entry in known.entries():
        for option in entry.options():
            offered.add(option + ("=" if re.search(rf"(?<![\w-]){option}=", entry.names) else ""))
    return " ".join(sorted(offered))


def value(entry):
    """How the value of an option is completed; None: it has none."""
    found = VALUE.search(re.sub(usage.OPTION, "", entry.names))
    if not found and " " not in entry.names.replace(", ", ""):
        return None
    kind = found[1] if found else ""
    if kind.startswith("{"):
        return f'COMPREPLY=($(compgen -W "{kind[1:-1].replace(",", " ")}" -- "$cur"))'
    if entry.nested:
        return f'COMPREPLY=($(compgen -W "{" ".join(one.names for one in entry.nested)}" -- "$cur"))'
    if kind == "NAME" and "of the cluster" in entry.text:
        return 'COMPREPLY=($(compgen -W "$("${words[0]}" list 2>/dev/null)" -- "$cur"))'
    if kind in ("FOLDER", "DIR"):
        return "_filedir -d"
    if kind in ("FILE", "PATH") or re.search(r"\b(file|path of|binary|image)\b", entry.text):
        return "_filedir"
    return ":"


def _values(by_operation):
    """The branches for values of options: those that are completed alike are together."""
    patterns = {}
    for operation, known in by_operation.items():
        for entry in known.entries():
            how = value(entry) if entry.options() else None
            if how:
                patterns.setdefault(how, []).extend(f"{operation},{option}" for option in entry.options())
    if not patterns:
        return ""
    branches = (f"\t{' | '.join(found)})\n\t\t{how}\n\t\treturn\n\t\t;;\n" for how, found in patterns.items())
    return f"\tcase $operation,$prev in\n{''.join(branches)}\tesac\n"


def _place(known):
    """How what is not an option is completed."""
    files = any(re.search(r"\bfile\b", entry.text) for entry in known.entries(title="Arguments"))
    return "_filedir" if files else ":"


def script(program):
    """The completion of a program."""
    known = usage.read(program)
    operations = [name for entry in known.entries(title="Operations") for name in re.findall(r"[\w-]+", entry.names)]
    by_operation = {"": known, **known.operations}
    for entry in known.entries(title="Operations"):
        for other in re.findall(r"[\w-]+", entry.names)[1:]:
            by_operation[other] = known.operations[entry.names.split()[0]]
        if "default operation" in entry.text:  # its options may come without it
            by_operation[""] = usage.Usage(sections=[*known.sections, *known.operations[entry.names.split()[0]].sections])
    branches = [f"{name or chr(39) * 2}) options='{words(operation)}' ;;" for name, operation in by_operation.items()]
    found = f'\n\t\t{" | ".join(operations)})\n\t\t\toperation=${{words[index]}}\n\t\t\tbreak\n\t\t\t;;' if operations else ""
    requests = [entry.names.split()[0] for entry in known.entries() if not entry.options() and entry.names[0].islower()]
    offered = operations or requests
    first = f'COMPREPLY=($(compgen -W "{" ".join(offered)}" -- "$cur"))' if offered else _place(known)
    if operations and _place(known) == "_filedir":
        first += "\n\t\t_filedir"
    others = {_place(operation) for operation in known.operations.values()}
    return SCRIPT.format(program=program, function=f"_opengni_{program.replace('-', '_')}", operations=found,
                         values=_values(by_operation), options="\n".join(f"\t{line}" for line in branches), first=first,
                         other="_filedir" if "_filedir" in others else ":")


def write(folder):
    """Writes all of them; how many."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for program in usage.PROGRAMS:
        write_text(folder / program, script(program))
    return len(usage.PROGRAMS)
