# SPDX-License-Identifier: GPL-2.0-or-later
"""Tools of users where there is no NIC, and what they say about themselves."""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from opengni import host

STAGE = host.BUILD / "stage/usr"
SOURCES = ["userlib/src", "userlib/pmi/src", "userlib/companions/src", "userlib/tools"]
TABLE = host.TOP / "userlib/src/environment.hpp"
VARIABLE = re.compile(r'"((?:UGNI|PMI|OPENGNI|ALPS|SLURM|OMPI)_[A-Z_]+)"')
ENVIRONMENT = {name: value for name, value in os.environ.items() if not VARIABLE.fullmatch(f'"{name}"') and name != "LD_PRELOAD"}
WITH_LIBRARY = {**ENVIRONMENT, "LD_LIBRARY_PATH": str(STAGE / "lib")}
NO_NIC = not list(Path("/dev").glob("kgni*"))


def run(*command, **options):
    """A tool of this build; its outcome."""
    path = STAGE / "bin" / command[0]
    return subprocess.run([path, *command[1:]], env=WITH_LIBRARY | options, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60, check=False)


class Environment(unittest.TestCase):
    """The table of variables and the sources say the same."""

    def test_the_table_is_complete(self):
        table = dict(re.findall(r'V\((\w+), "([^"]*)"', TABLE.read_text(encoding="utf-8")))
        used = set()
        for folder in SOURCES:
            for path in (host.TOP / folder).rglob("*"):
                if path.suffix in (".c", ".cpp", ".h", ".hpp") and "tests" not in path.parts and path != TABLE:
                    text = path.read_text(encoding="utf-8")
                    used |= set(VARIABLE.findall(text)) | set(re.findall(r"env::([A-Z_]+)", text))
        self.assertEqual(used, set(table))
        listed = json.loads(run("gni-info", "env", "--json", UGNI_DEBUG="2").stdout)
        self.assertEqual({row["name"]: row["read_by"] for row in listed}, table)
        self.assertEqual([row["name"] for row in listed if row["value"] is not None], ["UGNI_DEBUG"])


class Refusals(unittest.TestCase):
    """Wrong words, and no NIC."""

    def test_versions_and_help(self):
        for tool in ("gni-info", "gni-perf", "gni-domain", "gni-trace"):
            self.assertRegex(run(tool, "--version").stdout, rf"^{tool} \(OpenGNI\) \d+\.\d+\.\d+\n$")
            told = run(tool, "--help")
            self.assertEqual((told.returncode, told.stderr), (0, ""), tool)
            self.assertIn("xit status", told.stdout, tool)

    def test_wrong_words(self):
        for command in (["gni-info", "--nothing"], ["gni-info", "nothing"], ["gni-info", "watch", "-n", "x"], ["gni-info", "-d", "-1"],
                        ["gni-perf", "a", "b"], ["gni-perf", "--server", "a"], ["gni-perf", "a", "-s", "8-4"], ["gni-perf", "a", "-D", "0"],
                        ["gni-perf", "a", "--local=2"], ["gni-domain"], ["gni-domain", "list", "--cookie=1"],
                        ["gni-domain", "create", "--json", "--job=1", "--cookie=1"], ["gni-trace"], ["gni-trace", "-e", "x", "true"],
                        ["gni-trace", "--nothing", "true"]):
            told = run(*command)
            self.assertEqual(told.returncode, 2, f"{command}: {told.stdout}{told.stderr}")
            self.assertNotEqual(told.stderr, "", command)

    @unittest.skipUnless(NO_NIC, "this machine has a NIC")
    def test_without_a_nic(self):
        for command, text in ((["gni-info"], "no GNI device"), (["gni-info", "--json"], "no GNI device"), (["gni-info", "watch"], "no GNI device"),
                              (["gni-perf"], "GNI_CdmAttach to device 0"), (["gni-perf", "3"], "GNI_CdmAttach to device 0"),
                              (["gni-domain", "list"], "/dev/kgni0: No such file")):
            told = run(*command)
            self.assertEqual(told.returncode, 1, f"{command}: {told.stdout}{told.stderr}")
            self.assertIn(text, told.stderr, command)
        report = json.loads(run("gni-info", "--json").stdout)
        self.assertEqual(report["devices"], [])
        self.assertRegex(report["library"]["version"], r"^\d+\.\d+\.\d+$")


