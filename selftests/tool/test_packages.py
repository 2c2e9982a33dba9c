# SPDX-License-Identifier: GPL-2.0-or-later
"""Debian packages: their descriptions agree with each other and with the project; documents are made anew without the others."""

import hashlib
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from commands import run
from installation import INSTALL
from gnitest.testing import slow_tests
from opengni import host

DEBIAN = host.TOP / "scripts/debian"
SETUP = host.TOP / "scripts/setup.sh"
PURPOSES = ("tests", "guests", "lint", "interop", "lustre", "debug", "mpi", "figures", "doc", "deb", "image")
# dpkg's own reading of profiles, apart from which setup.sh has one that needs nothing but awk
REDUCE = """use Dpkg::Deps; use Dpkg::Control::Info;
my $text = Dpkg::Control::Info->new("$ENV{CONTROL}")->get_source()->{"Build-Depends"};
my $deps = deps_parse($text, build_dep => 1, reduce_restrictions => 1, build_profiles => [@ARGV]) or die "cannot parse";
print "$_->{package}\\n" for map { $_->get_deps() || $_ } $deps->get_deps();"""


def paragraphs():
    """control, as dictionaries."""
    lines = [line for line in (DEBIAN / "control").read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    found = []
    for block in "\n".join(lines).strip().split("\n\n"):
        fields, name = {}, ""
        for line in block.splitlines():
            if line[0] in " \t":
                fields[name] += "\n" + line.strip()
            else:
                name, _, value = line.partition(":")
                fields[name] = value.strip()
        found.append(fields)
    return found


def version():
    status, output = run(host.TOP / "scripts/version.sh")
    if status:
        raise AssertionError(output)
    return output.strip()


class Control(unittest.TestCase):
    def test_every_package_is_described(self):
        source, *binaries = paragraphs()
        self.assertEqual(source["Source"], "opengni")
        for package in binaries:
            name = package["Package"]
            self.assertIn(package["Architecture"], ("amd64", "all"), name)
            short, _, long = package["Description"].partition("\n")
            self.assertTrue(0 < len(short) <= 80 and len(long) > 80, name)
            self.assertIn("${misc:Depends}", package["Depends"], name)
            self.assertEqual("${shlibs:Depends}" in package["Depends"], package["Architecture"] != "all" and
                             not name.endswith(("-dev", "-image")), name)

    def test_files_belong_to_packages(self):
        packages = {package["Package"] for package in paragraphs()[1:]}
        listed = set()
        for path in DEBIAN.iterdir():
            name, dot, kind = path.name.rpartition(".")
            if dot and kind not in ("substvars",):
                self.assertIn(name, packages, path.name)
                listed.add(name)
        self.assertEqual(listed, packages)

    def test_names_of_libraries(self):
        """A library's package has the number of its soname, so that another one can be installed beside it."""
        sonames = set()
        for name in ("meson.build", "dmapp/meson.build", "pmi/meson.build", "companions/meson.build"):
            sonames |= set(re.findall(r"soversion: '(\d+)'", (host.TOP / "userlib" / name).read_text(encoding="utf-8")))
        self.assertEqual(sonames, {"0"})
        for package in ("libugni", "libugni-companions", "libdmapp", "libpmi-opengni"):
            for so in sonames:
                text = (DEBIAN / f"{package}{so}.install").read_text(encoding="ascii")
                self.assertTrue(text.splitlines() and all(line.endswith(".so.*") for line in text.splitlines()), text)

    def test_libraries_are_in_packages(self):
        """Each library that is installed is in one package, its development files in one other."""
        library = host.BUILD / "stage/usr/lib"
        patterns = {}
        for path in DEBIAN.glob("lib*.install"):
            for line in path.read_text(encoding="ascii").split():
                patterns.setdefault(line, []).append(path.stem)
        self.assertEqual([pattern for pattern, owners in patterns.items() if len(owners) > 1], [])
        files = [path for path in (*library.glob("*"), *library.glob("pkgconfig/*.pc")) if not path.is_dir()]
        self.assertGreater(len(files), 20)
        for path in files:
            place = Path("usr/lib/x86_64-linux-gnu") / path.relative_to(library)
            owners = [owner for pattern, (owner,) in patterns.items() if place.match(pattern)]
            self.assertEqual(len(owners), 1, f"{place}: {owners}")
            self.assertEqual(owners[0].endswith("-dev"), ".so." not in path.name, place)

    def test_documents_are_apart(self):
        """The step that makes all packages does not read what only the package of documents has."""
        text = (host.TOP / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
        rule = re.search(r"^deb: .*\n((?:\t.*\n)+)", text, re.M)[1].splitlines()
        for line in rule:
            if "build-deb.sh" in line:
                self.assertEqual("Documentation" in line, line.endswith("documents"), line)
                self.assertEqual("README.md" in line, line.endswith("documents"), line)
        self.assertEqual(sum("build-deb.sh" in line for line in rule), 2)


class Version(unittest.TestCase):
    def test_one_version(self):
        text = version()
        self.assertRegex(text, r"^\d+\.\d+\.\d+$")
        self.assertTrue((host.BUILD / f"stage/usr/lib/libugni.so.{text}").exists())
        self.assertIn(f"\nVersion: {text}\n", (host.BUILD / "stage/usr/lib/pkgconfig/cray-ugni.pc").read_text(encoding="utf-8"))
        self.assertIn('PACKAGE_VERSION="#MODULE_VERSION#"', (DEBIAN / "aries-dkms.dkms").read_text(encoding="utf-8"))
        status, changelog = run(host.TOP / "scripts/build-deb.sh", "--changelog")
        self.assertEqual(status, 0, changelog)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
            file.write(changelog)
            file.flush()
            self.assertEqual(run("dpkg-parsechangelog", "-l", file.name, "-S", "Version"), (0, f"{text}\n"))


class Needs(unittest.TestCase):
    """Build-Depends is the one list of what is needed: setup.sh takes from it what dpkg would."""

    def listed(self, *purposes):
        status, output = run(SETUP, "--list", *purposes)
        self.assertEqual(status, 0, output)
        return sorted(name for name in output.split() if not name.startswith("linux-headers-"))

    def test_setup_reads_it_as_dpkg(self):
        for purposes in ((), *((name,) for name in PURPOSES), PURPOSES):
            profiles = [f"pkg.opengni.{name}" for name in ("tree", *purposes)]
            result = subprocess.run(["perl", "-e", REDUCE, *profiles], env={"CONTROL": str(DEBIAN / "control"), "PATH": "/usr/bin:/bin"},
                                    capture_output=True, text=True, check=True)
            self.assertEqual(self.listed(*purposes), sorted(result.stdout.split()), purposes)

    def test_purposes_are_apart(self):
        """Who only builds gets none of what tests, packages or software of others need."""
        least = self.listed()
        self.assertTrue({"gcc", "meson", "seabios"} <= set(least))
        for name in PURPOSES:
            self.assertTrue(set(self.listed(name)) > set(least), name)

    def test_unknown_purpose(self):
        status, output = run(SETUP, "--list", "everything")
        self.assertEqual(status, 2)
        self.assertIn("no argument 'everything'", output)


class Dkms(unittest.TestCase):
    """The source of the modules is whole: nothing is included, compiled or run that is not in it."""

    def test_source(self):
        stage = Path(tempfile.mkdtemp(prefix="opengni-dkms-"))
        self.addCleanup(shutil.rmtree, stage)
        status, output = run(INSTALL, "--stage", stage, "/usr", "dkms")
        self.assertEqual(status, 0, output)
        tree = stage / f"usr/src/aries-{version()}"
        names = {path.name for path in tree.rglob("*")} | {"aries_regs.h", "aries_regs_table.h"}
        for path in tree.rglob("*.[ch]"):
            for included in re.findall(r'^#include "(.*)"', path.read_text(encoding="utf-8"), re.M):
                self.assertIn(Path(included).name, names, path)
        for kbuild in tree.rglob("Kbuild"):
            text = re.sub(r"\\\n", " ", kbuild.read_text(encoding="utf-8"))
            text = re.sub(r"^.*(_TESTS|_test-).*$", "", text, flags=re.M)
            for part in re.findall(r"\b(\w+)\.o\b", text):
                if not re.search(rf"\b{part}-y\b|obj-m.*\b{part}\b", text) and not part.startswith("kt_"):
                    self.assertIn(f"{part}.c", names, kbuild)
        for name in ("scripts/gen-regs.py", "keep-symbols"):
            self.assertTrue((tree / name).stat().st_mode & 0o100, name)
        self.assertEqual([path for path in tree.rglob("*") if "tests" in path.parts], [])
        modules = re.findall(r'BUILT_MODULE_NAME\[\d\]="(\w+)"', (DEBIAN / "aries-dkms.dkms").read_text(encoding="utf-8"))
        self.assertTrue({"aries", "kgni", "krca"} <= set(modules), modules)


@unittest.skipUnless(slow_tests(), "makes the packages: in check-all")
class Documents(unittest.TestCase):
    """What a change of Documentation alone makes anew."""

    DEBS = host.BUILD / "deb"

    def sums(self):
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in self.DEBS.glob("*.deb")}

    def times(self):
        return {path.name: path.stat().st_mtime_ns for path in self.DEBS.glob("*.deb")}

    def test_only_their_package(self):
        status, output = run("make", "-C", host.TOP, "--no-print-directory", "deb")
        self.assertEqual(status, 0, output)
        before = self.times()
        status, output = run(host.TOP / "scripts/build-deb.sh", "documents")
        self.assertEqual(status, 0, output)
        after = self.times()
        self.assertEqual(after.keys(), before.keys())
        self.assertEqual([name.split("_")[0] for name in after if after[name] != before[name]], ["opengni-doc"])
        changes, = self.DEBS.glob("*.changes")
        listed = {name: digest for digest, name in re.findall(r"^ ([0-9a-f]{64}) \d+ (.*\.deb)$", changes.read_text(encoding="utf-8"), re.M)}
        self.assertEqual(listed, self.sums())
