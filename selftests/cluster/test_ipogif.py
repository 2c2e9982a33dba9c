# SPDX-License-Identifier: GPL-2.0-or-later
"""IP over the fabric (ipogif.ko, --net ipogif): reachability, contents, programs, and what happens when nodes, NIC or module go."""

import json
import re
import signal
import subprocess
import threading
import time
import unittest
from typing import Any

from gnitest.testing import Apart, ClusterCase, Told, image, slow_tests, together
from opengni import host

PEER = "/kselftest/kgni/net_peer"
PORT = 7100
RESET = "echo 1 >/sys/class/gni/kgni0/device/reset"
COOKIE = 0xff80 << 16  # of ipogif's domain
BOUND = 120.0  # far more than anything here takes
CUT = 4.0  # seconds without a link: retries, and a connection that breaks


class Ipogif(ClusterCase):
    CONFIG: dict[str, Any] = {"ipogif": True, "mem_mib": 768}

    def setUp(self):
        for node in range(self.NODES):
            self.sink(node)

    def sink(self, node):
        """What answers net_peer."""
        self.cluster.run(node, "killall -9 net_peer")
        self.succeed(self.cluster.run(node, f"setsid {PEER} sink {PORT} >/tmp/sink 2>&1 </dev/null &"))
        self.wait_for(lambda: f":{PORT:04X} " in self.cluster.run(node, "cat /proc/net/udp").stdout, f"no sink: {self.log(node)}")

    @staticmethod
    def ip(node):
        """Address of a node."""
        return f"10.128.0.{node + 1}"

    def peer(self, node, *arguments, timeout=240.0):
        """Runs net_peer on a node: what it prints, as a dictionary of numbers."""
        result = self.succeed(self.cluster.run(node, f"{PEER} {' '.join(map(str, arguments))}", timeout=timeout))
        return {key: float(value) for key, value in re.findall(r"([a-z]+) ([0-9.]+)", result.stdout)}

    def statistics(self, node):
        """Packets and drops of the interface."""
        folder = "/sys/class/net/ipogif0/statistics"
        text = self.cluster.run(node, f"grep -H . {folder}/*").stdout
        return {key: int(value) for key, value in re.findall(r"statistics/(\w+):(\d+)", text)}

    def reached(self, node, other):
        """Whether a ping gets through."""
        return self.cluster.run(node, f"ping -c 1 -W 1 {self.ip(other)}").code == 0

    def moving(self, node):
        """Waits until the node sends."""
        before = self.statistics(node)["tx_bytes"]
        self.wait_for(lambda: self.statistics(node)["tx_bytes"] > before + (1 << 20), self.log(node), BOUND)


class Trace:
    """What a node's kernel does in the meantime: calls of functions of modules, and events."""

    FOLDER = "/sys/kernel/tracing"

    def __init__(self, case, node, functions, events=()):
        self.case, self.node, self.functions, self.events = case, node, functions, events

    def _run(self, text):
        self.case.succeed(self.case.cluster.run(self.node, f"cd {self.FOLDER}; {text}"))

    def __enter__(self):
        probes = "".join(f"p:case/{name.split(':')[1]} {name}\n" for name in self.functions)
        self._run(f"echo 8192 >buffer_size_kb; printf '{probes}' >kprobe_events && echo 1 >events/case/enable && echo >trace && echo 1 >tracing_on"
                  + "".join(f" && echo 1 >events/{name}/enable" for name in self.events))
        return self

    def __exit__(self, *_):
        self._run("echo 0 >events/case/enable; echo >kprobe_events" + "".join(f"; echo 0 >events/{name}/enable" for name in self.events))

    def lines(self):
        """Of the trace, the oldest first, without comments."""
        text = self.case.succeed(self.case.cluster.run(self.node, f"cat {self.FOLDER}/trace", timeout=BOUND)).stdout
        return [line for line in text.splitlines() if not line.startswith("#")]


