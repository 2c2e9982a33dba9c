# SPDX-License-Identifier: GPL-2.0-or-later
"""Properties, messages for wrong ones, state by QMP, migration."""

import pathlib
import re
import subprocess
import tempfile

from aries import Endpoint, FabricCase, HW
from qtest import QEMU, Qemu, start_error, wait_until

PATH = "/machine/peripheral/nic0"
# name: range that the help names
KNOBS = {
    "node": "0 to 255", "nodes": "1 to 256", "machine-nodes": "0 to 92544", "place": "0 to 92543",
    "cut-link": "0 to 1480704", "mend-link": "0 to 1480704",
    "noisy-link": "0 to 77310892032", "link-lanes": "0 to 12886382592",
    "ecc-single": "0 to 47246120960", "ecc-double": "0 to 47246120960", "routers-per-chassis": "1 to 16", "chassis-per-group": "1 to 6",
    "lease-ms": "50 to 60000", "drop": "0 to 4294967295", "drop-response": "0 to 4294967295", "corrupt": "0 to 4294967295", "delay-ns": "0 to 1000000000",
    "link": "0 to 1", "reorder": "0 to 1", "duplicate": "0 to 4294967295", "fabric": "80 bytes", "trace-file": "pcapng",
    "trace-limit": "4096 to 1099511627776", "trace-packets": "1 to 67108864", "doorbell": "trapped",
}


class Help(FabricCase):
    def test_every_property_has_text_and_range(self):
        text = subprocess.run([QEMU, "-device", "aries-nic,help"], capture_output=True, text=True, check=True).stdout
        for name, span in KNOBS.items():
            with self.subTest(property=name):
                line = re.search(rf"^  {name}=<\w+>\s+- (.+)$", text, re.M)
                self.assertTrue(line, "is in the help, with a text")
                self.assertIn(span, line.group(1))

    def test_listed_as_network_device(self):
        text = subprocess.run([QEMU, "-device", "help"], capture_output=True, text=True, check=True).stdout
        line = next(line for line in text.splitlines() if '"aries-nic"' in line)
        self.assertIn("Aries network interface", line)


