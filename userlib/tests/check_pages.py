#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
# Copyright (c) 2026 The OpenGNI authors
"""Check that no function of the data path lies across the end of a page, see UGNI_IN_ONE_PAGE.

usage: check_pages.py LIBRARY

Prints TAP. The library must have its symbols.
"""

import re
import subprocess
import sys

PAGE = 4096
DATA_PATH = ("GNI_PostFma", "GNI_PostRdma", "GNI_CqGetEvent", "GNI_GetCompleted", "GNI_SmsgSend", "GNI_SmsgSendWTag",
             "GNI_SmsgGetNext", "GNI_SmsgGetNextWTag", "GNI_SmsgRelease", "ugni::post_begin", "ugni::fma_atomic",
             "ugni::cq_deliver_special", "ugni::smsg_event", "post_any", "completed_any")


def functions(library):
    """(name without arguments, address, size) of all functions; parts that the compiler took for cold are left out."""
    out = subprocess.run(["nm", "--print-size", "--demangle", "--defined-only", library], check=True, capture_output=True,
                         text=True).stdout
    for line in out.splitlines():
        match = re.fullmatch(r"([0-9a-f]+) ([0-9a-f]+) [tT] (.*)", line)
        if match and "[clone .cold]" not in match[3]:
            yield match[3].split("(")[0].split("@")[0], int(match[1], 16), int(match[2], 16)


def main():
    """One case for each function of the data path."""
    found = list(functions(sys.argv[1]))
    print(f"1..{len(DATA_PATH)}")
    for number, name in enumerate(DATA_PATH, 1):
        places = [(address, size) for other, address, size in found if other == name]
        across = [f"0x{address:x}, {size} bytes" for address, size in places
                  if size == 0 or address // PAGE != (address + size - 1) // PAGE]
        if not places:
            print("# there is no such function")
        for text in across:
            print(f"# across the end of a page: {text}")
        print(f"{'ok' if places and not across else 'not ok'} {number} {name.replace('ugni::', '')}_in_one_page")


if __name__ == "__main__":
    main()
