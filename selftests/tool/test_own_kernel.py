# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel of one's own as guest (make run KDIR=FOLDER): what is taken from its tree, and what is refused.

The tree is made of Debian's headers and of the kernel that they belong to: it looks like one that has been built, and
modules can be built against it. With OPENGNI_SLOW=1 they are, and two nodes boot with it.
"""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from gnitest import pages
from gnitest.testing import slow_tests
from opengni import host

SCRIPT = host.TOP / "scripts" / "own-kernel.sh"
KERNEL = host.BUILD / "kernel-6.1"
MAKEFILE = """modules_install:
\tmkdir -p $(INSTALL_MOD_PATH)/lib/modules/{release}
\tcp -r {kernel}/lib/modules/{release}/kernel $(INSTALL_MOD_PATH)/lib/modules/{release}/
\tcp {kernel}/lib/modules/{release}/modules.builtin* $(INSTALL_MOD_PATH)/lib/modules/{release}/
ifneq ($(MAKECMDGOALS),modules_install)
include {headers}/Makefile
endif
"""
# Of Documentation/debugging.md, what follows when the kernel is built: what is added, what is typed, what it prints.
STEPS = {
    "make run KDIR=~/linux": (" ARGS='--tests=fma-put --iterations=5'", "", "PASS"),
    "make check KDIR=~/linux ARGS=guest": ("", "", r"(?m)^[1-9]\d* passed, 0 failed"),
    "KERNEL=own scripts/cluster up -n 2 && scripts/cluster gdb 0": ("", "info line aries_pci_probe\ndetach\nquit\n", r'Line \d+ of ".*aries_pci\.c"'),
}


def make_tree(tree):
    """A tree that looks as if its kernel had been built there."""
    release = (KERNEL / "release").read_text(encoding="ascii").strip()
    headers = Path(f"/usr/src/linux-headers-{release}")
    tree.mkdir()
    for path in headers.iterdir():
        if path.name not in ("Makefile", "arch"):
            (tree / path.name).symlink_to(path)
    (tree / "arch" / "x86" / "boot").mkdir(parents=True)
    for path in (headers / "arch" / "x86").iterdir():
        (tree / "arch" / "x86" / path.name).symlink_to(path)
    (tree / "arch" / "x86" / "boot" / "bzImage").symlink_to(KERNEL / "vmlinuz")
    (tree / "modules.order").write_text("", encoding="ascii")
    (tree / "Makefile").write_text(MAKEFILE.format(release=release, kernel=KERNEL, headers=headers), encoding="ascii")
    return release


class OwnKernel(unittest.TestCase):
    def setUp(self):
        if not (KERNEL / "vmlinuz").exists():
            self.skipTest("kernel 6.1 is not unpacked (make kernel)")
        self.folder = Path(tempfile.mkdtemp(prefix="opengni-own-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.tree = self.folder / "linux"
        self.build = self.folder / "build"

    def take(self, tree):
        """Exit status, output and complaint of the script."""
        made = subprocess.run([SCRIPT, tree], capture_output=True, text=True, check=False, timeout=300,
                              env={**os.environ, "OPENGNI_BUILD": str(self.build)})
        return made.returncode, made.stdout, made.stderr

    def refused(self, pattern):
        """One line."""
        status, text, complaint = self.take(self.tree)
        self.assertEqual((status, text), (1, ""))
        self.assertRegex(complaint, pattern)
        self.assertEqual(len(complaint.splitlines()), 1, complaint)
        self.assertFalse((self.build / "kernel-own").exists())

    def test_what_is_no_tree_is_refused(self):
        self.refused("there is no folder")
        self.tree.mkdir()
        self.refused("no kernel tree that has been built")

    def test_what_has_not_been_built_is_refused(self):
        for name in ("arch/x86/boot/bzImage", "Module.symvers", ".config"):
            with self.subTest(name):
                make_tree(self.tree)
                (self.tree / name).unlink()
                self.refused(rf"has no {name}: run 'make bzImage modules' there")
                shutil.rmtree(self.tree)

    def test_a_configuration_that_does_not_do_is_refused(self):
        make_tree(self.tree)
        text = (self.tree / ".config").read_text(encoding="ascii")
        (self.tree / ".config").unlink()
        (self.tree / ".config").write_text(text.replace("CONFIG_VIRTIO_CONSOLE=m\n", "").replace("CONFIG_DEVTMPFS=y\n", ""), encoding="ascii")
        self.refused("lacks CONFIG_DEVTMPFS CONFIG_VIRTIO_CONSOLE: add .*/driver/guest.config")

    def test_modules_that_cannot_be_installed_are_told(self):
        make_tree(self.tree)
        (self.tree / "Makefile").write_text("modules_install:\n\t@echo no room >&2; false\n", encoding="ascii")
        self.refused("modules of .* cannot be installed: .*")

    def test_it_is_taken_once(self):
        release = make_tree(self.tree)
        self.assertEqual(self.take(self.tree), (0, f"kernel {release} taken from {self.tree}\n", ""))
        own = self.build / "kernel-own"
        self.assertEqual((own / "release").read_text(encoding="ascii"), release + "\n")
        self.assertEqual((own / "vmlinuz").read_bytes(), (KERNEL / "vmlinuz").read_bytes())
        self.assertIn("virtio_console", (own / "lib" / "modules" / release / "modules.dep").read_text(encoding="ascii"))
        self.assertEqual(self.take(self.tree), (0, f"kernel {release} of {self.tree} is there\n", ""))
        (self.tree / "modules.order").write_text("kernel/x.ko\n", encoding="ascii")
        self.assertEqual(self.take(self.tree)[1], f"kernel {release} taken from {self.tree}\n")

    def test_fragments_name_each_option_once(self):
        for kind in ("debug", "kcsan"):
            options = [line.split("=")[0] for name in ("guest", kind)
                       for line in (host.TOP / "driver" / f"{name}.config").read_text(encoding="ascii").splitlines() if line.startswith("CONFIG_")]
            self.assertEqual(sorted(set(options)), sorted(options), kind)

    def test_every_command_of_the_page_is_known(self):
        """The kernel itself is built by nobody here; 'make check-debug' builds one in the same way."""
        block, = re.findall(r"^```bash\n(.*?)^```$", pages.text("Documentation/debugging.md"), re.M | re.S)
        self.assertEqual(block.splitlines()[-len(STEPS):], list(STEPS))
        builder = pages.text("scripts/check-driver-debug.sh")
        self.assertEqual(block.splitlines()[:-len(STEPS)], [
            "cd ~/linux", "make defconfig", "scripts/kconfig/merge_config.sh .config ~/opengni/driver/guest.config",
            "scripts/config -e DEBUG_INFO_DWARF_TOOLCHAIN_DEFAULT -e GDB_SCRIPTS && make olddefconfig", "make -j8 bzImage modules", "cd ~/opengni"])
        for words in ("scripts/kconfig/merge_config.sh", "olddefconfig", "bzImage modules"):
            self.assertIn(words, builder)

    @unittest.skipUnless(slow_tests(), "builds the modules once more (OPENGNI_SLOW=1)")
    def test_nodes_boot_with_it(self):
        """The page's steps once the kernel is built."""
        make_tree(self.tree)
        # the tree will be gone, and with it what this link names
        self.addCleanup(shutil.rmtree, host.BUILD / "kernel-own", ignore_errors=True)
        name = f"own-{os.getpid()}"
        self.addCleanup(lambda: subprocess.run([host.TOP / "scripts/cluster", "down", "--name", name], capture_output=True, check=False))
        log = self.folder / "log"
        for command, (more, typed, pattern) in STEPS.items():
            command = command.replace("~/linux", str(self.tree)) + more
            command = re.sub(r"(scripts/cluster \w+)", rf"\1 --name {name}", command)
            with open(log, "wb") as out:  # no pipe: a cluster in the background would keep it open
                made = subprocess.run(["bash", "-ec", command], cwd=host.TOP, input=typed.encode(), stdout=out, stderr=out, check=False, timeout=3600)
            said = log.read_text(encoding="utf-8", errors="replace")
            self.assertEqual(made.returncode, 0, f"{command}\n{said}")
            self.assertRegex(said, pattern, command)
