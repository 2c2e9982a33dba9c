# SPDX-License-Identifier: GPL-2.0-or-later
"""All clients of kGNI at once under traffic, while at random modules, drivers, NICs and the network go and return.

Made for the kernels of make check-debug. OPENGNI_ROUNDS is the number of rounds, and OPENGNI_SEED repeats a run.
"""

import os
import random
import re
import subprocess
import unittest

from gnitest.testing import ClusterCase, kernel_complaints, slow_tests
from opengni import host

DEBUG = "/sys/kernel/debug"
PEER = "/kselftest/kgni/net_peer"
PORT = 7100
BOUND = 600.0  # far more than anything here takes on a kernel with debugging aids
PCI = "$(basename $(readlink /sys/class/gni/kgni0/device))"
# What the kernel tells when a process at the limit of its memory cgroup is killed, as memcg() may have it, and when pktgen() ends while it sends.
EXPECTED = re.compile(r"^.* invoked oom-killer:(?s:.*?)Memory cgroup out of memory: Killed process.*$"
                      r"|^.*pktgen: WARNING: trying to remove a running interface.*$", re.MULTILINE)
ROUNDS = int(os.environ.get("OPENGNI_ROUNDS", "20"))


@unittest.skipUnless(slow_tests() or os.environ.get("KERNEL") in ("debug", "kcsan"), "in check-all and check-debug")
class Rounds(ClusterCase):
    CONFIG = {"ipogif": True, "mem_mib": 768}
    ACTIONS = ("reset", "down_and_up", "ipogif", "slnd", "pingpong", "unbind", "unplug", "quiesce", "suspend", "pktgen", "netconsole", "memcg")

    def do(self, node, text, must=True):
        """Runs a command of the shell on a node."""
        result = self.cluster.run(node, text, timeout=BOUND)
        if must:
            self.succeed(result)
        return result

    @staticmethod
    def ip(node):
        """Address of a node's interface."""
        return f"10.128.0.{node + 1}"

    # ---- traffic ----

    def traffic(self, node):
        """Loops of the node that send by each client. They fail and begin again as what they need goes and returns."""
        other = self.ip(1 - node)
        loops = (f"{PEER} tcp {other} {PORT} 1", f"{PEER} flows {other} {PORT} 8 1", f"{PEER} udp {other} {PORT} 9000 50",
                 f"echo test=rate peer={1 - node} count=200 bytes=500 threads=2 >{DEBUG}/slnd_test/run",
                 f"echo test=put peer={1 - node} count=5 bytes=100001 offset=3 >{DEBUG}/slnd_test/run",
                 # An answer is waited for 60 s, and never comes if the other NIC has gone meanwhile.
                 f"for i in put message remote; do timeout 5 sh -c \"echo $i 50 >{DEBUG}/gni_pingpong/run\"; done")
        self.do(node, f"touch /tmp/going; (setsid sh -c 'while [ -e /tmp/going ]; do {PEER} sink {PORT}; sleep 1; done' >/dev/null 2>&1 </dev/null &)")
        for loop in loops:
            self.do(node, f"(setsid sh -c 'while [ -e /tmp/going ]; do {loop}; sleep 0.2; done' >/dev/null 2>&1 </dev/null &)")

    def unload(self, node, *modules):
        """Whoever uses a module ends before long: no command of traffic() lasts."""
        for module in modules:
            stop = f"echo stop >{DEBUG}/slnd_test/run; " if module == "slnd_test" else ""
            self.do(node, f"for i in $(seq 600); do [ -e /sys/module/{module} ] || exit 0; {stop}rmmod {module} && exit 0; sleep 0.2; done; exit 1")

    # ---- what goes and returns ----

    def reset(self, node):
        self.do(node, "echo 1 >/sys/class/gni/kgni0/device/reset")

    def down_and_up(self, node):
        self.do(node, "ip link set ipogif0 down; ip link set ipogif0 up")

    def ipogif(self, node):
        self.unload(node, "ipogif")
        self.do(node, f"modprobe ipogif && ip addr add {self.ip(node)}/16 dev ipogif0 && ip link set ipogif0 up")

    def slnd(self, node):
        self.unload(node, "slnd_test", "slnd")
        self.do(node, "modprobe slnd timeout=30 && modprobe slnd_test")

    def pingpong(self, _node):
        """On both nodes, because each waits for the other one as it is loaded, and none outlives a reset of its NIC."""
        for node in range(2):
            self.unload(node, "gni_pingpong")
        self.do(0, "(setsid sh -c 'modprobe gni_pingpong peer=1' >/dev/null 2>&1 </dev/null &)")
        self.do(1, "modprobe gni_pingpong peer=0")

    def unbind(self, node):
        self.do(node, f"pci={PCI}; cd /sys/bus/pci/drivers/aries && echo $pci >unbind && echo $pci >bind")

    def unplug(self, node):
        self.do(node, f"pci={PCI}; echo 1 >/sys/bus/pci/devices/$pci/remove && echo 1 >/sys/bus/pci/rescan")

    def quiesce(self, _node):
        fabric = self.cluster.config.fabrics[0]
        subprocess.run([host.BUILD / "model" / "net" / "aries-net", "-f", fabric, "quiesce", "500"], check=True, timeout=BOUND)

    def suspend(self, node):
        self.do(node, "/kselftest/kgni/lnd_job suspend; sleep 0.3; /kselftest/kgni/lnd_job resume", must=False)

    def pktgen(self, node):
        """It fails where the interface has no carrier yet."""
        device, thread = "/proc/net/pktgen/ipogif0", "/proc/net/pktgen/kpktgend_0"
        words = "".join(f" && echo {text} >{device}" for text in ("count 300", "delay 0", f"dst {self.ip(1 - node)}",
                                                                  f"dst_mac 00:01:01:00:00:0{1 - node}", "pkt_size 3000"))
        self.do(node, f"modprobe pktgen; echo add_device ipogif0 >{thread}{words} && timeout 20 sh -c 'echo start >/proc/net/pktgen/pgctrl';"
                      f" echo stop >/proc/net/pktgen/pgctrl; echo rem_device_all >{thread}", must=False)

    def netconsole(self, node):
        """It is refused (test_ipogif), and leaves everything as it was."""
        target = "/sys/kernel/config/netconsole/fabric"
        self.do(node, f"modprobe netconsole; mount -t configfs none /sys/kernel/config; mkdir {target} && cd {target} && echo ipogif0 >dev_name"
                      f" && echo {self.ip(node)} >local_ip && echo {self.ip(1 - node)} >remote_ip; echo 1 >enabled", must=False)
        self.assertNotEqual(self.do(node, f"grep 1 {target}/enabled", must=False).stdout.strip(), "1")
        self.do(node, f"rmdir {target}", must=False)

    def memcg(self, node):
        """A process at the limit of its memory cgroup sends over the fabric, and others make queues until they are refused."""
        group = "/tmp/rounds-cgroup/rounds"
        self.do(node, f"mkdir -p /tmp/rounds-cgroup; mount -t cgroup2 none /tmp/rounds-cgroup && echo +memory >/tmp/rounds-cgroup/cgroup.subtree_control"
                      f" && mkdir -p {group} && echo 2M >{group}/memory.max && sh -c 'echo $$ >{group}/cgroup.procs;"
                      f" exec {PEER} flows {self.ip(1 - node)} {PORT} 32 1'; rmdir {group}; umount /tmp/rounds-cgroup; /kselftest/aries/memcg", must=False)

    # ---- the test ----

    def log_name(self, node):
        """Where all that a node's kernel says is written."""
        return host.BUILD / "logs" / f"rounds-{os.environ.get('KERNEL') or 'release'}-node{node}.log"

    def listen(self, when):
        """The kernels must not have complained."""
        for node in range(2):
            text = self.do(node, "dmesg -c").stdout
            with open(self.log_name(node), "a", encoding="utf-8") as log:
                log.write(f"== {when}\n{text}")
            self.assertEqual(kernel_complaints(EXPECTED.sub("", text)), [], f"{when}: all of it in {self.log_name(node)}")

    def test_rounds(self):
        seed = int(os.environ.get("OPENGNI_SEED") or random.randrange(1 << 30))
        chance = random.Random(seed)
        for node in range(2):
            self.log_name(node).parent.mkdir(parents=True, exist_ok=True)
            self.log_name(node).write_text("", encoding="utf-8")
            self.do(node, "dmesg -c >/dev/null")  # what the boot of a guest says on a busy machine is about that machine
            self.slnd(node)
        self.pingpong(0)
        self.listen("the beginning")
        for node in range(2):
            self.traffic(node)
        for number in range(1, ROUNDS + 1):
            name, node = chance.choice(self.ACTIONS), chance.randrange(2)
            getattr(self, name)(node)
            self.listen(f"round {number} of seed {seed}: {name} on node {node}")
            if number % 10 == 0:
                print(f"{number} of {ROUNDS} rounds of seed {seed}", flush=True)
        for node in range(2):
            self.do(node, "rm /tmp/going")
            self.wait_for(lambda n=node: self.do(n, f"ping -c 1 -W 1 {self.ip(1 - n)}", must=False).code == 0, self.log(node), BOUND)
        for node in range(2):
            self.unload(node, "gni_pingpong", "slnd_test", "slnd")
            self.do(node, "killall net_peer; rmmod ipogif && rmmod kgni")
        self.listen("the end")