class Traffic(Ipogif):
    def test_nodes_reach_each_other_by_name(self):
        for node in range(self.NODES):
            self.succeed(self.cluster.run(node, f"ping -c 3 -w 20 hsn{1 - node} && ping -c 1 -w 20 nid0000{1 - node}"))

    def test_hardware_addresses_are_those_of_the_nics(self):
        for node in range(self.NODES):
            self.succeed(self.cluster.run(node, f"ping -c 1 -w 20 hsn{1 - node}"))
            self.assertIn(f"{self.ip(1 - node)}", self.cluster.run(node, f"grep 00:01:01:00:00:0{1 - node} /proc/net/arp").stdout)

    def test_pings_of_all_sizes(self):
        """Those that go in a message, those that go by transfer, fragments of more than the MTU."""
        for size in (0, 1, 56, 1900, 1960, 1992, 2000, 2100, 4096, 9000, 32000, 65000):
            self.succeed(self.cluster.run(0, f"ping -c 2 -w 20 -s {size} {self.ip(1)}"))

    def test_a_tcp_stream_arrives_whole(self):
        for node in range(self.NODES):
            self.assertGreater(self.peer(node, "tcp", self.ip(1 - node), PORT, 3)["bytes"], 1 << 20)

    def test_many_tcp_streams_lose_nothing_at_the_sender(self):
        """TCP sends clones: these make the stack wait, too, when there is no room, and are not dropped."""
        self.peer(0, "flows", self.ip(1), PORT, 4, 1)
        before = self.statistics(0)
        self.assertGreater(self.peer(0, "flows", self.ip(1), PORT, 128, 4)["bytes"], 1 << 20)
        after = self.statistics(0)
        frames, dropped = (after[name] - before[name] for name in ("tx_packets", "tx_dropped"))
        self.assertGreater(frames, 200)
        self.assertLess(dropped / frames, 0.001, f"{dropped} dropped, {frames} sent")

    def pktgen_forgets(self):
        """Its thread removes devices some time after it was told to: a device that was added meanwhile goes with them."""
        self.succeed(self.cluster.run(0, "modprobe pktgen && cd /proc/net/pktgen && if [ -e ipogif0 ]; then echo rem_device_all >kpktgend_0; fi"))
        self.wait_for(lambda: self.cluster.run(0, "[ ! -e /proc/net/pktgen/ipogif0 ]").code == 0, self.log(0))

    def pktgen(self, *settings):
        """Lets pktgen send from node 0 to node 1: what it says in the end."""
        device = "/proc/net/pktgen/ipogif0"
        self.pktgen_forgets()
        self.succeed(self.cluster.run(0, "echo add_device ipogif0 >/proc/net/pktgen/kpktgend_0"))
        for text in ("count 3000", "delay 0", f"dst {self.ip(1)}", "dst_mac 00:01:01:00:00:01", *settings):
            self.succeed(self.cluster.run(0, f"echo '{text}' >{device}"))
        self.succeed(self.cluster.run(0, "echo start >/proc/net/pktgen/pgctrl", timeout=BOUND))
        # The thread may only be about to begin.
        self.wait_for(lambda: self.cluster.run(0, f"grep 'Result: OK: .* usec' {device}").code == 0, self.log(0), BOUND)
        return self.succeed(self.cluster.run(0, f"cat {device}")).stdout

    def test_pktgen(self):
        """It may not send one skb again and again, because ipogif links skbs into lists."""
        self.assertTrue(self.reached(0, 1))
        for bytes_ in (200, 9000):
            before = self.statistics(1)["rx_packets"]
            self.assertRegex(self.pktgen("clone_skb 0", f"pkt_size {bytes_}"), "errors: 0")
            self.wait_for(lambda b=before: self.statistics(1)["rx_packets"] > b + 100, self.log(1))
        for text in ("clone_skb 1000", "burst 16"):
            self.assertNotEqual(self.cluster.run(0, f"echo '{text}' >/proc/net/pktgen/ipogif0").code, 0, text)
        self.pktgen_forgets()

    def test_netconsole_is_refused(self):
        """A frame is sent under locks that a message of the kernel may not wait for."""
        target = "/sys/kernel/config/netconsole/fabric"
        self.succeed(self.cluster.run(0, "modprobe netconsole && (mount -t configfs none /sys/kernel/config || [ -e /sys/kernel/config/netconsole ])"))
        self.succeed(self.cluster.run(0, f"mkdir {target} && cd {target} && echo ipogif0 >dev_name && echo {self.ip(0)} >local_ip && "
                                         f"echo {self.ip(1)} >remote_ip && echo 00:01:01:00:00:01 >remote_mac"))
        try:
            self.assertNotEqual(self.cluster.run(0, f"echo 1 >{target}/enabled").code, 0)
            self.assertIn("ipogif0 doesn't support polling", self.kernel_log())
        finally:
            self.cluster.run(0, f"echo 0 >{target}/enabled; rmdir {target}")

    def test_datagrams_arrive_as_they_were(self):
        for size, count in ((64, 3000), (1400, 1000), (2500, 500), (20000, 200), (65000, 100)):
            got = self.peer(0, "udp", self.ip(1), PORT, size, count)
            self.assertEqual(got["wrong"], 0, size)
            self.assertGreater(got["received"], 0, size)

    def test_a_datagram_and_its_echo(self):
        for size in (64, 1000, 5000, 65000):
            self.assertEqual(self.peer(0, "echo", self.ip(1), PORT, size, 200)["wrong"], 0, size)


