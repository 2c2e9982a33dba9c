# SPDX-License-Identifier: GPL-2.0-or-later
"""Documentation/developing.md: from an edit to its result. What each loop takes is printed and kept in .build/check/loops.log; no test says
how long it may be, since that depends on the machine and what else it does.

An edit is a new time stamp: the compiler does the same, without ccache, and the sources stay what they are."""

import os
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from gnitest import pages
from gnitest.testing import Apart, ClusterCase, slow_tests, together
from opengni import host
from shown import Step, StepCase, unseen

PAGE = pages.text("Documentation/developing.md")
STEPS = {
    "make check-image": Step(r"(?m)^\[\d+/\d+\] guest file system with tests"),
    "scripts/cluster up -n 2 --initrd .build/initramfs-check-6.1.cpio": Step(r"node 1 up after .* s, Linux"),
    "scripts/cluster insmod": Step(r"nothing that is loaded has changed"),
    "scripts/cluster insmod --test aries/abi": Step(r"(?m)^# Totals: pass:2 fail:0"),
    "scripts/cluster insmod kgni check_handles=1": Step(r"nodes 0,1: loaded kgni check_handles=1\n"),
    "scripts/cluster insmod --node 1 ipogif": Step(r"node 1: loaded krca, ipogif\n"),
    "scripts/cluster push": Step(r"nodes 0,1: \d+ files of .*stage copied to /"),
    "scripts/cluster exec -- gni-perf -t fma-put -s 8": Step(r"node 0: fma-put"),
    "scripts/cluster push selftests:/opt/selftests": Step(r"nodes 0,1: \d\d+ files of .*selftests copied to /opt/selftests"),
    "scripts/cluster down": unseen(r"^$"),
    "make share": Step(r"9p for the guest kernel"),
    "scripts/cluster up -n 2 --share .build/stage:/stage:ro --share userlib": Step(r"node 1 up after .* s, Linux"),
    "scripts/cluster exec --env LD_LIBRARY_PATH=/stage/usr/lib -- /stage/usr/bin/gni-perf -t fma-put -s 8": Step(r"node 0: PASS"),
    r"""scripts/cluster exec -- sh -c 'ls $(mount | sed -n "s/^share1 on \([^ ]*\) .*/\1/p")/src/cq.cpp; touch /stage/x; true'""": unseen(
        r"(?s)(?=.*node 0: .*userlib/src/cq.cpp)(?=.*Read-only file system)"),
    "scripts/cluster down ": unseen(r"^$"),
    "scripts/unit model/cq": Step(r"(?m)^1/1 cq +OK"),
    "scripts/unit userlib": Step(r"(?m)^userlib/"),
    "make qemu && scripts/cluster run -n 2 -- gni-perf": Step(r"node 0: .*fma-put"),
    "make doc-page PAGE=kgni": Step(r"HTML: .*/kgni\.html"),
    "make doc-page PAGE=man/cluster.1": Step(r"HTML: .*/man/cluster\.1\.html"),
}
TOOL = host.TOP / "scripts/cluster"
PATIENCE = 900.0
CLIENT = """#include <linux/module.h>
#include <gni_pub.h>
static int answer;
module_param(answer, int, 0444);
static int __init start(void)
{
\tgni_cdm_handle_t cdm;

\tif (!answer) {
\t\tpr_info("myclient: no answer\\n");
\t\treturn -EINVAL;
\t}
\tif (gni_cdm_create(1, GNI_PTAG_LND, 0x1234, 0, &cdm) != GNI_RC_SUCCESS)
\t\treturn -ENODEV;
\tgni_cdm_destroy(cdm);
\tpr_info("myclient: %d\\n", answer);
\treturn 0;
}
module_init(start);
static void __exit stop(void)
{
}
module_exit(stop);
MODULE_LICENSE("GPL");
"""
LOG = host.BUILD / "check/loops.log"


def record(loop, seconds):
    """Print and keep how long a loop has taken."""
    line = f"{time.strftime('%Y-%m-%d %H:%M')} {loop}: {seconds:.1f} s (load {os.getloadavg()[0]:.1f})"
    print(line)
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with open(LOG, "a", encoding="utf-8") as log:
        log.write(line + "\n")


class Loop:
    """Mixed into a test case: commands that are timed."""

    def edit(self, name):
        """A source gets a new time stamp."""
        os.utime(host.TOP / name)

    def timed(self, loop, *commands):
        """Run commands one after the other and record what they take; output and errors of all."""
        environment = {**os.environ, "CCACHE_DISABLE": "1"}
        said = ""
        started = time.monotonic()
        for command in commands:
            done = subprocess.run([str(word) for word in command], cwd=host.TOP, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False, timeout=PATIENCE)
            said += done.stdout
            self.assertEqual(done.returncode, 0, said)
        record(loop, time.monotonic() - started)
        return said


