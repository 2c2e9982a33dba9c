#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""aries-topo as a user has it: figures of the sources, files, pictures, and messages about bad input.

usage: check_topo.py ARIES_TOPO
"""

import json
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

TOOL = ""
SVG = "{http://www.w3.org/2000/svg}"


def run(*args):
    """(exit status, output, errors)."""
    result = subprocess.run([TOOL, *args], capture_output=True, text=True, check=False)
    return result.returncode, result.stdout, result.stderr


class Topo(unittest.TestCase):
    """Each command once, and what can go wrong."""

    def good(self, *args):
        """Output of a command that has to succeed without a word of complaint."""
        status, out, err = run(*args)
        self.assertEqual((status, err), (0, ""))
        return out

    def report(self, *args):
        """The same as JSON."""
        return json.loads(self.good(*args, "--json"))

    def bad(self, status, word, *args):
        """A command that has to fail with one line that has a word."""
        result, out, err = run(*args)
        self.assertEqual((result, out), (status, ""))
        self.assertIn(word, err)
        if status == 1:
            self.assertEqual(err.count("\n"), 1, err)

    def test_tables_T13_T14_T15_T27_T28_T29_T30_T31(self):
        """Tables 1 to 3 through the command line."""
        by_class = {row["class"]: row for row in self.report("cables", "aries:groups=6")["classes"]}
        self.assertEqual((by_class["black"]["of a group"], by_class["black"]["of a node"]), (240, 0.625))
        self.assertEqual((by_class["blue"]["of a group"], by_class["blue"]["of a node"]), (120, 0.3125))
        for parameters, cables, crossing, bandwidth in (
                ("groups=6,cables_per_pair=12", 180, 108, 4050), ("groups=8,cables_per_pair=12", 336, 192, 7200),
                ("groups=6", 720, 432, 16200), ("groups=8", 952, 544, 20400),
                ("groups=8,bundle_rule=multiples", 840, 480, 18000)):
            with self.subTest(parameters):
                blue = self.report("cables", f"aries:{parameters}")["classes"][2]
                cut = self.report("bisection", f"aries:{parameters}")
                self.assertEqual((blue["cables"], cut["cables"], cut["GB/s both ways"]), (cables, crossing, bandwidth))

    def test_group_T21_T22(self):
        """Links across either dimension of a group."""
        report = self.report("bisection", "aries:")
        self.assertEqual({cut["cut"]: cut["links"] for cut in report["cuts"]}, {"slot": 384, "chassis": 432})
        self.assertEqual(report["GB/s both ways"], 4032)

    def test_bandwidth_T39_T40_T41(self):
        """Bandwidth of a node."""
        report = self.report("bandwidth", "aries:groups=6")
        self.assertAlmostEqual(report["global GB/s of a node"], 11.72, 2)
        self.assertAlmostEqual(report["global GB/s of a node, 64-byte puts"], 7.5, 6)
        self.assertAlmostEqual(report["local by global bandwidth"], 3.36, 6)

    def test_hops_T37_T47(self):
        """Three hops with six groups, one of them optical; a fat tree has two."""
        report = self.report("hops", "aries:groups=6")
        self.assertEqual((report["most hops"], report["most optical hops"]), (3, 1))
        self.assertAlmostEqual(sum(row["share of pairs"] for row in report["histogram"]), 1, 4)
        report = self.report("hops", "--sources", "3", "clos:")
        self.assertEqual((report["counted from routers"], report["most optical hops"]), (3, 2))

    def test_print_and_text(self):
        """The same as JSON and as text."""
        report = self.report("print", "canonical:p=2,a=4,h=2")
        self.assertEqual((report["nodes"], report["groups"]), (72, 9))
        text = self.good("print", "canonical:p=2,a=4,h=2")
        self.assertIn("nodes: 72\n", text)
        self.assertRegex(text, r"\n  global +global +optical ")
        self.assertIn("cables_per_pair", self.good("builders"))

    def test_files(self):
        """A file in short form, and the same in full."""
        with tempfile.TemporaryDirectory() as folder:
            short, full = Path(folder, "short.yaml"), Path(folder, "full.yaml")
            short.write_text("builder: aries\ngroups: 3\nchassis: 2\nslots: 4\n", encoding="utf-8")
            full.write_text(self.good("yaml", str(short)), encoding="utf-8")
            self.assertEqual(self.good("yaml", str(full)), full.read_text(encoding="utf-8"))
            self.assertEqual(self.good("print", str(full)), self.good("print", str(short)))
            self.assertIn("all rules kept", self.good("validate", str(full)))
            lines = full.read_text(encoding="utf-8").splitlines()
            at = lines.index("nodes:") + 1
            lines[at] = "  - [24, 0]"
            full.write_text("\n".join(lines), encoding="utf-8")
            self.bad(1, f"full.yaml:{at + 1}: node 0 is at router 24", "validate", str(full))
            full.write_text("\n".join(lines[:at - 40]) + "\n  - [1,", encoding="utf-8")
            self.bad(1, "full.yaml:", "validate", str(full))

    def test_torus_G14_G46_G48_G53_G54_G55(self):
        """Machines of cabinets: names of routers, the example of 40 cabinets, a note, what cannot be."""
        places = self.report("places", "torus:class=1,cabinets=4")["routers"]
        self.assertEqual(len(places), 4 * 6 * 8)
        self.assertEqual(places[0], {"router": 0, "name": "c0-0c0s0g0", "place": "x 0 y 0 z 0", "nodes": "0 1"})
        self.assertEqual(places[-1], {"router": 191, "name": "c1-0c2s7g1", "place": "x 3 y 5 z 7", "nodes": "382 383"})
        self.assertNotIn("name", self.report("places", "torus:x=4,y=6,z=4")["routers"][0])
        self.assertEqual(self.report("places", "canonical:p=2,a=2,h=1")["routers"][2], {"router": 2, "place": "group 1 router 0", "nodes": "4 5"})
        status, out, err = run("bisection", "torus:class=3,cabinets=10,rows=4", "--json")
        self.assertEqual((status, err.count("note: 40 cabinets")), (0, 1))
        cut = json.loads(out)
        self.assertEqual((cut["cut"], cut["links"], cut["nodes"], cut["GB/s both ways"]), ("z", 320 * 4, "1920 | 1920", 3000))
        report = self.report("bandwidth", "torus:x=10,y=16,z=24")
        self.assertEqual((report["global GB/s"], report["payload efficiency"]), (6000, 0.627451))
        self.assertEqual(self.report("print", "torus:class=3,cabinets=25,rows=8")["nodes"], 19200)
        rates = self.report("print", "torus:class=0,cabinets=1,rates=measured")["rates"]
        self.assertEqual([(row["class"], row["Gbit/s of a lane"], row["links"]) for row in rates],
                         [("x", 3.125, 384), ("y", 3.125, 96), ("y", 6.25, 96), ("z", 3.125, 48), ("z", 5.0, 336)])
        self.assertNotIn("rates", self.report("print", "torus:class=0,cabinets=1"))
        picture = self.good("svg", "torus:class=0,cabinets=1")
        for title in ("routers 0 c0-0c0s0g0 and 16 c0-0c2s0g0: 8 links<", "router 47 c0-0c1s7g1, x 2, y 1, z 7<"):
            self.assertEqual(picture.count(title), 1)
        with tempfile.TemporaryDirectory() as folder:
            full = Path(folder, "full.yaml")
            full.write_text(self.good("yaml", "torus:class=0,cabinets=1,rates=measured"), encoding="ascii")
            for command in ("places", "print", "bisection", "svg", "yaml"):
                self.assertEqual(self.good(command, str(full)), self.good(command, "torus:class=0,cabinets=1,rates=measured"))
        self.assertEqual(run("validate", "torus:x=1,y=4,z=3")[2].count("\n"), 2)
        self.bad(1, "class 0 has 1 to 3 cabinets, not 4 (G48)", "print", "torus:class=0,cabinets=4")
        self.bad(1, "are one of 3 x 4 x 8", "print", "torus:class=0,cabinets=1,x=4")
        self.bad(1, "1 nodes in y: a router has two", "print", "torus:x=4,y=1,z=4")
        self.bad(1, "needs nodes in each dimension", "print", "torus:x=4,y=4,z=0")
        self.bad(1, "which links are cables", "print", "torus:x=4,y=6,z=4,rates=measured")

    def test_qsnet_Q03_Q18_Q33_Q34(self):
        """Parts in the name, places, figures, a drawing, what cannot be."""
        self.assertEqual(self.report("print", "qsnet:nodes=640")["name"],
                         "QsNetIII, 640 nodes: 5 node switch chassis, 1280 cables, 3 top switch chassis")
        places = self.report("places", "qsnet:nodes=512,links=2,spread=true")["routers"]
        self.assertEqual(places[0]["nodes"], places[8]["nodes"])
        self.assertEqual(places[0]["name"], "node switch 0 card 0")
        self.assertEqual(places[-1], {"router": 159, "name": "top switch 3 card 7", "place": "stage 2 chassis 3 card 7", "nodes": ""})
        cut = self.report("bisection", "qsnet:nodes=1024")
        self.assertEqual((cut["cut"], cut["links"], cut["nodes"]), ("chassis", 512, "512 | 512"))
        report = self.report("bandwidth", "qsnet:nodes=1024")
        self.assertEqual((report["global GB/s of a node"], report["global GB/s of a node, packets of 1 KB"]), (3.125, 2.42424))
        self.assertEqual(self.report("bandwidth", "qsnet:nodes=640,top_switches=64")["global GB/s"], 1000)
        report = self.report("hops", "qsnet:nodes=256")
        self.assertEqual((report["most hops"], report["mean hops"]), (3, 2.38431))
        self.good("svg", "qsnet:nodes=256")
        self.bad(1, "16384 links to nodes (Q34)", "print", "qsnet:nodes=20000")
        self.bad(1, "2 node switches need none (Q33)", "print", "qsnet:nodes=200,top_switches=4")

    def test_svg(self):
        """A picture has every router, a frame for each group, and a line for each connected pair."""
        picture = xml.etree.ElementTree.fromstring(self.good("svg", "aries:groups=3,chassis=2,slots=4"))
        links = [path.find(SVG + "title").text for path in picture.iter(SVG + "path")]
        self.assertEqual(sum(rect.get("class") == "router" for rect in picture.iter(SVG + "rect")), 24)
        self.assertEqual(sum(group.get("class") == "group" for group in picture.iter(SVG + "g")), 3)
        self.assertEqual(len(links), 3 + 3 * (2 * 6 + 4))
        self.assertEqual(sum("groups" in title for title in links), 3)
        for machine in ("aries:groups=20,cables_per_pair=6", "torus:x=3,y=6,z=3", "clos:radix=4", "canonical:"):
            xml.etree.ElementTree.fromstring(self.good("svg", machine))

    def test_nothing_of_a_picture_is_cut_off(self):
        """Ends and middles of links, corners of frames, beginnings and ends of texts lie in it."""
        for machine in ("aries:groups=1,chassis=1,slots=1", "aries:groups=6,chassis=1,slots=2", "aries:groups=1,chassis=1", "canonical:",
                        "canonical:p=1,a=40,h=1,groups=2"):
            picture = xml.etree.ElementTree.fromstring(self.good("svg", machine))
            left, top, width, height = map(float, picture.get("viewBox").split())
            points = []
            for path in picture.iter(SVG + "path"):
                ax, ay, cx, cy, bx, by = map(float, re.sub("[MQ]", "", path.get("d")).split())
                points += [(ax, ay), (bx, by), ((ax + 2 * cx + bx) / 4, (ay + 2 * cy + by) / 4)]
            for text in picture.iter(SVG + "text"):
                x, y = float(text.get("x")), float(text.get("y"))
                points += [(x, y), (x + len(text.text) * float(text.get("font-size", 12)) * 0.55, y)]
            for rect in picture.iter(SVG + "rect"):
                x, y = float(rect.get("x")), float(rect.get("y"))
                points += [(x, y), (x + float(rect.get("width")), y + float(rect.get("height")))]
            for x, y in points:
                self.assertTrue(left <= x <= left + width and top <= y <= top + height, f"{machine}: {x}, {y} is outside")

    def test_bad_input_T11_T25_T31(self):
        """One line with the rule, and a status that tells wrong usage from a bad machine."""
        self.bad(1, "at most 241 (T11)", "print", "aries:groups=242")
        self.bad(1, "at most 48 (T25)", "print", "aries:groups=6,cables_per_pair=49")
        self.bad(1, "do not divide", "print", "aries:groups=8,cables_per_pair=34,bundle_rule=multiples")
        self.bad(1, "there is no parameter color", "print", "aries:color=red")
        self.bad(1, "'groups' is not a parameter", "print", "aries:groups")
        self.bad(1, "there is no builder ring", "print", "ring:n=5")
        self.bad(1, "No such file", "print", "/nonexistent.yaml")
        self.bad(2, "machine is required", "print")
        self.bad(2, "there is no command 'paint'", "paint", "aries:")
        self.bad(2, "--sources", "hops", "--sources", "-1", "aries:")

    def test_device(self):
        """Properties of the device for machines that it can be, and one line for others."""
        report = self.report("device", "aries:groups=3,chassis=2,slots=4")
        self.assertEqual(report, {"machine-nodes": 96, "routers-per-chassis": 4, "chassis-per-group": 2, "groups": 3, "routers": 24})
        self.assertEqual(self.report("device", "aries:groups=241")["machine-nodes"], 92544)
        self.assertEqual(self.report("device", "aries:groups=2,nodes=700")["machine-nodes"], 700)
        for machine, word in (("torus:x=4,y=6,z=4", "family 'torus'"), ("canonical:p=4", "family 'dragonfly'"),
                              ("aries:groups=6,cables_per_pair=12", "groups 0 and 1: 48; the device has 192"),
                              ("aries:groups=2,cooling=air", "14.0 Gbit/s; the device has 12.5"),
                              ("aries:groups=2,last_group_chassis=3", "routers for 576 nodes: 144; the device has 192"),
                              ("aries:groups=1,nodes=10", "routers for 10 nodes: 96; the device has 3")):
            with self.subTest(machine):
                self.bad(1, word, "device", machine)

    def test_device_and_files(self):
        """A file in full is compared link by link."""
        full = self.good("yaml", "aries:groups=1,chassis=1,slots=3,nodes=12")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.yaml"
            path.write_text(full, encoding="ascii")
            self.assertEqual(self.report("device", str(path))["routers-per-chassis"], 3)
            for old, new, word in (('family: "aries"', 'family: "other"', "family 'other'"),
                                   ("[1, 1, 2, 1,", "[1, 5, 2, 1,", "another green link at router 1 tile 1; the device has router 2"),
                                   ('"green", 3,', '"green", 2,', "2 lanes"),
                                   ('"green", 3, 0.5]', '"green", 3, 0.5, none, 10]', "lanes of 10.0 Gbit/s; the device has all links of a class alike"),
                                   ("- [0, 3]\n  - [1, 0]", "- [1, 0]\n  - [0, 3]", "node 3 at router 1"),
                                   ("- [0, 0, 0]\n  - [0, 0, 1]", "- [0, 0, 1]\n  - [0, 0, 0]", "router 0 at another place")):
                self.assertIn(old, full)
                path.write_text(full.replace(old, new, 1), encoding="ascii")
                with self.subTest(old):
                    self.bad(1, word, "device", str(path))

    def test_advice_T32(self):
        """What should not be is a note, not an error."""
        status, out, err = run("validate", "aries:groups=6,cables_per_pair=11")
        self.assertEqual(status, 0)
        self.assertIn("all rules kept", out)
        self.assertIn("note: each group uses 55 of 240", err)

    def test_a_full_disk_is_an_error(self):
        """Output that is lost is not a success."""
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([TOOL, "print", "aries:"], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"cannot be written", result.stderr)


if __name__ == "__main__":
    TOOL = sys.argv.pop(1)
    unittest.main()