@unittest.skipUnless(slow_tests(), "in check-all")
class Programs(Ipogif):
    """Those that people use, of the guest that 'make net-image' makes."""

    CONFIG = {**Ipogif.CONFIG, "initrd": image("net")}

    def sink(self, node):
        """None: programs have their own."""

    def iperf3(self, *options):
        """From node 1 to node 0: the end of the report."""
        return json.loads(self.succeed(self.cluster.run(1, f"iperf3 -J -t 3 -c hsn0 {' '.join(options)}", timeout=BOUND)).stdout)["end"]

    def digest(self, node, name):
        """Of a file."""
        return self.succeed(self.cluster.run(node, f"sha256sum <{name}")).stdout

    def test_iperf3(self):
        self.succeed(self.cluster.run(0, "iperf3 -s -D >/dev/null 2>&1 </dev/null"))
        self.wait_for(lambda: ":1451 " in self.cluster.run(0, "cat /proc/net/tcp /proc/net/tcp6").stdout, "iperf3 does not listen", BOUND)
        try:
            for options in ([], ["-R"], ["-P", "4"]):
                before = self.statistics(0)
                got = self.iperf3(*options)["sum_received"]["bytes"]
                self.assertGreater(got, 1 << 20, options)
                moved = self.statistics(0)["tx_bytes" if "-R" in options else "rx_bytes"] - before["tx_bytes" if "-R" in options else "rx_bytes"]
                self.assertGreaterEqual(moved, got, "it went another way")
            udp = self.iperf3("-u", "-b", "10M", "-l", "1400")["sum"]
            self.assertGreater(udp["packets"], 100)
            self.assertLess(udp["lost_packets"], udp["packets"])
        finally:
            self.cluster.run(0, "killall iperf3")

    def test_a_ring_of_few_frames(self):
        """When it is full the stack is told to stop, and to go on as soon as there is room."""
        super().sink(0)
        self.succeed(self.cluster.run(1, "ethtool -G ipogif0 tx 4"))
        self.addCleanup(self.cluster.run, 1, "ethtool -G ipogif0 tx 256")
        for size in (64, 1400, 20000):
            self.assertEqual(self.peer(1, "udp", self.ip(0), PORT, size, 3000)["wrong"], 0, size)
        self.assertGreater(self.peer(1, "tcp", self.ip(0), PORT, 3)["bytes"], 1 << 20)
        waited = re.findall(r"tx\d+_waited: (\d+)", self.succeed(self.cluster.run(1, "ethtool -S ipogif0")).stdout)
        self.assertGreater(sum(map(int, waited)), 4, "the ring was never full")

    def test_ssh(self):
        """A command there, and a file through its input and back through its output."""
        for node in range(self.NODES):
            self.assertEqual(self.succeed(self.cluster.run(node, f"ssh hsn{1 - node} uname -n", timeout=BOUND)).stdout, f"node{1 - node}\n")
        self.succeed(self.cluster.run(1, "head -c 4194304 /dev/urandom >/tmp/sent"))
        self.succeed(self.cluster.run(1, "ssh hsn0 'cat >/tmp/there' </tmp/sent && ssh hsn0 cat /tmp/there </dev/null >/tmp/back", timeout=BOUND))
        self.assertEqual(self.digest(1, "/tmp/sent"), self.digest(0, "/tmp/there"))
        self.assertEqual(self.digest(1, "/tmp/sent"), self.digest(1, "/tmp/back"))

    def serve_files(self):
        """Node 0 exports a folder by NFS, version 4 only, and node 1 mounts it."""
        self.succeed(self.cluster.run(0, "mkdir -p /tmp/files && chmod 777 /tmp/files && modprobe nfsd && mount -t nfsd none /proc/fs/nfsd"))
        # clients of a server that was there before have nothing to reclaim
        self.succeed(self.cluster.run(0, "echo 10 >/proc/fs/nfsd/nfsv4leasetime && echo 10 >/proc/fs/nfsd/nfsv4gracetime"))
        self.succeed(self.cluster.run(0, "exportfs -o rw,fsid=0,no_root_squash,insecure,no_subtree_check 10.128.0.0/16:/tmp/files"))
        self.succeed(self.cluster.run(0, "rpc.nfsd -N 3 -p 2049 4 && rpc.mountd -N 3"))
        self.addCleanup(self.cluster.run, 0, "rpc.nfsd 0; killall rpc.mountd; exportfs -au; umount /proc/fs/nfsd")
        self.succeed(self.cluster.run(1, "mkdir -p /tmp/mounted && modprobe nfsv4"))
        self.succeed(self.cluster.run(1, f"mount -i -t nfs4 -o vers=4.2,addr={self.ip(0)},clientaddr={self.ip(1)} {self.ip(0)}:/ /tmp/mounted",
                                      timeout=BOUND))
        self.addCleanup(self.cluster.run, 1, "rm -f /tmp/going; umount /tmp/mounted", timeout=BOUND)

    def rounds(self):
        """How often the file has been written."""
        return int(self.cluster.run(1, "cat /tmp/rounds 2>/dev/null | wc -l").stdout)

    def test_nfs(self):
        """A file arrives as it was written, also when the link is cut while it is."""
        self.serve_files()
        before = self.statistics(0)["rx_bytes"]
        self.succeed(self.cluster.run(1, "head -c 16777216 /dev/urandom >/tmp/sent && dd if=/tmp/sent of=/tmp/mounted/one bs=64k conv=fsync", timeout=BOUND))
        self.assertGreater(self.statistics(0)["rx_bytes"], before + (16 << 20))
        # read anew, not from what node 1 still has
        self.succeed(self.cluster.run(1, "echo 3 >/proc/sys/vm/drop_caches"))
        for node, name in ((0, "/tmp/files/one"), (1, "/tmp/mounted/one")):
            self.assertEqual(self.digest(node, name), self.digest(1, "/tmp/sent"))
        self.assertGreater(self.statistics(0)["tx_bytes"], 16 << 20)
        self.succeed(self.cluster.run(1, "touch /tmp/going; (while [ -e /tmp/going ]; do dd if=/tmp/sent of=/tmp/mounted/two bs=64k conv=fsync || break;"
                                         " echo >>/tmp/rounds; done; touch /tmp/over) >/tmp/written 2>&1 </dev/null &"))
        self.moving(1)
        self.cluster.set_nic(1, "link", 0)
        try:
            time.sleep(CUT)
            self.assertFalse(self.reached(1, 0))
        finally:
            self.cluster.set_nic(1, "link", 1)
        written = Told(lambda: self.cluster.run(1, "cat /tmp/written; dmesg | tail -20").stdout)
        there = self.rounds()
        # the one that was being written meanwhile, and one more
        self.wait_for(lambda: self.rounds() >= there + 2, written, 2 * BOUND)
        self.succeed(self.cluster.run(1, "rm /tmp/going"))
        self.wait_for(lambda: self.cluster.run(1, "[ -e /tmp/over ]").code == 0, written, BOUND)
        self.succeed(self.cluster.run(1, "echo 3 >/proc/sys/vm/drop_caches"))
        for node, name in ((0, "/tmp/files/two"), (1, "/tmp/mounted/two")):
            self.assertEqual(self.digest(node, name), self.digest(1, "/tmp/sent"), written)


