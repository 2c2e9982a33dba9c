# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples: the commands of Documentation/tutorial.md print what it says, and each example notices wrong data."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from gnitest.testing import ClusterCase
from opengni import host

TUTORIAL = (host.TOP / "Documentation/tutorial.md").read_text(encoding="utf-8")
EXAMPLES = host.TOP / "userlib/examples"
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)
BOOT = "scripts/cluster up -n 4\n"

# What is changed in a source, and what the example then says.
WRONG = [
    ("first-put", "put.length = sizeof(line);", "put.length = sizeof(line) / 2;", "strcmp(memory, line)"),
    ("get-atomics", "place[0].address, 1, 0)", "place[0].address, 0, 0)", "a ticket drawn twice"),
    ("get-atomics", "GNI_FMA_ATOMIC_CSWAP", "GNI_FMA_ATOMIC_FADD", "a lock that has not one holder"),
    ("get-atomics", "offsetof(struct memory, mine)", "offsetof(struct memory, theirs)", "wrong bytes"),
    ("short-messages", "send_number(i, ", "send_number(i ^ 1, ", "a message out of order"),
    ("short-messages", "sum += number;", "sum = number;", "wrong sum"),
    ("datagram", "put.length = sizeof(line);", "put.length = sizeof(line) / 2;", "wrong bytes"),
    ("datagram", 'strcpy(mine.name, "client")', 'strcpy(mine.name, "someone")', "not the one that was expected"),
    ("collective", "(uint64_t)rank + 1), round)", "(uint64_t)rank), round)", "wrong sum"),
    ("blocking-queue", "GNI_EpSetEventData(ep, 1, 700)", "GNI_EpSetEventData(ep, 1, 701)", "the event of somebody else"),
    ("blocking-queue", "put.length = BLOCK;", "put.length = 4;", "wrong bytes"),
    ("threads", "(thread * PUTS + number) * BLOCK", "(thread * PUTS) * BLOCK", "wrong bytes"),
    ("pmi-job", '"memory of rank %d", rank)', '"memory of rank %d", rank + 1)', "wrong bytes"),
    ("shared-memory", "line, LINE / 8, DMAPP_QW, &id", "line, 1, DMAPP_QW, &id", "wrong bytes in the mailbox"),
    ("shared-memory", "(got, self, &job.data_seg, before", "(got, self, &job.data_seg, next", "wrong bytes from static data"),
]


class Examples(ClusterCase):
    SHARES = "four"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.serve()

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="opengni-examples-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def sh(self, text):
        """Commands of the page, for this cluster and this build; lines of both outputs."""
        name = self.cluster.config.name
        text = text.replace("scripts/cluster exec ", f"scripts/cluster exec --name {name} ").replace("$PWD/.build/", ".build/")
        text = text.replace(".build/my-put", str(self.folder / "my-put")).replace(".build/", f"{host.BUILD}/")
        result = subprocess.run(["bash", "-c", text], cwd=host.TOP, env={**os.environ, "OPENGNI_CLUSTER": name}, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        self.assertEqual(result.returncode, 0, result.stdout)
        return result.stdout.splitlines()

    def test_the_tutorial(self):
        sessions = 0
        known = ""
        for block in BLOCK.findall(TUTORIAL):
            if block.startswith("$ "):
                command, *printed = block[2:].splitlines()
                with self.subTest(command):
                    self.assertEqual(sorted(self.sh(known + command)), sorted(printed))
                sessions += 1
            else:
                # the class has booted so many nodes
                block = block.replace(BOOT, "")
                self.assertEqual(self.sh(known + block), [])
                known += "".join(line for line in block.splitlines(True) if re.match(r"(export )?\w+=", line))
        self.assertIn(BOOT, TUTORIAL)
        self.assertEqual(sessions, len(list(EXAMPLES.glob("*.c"))) + 2)

    def shape(self, name):
        """How many ranks the page takes for an example, and how many on a node."""
        ranks, per_node = re.search(rf"^\$ scripts/aprun -q -n (\d) -N (\d) \$E/{name}$", TUTORIAL, re.M).groups()
        return int(ranks), int(per_node)

    def compile(self, name, old, new):
        """The example with something changed, put on every node as /wrong."""
        source = (EXAMPLES / f"{name}.c").read_text(encoding="utf-8")
        self.assertEqual(source.count(old), 1, old)
        (self.folder / "wrong.c").write_text(source.replace(old, new), encoding="utf-8")
        flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", "cray-ugni", "cray-pmi", "cray-dmapp"], text=True, env={
            **os.environ, "PKG_CONFIG_SYSROOT_DIR": str(host.BUILD / "stage"), "PKG_CONFIG_PATH": str(host.BUILD / "stage/usr/lib/pkgconfig")}).split()
        subprocess.run(["cc", "-pthread", "-o", self.folder / "wrong", self.folder / "wrong.c", *flags], check=True)
        for node in range(self.NODES):
            self.succeed(self.cluster.run(node, "cat >/wrong && chmod +x /wrong", stdin=(self.folder / "wrong").read_bytes()))

    def test_wrong_data_is_noticed(self):
        for name, old, new, said in WRONG:
            with self.subTest(name, change=new):
                self.compile(name, old, new)
                ranks, per_node = self.shape(name)
                results = self.cluster.run_application(["/wrong"], ranks, per_node=per_node)
                self.assertIn(1, [result.code for result in results])
                self.assertIn(said, "".join(result.stderr for result in results if result.code == 1))
        self.assertEqual({name for name, *_ in WRONG}, {path.stem for path in EXAMPLES.glob("*.c")})
