# SPDX-License-Identifier: GPL-2.0-or-later
"""scripts/cluster insmod without machines: what is unloaded and loaded, in which order and with which parameters, and what is refused."""

import asyncio
import os
import random
import struct
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from fake_agent import FakeCluster
from opengni import guest_modules, host, insmod, module_build, modules
from opengni.errors import ClusterError, ConfigError, NodeError, UsageError
from opengni.guest_modules import Loaded, State

RELEASE = "6.1-test"
# What the scripts for a guest call. Each does to the files below the root what the kernel would do.
PROGRAMS = {
    "uname": f"echo {RELEASE}",
    "dmesg": "cat $OPENGNI_TEST_ROOT/dmesg",
    "depmod": "echo depmod >>$OPENGNI_TEST_ROOT/calls",
    "modinfo": "true",
    "ip": "case \"$*\" in 'addr add'*) echo \"ip $*\" >>$OPENGNI_TEST_ROOT/calls ;; esac",
    "rmmod": """
echo "rmmod $1" >>$OPENGNI_TEST_ROOT/calls
[ ! -e $OPENGNI_TEST_ROOT/stuck ] || { echo "rmmod: can't unload module '$1': Resource temporarily unavailable" >&2; exit 1; }
sed -i "/^$1 /d" $OPENGNI_TEST_ROOT/proc/modules
rm -r $OPENGNI_TEST_ROOT/sys/module/$1
""",
    "insmod": """
name=${1##*/}; name=${name%.ko}
file=$1; shift
echo "insmod $name${*:+ $*}" >>$OPENGNI_TEST_ROOT/calls
if [ -e $OPENGNI_TEST_ROOT/broken-$name ]; then
    echo "[ 2.0] $name: no such luck" >>$OPENGNI_TEST_ROOT/dmesg
    echo "insmod: can't insert '$file': invalid argument" >&2
    exit 1
fi
echo "$name 1 0 - Live" >>$OPENGNI_TEST_ROOT/proc/modules
mkdir -p $OPENGNI_TEST_ROOT/sys/module/$name/notes
at=$(grep -abo GNU "$OPENGNI_TEST_ROOT/lib/modules/$(uname -r)/$file" | tail -n 1 | cut -d: -f1)
tail -c +$((at - 11)) "$OPENGNI_TEST_ROOT/lib/modules/$(uname -r)/$file" | head -c 36 >$OPENGNI_TEST_ROOT/sys/module/$name/notes/.note.gnu.build-id
""",
}


