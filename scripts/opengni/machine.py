# SPDX-License-Identifier: GPL-2.0-or-later
"""The machine that a cluster's nodes are a part of, and at which of its places they sit."""

import itertools
import json
import random
import re
import subprocess
from dataclasses import dataclass

from . import host
from .errors import ConfigError, UsageError

NICS_PER_ROUTER = 4
POLICIES = "packed, spread, chassis, group, random:SEED or a list such as 0,5,1-3"
ROUTERS_MAX, CHASSIS_MAX = 16, 6
_FIELDS = {"machine-nodes": "nodes", "routers-per-chassis": "slots", "chassis-per-group": "chassis"}


@dataclass(frozen=True)
class Machine:
    """A regular dragonfly, as the device builds it. Places are numbers of its nodes: by group, chassis, slot, NIC."""

    nodes: int
    slots: int = ROUTERS_MAX
    """Routers in a chassis."""
    chassis: int = CHASSIS_MAX
    """Chassis in a group."""

    @classmethod
    def load(cls, text):
        """The machine of a file, or of a builder with parameters, as aries-topo takes them."""
        tool = host.product("model/topo/aries-topo", "bin/aries-topo")
        if not tool.is_file():
            raise ConfigError(f"{tool} is missing, which reads machines: {host.missing('topo', 'opengni-tools')}")
        result = subprocess.run([tool, "device", text, "--json"], capture_output=True, text=True, check=False)
        if result.returncode:
            raise ConfigError(f"machine {text}: {result.stderr.strip().splitlines()[-1].removeprefix('aries-topo: ')}")
        report = json.loads(result.stdout)
        return cls(**{field: report[key] for key, field in _FIELDS.items()})

    @property
    def properties(self):
        """Those of aries-nic that stand for it."""
        return {key: getattr(self, field) for key, field in _FIELDS.items()}

    @property
    def group_nodes(self):
        """Places of a full group."""
        return self.chassis * self.slots * NICS_PER_ROUTER

    @property
    def groups(self):
        """Groups, of which the last may lack nodes."""
        return -(-self.nodes // self.group_nodes)

    def at(self, group, chassis, slot, nic=0):
        """Number of a place, which need not exist where the last nodes are missing."""
        return ((group * self.chassis + chassis) * self.slots + slot) * NICS_PER_ROUTER + nic

    def where(self, place):
        """(group, chassis, slot, NIC) of a place."""
        router, nic = divmod(place, NICS_PER_ROUTER)
        chassis, slot = divmod(router, self.slots)
        group, chassis = divmod(chassis, self.chassis)
        return group, chassis, slot, nic

    def name(self, place):
        """A place in words."""
        return "group {} chassis {} slot {} nic {}".format(*self.where(place))

    def _spread(self):
        """All places, each as far from those before it as can be: groups by turns, in a group chassis and slot at once."""
        for nic, row, column, group in itertools.product(range(NICS_PER_ROUTER), range(self.slots), range(self.chassis), range(self.groups)):
            chassis = (column + group) % self.chassis
            yield self.at(group, chassis, (chassis + row + group) % self.slots, nic)

    def _order(self, policy):
        """Places in the order in which a policy gives them out."""
        if policy == "packed":
            return range(self.nodes)
        if policy == "spread":
            return self._spread()
        if policy == "group":
            return (self.at(group, 0, 0) for group in range(self.groups))
        return (self.at(0, chassis, 0) for chassis in range(self.groups * self.chassis))

    def places(self, policy, count):
        """Places of @count nodes by a policy (POLICIES)."""
        if count > self.nodes:
            raise ConfigError(f"{count} nodes have no room in a machine of {self.nodes}")
        if policy in ("packed", "spread", "chassis", "group"):
            found = list(itertools.islice((place for place in self._order(policy) if place < self.nodes), count))
            if len(found) < count:
                unit = "groups" if policy == "group" else "chassis"
                raise ConfigError(f"place {policy}: {count} nodes, but the machine has {len(found)} {unit}")
            return found
        match = re.fullmatch(r"random:(\d+)", policy)
        if match:
            return random.Random(int(match.group(1))).sample(range(self.nodes), count)
        return self._listed(policy, count)

    def places_word(self, places):
        """Shape and places of the nodes as their systems are told: '4x2:0-2,7'."""
        runs = []
        for place in places:
            if runs and place == runs[-1][1] + 1:
                runs[-1][1] = place
            else:
                runs.append([place, place])
        return f"{self.slots}x{self.chassis}:" + ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)

    def _listed(self, text, count):
        places = []
        for part in text.split(","):
            match = re.fullmatch(r"(\d+)(?:-(\d+))?", part)
            if not match:
                raise UsageError(f"place '{text}' is not {POLICIES}")
            first, last = int(match.group(1)), int(match.group(2) or match.group(1))
            if first > last:
                raise UsageError(f"place {part}: {first} is above {last}")
            if last >= self.nodes:
                raise ConfigError(f"place {last} is none: the machine has places 0 to {self.nodes - 1}")
            places += range(first, last + 1)
        if len(places) != count:
            raise UsageError(f"place {text} has {len(places)} places for {count} nodes")
        if len(set(places)) < count:
            raise UsageError(f"place {text} has a place twice")
        return places