class Breaks(Ipogif):
    """What may go while there is traffic. Memory that is used after it was freed has no old contents here."""

    CONFIG = {**Ipogif.CONFIG, "append": "init_on_free=1"}

    def stream(self, node, seconds):
        """A stream from a node to the other one in the background: call what is returned for its end."""
        results = []

        def run():
            results.append(self.cluster.run(node, f"{PEER} tcp {self.ip(1 - node)} {PORT} {seconds}", timeout=300.0))

        thread = threading.Thread(target=run)
        thread.start()

        def end():
            thread.join()
            self.assertTrue(results, "the stream did not end")
            return results[0]
        return end

    def reachable(self):
        """Each node from the other, before long."""
        for node in range(self.NODES):
            self.wait_for(lambda n=node: self.reached(n, 1 - n), f"node {node} does not reach the other\n{self.kernel_log(node)}", BOUND)

    def up(self, node):
        """The interface as the node's init makes it."""
        self.succeed(self.cluster.run(node, f"modprobe ipogif && ip addr add {self.ip(node)}/16 dev ipogif0 && ip link set ipogif0 up"))

    @unittest.skipUnless(slow_tests(), "in check-all")
    def test_other_sizes_of_frames_under_traffic(self):
        end = self.stream(0, 12)
        self.moving(0)
        for mtu in (1500, 9000, 68, 2048, 65535, 65520):
            for node in range(self.NODES):
                self.succeed(self.cluster.run(node, f"ip link set ipogif0 mtu {mtu} && ping -c 10 -w 40 {self.ip(1 - node)}"))
        self.succeed(end())

    def test_a_reset_of_the_nic_under_traffic(self):
        for node in range(self.NODES):
            end = self.stream(0, 12)
            self.moving(0)
            self.succeed(self.cluster.run(node, RESET))
            self.succeed(end())
            self.reachable()

    def carrier(self, node):
        """Whether the interface can send."""
        return self.cluster.run(node, "cat /sys/class/net/ipogif0/carrier").stdout.strip()

    def test_nothing_begins_while_the_nic_is_reset(self):
        """Whoever would send waits until the interface is attached again, and nobody makes a connection with a NIC that is being released."""
        self.succeed(self.cluster.run(0, f"for i in 1 2 3 4; do setsid {PEER} udp {self.ip(1)} {PORT} 9000 100000000 >/dev/null 2>&1 </dev/null & done"))
        self.moving(0)
        with Trace(self, 0, ("ipogif:ipogif_xmit", "ipogif:ipogif_conns_end", "kgni:gni_mem_register", "kgni:gni_cdm_attach")) as trace:
            for _ in range(6):
                self.succeed(self.cluster.run(0, f"{RESET}; sleep 0.4"))
            self.cluster.run(0, "killall net_peer")
            lines = trace.lines()
        down, during = False, []
        for line in lines:
            if " ipogif_conns_end:" in line:
                down = True
            elif " gni_cdm_attach:" in line:
                down = False
            elif down:
                during.append(line)
        for name in ("ipogif_conns_end", "ipogif_xmit", "gni_mem_register"):
            self.assertIn(f" {name}:", "\n".join(lines))
        self.assertEqual(during, [])
        self.reachable()

    def job(self, what):
        """Does something with the job that ipogif's domain belongs to."""
        self.succeed(self.cluster.run(0, f"/kselftest/aries/receive_peer {what} {COOKIE}"))

    def test_nothing_is_tried_again_by_an_interface_that_is_down(self):
        """Its last messages are refused while its job is suspended, and no timer is left to send them."""
        self.assertTrue(self.reached(0, 1))
        self.job("job")
        self.job("suspend")
        try:
            with Trace(self, 0, ("ipogif:ipogif_conns_end",), ("timer/timer_start",)) as trace:
                self.succeed(self.cluster.run(0, "ip link set ipogif0 down; sleep 0.2"))
                lines = trace.lines()
            ends = [number for number, line in enumerate(lines) if " ipogif_conns_end:" in line]
            self.assertEqual(len(ends), 1)
            self.assertEqual([line for line in lines[ends[0]:] if "function=ipogif_retry" in line], [])
        finally:
            self.job("resume")
        self.succeed(self.cluster.run(0, "ip link set ipogif0 up"))
        self.reachable()

    def test_a_module_that_goes_and_returns(self):
        """Twice, and once before it has ever been up."""
        for _ in range(2):
            self.succeed(self.cluster.run(0, "rmmod ipogif"))
            self.up(0)
            self.reachable()
        self.succeed(self.cluster.run(0, "rmmod ipogif && modprobe ipogif && rmmod ipogif"))
        self.up(0)
        self.reachable()

    def modelled_time(self, *options):
        """Sets how modelled time passes."""
        fabric = self.cluster.config.fabrics[0]
        subprocess.run([host.BUILD / "model" / "net" / "aries-net", "-f", fabric, "time", *options], check=True, timeout=BOUND, capture_output=True)

    @unittest.skipUnless(slow_tests(), "in check-all")
    @together(Apart.CLOCK)
    def test_an_interface_goes_down_before_its_puts_end(self):
        """They hold up the NIC's release, but nobody who configures a network."""
        end = self.stream(0, 12)
        self.moving(0)
        self.modelled_time("--rate", "0.000001", "--hold", "on")
        try:
            time.sleep(2)
            self.succeed(self.cluster.run(0, "dmesg -c >/dev/null; ip link set ipogif0 down", timeout=2 * BOUND))
            self.assertIn("the NIC is released when it has ended all puts", self.kernel_log())
            self.succeed(self.cluster.run(0, "ip link set ipogif0 up", timeout=BOUND))
            self.assertEqual(self.carrier(0), "0", "it is up before the NIC was released")
        finally:
            self.modelled_time("--rate", "1", "--hold", "off")
        self.wait_for(lambda: self.carrier(0) == "1", self.log(), BOUND)
        end()
        self.reachable()

    def test_a_node_that_is_killed_and_returns(self):
        end = self.stream(0, 10)
        self.moving(0)
        self.cluster.kill(1)
        self.assertFalse(self.reached(0, 1))
        self.cluster.start(1)
        self.sink(1)
        self.reachable()
        self.assertNotEqual(end().code, 0)  # its TCP connection is one of the node as it was before
        self.succeed(self.cluster.run(0, f"{PEER} tcp {self.ip(1)} {PORT} 1"))

    def test_the_interface_goes_down_and_up_under_traffic(self):
        for node in range(self.NODES):
            end = self.stream(0, 6)
            self.moving(0)
            self.succeed(self.cluster.run(node, "ip link set ipogif0 down; sleep 1; ip link set ipogif0 up"))
            self.reachable()
            self.succeed(end())

    @unittest.skipUnless(slow_tests(), "in check-all")
    def test_the_module_goes_and_comes_under_traffic(self):
        for node in range(self.NODES):
            end = self.stream(0, 6)
            self.moving(0)
            self.succeed(self.cluster.run(node, "rmmod ipogif"))
            # nothing is held by a module that is not there
            self.succeed(self.cluster.run(node, "rmmod kgni"))
            self.up(node)
            self.reachable()
            self.succeed(end())

    def test_modules_below_it_stay(self):
        for module in ("kgni", "aries"):
            self.assertNotEqual(self.cluster.run(0, f"rmmod {module}").code, 0)
        self.reachable()

    @unittest.skipUnless(slow_tests(), "in check-all")
    def test_a_driver_that_is_unbound_and_bound_again(self):
        pci = self.cluster.run(0, "basename $(readlink /sys/class/gni/kgni0/device)").stdout.strip()
        end = self.stream(0, 12)
        self.moving(0)
        self.succeed(self.cluster.run(0, f"echo {pci} >/sys/bus/pci/drivers/aries/unbind"))
        self.wait_for(lambda: self.carrier(0) == "0", self.log(), BOUND)
        self.succeed(self.cluster.run(0, f"echo {pci} >/sys/bus/pci/drivers/aries/bind"))
        self.wait_for(lambda: self.carrier(0) == "1", self.log(), BOUND)
        self.succeed(end())
        self.reachable()

    @unittest.skipUnless(slow_tests(), "in check-all")
    def test_a_suspended_job_loses_nothing(self):
        self.job("job")
        try:
            end = self.stream(0, 10)
            self.moving(0)
            self.job("suspend")
            before = self.statistics(0)["tx_packets"]
            self.assertFalse(self.reached(0, 1))
            self.assertLess(self.statistics(0)["tx_packets"] - before, 100)
            self.job("resume")
            self.moving(0)
            self.succeed(end())
        finally:
            self.cluster.run(0, f"/kselftest/aries/receive_peer resume {COOKIE}")

    @unittest.skipUnless(slow_tests(), "in check-all")
    def test_packets_that_the_fabric_loses(self):
        for node in range(self.NODES):
            self.cluster.set_nic(node, "drop", 3)
        try:
            self.succeed(self.stream(0, 5)())
        finally:
            for node in range(self.NODES):
                self.cluster.set_nic(node, "drop", 0)
        self.reachable()


