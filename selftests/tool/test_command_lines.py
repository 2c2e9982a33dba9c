# SPDX-License-Identifier: GPL-2.0-or-later
"""Every tool and every script has --help and --version, and refuses what it does not know with status 2 and one line."""

import os
import resource
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from manuals import usage
from opengni import host
from opengni.protocol import exec_payload
from opengni.version import version

SCRIPTS = host.TOP / "scripts"
STAGE = host.BUILD / "stage" / "usr"
BUILT = {"aries-topo": host.BUILD / "model/topo/aries-topo", "aries-net": host.BUILD / "model/net/aries-net",
         "aries-hss": host.BUILD / "model/hss/aries-hss", "aries-gateway": host.BUILD / "model/gateway/aries-gateway",
         "aries-sim": host.BUILD / "sim/aries-sim", "gni-agent": host.BUILD / "agent/gni-agent"}
WITHOUT_A_VERSION = {"gen-regs.py"}  # part of other people's builds of the driver, and by itself there


def scripts():
    """What can be run of scripts/, by name."""
    found = [path for folder in (SCRIPTS, SCRIPTS / "interop") for path in sorted(folder.iterdir())]
    return {str(path.relative_to(SCRIPTS)): path for path in found if path.is_file() and os.access(path, os.X_OK)}


def tools():
    """What has been built, by name."""
    found = {path.name: path for path in sorted((STAGE / "bin").glob("*"))}
    found.update(BUILT)
    return {name: path for name, path in found.items() if path.exists()}


ENVIRONMENT = {**os.environ, "LD_LIBRARY_PATH": str(STAGE / "lib"), "COLUMNS": "120"}


def call(*words):
    """A program's exit status, output and complaints."""
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=60,
                            env=ENVIRONMENT, stdin=subprocess.DEVNULL)
    return result.returncode, result.stdout, result.stderr


