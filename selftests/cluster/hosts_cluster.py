# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests of clusters over several hosts: two hosts (namespaces), a launcher that reaches them, and what is left on them."""

import tempfile
import unittest
from pathlib import Path

from gnitest import hosts
from gnitest.testing import image, wait_until
from opengni import gateway
from opengni.config import ClusterConfig
from opengni.hostfile import parse

BOUND = 120.0  # s for anything to happen on a busy machine
NAMES = ("alpha", "beta")


class Hosts(unittest.TestCase):
    """Two hosts, and a launcher that reaches them by name as ssh would."""

    NETWORK = hosts.Hosts.NETWORK

    @classmethod
    def setUpClass(cls):
        if not gateway.PROGRAM.exists():
            raise unittest.SkipTest("aries-gateway is not built: libfabric or libsodium is missing")
        reason = hosts.missing()
        if reason:
            raise unittest.SkipTest(reason)
        try:
            cls.hosts = hosts.Hosts(len(NAMES), network=cls.NETWORK)
        except hosts.HostsError as error:
            raise unittest.SkipTest(f"no namespaces here: {error}") from None
        cls.addClassCleanup(cls.hosts.end)
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="opengni-hosts-")))
        lines = "".join(f'{name}) exec {" ".join(space.command([]))} "$@";;\n' for name, space in zip(NAMES, cls.hosts.spaces))
        cls.launcher = cls.folder / "launcher"
        cls.launcher.write_text(f'#!/bin/sh\nname=$1\nshift\ncase $name in\n{lines}*) echo "no host $name" >&2; exit 1;;\nesac\n', encoding="ascii")
        cls.launcher.chmod(0o755)

    @classmethod
    def hosts_text(cls, *nodes):
        """A hosts file with these nodes on the hosts."""
        return "".join(f"{name} {cls.hosts.address(i)} {here}\n" for i, (name, here) in enumerate(zip(NAMES, nodes)))

    @classmethod
    def config(cls, *nodes, **options):
        """Of a cluster with these nodes on the hosts."""
        listed = parse(cls.hosts_text(*nodes), "hosts")
        options = {"initrd": image("check"), "smp": 1, "mem_mib": 256, "gateway": ["--timeout", "4"], **options}
        return ClusterConfig(nodes=sum(len(entry.nodes) for entry in listed), hosts=listed, launcher=(str(cls.launcher),), **options)

    def left(self, i):
        """What a host still has of a cluster: processes and files in /dev/shm."""
        shown = self.hosts.run(i, "sh", "-c", "ps -e -o stat=,args= | grep -e 'qemu-syste[m]' -e 'cluster membe[r]' -e 'aries-gatewa[y]' | grep -v ^Z;"
                                              " ls /dev/shm")  # nobody reaps what is left of those whose parent has died
        return shown.stdout

    def assert_nothing_left(self):
        """On no host."""
        for i in range(len(NAMES)):
            self.assertTrue(wait_until(lambda i=i: not self.left(i), BOUND), f"left on {NAMES[i]}:\n{self.left(i)}")
