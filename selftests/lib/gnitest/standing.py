# SPDX-License-Identifier: GPL-2.0-or-later
"""Clusters that outlive the class of tests that booted them: the next class that wants the same nodes takes them as they stand.

A node takes some seven processor seconds to boot where processors are emulated, more than most classes of tests work. A cluster is handed
on if its nodes are as they were right after their boot: all of them run, with the same modules and processes, nothing of the NIC is in use,
and no test has failed. What else a class leaves behind it says itself (LEAVES of testing.ClusterCase). After that the next class has a new one.
"""

import dataclasses
import re
from typing import Any

# Shapes of clusters that several classes want, by the name that a class gives as SHARES: number of nodes, options of a ClusterConfig.
SHAPES: dict[str, tuple[int, dict[str, Any]]] = {
    "pair": (2, {"mem_mib": 768}),
    "four": (4, {"mem_mib": 384, "smp": 1, "boot_timeout": 180.0}),
    # Groups of two chassis of four routers; nodes at one router, at its neighbours in slot and chassis, and in another group.
    "machine": (5, {"mem_mib": 256, "smp": 1, "boot_timeout": 180.0, "machine": "aries:groups=3,chassis=2,slots=4", "place": "0,1,4,16,66"}),
}

# What a node is like, for comparison: numbers of the NIC in one line, then a line for each module, mount and process. Files in /tmp are
# removed. Few programs do it: each costs an emulated processor a hundredth of a second or more.
_LOOK = ("rm -rf /tmp/* /tmp/.[!.]*; cut -d' ' -f1 /proc/modules; cut -d' ' -f2 /proc/mounts; grep -a . /proc/[0-9]*/cmdline;"
         " cd /sys/class/gni/kgni0 && echo NIC, processors $(cat link_state resources/*_used resources/pinned_pages /sys/devices/system/cpu/online)")
# The shell and the program that look, and the numbers of processes.
_LOOKERS = re.compile(r"^/proc/\d+/cmdline:(grep\0-a\0|\S*sh\0-c\0rm -rf /tmp/)")
_NUMBER = re.compile(r"^/proc/\d+/cmdline:")
_LOOK_TIMEOUT = 120.0


def shape(config):
    """All that makes one cluster different from another, but its name."""
    return {field.name: getattr(config, field.name) for field in dataclasses.fields(config) if field.name != "name"}


class Standing:
    """The cluster of one process that stands between classes: at most one, so that a process has the memory of one."""

    def __init__(self):
        self.sharing = False
        """Whether clusters are handed on. Who runs the tests says so, and calls end() after the last one."""
        self.story = []
        """Lines of text: what was handed on, what was booted anew and why."""
        self._cluster = None
        self._looks = []
        self._spoilt = ""

    def take(self, make, config, who):
        """A cluster of this configuration that runs, for the class @who: the one that stands, or one made by make(config)."""
        if self._cluster and self._spoilt:
            self.end(self._spoilt)
        elif self._cluster and shape(self._cluster.config) != shape(config):
            self.end("another one is wanted")
        self._spoilt = ""
        if self._cluster:
            self.story.append(f"{who} takes it")
            return self._cluster
        cluster = make(config)
        cluster.up()
        if self.sharing:
            self.story.append(f"{who} has booted {config.nodes} nodes")
            self._cluster = cluster
            self._looks = [_look(cluster, node) for node in range(config.nodes)]
        return cluster

    def spoil(self, why):
        """The class that has it leaves it in a state that nobody else wants."""
        self._spoilt = self._spoilt or why

    def give_back(self, cluster):
        """The class is done with it: it stands, or it ends."""
        if cluster is not self._cluster:
            cluster.down()
            return
        try:
            why = self._spoilt or self._changed()
        except BaseException as error:
            self.end(str(error))
            raise
        if why:
            self.end(why)

    def end(self, why=""):
        """End the one that stands, if there is one."""
        cluster, self._cluster = self._cluster, None
        if cluster:
            self.story.append(f"it ends{why and ': ' + why}")
            cluster.down()

    def _changed(self):
        """In which way a node differs from what it was after its boot; empty if none does."""
        for node, before in enumerate(self._looks):
            if not self._cluster.running(node):
                return f"node {node} is down"
            now = _look(self._cluster, node)
            differs = [line for line in now if line not in before] + [f"no more: {line}" for line in before if line not in now]
            if differs:
                return f"node {node} has {'; '.join(differs)}"
        return ""


def _look(cluster, node):
    lines = cluster.run(node, _LOOK, timeout=_LOOK_TIMEOUT).stdout.splitlines()
    return [_NUMBER.sub("process ", line).replace("\0", " ") for line in lines if not _LOOKERS.match(line)]


# Of this process.
clusters = Standing()