def no_bytes():
    """In a child: no file of its can grow."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


class CommandLines(unittest.TestCase):
    def check(self, name, path, versioned=True):
        with self.subTest(name):
            status, text, complaint = call(path, "--help")
            self.assertEqual((status, complaint), (0, ""))
            self.assertGreater(len(text.splitlines()), 1)
            self.assertEqual(call(path, "-h")[:2], (0, text))
            for option in ("--version", "-V") if versioned else ():
                status, text, complaint = call(path, option)
                self.assertEqual((status, complaint), (0, ""))
                self.assertIn(version(), text)
                self.assertEqual(len(text.splitlines()), 1)
            self.refused(path, "--no-such-option")
            if versioned and path.suffix != ".sh":  # the others have words of their own for it
                with open("/dev/full", "w", encoding="ascii") as full:
                    lost = subprocess.run([path, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60, env=ENVIRONMENT)
                self.assertEqual((lost.returncode, len(lost.stderr.splitlines())), (1, 1), lost.stderr)
                self.assertIn("cannot be written", lost.stderr)

    def refused(self, *words):
        status, text, complaint = call(*words)
        self.assertEqual((status, text), (2, ""), complaint)
        self.assertEqual(len(complaint.splitlines()), 1, complaint)
        self.assertIn("--help", complaint)

    def test_scripts(self):
        found = scripts()
        self.assertIn("cluster", found)
        self.assertIn("interop/run.sh", found)
        for name, path in found.items():
            self.check(name, path, name not in WITHOUT_A_VERSION)

    def test_tools(self):
        found = tools()
        if not {"gni-perf", *BUILT} <= set(found):
            self.skipTest(f"not all tools are built: {', '.join({'gni-perf', *BUILT} - set(found))} (make all)")
        self.assertGreater(len(found), 9)
        for name, path in found.items():
            self.check(name, path)

    def test_help_says_what_things_are(self):
        """Every option and argument has a text, which does not lean on the name of the option or on a default that is empty."""
        texts = {name: call(path, "--help")[1] for name, path in (scripts() | tools()).items()}
        for name in set(usage.PROGRAMS) & set(tools()):
            texts |= {f"{name} {operation}": usage.help_text(name, *operation.split(", ")[:1]) for operation in usage.read(name).operations}
        for name, text in texts.items():
            with self.subTest(name):
                self.assertNotRegex(text, r"\(default(:| ) *\)|^Copyright|^SPDX")
                for entry in () if name.endswith(".sh") or name == "sim-trace.py" else usage.parse(text).entries():  # their lines of usage look like one
                    self.assertTrue(entry.text or entry.nested, f"{entry.names} has no text")
                    self.assertNotRegex(entry.text, "^of |^the same [(]|^so (many|long)", entry.names)

    def test_words_that_are_no_option(self):
        for name in ("gni-perf", "gni-isolation", "gni-chaos", "gni-domain", "pmi-info", "rca-helper", "aries-info"):
            path = tools().get(name) or self.skipTest(f"{name} is not built")
            with self.subTest(name):
                self.refused(path, "run", *(["twice"] if name == "gni-perf" else []))  # it takes one: the node that serves
                self.refused(path, "-Z")

    def test_an_option_without_its_value(self):
        path = tools().get("gni-perf") or self.skipTest("gni-perf is not built")
        self.refused(path, "--job")
        self.refused(path, "--quiet=1")

    def test_requests_of_gni_kvs(self):
        path = tools().get("gni-agent") or self.skipTest("gni-agent is not built")
        for words in ((), ("--no-such-option",), ("get",), ("put", "a"), ("add", "a"), ("barrier", "a"), ("barrier", "a", 1, 2, 3), ("del",)):
            with self.subTest(words):
                self.refused(path, "kvs", *words)
        self.assertEqual(call(path, "kvs", "--version")[:2], (0, f"gni-kvs (OpenGNI) {version()}\n"))
        self.assertIn("barrier NAME COUNT", call(path, "kvs", "--help")[1])

    def test_streams_that_are_closed(self):
        for words, status in ((("cluster", "list"), 0), (("cluster", "log", "--name", "not-there"), 1), (("chaos", "--initrd", "/nowhere"), 1)):
            with self.subTest(words):
                done = subprocess.run([SCRIPTS / words[0], *words[1:]], stderr=subprocess.PIPE, text=True, check=False, timeout=60, env=ENVIRONMENT,
                                      preexec_fn=lambda: os.closerange(0, 2))  # pylint: disable=subprocess-popen-preexec-fn
                self.assertEqual((done.returncode, len(done.stderr.splitlines())), (status, status), done.stderr)

    def test_files_that_cannot_be_written_are_named(self):
        """No file gets a byte: the system tells of that when it is written, as on a full disk, and names no file."""
        with tempfile.TemporaryDirectory() as name:
            folder, build = Path(name), {"OPENGNI_BUILD": name}
            for cpp in ("a.cpp", "b.cpp"):
                (folder / cpp).write_text("int a;\n", encoding="ascii")
            sim = (BUILT["aries-sim"], "canonical", "p=1", "a=2", "h=1", "--operation", "raw", "--warmup", 10, "--measure", 10, "--quiet")
            table = {
                "doc/source.new/": (build, SCRIPTS / "doc.py", "man"),
                "clusters/|run/": (build, SCRIPTS / "cluster", "run", "--qemu", "/bin/true", "--kernel", "/bin/true", "--initrd", "/bin/true", "--", "true"),
                "aries_regs.h": ({}, SCRIPTS / "gen-regs.py", host.TOP / "driver/include/aries_regs.toml", folder),
                "all.cpp": ({}, SCRIPTS / "unity.py", "-o", folder / "all.cpp", "--", folder, folder / "a.cpp", folder / "b.cpp"),
                "one.json": ({}, *sim, "--json", folder / "one.json"),
                "links": ({}, *sim, "--links", folder / "links", "--json", "/dev/null"),
                "more.json": ({}, *sim, "sweep", "--over", "load=0.1", "--out", folder / "more"),
                "key": ({}, BUILT["aries-gateway"], "keygen", folder / "key"),
            }
            for file, (variables, path, *words) in table.items():
                with self.subTest(file):
                    if not path.exists():
                        self.skipTest(f"{path} is not built")
                    done = subprocess.run([str(word) for word in (path, *words)], capture_output=True, text=True, check=False, timeout=60,
                                          env=ENVIRONMENT | variables, stdin=subprocess.DEVNULL,
                                          preexec_fn=no_bytes)  # pylint: disable=subprocess-popen-preexec-fn
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertRegex(done.stderr.splitlines()[-1], f"{folder}/({file})")

    def test_names_that_are_not_utf_8(self):
        name = b"/nowhere/\xff"
        done = subprocess.run([SCRIPTS / "cluster", "up", "--qemu", "/bin/true", "--kernel", "/bin/true", "--initrd", name],
                              capture_output=True, check=False, timeout=60, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 1)
        self.assertIn(name, done.stderr)
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertIn(name + b"\0", exec_payload([os.fsdecode(name)], {}, "/"))

    def test_chaos_refuses(self):
        for words in (("--kinds", "bogus"), ("--nodes", "0"), ("--rounds", "-1"), ("--per-node", "x")):
            with self.subTest(words):
                self.refused(SCRIPTS / "chaos", *words)

    def test_operations_of_the_cluster_tool(self):
        for words in (("nonsense",), ("up", "--no-such-option"), ("kill",), ("up", "-n", "x")):
            with self.subTest(words):
                self.refused(SCRIPTS / "cluster", *words)
