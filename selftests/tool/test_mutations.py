# SPDX-License-Identifier: GPL-2.0-or-later
"""The list of mutations fits the code, and scripts/mutate.py does with it what it says."""

import fcntl
import re
import tempfile
import unittest
from pathlib import Path

from gnitest import mutants, mutation_table, mutations, tap
from opengni import host

from commands import run

MUTATE = host.TOP / "scripts" / "mutate.py"
LEAST = {"model": 45, "qsnet": 20, "sim": 12, "driver": 18, "kgni": 17, "userlib": 20}
# Folders of which each has mutations.
PARTS = [f"qemu-device/model/{part}/" for part in ("nic", "router", "link", "netlink", "packet", "gateway", "fabric", "ras")] + ["qemu-device/sim/"] + [
    f"driver/{part}/" for part in ("core", "obj", "dgram", "user")] + ["kgni/clients/ipogif/", "kgni/clients/slnd/", "kgni/clients/pingpong/"] + [
    f"userlib/{part}/" for part in ("src", "pmi/src", "companions/src", "dmapp/src")]
SAMPLE = mutations.Mutation("unit/one", "file.c", "a < b", "a <= b", "it counts one too many", ("model:cq",))


class List(unittest.TestCase):
    def test_each_applies_and_can_be_taken_back(self):
        for mutation in mutations.load(host.TOP).values():
            text = (host.TOP / mutation.file).read_text(encoding="utf-8")
            self.assertEqual(mutation.changed(mutation.changed(text), back=True), text, mutation.name)

    def test_all_parts_have_some(self):
        known = list(mutations.load(host.TOP).values())
        for unit, least in LEAST.items():
            self.assertGreaterEqual(sum(mutation.unit == unit for mutation in known), least, unit)
        for part in PARTS:
            self.assertTrue(any(mutation.file.startswith(part) for mutation in known), part)

    def test_whose_tests_run_is_known_of_each_list(self):
        self.assertEqual({mutation.unit for mutation in mutations.load(host.TOP).values()}, set(mutants.ALL_OF))

    def test_tests_that_are_named_exist(self):
        folders = {"model": "qemu-device/model/tests", "sim": "qemu-device/sim/tests", "driver": "driver/tests", "kgni": "kgni/tests",
                   "guest": "selftests", "cluster": "selftests/cluster"}
        for mutation in mutations.load(host.TOP).values():
            self.assertTrue(mutation.tests, mutation.name)
            for test in mutation.tests:
                layer, _, name = test.partition(":")
                folder = host.TOP / folders.get(layer, "userlib")
                name = re.sub(r"_polled$|^pmi-|^companions-|^dmapp-", "", name).partition(".")[0]
                files = [path for path in folder.rglob("*") if path.stem in (name, f"test_{name}", name.replace("aries-", "check_"))]
                self.assertTrue(files, f"{mutation.name}: {test}")