class WrongValues(FabricCase):
    def refused(self, options, *needles, memory=None):
        fabric = "" if "fabric=" in options else f",fabric={self.fabric}"
        text = start_error("-device", f"aries-nic,bus=rp0{fabric},{options}", memory=memory)
        lines = [line for line in text.splitlines() if line]
        self.assertEqual(len(lines), 1, f"one line: {text}")
        for needle in needles:
            self.assertIn(needle, text)

    def test_numbers(self):
        for options, *needles in (
                ("node=2", "node=2", "0 to 1"), ("node=256,nodes=256", "node=256", "0 to 255"),
                ("node=abc", "node", "0 to 255"), ("nodes=0", "nodes=0", "1 to 256"),
                ("nodes=257", "nodes=257", "1 to 256"),
                ("routers-per-chassis=0", "routers-per-chassis=0", "1 to 16"),
                ("routers-per-chassis=17", "routers-per-chassis=17", "1 to 16"),
                ("chassis-per-group=7", "chassis-per-group=7", "1 to 6"),
                ("machine-nodes=92545", "machine-nodes=92545", "0 to 92544"), ("place=92544", "place=92544", "0 to 92543"),
                ("place=2", "place 2 is none", "0 to 1"), ("machine-nodes=1", "machine of 1 nodes has no places for a fabric of 2"),
                ("machine-nodes=100,place=100", "place 100 is none", "0 to 99"), ("cut-link=41", "no link is at router 0 tile 41"),
                ("noisy-link=41", "no link is at router 0 tile 41"), ("noisy-link=4294967296", "one in 10^2 to 10^18", "not one in 10^1"),
                ("link-lanes=0", "1 to 3 lanes, not 0"), ("ecc-single=4294967296", "entry 0 of memory 1 is not there, or not in use"),
                ("ecc-double=4096", "entry 4096 of memory 0 is not there"),
                ("lease-ms=49", "lease-ms=49", "50 to 60000"), ("lease-ms=60001", "lease-ms=60001", "50 to 60000"),
                ("doorbell=rung", "doorbell=rung is neither trapped nor polled"), ("link=2", "link=2", "0 to 1"), ("reorder=2", "reorder=2", "0 to 1"),
                ("duplicate=4294967296", "duplicate=4294967296", "0 to 4294967295"),
                ("trace-limit=4095", "trace-limit=4095", "4096 to 1099511627776"),
                ("trace-packets=0", "trace-packets=0", "1 to 67108864"),
                ("drop=4294967296", "drop=4294967296", "0 to 4294967295"),
                ("delay-ns=1000000001", "delay-ns=1000000001", "0 to 1000000000")):
            with self.subTest(options=options):
                self.refused(options, *needles)

    def test_fabric_names(self):
        self.refused("fabric=a/b", "fabric=a/b", "absolute path")
        self.refused("fabric=", "fabric=", "absolute path")
        self.refused("fabric=/dev/shm/" + "x" * 100, "too long", "80")
        self.refused("fabric=/nonexistent-dir/fabric", "/nonexistent-dir")

    def test_place_of_another(self):
        with Qemu("-device", f"aries-nic,id=nic0,bus=rp0,fabric={self.fabric},machine-nodes=768,place=400") as qemu:
            self.assertEqual(qemu.qmp("qom-get", path=PATH, property="place"), 400)
            self.assertIn("node 0: place 400, NIC 0 of router 100 (group 1 chassis 0 slot 4)",
                          qemu.qmp("qom-get", path=PATH, property="describe"))
            self.refused("node=1,machine-nodes=768,place=400", "place 400", "taken by node 0")
            self.refused("node=1", "machine nodes 768", "wants 2")

    def test_trace_files(self):
        self.refused("trace-file=/nonexistent-dir/x", "trace-file", "/nonexistent-dir/x", "No such file")

    def test_fabric_that_is_something_else(self):
        with open(f"/dev/shm/aries-{self.fabric}", "wb") as file:
            file.write(b"not a segment" * 1000)
        self.refused("node=0", self.fabric)

    def test_memory_that_is_not_shared(self):
        self.refused("node=0", "not shared", "share=on", memory=["-machine", "q35"])
        self.refused("node=0", "not shared", "'mem'", memory=[
            "-machine", "q35,memory-backend=mem", "-object", "memory-backend-memfd,id=mem,size=64M,share=off"])

    def test_memory_that_is_read_only(self):
        with tempfile.NamedTemporaryFile() as file:
            file.truncate(64 << 20)
            self.refused("node=0", "'mem'", "read-only", "readonly=off", memory=[
                "-machine", "q35,memory-backend=mem", "-object",
                f"memory-backend-file,id=mem,size=64M,share=on,readonly=on,mem-path={file.name}"])

    def test_memory_that_may_shrink(self):
        self.refused("node=0", "not sealed", "seal=on", memory=[
            "-machine", "q35,memory-backend=mem", "-object", "memory-backend-memfd,id=mem,size=64M,share=on,seal=off"])

    def test_fabric_that_begins_with_zeros(self):
        path = pathlib.Path(f"/dev/shm/aries-{self.fabric}")
        path.write_bytes(bytes(2048) + b"a file system")
        self.refused("node=0", self.fabric, "is not a fabric")
        self.assertEqual(path.read_bytes(), bytes(2048) + b"a file system")

    def test_only_migratable(self):
        text = start_error("-only-migratable", "-device", f"aries-nic,bus=rp0,fabric={self.fabric}")
        self.assertIn("peers hold mappings", text)


