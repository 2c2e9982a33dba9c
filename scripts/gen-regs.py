#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Turns driver/include/aries_regs.toml into aries_regs.h, aries_regs_table.h and registers.md.

usage: gen-regs.py TABLE OUTDIR
"""

import pathlib
import sys
import tomllib

ACCESS = ("RO", "RW", "WO", "W1C")
HEAD = "/* Generated from driver/include/aries_regs.toml; do not edit. */\n"


def fail(text):
    sys.exit(f"gen-regs: {text}")


def load(path):
    """Reads and checks the table; returns (table, registers)."""
    with open(path, "rb") as f:
        table = tomllib.load(f)
    regs, names, spans = [], set(), []
    for block in table["block"]:
        for reg in block["reg"]:
            reg["block"] = block["name"]
            name, width = reg["name"], reg["width"]
            reg.setdefault("count", 1)
            reg.setdefault("stride", width // 8)
            reg.setdefault("reset", 0)
            reg.setdefault("fields", {})
            if not name.startswith(block["name"] + "_"):
                fail(f"{name}: not named after its block {block['name']}")
            if name in names:
                fail(f"{name}: defined twice")
            if reg["access"] not in ACCESS or width not in (32, 64):
                fail(f"{name}: bad access or width")
            if reg["offset"] % (width // 8) or reg["stride"] % (width // 8):
                fail(f"{name}: misaligned")
            mask = 0
            for field, (lsb, bits, _) in reg["fields"].items():
                fmask = ((1 << bits) - 1) << lsb
                if mask & fmask or lsb + bits > width:
                    fail(f"{name}.{field}: overlaps or does not fit")
                mask |= fmask
            if not reg["fields"]:
                if reg["access"] not in ("RO",):
                    fail(f"{name}: a register that can be written needs fields")
                mask = (1 << width) - 1
            reg["mask"] = mask
            names.add(name)
            for i in range(reg["count"]):
                spans.append((reg["offset"] + i * reg["stride"], width // 8, name))
            regs.append(reg)
    spans.sort()
    for (a, size, one), (b, _, two) in zip(spans, spans[1:]):
        if a + size > b:
            fail(f"{one} and {two} overlap at {b:#x}")
    if spans[-1][0] >= table["bars"]["BAR_REGS"][1]:
        fail("a register lies outside of its BAR")
    return table, regs


def header(table, regs):
    dev, out = table["device"], [HEAD, "#ifndef ARIES_REGS_H\n#define ARIES_REGS_H\n"]
    for key in ("vendor", "device", "revision", "class"):
        out.append(f"#define ARIES_PCI_{key.upper()} {dev[key]:#06x}")
    out.append(f"#define ARIES_ID_MAGIC_VALUE {dev['magic']:#010x}u")
    out.append(f"#define ARIES_ID_VERSION_VALUE {dev['version']:#010x}u\n")
    for name, (value, text) in table["limits"].items():
        out.append(f"#define ARIES_{name} {value}u /* {text} */")
    out.append("")
    for name, (bar, size, text) in table["bars"].items():
        out.append(f"#define ARIES_{name} {bar}u /* {text} */")
        out.append(f"#define ARIES_{name}_SIZE {size:#x}u")
    for block in table["block"]:
        out.append(f"\n/* {block['name']}: {block['text']} */")
        for reg in block["reg"]:
            name = f"ARIES_{reg['name']}"
            out.append(f"#define {name} {reg['offset']:#x}u /* {reg['access']}{reg['width']}: {reg['text']} */")
            if reg["count"] > 1:
                out.append(f"#define {name}_COUNT {reg['count']}u")
                out.append(f"#define {name}_STRIDE {reg['stride']}u")
                out.append(f"#define {name}_N(n) ({reg['offset']:#x}u + (n) * {reg['stride']}u)")
            suffix = "ull" if reg["width"] == 64 else "u"
            for field, (lsb, bits, _) in reg["fields"].items():
                out.append(f"#define {name}_{field}_MASK {((1 << bits) - 1) << lsb:#x}{suffix}")
    out.append("\n#endif /* ARIES_REGS_H */\n")
    return "\n".join(out)


def rows(regs):
    out = [HEAD, "/* X(name, offset, width, access, count, stride, reset, mask, dump, text) */",
           "#define ARIES_REGISTERS(X) \\"]
    body = []
    for reg in regs:
        text = reg["text"].replace("\\", "\\\\").replace('"', '\\"')
        dump = 1 if reg.get("dump", True) and reg["access"] != "WO" else 0
        body.append(f"\tX({reg['name']}, {reg['offset']:#x}u, {reg['width']}, {reg['access']}, {reg['count']}u, "
                    f"{reg['stride']}u, {reg['reset']:#x}ull, {reg['mask']:#x}ull, {dump}, \"{text}\")")
    out.append(" \\\n".join(body))
    out.append("\n/* X(register, field, lsb, bits, text) */\n#define ARIES_REGISTER_FIELDS(X) \\")
    body = []
    for reg in regs:
        for field, (lsb, bits, text) in reg["fields"].items():
            text = text.replace('"', '\\"')
            body.append(f"\tX({reg['name']}, {field}, {lsb}, {bits}, \"{text}\")")
    out.append(" \\\n".join(body) + "\n")
    return "\n".join(out)


def chapter(table, regs):
    out = ["<!-- Generated from driver/include/aries_regs.toml; do not edit. -->\n\n# Registers"]
    for block in table["block"]:
        out.append(f"\n## {block['name']}\n\n{block['text']}\n")
        out.append("| offset | register | width | access | meaning |\n|---|---|---|---|---|")
        for reg in block["reg"]:
            where = f"{reg['offset']:#07x}"
            name = reg["name"]
            if reg["count"] > 1:
                where += f" + {reg['stride']}n"
                name += f"[{reg['count']}]"
            out.append(f"| {where} | {name} | {reg['width']} | {reg['access']} | {reg['text']} |")
            for field, (lsb, bits, text) in reg["fields"].items():
                span = f"{lsb + bits - 1}:{lsb}" if bits > 1 else f"{lsb}"
                out.append(f"| | .{field} [{span}] | {bits} | | {text} |")
    return "\n".join(out) + "\n"


def main():
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__.strip())
        return
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        print("gen-regs.py: TABLE and OUTDIR are needed; see gen-regs.py --help", file=sys.stderr)
        sys.exit(2)
    table, regs = load(sys.argv[1])
    outdir = pathlib.Path(sys.argv[2])
    outdir.mkdir(parents=True, exist_ok=True)
    for name, text in (("aries_regs.h", header(table, regs)), ("aries_regs_table.h", rows(regs)),
                       ("registers.md", chapter(table, regs))):
        path = outdir / name
        if not path.exists() or path.read_text() != text:
            try:
                path.write_text(text)
            except OSError as error:
                sys.exit(f"gen-regs.py: {path}: {error.strerror}")


if __name__ == "__main__":
    main()
