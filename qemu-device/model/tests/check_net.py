#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""aries-net as a user has it, on a fabric of two members at the ends of a machine.

usage: check_net.py ARIES_NET HOLD_FABRIC
"""

import concurrent.futures
import http.client
import fcntl
import json
import os
import pty
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
import urllib.parse
import xml.etree.ElementTree

import pyte  # type: ignore[import]
from prometheus_client.parser import text_string_to_metric_families

TOOL = HOLDER = ""
OK, NO_NODE = 0, 6


class FabricCase(unittest.TestCase):
    """A fabric, its members, and the tool."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/dev/shm")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.fabric = os.path.join(folder.name, "fabric")
        self.begin()
        self.addCleanup(self.end)

    def begin(self):
        """Two members."""
        self.holder = subprocess.Popen([HOLDER, self.fabric], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual(self.holder.stdout.readline(), "ready\n")

    def end(self):
        """The members leave, and with the last one the file."""
        self.holder.stdin.close()
        self.holder.wait(60)
        self.holder.stdout.close()

    def put(self):
        """Status of a put from one end of the machine to the other."""
        self.holder.stdin.write("put\n")
        self.holder.stdin.flush()
        return int(self.holder.stdout.readline())

    def run_tool(self, *args):
        """(exit status, output, errors)."""
        result = subprocess.run([TOOL, "-f", self.fabric, *args], capture_output=True, text=True, check=False, timeout=120)
        return result.returncode, result.stdout, result.stderr

    def good(self, *args):
        """Output of a command that has to succeed without a word of complaint."""
        status, out, err = self.run_tool(*args)
        self.assertEqual((status, err), (0, ""))
        return out

    def report(self, *args):
        """The same as JSON."""
        return json.loads(self.good(*args, "--json"))

    def bad(self, word, *args):
        """A command that has to fail with one line that has a word."""
        status, out, err = self.run_tool(*args)
        self.assertEqual((status, out), (1, ""))
        self.assertIn(word, err)
        self.assertEqual(err.count("\n"), 1, err)


class Net(FabricCase):
    """Each command, what it does to packets, and what can go wrong."""

    def test_show(self):
        report = self.report("show")
        self.assertEqual((report["nodes"], report["routers"], report["groups"]), (64, 16, 2))
        first, second = report["members"]
        self.assertEqual((first["node"], first["state"], first["cname"]), (0, "alive", "c0-0s0a0n0"))
        self.assertEqual((second["place"], second["router"], second["cname"]), (63, 15, "c1-1s3a0n3"))
        self.assertEqual(first["pid"], self.holder.pid)
        self.assertIn("c1-1s3a0n3", self.good("show"))

    def test_links_and_what_is_wrong_with_them(self):
        every = self.report("links", "--all")
        self.assertEqual(every["count"], len(every["links"]))
        self.assertEqual(self.report("links")["links"], [])
        link = next(line for line in every["links"] if line["kind"] == "blue")
        self.good("fail", "link", link["to"])
        self.good("lanes", "0:0", "2")
        self.good("ber", "0:1", "1e-4")
        wrong = {line["link"]: line for line in self.report("links")["links"]}
        self.assertEqual(wrong[link["link"]]["state"], "down")
        self.assertEqual((wrong["0:0"]["state"], wrong["0:0"]["lanes"]), ("degraded", 2))
        self.assertAlmostEqual(wrong["0:1"]["error rate"], 1e-4)
        self.assertEqual(len(wrong), 3)
        self.assertTrue(self.report("show")["bit errors"])
        self.good("restore", "link", link["link"])
        self.good("lanes", "0:0", "3")
        self.good("ber", "0:1", "0")
        self.assertEqual(self.report("links")["links"], [])
        tiles = self.report("tiles", "0")["tiles"]
        self.assertEqual([line["kind"] for line in tiles if line["link"] == "0:0"], ["green"])

    def test_ways_are_those_that_there_are(self):
        report = self.report("route", "0", "1")
        self.assertTrue(report["reachable"])
        for way in report["ways"]:
            outputs = way["outputs"].split()
            self.assertEqual(len(outputs), way["hops"] + 1)
            self.assertEqual((outputs[0].split(":")[0], outputs[-1].split(":")[0]), ("0", "15"))
        minimal = self.report("route", "0", "1", "--mode", "minimal")["ways"]
        self.assertGreater(len(minimal), 1)
        self.assertTrue(all(way["minimal"] == "yes" for way in minimal))
        self.assertTrue(all(way["minimal"] == "no" for way in self.report("route", "0", "1", "--mode", "nonminimal")["ways"]))
        self.assertEqual(len(self.report("route", "0", "1", "--mode", "ordered")["ways"]), 1)
        first = minimal[0]["outputs"].split()[0]
        self.good("fail", "link", first)
        self.assertFalse(any(way["outputs"].startswith(first + " ") for way in self.report("route", "0", "1", "--mode", "minimal")["ways"]))

    def test_what_fails_stops_packets(self):
        self.assertEqual(self.put(), OK)
        for part in (("router", "15"), ("node", "1"), ("router", "0")):
            self.good("fail", *part)
            self.assertEqual(self.put(), NO_NODE, part)
            self.good("restore", *part)
            self.assertEqual(self.put(), OK, part)
        self.good("fail", "router", "15")
        self.assertEqual(self.report("show")["members"][1]["network"], "cut off")
        tiles = self.report("tiles", "15")["tiles"]
        self.assertEqual({line["state"] for line in tiles}, {"down"})
        self.assertEqual(self.report("links")["shown"], len(tiles))
        self.good("restore", "router", "15")
        self.good("fail", "node", "1")
        self.assertFalse(self.report("route", "0", "1")["reachable"])
        self.assertEqual(self.report("show")["members"][1]["network"], "cut off")

    def test_quiesce(self):
        """A put that comes in a quiesce leaves when it is over, and modelled time goes on to there."""
        before = self.report("show")
        self.assertEqual((before["quiesces"], before["quiet for another ns"]), (0, 0))
        self.good("quiesce", "40000")
        during = self.report("show")
        self.assertEqual((during["quiesces"], during["length of the last quiesce, ns"]), (1, 40_000_000_000))
        self.assertGreater(during["quiet for another ns"], 0)
        self.assertEqual(self.put(), OK)
        after = self.report("show")
        self.assertEqual(after["quiet for another ns"], 0)
        ahead = "modelled time ahead of the host, ns"
        self.assertGreaterEqual(after[ahead] - before[ahead], during["quiet for another ns"] / 2)
        for length in ("0", "-1", "60001", "nan"):
            self.bad("at most 60000 ms", "quiesce", length)
        self.assertEqual(self.report("show")["quiesces"], 1)

    def test_time(self):
        """The rate of modelled time, and whether completions wait for it."""
        def state():
            shown = self.report("show")
            return shown["modelled ns in a ns of the host"], shown["completions are held"]

        self.assertEqual(state(), (1, False))
        self.good("time", "--rate", "100")
        self.assertEqual(state(), (100, False))
        self.good("time", "--hold", "on")
        self.assertEqual(state(), (100, True))
        self.assertEqual(self.put(), OK)
        self.good("time", "--rate", "1", "--hold", "off")
        self.assertEqual(state(), (1, False))
        for rate in ("0", "-1", "1e-7", "1001", "nan"):
            self.bad("a rate from 1e-6 to 1000", "time", "--rate", rate)
        for arguments in (["time"], ["time", "--hold", "maybe"], ["time", "--rate", "quick"]):
            self.assertEqual(self.run_tool(*arguments)[0], 2, arguments)
        self.assertEqual(state(), (1, False))

    def test_svg(self):
        """A picture shows where the members are, and of each connected pair of routers what is wrong with its links."""
        svg = "{http://www.w3.org/2000/svg}"

        def titles(kind, name):
            picture = xml.etree.ElementTree.fromstring(self.good("svg"))
            return [one.find(svg + "title").text for one in picture.iter(svg + kind) if one.get("class") == name]

        members = [title for title in titles("rect", "router") if "node" in title]
        self.assertEqual(len(members), 2)
        self.assertIn(": node 0 alive", members[0])
        self.assertEqual(titles("path", "down") + titles("path", "degraded"), [])
        whole = titles("path", "link")

        self.good("fail", "link", "0:0")
        self.good("lanes", "0:1", "2")
        far = {line["link"]: line["to"].split(":")[0] for line in self.report("tiles", "0")["tiles"]}
        down, degraded = titles("path", "down"), titles("path", "degraded")
        self.assertEqual((len(down), len(degraded)), (1, 1))
        # What is broken lies over frames and all other links, and down over degraded.
        order = [one.get("class") for one in xml.etree.ElementTree.fromstring(self.good("svg"))]
        self.assertLess(max(i for i, name in enumerate(order) if name in ("group", "link")), order.index("degraded"))
        self.assertLess(order.index("degraded"), order.index("down"))
        self.assertTrue(down[0].startswith(f"routers 0 and {far['0:0']}: ") and "1 down" in down[0], down)
        self.assertTrue(degraded[0].startswith(f"routers 0 and {far['0:1']}: ") and "1 degraded" in degraded[0], degraded)
        self.assertEqual(len(titles("path", "link")), len(whole))
        self.good("restore", "link", "0:0")
        self.good("lanes", "0:1", "3")
        self.good("fail", "node", "1")
        self.assertEqual(titles("path", "link"), whole)
        self.assertIn("node 1 alive, cut off", [title for title in titles("rect", "router") if "node" in title][1])

    def test_events(self):
        watch = subprocess.Popen([TOOL, "-f", self.fabric, "events", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(watch.wait, 60)
        self.addCleanup(watch.kill)

        def event():
            return json.loads(watch.stdout.readline())

        self.assertEqual([(line["part"], line["was"], line["is"]) for line in (event(), event())], [("node 0", "never", "alive"), ("node 1", "never", "alive")])
        for command, part, was, now in ((("fail", "link", "0:1"), "link 0:1", "as new", "down"), (("lanes", "0:1", "1"), "link 0:1", "down", "down, 1 lanes"),
                                        (("ber", "0:1", "1e-5"), "link 0:1", "down, 1 lanes", "down, 1 lanes, bit error rate 1e-05"),
                                        (("fail", "node", "1"), "node 1", "alive", "alive, cut off"),
                                        (("restore", "node", "1"), "node 1", "alive, cut off", "alive")):
            self.good(*command)
            found = event()
            self.assertEqual(found["part"], part)
            self.assertEqual((found["was"], found["is"]), (was, now))
            self.assertRegex(found["time"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertEqual(found["place"], "c1-1s3a0n3")
        self.holder.kill()
        out, err = watch.communicate(timeout=60)
        self.assertEqual(watch.returncode, 0)
        self.assertIn("the last member has left", err)
        self.assertIn('"is":"gone"', out)

    def test_events_for_a_time(self):
        lines = self.good("events", "--seconds", "0.1").splitlines()
        self.assertEqual([line.split(" ", 1)[1] for line in lines], ["node 0 (c0-0s0a0n0): never -> alive", "node 1 (c1-1s3a0n3): never -> alive"])
        self.assertEqual(self.run_tool("events", "--seconds", "-1")[0], 2)

    def test_counters(self):
        before = self.report("counters", "0")
        for _ in range(10):
            self.assertEqual(self.put(), OK)
        after = self.report("counters", "0")
        changed = {name for name, value in after.items() if value != before[name]}
        self.assertTrue(any("FLIT" in name for name in changed), changed)
        self.assertEqual(set(self.report("counters", "0", "3")), {name for name in after if name.startswith("AR_RTR_0_3_")})

    def test_wrong_names(self):
        for word, *args in (("no link is at router 0 tile 40", "fail", "link", "0:40"), ("router 16 is none", "tiles", "16"),
                            ("ROUTER:TILE", "fail", "link", "3"), ("no number", "fail", "node", "-1"), ("link, router or node", "fail", "cable", "3"),
                            ("node 3 is none", "route", "0", "3"), ("1 to 3 lanes", "lanes", "0:0", "4"), ("0 to", "ber", "0:0", "0.5"),
                            ("tile 48 is none", "counters", "0", "48"), ("no number", "ber", "0:x", "0")):
            with self.subTest(args=args):
                self.bad(word, *args)
        self.assertEqual(self.run_tool("route", "0", "1", "--mode", "scenic")[0], 2)
        self.assertEqual(self.report("links")["links"], [])

    def test_what_is_no_fabric(self):
        with open(self.fabric, "rb") as file:
            whole = file.read(8192)
        for content, word in ((b"", "not a fabric"), (b"x" * 8192, "not a fabric"), (whole, "damaged"), (whole[:8] + b"\xff" * 4 + whole[12:], "version")):
            with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
                file.write(content)
                file.flush()
                self.fabric = file.name
                self.bad(word, "show")
        self.fabric = "/dev/shm"
        self.bad("not a fabric", "show")
        self.fabric = "/dev/shm/none of that name"
        self.bad("cannot open", "show")

    def test_fabrics_by_name(self):
        name = f"check-net-{os.getpid()}"
        os.link(self.fabric, f"/dev/shm/aries-{name}")
        self.addCleanup(os.unlink, f"/dev/shm/aries-{name}")
        self.fabric = name
        self.assertEqual(self.report("show")["nodes"], 64)
        self.fabric = "none-of-that-name"
        self.bad("cannot open fabric /dev/shm/aries-none-of-that-name", "show")
        status, out, err = (lambda r: (r.returncode, r.stdout, r.stderr))(subprocess.run([TOOL, "show", "--json"], capture_output=True, text=True, check=False))
        if status:
            self.assertIn(name, err, "several run here")
        else:
            self.assertEqual(json.loads(out)["nodes"], 64)

    def test_nobody_is_left(self):
        self.holder.kill()
        self.holder.wait(60)
        self.bad("has no members", "show")


class Serve(FabricCase):
    """What is answered by HTTP, and to whom."""

    TOKEN = "0123456789-abc.~_"

    def setUp(self):
        super().setUp()
        self.token_file = self.file("token", self.TOKEN + "\n")

    def file(self, name, text):
        """Path of a new file."""
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        return path

    def serve(self, *options, host="127.0.0.1"):
        """Starts a server; its address."""
        self.server = subprocess.Popen([TOOL, "-f", self.fabric, "serve", f"--listen={host}:0", *options],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.server.communicate, None, 60)
        self.addCleanup(self.server.kill)
        self.url = urllib.parse.urlsplit(self.server.stdout.readline().rstrip("\n"))
        return self.url

    def ask(self, path, method="GET", token=TOKEN, **headers):
        """(status, body) of a request."""
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=60)
        self.addCleanup(connection.close)
        connection.request(method, path, headers={**({"Authorization": f"Bearer {token}"} if token else {}), **headers})
        response = connection.getresponse()
        return response.status, response.read().decode()

    def metrics(self):
        """{name: {labels as a tuple of pairs: value}}, as a monitor reads them."""
        status, text = self.ask("/metrics")
        self.assertEqual(status, 200, text)
        return {family.name: {tuple(sorted(sample.labels.items())): sample.value for sample in family.samples}
                for family in text_string_to_metric_families(text)}, text

    def test_metrics_are_what_was_counted(self):
        self.serve("--token-file", self.token_file)
        for _ in range(10):
            self.assertEqual(self.put(), OK)
        families, text = self.metrics()
        counted = {"0": self.report("counters", "0"), "15": self.report("counters", "15")}
        places = {"0": "c0-0s0", "15": "c1-1s3"}
        total = 0
        for router, counters in counted.items():
            for name, value in counters.items():
                if "INCOMING_FLIT" in name:
                    total += value
            received = [value for labels, value in families["aries_tile_flits_received"].items() if ("router", places[router]) in labels]
            self.assertEqual(sum(received), sum(value for name, value in counters.items() if "INCOMING_FLIT" in name), router)
        # Fourteen flits of a put of 64 bytes come from the NIC, and a response of one (P03).
        self.assertGreaterEqual(total, 10 * (14 + 1))
        flits, sent = families["aries_tile_flits_received"], families["aries_tile_data_received_bytes"]
        for labels, value in flits.items():
            self.assertAlmostEqual(sent[labels], value * (6 if ("kind", "processor") in labels else 20 / 3), places=3)
        self.assertEqual(families["aries_node_up"][(("cname", "c1-1s3a0n3"), ("node", "1"))], 1)
        self.assertEqual(families["aries_fabric_nodes"][()], 64)
        if shutil.which("promtool"):
            checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
            self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, "", ""))

    def test_metrics_follow_faults(self):
        self.serve("--token-file", self.token_file)
        self.good("fail", "link", "0:1")
        self.good("lanes", "0:2", "1")
        self.good("ber", "0:0", "1e-5")
        self.good("fail", "node", "1")
        self.good("quiesce", "40000")
        families, _ = self.metrics()

        def tile(metric, number):
            return families[f"aries_tile_{metric}"][(("kind", "green"), ("router", "c0-0s0"), ("tile", str(number)))]

        self.assertEqual([tile("link_up", number) for number in (0, 1)], [1, 0])
        self.assertEqual([tile("link_lanes", number) for number in (0, 2)], [3, 1])
        self.assertAlmostEqual(tile("link_bit_error_ratio", 0), 1e-5)
        self.assertEqual(families["aries_node_link_up"][(("cname", "c1-1s3a0n3"), ("node", "1"))], 0)
        self.assertEqual((families["aries_fabric_quiesces"][()], families["aries_fabric_quiesced"][()]), (1, 1))

    def test_reports_are_those_of_the_commands(self):
        self.serve("--token-file", self.token_file)
        self.good("lanes", "0:2", "1")
        for path, *command in (("/api/links", "links"), ("/api/links?all", "links", "--all"), ("/api/tiles?router=0", "tiles", "0"),
                               ("/api/counters?router=0", "counters", "0"), ("/api/counters?router=0&tile=3", "counters", "0", "3"),
                               ("/api/route?from=0&to=1&mode=ordered", "route", "0", "1", "--mode", "ordered")):
            status, text = self.ask(path)
            self.assertEqual((status, json.loads(text)), (200, self.report(*command)), path)
        self.assertTrue(json.loads(self.ask("/api/route?from=0&to=1")[1])["ways"])
        self.assertEqual(json.loads(self.ask("/api/show")[1])["members"], self.report("show")["members"])

    def test_who_may_ask(self):
        self.serve("--token-file", self.token_file)
        for token in ("", "wrong", self.TOKEN[:-1], self.TOKEN + "x"):
            status, text = self.ask("/metrics", token=token)
            self.assertEqual(status, 401)
            self.assertNotIn("aries_", text)
        self.assertEqual(self.ask(f"/metrics?token={self.TOKEN}", token="")[0], 200)
        # A page of another host whose name leads here.
        for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "[::2]", ""):
            self.assertEqual(self.ask("/metrics", Host=host)[0], 403, host)
        for host in ("localhost", "127.0.0.1:1", "[::1]:80"):
            self.assertEqual(self.ask("/metrics", Host=host)[0], 200, host)
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            self.assertEqual(self.ask("/api/links", method)[0], 405, method)

    def test_tokens(self):
        first = urllib.parse.parse_qs(self.serve().query)["token"][0]
        self.assertRegex(first, "^[0-9a-f]{32}$")
        self.assertEqual(self.ask("/metrics", token=first)[0], 200)
        self.assertNotEqual(urllib.parse.parse_qs(self.serve().query)["token"][0], first)
        self.assertEqual(self.serve("--open").query, "")
        self.assertEqual(self.ask("/metrics", token="")[0], 200)
        for text in ("", "short\n", "a blank is in this one\n"):
            self.bad("has no token", "serve", "--token-file", self.file("bad", text))
        self.bad("cannot be read", "serve", "--token-file", "/none of that name")

    def test_where_it_listens(self):
        self.serve("--open", host="[::1]")
        self.assertEqual(self.ask("/api/links", token="")[0], 200)
        self.bad("--open is for addresses of this host alone", "serve", "--open", "--listen=0.0.0.0:0")
        self.bad("in use", "serve", f"--listen=[::1]:{self.url.port}")
        for listen in ("127.0.0.1", "127.0.0.1:", ":80", "127.0.0.1:65536", "::1:80", "127.0.0.1:x"):
            self.bad("is no address to listen at", "serve", f"--listen={listen}")
        self.bad("cannot listen", "serve", "--listen=192.0.2.1:0")
        self.holder.kill()
        self.holder.wait(60)
        self.bad("has no members", "serve", "--listen=127.0.0.1:0")

    def test_requests_that_make_no_sense(self):
        self.serve("--token-file", self.token_file)
        for status, word, path in ((404, "/api/route", "/"), (404, "/metrics", "/api"), (400, "router is missing", "/api/tiles"),
                                   (400, "is no number of a router", "/api/tiles?router=%3Cb%3E"), (400, "router 16 is none", "/api/tiles?router=16"),
                                   (400, "tile 48 is none", "/api/counters?router=0&tile=48"), (400, "to is missing", "/api/route?from=0"),
                                   (400, "node 9 is none", "/api/route?from=0&to=9"), (400, "mode is", "/api/route?from=0&to=1&mode=scenic"),
                                   (400, "no number", "/api/tiles?router=4294967296"), (400, "no number", "/api/tiles?router=-1")):
            got, text = self.ask(path)
            self.assertEqual(got, status, path)
            self.assertIn(word, json.loads(text)["error"])
        with socket.create_connection((self.url.hostname, self.url.port), 60) as client:
            client.sendall(b"\x00\xff not a request\r\n\r\n")
            client.recv(4096)
        self.assertEqual(self.ask("/api/links")[0], 200)

    def test_many_readers(self):
        self.serve("--token-file", self.token_file)
        # Some that say nothing do not keep the others from an answer.
        silent = [socket.create_connection((self.url.hostname, self.url.port), 60) for _ in range(4)]
        with concurrent.futures.ThreadPoolExecutor(50) as pool:
            answers = list(pool.map(lambda _: self.ask("/metrics")[0], range(200)))
        self.assertEqual(answers, [200] * 200)
        # Nor does one who stays after its answer.
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=60)
        self.addCleanup(connection.close)
        connection.request("GET", f"/api/show?token={self.TOKEN}")
        self.assertEqual(connection.getresponse().getheader("Connection"), "close")
        for one in silent:
            one.close()

    def test_a_fabric_that_ends_and_begins_again(self):
        self.serve("--token-file", self.token_file)
        self.assertEqual(self.ask("/metrics")[0], 200)
        self.end()
        for _ in range(2):
            status, text = self.ask("/metrics")
            self.assertEqual(status, 503)
            self.assertIn(self.fabric, json.loads(text)["error"])
        self.begin()
        self.assertTrue(json.loads(self.ask("/api/route?from=0&to=1")[1])["ways"])
        self.assertEqual(json.loads(self.ask("/api/show")[1])["members"][0]["pid"], self.holder.pid)

    def test_it_ends(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            self.serve("--token-file", self.token_file)
            with socket.create_connection((self.url.hostname, self.url.port), 60) as client:
                client.sendall(b"GET /metr")
                self.server.send_signal(number)
                _, errors = self.server.communicate(timeout=60)
            self.assertEqual((self.server.returncode, errors), (0, ""))


class Terminal:
    """A program in a terminal of 30 lines, and what a user sees there."""

    LINES, COLUMNS = 30, 120

    def __init__(self, *argv, term="xterm-256color"):
        self.screen = pyte.Screen(self.COLUMNS, self.LINES)
        self.stream = pyte.ByteStream(self.screen)
        self.pid, self.end = pty.fork()
        if not self.pid:
            os.environ["TERM"] = term
            os.execv(argv[0], argv)
        fcntl.ioctl(self.end, termios.TIOCSWINSZ, struct.pack("HHHH", self.LINES, self.COLUMNS, 0, 0))

    def type(self, text):
        """Keys of a user."""
        os.write(self.end, text.encode())

    def shows(self, *words, seconds=60, without=()):
        """The screen, as soon as it has all words and none of others; fails if that takes too long."""
        until = time.monotonic() + seconds
        while True:
            text = "\n".join(self.screen.display)
            if all(word in text for word in words) and not any(word in text for word in without):
                return text
            if time.monotonic() > until or not self._read(until):
                raise AssertionError(f"not {words}, without {without}, on the screen:\n{text}")

    def _read(self, until):
        if not select.select([self.end], [], [], max(0, until - time.monotonic()))[0]:
            return False
        try:
            self.stream.feed(os.read(self.end, 65536))
        except OSError:
            return False
        return True

    def ended(self, seconds=60):
        """What it ends with."""
        until = time.monotonic() + seconds
        while self._read(until):
            pass
        # Whoever has closed the terminal ends soon.
        while time.monotonic() < until:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
        raise AssertionError("it has not ended, and shows:\n" + "\n".join(self.screen.display))

    def close(self):
        """Ends it if it has not ended."""
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
        os.close(self.end)


class Top(FabricCase):
    """Tables of links and nodes, printed and in a terminal."""

    def tables(self, *options, count=1):
        """[[words of a row]] of each table that is printed."""
        text = self.good("top", "--interval=0.1", f"--tables={count}", *options)
        return [[line.split() for line in table.splitlines()[3:]] for table in text.split("\n\n")]

    def in_terminal(self, *options, **how):
        """top in a terminal."""
        terminal = Terminal(TOOL, "-f", self.fabric, "top", "--interval=0.1", *options, **how)
        self.addCleanup(terminal.close)
        return terminal

    def test_tables(self):
        self.assertEqual(self.put(), OK)
        (links,) = self.tables()
        every = {line["link"]: line for router in ("0", "15") for line in self.report("tiles", router)["tiles"]}
        self.assertEqual({row[0] for row in links} & set(every), set(every))
        for row in links:
            if row[0] in every:
                line = every[row[0]]
                self.assertEqual(row[1:6], [line["from"], line["kind"], line["to"], line["state"], str(line["lanes"])])
        (nodes,) = self.tables("--nodes")
        self.assertEqual([row[:4] for row in nodes], [["0", "c0-0s0a0n0", "alive", "up"], ["1", "c1-1s3a0n3", "alive", "up"]])

    def test_rates_are_of_the_time_between_two_looks(self):
        """Ten puts of 64 bytes are 140 flits of six bytes, whenever they come in the first of two seconds."""
        top = subprocess.Popen([TOOL, "-f", self.fabric, "top", "--nodes", "--interval=2", "--tables=2"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(top.wait, 60)
        self.addCleanup(top.kill)
        time.sleep(0.5)
        for _ in range(1000):
            self.assertEqual(self.put(), OK)
        first, second = (table.splitlines()[3:] for table in top.communicate(timeout=60)[0].split("\n\n"))
        sent = [sum(float(row.split()[4]) for row in table) for table in (first, second)]
        # On a busy machine the puts may end after the first table.
        self.assertGreater(sum(sent) * 2, 0.9 * 1000 * 14 * 6 / 1e6)
        self.assertLess(sum(sent) * 2, 1.5 * 1000 * 15 * 6 / 1e6)

    def test_sort_and_filter(self):
        self.assertEqual(self.put(), OK)
        self.good("lanes", "0:1", "1")
        self.good("fail", "link", "0:2")
        self.assertEqual([row[0] for row in self.tables("--filter", "DEGRADED")[0] if row[0].startswith("0:")], ["0:1"])
        self.assertEqual([row[0] for row in self.tables("--filter", "down")[0] if row[0].startswith("0:")], ["0:2"])
        lanes = [int(row[5]) for row in self.tables("--sort=lanes", "--reverse")[0]]
        self.assertEqual(lanes, sorted(lanes))
        self.assertEqual(lanes[0], 1)
        names = [row[0] for row in self.tables("--sort=link")[0]]
        self.assertEqual(names, sorted(names, key=lambda name: [int(number) for number in name.split(":")]))
        self.bad("is no column of this table: link, from", "top", "--tables=1", "--sort=price")
        self.assertEqual(self.run_tool("top", "--interval", "0")[0], 2)
        self.assertEqual(self.run_tool("top", "--tables", "0")[0], 2)

    def test_in_a_terminal(self):
        self.assertEqual(self.put(), OK)
        terminal = self.in_terminal("--sort=link")
        terminal.shows("LINK", "c0-0s0", "green", "rows by LINK", "2 of 2 alive", "0 down")
        self.good("fail", "link", "0:1")
        terminal.shows("2 down")
        terminal.type("/down\n")
        terminal.shows(", with down", "0:1 ", without=("green  0:2", "  up "))
        terminal.type("/\x1b")
        terminal.shows("  up ", without=("with down",))
        terminal.type("\t")
        terminal.shows("CNAME", "c1-1s3a0n3", "2 rows by NODE")
        terminal.type(">r")
        terminal.shows("by CNAME (reversed)")
        terminal.type("p")
        terminal.shows("PAUSED")
        self.good("restore", "link", "0:1")
        self.good("fail", "node", "1")
        time.sleep(0.5)
        # Drawn anew after all that, with what was there before the pause.
        terminal.type("r")
        text = terminal.shows("by CNAME, PAUSED")
        self.assertIn("2 down", text)
        self.assertNotIn("cut off", text)
        terminal.type("p")
        terminal.shows("0 down", "cut off", without=("PAUSED",))
        terminal.type("q")
        self.assertEqual(terminal.ended(), 0)

    def test_what_it_ends_with(self):
        self.bad("needs a terminal", "top")
        terminal = self.in_terminal(term="none-of-that-name")
        self.assertEqual(terminal.ended(), 1)
        self.assertIn("TERM", "\n".join(terminal.screen.display))
        terminal = self.in_terminal()
        terminal.shows("2 of 2 alive")
        self.end()
        self.assertEqual(terminal.ended(), 1)
        self.assertIn("aries-net: ", "\n".join(terminal.screen.display))
        self.bad("cannot open", "top", "--tables=1")


if __name__ == "__main__":
    TOOL, HOLDER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1], verbosity=2)
