# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests that run other programs."""

import importlib.util
import subprocess


def run(*command, **options):
    """(exit status, output and errors) of a command without input."""
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    return result.returncode, result.stdout


def script(path):
    """A script as a module, whose functions tests call."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
