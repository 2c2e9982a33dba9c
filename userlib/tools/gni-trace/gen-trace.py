#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The OpenGNI authors
"""What gni-trace knows of the interface, out of its header.

usage: gen-trace.py gni_pub.h libugni.map FOLDER

Writes into FOLDER gni_trace_table.h, the functions, and gni_trace_calls.cpp, one wrapper for each and the names of
enumerators and flags. A function that the library exports and the header's reading does not find, or the other way
round, is an error. Exit status: 0 written, 1 the header is not as expected.
"""

import re
import sys
from pathlib import Path

PROTOTYPE = re.compile(r"^((?:const )?\w+ ?\*?)\s*((?:GNI|gni)_\w+)\(([^;{}]*)\);", re.M)
COMMENT_BEFORE = re.compile(r"/\*\*(?:(?!\*/).)*\*/\s*$", re.S)
DIRECTION = re.compile(r"^ \* @(\w+): (in, out|out)\b", re.M)
ENUM = re.compile(r"typedef enum(?: \w+)? \{(.*?)\} (\w+);", re.S)
ENUMERATOR = re.compile(r"^\s*(GNI_\w+) = (0x[0-9A-Fa-f]+|\d+)", re.M)
DEFINE = re.compile(r"^#define (GNI_\w+) (0x[0-9A-Fa-f]+|\d+)\b", re.M)
STRUCT = re.compile(r"typedef struct \w+ \{(.*?)\n\} (\w+);", re.S)

# Sets of flags by the start of their names, and what is none of them.
FLAGS = {
    "CDM_MODE": (r"GNI_CDM_MODE_(?!.*MASK)", ()),
    "CQ": (r"GNI_CQ_(?:NOBLOCK|BLOCKING|EMULATED|PHYS_PAGES|UNMANAGED)$", ()),
    "CQMODE": (r"GNI_CQMODE_", ()),
    "DLVMODE": (r"GNI_DLVMODE_", ()),
    "RDMAMODE": (r"GNI_RDMAMODE_", ()),
    "MEM": (r"GNI_MEM_", ()),
    "ERRMASK": (r"GNI_ERRMASK_", ()),
    "CE_MODE": (r"GNI_CE_MODE_", ()),
    "CEMODE": (r"GNI_CEMODE_", ()),
    "BI_FLAG": (r"GNI_BI_FLAG_", ()),
    "MSGQ_MODE": (r"GNI_MSGQ_MODE_", ()),
}
# Which parameters and members hold flags: (function or structure, name).
FLAGGED = {
    ("GNI_CdmCreate", "modes"): "CDM_MODE", ("GNI_CqCreate", "mode"): "CQ", ("GNI_MemRegister", "flags"): "MEM",
    ("GNI_MemRegisterSegments", "flags"): "MEM", ("GNI_SmsgSetDeliveryMode", "dlvr_mode"): "DLVMODE",
    ("GNI_SubscribeErrors", "mask"): "ERRMASK", ("GNI_SetErrorMask", "mask_in"): "ERRMASK",
    ("GNI_SetErrorMask", "mask_out"): "ERRMASK", ("GNI_GetErrorMask", "mask"): "ERRMASK",
    ("GNI_CeConfigure", "modes"): "CE_MODE", ("GNI_SetBIConfig", "modes"): "BI_FLAG",
    ("gni_post_descriptor_t", "cq_mode"): "CQMODE", ("gni_post_descriptor_t", "cq_mode_complete"): "CQMODE",
    ("gni_post_descriptor_t", "dlvr_mode"): "DLVMODE", ("gni_post_descriptor_t", "rdma_mode"): "RDMAMODE",
    ("gni_post_descriptor_t", "ce_mode"): "CEMODE", ("gni_msgq_attr_t", "modes"): "MSGQ_MODE",
    ("gni_bi_desc_t", "flags"): "BI_FLAG", ("gni_error_event_t", "error_category"): "ERRMASK",
}
# Structures with parts of their own: decoded in show.inc.
BY_HAND = {"gni_job_limits_t", "gni_ntt_descriptor_t", "gni_msgq_ep_attr_t"}
# Numbers that people read in hexadecimal, beside all of 64 bits but lengths and times.
HEX = re.compile(r"version|cookie|addr|event|entry$|data$|operand|value|hndl|qword|caps|control|result\d|inst_id|snd_id|remote_id$")
DECIMAL64 = re.compile(r"length|len$|timeout|used|limit|available|reserved|held|total|job_id|size|status|datagram_id|post_id|timestamp|red_id")
SCALARS = {"uint8_t", "uint16_t", "uint32_t", "uint64_t", "int32_t", "int", "unsigned int", "unsigned", "gni_cq_mode_t",
           "gni_cq_entry_t", "gni_error_mask_t"}


