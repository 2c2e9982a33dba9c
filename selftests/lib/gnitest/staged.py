# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs for nodes, compiled here against the headers and libraries that nodes have."""

import os
import subprocess
import tempfile
from pathlib import Path

from opengni import host


def compiled(source, package, *options):
    """The bytes of a program of one C99 source with what pkg-config says of a package; CalledProcessError if it does not compile."""
    stage = host.BUILD / "stage"
    flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", package], text=True, env={
        **os.environ, "PKG_CONFIG_SYSROOT_DIR": str(stage), "PKG_CONFIG_PATH": str(stage / "usr/lib/pkgconfig")}).split()
    with tempfile.TemporaryDirectory(prefix="opengni-staged-") as folder:
        program = Path(folder) / "program"
        subprocess.run(["cc", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", *options, "-o", program, source, *flags], check=True)
        return program.read_bytes()
