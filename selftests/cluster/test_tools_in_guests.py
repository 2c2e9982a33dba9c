# SPDX-License-Identifier: GPL-2.0-or-later
"""The tools of users in the guest: gni-info, gni-domain list, gni-perf without a launcher, gni-trace."""

import csv
import io
import json
import re

from gnitest.testing import ClusterCase, wait_until

EXAMPLES = "/usr/libexec/opengni/examples"
TRACING = "/sys/kernel/tracing"
SERVER_LOG = "/tmp/gni-perf-server.log"


class UserTools(ClusterCase):
    SHARES = "pair"

    def sh(self, node, command, code=0):
        """A command of the shell; its two outputs, after it has ended with this status."""
        result = self.cluster.run(node, command, timeout=120)
        self.assertEqual(result.code, code, f"{command}\n{result.stdout[-2000:]}{result.stderr[-2000:]}")
        return result.stdout, result.stderr

    def refused(self, node, command, text, code=1):
        """A command that must fail with a line that says this."""
        self.assertRegex(self.sh(node, command, code)[1], text)

    # ---- gni-info ----

    def sysfs(self, folder):
        """Numbers of a folder of the device, by the names of its files; settings that are more than a number are none."""
        lines = self.sh(0, f"cd /sys/class/gni/kgni0/{folder} && grep . *")[0].splitlines()
        return {name: int(value) for name, value in (line.split(":", 1) for line in lines) if value.isdigit()}

    def test_info_tells_what_sysfs_shows(self):
        before = {folder: self.sysfs(folder) for folder in ("stats", "counters", "ras", "resources")}
        report = json.loads(self.sh(0, "gni-info --json")[0])
        device, = report["devices"]
        self.assertEqual(set(device["stats"]), set(before["stats"]))
        self.assertEqual(set(device["counters"]), set(before["counters"]))
        self.assertEqual(device["ras"], before["ras"])
        for name, value in before["stats"].items():
            self.assertGreaterEqual(device["stats"][name], value, name) if name != "latency_last_ns" else None
        for name in ("address", "state", "nodes", "nodes_up", "build", "device_type"):
            self.assertEqual(device["attributes"][name], self.sh(0, f"cat /sys/class/gni/kgni0/{name}")[0].strip())
        resources = device["driver"]["resources"]
        for name in ("mdd", "cq", "fma", "ce"):
            resource = resources[f"GNI_DEV_RES_{name.upper()}"]
            self.assertEqual(resource["limit"] - resource["reserved"], before["resources"][f"{name}_total"])
        self.assertIn(device["pci"], self.sh(0, "ls /sys/bus/pci/devices")[0].split())
        self.assertEqual(report["library"]["abi"], device["driver"]["abi"])
        text = self.sh(0, "gni-info")[0]
        self.assertIn("kgni0\n", text)
        self.assertRegex(text, r"address +0x0\n")

    def test_info_refuses(self):
        self.refused(0, "gni-info -d 3", "no device kgni3")
        self.refused(0, "gni-info watch -i 0", "interval", 2)
        self.refused(0, "PMI_GNI_COOKIE=x gni-info", "PMI_GNI_COOKIE: 'x' is no cookie")
        self.refused(0, "gni-info > /dev/full", "cannot be written")

    def test_info_of_a_domain(self):
        self.sh(0, "gni-domain create --job=21 --cookie=0x1234")
        self.addCleanup(self.sh, 0, "gni-domain destroy --job=21 --cookie=0x1234")
        device, = json.loads(self.sh(0, "gni-info --json -c 0x1234 -c 0x77777777")[0])["devices"]
        mine, none = [next(d for d in device["driver"]["domains"] if d["cookie"] == cookie) for cookie in (0x1234, 0x77777777)]
        self.assertIsNone(none["ptag"])
        listed = json.loads(self.sh(0, "gni-domain list --json")[0])
        domain, = [d for d in listed["domains"] if d["ptag"] == mine["ptag"]]
        self.assertEqual((domain["job"], domain["attached"], domain["holders"]), (21, 0, []))
        self.assertEqual(domain["resources"]["cq"]["limit"], mine["resources"]["GNI_JOB_RES_CQ"]["limit"])

    # ---- gni-perf and its server ----

    def serve(self, node, options="", log=SERVER_LOG):
        """A server in the background, until the test's end; its process."""
        pid = self.sh(node, f"setsid gni-perf --server {options} >{log} 2>&1 </dev/null & echo $!")[0].strip()
        self.addCleanup(self.cluster.run, node, f"kill {pid} 2>/dev/null; while kill -0 {pid} 2>/dev/null; do sleep 0.1; done")
        self.assertTrue(wait_until(lambda: "serving" in self.sh(node, f"cat {log}")[0]), self.sh(node, f"cat {log}"))
        return pid

    def test_perf_of_two_clients_one_after_the_other(self):
        self.serve(0)
        table = self.sh(1, "gni-perf nid00000 -t put-lat,get-lat,put-bw,bte-get-bw,amo-bw,smsg -s 8,64-256,64K -D 0.1 --csv=-")[0]
        rows = list(csv.DictReader(io.StringIO(table)))
        self.assertEqual([int(row["size"]) for row in rows if row["test"] == "put-bw"], [8, 64, 128, 256, 65536])
        self.assertEqual({row["test"] for row in rows}, {"put-lat", "get-lat", "put-bw", "bte-get-bw", "amo-bw", "smsg"})
        for row in rows:
            self.assertLessEqual(float(row["p50_ns"]), float(row["p99_ns"]), row)
            self.assertLessEqual(float(row["p99_ns"]), float(row["p99.9_ns"]), row)
            self.assertGreater(int(row["transfers"]), 0, row)
            self.assertGreater(float(row["bandwidth_bytes_per_s"]), 0, row)
        report = json.loads(self.sh(1, "gni-perf 0 -t put-bw,get-bw,amo-bw -s 8 -w 16 -T 2 -b -D 0.2 --json=-")[0])
        self.assertTrue(report["passed"])
        self.assertEqual({row["note"] for row in report["results"]}, {"window 16, 2 threads, both ways"})
        # The server writes that once it knows, which may be after the client has printed and ended.
        self.assertTrue(wait_until(lambda: self.sh(0, f"cat {SERVER_LOG}")[0].count(": done\n") == 2), self.sh(0, f"cat {SERVER_LOG}"))

    def test_perf_counts_the_operations_that_are_asked_for(self):
        self.serve(1)
        few = json.loads(self.sh(0, "gni-perf 1 -t put-bw,bte-get-bw -s 64 -i 20 --json=-")[0])  # less than the window
        self.assertEqual([(row["test"], row["transfers"]) for row in few["results"]], [("put-bw", 20), ("bte-get-bw", 20)])
        before = self.sysfs("stats")["fma_amos"]
        report = json.loads(self.sh(0, "gni-perf 1 -t amo-bw -i 3000 -w 8 -T 2 --json=-")[0])
        row, = report["results"]
        self.assertEqual(row["transfers"], 6000)
        self.assertEqual(self.sysfs("stats")["fma_amos"] - before, 6000)
        # Fewer than there are places for: what is compared are those.
        report = json.loads(self.sh(0, "gni-perf 1 -t put-bw,get-bw -s 8 -i 3 -w 8 -T 2 --json=-")[0])
        self.assertEqual([row["transfers"] for row in report["results"]], [6, 6])

    def test_perf_tells_the_first_transfers_apart(self):
        self.serve(0)
        row, = json.loads(self.sh(1, "gni-perf 0 -t bte-put -s 64 -i 3 --json=-")[0])["results"]
        self.assertEqual(row["transfers"], 3 * 32)  # to 32 places: the first time, one after the other, all at once
        self.assertGreater(row["first_p50_ns"], 0)

    def test_perf_in_huge_pages(self):
        setting = "/sys/kernel/mm/transparent_hugepage/enabled"
        for node in (0, 1):
            self.sh(node, f"echo madvise >{setting}")  # Linux says never by itself on nodes with less than 512 MiB
            self.addCleanup(self.sh, node, f"echo never >{setting}")
        self.serve(1, "--huge-pages -m 2M")
        self.sh(0, f"echo 1 >{TRACING}/events/aries/aries_mem_register/enable")
        self.addCleanup(self.sh, 0, f"echo 0 >{TRACING}/events/aries/aries_mem_register/enable; echo >{TRACING}/trace")
        report = json.loads(self.sh(0, "gni-perf 1 -t bte-put-bw,get-bw -s 4K,1M -i 5 -m 2M --huge-pages --json=-")[0])
        self.assertTrue(report["passed"])
        # 4 MiB: the largest transfer, and the guards beside it
        self.assertRegex(self.sh(0, f"cat {TRACING}/trace")[0], r"aries_mem_register: .* pages=1024 pinned=1024 shift=2[12] ")
        self.sh(0, f"echo never >{setting}")
        self.refused(0, "gni-perf 1 -t put-lat -s 8 -D 0.1 --huge-pages", "the kernel has given huge pages for 0 of [0-9]+ KiB")

    def test_perf_without_a_peer(self):
        self.refused(0, "gni-perf 1 --cookie=99 --connect-time=1", "no gni-perf serves at node 1 with cookie 0x00000063")
        self.refused(0, "gni-perf 5", f"there is no node 5: the fabric has {self.cluster.config.addresses}")
        self.refused(0, "gni-perf host.invalid", "'host.invalid' is neither a NIC address nor the name of a host")
        self.refused(0, "gni-perf 127.0.0.1 --connect-time=1", "no gni-perf serves at node 0")
        self.refused(0, "gni-perf 1 2", "'2' is one word too many", 2)
        self.refused(0, "gni-perf 1 -w 0", "--window", 2)
        self.refused(0, "gni-perf 1 -t storm", "needs a launcher", 2)
        self.refused(0, "gni-perf 1 --once", "--once is for the server", 2)

    def test_perf_server_that_serves_once(self):
        self.serve(0, "--once", "/tmp/once.log")
        self.sh(1, "gni-perf 0 -t put-lat -s 8 -D 0.1")
        # a process may go between its name and its file
        self.assertTrue(wait_until(lambda: "gni-perf" not in self.cluster.run(0, "cat /proc/[0-9]*/comm").stdout.splitlines()))
        self.refused(1, "gni-perf 0 --connect-time=1", "no gni-perf serves")

    def test_perf_server_outlives_a_client_that_is_killed(self):
        self.serve(0)
        self.sh(1, "gni-perf 0 -t put-lat,put-bw -s 8,16 -D 20 >/tmp/killed.log 2>&1 & "
                   "while ! grep -q '^put-lat' /tmp/killed.log; do sleep 0.2; done; kill -9 $!")
        self.assertIn("PASS", self.sh(1, "gni-perf 0 --connect-time=90 -t put-lat -s 8 -D 0.1")[0])
        self.assertIn("the other side is gone", self.sh(0, f"cat {SERVER_LOG}")[0])

    def test_perf_client_whose_server_is_killed(self):
        pid = self.serve(0)
        self.cluster.run(1, "setsid gni-perf 0 -t put-lat,put-bw -s 8,16 -D 10 --timeout=60 >/tmp/left.log 2>&1 </dev/null & "
                            "echo $! >/tmp/left.pid; while ! grep -q '^put-lat' /tmp/left.log; do sleep 0.2; done")
        self.cluster.run(0, f"kill -9 {pid}")
        self.assertTrue(wait_until(lambda: self.cluster.run(1, "kill -0 $(cat /tmp/left.pid)").code != 0, 120))
        self.assertRegex(self.sh(1, "cat /tmp/left.log")[0], r"gni-perf: .*(gone|failed|error|TRANSACTION)")

    # ---- domains ----

    def test_list_tells_who_holds_a_domain(self):
        pid = self.serve(0, "--cookie=0x5151")
        ptag = next(d["ptag"] for d in json.loads(self.sh(0, "gni-info --json -c 0x5151")[0])["devices"][0]["driver"]["domains"]
                    if d["cookie"] == 0x5151)
        domain, = [d for d in json.loads(self.sh(0, "gni-domain list --json")[0])["domains"] if d["ptag"] == ptag]
        self.assertEqual({(holder["pid"], holder["command"]) for holder in domain["holders"]}, {(int(pid), "gni-perf")})
        self.assertEqual(domain["resources"]["fma"]["used"], 2)
        self.assertIn(f"held by gni-perf, pid {pid}, instance", self.sh(0, "gni-domain list")[0])
        self.assertNotIn("5151", self.sh(0, "gni-domain list")[0])
        self.refused(0, "gni-domain list --job=1", "neither --job nor --cookie", 2)
        self.refused(0, "gni-domain list --device=7", "/dev/kgni7")

    # ---- gni-trace ----

    def test_trace_of_an_example(self):
        results = self.cluster.run_application(["gni-trace", "-T", "-o", "/tmp/first-put.trace", f"{EXAMPLES}/first-put"], 2, per_node=1)
        self.succeed(results)
        self.assertEqual(results[0].stdout, 'rank 0: put "Hello from rank 0"\n')
        lines = self.sh(0, "cat /tmp/first-put.trace")[0].splitlines()
        for line in lines:
            self.assertRegex(line, r"^\d\d:\d\d:\d\d\.\d{6} \[(\d+)/\1\] GNI_\w+\(.*\) = GNI_RC_(SUCCESS|NOT_DONE) <\d+\.\d{6}>$")
        calls = [re.search(r"GNI_\w+(?=\()", line)[0] for line in lines if "NOT_DONE" not in line]
        self.assertEqual(calls, ["GNI_CdmCreate", "GNI_CdmAttach", "GNI_MemRegister", "GNI_CqCreate", "GNI_EpCreate", "GNI_EpBind",
                                 "GNI_PostFma", "GNI_CqGetEvent", "GNI_GetCompleted", "GNI_EpDestroy", "GNI_CqDestroy",
                                 "GNI_MemDeregister", "GNI_CdmDestroy"])
        text = "\n".join(lines)
        self.assertIn("flags=GNI_MEM_READWRITE", text)
        self.assertRegex(text, r"GNI_EpBind\(ep_hndl=0x\w+, remote_addr=0x1, remote_id=0x1\)")
        self.assertRegex(text, r"\{type=GNI_POST_FMA_PUT, cq_mode=GNI_CQMODE_GLOBAL_EVENT, dlvr_mode=GNI_DLVMODE_PERFORMANCE, .*length=18,")
        self.assertRegex(text, r"GNI_GetCompleted\(.*post_descr=\[0x\w+ \{type=GNI_POST_FMA_PUT, status=GNI_RC_SUCCESS, ")

    def test_trace_counts_what_threads_do(self):
        results = self.cluster.run_application(["gni-trace", "-c", "-e", "GNI_PostFma,GNI_EpB*", f"{EXAMPLES}/threads"], 2, per_node=1)
        self.succeed(results)
        rows = {row.split()[-1]: row.split() for row in results[0].stderr.splitlines()}
        self.assertEqual(set(rows), {"function", "GNI_PostFma", "GNI_EpBind", "total"})
        self.assertEqual([rows[name][3] for name in ("GNI_PostFma", "GNI_EpBind", "total")], ["400", "4", "404"])

    def test_trace_of_children(self):
        # The guest's shell is linked statically, timeout is not.
        self.assertIn("has loaded no tracer", self.sh(0, "gni-trace sh -c 'gni-info >/dev/null; true'")[1])
        self.assertIn("no call was seen", self.sh(0, "gni-trace timeout 60 gni-domain list >/dev/null")[1])
        both = self.sh(0, "gni-trace -f sh -c 'gni-info >/dev/null; gni-info >/dev/null; exit 7'", 7)[1]
        pids = re.findall(r"\[(\d+)/\d+\] GNI_GetVersionInformation\(version_info=", both)
        self.assertEqual(len(set(pids)), 2)
        self.refused(0, "gni-trace gni-domain create --job=1 --cookie=0", "--cookie: 0 is no cookie", 2)

    def test_trace_changes_nothing(self):
        self.assertEqual(self.sh(0, "gni-trace timeout 60 env | sort")[0], self.sh(0, "env | sort")[0])
        self.assertEqual(self.sh(0, "LD_PRELOAD= gni-trace timeout 60 env | grep -c '^LD_PRELOAD=$'")[0], "1\n")
        self.refused(0, "gni-trace /nowhere/at/all", "No such file or directory", 127)
        self.refused(0, "gni-trace -e GNI_Nothing true", "'GNI_Nothing' names no function", 2)
        self.refused(0, "gni-trace -o /nowhere/file true", "/nowhere/file")
        self.sh(0, "gni-trace sh -c 'kill -9 $$'", -9)
