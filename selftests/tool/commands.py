# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests that run other programs."""

import subprocess


def run(*command, **options):
    """(exit status, output and errors) of a command without input."""
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    return result.returncode, result.stdout