class Header:
    """The part of the header that user programs see."""

    def __init__(self, text):
        kernel = text.index("#else /* __KERNEL__ */")
        self.text = re.sub(r"^#ifdef __KERNEL__$.*?^#else /\* !__KERNEL__ \*/$", "", text[:kernel], flags=re.M | re.S)
        self.enums = {name: ENUMERATOR.findall(body) for body, name in ENUM.findall(self.text)}
        self.defines = DEFINE.findall(self.text)
        self.structs = {name: body for body, name in STRUCT.findall(self.text)}

    def functions(self):
        """(result, name, parameters, directions of those that are not in)."""
        for match in PROTOTYPE.finditer(self.text):
            comment = COMMENT_BEFORE.search(self.text, 0, match.start())
            directions = dict(DIRECTION.findall(comment.group())) if comment else {}
            yield match[1].strip(), match[2], self.parameters(match[3]), directions

    @staticmethod
    def parameters(text):
        """[(type, name)] of a list in parentheses."""
        text = " ".join(text.split())
        if text == "void":
            return []
        out = []
        for part in re.split(r",(?![^()]*\))", text):
            function = re.fullmatch(r"\s*(.*\(\*)(\w+)(\)\(.*\))", part)
            if function:
                out.append((f"{function[1]}{{}}{function[3]}", function[2]))
                continue
            match = re.fullmatch(r"(.*?[\s*])(\w+)", part.strip())
            if not match:
                raise SystemExit(f"gen-trace.py: no parameter: {part}")
            out.append((match[1].replace(" *", "*").strip(), match[2]))
        return out

    def plain_members(self, name):
        """[(type, name)] of a structure of scalars only, else nothing."""
        body = re.sub(r"/\*.*?\*/", "", self.structs[name], flags=re.S)
        lines = [line.strip() for line in body.splitlines() if line.strip()]
        members = []
        for line in lines:
            match = re.fullmatch(r"([\w ]+?)( \*)?\s*\*?(\w+)(\[\w+\])?;", line)
            if not match or "union" in line or (match[4] and match[1] not in ("char", "uint64_t")):
                return None
            members.append((match[1].strip() + ("*" if "*" in line else "") + ("[]" if match[4] else ""), match[3]))
        return members


