# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages of Documentation: the commands of their blocks are run in their order, and print what they should (page_steps.py)."""

import unittest

from hosts_cluster import BOUND, NAMES, Hosts
from gnitest import pages
from gnitest.testing import slow_tests, wait_until
from opengni import host
from page_steps import PAGES, TESTED
from shown import Place, StepCase, words


def commands(name):
    """Of a page."""
    return [line for line in pages.commands(pages.text(f"Documentation/{name}.md")) if line]


class Shown(unittest.TestCase):
    def test_every_page_is_known(self):
        shown = {path.stem for path in (host.TOP / "Documentation").glob("*.md") if commands(path.stem)}
        self.assertEqual(shown, {*PAGES, *TESTED})
        for name, path in TESTED.items():
            self.assertIn(f"Documentation/{name}.md", pages.text(path))

    def test_every_command_is_known(self):
        for name, page in PAGES.items():
            with self.subTest(name):
                others = {*page.elsewhere, *page.not_run}
                self.assertEqual([line for line in commands(name) if line not in others],
                                 [command for command, step in page.steps.items() if step.shown])
                self.assertLessEqual(others, set(commands(name)))

    def test_who_runs_what_elsewhere(self):
        for name, page in PAGES.items():
            for command, (path, text) in page.elsewhere.items():
                with self.subTest(page=name, command=command):
                    self.assertIn(text, pages.text(path))


@unittest.skipUnless(slow_tests(), "in check-all")
class Commands(StepCase):
    """A test for each page, below."""

    def steps_of(self, name):
        """All steps of a page in a place of its own."""
        place = self.place(name)
        self.assertEqual(place.sh(PAGES[name].before), (0, ""))
        self.run_steps(place, PAGES[name].steps)


for page_name, page_steps in PAGES.items():
    if page_steps.steps:
        setattr(Commands, f"test_{page_name.replace('-', '_')}", lambda self, name=page_name: self.steps_of(name))


@unittest.skipUnless(slow_tests(), "in check-all")
class SeveralHosts(Hosts):
    """Pages about several hosts, with the hosts and addresses that they name."""

    NETWORK = "10.0.0.0/24"

    def places(self, name):
        """One on each host."""
        found = []
        for i, host_name in enumerate(NAMES):
            place = Place(f"{name}-{host_name}")
            self.addCleanup(place.remove)
            place.enter = self.hosts.spaces[i].command([])
            found.append(place)
        return found

    def do(self, place, command):
        """What a command prints; it must succeed."""
        status, output = place.sh(words(command))
        self.assertEqual(status, 0, f"{command}\n{output}")
        return output

    def both(self, name, *given):
        """Places of both hosts with what the first one has made by these commands."""
        alpha, beta = self.places(name)
        for command in given:
            self.do(alpha, command)
        for file in ("key", "hosts"):
            (beta.folder / file).write_bytes((alpha.folder / file).read_bytes())
        (beta.folder / "key").chmod(0o600)
        return alpha, beta

    def test_gateway(self):
        """Nodes 0 and 1 on hosts that share nothing: gni-perf as on one host."""
        keygen, hosts_file, gateway, cluster = commands("gateway")
        alpha, beta = self.both("gateway", keygen, hosts_file)
        for i, place in enumerate((alpha, beta)):
            self.do(place, gateway.replace("alpha", NAMES[i]))
            self.do(place, cluster.replace("node=0", f"node={i}"))
        for place in (alpha, beta):
            self.assertTrue(wait_until(lambda place=place: "0-1" in self.do(place, "scripts/cluster exec -- cat /sys/class/gni/kgni0/nodes_up"), BOUND))
        self.do(alpha, "scripts/cluster exec -- gni-perf --once &")
        self.assertRegex(self.do(beta, "scripts/cluster exec -- gni-perf 0 -t smsg,put-lat,bte-get-bw -s 64,4K -i 20"), r"(?s)smsg.*put-lat.*bte-get-bw")
        self.assertRegex(self.do(alpha, "aries-gateway status --self alpha"), r"beta +up")

    def test_gateway_wire(self):
        keygen, echo, ping, status = commands("gateway-wire")
        alpha, beta = self.both("wire", keygen, commands("gateway")[1])
        self.do(alpha, echo)
        self.assertRegex(self.do(beta, ping), r"100000|100,000")
        self.assertRegex(self.do(alpha, status), r'"peers"')

    def test_hosts(self):
        """The launcher is found as ssh."""
        place = Place("hosts")
        self.addCleanup(place.remove)
        (place.folder / "ssh").write_text("#!/bin/sh\n# options come before the host\nwhile [ \"${1#-}\" != \"$1\" ]; do\n"
                                          "\t[ \"$1\" != -o ] || shift\n\tshift\ndone\n"
                                          f"exec {self.launcher} \"$@\"\n", encoding="ascii")
        (place.folder / "ssh").chmod(0o755)
        place.environment["PATH"] = f"{place.folder}:{place.environment['PATH']}"
        for command in commands("hosts")[:4]:
            output = self.do(place, command)
            if "gni-perf" in command:
                self.assertIn("0 failures", output)
        self.assert_nothing_left()
