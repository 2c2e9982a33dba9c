# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests of what `make install` and packages leave: pictures of folders, and what must work in them."""

import os
import re

from commands import run
from opengni import host

INSTALL = host.TOP / "scripts/install.sh"
KERNEL = os.environ.get("KERNEL", "6.1")
RELEASE = (host.BUILD / f"kernel-{KERNEL}/release").read_text(encoding="ascii").strip()
# Each says what it is for when asked, and nothing else.
COMMANDS = ("cluster", "aprun", "aries-topo", "aries-net", "aries-sim", "aries-info", "gni-perf", "gni-chaos", "gni-domain", "gni-isolation")
FILES = (*(f"bin/{name}" for name in COMMANDS), "bin/pmi-info", "bin/gni-kvs", "sbin/gni-agent", "lib/libugni.so.0", "lib/libpmi.so.0",
         "lib/libdmapp.so.0", "include/dmapp.h", "lib/pkgconfig/cray-dmapp.pc",
         "lib/librca.so.0", "include/rca_lib.h", "bin/rca-helper",
         "lib/libudreg.so.0", "lib/libalpslli.so.0", "lib/libalpsutil.so.0", "lib/libwlm_detect.so.0", "include/gni_pub.h", "include/pmi.h",
         "include/opengni/kernel/gni_pub.h", "include/opengni/uapi/kgni_abi.h", "lib/pkgconfig/cray-ugni.pc", "lib/pkgconfig/cray-gni.pc",
         "lib/wireshark/plugins/aries.lua", f"lib/opengni/{RELEASE}/Module.symvers", f"lib/opengni/images/vmlinuz-{KERNEL}",
         f"lib/opengni/images/initramfs-{KERNEL}.cpio", "libexec/opengni/qemu-system-x86_64", "libexec/opengni/examples/first-put",
         "share/doc/opengni/examples/first-put.c", "share/opengni/opengni/cli.py")
# The first put runs, with the library, and finds that it is no job of two.
REFUSED = "start it with aprun -n 2"


def picture(root):
    """Everything below a folder: kind, mode, contents or target."""
    found = {}
    for path in sorted(root.rglob("*")):
        if path.is_symlink():
            found[str(path.relative_to(root))] = ("link", os.readlink(path))
        else:
            found[str(path.relative_to(root))] = (oct(path.stat().st_mode), path.read_bytes() if path.is_file() else None)
    return found


def unstripped(folder):
    """Programs, libraries and modules that still have symbols nobody needs to run them."""
    found = []
    for path in folder.rglob("*"):
        if path.is_symlink() or not path.is_file() or path.read_bytes()[:4] != b"\x7fELF":
            continue
        sections = set(re.findall(r"\] (\.\S+)", run("readelf", "-SW", path)[1]))
        if ".debug_info" in sections or (path.suffix != ".ko" and ".symtab" in sections):
            found.append(path)
    return found