class Writer:
    """Makes the source."""

    def __init__(self, header):
        self.header = header
        self.decoded = {name for name in header.structs if header.plain_members(name)}

    def shown(self, owner, kind, name, value):
        """Expression that appends a value to a text `t`."""
        if (owner, name) in FLAGGED:
            return f"show_flags(t, {value}, flags_{FLAGGED[owner, name]})"
        if kind == "char[]":
            return f"show_text(t, {value})"
        if kind == "uint64_t[]":
            return f"show_list(t, {value}, sizeof({value}) / sizeof({value}[0]))"
        if kind.endswith("*") or "(*" in kind:
            return f"show_pointer(t, reinterpret_cast<const void *>({value}))"
        if kind in self.header.enums:
            return f"show_enum(t, static_cast<uint64_t>({value}), enum_{kind})"
        if kind == "gni_mem_handle_t":
            return f"show_handle(t, {value})"
        if kind in SCALARS:
            wide = kind in ("uint64_t", "gni_cq_entry_t")
            if HEX.search(name) and not (wide and DECIMAL64.search(name)) or (wide and not DECIMAL64.search(name)):
                return f"show_hex(t, {value})"
            return f"show_number(t, {value})"
        if kind.endswith("_handle_t"):
            return f"show_pointer(t, {value})"
        return f"show_opaque(t, {value})"

    def pointed(self, owner, kind, name):
        """Expression that appends what a parameter points to; nothing when only its address is of use."""
        target = kind[:-1].strip()
        if target == "gni_post_descriptor_t":
            return f"show_post(t, *{name})"
        if target == "gni_post_descriptor_t*":
            return f"show_posted(t, *{name})"
        if target in BY_HAND:
            return f"show_{target}(t, *{name})"
        if target in self.decoded and target != "gni_mem_handle_t":
            return f"show_{target}(t, *{name})"
        if target == "void*":
            return f"show_pointer(t, *{name})"
        if target == "gni_mem_handle_t" or target in SCALARS or target in self.header.enums or target.endswith("_handle_t"):
            return self.shown(owner, target, name, f"*{name}")
        return None

    def tables(self):
        """Names of enumerators and flags."""
        for name, rows in self.header.enums.items():
            body = "".join(f'\t{{{value}, "{word}"}},\n' for word, value in rows)
            yield f"[[maybe_unused]] constexpr Name enum_{name}[] = {{\n{body}}};\n"
        for name, (pattern, _) in FLAGS.items():
            rows = [(word, int(value, 0)) for word, value in self.header.defines if re.match(pattern, word)]
            if not rows:
                raise SystemExit(f"gen-trace.py: no flags match {pattern}")
            # Whole combinations before their parts; of two names for one value the first.
            rows.sort(key=lambda row: -row[1].bit_count())
            body = "".join(f'\t{{{value:#x}, "{word}"}},\n' for word, value in rows)
            yield f"[[maybe_unused]] constexpr Name flags_{name}[] = {{\n{body}}};\n"

    def struct_functions(self):
        """One function for each structure of scalars."""
        for name in sorted(self.decoded - {"gni_mem_handle_t", "gni_post_descriptor_t"}):
            lines = [f"[[maybe_unused]] void show_{name}(Text &t, const {name} &s)\n{{\n\tt.add(\"{{\");\n"]
            for n, (kind, member) in enumerate(self.header.plain_members(name)):
                comma = ", " if n else ""
                lines.append(f'\tt.add("{comma}{member}=");\n\t{self.shown(name, kind, member, f"s.{member}")};\n')
            lines.append('\tt.add("}");\n}\n')
            yield "".join(lines)

    def wrapper(self, number, function):
        """The function that a program calls instead."""
        result, name, parameters, directions = function
        declared = ", ".join(kind.format(word) if "(*" in kind else f"{kind} {word}" for kind, word in parameters) or "void"
        passed = ", ".join(word for _, word in parameters)
        out = [f"\nTRACED {result} {name}({declared})\n{{\n\tstatic Real<decltype(&{name})> real;\n"]
        out.append(f'\tconst auto call = real.find("{name}");\n')
        out.append(f"\tCall trace({number}, __builtin_return_address(0));\n")
        out.append("\tif (trace.prints()) {\n")
        for n, (kind, word) in enumerate(parameters):
            out.append(f'\t\tText &t{n} = trace.argument({n}, "{word}");\n\t\t{{\n\t\t\tText &t = t{n};\n')
            pointed = self.pointed(name, kind, word) if kind.endswith("*") else None
            if kind.endswith("*") and pointed and directions.get(word) != "out":
                out.append(f"\t\t\tif ({word})\n\t\t\t\t{pointed};\n\t\t\telse\n\t\t\t\tt.add(\"NULL\");\n")
            elif kind.endswith("*"):
                out.append(f"\t\t\tshow_pointer(t, reinterpret_cast<const void *>({word}));\n")
            else:
                out.append(f"\t\t\t{self.shown(name, kind, word, word)};\n")
            out.append("\t\t}\n")
        out.append("\t}\n\ttrace.begin();\n")
        if result == "void":
            out.append(f"\tcall({passed});\n\ttrace.end();\n\ttrace.finish();\n}}\n")
            return "".join(out)
        out.append(f"\tconst auto returned = call({passed});\n\ttrace.end{'(returned)' if result == 'gni_return_t' else '()'};\n")
        outputs = [(n, kind, word) for n, (kind, word) in enumerate(parameters)
                   if kind.endswith("*") and "out" in directions.get(word, "") and self.pointed(name, kind, word)]
        if name == "GNI_CqErrorStr":
            outputs = [(1, "text", "buffer")]
        if outputs and result == "gni_return_t":
            # What comes with an event stands there with an event that tells of an error, too.
            out.append("\tif (trace.prints() && (returned == GNI_RC_SUCCESS || returned == GNI_RC_TRANSACTION_ERROR)) {\n")
            for n, kind, word in outputs:
                expression = f"show_text(t, static_cast<const char *>({word}))" if kind == "text" else self.pointed(name, kind, word)
                out.append(f"\t\tif ({word}) {{\n\t\t\tText &t = trace.again({n}, \"{word}\");\n\t\t\tt.add(\"[\");\n"
                           f"\t\t\t{expression};\n\t\t\tt.add(\"]\");\n\t\t}}\n")
            out.append("\t}\n")
        shown = {"gni_return_t": "show_enum(t, static_cast<uint64_t>(returned), enum_gni_return_t)", "uint64_t": "show_hex(t, returned)",
                 "unsigned": "show_hex(t, returned)", "const char *": "show_text(t, returned)"}[result]
        out.append(f"\tif (trace.prints()) {{\n\t\tText &t = trace.result();\n\t\t{shown};\n\t}}\n\ttrace.finish();\n\treturn returned;\n}}\n")
        return "".join(out)