class Runtime(FabricCase):
    def setUp(self):
        super().setUp()
        self.dev = self.nic()

    def get(self, name):
        return self.dev.qemu.qmp("qom-get", path=PATH, property=name)

    def set_error(self, name, value):
        return self.dev.qemu.qmp_error("qom-set", path=PATH, property=name, value=value)

    def test_configuration_reads_back_and_stays(self):
        self.assertEqual([self.get(name) for name in ("node", "nodes", "lease-ms", "fabric", "machine-nodes", "place")], [0, 2, 500, self.fabric, 0, 0])
        for name, value in (("node", 1), ("machine-nodes", 4), ("place", 1), ("nodes", 4), ("lease-ms", 100), ("fabric", "x")):
            self.assertIn("cannot be changed", self.set_error(name, value))
        self.assertEqual(self.get("node"), 0)

    def test_faults(self):
        name: str
        value: object
        for name, values, wrong in (("drop", (3, 0), (-1, 1 << 32, "x")), ("corrupt", (2, 0), (1 << 32,)),
                                    ("drop-response", (4, 0), (-1, 1 << 32)),
                                    ("delay-ns", (500, 0), (1000000001,)), ("link", (0, 1), (2, "up")),
                                    ("reorder", (1, 0), (2,)), ("duplicate", (7, 0), (-1, 1 << 32))):
            for value in values:
                self.assertEqual(self.set_error(name, value), "")
                self.assertEqual(self.get(name), value)
            for value in wrong:
                with self.subTest(property=name, value=value):
                    text = self.set_error(name, value)
                    self.assertIn(name, text)
                    self.assertIn(" to ", text)
                    self.assertEqual(self.get(name), values[-1])

    def test_faults_from_the_command_line(self):
        nic = self.nic(node=1, options=",drop=2,link=0")
        self.assertEqual(nic.qemu.qmp("qom-get", path=PATH, property="drop"), 2)
        self.assertEqual(nic.qemu.qmp("qom-get", path=PATH, property="link"), 0)

    def test_time(self):
        self.assertEqual([self.get(name) for name in ("time-rate", "hold-completions", "background")], [1, False, ""])
        for name, value in (("time-rate", 0.5), ("hold-completions", True), ("background", "uniform:0.25")):
            self.assertEqual(self.set_error(name, value), "")
            self.assertEqual(self.get(name), value)
        for text in ("0.5 ns a ns of the host, completions are held", "background uniform:0.25"):
            self.assertIn(text, self.get("describe"))
        for name, value, text in (("time-rate", 0, "a rate from"), ("time-rate", 1001, "a rate from"), ("time-rate", "x", "time-rate"),
                                  ("hold-completions", 1, "hold-completions"), ("background", "uniform:x", "a share from 0 to 1"),
                                  ("background", "/nowhere", "/nowhere cannot be read")):
            self.assertIn(text, self.set_error(name, value))
        self.assertEqual([self.get(name) for name in ("time-rate", "hold-completions", "background")], [0.5, True, "uniform:0.25"])
        # A property of the fabric also holds for nodes that come later.
        other = self.nic(node=1)
        self.assertEqual(other.qemu.qmp("qom-get", path=PATH, property="time-rate"), 0.5)
        self.assertEqual(other.qemu.qmp("qom-get", path=PATH, property="hold-completions"), True)

    def test_time_from_the_command_line(self):
        nic = self.nic(node=1, options=",time-rate=0.125,hold-completions=on,background=uniform:0.5")
        self.assertEqual([nic.qemu.qmp("qom-get", path=PATH, property=name) for name in ("time-rate", "hold-completions", "background")],
                         [0.125, True, "uniform:0.5"])
        self.assertEqual(self.get("time-rate"), 0.125)

    def test_counters(self):
        end = Endpoint(self.dev)
        self.assertEqual(end.put(0, 0, b"count me"), 0)
        for name, index in HW.items():
            if name.startswith("ARIES_CNT_"):
                prop = "counter-" + name[10:].lower().replace("_", "-")
                self.assertEqual(self.get(prop), self.dev.get("CNT_VALUE", index), prop)
        self.assertEqual(self.get("counter-fma-puts"), 1)
        self.assertNotEqual(self.set_error("counter-fma-puts", 0), "", "read only")

    def test_describe(self):
        self.assertRegex(self.get("describe"), r"\w")

    def trace(self, name="trace"):
        path = pathlib.Path("/dev/shm") / f"aries-{self.fabric}.{name}.pcapng"
        self.addCleanup(path.unlink, missing_ok=True)
        return path

    def test_packet_trace(self):
        path, end = self.trace(), Endpoint(self.dev)
        self.assertEqual([self.get(name) for name in ("trace-file", "trace-limit", "trace-packets")], ["", 64 << 20, 32])
        self.assertEqual(self.set_error("trace-packets", 1), "")
        self.assertEqual(self.set_error("trace-file", str(path)), "")
        self.assertEqual(self.get("trace-file"), str(path))
        self.assertIn(f"trace {path}", self.get("describe"))
        self.assertEqual(end.put(0, 0, b"traced twice" * 10), 0)
        self.assertIn("another trace", self.set_error("trace-file", str(path)))
        self.assertEqual(self.get("trace-file"), str(path))
        self.assertEqual(self.set_error("trace-file", ""), "")
        self.assertEqual(self.get("trace-file"), "")
        data = path.read_bytes()
        self.assertEqual(data[:4], b"\n\r\r\n")
        self.assertEqual(data.count(b"traced twice"), 5, "one packet of the two")
        self.assertEqual(end.put(0, 0, b"not traced"), 0)
        self.assertEqual(path.read_bytes(), data)

    def test_packet_trace_that_cannot_be(self):
        value: object
        for value, cause in (("/nonexistent-dir/x", "No such file"), ("/dev/null", "regular"), ("/dev/shm", "directory")):
            with self.subTest(value=value):
                text = self.set_error("trace-file", value)
                for needle in ("trace-file", value, cause):
                    self.assertIn(needle, text)
                self.assertEqual(self.get("trace-file"), "")
        for name, value in (("trace-limit", 0), ("trace-limit", 1 << 41), ("trace-packets", 0), ("trace-packets", "x")):
            self.assertIn(name, self.set_error(name, value))
        self.assertEqual([self.get("trace-limit"), self.get("trace-packets")], [64 << 20, 32])

    def test_packet_trace_ends_at_its_limit(self):
        path, end = self.trace(), Endpoint(self.dev)
        self.assertEqual(self.set_error("trace-limit", 4096), "")
        self.assertEqual(self.set_error("trace-file", str(path)), "")
        for _ in range(20):
            self.assertEqual(end.put(0, 0, b"x" * 64), 0)
        self.assertEqual(self.get("trace-file"), "")
        self.assertLessEqual(path.stat().st_size, 4096)
        self.assertTrue(wait_until(lambda: "limit of 4096 bytes" in self.dev.qemu.stderr(), 5), self.dev.qemu.stderr())

    def test_packet_trace_from_the_command_line(self):
        path = self.trace("other")
        nic = self.nic(node=1, options=f",trace-file={path},trace-packets=5")
        self.assertEqual(nic.qemu.qmp("qom-get", path=PATH, property="trace-file"), str(path))
        self.assertEqual(Endpoint(nic).put(1, 0, b"from the start"), 0)
        nic.qemu.qmp("quit")
        nic.qemu.process.wait(20)
        self.assertIn(b"from the start", path.read_bytes())

    def test_traces_are_there(self):
        names = {event["name"] for event in self.dev.qemu.qmp("trace-event-get-state", name="aries_*")}
        for name in ("aries_reg_write", "aries_fma_write", "aries_err_create", "aries_ub_model"):
            self.assertIn(name, names)

    def test_migration_is_refused_with_the_reason(self):
        text = self.dev.qemu.qmp_error("migrate", uri="exec:cat >/dev/null")
        self.assertIn("aries-nic", text)
        self.assertIn("peers hold mappings", text)
        self.assertIn("peers hold mappings", self.dev.qemu.hmp("savevm x"))
        self.assertIn("peers hold mappings", " ".join(self.dev.qemu.qmp("query-migrate")["blocked-reasons"]))

    def test_unplug_and_plug(self):
        for _ in range(3):
            self.dev.qemu.qmp("device_del", id="nic0")
            # The guest's part of an unplug is to switch the slot off; a reset does it for it.
            self.dev.qemu.qmp("system_reset")
            self.assertTrue(wait_until(lambda: self.dev.qemu.qmp_error("qom-list", path=PATH), 10), "it is gone")
            self.assertFalse(self.dev.qemu.qmp("query-migrate").get("blocked-reasons"), "without it nothing is in the way")
            plug = {"driver": "aries-nic", "id": "nic0", "bus": "rp0", "node": 0, "nodes": 2, "fabric": self.fabric}
            self.assertTrue(wait_until(lambda: not self.dev.qemu.qmp_error("device_add", **plug), 5),
                            self.dev.qemu.qmp_error("device_add", **plug))
            self.dev.set_up_bus()
            end = Endpoint(self.dev)
            self.assertEqual(end.put(0, 0, b"plugged"), 0)
            self.assertEqual(end.memory(0, 7), b"plugged")


