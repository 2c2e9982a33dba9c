# SPDX-License-Identifier: GPL-2.0-or-later
"""A NIC that is taken away under traffic: PCI errors, unplugging, unbinding, registers that do not answer, sleep.

No page that a peer may still write to belongs to anybody else, and the node works again afterwards.
"""

import re
import signal
import threading
import unittest

from gnitest.testing import hosts_wanted, kernel_complaints, slow_tests, wait_until
from opengni import host
from peers import PeerCase

QUICK = ["gni-perf", "--tests=fma-put,bte-put,amo", "--max-size=64K", "--iterations=10"]
DRIVER = "/sys/bus/pci/drivers/aries"
MIB = 16
# Memory of other processes, which takes a moment to take away.
FILLERS, FILLER_MIB = 4, 32
BOUND = 120.0
SLOW_BOUND = 600.0  # for a kernel that waits for the NIC itself
# Stops of a busy peer, some of which are inside of an access: a gateway, which has other things to do, is in fewer.
TRIES = 60 if hosts_wanted() == 1 else 300
WATCHDOGS = [("/proc/sys/kernel/watchdog", 0), ("/proc/sys/kernel/hung_task_timeout_secs", 0),
             ("/sys/module/rcupdate/parameters/rcu_cpu_stall_suppress", 1)]
OTHERS = 20  # calls of which none is possible while somebody has the file to itself


def register(name):
    """A number of the NIC's registers: where one is, or a mask."""
    return int(re.search(rf"^#define {name} (0x[0-9a-f]+)u", (host.BUILD / "gen" / "aries_regs.h").read_text(encoding="utf-8"), re.M)[1], 16)