@unittest.skipUnless(slow_tests(), "OPENGNI_SLOW is not set")
@together(Apart.MEMORY)
class OnNodes(Loop, ClusterCase):
    """Loops that need nodes that are up."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.serve()

    def tool(self, operation, *words):
        """A command of scripts/cluster for this cluster."""
        return TOOL, operation, "--name", self.cluster.config.name, *words

    def test_a_module_of_the_kernel(self):
        self.succeed(self.cluster.run(0, "modprobe ipogif queues=2"))
        self.timed("insmod, nothing to do", self.tool("insmod"))
        self.edit("kgni/kgni_errno.c")
        said = self.timed("an edit of kGNI, to a test of the driver", self.tool("insmod", "kgni", "--test", "aries/abi"))
        self.assertRegex(said, r"node 0: loaded kgni \S+, ipogif .*queues=2")
        self.assertRegex(said, r"(?m)^# Totals: pass:2 fail:0")
        self.succeed(self.cluster.run(0, "rmmod ipogif krca"))

    def test_a_client_of_ones_own(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "Kbuild").write_text("ccflags-y += $(GNICPPFLAGS)\nobj-m := myclient.o\n", encoding="ascii")
            (Path(folder) / "myclient.c").write_text(CLIENT, encoding="ascii")
            said = self.timed("a client of one's own, from nothing", self.tool("insmod", "--node", "1", f"{folder}/", "answer=42"))
            self.assertIn("node 1: loaded kgni, myclient answer=42", said)
            self.assertIn("myclient: 42", self.cluster.run(1, "dmesg").stdout)
            refused = subprocess.run([*map(str, self.tool("insmod", "--no-build", f"{folder}/myclient.ko", "answer=0"))], capture_output=True, text=True,
                                     check=False, timeout=PATIENCE)
            self.assertEqual(refused.returncode, 1)
            self.assertRegex(refused.stderr, r"(?s)node \d: myclient does not load: .*its kernel says:.*myclient: no answer")
            self.timed("brought back", self.tool("insmod", "--no-build", f"{folder}/myclient.ko", "answer=7"))
            for node in range(self.NODES):
                self.assertIn("myclient: 7", self.cluster.run(node, "dmesg").stdout)
                self.succeed(self.cluster.run(node, "rmmod myclient && rmmod kgni"))

    def test_libugni_in_a_job(self):
        self.timed("push, the first time", self.tool("push"))
        self.edit("userlib/src/cq.cpp")
        for node in range(self.NODES):  # as before an edit: the text of the library is another
            self.succeed(self.cluster.run(node, "for lib in /usr/lib/libugni.so.0.*; do echo >$lib; done"))
        said = self.timed("an edit of libugni, to a job of two nodes", ("env", "FORCE=1", *self.tool("push")),
                          self.tool("exec", "--", "gni-perf", "-t", "fma-put", "-s", "8"))
        self.assertRegex(said, r"nodes 0,1: [1-9]\d? files? of")
        self.assertRegex(said, "node 0: PASS")


@unittest.skipUnless(slow_tests(), "OPENGNI_SLOW is not set")
class Here(Loop, unittest.TestCase):
    """Loops that need no node."""

    def test_a_unit_of_the_model(self):
        self.timed("a unit of the model, the first time", ("scripts/unit", "model/cq"))
        self.edit("qemu-device/model/nic/tables/cq.cpp")
        said = self.timed("an edit of a unit of the model, to its test", ("scripts/unit", "model/cq"))
        self.assertIn("nic_cq.cpp.o", said)
        self.assertRegex(said, r"(?m)^1/1 cq +OK")

    def test_the_model_in_a_job(self):
        self.edit("qemu-device/model/nic/tables/cq.cpp")
        # without an edit of its text a step is up to date: FORCE has it done
        said = self.timed("an edit of the model, to a job in QEMU", ("env", "FORCE=1", "make", "model"), ("env", "FORCE=1", host.TOP / "scripts/build-qemu.sh"),
                          (TOOL, "run", "-n", "2", "--", "gni-perf", "-t", "fma-put", "-s", "8"))
        self.assertIn("fma-put", said)

    def test_a_page(self):
        self.timed("pages, the first time", ("make", "doc-page", "PAGE=kgni"))
        staged = host.BUILD / "doc/source/kgni.md"
        staged.write_text("# Another text\n", encoding="utf-8")  # as it was before the edit
        self.timed("an edit of a page, to HTML", ("make", "doc-page", "PAGE=kgni"))


class Page(StepCase):
    """The commands of the page."""

    def test_every_command_is_known(self):
        self.assertEqual(pages.commands(PAGE), [command for command, step in STEPS.items() if step.shown])

    @unittest.skipUnless(slow_tests(), "OPENGNI_SLOW is not set")
    def test_they_do_what_is_said(self):
        self.run_steps(self.place("developing"), STEPS)
