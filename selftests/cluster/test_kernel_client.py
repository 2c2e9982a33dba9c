# SPDX-License-Identifier: GPL-2.0-or-later
"""Documentation/kernel-client.md, done: its files written, its commands run, and what it says they print is printed."""

import re
import tempfile
from pathlib import Path

from opengni import host

from external import ExternalCase

DOCUMENT = host.TOP / "Documentation/kernel-client.md"
BLOCK = re.compile(r"(?:^`([\w.]+)`(, continued)?:\n\n)?^```(\w*)\n(.*?)^```$", re.M | re.S)
BOUND = 180.0


class KernelClient(ExternalCase):
    SHARES = "pair"

    def compile(self, folder, commands):
        """A block of commands on the machine that builds; what it exports holds for those that follow."""
        output = self.sh(f"{self.exports}{commands}", folder)
        self.assertNotIn("warning", output)
        self.exports += "".join(line for line in commands.splitlines(True) if line.startswith("export "))
        for node in range(self.NODES):
            self.succeed(self.cluster.run(node, "cat >/hello.ko", stdin=(folder / "hello.ko").read_bytes()))

    def in_guest(self, node, command, printed):
        """A command on a node. What it prints may take a moment to be true."""
        if command.endswith("&"):
            self.succeed(self.cluster.run(node, f"({command[:-1]} >/tmp/background 2>&1; echo $? >>/tmp/background) >/dev/null 2>&1 </dev/null &"))
        elif command == "wait":
            self.wait_for(lambda: self.cluster.run(node, "pidof insmod").code, f"node {node}: insmod does not end", BOUND)
            self.assertEqual(self.cluster.run(node, "cat /tmp/background").stdout, "0\n")
        elif printed:
            self.wait_for(lambda: printed in self.cluster.run(node, command).stdout, lambda: f"{command}: no {printed!r}\n{self.kernel_log(node)}", BOUND)
        else:
            self.succeed(self.cluster.run(node, command))

    def session(self, text):
        """Lines "nodeN# command", each with what it prints."""
        for node, command, printed in re.findall(r"^node(\d+)# (.*)\n((?:(?!node\d+# ).*\n)*)", text, re.M):
            self.in_guest(int(node), command, printed)

    def test_document(self):
        self.exports = ""
        folder = Path(tempfile.mkdtemp(dir=self.root))
        done = []
        for name, continued, kind, text in BLOCK.findall(DOCUMENT.read_text(encoding="utf-8")):
            if name:
                with open(folder / name, "a" if continued else "x", encoding="utf-8") as file:
                    file.write(text)
            elif kind == "sh":
                self.compile(folder, text)
            else:
                self.session(text)
            done.append(name or kind or "session")
        self.assertEqual((done.count("sh"), done.count("session")), (4, 4), done)