@unittest.skipUnless(slow_tests(), "in check-all")
class Four(Ipogif):
    """More than one peer."""

    NODES = 4
    CONFIG = {"ipogif": True, "mem_mib": 384, "smp": 1}

    def sink(self, node):
        """None: nobody sends here."""

    def test_broadcasts_reach_all(self):
        """Also where addresses tell nothing about nodes."""
        for node, address in enumerate(("10.9.7.1", "10.9.200.9", "10.9.0.77", "10.9.31.5")):
            self.succeed(self.cluster.run(node, f"ip addr add {address}/16 dev ipogif0; echo 0 >/proc/sys/net/ipv4/icmp_echo_ignore_broadcasts"))
        for address in ("10.9.7.1", "10.9.200.9", "10.9.0.77", "10.9.31.5"):
            self.succeed(self.cluster.run(2, f"ping -c 8 -w 60 {address}"))
        text = self.cluster.run(1, "ping -c 10 -w 30 -b 10.9.255.255 || ping -c 10 -w 30 10.9.255.255").stdout
        for address in ("10.9.7.1", "10.9.0.77", "10.9.31.5"):
            self.assertIn(f"from {address}", text)

    def test_addresses_in_another_order(self):
        """The first question goes to a node that has not the address, so all are to be asked."""
        for node in range(self.NODES):
            self.succeed(self.cluster.run(node, f"ip addr add 10.8.0.{10 - node}/16 dev ipogif0"))
        for node in range(self.NODES):
            for other in range(self.NODES):
                self.succeed(self.cluster.run(node, f"ping -c 8 -w 60 -i 0.5 10.8.0.{10 - other}"))

    def test_neighbours_of_ipv6(self):
        for node in range(self.NODES):
            other = (node + 1) % self.NODES
            address = f"fe80::201:1ff:fe00:{other}"
            self.succeed(self.cluster.run(node, f"ping6 -c 8 -w 60 -I ipogif0 {address}"))

    def test_a_peer_that_hangs_holds_up_nobody_else(self):
        """All frames go through few queues: one that nobody empties is no reason for others to wait."""
        self.succeed(self.cluster.run(0, f"ping -c 2 -w 20 {self.ip(1)}"))
        self.cluster.signal(1, signal.SIGSTOP)
        try:
            self.cluster.run(0, f"for i in 1 2 3; do (setsid ping -s 60000 -i 0.02 {self.ip(1)} >/dev/null 2>&1 </dev/null &); done")
            for other in (2, 3):
                text = self.cluster.run(0, f"ping -c 30 {self.ip(other)}", timeout=200.0).stdout
                self.assertLess(int(re.search(r"(\d+)% packet loss", text)[1]), 80, text)
        finally:
            self.cluster.signal(1, signal.SIGCONT)
            self.cluster.run(0, "killall ping")
        self.wait_for(lambda: self.reached(0, 1), self.log(), BOUND)