class TakenAway(PeerCase):
    SHARES = "pair"
    PEER = "/kselftest/aries/reset_peer"

    def setUp(self):
        super().setUp()
        for node in range(self.NODES):
            self.cluster.run(node, "killall -9 reset_peer")
        self.pci = self.cluster.run(0, "basename $(readlink /sys/class/gni/kgni0/device)").stdout.strip()
        self.assertTrue(self.pci, "no NIC on node 0")
        self.config = f"/sys/bus/pci/devices/{self.pci}/config"

    def put(self, watcher):
        """Puts from node 1 into the region of a watcher on node 0; returns when they arrive."""
        region = next(line.split() for line in self.lines(watcher, "region") if line.startswith("region"))
        putter = self.start(1, "put", 0, *region[1:])
        self.assertIn("status 0 at 0", self.lines(putter, "status"))
        return putter

    def begin(self):
        """Watcher and putter, at work."""
        watcher = self.start(0, "watch", MIB, FILLERS, FILLER_MIB)
        self.lines(watcher, "ready")
        return watcher, self.put(watcher)

    def rounds(self, watcher):
        """Lets the watcher look at some fresh memory."""
        self.cluster.run(0, "sleep 2")

    def end(self, watcher, putter):
        """Ends both; nobody may have found foreign data. Lines of the putter."""
        self.rounds(watcher)
        self.cluster.run(1, "killall -TERM reset_peer")
        puts = self.lines(putter, "exit")
        self.cluster.run(0, "killall -TERM reset_peer")
        found = self.lines(watcher, "exit")
        self.assertRegex("\n".join(found), r"rounds \d+ hits 0\n", self.log())
        return puts

    def works(self):
        """Puts, block transfers and atomics between both nodes, by programs that attach anew; nothing is held back."""
        self.wait_for(lambda: self.cluster.run(0, "test -e /dev/kgni0").code == 0, self.kernel_log, BOUND)
        self.wait_for_nodes(BOUND)
        self.succeed(self.cluster.run_job(QUICK))
        pinned = "cat /sys/class/gni/kgni0/resources/pinned_pages"
        self.wait_for(lambda: self.cluster.run(0, pinned).stdout == "0\n", "pages stay pinned")

    def inject(self, error):
        """A PCI error of the NIC of node 0."""
        self.cluster.qmp(0, "human-monitor-command", {"command-line": f"pcie_aer_inject_error nic0 {error}"})

    def resets(self):
        """Resets that the driver of node 0 has survived."""
        return int(self.cluster.run(0, "cat /sys/class/gni/kgni0/resets").stdout)

    def test_errors_that_are_not_fatal(self):
        before = self.resets()
        watcher, putter = self.begin()
        self.inject("BAD_TLP")  # correctable: QEMU's root port keeps its message to itself
        self.inject("POISON_TLP")
        counted = f"grep '^TLP [1-9]' /sys/bus/pci/devices/{self.pci}/aer_dev_nonfatal"
        self.wait_for(lambda: self.cluster.run(0, counted).stdout, self.kernel_log, BOUND)
        puts = self.end(watcher, putter)
        self.assertEqual([line for line in puts if line.startswith("status")], ["status 0 at 0"])
        self.assertEqual(self.resets(), before)
        self.works()

    def test_fatal_error(self):
        for _ in range(2):
            before = self.resets()
            watcher, putter = self.begin()
            self.inject("MALF_TLP")
            self.wait_for(lambda: self.resets() == before + 1, self.kernel_log, BOUND)
            self.end(watcher, putter)
            self.works()
            # what restores the function's registers for error recovery is used up by each reset
            self.succeed(self.cluster.run(0, "echo 1 >/sys/class/gni/kgni0/device/reset"))

    def command(self, low):
        """Stores the low byte of the function's command register."""
        self.succeed(self.cluster.run(0, rf"printf '\{low:03o}' | dd of={self.config} bs=1 seek=4 conv=notrunc"))

    def test_registers_that_do_not_answer(self):
        watcher, putter = self.begin()
        self.command(0x04)  # a bus master that decodes no address
        self.cluster.run(0, "killall -USR1 reset_peer")
        self.lines(watcher, "closed")
        self.rounds(watcher)
        self.command(0x06)
        self.succeed(self.cluster.run(0, "echo 1 >/sys/class/gni/kgni0/device/reset"))
        self.end(watcher, putter)
        self.works()

    def test_unbound_with_registers_that_do_not_answer(self):
        watcher, putter = self.begin()
        self.mark()
        self.command(0x04)
        self.succeed(self.cluster.run(0, f"echo {self.pci} >{DRIVER}/unbind"))
        self.end(watcher, putter)
        self.assertEqual(self.said("is lost"), 0, self.log())
        self.succeed(self.cluster.run(0, f"echo {self.pci} >{DRIVER}/bind"))
        self.works()

    def test_unbound(self):
        watcher, putter = self.begin()
        self.succeed(self.cluster.run(0, f"echo {self.pci} >{DRIVER}/unbind"))
        self.end(watcher, putter)
        self.succeed(self.cluster.run(0, f"echo {self.pci} >{DRIVER}/bind"))
        self.works()

    def test_unplugged(self):
        watcher, putter = self.begin()
        self.cluster.qmp(0, "device_del", {"id": "nic0"})
        self.wait_for(lambda: self.cluster.run(0, "test -e /dev/kgni0").code, self.kernel_log, BOUND)
        self.end(watcher, putter)
        # the port has no power for a moment; what is plugged in then is not seen
        self.wait_for(lambda: not self.slots(), "QEMU keeps the NIC", BOUND)
        config = self.cluster.config
        self.cluster.qmp(0, "device_add", {"driver": "aries-nic", "id": "nic0", "bus": "rp0", "fabric": config.fabric_of(0),
                                           "node": 0, "nodes": config.addresses})
        self.works()

    def slots(self):
        """Devices below the root port of node 0, as QEMU says."""
        text = self.cluster.qmp(0, "human-monitor-command", {"command-line": "info qtree"})
        return re.findall(r"dev: aries-nic", text)

    def sleep(self):
        """Suspends node 0 to RAM and wakes it up, once in its life; nobody talks to its agent meanwhile.

        The machine's firmware does not bring the ports of its power management back, so that the kernel takes a second
        sleep for ended at once: see qemu-patches.md.
        """
        command = "echo deep >/sys/power/mem_sleep && echo mem >/sys/power/state"
        sleeper = threading.Thread(target=self.cluster.run, args=(0, command), kwargs={"timeout": BOUND}, daemon=True)
        sleeper.start()

        def asleep():
            return self.cluster.qmp(0, "query-status")["status"] == "suspended"

        self.wait_for(lambda: asleep() or not sleeper.is_alive(), "node 0 does not fall asleep", BOUND)
        self.assertTrue(asleep(), "node 0 is awake again, and nobody has woken it")
        self.cluster.qmp(0, "system_wakeup")
        sleeper.join(BOUND)
        self.assertFalse(sleeper.is_alive(), "node 0 does not wake up")

    def test_sleep(self):
        before = self.resets()
        watcher, putter = self.begin()
        self.sleep()
        self.assertEqual(self.resets(), before + 1, self.log())
        self.end(watcher, putter)
        self.works()

    def pinned(self):
        return int(self.cluster.run(0, "cat /sys/class/gni/kgni0/resources/pinned_pages").stdout)

    def objects(self, name):
        """Numbers of node 0's line of objects that begins with @name: how many there are, how many are held back."""
        line = re.search(rf"^{name} (\d+) held (\d+)$", self.cluster.run(0, "cat /sys/kernel/debug/aries/kgni0/objects").stdout, re.M)
        return tuple(map(int, line.groups()))

    def signal_peer(self, number):
        """To the peer of node 0; if that lives on another host, to the gateway, which visits node 0's memory for it."""
        self.cluster.signal_visitor(0, 1, number)

    def stopped_in_an_access(self, attempt):
        """Stops node 1 until attempt() says that it was caught inside of an access; continues it after each."""
        self.addCleanup(self.signal_peer, signal.SIGCONT)
        for _ in range(TRIES):
            if attempt():
                return
        self.fail("the peer was never stopped in an access")

    def test_freed_while_a_peer_is_stopped(self):
        """A queue that waits for a stopped peer keeps no other thread waiting; numbers and accounts wait with it."""
        def attempt():
            owner = self.start(0, "free", MIB)
            self.lines(owner, "ready")
            putter = self.put(owner)
            self.signal_peer(signal.SIGSTOP)
            self.cluster.run(0, "killall -USR1 reset_peer")
            freed = next(line for line in self.lines(owner, "freed") if line.startswith("freed"))
            _, _, _, calls, _, queues = freed.split()
            held = self.objects("cqs")[1], self.objects("ces")[1]
            self.signal_peer(signal.SIGCONT)
            self.cluster.run(1, "killall -TERM reset_peer")
            self.lines(putter, "exit")
            self.wait_for(lambda: self.objects("cqs") == self.objects("ces") == (0, 0), "numbers stay held", BOUND)
            self.cluster.run(0, "killall -TERM reset_peer")
            self.lines(owner, "exit")
            if held == (0, 0):
                return False
            self.assertEqual(held, (1, 1))
            self.assertEqual(int(queues), 1)
            self.assertGreater(int(calls), OTHERS, freed)
            return True

        self.patient_kernels()
        self.stopped_in_an_access(attempt)
        self.works()

    def revocations_are_under_way(self):
        """Whether the NIC of node 0 says so; its driver is not asked, which may be what is wrong."""
        address = int(self.cluster.run(0, f"cat /sys/bus/pci/devices/{self.pci}/resource").stdout.split()[0], 16)
        command = {"command-line": f"xp /1wx {address + register('ARIES_INV_STATUS'):#x}"}
        return int(self.cluster.qmp(0, "human-monitor-command", command).split(":")[1], 16) & register("ARIES_INV_STATUS_BUSY_MASK")

    def patient_kernels(self):
        """A kernel takes it for a fault of its own when it was stopped, and when it waits for a NIC that is not ready."""
        for name, value in WATCHDOGS:
            for node in range(self.NODES):
                before = self.cluster.run(node, f"cat {name}").stdout.strip()
                self.succeed(self.cluster.run(node, f"echo {value} >{name}"))
                self.addCleanup(self.cluster.run, node, f"echo {before} >{name}")

    def stop_in_an_access(self):
        """Stops node 1 in the middle of a put into the region of a watcher; the watcher and the putter."""
        watcher, putter = self.begin()

        def attempt():
            self.signal_peer(signal.SIGSTOP)
            self.succeed(self.cluster.run(0, f"{self.PEER} queue {next(self.cookies)}"))
            if not wait_until(lambda: not self.revocations_are_under_way(), 1.0):
                return True
            self.signal_peer(signal.SIGCONT)
            self.cluster.run(1, "true")  # so it has gone on when it is stopped again
            return False

        self.patient_kernels()
        self.stopped_in_an_access(attempt)
        return watcher, putter

    def kernel_since(self):
        """What the kernel of node 0 has said since mark()."""
        kernel = self.cluster.run(0, "dmesg").stdout
        return kernel[kernel.rindex(self.marked):]

    def said(self, text):
        """How often the kernel of node 0 has said that since mark()."""
        return len(re.findall(text, self.kernel_since()))

    def mark(self):
        """What the kernel of node 0 has said before does not count."""
        self.marked = f"mark {next(self.cookies):x}"
        self.succeed(self.cluster.run(0, f"echo {self.marked} >/dev/kmsg"))

    def kept(self, watcher):
        """All that the watcher and its fillers have registered is there, and nobody else finds it."""
        self.rounds(watcher)
        self.assertGreaterEqual(self.pinned(), (MIB + FILLERS * FILLER_MIB) * 256, self.log())

    def test_peer_is_stopped(self):
        """While a peer is stopped in an access, a process ends; its memory is given back when the access has ended."""
        watcher, putter = self.stop_in_an_access()
        self.cluster.run(0, "killall -USR1 reset_peer")
        self.lines(watcher, "closed")
        self.kept(watcher)
        self.signal_peer(signal.SIGCONT)
        self.end(watcher, putter)
        self.wait_for(lambda: not self.pinned(), "pages stay pinned", BOUND)
        self.works()

    def test_a_client_of_the_kernel_frees_its_memory_while_a_peer_is_stopped(self):
        """Nobody else gets its pages before the access has ended."""
        self.succeed(self.cluster.run(0, "modprobe ipogif nodes=2 && ip link set ipogif0 up"))
        self.addCleanup(self.cluster.run, 0, "rmmod ipogif; rmmod krca; rmmod kgni")
        watcher, putter = self.stop_in_an_access()
        self.mark()
        # whoever configures a network does not wait for the peer, but the NIC's release does
        self.succeed(self.cluster.run(0, "ip link set ipogif0 down && ip link set ipogif0 up", timeout=BOUND))
        carrier = "cat /sys/class/net/ipogif0/carrier"
        self.assertTrue(self.said("the NIC is released when it has ended all puts"), self.kernel_since())
        self.wait_for(lambda: self.said("pages stay allocated until it has ended"), self.kernel_since, BOUND)
        self.assertFalse(self.said("a peer may write yet"), self.kernel_since())
        self.assertEqual(self.cluster.run(0, carrier).stdout, "0\n")
        self.signal_peer(signal.SIGCONT)
        self.end(watcher, putter)
        self.wait_for(lambda: self.cluster.run(0, carrier).stdout == "1\n", self.kernel_since, BOUND)
        self.succeed(self.cluster.run(0, "rmmod ipogif", timeout=BOUND))
        self.wait_for(lambda: not self.pinned(), "pages stay pinned", BOUND)
        self.works()

    def test_fatal_error_while_a_peer_is_stopped(self):
        """Recovery from a fatal error waits for a peer that is stopped in an access, and is one."""
        watcher, putter = self.stop_in_an_access()
        before = self.resets()
        self.mark()
        self.inject("MALF_TLP")
        self.wait_for(lambda: self.said("not ready") or self.resets() > before, self.kernel_log, BOUND)
        self.kept(watcher)
        self.signal_peer(signal.SIGCONT)
        self.wait_for(lambda: self.resets() > before, self.kernel_log, BOUND)
        self.end(watcher, putter)
        self.works()
        self.assertEqual((self.resets(), self.said("device recovery successful")), (before + 1, 1), self.log())
        self.succeed(self.cluster.run(0, "echo 1 >/sys/class/gni/kgni0/device/reset"))

    @unittest.skipUnless(slow_tests(), "waits for minutes until error recovery has given up: in check-all")
    def test_recovery_gives_up_while_a_peer_is_stopped(self):
        """Nobody waits for the peer any more, but the memory does; it goes back when the peer goes on."""
        watcher, putter = self.stop_in_an_access()
        before = self.resets()
        self.mark()
        self.inject("MALF_TLP")
        self.wait_for(lambda: self.said("device recovery failed"), self.kernel_log, SLOW_BOUND, 1.0)
        self.kept(watcher)
        self.signal_peer(signal.SIGCONT)
        self.wait_for(lambda: not self.pinned(), "pages stay pinned", BOUND)
        self.end(watcher, putter)
        self.assertEqual(self.resets(), before)
        self.succeed(self.cluster.run(0, f"echo {self.pci} >{DRIVER}/unbind"))
        self.assertEqual(kernel_complaints(self.kernel_since()), [])
        self.succeed(self.cluster.run(0, f"echo {self.pci} >{DRIVER}/bind"))
        self.works()

    @unittest.skipUnless(slow_tests(), "waits for minutes until the kernel has given a reset up: in check-all")
    def test_unbound_after_a_reset_that_a_stopped_peer_holds_up(self):
        """A NIC that is not ready is not gone: memory that the peer may reach is left alone, for ever."""
        watcher, putter = self.stop_in_an_access()
        self.mark()
        self.succeed(self.cluster.run(0, "(echo 1 >/sys/class/gni/kgni0/device/reset) 2>/dev/null &"))
        self.wait_for(lambda: self.said("not usable after a reset"), self.kernel_log, SLOW_BOUND, 1.0)
        self.kept(watcher)
        self.succeed(self.cluster.run(0, f"echo {self.pci} >{DRIVER}/unbind"))
        self.assertEqual(self.said("is lost"), 1, self.log())
        self.signal_peer(signal.SIGCONT)
        self.end(watcher, putter)
        # its addresses are lost, too: the reset could not give them back
        self.succeed(self.cluster.run(0, f"echo 1 >/sys/bus/pci/devices/{self.pci}/remove; echo 1 >/sys/bus/pci/rescan"))
        self.works()
