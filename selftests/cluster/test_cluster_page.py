# SPDX-License-Identifier: GPL-2.0-or-later
"""Documentation/cluster.md: the commands of its blocks are run in their order, and print what they should."""

import unittest

from gnitest import pages
from gnitest.testing import slow_tests
from shown import Step, StepCase

PAGE = pages.text("Documentation/cluster.md")
FIRST = {
    "scripts/cluster -n 2 -- gni-perf": Step(r"node 0: .*fma-put"),
    "scripts/cluster up -n 4": Step(r"node 3 up after .* s, Linux"),
    "scripts/cluster exec -- uname -r": Step(r"(?m)^node 3: \d+\.\d+"),
    "scripts/cluster shell 1": Step(r"SHELL-ON-node1", "echo SHELL-ON-$(hostname)\nexit\n"),
    "scripts/cluster status": Step(r"(?m)^.*\b3\b.*(up|running)"),
    "scripts/cluster kill 1; scripts/cluster start 1": Step(r"^$"),
    "scripts/cluster cp program node1:/tmp": Step(r"^$"),
    "scripts/cluster console 1": Step(r"^", "\x1d"),
    "scripts/cluster log -f": Step(r"(?m)^node 3: ", through="timeout 3 COMMAND || test $? = 124"),
    "scripts/cluster fault 1 link down": Step(r"^0$"),
    "scripts/cluster trace all start traces": Step(r"traces/node3\.pcapng"),
    "scripts/cluster qmp 1 query-status": Step(r'"running": true'),
    "scripts/cluster gdb 1": Step(r'Line \d+ of ".*aries_pci\.c"', "info line aries_pci_probe\ndetach\nquit\n"),
    "scripts/cluster insmod": Step(r"nodes 0,1,2,3: nothing that is loaded has changed"),
    "scripts/cluster push tree:/opt/tree": Step(r"nodes 0,1,2,3: 1 file of .*tree copied to /opt/tree", through="mkdir tree; touch tree/file; COMMAND"),
    "scripts/cluster down": Step(r"^$"),
    "scripts/cluster clean": Step(r"^"),
}
PLACES = {
    "scripts/cluster up -n 4 --machine aries:groups=6 --place spread": Step(r"node 3 up after .* s, Linux"),
    "scripts/cluster run -n 2 --machine machine.yaml --place 0,767 -- gni-perf": Step(r"node 0: .*fma-put"),
    "scripts/cluster fault 0 cut-link 0:15": Step(r"^\d+$"),
    "scripts/cluster fault 0 noisy-link 0:15:6": Step(r"^\d+$"),
    "scripts/cluster fault 0 link-lanes 0:15:2": Step(r"^\d+$"),
}
SSH = {
    "make ssh-image && scripts/cluster up -n 2 --ssh": Step(r"node 1 up after .* s, Linux"),
    "scripts/cluster exec --node 0 -- ssh node1 uname -n": Step(r"(?m)^node1$"),
    "scripts/cluster ssh 1 -- uname -n": Step(r"^node1$"),
    "scripts/cluster ssh --config all >config; tar -c tree | ssh -F config node0 tar -x -C /tmp": Step(r"^$"),
}


class Shown(unittest.TestCase):
    def test_every_command_is_known(self):
        self.assertEqual(pages.commands(PAGE), [*FIRST, *PLACES, *SSH])


@unittest.skipUnless(slow_tests(), "in check-all")
class Commands(StepCase):
    def test_first(self):
        place = self.place("page")
        (place.folder / "program").write_text("#!/bin/sh\n", encoding="ascii")
        self.run_steps(place, FIRST)
        self.assertTrue((place.folder / "traces/node0.pcapng").exists())

    def test_places(self):
        place = self.place("places")
        self.assertEqual(place.sh(".build/model/topo/aries-topo yaml aries:groups=2 >machine.yaml"), (0, ""))
        self.run_steps(place, PLACES)

    def test_ssh(self):
        place = self.place("ssh")
        (place.folder / "tree").mkdir()
        (place.folder / "tree/file").write_text("through\n", encoding="ascii")
        self.run_steps(place, SSH)
        self.assertEqual(place.sh("scripts/cluster exec --node 0 --no-label -- cat /tmp/tree/file"), (0, "through\n"))
