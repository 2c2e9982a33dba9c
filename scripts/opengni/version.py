# SPDX-License-Identifier: GPL-2.0-or-later
"""The project's version, as scripts/version.sh prints it."""

import functools
import subprocess
from pathlib import Path


@functools.lru_cache(maxsize=None)
def version():
    """Such as '1.2.3'; 'unknown' where the sources are not."""
    script = Path(__file__).resolve().parent.parent / "version.sh"
    try:
        return subprocess.run([script], capture_output=True, check=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