class Trace(unittest.TestCase):
    """gni-trace around programs of this host; the library is the one that programs use."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="opengni-trace-")))
        self.file = self.folder / "trace"

    def build(self, source):
        """A program from C, linked with the library as anybody's is."""
        path = self.folder / "program.c"
        path.write_text("#include <gni_pub.h>\n#include <errno.h>\n#include <stdio.h>\n#include <unistd.h>\n#include <sys/wait.h>\n"
                        f"int main(void) {{ {source} }}\n", encoding="utf-8")
        program = path.with_suffix("")
        subprocess.run(["gcc", "-Wall", "-Werror", "-o", program, path, f"-I{host.TOP}/driver/include", f"-L{STAGE}/lib", "-lugni"], check=True)
        return program

    def trace(self, program, *options):
        """Outcome of the program under gni-trace, and the lines."""
        told = run("gni-trace", "-o", self.file, *options, program)
        return told, self.file.read_text(encoding="utf-8").splitlines()

    def test_errors_names_and_values(self):
        program = self.build("""gni_cdm_handle_t c; errno = 77;
            int a = GNI_CdmCreate(7, 255, 0x10, GNI_CDM_MODE_DUAL_EVENTS | GNI_CDM_MODE_ERR_NO_KILL, &c);
            int b = GNI_CdmCreate(7, 0, 0x10, 0x80000000, &c);
            gni_post_descriptor_t d = {.type = GNI_POST_AMO, .amo_cmd = GNI_FMA_ATOMIC2_FPADD_S, .cq_mode = GNI_CQMODE_DUAL_EVENTS,
                .dlvr_mode = GNI_DLVMODE_IN_ORDER, .first_operand = 5, .length = 8};
            int e = GNI_PostFma(0, &d), f = GNI_PostFma(0, 0);
            gni_job_limits_t limits = {.mdd_limit = -1, .cq_limit = 3};
            GNI_ConfigureJob(0, 9, 3, 0x10, &limits);
            printf("%d %d %d %d %d %d\\n", a, b, e, f, errno, gni_cq_get_status(0) == 0);""")
        bare = subprocess.run([program], env=WITH_LIBRARY, capture_output=True, text=True, check=True)
        told, lines = self.trace(program)
        self.assertEqual((told.returncode, told.stdout, told.stderr), (0, bare.stdout, ""))
        self.assertRegex(lines[0], r"GNI_CdmCreate\(inst_id=0x7, ptag=255, cookie=0x10, modes=GNI_CDM_MODE_ERR_NO_KILL\|GNI_CDM_MODE_DUAL_EVENTS, "
                                   r"cdm_hndl=\[0x\w+\]\) = GNI_RC_SUCCESS$")
        self.assertRegex(lines[1], r"ptag=0, .*cdm_hndl=0x\w+\) = GNI_RC_INVALID_PARAM$")
        self.assertRegex(lines[2], r"\{type=GNI_POST_AMO, cq_mode=GNI_CQMODE_DUAL_EVENTS, dlvr_mode=GNI_DLVMODE_IN_ORDER, .*, length=8, "
                                   r"amo_cmd=GNI_FMA_ATOMIC2_FPADD_S, first_operand=0x5, second_operand=0x0, post_id=0\}\) = GNI_RC_INVALID_PARAM$")
        self.assertRegex(lines[3], r"GNI_PostFma\(ep_hndl=NULL, post_descr=NULL\) = GNI_RC_INVALID_PARAM$")
        self.assertRegex(lines[4], r"GNI_ConfigureJob\(device_id=0, job_id=9, ptag=3, cookie=0x10, limits=\{mdd_limit=-1, .*cq_limit=3, ")
        self.assertEqual(len(lines), 5)  # accessors are traced when they are named
        _, lines = self.trace(program, "-e", "gni_cq_*")
        self.assertRegex("\n".join(lines), r"gni_cq_get_status\(entry=0x0\) = 0x0$")

    def test_summary_and_children(self):
        program = self.build("""uint32_t v; GNI_GetVersion(&v); GNI_GetVersion(0);
            if (!fork()) { GNI_GetVersion(&v); GNI_GetVersion(&v); _exit(0); }
            wait(0); return 5;""")
        for options, calls, pids in (([], "2", 1), (["-f"], "4", 2)):
            told, lines = self.trace(program, "-C", *options)
            self.assertEqual(told.returncode, 5)
            row = next(line.split() for line in lines if line.endswith(" GNI_GetVersion"))
            self.assertEqual(row[3:], [calls, "0", "1", "GNI_GetVersion"])
            self.assertEqual(len({match[1] for match in map(re.compile(r"\[(\d+)/").search, lines) if match}), pids)

    def test_a_library_that_was_opened(self):
        """Nothing stands behind the tracer then: it finds the library all the same."""
        path = self.folder / "opens.c"
        path.write_text('#include <dlfcn.h>\n#include <stdint.h>\nint main(void) { uint32_t v; void *h = dlopen("libugni.so.0", RTLD_NOW | RTLD_LOCAL);'
                        'int (*f)(uint32_t *) = dlsym(RTLD_DEFAULT, "GNI_GetVersion"); return !h || !f || f(&v); }\n', encoding="utf-8")
        subprocess.run(["gcc", "-o", path.with_suffix(""), path], check=True)
        told, lines = self.trace(path.with_suffix(""))
        self.assertEqual((told.returncode, told.stderr), (0, ""))
        self.assertRegex(lines[0], r"GNI_GetVersion\(version=\[0x\w+\]\) = GNI_RC_SUCCESS$")

    def test_status_of_the_program(self):
        for command, code in ((["true"], 0), (["false"], 1), (["sh", "-c", "exit 42"], 42), (["sh", "-c", "kill -TERM $$"], -15),
                              (["/nowhere/program"], 127), (["/dev/null"], 126)):
            self.assertEqual(run("gni-trace", *command).returncode, code, command)