class Process(FabricCase):
    def test_two_nics_in_one_guest(self):
        port = ("-device", "pcie-root-port,id=rp1,chassis=2,addr=2")
        first = ("-device", f"aries-nic,id=nic0,bus=rp0,fabric={self.fabric},node=0,nodes=2")
        with Qemu(*first, *port, "-device", f"aries-nic,id=nic1,bus=rp1,fabric={self.fabric},node=1,nodes=2") as qemu:
            for name in ("nic0", "nic1"):
                text = qemu.qmp("qom-get", path=f"/machine/peripheral/{name}", property="describe")
                self.assertRegex(text, r"\w")
        text = start_error(*first, *port, "-device", f"aries-nic,bus=rp1,fabric={self.fabric},node=0,nodes=2")
        self.assertIn("in use", text)

    def test_nothing_is_left_behind(self):
        with Qemu("-device", f"aries-nic,bus=rp0,fabric={self.fabric},nodes=2") as qemu:
            self.assertTrue(list(pathlib.Path("/dev/shm").glob(f"aries-{self.fabric}*")))
            qemu.qmp("quit")
            qemu.process.wait(20)
        self.assertEqual(list(pathlib.Path("/dev/shm").glob(f"aries-{self.fabric}.*")), [], "sockets and locks")

    def test_clean_exit(self):
        with Qemu("-device", f"aries-nic,bus=rp0,fabric={self.fabric},nodes=2") as qemu:
            qemu.qmp("quit")
            self.assertEqual(qemu.process.wait(20), 0)
            self.assertEqual(qemu.stderr(), "")
