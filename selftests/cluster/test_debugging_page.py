# SPDX-License-Identifier: GPL-2.0-or-later
"""Documentation/debugging.md: its blocks of shell do what the page says they do."""

import os
import re
import socket
import subprocess
import tempfile
import unittest
from pathlib import Path

from gnitest.testing import image
from opengni import host

PAGE = host.TOP / "Documentation" / "debugging.md"
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.M | re.S)
TIME = 900.0
NAME = f"page-{os.getpid()}"


def blocks():
    """(lines of shell, what they print) of each block, in the order of the page."""
    found = []
    for kind, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "sh":
            found.append([text, ""])
        else:
            found[-1][1] = text
    return found


def pattern(line):
    """A line of the page as a regular expression."""
    return ".*".join(re.escape(part) for part in line.split("..."))


def here(text, port):
    """The same for a cluster beside others, and for what is built elsewhere or for another kernel."""
    text = re.sub(r"(scripts/cluster \w+\b)(?! --name| -n 1 --name)", rf"\1 --name {NAME}", text)
    text = text.replace("--name early", f"--name {NAME}-early").replace("run/early", f"run/{NAME}-early")
    text = text.replace("--qemu-arg -s ", f"--qemu-arg -gdb --qemu-arg tcp:127.0.0.1:{port} ").replace(":1234", f":{port}")
    kernel = os.environ.get("KERNEL", "6.1")
    text = text.replace("make -s selftests >/dev/null\n", "").replace(".build/kernel-6.1", f".build/kernel-{kernel}")
    return text.replace(".build/", f"{host.BUILD}/").replace(f"{host.BUILD}/initramfs-check-6.1.cpio", image("check"))


def free_port():
    """A port that nobody listens at."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Page(unittest.TestCase):
    def tearDown(self):
        for name in (NAME, f"{NAME}-early"):
            subprocess.run([host.TOP / "scripts/cluster", "down", "--name", name], capture_output=True, check=False, timeout=TIME)

    def test_blocks_do_what_is_said(self):
        port = free_port()
        with tempfile.TemporaryDirectory() as folder:
            for number, (commands, expected) in enumerate(blocks()):
                log = Path(folder) / "log"
                with open(log, "wb") as out:  # no pipe: a cluster in the background would keep it open
                    done = subprocess.run(["bash", "-euo", "pipefail", "-c", here(commands, port)], cwd=host.TOP, stdin=subprocess.DEVNULL,
                                          stdout=out, stderr=out, timeout=TIME, check=False)
                said = log.read_text(encoding="utf-8", errors="replace")
                about = f"block {number}:\n{commands}--- said:\n{said}"
                self.assertEqual(done.returncode, 0, about)
                at = 0
                for line in expected.splitlines():
                    found = re.compile(f"^{pattern(line)}$", re.M).search(said, at)
                    self.assertIsNotNone(found, f"no line '{line}' in its turn; {about}")
                    at = found.end()

    def test_there_is_something_to_do(self):
        self.assertGreater(len(blocks()), 8)
        self.assertGreater(sum(1 for _, expected in blocks() if expected), 6)