def module_file(path, depends="", release=RELEASE, build=b"\1" * 20):
    """Write an object file with what insmod reads of a module."""
    texts = [b"\0.modinfo\0.note.gnu.build-id\0.shstrtab\0",
             f"name={path.stem}\0depends={depends}\0vermagic={release} SMP\0".encode(),
             struct.pack("<III", 4, len(build), 3) + b"GNU\0" + build]
    places, at = [], 64
    for text in texts:
        places.append((at, len(text)))
        at += len(text)
    heads = [(0, 0, 0)] + [(texts[0].index(name), *place) for name, place in
                           ((b".shstrtab", places[0]), (b".modinfo", places[1]), (b".note", places[2]))]
    table = b"".join(struct.pack("<IIQQQQIIQQ", name, 1, 0, 0, offset, size, 0, 0, 1, 0) for name, offset, size in heads)
    header = struct.pack("<4sBB10xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 62, 1, 0, 0, at, 0, 64, 0, 0, 64, len(heads), 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header + b"".join(texts) + table)
    return modules.read(path)


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_what_a_module_says(self):
        module = module_file(self.folder / "kgni.ko", "aries,gni-other", build=bytes(range(20)))
        self.assertEqual((module.name, module.depends, module.release, module.build),
                         ("kgni", ("aries", "gni_other"), RELEASE, bytes(range(20)).hex()))

    def test_files_that_are_no_modules(self):
        good = self.folder / "good.ko"
        module_file(good)
        data, path, chance = good.read_bytes(), self.folder / "bad.ko", random.Random(1)
        for bad in (b"", b"text\n", data[:40], data[:100], data.replace(b".modinfo", b".modinfx"), b"\x7fELF" + bytes(60)):
            path.write_bytes(bad)
            with self.assertRaisesRegex(ConfigError, "bad.ko is no kernel module"):
                modules.read(path)
        for _ in range(300):  # whatever is in it, it is read or refused
            broken = bytearray(data)
            for _ in range(3):
                broken[chance.randrange(len(data))] = chance.randrange(256)
            path.write_bytes(broken)
            try:
                modules.read(path)
            except ConfigError:
                pass
        with self.assertRaisesRegex(ConfigError, "No such file"):
            modules.read(self.folder / "none.ko")

    def test_order(self):
        known = {name: module_file(self.folder / f"{name}.ko", depends) for name, depends in
                 (("aries", ""), ("kgni", "aries"), ("krca", "aries,virtio"), ("ipogif", "kgni,krca"))}
        self.assertEqual(modules.in_order({"ipogif", "aries", "krca"}, known), ["aries", "krca", "ipogif"])
        self.assertEqual(modules.needing({"kgni"}, known), {"kgni", "ipogif"})
        self.assertEqual(modules.needed_by({"ipogif"}, known), {"kgni", "krca", "aries"})
        known["aries"] = module_file(self.folder / "aries.ko", "ipogif")
        with self.assertRaisesRegex(ConfigError, "need each other"):
            modules.in_order({"aries"}, known)


class Words(unittest.TestCase):
    def test_parameters_follow_their_module(self):
        self.assertEqual(insmod.parse(["kgni", "check_handles=1", "ipogif", "./a=b.ko", "x=1", "y="]),
                         [("kgni", {"check_handles": "1"}), ("ipogif", {}), ("./a=b.ko", {"x": "1", "y": ""})])
        with self.assertRaisesRegex(UsageError, "'x=1' is a parameter"):
            insmod.parse(["x=1"])

    def test_tests_are_named_with_their_collection(self):
        for word in ("fork", "aries/", "/fork", "a/b/c"):
            with self.assertRaisesRegex(UsageError, "is not COLLECTION/NAME"):
                insmod.run("c", [0], [], [word])

    def test_what_a_node_says(self):
        state = guest_modules.parse("release 6.1\nneeds updates/b.ko: extra/a.ko\nfile 7 extra/b.ko\nfile 8 updates/b.ko\nmark [ 1.0] last line\n"
                                    "record ff extra/a.ko\nmodule b 2 c,d,\nmodule p 1 [permanent],\nbuild b " + 32 * "0" + "abcd\n"
                                    "parameter b text two words\nparameter b none (null)\nnetwork address ipogif0 10.128.0.1/16\n")
        self.assertEqual((state.files, state.needs, state.record), ({"b": "updates/b.ko"}, {"b": {"a"}}, {"extra/a.ko": "ff"}))
        self.assertEqual(state.loaded["b"], Loaded(2, ("c", "d"), "abcd", {"text": "two words"}))
        self.assertEqual((state.loaded["p"].holders, state.mark), ((), "[ 1.0] last line"))
        self.assertEqual(state.network, [["address", "ipogif0", "10.128.0.1/16"]])


class Node(unittest.IsolatedAsyncioTestCase):
    """A node whose files are below a folder; aries, kgni and ipogif are loaded on it."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.root = self.folder / "root"
        for name in ("proc/sys/kernel/random", "sys/module", "sys/class/net", f"lib/modules/{RELEASE}/extra"):
            (self.root / name).mkdir(parents=True)
        (self.root / "proc/sys/kernel/random/boot_id").write_text("first\n", encoding="ascii")
        (self.root / f"lib/modules/{RELEASE}/modules.dep").write_text("extra/kgni.ko: extra/aries.ko\nextra/ipogif.ko: extra/kgni.ko extra/aries.ko\n",
                                                                      encoding="ascii")
        (self.root / "dmesg").write_text("[ 1.0] before\n", encoding="ascii")
        (self.folder / "bin").mkdir()
        for name, text in PROGRAMS.items():
            (self.folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n", encoding="ascii")
            (self.folder / "bin" / name).chmod(0o755)
        (self.folder / "c").mkdir()
        self.enterContext(mock.patch.object(host, "RUN", self.folder))
        self.enterContext(mock.patch.object(guest_modules, "LIB", str(self.root / "lib/modules")))
        self.enterContext(mock.patch.dict(os.environ, {"OPENGNI_TEST_ROOT": str(self.root), "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}))
        self.known, self.said, lines = {}, [], []
        for name, depends, line in (("aries", "", "aries 1 1 kgni,"), ("kgni", "aries", "kgni 1 2 ipogif,"), ("ipogif", "kgni", "ipogif 1 0 -")):
            self.built(name, depends, 1)
            lines.append(f"{line} Live\n")
            place = self.root / "sys/module" / name
            (place / "notes").mkdir(parents=True)
            (place / "notes/.note.gnu.build-id").write_bytes(struct.pack("<III", 4, 20, 3) + b"GNU\0" + b"\1" * 20)
            (place / "parameters").mkdir()
        (self.root / "sys/module/ipogif/parameters/queues").write_text("4\n", encoding="ascii")
        (self.root / "sys/module/ipogif/parameters/name").write_text("two words\n", encoding="ascii")
        (self.root / "proc/modules").write_text("".join(lines), encoding="ascii")

    def built(self, name, depends, version):
        """A build makes this version of a module."""
        self.known[name] = module_file(self.folder / "build" / f"{name}.ko", depends, build=bytes([version]) * 20)

    async def reload(self, asked=None):
        """One call; what has been called on the node, in order."""
        (self.root / "calls").unlink(missing_ok=True)
        async with FakeCluster(self.folder / "c"):
            operation = insmod.Operation("c", [0], self.said.append)
            states = await operation.states()
            await operation.reload(states, self.known, asked or {})
            self.complaints = await operation.complaints(states)
        return (self.root / "calls").read_text(encoding="ascii").splitlines() if (self.root / "calls").exists() else []

    async def test_nothing_has_changed(self):
        calls = await self.reload()
        self.assertEqual([call for call in calls if call != "depmod"], [])
        self.assertEqual(self.said, ["node 0: nothing that is loaded has changed"])
        self.assertEqual(await self.reload(), [], "files that are there are copied once")

    async def test_what_needs_a_changed_module_goes_and_comes_back_as_it_was(self):
        self.built("kgni", "aries", 2)
        calls = [call for call in await self.reload() if call != "depmod"]
        self.assertEqual(calls, ["rmmod ipogif", "rmmod kgni", "insmod kgni", "insmod ipogif name=two words queues=4"])
        self.assertEqual((self.root / f"lib/modules/{RELEASE}/extra/kgni.ko").stat().st_mode & 0o444, 0o444)
        self.assertIn("loaded kgni, ipogif name=two words queues=4", self.said[0])

    async def test_parameters_of_the_call_and_modules_that_are_new(self):
        self.built("mine", "kgni", 1)
        calls = await self.reload({"ipogif": {"queues": "1"}, "mine": {}})
        self.assertEqual(calls, ["depmod", "rmmod ipogif", "insmod ipogif name=two words queues=1", "insmod mine"])

    async def test_a_module_that_does_not_load_comes_with_the_next_call(self):
        self.built("kgni", "aries", 2)
        (self.root / "broken-kgni").touch()
        with self.assertRaisesRegex(NodeError, r"(?s)node 0: kgni does not load: insmod: can't insert .*its kernel says:\n    \[ 2.0\] kgni: no such luck$"):
            await self.reload()
        (self.root / "broken-kgni").unlink()
        self.built("kgni", "aries", 3)
        calls = await self.reload()
        self.assertEqual(calls, ["insmod kgni", "insmod ipogif name=two words queues=4"])
        self.assertEqual(await self.reload(), [], "and with that one only")

    async def test_after_a_boot_nothing_is_brought_back(self):
        self.built("kgni", "aries", 2)
        (self.root / "broken-kgni").touch()
        with self.assertRaises(NodeError):
            await self.reload()
        (self.root / "proc/sys/kernel/random/boot_id").write_text("second\n", encoding="ascii")
        self.assertEqual(await self.reload(), [])

    async def test_who_is_in_the_way(self):
        self.built("aries", "", 2)
        modules_file = self.root / "proc/modules"
        text = modules_file.read_text(encoding="ascii")
        modules_file.write_text(text.replace("kgni 1 2 ipogif,", "kgni 1 2 ipogif,stranger,"), encoding="ascii")
        with self.assertRaisesRegex(ClusterError, "node 0: kgni is in use by module stranger, which was not built here"):
            await self.reload()
        modules_file.write_text(text.replace("ipogif 1 0", "ipogif 1 1"), encoding="ascii")
        with self.assertRaisesRegex(ClusterError, "node 0: ipogif is in use by .*: end that first"):
            await self.reload()
        self.assertFalse((self.root / "calls").exists(), "nothing has been touched")
        modules_file.write_text(text, encoding="ascii")
        (self.root / "stuck").touch()
        with self.assertRaisesRegex(ClusterError, "node 0: ipogif cannot be unloaded: rmmod: .*unavailable"):
            await self.reload()

    async def test_complaints_of_the_kernel(self):
        await self.reload()
        self.assertEqual(self.complaints, [])
        text = PROGRAMS["insmod"] + 'echo "[ 3.0] WARNING: CPU: 0" >>$OPENGNI_TEST_ROOT/dmesg\n'
        (self.folder / "bin/insmod").write_text(f"#!/bin/sh\n{text}", encoding="ascii")
        await self.reload({"ipogif": {}})
        self.assertEqual(self.complaints, ["node 0: [ 3.0] WARNING: CPU: 0"])


class Builds(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.object(host, "BUILD", self.folder / "build"))

    def test_a_build_that_fails_shows_its_errors(self):
        (self.folder / "Makefile").write_text("all:\n\t@echo first; echo 'a.c:1: error: bad'; for i in 1 2 3 4; do echo later; done; false\n",
                                              encoding="ascii")
        with self.assertRaisesRegex(ConfigError, r"(?s)this does not build .*insmod\.log\):\n    a\.c:1: error: bad$"):
            module_build.run_make("this", "-C", self.folder)

    def test_other_kernels_are_refused(self):
        known = {"kgni": module_file(self.folder / "kgni.ko", release="6.12-other")}
        with mock.patch.object(module_build, "project", return_value=known), \
                self.assertRaisesRegex(ConfigError, "kgni.ko was built for Linux 6.12-other, the nodes run 6.1-test"):
            insmod.gather([], RELEASE)
        with self.assertRaisesRegex(ConfigError, "nothing can be built for Linux 1.2.3-none"):
            module_build.kernel_tree("1.2.3-none")

    def test_names_that_are_not_there(self):
        with mock.patch.object(module_build, "project", return_value={}), self.assertRaisesRegex(ConfigError, "there is no module 'nothing'"):
            insmod.gather([("nothing", {})], RELEASE)
        with self.assertRaisesRegex(ConfigError, "has neither Kbuild nor Makefile"):
            module_build.folder(self.folder, RELEASE)
        for own in ("driver", "kgni/clients/slnd"):  # nothing may be built among the sources
            with self.assertRaisesRegex(ConfigError, "is built as a whole"):
                module_build.folder(host.TOP / own, RELEASE)
        for word, message in (("aries/nothing", "no test 'nothing'"), ("nowhere/fork", "no collection of tests 'nowhere'")):
            with self.assertRaisesRegex(ConfigError, message):
                module_build.selftest(*word.split("/"))

    def test_different_kernels_on_the_nodes(self):
        states = iter((State(release="6.1"), State(release="6.12")))

        async def state(_name, _node):
            return next(states)

        async def ask():
            await insmod.Operation("c", [0, 1], print).states()

        with mock.patch.object(guest_modules, "state", state), self.assertRaisesRegex(ConfigError, "node 0 6.1, node 1 6.12"):
            asyncio.run(ask())