def main():
    """Read, compare, write."""
    header_path, map_path, folder = sys.argv[1:]
    header = Header(Path(header_path).read_text(encoding="utf-8"))
    functions = list(header.functions())
    names = {name for _, name, _, _ in functions}
    exported = set(re.findall(r"^\t(\w+);", Path(map_path).read_text(encoding="utf-8"), re.M))
    data = set(re.findall(r"^extern const char \*(\w+)\[\];", header.text, re.M))
    if names != exported - data:
        raise SystemExit(f"gen-trace.py: header and library differ in {sorted(names ^ (exported - data))}")
    known = {(name, word) for _, name, parameters, _ in functions for _, word in parameters}
    known |= {(name, word) for name in header.structs for _, word in header.plain_members(name) or ()}
    if not known.issuperset(FLAGGED):
        raise SystemExit(f"gen-trace.py: nothing of the header is {sorted(set(FLAGGED) - known)}")
    writer = Writer(header)
    table = ["/* SPDX-License-Identifier: BSD-2-Clause */\n/* Made by gen-trace.py from gni_pub.h. */\n#ifndef GNI_TRACE_TABLE_H\n"
             "#define GNI_TRACE_TABLE_H\n\n#define GNI_TRACE_FUNCTIONS(F) \\\n"]
    table += [f"\tF({name}) \\\n" for _, name, _, _ in functions]
    table.append(f"\n#define GNI_TRACE_COUNT {len(functions)}\n\n#endif\n")
    Path(folder, "gni_trace_table.h").write_text("".join(table), encoding="utf-8")
    source = ["/* SPDX-License-Identifier: BSD-2-Clause */\n/* Made by gen-trace.py from gni_pub.h. */\n"
              "#include \"gni-trace/call.h\"\n\nusing namespace gnitrace;\n\nnamespace\n{\n\n"]
    source += [part + "\n" for part in writer.tables()]
    source.append('#include "gni-trace/show.inc"\n\n')
    source += [part + "\n" for part in writer.struct_functions()]
    source.append("} // namespace\n")
    source += [writer.wrapper(n, function) for n, function in enumerate(functions)]
    Path(folder, "gni_trace_calls.cpp").write_text("".join(source), encoding="utf-8")


if __name__ == "__main__":
    main()