class Changes(unittest.TestCase):
    def test_text_that_is_not_there_once(self):
        for text in ("c > d", "a < b; a < b"):
            with self.assertRaisesRegex(mutations.MutationError, "unit/one: its text is (not|2 times) in file.c"):
                SAMPLE.changed(text)

    def test_apply_and_revert(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "file.c"
            file.write_text("if (a < b)\n")
            SAMPLE.apply(folder)
            self.assertEqual(file.read_text(), "if (a <= b)\n")
            SAMPLE.apply(folder, back=True)
            self.assertEqual(file.read_text(), "if (a < b)\n")

    def test_lists_that_are_wrong(self):
        entry = 'name = "one"\nfile = "f"\nfind = "a"\nreplace = "b"\nbreaks = "x"\ntests = []\n'
        for text, complaint in ((entry.replace('"b"', '"a"'), "it changes nothing"), (entry.replace("breaks", "why"), "it has .*why"),
                                (entry + "[[mutation]]\n" + entry, "there are two"), (entry.replace('"one"', '"O ne"'), "a name has small"),
                                (entry + 'claims = ["G1"]\n', "'G1' is no claim")):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / mutations.FOLDER / "unit.toml"
                path.parent.mkdir(parents=True)
                path.write_text("[[mutation]]\n" + text)
                with self.assertRaisesRegex(mutations.MutationError, complaint):
                    mutations.load(folder)


class Copy(unittest.TestCase):
    def test_it_follows_the_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            top, shop = Path(folder) / "top", Path(folder) / "shop"
            (top / "sub").mkdir(parents=True)
            run("git", "init", "-q", str(top))
            (top / ".gitignore").write_text("built\n")
            for name in ("one", "sub/two", "built"):
                (top / name).write_text(name)
            copy = mutants.Workshop(top, shop)
            copy.synchronize()
            self.assertEqual((shop / "tree/sub/two").read_text(), "sub/two")
            self.assertFalse((shop / "tree/built").exists())
            # What a run that was ended has left, what has been built there, what has changed here, what is gone.
            (shop / "tree/one").write_text("mutated")
            (shop / "tree/.build").mkdir()
            (shop / "tree/.build/object").write_text("")
            before = (shop / "tree/.gitignore").stat().st_mtime_ns
            (top / "sub/two").unlink()
            copy.synchronize()
            self.assertEqual((shop / "tree/one").read_text(), "one")
            self.assertTrue((shop / "tree/.build/object").exists())
            self.assertFalse((shop / "tree/sub/two").exists())
            self.assertEqual((shop / "tree/.gitignore").stat().st_mtime_ns, before, "what is the same is not compiled again")


class FakeShop:
    """A workshop whose tests see the mutation or not."""

    def __init__(self, folder, seeing=(), broken=()):
        self.tree, self.seeing, self.broken, self.calls, self.cases = Path(folder), seeing, broken, [], []
        (self.tree / "file.c").write_text("if (a < b)\n")

    @staticmethod
    def tests(layer):
        return {name: [] for name in {"kgni": ("quick", "slow", "cq")}.get(layer, ("cq",))}

    def run_meson(self, layer, names, _patience=0.0):
        mutated = "a <= b" in (self.tree / "file.c").read_text()
        self.calls.append((layer, names, mutated))
        cases = [tap.Case(case, tap.FAIL if name in self.broken or mutated and name in self.seeing else tap.PASS)
                 for name in names for case in self.cases or [f"{name}: all"]]
        return cases, {name: {"quick": 0.1, "slow": 30.0}.get(name, 1.0) for name in names}


class Runs(unittest.TestCase):
    mutation = mutations.Mutation("kgni/one", "file.c", "a < b", "a <= b", "it counts one too many", ("kgni:cq", "guest:kgni"))

    def run_one(self, seeing, broken=()):
        with tempfile.TemporaryDirectory() as folder:
            shop = FakeShop(folder, seeing, broken)
            results = mutants.Results(Path(folder) / "results.json")
            runner = mutants.Run(shop, results, lambda line: None)
            runner.all([self.mutation])
            again = mutants.Results(results.path)
            calls = list(shop.calls)
            runner.all([self.mutation])
            seen = again.mutations["kgni/one"].outcome == mutants.SEEN
            self.assertEqual(shop.calls == calls, seen, "what was seen is not run again, what was not is")
            self.assertEqual((shop.tree / "file.c").read_text(), "if (a < b)\n")
            return calls, again

    def test_stops_at_the_first_that_sees_it(self):
        calls, results = self.run_one(("cq", "slow"))
        self.assertEqual([(names, mutated) for _, names, mutated in calls], [(["cq"], False), (["cq"], True)])
        result = results.mutations["kgni/one"]
        self.assertEqual((result.outcome, result.layer, result.by), (mutants.SEEN, "kgni", ["cq"]))

    def test_others_follow(self):
        calls, results = self.run_one(())
        self.assertEqual([names for _, names, mutated in calls if mutated], [["cq"], ["quick", "slow"]])
        self.assertEqual((results.mutations["kgni/one"].outcome, results.mutations["kgni/one"].ran), (mutants.UNSEEN, 3))

    def test_one_that_always_fails_tells_nothing(self):
        calls, results = self.run_one((), broken=("cq",))
        self.assertEqual([names for _, names, mutated in calls if mutated], [["quick", "slow"]])
        self.assertEqual(results.mutations["kgni/one"].outcome, mutants.UNSEEN)

    def test_cases_that_name_a_claim_are_kept(self):
        about = mutations.Mutation("kgni/one", "file.c", "a < b", "a <= b", "it counts one too many", ("kgni:cq",), ("G10", "G12"))
        names = ["cq: one", "cq: two", "cq: three_G11", "cq: four_G09_G10", "cq: five_G10_to_G12", "cq: six_G100"]
        with tempfile.TemporaryDirectory() as folder:
            shop = FakeShop(folder, ("cq",))
            shop.cases = names
            results = mutants.Results(Path(folder) / mutants.RESULTS)
            mutants.Run(shop, results, lambda line: None, named=True).all([about])
        self.assertEqual(results.mutations["kgni/one"].cases, ["cq: four_G09_G10", "cq: five_G10_to_G12", "cq: one"])

    def test_table(self):
        _, results = self.run_one(("slow",))
        text = mutation_table.table({"kgni/one": self.mutation}, results)
        self.assertIn("| `kgni/one` | it counts one too many | kgni: `slow` |", text)
        self.assertIn("| kgni | `slow` | 30.0 | 1 | `kgni/one` |", text)
        self.assertIn("| kgni | `quick` | 0.1 |  |  |", text)
        self.assertTrue(text.startswith("1 of 1 mutations are seen, 1 by `make check`, 1 by kgni.\n\n|"), text)

    def test_table_tells_what_the_default_check_does_not_see(self):
        _, results = self.run_one(("slow",))
        results.mutations["kgni/one"].slow = True
        text = mutation_table.table({"kgni/one": self.mutation, "kgni/two": SAMPLE}, results)
        self.assertIn("1 of 2 mutations are seen, 0 by `make check`.\n", text)
        self.assertIn("\n\nSeen by check-all alone: `kgni/one`.\n\nNot run: `kgni/two`.\n\n|", text)
        _, results = self.run_one(())
        self.assertIn("\n\nNot seen: `kgni/one`.\n\n", mutation_table.table({"kgni/one": self.mutation}, results))


class Command(unittest.TestCase):
    def test_list_and_show(self):
        status, output = run(MUTATE, "list", "kgni")
        self.assertEqual(status, 0)
        self.assertRegex(output, r"(?m)^kgni/credits +a message is sent for which there is no credit$")
        status, output = run(MUTATE, "show", "kgni/credits")
        self.assertEqual((status, output.count("\n-"), output.count("\n+")), (0, 2, 2))

    def test_one_run_in_a_folder(self):
        with tempfile.TemporaryDirectory() as folder, open(Path(folder) / "lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            status, output = run(MUTATE, "--folder", folder, "run", "kgni/credits")
        self.assertEqual((status, output), (1, f"mutate.py: another run works in {Path(folder).resolve()}: give this one a --folder of its own\n"))

    def test_nothing_to_keep(self):
        with tempfile.TemporaryDirectory() as folder:
            status, output = run(MUTATE, "--folder", folder, "keep")
        self.assertEqual((status, output), (1, f"mutate.py: nothing was run in {Path(folder).resolve()}\n"))

    def test_wrong_names(self):
        status, output = run(MUTATE, "run", "nothing-like-it")
        self.assertEqual((status, output), (1, "mutate.py: there is no mutation 'nothing-like-it': mutate.py list\n"))
        self.assertEqual(run(MUTATE, "apply")[0], 2)
