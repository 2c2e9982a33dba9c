# SPDX-License-Identifier: GPL-2.0-or-later
"""For tests of programs that run in the background of nodes and say line by line what happens to them."""

import itertools
import re

from gnitest.testing import ClusterCase


class PeerCase(ClusterCase):
    """Each test has a domain of its own, whose cookie is the program's second argument."""

    PEER = ""
    cookies = itertools.count(0x51000000)

    def setUp(self):
        self.start_nodes()
        self.cookie = next(self.cookies)
        self.files = itertools.count()

    def start(self, node, command, *arguments, cookie=None):
        """A peer in the background; what lines() and output() take."""
        file = f"/tmp/peer-{self.cookie:x}-{next(self.files)}"
        line = " ".join(map(str, [self.PEER, command, cookie or self.cookie, *arguments]))
        self.succeed(self.cluster.run(node, f"(setsid {line}; echo exit $?) >{file} 2>&1 </dev/null &"))
        return node, file

    def lines(self, peer, until, bound=120.0):
        """Lines of a peer, once there is one that matches."""
        node, file = peer
        found = []

        def there():
            found[:] = self.cluster.run(node, f"cat {file}").stdout.splitlines()
            return any(re.match(until, line) for line in found)

        self.wait_for(there, lambda: f"no line '{until}': {found}\n{self.log(node)}", bound, 0.2)
        return found

    def output(self, peer, bound=60.0, until="exit "):
        """The same without the line that tells that something is under way; by default once the peer has ended."""
        return [line for line in self.lines(peer, until, bound) if line != "posted"]
