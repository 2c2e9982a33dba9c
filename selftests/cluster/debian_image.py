# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests of nodes that boot Debian 12 from a disk: the image, brought up to date."""

import os
import subprocess
import unittest

from opengni import host

KERNEL = os.environ.get("KERNEL", "6.1")
IMAGE = host.BUILD / f"debian-12-{KERNEL}.qcow2"


def make_image():
    """Bring it up to date; SkipTest where nobody may make a root file system."""
    if os.getuid() and subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "true"], check=False, capture_output=True).returncode:
        raise unittest.SkipTest("to make the image takes root or user namespaces")
    result = subprocess.run(["make", "-C", host.TOP, "--no-print-directory", "debian-image"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode:
        raise AssertionError(result.stdout)
