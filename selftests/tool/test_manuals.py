# SPDX-License-Identifier: GPL-2.0-or-later
"""Manual pages, HTML and completions: complete, and refused when something does not fit."""

import os
import re
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import doc
from manuals import api, completion, make, pages, usage
from gnitest.testing import slow_tests
from opengni import host

DOC = host.TOP / "scripts" / "doc.py"
BASH_COMPLETION = Path("/usr/share/bash-completion/bash_completion")


def built():
    """Whether all is there that pages are made from."""
    return all(path.exists() for path in (*usage.PROGRAMS.values(), pages.QEMU, api.KERNEL_DOC))


def links(text):
    """Targets of the links of a page that are files."""
    return [target for target in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in target]


class Written(unittest.TestCase):
    """What needs nothing that is built."""

    def test_links_lead_somewhere(self):
        generated = {"manuals.md", *(f"api/{key}.rst" for key in api.HEADERS)}
        for path in [*pages.written(), *pages.sources().values()]:
            for target in links(path.read_text(encoding="utf-8")):
                with self.subTest(page=path.name, target=target):
                    self.assertTrue(target in generated or (path.parent / target).exists())

    def test_links_stay_inside_for_sphinx(self):
        self.assertEqual(pages.inside("[`a.h`](../driver/a.h), [b](b.md#c), [d](https://e/../f)"), "`a.h`, [b](b.md#c), [d](https://e/../f)")
        self.assertEqual(pages.inside("[a](../../driver/a.h), [b](../b.md)", 1), "a, [b](../b.md)")
        for place, text in pages.staged():
            for target in links(text):
                self.assertFalse(os.path.normpath(place.parent / target).startswith(".."), f"{place}: {target}")

    def test_the_first_page_names_all(self):
        text = (pages.DOCUMENTATION / "index.md").read_text(encoding="utf-8")
        tree = re.findall(r"^[\w/-]+$", text, re.M)
        for path in pages.DOCUMENTATION.glob("*.md"):
            if path.name != "index.md":
                self.assertIn(path.stem, tree)
                self.assertIn(f"]({path.name})", text)

    def test_one_title_a_page(self):
        """More of them are as many entries of the sidebar."""
        for place, text in pages.staged():
            self.assertEqual(len(re.findall(r"^# ", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M)), 1, place)

    def test_titles(self):
        for (name, section), path in pages.sources().items():
            self.assertEqual(pages.head(path)[:2], (name, section))

    def test_titles_that_do_not_fit(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.1.md"
            for text, cause in (("# b(1): what\n", "names b"), ("# a: what\n", "no title")):
                path.write_text(text, encoding="utf-8")
                with self.assertRaisesRegex(pages.PageError, cause):
                    pages.head(path)

    def test_a_section_that_is_not_there(self):
        with self.assertRaisesRegex(pages.PageError, "no section 'Nothing'"):
            pages.section_of("topology.md: Nothing")

    def test_parameters_of_modules(self):
        text = pages.text(pages.sources()["ipogif", "4"])
        for name in ("queues", "buffer_mib", "nodes"):
            self.assertRegex(text, rf"\*\*{name}\*\*\n: \w")
        with self.assertRaisesRegex(pages.PageError, "no module in driver/tests has parameters"):
            pages.parameters("driver/tests")

    def test_a_section_that_begins_with_lines_to_copy(self):
        self.assertTrue(pages.section_of("kgni.md: Modules outside of the tree").startswith("    make install"))

    def test_tables_become_lists(self):
        text = pages.section_of("simulator.md: Jobs")
        self.assertNotIn("| ---", text)
        self.assertRegex(text, r"`trace`\n: a file with messages")

    def test_functions_of_the_kernel(self):
        """A form of a function for programs has its arguments and codes; the table of the header says where each may be called."""
        kernel = api.text_of(api.GNI).split(api.KERNEL, 1)[1]
        declared = re.findall(r"^\w[\w *]*\b(gni_\w+)\(", kernel, re.M)
        self.assertGreater(len(declared), 40)
        told = dict(re.findall(r"^ \* (gni_\w+)\(\) - (?:(?!\*/)[\s\S])*? \* Context: (.*)\n", kernel, re.M))
        self.assertEqual(set(declared), set(told))
        self.assertRegex(kernel, r"gni_smsg_buff_size_needed\(\) - kernel form of GNI_SmsgBufferSizeNeeded\(\)\n \* @smsg_attr: .*\n \* @size: ")
        self.assertTrue(told["gni_cq_create"].startswith("Process context; may sleep. Elsewhere it warns"))
        self.assertTrue(told["gni_post_fma"].startswith("Any, under spinlocks"))
        registered = re.search(r"gni_mem_register\(\) - kernel form of [\s\S]*?\*/", kernel)[0]
        self.assertIn(" * @address: start, a kernel virtual address\n * @length: bytes", registered)
        self.assertNotRegex(registered, "@vmdh_index|GNI_RC_PERMISSION_ERROR")
        self.assertRegex(registered, r"GNI_RC_SUCCESS - [\s\S]*GNI_RC_ERROR_NOMEM - ")
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(api, "GNI", Path(folder) / "gni_pub.h"):
            api.GNI.write_text(f"{api.KERNEL}\n/* ---- Kernel functions ----\n */\ngni_return_t gni_nothing(void);\n", encoding="utf-8")
            with self.assertRaisesRegex(api.ApiError, "gni_nothing has neither"):
                api.text_of(api.GNI)
            program = ("/**\n * GNI_Nothing() - does nothing\n * @a: argument\n *\n * Return:\n * * %GNI_RC_SUCCESS - done\n */\n"
                       "gni_return_t GNI_Nothing(int a);\n")
            table = "/* ---- Kernel functions ----\n *\n * Any.\n *\tall others\n */\n"
            for comment, cause in ((" * gni_nothing() is as GNI_Other().", "does not begin with"),
                                   (" * gni_nothing() is as GNI_Nothing(), but:\n * Without @b", "leaves out b")):
                api.GNI.write_text(f"{program}{api.KERNEL}\n{table}/*\n{comment}\n */\ngni_return_t gni_nothing(int a);\n", encoding="utf-8")
                with self.assertRaisesRegex(api.ApiError, cause):
                    api.text_of(api.GNI)


class Usage(unittest.TestCase):
    """Help texts of three kinds."""

    def test_argparse(self):
        known = usage.parse("usage: dir/tool [-h] [--net [{a,b}]] [-n N] FILE\n\nDoes something.\n\noptions:\n  -h, --help  this\n"
                            "  --net [{a,b}]\n                which\n\nexamples:\n  tool -n 1   one\n")
        self.assertEqual(known.synopsis, ["tool [OPTION...] FILE"])
        self.assertEqual(known.about, ["Does something."])
        self.assertEqual(known.options(), ["--help", "--net", "-h"])
        self.assertEqual(known.entries()[1].text, "which")
        self.assertEqual(known.sections[-1].verbatim, ["tool -n 1   one"])

    def test_cli11(self):
        known = usage.parse("Does something.\nUsage: tool [OPTIONS] SUBCOMMAND\n\nPositionals:\n  machine TEXT REQUIRED  a file\n\n"
                            "Options:\n  -h,--help                   Print\n\nSubcommands:\n  show                        it\n")
        self.assertEqual(known.synopsis, ["tool [OPTION...] OPERATION"])
        self.assertEqual([entry.names for entry in known.entries()], ["machine TEXT REQUIRED", "-h, --help", "show"])
        self.assertEqual([entry.names for entry in known.entries(title="Operations")], ["show"])
        known = usage.parse("Options:\n  -t,--tests=LIST             which\n\nNames for --tests:\n  one          first\n  two          second\n")
        self.assertEqual([nested.names for nested in known.entries()[0].nested], ["one", "two"])
        self.assertEqual([section.title for section in known.sections], ["Options"])

    def test_by_hand(self):
        known = usage.parse("usage: tool [options]\n\nDoes\nthis.\n\n  -t, --tests=LIST        which:\n      one          first\n"
                            "      --json              more,\n                          and more\n\nExit status: 0 done.\n")
        self.assertEqual(known.about, ["Does this.", "Exit status: 0 done."])
        self.assertEqual([nested.names for nested in known.entries()[0].nested], ["one"])
        self.assertEqual(known.entries()[1].text, "more, and more")


class Interrupted(unittest.TestCase):
    def test_a_page_that_was_half_written_is_written_again(self):
        with tempfile.TemporaryDirectory() as name, mock.patch.object(doc, "OUT", Path(name)), mock.patch.object(doc, "SOURCE", Path(name) / "source"):
            doc.SOURCE.mkdir()
            (doc.SOURCE / "index.md").write_text("# First\n\nAll of it.\n", encoding="ascii")
            page = Path(name) / "html/index.html"
            run = subprocess.run

            def broken_off(command, **options):
                done = run(command, **options)  # pylint: disable=subprocess-run-check
                if "sphinx" in command:
                    page.write_text("<ht", encoding="ascii")
                    raise KeyboardInterrupt
                return done

            with mock.patch.object(subprocess, "run", broken_off), self.assertRaises(KeyboardInterrupt):
                doc.sphinx("html", page.parent)
            doc.sphinx("html", page.parent)
            self.assertIn("All of it.", page.read_text(encoding="utf-8"))
            before = page.stat().st_mtime_ns
            doc.sphinx("html", page.parent)
            self.assertEqual(page.stat().st_mtime_ns, before, "what is there counts after a run that has ended")


@unittest.skipUnless(built(), "not everything that pages are made from is built (make doc)")
class Generated(unittest.TestCase):
    def test_every_tool_has_a_page(self):
        installed = {path.name for path in (usage.STAGE / "bin").iterdir()}
        self.assertEqual(installed - set(usage.PROGRAMS), set(), "they need Documentation/man/NAME.1.md and a line in usage.PROGRAMS")
        programs = {name for name, section in pages.sources() if section in "18"}
        self.assertEqual(programs, set(usage.PROGRAMS))

    def test_pages_have_the_options_of_help(self):
        for (name, section), path in pages.sources().items():
            if section not in "18":
                continue
            known, text = usage.read(name), pages.text(path)
            self.assertIn("--version", known.options())
            for where in (known, *known.operations.values()):
                told = set(re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*(?=[^\n]*\n: )", text.replace("*", "")))
                self.assertLessEqual(set(where.options()), told | {"-h", "--help"}, name)
            # what argparse and the others print, without the parser that the pages are made by
            for operation in ((), *((name,) for name in known.operations)):
                said = set(re.findall(r"^ +(?:-\w, ?)?(--[a-z][\w-]*)", usage.help_text(name, *operation), re.M))
                self.assertLessEqual(said - {"--help"}, set(re.findall(r"--[a-z][\w-]*", text)), name)

    def test_the_device_has_its_properties(self):
        text = pages.text(pages.sources()["aries-nic", "7"])
        for name in ("fabric", "node", "drop", "trace-file", "counter-fma-puts", "counter-timeouts"):
            self.assertRegex(text, rf"\*\*{name}\*\*.*\n: \w")
        self.assertNotIn("romfile", text)

    def test_every_exported_function_has_a_page(self):
        made = {page.name: page for page in api.pages()}
        names = re.findall(r"^\s+((?:GNI|gni)_\w+);", (host.TOP / "userlib/libugni.map").read_text(encoding="utf-8"), re.M)
        functions = {name for name in names if not name.endswith("_str")}  # tables of texts
        self.assertGreater(len(functions), 90)
        self.assertEqual(functions - set(made), set())
        for name in functions:
            self.assertEqual(made[name].section, "3", name)
        kernel = set()
        for path in [*(host.TOP / "kgni").glob("*.c"), *(host.TOP / "driver/gni").glob("*.c")]:
            kernel |= set(re.findall(r"EXPORT_SYMBOL_GPL\((gni_\w+)\)", path.read_text(encoding="utf-8")))
        self.assertGreater(len(kernel), 40)
        for name in kernel & set(made) - functions:
            self.assertEqual(made[name].section, "9", name)
        self.assertEqual({name for name in kernel - set(made) if not name.endswith("_str")}, set())

    def test_pages_of_functions(self):
        made = {page.name: page for page in api.pages()}
        known = {page.name: page.section for page in made.values()}
        for page in made.values():
            text = api.manual(page, known)
            with self.subTest(page.name):
                for title in ("NAME", "SYNOPSIS", '"DESCRIPTION"' if "DESCRIPTION" in page.parts else "SEE ALSO"):
                    self.assertIn(f".SH {title}\n", text)
                self.assertNotIn("\n* ", text)
        text = api.manual(made["GNI_CdmAttach"], known)
        self.assertRegex(text, r"\.B GNI_RC_INVALID_STATE\nthe domain is attached")
        self.assertIn("\\fBGNI_CdmCreate\\fP(3)", text)
        self.assertIn("#include <gni_pub.h>", text)

    def test_a_header_with_a_warning_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bad.h"
            path.write_text("/**\n * f() - does\n *\n * Return: nothing\n */\nvoid f(int a);\n", encoding="utf-8")
            with self.assertRaisesRegex(api.ApiError, "'a' not described"):
                api.kernel_doc("-man", path)


@unittest.skipUnless(built(), "not everything that completions are made from is built (make doc)")
@unittest.skipUnless(BASH_COMPLETION.exists(), "bash-completion is not installed")
class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        completion.write(cls.folder)
        (cls.folder / "make").write_text(make.script(), encoding="utf-8")

    def complete(self, *words, line=""):
        """What bash offers for the last of the words; they are split where bash does, which the whole line need not show."""
        program = words[0]
        function = f"_opengni_{program.replace('-', '_')} {program}"
        script = (f". {BASH_COMPLETION}; . {self.folder}/{program}; compopt() {{ :; }}; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1));"
                  f" COMP_LINE={shlex.quote(line or ' '.join(words))}; COMP_POINT=${{#COMP_LINE}};"
                  f" {function}; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        result = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True, check=True, timeout=60,
                                cwd=host.TOP, env={**os.environ, "PATH": f"{host.TOP / 'scripts'}:{os.environ['PATH']}"})
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    def test_operations(self):
        self.assertEqual(self.complete("cluster", "k"), ["kill"])
        self.assertEqual(self.complete("aries-topo", "b"), ["bisection", "bandwidth", "builders"])
        self.assertEqual(self.complete("gni-kvs", "b"), ["barrier"])

    def test_options(self):
        self.assertEqual(self.complete("cluster", "up", "--m"), ["--machine", "--mem"])
        self.assertEqual(self.complete("cluster", "kill", "--"), ["--help", "--name"])
        self.assertIn("--per-node", self.complete("cluster", "--p"))  # of run, the default operation
        self.assertEqual(self.complete("gni-perf", "--t"), ["--tests=", "--threads=", "--timeout="])
        self.assertEqual(self.complete("aprun", "--version"), ["--version"])

    def test_values(self):
        self.assertEqual(self.complete("cluster", "up", "--net", ""), ["ethernet", "ipogif"])
        self.assertEqual(self.complete("gni-perf", "-t", "bte"), ["bte-put", "bte-get", "bte-put-bw", "bte-get-bw"])
        self.assertEqual(self.complete("cluster", "up", "--mem", ""), [])
        self.assertEqual(self.complete("aries-topo", "print", "README"), ["README.md"])

    def make(self, line):
        """What bash offers at the end of a line."""
        return self.complete(*re.findall(r'"[^"]*"?|=|[^\s="]+', line), line=line)

    def test_arguments_of_make(self):
        self.assertEqual(self.make("make check ARGS=kg"), ["kgni"])
        self.assertEqual(self.make("make check ARGS=model-a"), ["model-asan"])
        self.assertEqual(self.make("make run ARGS=--dur"), ["--duration="])
        self.assertEqual(self.make('make run NODES=4 ARGS="--quiet --dur'), ["--quiet", "--duration="])
        self.assertEqual(self.make("make figures ARGS=wor"), ["worst-case"])
        self.assertEqual(self.make("make interop ARGS=u"), ["ucx"])
        self.assertEqual(self.make("make run KERNEL=6"), ["6.1", "6.12"])
        self.assertEqual(self.make("make run KDIR=Docu"), ["Documentation"])
        self.assertEqual(self.make("make run KE"), ["KERNEL="])
        self.assertIn("check-image", self.make("make check-"))  # make's own
        self.assertEqual(self.make("make -C /nowhere check ARGS=model-a"), [])

    def test_completion_of_make_takes_nobody_elses_place(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"BASH_COMPLETION_USER_DIR": folder}):
            self.assertEqual(make.install(), Path(folder) / "completions/make")
            make.install()
            make.place().write_text("# mine\n", encoding="ascii")
            with self.assertRaisesRegex(usage.UsageError, "not ours"):
                make.install()
            self.assertEqual(make.place().read_text(encoding="ascii"), "# mine\n")

    def test_what_follows_two_dashes_is_the_guests(self):
        self.assertEqual(self.complete("cluster", "--", "--n"), [])


@unittest.skipUnless(slow_tests(), "takes half a minute: OPENGNI_SLOW=1")
@unittest.skipUnless(built(), "not everything that pages are made from is built (make doc)")
class Made(unittest.TestCase):
    """The whole of it, by Sphinx."""

    def test_html_and_manual_pages(self):
        made = subprocess.run([DOC, "man", "html", "completion"], capture_output=True, text=True, check=False, timeout=900)
        self.assertEqual((made.returncode, made.stderr), (0, ""))
        out = host.BUILD / "doc"
        self.assertTrue((out / "html/search.html").exists())
        for page in ("man1/cluster.1", "man3/GNI_PostFma.3", "man4/aries.4", "man5/aries-machine.5", "man7/aries-nic.7", "man8/gni-agent.8",
                     "man9/gni_post_fma.9", "man3/gni_post_descriptor_t.3"):
            self.assertTrue((out / "man" / page).exists(), page)
        self.assertIn("GNI_CdmAttach", (out / "html/api/gni.html").read_text(encoding="utf-8"))
